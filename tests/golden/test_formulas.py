"""Every closed formula against the same formula written out again, in high-precision arithmetic."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from mpmath import e, log, mpf, sqrt

import truebest
from support.bandits import MU_1

CASES = [(2, 5, 0.1), (5, 137, 0.05), (40, 1_000_003, 1e-7)]  # arms, time or pulls, risk


@pytest.mark.parametrize(("num_arms", "t", "delta"), CASES)
def test_thresholds(num_arms: int, t: int, delta: float) -> None:
    """Practical, GK16 in t and δ, Kaufmann-Koolen around its calibration function, Mixture."""
    K, time, risk = mpf(num_arms), mpf(t), mpf(delta)
    alpha = mpf(1.3)
    log_r = mpf(truebest.GK16(1.3).log_constant(num_arms, float(log(1 / risk))))

    def g_g(x: mpf) -> mpf:
        return 2 * x - 2 * x * log(4 * x) + log(mpmath.zeta(2 * x)) - log(1 - x) / 2

    def per_lambda(i: int) -> mpf:
        x = mpf(1) / 2 + mpf(i) / 20_000
        return (g_g(x) + log((K - 1) / risk) / 2) / x

    near = min(range(100, 10_000, 100), key=per_lambda)  # it has one valley
    c_g = min(map(per_lambda, range(near - 99, near + 100)))
    expected = {
        truebest.Practical(): log((1 + log(time)) / risk),
        truebest.GK16(1.3): log_r + alpha * log(time) + log(1 / risk),
        truebest.KaufmannKoolen(): 2 * c_g + 4 * log(4 + log(time / 2)),
        truebest.Mixture(): log((K - 1) / risk),
    }
    for rule, value in expected.items():
        tolerance = 1e-6 if isinstance(rule, truebest.KaufmannKoolen) else 1e-13
        np.testing.assert_allclose(rule.threshold(t, num_arms, delta), float(value), rtol=tolerance)


@pytest.mark.parametrize(("num_arms", "n", "gamma"), CASES)
@pytest.mark.parametrize("sigma", [1.0, 2.5])
def test_confidence_widths(num_arms: int, n: int, gamma: float, sigma: float) -> None:
    """All three kinds, with a scale."""
    K, N, c = mpf(num_arms), mpf(n), mpf(20)
    expected = {
        "paper": 2 * sqrt(log(4 * K * N / gamma) / N),
        "experiments": sqrt(log(K * N / gamma) / N),
        "mixture": sqrt(2 * (log(K / gamma) + log(1 + N / c) / 2) / (N**2 / (N + c))),
    }
    for kind, value in expected.items():
        found = truebest.confidence_width(n, gamma, num_arms, kind, sigma)
        np.testing.assert_allclose(found, sigma * float(value), rtol=1e-13)


@pytest.mark.parametrize("sigma", [1.0, 0.5])
def test_mixture_statistic_and_intervals(sigma: float) -> None:
    """The statistic, both kinds of intervals, and Z of the plain rules, with a scale."""
    pulls, means, delta, c = [400, 300, 50], [0.8, 0.5, 0.1], 0.05, 20
    n = [mpf(x) for x in pulls]
    shrunk = [x**2 / (x + c) for x in n]
    penalty = [log((1 + n[0] / c) * (1 + x / c)) / 2 for x in n]
    gap = [mpf(means[0]) - mpf(x) for x in means]
    cost = [
        shrunk[0] * x / (shrunk[0] + x) * d**2 / (2 * mpf(sigma) ** 2)
        for x, d in zip(shrunk, gap, strict=True)
    ]
    found = truebest.Mixture(c).evaluate(pulls, means, delta, sigma)
    expected = min(cost[a] - penalty[a] for a in (1, 2))
    np.testing.assert_allclose(found.statistic, float(expected), rtol=1e-12)
    plain = min(n[0] * n[a] / (n[0] + n[a]) * gap[a] ** 2 / (2 * mpf(sigma) ** 2) for a in (1, 2))
    np.testing.assert_allclose(truebest.glr(pulls, means, sigma).statistic, float(plain), rtol=1e-12)
    for all_pairs, count in ((False, 2), (True, 3)):
        lower, upper = truebest.Mixture(c).intervals(pulls, means, delta, sigma, all_pairs=all_pairs)
        for a in (1, 2):
            half = sigma * sqrt(2 * (1 / shrunk[0] + 1 / shrunk[a]) * (log(count / mpf(delta)) + penalty[a]))
            np.testing.assert_allclose(lower[a], float(gap[a] - half), rtol=1e-12)
            np.testing.assert_allclose(upper[a], float(gap[a] + half), rtol=1e-12)


@pytest.mark.parametrize("version", ["printed", "corrected"])
def test_theorem_5(version: str) -> None:
    """T_0, T_1, δ_0 and both bounds, for μ⁽¹⁾ with η = 0.5, γ = 0.1, α = 1.2; also in a batch."""
    eta, gamma, K = mpf(0.5), mpf(0.1), 5
    found = truebest.non_asymptotic_bound(MU_1, gamma=0.1, eta=0.5, version=version)
    a, b = (224, 640) if version == "printed" else (448, 2560)
    w, d = mpf(float(found.min_weight)), mpf(0.9) - mpf(0.8)
    time = mpf(float(found.time))
    t_0 = max(a**2 / (d**2 * w) * log(2 * a**2 * e * K / (d**2 * w * gamma)), 2 * K / w)
    t_1 = max(b**2, 8 * K) / (eta**2 * d**2 * w**2) * log(2 * b**2 * e * K / (eta**2 * d**2 * w * gamma))
    level = mpf(float(found.log_inverse_delta_0))
    log_r = mpf(truebest.GK16(1.2, printed=version == "printed").log_constant(K, float(level)))
    inside = log(7**2 * 2 * b**2 * e * K / (eta**2 * d**2 * w * gamma)) + log_r / 2
    delta_0 = 7**3 * max(mpf(b) ** 2 / 8, K) / (eta**3 * d * w**2) * inside
    np.testing.assert_allclose(found.t_0, float(t_0), rtol=1e-12)
    np.testing.assert_allclose(found.t_1, float(t_1), rtol=1e-12)
    np.testing.assert_allclose(float(level), float(delta_0), rtol=1e-12)
    t = 1e5 * time * level
    tail = 2 * K * t * mpmath.exp(-t * w / (4 * time**2) * level ** (-mpf(2) / 3))
    np.testing.assert_allclose(found.tail(float(t), float(level)), float(tail), rtol=1e-6)
    second = 2**7 * K * time**4 / w**2 * mpmath.exp(-w / (4 * time) * level ** (mpf(1) / 3)) * level**2
    np.testing.assert_allclose(
        found.expectation(float(level)), float((1 + eta) * time * level + second), rtol=1e-11
    )
    batch = truebest.non_asymptotic_bound([MU_1, MU_1], gamma=0.1, eta=0.5, version=version)
    assert batch.t_1.tolist() == [found.t_1] * 2
    assert batch.tail(float(t), float(level)).shape == (2,)


@pytest.mark.parametrize("num_arms", [2, 3, 10])
def test_bounds_of_proposition_10_are_attained_by_equal_gaps(num_arms: int) -> None:
    """There the bounds on r and T from above, the averaged ones from below, and that on w_max are equal."""
    gaps = np.array([0.0] + [0.3] * (num_arms - 1))
    found, bounds = truebest.optimal_weights(gaps=gaps), truebest.complexity_bounds(gaps=gaps)
    for value, name in (
        (found.ratio, "ratio_lower"),
        (found.ratio, "ratio_upper"),
        (found.time, "time_upper"),
    ):
        np.testing.assert_allclose(getattr(bounds, name), value, rtol=1e-13)
    np.testing.assert_allclose(bounds.max_weight_lower, found.weights.max(), rtol=1e-13)
    s = np.sqrt(num_arms - 1.0)
    np.testing.assert_allclose(bounds.time_lower, max(8.0, 4 * (1 + s)) / 0.3**2, rtol=1e-13)
    assert bounds.max_weight_upper == 0.5


def test_printed_regularity_bounds() -> None:
    """Theorem 14 as printed at ε = 0.1."""
    bounds = truebest.regularity_bounds(0.1, version="printed")
    expected = (0.7, 1.6, 0.0, 2.0)
    np.testing.assert_allclose(list(vars(bounds).values()), expected, atol=1e-15)
    factor = (1.1 / 0.9) ** 1.403
    sharper = (1 / 1.1, 1 / 0.9, 1 / factor, factor)
    np.testing.assert_allclose(list(vars(truebest.regularity_bounds(0.1)).values()), sharper, rtol=1e-14)
