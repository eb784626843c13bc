"""Confidence intervals of means, and the Exploration-Biased Weights of a box of these (Algorithm 1).

The weights are those of the bandit in the box whose smallest weight is largest.

With c_b = max(lower_b, min upper), the candidate of arm a puts a at upper_a and every other arm b at
c_b. Only candidates on the Pareto front of (upper, c) can win: if upper and c of a' are at least those
of a, then w_min of a' is at least that of a. The front is walked by falling upper and rising c.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array, Indices
from .extremes import MANY, largest, least
from .rules.mixture import MIXTURE_C
from .weights import root_sum, scaled_root, scaled_squares, solve_scaled, tied_weights

PAPER, EXPERIMENTS, NORMAL_MIXTURE = 0, 1, 2  # kinds of intervals


@kernel("f8(i8, f8, f8)")
def half_width(code: int, level: float, n: float) -> float:
    """Half-width of the confidence interval of an arm's mean in units of σ after n pulls, inf after none.

    level is log(K/γ) for every code; the constants inside the logarithm are added here.
    """
    if n == 0.0:
        return math.inf
    if code == PAPER:
        return 2.0 * math.sqrt((level + math.log(4.0) + math.log(n)) / n)  # (3)
    if code == EXPERIMENTS:
        return math.sqrt((level + math.log(n)) / n)
    c = MIXTURE_C
    return math.sqrt(2.0 * (level + 0.5 * math.log1p(n / c)) * (1.0 + c / n) / n)


@kernel("void(i8, f8, const(f8[::1]), f8[::1])")
def half_width_rows(code: int, level: float, pulls: Array, width: Array) -> None:
    """`half_width` for every entry."""
    for i in range(pulls.size):
        width[i] = half_width(code, level, pulls[i])


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[::1]))")
def box_ends(lower: Array, upper: Array) -> tuple[float, float]:
    """The largest lower end and the smallest upper end."""
    if lower.size >= MANY:
        return largest(lower), least(upper)
    max_lower, min_upper = -math.inf, math.inf
    for a in range(lower.size):
        max_lower = max(max_lower, lower[a])
        min_upper = min(min_upper, upper[a])
    return max_lower, min_upper


@kernel("i8(const(f8[::1]), const(f8[::1]), f8, f8, b1, f8, i8)")
def next_candidate(
    lower: Array, upper: Array, max_lower: float, min_upper: float, every: bool, tie: float, after: int
) -> int:
    """The candidate that follows `after` (-1: the first one); -1 when there is none left.

    With `every`, the next potential best arm in the order of the arms. Else the next on the front: among
    those with larger c than `after` the one of largest upper, then largest c, then lowest index. Values
    that differ by at most `tie` count as equal.

    Differs from the paper: upper >= max lower is enough to be a potential best arm, since with a
    degenerate top interval the printed strict inequality leaves no candidate.
    """
    if every:
        for a in range(after + 1, lower.size):
            if upper[a] >= max_lower:
                return a
        return -1
    above = -math.inf if after < 0 else max(lower[after], min_upper) + tie
    found, top, level = -1, -math.inf, -math.inf
    for a in range(lower.size):
        if upper[a] >= max_lower and upper[a] >= top - tie:
            c = max(lower[a], min_upper)
            if c > above and (upper[a] > top + tie or c > level + tie):
                found, top, level = a, upper[a], c
    return found


@kernel("f8(const(f8[::1]), const(f8[::1]), f8, i8, f8, f8[::1])")
def candidate_squares(
    lower: Array, upper: Array, min_upper: float, best: int, tolerance: float, x: Array
) -> float:
    """Squared gaps of a candidate, with the tolerance, into `x`, in the form of `scaled_squares`.

    Returns the smallest gap; if it is 0, the candidate has a second best arm, and `x` has the plain gaps.
    """
    top = upper[best]
    smallest = math.inf
    for b in range(lower.size):
        x[b] = top - max(lower[b], min_upper) + tolerance
    x[best] = math.inf
    if x.size >= MANY:
        smallest = least(x)
    else:
        for b in range(x.size):
            smallest = min(smallest, x[b])
    x[best] = 0.0
    if smallest != 0.0:
        scaled_squares(x, best, smallest)
    return smallest


@kernel("f8(f8, f8, const(f8[::1]), f8)")
def log_smallest_weight(most: float, smallest: float, x: Array, r: float) -> float:
    """log w_min of a candidate, from its largest and smallest gap, its squared gaps and its root.

    Numerics: w_min itself underflows where gaps differ by more than 150 orders of magnitude.
    """
    ratio = most / smallest
    if ratio < 1e100:
        inverse = math.log(r * ratio * ratio - 1.0)
    else:
        inverse = math.log(r) + 2.0 * (math.log(most) - math.log(smallest))
    return -inverse - math.log1p(root_sum(x, r))


@kernel("Tuple((i8, f8))(const(f8[::1]), const(f8[::1]), b1, f8, f8, f8, f8[::1])")
def exploration_biased_weights(
    lower: Array, upper: Array, every: bool, tie: float, tolerance: float, warm: float, w: Array
) -> tuple[int, float]:
    """Weights into `w`; returns the biased bandit's best arm, -1 if the intervals meet, and r Δ_min².

    every  try each candidate in the order of the arms, as printed; else the Pareto front
    tie    values that differ by at most this much count as equal, and the lowest index wins; w_min is
           compared by its logarithm
    tolerance  by which every gap is larger: how far below the best an answer may be
    warm   a guess of r Δ_min², 0 for none
    """
    max_lower, min_upper = box_ends(lower, upper)
    if min_upper >= max_lower:
        for a in range(lower.size):
            w[a] = 1.0 / lower.size
        return -1, 0.0
    best, best_r, best_min = -1, 0.0, -math.inf
    a = next_candidate(lower, upper, max_lower, min_upper, every, tie, -1)
    following = next_candidate(lower, upper, max_lower, min_upper, every, tie, a)
    if following < 0:  # nearly always: a single candidate, nothing to compare
        best, best_r = a, warm
    while a >= 0 and best != a:
        smallest = candidate_squares(lower, upper, min_upper, a, tolerance, w)
        if smallest != 0.0:
            r = scaled_root(w, a, warm)
            value = log_smallest_weight(upper[a] - min_upper + tolerance, smallest, w, r)
            if best < 0 or value > best_min + tie or (value >= best_min - tie and a < best):
                best, best_r, best_min = a, r, value
        a = following
        if a >= 0:
            following = next_candidate(lower, upper, max_lower, min_upper, every, tie, a)
    if best < 0 or candidate_squares(lower, upper, min_upper, best, tolerance, w) == 0.0:
        # Every candidate has a second best arm, and w_min = 0: the first of them wins.
        best = next_candidate(lower, upper, max_lower, min_upper, True, tie, -1)
        candidate_squares(lower, upper, min_upper, best, tolerance, w)
        tied_weights(w)
        return best, 0.0
    return best, solve_scaled(w, best, best_r)


@kernel("void(const(f8[:, ::1]), const(f8[:, ::1]), b1, f8[:, ::1], f8[:, ::1], i8[::1])")
def exploration_biased_weights_rows(
    lower: Array, upper: Array, every: bool, w: Array, mu: Array, best: Indices
) -> None:
    """Weights and the biased bandit for every row."""
    for i in range(lower.shape[0]):
        best[i], _ = exploration_biased_weights(lower[i], upper[i], every, 0.0, 0.0, 0.0, w[i])
        _, min_upper = box_ends(lower[i], upper[i])
        for a in range(lower.shape[1]):
            mu[i, a] = min_upper if best[i] < 0 else max(lower[i, a], min_upper)
        if best[i] >= 0:
            mu[i, best[i]] = upper[i, best[i]]
