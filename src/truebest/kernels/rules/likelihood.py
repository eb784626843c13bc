"""Rules that compare the likelihood ratio of a pair with a threshold that grows with the time.

They differ in what the threshold has above its level, `growth`.
"""

from __future__ import annotations

import math

from .._jit import kernel
from .._types import Array
from ..divergences import BERNOULLI_MODEL, divergence
from ..families import cost_beyond, interval
from ..layout import MEANS, MODEL, PULLS, RULE, TUNING, VARIANCES

PRACTICAL, GK16, KAUFMANN_KOOLEN = 0, 1, 2


@kernel("f8(const(f8[::1]), f8)")
def growth(params: Array, t: float) -> float:
    """What the threshold at time t >= 1 has above its level."""
    if params[RULE] == PRACTICAL:
        return math.log(1.0 + math.log(t))
    if params[RULE] == GK16:
        return float(params[TUNING]) * math.log(t)
    if params[RULE] == KAUFMANN_KOOLEN:
        if params[MODEL] >= BERNOULLI_MODEL:
            return 6.0 * math.log(1.0 + math.log(max(0.5 * t, 1.0)))
        return 4.0 * math.log(4.0 + math.log(0.5 * t))
    return 0.0


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def pair_evidence(params: Array, state: Array, b: int, a: int, tolerance: float) -> float:
    """The cost of mistaking an arm for the better one of a pair."""
    return cost_beyond(params, state, b, a, state[PULLS, b], state[PULLS, a], tolerance)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, f8)")
def number_evidence(params: Array, state: Array, arm: int, number: float) -> float:
    """The cost of mistaking the side of a number, less the growth of one arm's threshold: KAUFMANN_KOOLEN."""
    n, mean = state[PULLS, arm], state[MEANS, arm]
    if params[MODEL] >= BERNOULLI_MODEL:
        mu, x = abs(mean), abs(number)
        found = divergence(params[MODEL], mu, x, x - mu)
        return float(n * found - 3.0 * math.log(1.0 + math.log(n)))
    apart = mean - number
    return float(0.5 * n * apart * apart / state[VARIANCES, arm] - 2.0 * math.log(4.0 + math.log(n)))


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def pair_interval(params: Array, state: Array, b: int, a: int, bound: float) -> tuple[float, float]:
    """The differences that cost at most `bound`."""
    return interval(params, state, b, a, 1.0 / state[PULLS, b], 1.0 / state[PULLS, a], bound)
