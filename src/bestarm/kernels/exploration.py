"""Exploration-Biased Weights (Algorithm 1): the bandit of a box whose smallest weight is largest.

With c_b = max(lower_b, min upper), the candidate of arm a puts a at upper_a and every other arm b at
c_b. Only candidates on the Pareto front of (upper, c) can win: if upper and c of a' are at least those
of a, then w_min of a' is at least that of a. The front is walked by falling upper and rising c.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array, Indices
from .weights import newton_root, root_sum, scaled_squares, tied_weights, weights_from_root


@kernel("UniTuple(f8, 2)(f8[::1], f8[::1])")
def box_ends(lower: Array, upper: Array) -> tuple[float, float]:
    """The largest lower end and the smallest upper end."""
    max_lower, min_upper = -math.inf, math.inf
    for a in range(lower.size):
        max_lower = max(max_lower, lower[a])
        min_upper = min(min_upper, upper[a])
    return max_lower, min_upper


@kernel("i8(f8[::1], f8[::1], f8, f8, b1, i8)")
def next_candidate(
    lower: Array, upper: Array, max_lower: float, min_upper: float, every: bool, after: int
) -> int:
    """The candidate that follows `after` (-1: the first one); -1 when there is none left.

    With `every`, the next potential best arm in the order of the arms. Else the next on the front: among
    those with larger c than `after` the one of largest upper, then largest c, then lowest index.

    Differs from the paper: upper >= max lower is enough to be a potential best arm, since with a
    degenerate top interval the printed strict inequality leaves no candidate.
    """
    if every:
        for a in range(after + 1, lower.size):
            if upper[a] >= max_lower:
                return a
        return -1
    above = -math.inf if after < 0 else max(lower[after], min_upper)
    found, top, level = -1, -math.inf, -math.inf
    for a in range(lower.size):
        if upper[a] >= max_lower and upper[a] >= top:
            c = max(lower[a], min_upper)
            if c > above and (upper[a] > top or c > level):
                found, top, level = a, upper[a], c
    return found


@kernel("f8(f8[::1], f8[::1], f8, i8, f8[::1])")
def candidate_root(lower: Array, upper: Array, min_upper: float, best: int, x: Array) -> float:
    """Squared gaps of a candidate into `x` (unit Δ_min², inf at its best arm); returns its root r.

    A candidate with a second best arm leaves its plain gaps in `x` and has r = inf.
    """
    smallest = math.inf
    for b in range(lower.size):
        x[b] = upper[best] - max(lower[b], min_upper)
        if b != best:
            smallest = min(smallest, x[b])
    x[best] = 0.0
    if smallest == 0.0:
        return math.inf
    floor = scaled_squares(x, best, smallest, x)
    r, _ = newton_root(x, floor, floor)
    return r


@kernel("f8(f8[::1], i8, f8)")
def smallest_weight(x: Array, best: int, r: float) -> float:
    """w_min of a candidate from what `candidate_root` left and returned."""
    if r == math.inf:
        return 0.0
    largest = 0.0
    for b in range(x.size):
        if b != best:
            largest = max(largest, x[b])
    return 1.0 / (r * largest - 1.0) / (1.0 + root_sum(x, r))


@kernel("i8(f8[::1], f8[::1], b1, f8[::1], f8[::1])")
def exploration_biased_weights(lower: Array, upper: Array, every: bool, w: Array, mu: Array) -> int:
    """Weights into `w`, the biased bandit into `mu`; returns its best arm, -1 if the intervals meet.

    `every` tries each candidate in the order of the arms, as printed; else the Pareto front.
    """
    max_lower, min_upper = box_ends(lower, upper)
    if min_upper >= max_lower:
        for a in range(lower.size):
            w[a] = 1.0 / lower.size
            mu[a] = min_upper
        return -1
    # From -1, not 0: a candidate whose smallest weight underflows is still a candidate.
    best, best_r, best_min, tried = -1, math.inf, -1.0, -1
    a = next_candidate(lower, upper, max_lower, min_upper, every, -1)
    while a >= 0:
        following = next_candidate(lower, upper, max_lower, min_upper, every, a)
        r = candidate_root(lower, upper, min_upper, a, w)
        only = best < 0 and following < 0
        w_min = 0.0 if only else smallest_weight(w, a, r)
        if w_min > best_min:
            best, best_r, best_min = a, r, w_min
        tried, a = a, following
    if tried != best:
        best_r = candidate_root(lower, upper, min_upper, best, w)
    if best_r == math.inf:
        tied_weights(w)
    else:
        weights_from_root(w, best, best_r)
    for b in range(lower.size):
        mu[b] = max(lower[b], min_upper)
    mu[best] = upper[best]
    return best


@kernel("void(f8[:, ::1], f8[:, ::1], b1, f8[:, ::1], f8[:, ::1], i8[::1])")
def exploration_biased_weights_rows(
    lower: Array, upper: Array, every: bool, w: Array, mu: Array, best: Indices
) -> None:
    """`exploration_biased_weights` for every row."""
    for i in range(lower.shape[0]):
        best[i] = exploration_biased_weights(lower[i], upper[i], every, w[i], mu[i])
