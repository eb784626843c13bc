"""Leading batch axes: a batch gives, entry by entry, what single calls give."""

from __future__ import annotations

import numpy as np

import truebest
from truebest.theory.stopping import rules

RNG = np.random.default_rng(0)
MEANS = RNG.normal(size=(2, 3, 4))
PULLS = RNG.integers(1, 100, size=(2, 3, 4))


def test_weights_and_bounds() -> None:
    """optimal_weights, characteristic_time, lower_bound, complexity_bounds."""
    batch, bounds = truebest.optimal_weights(MEANS), truebest.complexity_bounds(MEANS)
    assert batch.weights.shape == MEANS.shape
    assert batch.time.shape == batch.log_time.shape == batch.ratio.shape == (2, 3)
    for index in np.ndindex(2, 3):
        one = truebest.optimal_weights(MEANS[index])
        np.testing.assert_array_equal(one.weights, batch.weights[index])
        assert one.time == batch.time[index] == truebest.characteristic_time(MEANS)[index]
        assert truebest.lower_bound(MEANS[index], 0.1) == truebest.lower_bound(MEANS, 0.1)[index]
        single = truebest.complexity_bounds(MEANS[index])
        assert all(vars(single)[name] == value[index] for name, value in vars(bounds).items())


def test_exploration() -> None:
    """exploration_biased_weights and the nested lists of exploration_candidates."""
    batch = truebest.exploration_biased_weights(MEANS - 0.2, MEANS + 0.2)
    lists = truebest.exploration_candidates(MEANS - 0.2, MEANS + 0.2)
    for i, j in np.ndindex(2, 3):
        one = truebest.exploration_biased_weights(MEANS[i, j] - 0.2, MEANS[i, j] + 0.2)
        np.testing.assert_array_equal(one.weights, batch.weights[i, j])
        np.testing.assert_array_equal(one.bandit, batch.bandit[i, j])
        assert one.best == batch.best[i, j]
        single = truebest.exploration_candidates(MEANS[i, j] - 0.2, MEANS[i, j] + 0.2)
        assert [c.arm for c in single] == [c.arm for c in lists[i][j]]


def test_statistics_and_rules() -> None:
    """glr, evidence_rate, every stopping rule, the intervals."""
    batch = truebest.glr(PULLS, MEANS, sigma=2.0)
    weights = PULLS / PULLS.sum(axis=-1, keepdims=True)
    values = truebest.evidence_rate(MEANS, weights)
    lower, upper = truebest.Mixture().intervals(PULLS, MEANS, 0.1)
    known = {name: rule for name, rule in rules().items() if rule.knows(truebest.Gaussian())}
    decisions = {name: rule.evaluate(PULLS, MEANS, 0.1) for name, rule in known.items()}
    for index in np.ndindex(2, 3):
        one = truebest.glr(PULLS[index], MEANS[index], sigma=2.0)
        assert one.statistic == batch.statistic[index]
        assert one.leader == batch.leader[index]
        np.testing.assert_array_equal(one.against, batch.against[index])
        assert truebest.evidence_rate(MEANS[index], weights[index]) == values[index]
        ends = truebest.Mixture().intervals(PULLS[index], MEANS[index], 0.1)
        np.testing.assert_array_equal(ends, (lower[index], upper[index]))
        for name, rule in known.items():
            single = rule.evaluate(PULLS[index], MEANS[index], 0.1)
            assert single.statistic == decisions[name].statistic[index]
            assert single.threshold == decisions[name].threshold[index]


def test_empty_batches_are_empty() -> None:
    """No bandits in, no weights out."""
    assert truebest.optimal_weights(np.empty((0, 3))).time.shape == (0,)
    assert truebest.exploration_biased_weights(np.empty((0, 3)), np.empty((0, 3))).best.shape == (0,)


def test_unpulled_arms() -> None:
    """An arm without pulls has an infinite interval, makes Z zero, and its mean is ignored."""
    found = truebest.glr([10, 0, 5], [0.5, np.nan, 0.1])
    assert found.statistic == 0.0
    assert found.leader == 0
    assert truebest.confidence_width([0, 1], 0.1, 2).tolist()[0] == np.inf
    lower, upper = truebest.Mixture().intervals([10, 0, 5], [0.5, 0.0, 0.1], 0.1)
    assert (lower[1], upper[1]) == (-np.inf, np.inf)
    assert not truebest.Mixture().evaluate([10, 0, 5], [0.5, 0.0, 0.1], 0.1).decided


def test_risk_of_a_half_needs_no_samples() -> None:
    """With δ >= 1/2 a guess between two arms is allowed: the bound is 0, also where T is inf."""
    assert truebest.lower_bound([0.9, 0.1], 0.5) == 0.0
    assert truebest.lower_bound([0.9, 0.9], 0.7) == 0.0
    assert truebest.lower_bound([0.9, 0.9], 0.1) == np.inf


def test_any_memory_layout_is_accepted() -> None:
    """Read-only, strided, Fortran-ordered, big-endian and float32 input give the same numbers."""
    means = np.array([[0.5, 0.25, 0.125], [0.75, 0.5, 0.0]])
    pulls = np.array([[5.0, 6.0, 7.0], [8.0, 9.0, 10.0]])
    frozen = means.copy()
    frozen.flags.writeable = False
    forms = [
        frozen,
        np.broadcast_to(means, means.shape),
        np.asfortranarray(means),
        means.repeat(2, axis=1)[:, ::2],
        means.astype(">f8"),
        means.astype(np.float32),
    ]
    for form in forms:
        assert (
            truebest.optimal_weights(form).weights.tolist()
            == truebest.optimal_weights(means).weights.tolist()
        )
        assert truebest.glr(pulls, form).statistic.tolist() == truebest.glr(pulls, means).statistic.tolist()
        gaps = form[:1] - form[:1]
        assert truebest.optimal_weights(gaps=gaps).time.tolist() == [np.inf]
        found = truebest.exploration_biased_weights(form, form).weights
        np.testing.assert_array_equal(found, truebest.exploration_biased_weights(means, means).weights)
        truebest.confidence_width(np.broadcast_to(np.int64(4), (3,)), 0.1, 3)
        truebest.Mixture().intervals(np.broadcast_to(5, form.shape), form, 0.1)
