"""The constants of published thresholds, which take a search or a sum."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .._args import Array


@lru_cache(maxsize=256)
def calibration(x: float) -> float:
    """C_G(x) = min over ½ < λ <= 1 of (g_G(λ) + x)/λ of Kaufmann & Koolen, Theorem 7.

    g_G(λ) = 2λ - 2λ log(4λ) + log ζ(2λ) - ½ log(1-λ). Any λ gives a valid threshold, so the
    tolerance of the minimisation costs no validity.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    def objective(lam: float) -> float:
        log_zeta = np.log(zeta(2.0 * lam))
        g = 2.0 * lam - 2.0 * lam * np.log(4.0 * lam) + log_zeta - 0.5 * np.log1p(-lam)
        return float((g + x) / lam)

    ends = (0.5 + 1e-9, 1.0 - 1e-9)
    found = minimize_scalar(objective, bounds=ends, method="bounded", options={"xatol": 1e-10})
    return float(found.fun)


@lru_cache(maxsize=256)
def family_calibration(x: float) -> float:
    """T(x) = 2 h~((h⁻¹(1+x) + log 2ζ(2))/2) of Kaufmann & Koolen, for one-parameter exponential families.

    h(u) = u - log u for u >= 1, and with z = 3/2, h~(y) is e^(1/h⁻¹(y)) h⁻¹(y) from y = h(1/log z) on, and
    z (y - log log z) below it.
    """

    def inverse(y: float) -> float:
        """The u >= 1 with u - log u = y: from above, Newton on a convex function decreases to the root."""
        u = y + float(np.sqrt(2.0 * (y - 1.0))) + 1.0
        for _ in range(100):
            new = u - (u - np.log(u) - y) / (1.0 - 1.0 / u)
            if not 1.0 < new < u:
                break
            u = float(new)
        return u

    log_z = float(np.log(1.5))
    y = 0.5 * (inverse(1.0 + x) + float(np.log(np.pi**2 / 3.0)))
    if y >= 1.0 / log_z + np.log(log_z):
        u = inverse(y)
        return 2.0 * float(np.exp(1.0 / u)) * u
    return 2.0 * 1.5 * (y - float(np.log(log_z)))


@lru_cache(maxsize=256)
def gk16_log_constant(num_arms: int, alpha: float, log_inverse_delta: float) -> float:
    """The smallest L = log R with L >= log Σ_t (e^(K+1)/K^K) (log²(R t^α/δ) log t)^K/t^α.

    The right side increases in L, so iterating from below leads to the smallest fixed point.
    """
    head = np.log(np.arange(2.0, 2001.0))
    # The tail of the sum is an integral in u = log t (Euler-Maclaurin; half of the first term).
    # The integrand is smooth and falls off like e^(-(α-1)u), so a fine trapezoid is exact enough.
    decay = (alpha - 1.0) / (3.0 * num_arms + 40.0)
    tail = np.linspace(np.log(2000.0), np.log(2000.0) + 3.0 / decay, 400_001)

    def log_terms(u: Array, level: float) -> Array:
        log_squared = 2.0 * np.log(level + alpha * u + log_inverse_delta)
        per_arm: Array = log_squared + np.log(u) - np.log(num_arms)
        return num_arms + 1.0 + num_arms * per_arm - alpha * u

    level = 1.0
    for _ in range(10_000):
        inner = log_terms(head, level)
        outer = log_terms(tail, level) + tail
        top = max(inner.max(), outer.max())
        total = np.exp(inner - top).sum() - 0.5 * np.exp(inner[-1] - top)
        step = tail[1] - tail[0]
        weights = np.exp(outer - top)
        total += step * (weights.sum() - 0.5 * (weights[0] + weights[-1]))
        new = float(top + np.log(total))
        if abs(new - level) <= 1e-12 * new:
            break
        level = new
    return new
