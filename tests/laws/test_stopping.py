"""Stopping rules: Z is t g(μ̂, N/t), the mixture is a martingale, its intervals imply the decision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import truebest
from support.bandits import Array
from truebest.theory.stopping import rules

Data = tuple[list[int], list[float]]
RULES = {name: rule for name, rule in rules().items() if rule.knows(truebest.Gaussian())}


def data(max_arms: int = 8) -> st.SearchStrategy[Data]:
    """Pulls and means of two or more arms."""
    mean = st.integers(-2_000_000, 2_000_000).map(lambda x: x * 1e-6)  # apart by more than a tie, or equal
    arm = st.tuples(st.integers(1, 5000), mean)
    return st.lists(arm, min_size=2, max_size=max_arms).map(
        lambda arms: ([n for n, _ in arms], [m for _, m in arms])
    )


@given(data())
def test_the_statistic_is_t_times_g(observed: Data) -> None:
    """Equation (10): Z(t) = t g(μ̂(t), N(t)/t)."""
    pulls, means = np.array(observed[0], dtype=float), np.array(observed[1])
    found = truebest.glr(pulls, means)
    t = pulls.sum()
    np.testing.assert_allclose(found.statistic, t * truebest.evidence_rate(means, pulls / t), rtol=1e-12)
    assert found.leader == means.argmax()
    assert found.against.min() == found.statistic


@given(data())
def test_the_statistic_is_the_largest_smallest_pair(observed: Data) -> None:
    """The definition: max over a of min over b of the signed Z_{a,b}."""
    n, m = np.array(observed[0], dtype=float), np.array(observed[1])
    gap = m[:, None] - m[None, :]
    z = 0.5 * n[:, None] * n[None, :] / (n[:, None] + n[None, :]) * gap * np.abs(gap)
    np.fill_diagonal(z, np.inf)
    np.testing.assert_allclose(truebest.glr(n, m).statistic, z.min(axis=1).max(), rtol=1e-12, atol=1e-300)


@given(data(), st.integers(-40, 40))
def test_scaling_means_and_sigma_changes_nothing(observed: Data, exponent: int) -> None:
    """Only means in units of sigma count; a power of two is exact."""
    pulls, means = observed
    scale = 2.0**exponent
    for rule in RULES.values():
        one = rule.evaluate(pulls, means, 0.05)
        other = rule.evaluate(pulls, np.array(means) * scale, 0.05, sigma=scale)
        assert one.statistic == other.statistic
        assert one.decided == other.decided


@given(data(), st.sampled_from([0.3, 0.05, 1e-4]), st.floats(0.5, 100.0), st.floats(0.1, 10.0))
def test_the_intervals_imply_the_decision(observed: Data, delta: float, c: float, sigma: float) -> None:
    """For every rule: decided exactly when every interval for leader minus other lies above zero."""
    pulls, means = observed
    for rule in (*RULES.values(), truebest.Mixture(c)):
        found = rule.evaluate(pulls, means, delta, sigma)
        lower, upper = rule.intervals(pulls, means, delta, sigma)
        others = np.arange(len(pulls)) != found.leader
        margin = abs(found.statistic - found.threshold)
        if margin > 1e-9 * found.threshold:
            assert bool(found.decided) == bool((lower[others] > 0).all())
        assert lower[found.leader] == upper[found.leader] == 0.0


@given(data(), st.floats(1e-6, 0.5), st.floats(0.5, 100.0), st.floats(0.1, 10.0))
def test_intervals_for_all_pairs_are_wider(observed: Data, delta: float, c: float, sigma: float) -> None:
    """What holds for all K(K-1)/2 pairs at once is never shorter."""
    pulls, means = observed
    rule = truebest.Mixture(c)
    lower, upper = rule.intervals(pulls, means, delta, sigma)
    wide_lower, wide_upper = rule.intervals(pulls, means, delta, sigma, all_pairs=True)
    assert (wide_lower <= lower).all()
    assert (wide_upper >= upper).all()


def log_martingale(pulls: Array, errors: Array, c: float) -> Array:
    """The part of one arm in log M: N²(m-μ)²/(2(N+c)) - ½ log(1+N/c)."""
    value: Array = pulls**2 * errors**2 / (2 * (pulls + c)) - 0.5 * np.log1p(pulls / c)
    return value


@given(data(), st.floats(1e-6, 0.5), st.floats(0.5, 100.0), st.integers(0, 2**32 - 1))
def test_a_wrong_answer_or_a_miss_needs_a_large_martingale(
    observed: Data, delta: float, c: float, seed: int
) -> None:
    """What the proof of the mixture rule rests on, for any true means.

    If the rule answers b and some arm is at least as good, or if the interval of the pair (b, i) misses,
    then M of that pair exceeds (K-1)/δ; Ville's inequality does the rest.
    """
    pulls, means = np.array(observed[0], dtype=float), np.array(observed[1])
    truth = means + np.random.default_rng(seed).normal(0.0, 3.0, means.size) / np.sqrt(pulls)
    rule = truebest.Mixture(c)
    found = rule.evaluate(pulls, means, delta)
    lower, upper = rule.intervals(pulls, means, delta)
    b, level = int(found.leader), float(found.threshold)
    part = log_martingale(pulls, means - truth, c)
    for i in range(means.size):
        if i == b:
            continue
        difference = truth[b] - truth[i]
        wrong = bool(found.decided) and difference <= 0
        missed = not lower[i] <= difference <= upper[i]
        if wrong or missed:
            assert part[b] + part[i] > level - 1e-9 * (1 + level)


@pytest.mark.parametrize("n", [1, 10, 1000])
@pytest.mark.parametrize("c", [1.0, 20.0])
def test_the_mixture_has_mean_one(n: int, c: float) -> None:
    """E exp(N²(m-μ)²/(2(N+c)) - ½ log(1+N/c)) = 1 for normal samples: what Ville's inequality needs."""
    x = np.linspace(-1.0, 1.0, 400_001) * 40 * np.sqrt((n + c) / c / n)
    log_density = -0.5 * n * x**2 + 0.5 * np.log(n / (2 * np.pi))
    log_ratio = n**2 * x**2 / (2 * (n + c)) - 0.5 * np.log1p(n / c)
    mean = np.sum(np.exp(log_density + log_ratio)) * (x[1] - x[0])
    np.testing.assert_allclose(mean, 1.0, rtol=1e-9)


@given(data(), st.floats(1e-9, 0.5))
def test_the_level_is_a_lower_bound_of_the_threshold(observed: Data, delta: float) -> None:
    """What lets a simulation skip the logarithms of the threshold while the statistic is small."""
    pulls, means = observed
    for rule in RULES.values():
        found = rule.evaluate(pulls, means, delta)
        assert rule.level(len(pulls), delta) <= found.threshold
        assert found.decided == (found.statistic > found.threshold)
        assert rule.threshold(sum(pulls), len(pulls), delta) == found.threshold


def test_proven_rules_are_stricter_than_the_practical_one() -> None:
    """For the same data, a proven rule never stops before the practical one (K = 2 to 50, any time)."""
    for num_arms in (2, 5, 50):
        for delta in (0.1, 0.01, 1e-5):
            t = 10 ** np.arange(1, 9)
            practical = RULES["practical"].threshold(t, num_arms, delta)
            for name in ("gk16", "kaufmann-koolen"):
                assert RULES[name].proven
                assert (RULES[name].threshold(t, num_arms, delta) > practical).all()


@given(st.integers(1, 10**7), st.floats(1e-9, 0.5), st.integers(2, 1000))
def test_mixture_width_is_narrower_than_the_papers(n: int, gamma: float, num_arms: int) -> None:
    """Both cover at all times; the mixture's is the tighter one from 20 pulls on."""
    paper = truebest.confidence_width(n, gamma, num_arms)
    mixture = truebest.confidence_width(n, gamma, num_arms, "mixture")
    np.testing.assert_allclose(paper, 2 * np.sqrt(np.log(4 * num_arms * n / gamma) / n), rtol=1e-12)
    assert truebest.confidence_width(n, gamma, num_arms, "experiments") < paper
    if n >= 20:
        assert mixture < paper
