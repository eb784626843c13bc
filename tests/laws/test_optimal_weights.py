"""Laws of w, T and r: Lemmas 7 and 16, Propositions 8 and 10, Corollary 9, and the six-step solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import truebest
from support.bandits import Array, gap_vectors
from truebest.kernels import weights as kernels


def phi(r: float, gaps: Array) -> float:
    """Equation (11), from its definition."""
    return float((1.0 / (r * gaps[gaps > 0] ** 2 - 1.0) ** 2).sum() - 1.0)


@given(gap_vectors(), st.floats(1e-3, 10.0), st.floats(1e-3, 10.0))
def test_phi_is_convex_and_strictly_decreasing(gaps: Array, first: float, second: float) -> None:
    """Lemma 7."""
    pole = 1.0 / gaps[gaps > 0].min() ** 2
    low, high = sorted((pole * (1 + first), pole * (1 + second)))
    if high > low * (1 + 1e-9):
        assert phi(low, gaps) > phi(high, gaps)
    middle = phi((low + high) / 2, gaps)
    assert middle <= (phi(low, gaps) + phi(high, gaps)) / 2 * (1 + 1e-9) + 1e-9


@given(gap_vectors())
def test_r_is_the_root_of_phi(gaps: Array) -> None:
    """Proposition 8: φ changes its sign at r, within rounding."""
    r = float(truebest.optimal_weights(gaps=gaps).ratio)
    assert phi(r * (1 - 1e-12), gaps) > 0 > phi(r * (1 + 1e-12), gaps)


@given(gap_vectors())
def test_weights_and_time_follow_from_r(gaps: Array) -> None:
    """Proposition 8, equations (12) to (15)."""
    found = truebest.optimal_weights(gaps=gaps)
    q = 1.0 / (found.ratio * gaps[1:] ** 2 - 1.0)
    np.testing.assert_allclose(found.weights[0], 1.0 / (1.0 + q.sum()), rtol=1e-12)
    np.testing.assert_allclose(found.weights[1:], found.weights[0] * q, rtol=1e-12)
    np.testing.assert_allclose(found.time, 2 * found.ratio / found.weights[0], rtol=1e-12)
    np.testing.assert_allclose(found.weights[0], np.linalg.norm(found.weights[1:]), rtol=1e-12)
    np.testing.assert_allclose(found.weights.sum(), 1.0, rtol=1e-14)
    np.testing.assert_allclose(found.log_time, np.log(found.time), rtol=1e-12, atol=1e-12)


@given(gap_vectors())
def test_weights_equalise_the_costs(gaps: Array) -> None:
    """At the optimum every suboptimal arm is equally hard to exclude, and T is 1/g(μ, w)."""
    found = truebest.optimal_weights(gaps=gaps)
    w = found.weights
    costs = 0.5 * w[0] * w[1:] / (w[0] + w[1:]) * gaps[1:] ** 2
    np.testing.assert_allclose(costs, 1.0 / found.time, rtol=1e-11)
    np.testing.assert_allclose(truebest.evidence_rate(-gaps, w), 1.0 / found.time, rtol=1e-11)


@given(gap_vectors(), st.integers(0, 2**32 - 1))
def test_no_other_proportions_do_better(gaps: Array, seed: int) -> None:
    """w maximises g (equation (1)): against random proportions, far and near."""
    w = truebest.optimal_weights(gaps=gaps).weights
    best = float(truebest.evidence_rate(-gaps, w))
    rng = np.random.default_rng(seed)
    others = rng.dirichlet(np.ones(gaps.size), 20)
    near = w * np.exp(rng.normal(0.0, 0.01, (20, gaps.size)))
    rivals = np.concatenate([others, near / near.sum(axis=1, keepdims=True)])
    values = truebest.evidence_rate(np.broadcast_to(-gaps, rivals.shape), rivals)
    assert (values <= best * (1 + 1e-12)).all()


@given(gap_vectors(min_arms=3))
def test_better_arms_have_larger_weights(gaps: Array) -> None:
    """Corollary 9, for means that differ by more than rounding."""
    w = truebest.optimal_weights(gaps=gaps).weights
    order = np.argsort(gaps, kind="stable")
    apart = np.diff(gaps[order]) > 1e-12
    assert (np.diff(w[order])[apart] < 0).all()


@given(gap_vectors())
def test_bounds_of_proposition_10(gaps: Array) -> None:
    """Proposition 10, both sides for r, w_max and T, and the corrected bound for w_min."""
    found, bounds = truebest.optimal_weights(gaps=gaps), truebest.complexity_bounds(gaps=gaps)
    slack = 1 + 1e-12
    assert bounds.ratio_lower / slack <= found.ratio <= bounds.ratio_upper * slack
    assert bounds.max_weight_lower / slack <= found.weights.max() <= bounds.max_weight_upper * slack
    assert bounds.time_lower / slack <= found.time <= bounds.time_upper * slack
    assert found.weights.min() >= bounds.min_weight_lower / slack


@given(gap_vectors())
def test_corrected_bound_on_the_smallest_weight(gaps: Array) -> None:
    """w_min >= (Δ_min/Δ_max)²/(1+s)² >= (Δ_min/Δ_max)²/(2K): Lemma 28 with the squares it dropped."""
    bounds = truebest.complexity_bounds(gaps=gaps)
    spread = gaps[1:].min() / gaps.max()
    s = np.sqrt(gaps.size - 1.0)
    np.testing.assert_allclose(bounds.min_weight_lower, spread**2 / (1 + s) ** 2, rtol=1e-12)
    assert bounds.min_weight_lower >= spread**2 / (2 * gaps.size) * (1 - 1e-12)


@given(gap_vectors(), st.floats(-100.0, 100.0))
def test_scaling_the_gaps_leaves_weights_unchanged(gaps: Array, exponent: float) -> None:
    """Lemma 16; T and r scale with the inverse square."""
    scale = 10.0**exponent
    one, other = truebest.optimal_weights(gaps=gaps), truebest.optimal_weights(gaps=gaps * scale)
    np.testing.assert_allclose(other.weights, one.weights, rtol=1e-13)
    np.testing.assert_allclose(other.time * scale * scale, one.time, rtol=1e-13)
    np.testing.assert_allclose(other.ratio * scale * scale, one.ratio, rtol=1e-13)


@given(gap_vectors(smallest=1e-6), st.permutations(range(12)))
def test_the_order_of_the_arms_does_not_matter(gaps: Array, order: list[int]) -> None:
    """Permuting the arms permutes the weights."""
    permutation = [a for a in order if a < gaps.size]
    one, other = truebest.optimal_weights(gaps=gaps), truebest.optimal_weights(gaps=gaps[permutation])
    np.testing.assert_allclose(other.weights, one.weights[permutation], rtol=1e-14)


@given(st.integers(2, 12), st.integers(2, 12))
def test_several_best_arms_share_the_weight(num_arms: int, num_best: int) -> None:
    """The paper's convention for ties: w = 1/(number of best arms), T = inf."""
    num_best = min(num_best, num_arms)
    means = np.zeros(num_arms)
    means[:num_best] = 0.5
    found = truebest.optimal_weights(means)
    assert found.weights.tolist() == [1 / num_best] * num_best + [0.0] * (num_arms - num_best)
    assert found.time == found.log_time == found.ratio == np.inf


# --- the solver ---------------------------------------------------------------------------------------


def evaluations(gaps: Array, *, printed: bool = False) -> int:
    """How often the solver evaluates its sums."""
    return int(kernels.optimal_weights(gaps, printed, np.empty_like(gaps))[3])


@given(gap_vectors(max_arms=60, smallest=1e-8))
def test_newton_on_psi_agrees_with_the_printed_newton(gaps: Array) -> None:
    """Algorithm 4 as printed stops at |φ| < 1e-10; within that, both give the same weights and time."""
    one = truebest.optimal_weights(gaps=gaps)
    other = truebest.optimal_weights(gaps=gaps, method="paper")
    np.testing.assert_allclose(other.weights, one.weights, rtol=1e-9)
    np.testing.assert_allclose(other.time, one.time, rtol=1e-9)


@given(gap_vectors(max_arms=60, smallest=1e-8))
def test_six_evaluations_are_enough_for_random_gaps(gaps: Array) -> None:
    """Newton on ψ = (Σ q²)^(-1/2) gives double precision within six evaluations."""
    assert evaluations(gaps) <= 6


def adversarial_gaps(num_arms: int) -> list[Array]:
    """Shapes that make a Newton iteration slow: a few tiny gaps among many large, and mixtures of scales."""
    n = num_arms - 1
    shapes = [np.full(n, 1.0) for _ in range(8)]
    shapes[0][: max(1, n // 2)] = 1e-6
    shapes[1][0] = 1e-6
    shapes[2][: max(1, int(np.sqrt(n)))] = 0.5
    shapes[3][:] = np.geomspace(1e-6, 1.0, n)
    shapes[4][:] = np.linspace(0.5, 1.0, n)
    shapes[5][:] = 1.0 + 1e-9 * np.arange(n)
    shapes[6][:] = np.sqrt(1.0 + np.arange(n))
    shapes[7][: max(1, n // 10)] = 0.1
    return [np.concatenate([[0.0], shape]) for shape in shapes]


@pytest.mark.parametrize("num_arms", [2, 3, 4, 10, 100, 1_000, 100_000])
def test_six_evaluations_are_enough_for_adversarial_gaps(num_arms: int) -> None:
    """Up to a hundred thousand arms; the printed algorithm needs far more for some of them."""
    counts = [evaluations(gaps) for gaps in adversarial_gaps(num_arms)]
    assert max(counts) <= 6
    if num_arms == 100_000:
        assert max(evaluations(gaps, printed=True) for gaps in adversarial_gaps(num_arms)) > 12


@pytest.mark.parametrize("warm", [0.2, 0.9, 1.1, 3.0, 100.0])
def test_any_warm_start_finds_the_root(warm: float) -> None:
    """A start above the root is brought below it in one step, never below the floor."""
    gaps = np.array([0.0, 0.1, 0.3, 0.5, 0.5])
    d = gaps**2
    d[0] = np.inf
    root = float(truebest.optimal_weights(gaps=gaps).ratio)
    found, steps = kernels.newton_root(d, warm * root, 200.0 * (1 - 1e-12))  # floor: 2/Δ_min²
    np.testing.assert_allclose(found, root, rtol=1e-14)
    assert steps <= 8


def test_a_plain_sum_would_never_end_the_printed_loop() -> None:
    """Ten million equal gaps: summed one by one, |φ| exceeds 1e-10 around the root; our sums do not."""
    n = 10_000_000
    root = 1 + np.sqrt(float(n))
    x = np.ones(n + 1)
    x[0] = np.inf
    for r in (root, np.nextafter(root, np.inf), np.nextafter(root, 0.0)):
        one_by_one = np.cumsum(np.full(n, 1.0 / (r - 1.0) ** 2))[-1]
        assert abs(one_by_one - 1.0) > 1e-10
    assert abs(kernels.power_sums(x, root)[0] - 1.0) < 1e-13
    found, evaluations = kernels.paper_root(x, 2.0)
    np.testing.assert_allclose(found, root, rtol=1e-9)
    assert evaluations < 60
