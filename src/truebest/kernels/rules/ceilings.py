"""What the evidence of the tilt rule cannot exceed, without a search: most looks end here.

An average of tilts is at most the largest of them, and the largest of all tilts is a likelihood ratio: of
successes and failures, where all values are, or of normal values. Of other values between bounds it is not,
and f itself is evaluated, at one mean.
"""

from __future__ import annotations

import math

from .._jit import kernel
from .._types import Array
from ..families import BOUNDED
from ..layout import MODEL, PULLS, VARIANCES
from .tilt import (
    BOTTOM,
    C_MEAN,
    C_SCALE,
    C_TOP,
    C_UP,
    COUNT,
    NODES,
    TOP,
    comparable,
    comparator_row,
    ends,
    evidence,
    excluded,
    place,
    pooled,
)


@kernel("f8(f8, f8)")
def relative_entropy(p: float, q: float) -> float:
    """kl(p, q) of two probabilities of success."""
    value = 0.0
    if p > 0.0:  # uncompiled, a division by 0 would be an error
        value += p * math.log(p / q) if q > 0.0 else math.inf
    if p < 1.0:
        value += (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if q < 1.0 else math.inf
    return value


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, f8, f8)")
def compared_ratio(params: Array, state: Array, a: int, x: float, no: float) -> float:
    """The likelihood ratio of an arm's comparator for a mean of x; `no` if its values are not 0 and 1."""
    row = comparator_row(params)
    n = state[row + COUNT, a]
    if n == 0.0:
        return 0.0
    if params[MODEL] == BOUNDED:
        if state[row + C_UP + NODES, a] != 0.0 or state[row + C_UP, a] != 0.0:
            return no
        mean = state[row + C_TOP, a] / n
        return float(n * relative_entropy(mean, x)) if mean > x else 0.0
    beyond: float = state[row + C_SCALE, a] * max(state[row + C_MEAN, a] - x, 0.0)
    return float(0.5 * beyond * beyond / n)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def common(params: Array, state: Array, b: int, a: int, d: float) -> float:
    """The pooled mean, or the nearest one that m may be."""
    low, high = ends(params, d)
    return min(max(pooled(params, state, b, a), low), high)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)", apart=True)
def likelihood_ratio(params: Array, state: Array, b: int, a: int, d: float, share: float) -> float:
    """At least Λ(d): the likelihood ratio at the pooled mean; inf for values that have none."""
    if not comparable(params, state, b, a):
        return 0.0
    n_b, n_a, m = state[PULLS, b], state[PULLS, a], common(params, state, b, a, d)
    x_b, x_a = place(params, state, b), place(params, state, a)
    up, down = math.inf, 0.0
    if params[MODEL] != BOUNDED:
        beyond, below = max(x_b - m - d, 0.0), max(m - x_a, 0.0)
        up, down = n_b * beyond * beyond / state[VARIANCES, b], n_a * below * below / state[VARIANCES, a]
        up, down = 0.5 * up, 0.5 * down
    elif state[TOP, b] + state[BOTTOM, b] == n_b and state[TOP, a] + state[BOTTOM, a] == n_a:
        up = n_b * relative_entropy(x_b, m + d) if x_b > m + d else 0.0
        down = n_a * relative_entropy(x_a, m) if x_a < m else 0.0
    if share > 0.0 and up < math.inf:
        compared = compared_ratio(params, state, a, m + d, math.inf)
        top = max(up, compared)
        if top == math.inf:
            return math.inf
        rest = (1.0 - share) / (state.shape[1] - 1.0)
        up = top + math.log(share * math.exp(compared - top) + rest * math.exp(up - top))
    return float(up + down)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)", apart=True)
def ceiling(params: Array, state: Array, b: int, a: int, d: float, share: float) -> float:
    """At least Λ(d): the likelihood ratio, or f at the pooled mean."""
    value = likelihood_ratio(params, state, b, a, d, share)
    if value == math.inf:
        value, _, _ = evidence(params, state, b, a, common(params, state, b, a, d), d, share)
    return value


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def pair_ceiling(params: Array, state: Array, b: int, a: int, tolerance: float) -> float:
    """At least Λ of a pair."""
    return ceiling(params, state, b, a, excluded(params, tolerance), 0.0)
