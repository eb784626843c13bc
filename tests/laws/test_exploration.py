"""Algorithm 1: Proposition 1 against brute force, exact pruning, Lemma 29."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import truebest
from support.bandits import Array, boxes

Box = tuple[Array, Array]


@given(boxes(max_arms=5), st.integers(0, 2**32 - 1))
def test_no_bandit_of_the_box_has_a_larger_smallest_weight(box: Box, seed: int) -> None:
    """Proposition 1: against all corners, random points, and points near the winner."""
    low, high = box
    found = truebest.exploration_biased_weights(low, high)
    reached = found.weights.min()
    rng = np.random.default_rng(seed)
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    inside = rng.uniform(low, high, (100, low.size))
    near = np.clip(found.bandit + rng.normal(0.0, 0.01, (100, low.size)), low, high)
    rivals = np.concatenate([corners, inside, near])
    weights = truebest.optimal_weights(rivals).weights
    if found.best < 0:
        assert (found.weights == 1 / low.size).all()
    assert (weights.min(axis=1) <= reached * (1 + 1e-12)).all()


@given(boxes())
def test_the_biased_bandit_lies_in_the_box_and_has_these_weights(box: Box) -> None:
    """Proposition 1: w = w(μ~) and μ~ is in the region."""
    low, high = box
    found = truebest.exploration_biased_weights(low, high)
    assert ((low <= found.bandit) & (found.bandit <= high)).all()
    if found.best >= 0:
        assert found.bandit.argmax() == found.best
        # The gaps of μ~ cancel; the weights inherit that.
        smallest = np.partition(found.bandit.max() - found.bandit, 1)[1]
        np.testing.assert_allclose(
            found.weights, truebest.optimal_weights(found.bandit).weights, rtol=1e-13 + 1e-15 / smallest
        )


@given(boxes(max_arms=30))
def test_pruning_changes_nothing(box: Box) -> None:
    """The Pareto front of (upper, max(lower, min upper)) holds a winner of the full comparison."""
    pruned = truebest.exploration_biased_weights(*box)
    full = truebest.exploration_biased_weights(*box, method="paper")
    np.testing.assert_allclose(pruned.weights.min(), full.weights.min(), rtol=1e-12)
    candidates = truebest.exploration_candidates(*box)
    values = sorted((c.min_weight for c in candidates), reverse=True)
    if len(values) < 2 or values[1] < values[0] * (1 - 1e-9):  # one clear winner
        np.testing.assert_array_equal(pruned.best, full.best)
        np.testing.assert_allclose(pruned.weights, full.weights, rtol=1e-12)


@given(boxes(max_arms=12))
def test_candidates_are_what_the_algorithm_compares(box: Box) -> None:
    """The list of Figure 1: every potential best arm once, the winner among those on the front."""
    low, high = box
    found = truebest.exploration_biased_weights(low, high)
    candidates = truebest.exploration_candidates(low, high)
    if found.best < 0:
        assert candidates == []
        return
    assert [c.arm for c in candidates] == np.flatnonzero(high >= low.max()).tolist()
    assert max(c.min_weight for c in candidates) <= found.weights.min() * (1 + 1e-9)
    assert {int(found.best)} <= {c.arm for c in candidates if c.pareto}
    for candidate in candidates:
        assert candidate.bandit[candidate.arm] == high[candidate.arm]
        rest = np.arange(low.size) != candidate.arm
        np.testing.assert_array_equal(candidate.bandit[rest], np.maximum(low, high.min())[rest])


@given(boxes())
def test_smallest_biased_gap_is_at_least_the_narrowest_interval(box: Box) -> None:
    """Lemma 29."""
    low, high = box
    assume(low.max() > high.min())
    bandit = truebest.exploration_biased_weights(low, high).bandit
    gaps = np.sort(bandit.max() - bandit)
    assert gaps[gaps > 0].min() >= (high - low).min() * (1 - 1e-12)


@given(boxes(), st.integers(-30, 30))
def test_shifting_and_scaling_the_box_changes_nothing(box: Box, exponent: int) -> None:
    """Only differences count: scaling by a power of two is exact."""
    low, high = box
    scale = 2.0**exponent
    one = truebest.exploration_biased_weights(low, high)
    other = truebest.exploration_biased_weights(low * scale, high * scale)
    np.testing.assert_array_equal(one.weights, other.weights)
    np.testing.assert_array_equal(one.bandit * scale, other.bandit)


def test_a_degenerate_top_interval_leaves_a_candidate() -> None:
    """As printed, UB > maxLB, no candidate is left here and w = 0 is returned."""
    found = truebest.exploration_biased_weights([0.9, 0.1, 0.0], [0.9, 0.3, 0.2])
    np.testing.assert_allclose(found.weights, truebest.optimal_weights([0.9, 0.2, 0.2]).weights, rtol=1e-13)
    tied = truebest.exploration_biased_weights([0.9, 0.9, 0.0], [0.9, 0.9, 0.2])
    assert tied.weights.tolist() == [0.5, 0.5, 0.0]
    for method in ("pareto", "paper"):
        points = truebest.exploration_biased_weights([0.9, 0.8, 0.1], [0.9, 0.8, 0.1], method=method)
        np.testing.assert_allclose(
            points.weights, truebest.optimal_weights([0.9, 0.8, 0.1]).weights, rtol=1e-13
        )


def test_underflowing_weights_are_compared_by_their_logarithms() -> None:
    """A far arm whose weight underflows in every candidate does not change which candidate wins."""
    low, high = np.array([0.0, 0.89, 0.5]), np.array([1.0, 0.9, 0.6])
    for far, unit in ((-1e3, 1.0), (-1e150, 1e-20)):
        for method in ("pareto", "paper"):
            found = truebest.exploration_biased_weights(
                [*(low * unit), far], [*(high * unit), far], method=method
            )
            assert found.best == 1
            np.testing.assert_allclose(found.weights[:3], [0.0519, 0.4755, 0.4726], atol=1e-4)


def test_underflowing_weights_still_have_a_winner() -> None:
    """As printed, w_min > 0 is needed to be selected, and a weight of 1e-340 selects nothing."""
    found = truebest.exploration_biased_weights([1.0, 1.0 - 1e-16, -1e160], [1.0, 1.0 - 1e-16, -1e160])
    assert found.best == 0
    assert found.weights.sum() == 1.0
