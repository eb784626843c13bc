"""Exponential families to fifty digits, written down from their definitions: what the kernels are held to."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import mpmath

import truebest

mpmath.mp.dps = 50
MODELS: dict[str, Any] = {
    "bernoulli": truebest.Bernoulli(),
    "poisson": truebest.Poisson(),
    "exponential": truebest.Exponential(),
}


def _log_term(p: Any, q: Any) -> Any:
    return p * mpmath.log(p / q) if p else mpmath.mpf(0)


def divergence(family: str, mu: Any, x: Any) -> Any:
    """d(μ, x)."""
    mu, x = mpmath.mpf(mu), mpmath.mpf(x)
    if family == "bernoulli":
        return _log_term(mu, x) + _log_term(1 - mu, 1 - x)
    if family == "poisson":
        return x - mu + _log_term(mu, x)
    return mu / x - 1 - mpmath.log(mu / x)


def cost(family: str, mu_b: Any, mu_a: Any, v_b: Any, v_a: Any, tolerance: Any = 0) -> Any:
    """The least v_b d(μ_b, x) + v_a d(μ_a, x + tolerance): on a grid, finer to the ends, then nearby."""
    mu_b, mu_a, v_b, v_a = map(mpmath.mpf, (mu_b, mu_a, v_b, v_a))
    if not tolerance:
        x = (v_b * mu_b + v_a * mu_a) / (v_b + v_a)
        return v_b * divergence(family, mu_b, x) + v_a * divergence(family, mu_a, x)
    e = mpmath.mpf(tolerance)
    low, high = sorted((mu_b, mu_a - e))
    low = max(low, mpmath.mpf(0), -e)
    if family == "bernoulli":
        high = min(high, mpmath.mpf(1), 1 - e)

    def value(x: Any) -> Any:
        return v_b * divergence(family, mu_b, x) + v_a * divergence(family, mu_a, x + e)

    steps = [mpmath.mpf(2) ** -i for i in range(1, 100)]
    parts = [0, *reversed(steps), *(1 - step for step in steps), 1]
    grid = sorted(
        {
            low + (high - low) * (one + (other - one) * i / 3)
            for one, other in pairwise(parts)
            for i in range(4)
        }
    )
    at = [mpmath.inf, *map(value, grid[1:-1]), mpmath.inf]
    valleys = [i for i in range(1, len(at) - 1) if at[i - 1] >= at[i] <= at[i + 1]]
    return min(minimum(value, grid[i - 1], grid[i + 1]) for i in valleys)


def minimum(value: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """The least value between two ends, by golden sections."""
    ratio = (mpmath.sqrt(5) - 1) / 2
    one, two = high - ratio * (high - low), low + ratio * (high - low)
    at_one, at_two = value(one), value(two)
    for _ in range(120):
        if at_one < at_two:
            high, two, at_two = two, one, at_one
            one = high - ratio * (high - low)
            at_one = value(one)
        else:
            low, one, at_one = one, two, at_two
            two = low + ratio * (high - low)
            at_two = value(two)
    return min(at_one, at_two)


def optimal(family: str, means: list[float], best: int) -> tuple[Any, list[Any]]:
    """T and the weights of all arms, by halving inside and outside."""
    mu_b = mpmath.mpf(means[best])
    others = [mpmath.mpf(mu) for a, mu in enumerate(means) if a != best]

    def pair(mu_a: Any, x: Any) -> tuple[Any, Any]:
        m = (mu_b + x * mu_a) / (1 + x)
        return divergence(family, mu_b, m), divergence(family, mu_a, m)

    def share(mu_a: Any, y: Any) -> Any:
        """g(x) = y: from the left, where Newton increases."""
        x = mpmath.mpf(1)
        while pair(mu_a, x)[0] + x * pair(mu_a, x)[1] > y:
            x /= 4
        for _ in range(200):
            d_b, d_a = pair(mu_a, x)
            step = (y - d_b - x * d_a) / d_a
            x += step
            if abs(step) < mpmath.mpf(10) ** -45 * x:
                break
        return x

    def excess(r: Any) -> Any:
        ratios = [pair(mu_a, share(mu_a, 1 / r)) for mu_a in others]
        return 1 / mpmath.sqrt(sum(d_b / d_a for d_b, d_a in ratios)) - 1

    start = 1 / min(sum(pair(mu_a, mpmath.mpf(1))) for mu_a in others)
    r = mpmath.findroot(excess, (start, 1.001 * start), solver="secant", tol=1e-80, verify=False)
    shares = [share(mu_a, 1 / r) for mu_a in others]
    total = 1 + sum(shares)
    shares.insert(best, mpmath.mpf(1))
    return r * total, [x / total for x in shares]
