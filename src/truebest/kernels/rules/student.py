"""The Student rule for a pair of arms: likelihood ratios that know no variance, minimised over a common mean.

An arm has N normal values of mean X and M2 = Σ (x - X)². Of how far a supposed mean m lies below X, only

    s = (X - m)/√((X - m)² + M2/N),   from -1 to 1,

matters, in any unit. Against the alternative that the true mean is above m by a half-normal multiple of the
unknown σ, of scale 1/√c, the likelihood ratio of the direction of (x_1 - m, ..., x_N - m) is at least E_c(s),

    E_c(s) = √(1-ρ) (2 (1 - ρ s²)^(-N/2) - 1)        for s >= 0, with ρ = N/(N + c)
    E_c(s) = √(1-ρ) exp(q²/2) erfc(q/√2)             for s < 0, with q = √(Nρ) |s|

which rises in s (docs/proofs.md). E is their average over five scales c. For a pair, arm b is tested upwards
and arm a downwards:

    f(m) = log E(s_b) + log E(s_a),   Λ = min of f over m

Everything is a function of the pulls, the squares and the *reach*: how far mean b lies above mean a, less the
difference that is tested. m is counted from mean a.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel
from .._types import Array
from ..exact import FARTHEST
from ..families import mean_from
from ..layout import LOST, MEANS, OFFSET, PULLS, SQUARES, SUMS, UNIT

STUDENT_RULE = 5
PRIORS = 5
C = 16.0 ** np.arange(PRIORS)  # how many pulls the prior of each scale is worth
WEIGHT = np.array([1.0, 3.0, 3.0, 1.5, 0.5]) / 9.0

ROOT_HALF = math.sqrt(0.5)
ROOT_2_PI = math.sqrt(2.0 / math.pi)
LARGE_Q = 30.0  # from here on the series of the normal tail, cut off where it is too small
CLOSE = 1e-8  # nats (or that part of the evidence) between the bounds of a minimum
DEPTH = 60  # how often an interval is halved at most
CELLS = 4000  # of a search at most: without a result it has certified nothing
SLACK = 1e-9  # part of the reach that is left out, so that an interval which decides ends above 0
ENDS = 100  # steps of the search for an end
NEAR_LEVEL = 1e-6  # nats above the level, where that search ends
SECTION, SECTIONS = 0.5 * (math.sqrt(5.0) - 1.0), 24  # of the golden section, and how many


@kernel("UniTuple(f8, 2)(f8)")
def tail(q: float) -> tuple[float, float]:
    """exp(q²/2) erfc(q/√2) for q >= 0, which falls, and minus its slope, which falls, too.

    For large q a lower bound: the asymptotic series up to a negative term, exact to 2e-10.
    """
    if q <= LARGE_Q:
        value = math.exp(0.5 * q * q) * math.erfc(ROOT_HALF * q)
        return value, ROOT_2_PI - q * value
    x = 1.0 / (q * q)
    rest = x * (1.0 + x * (-3.0 + 15.0 * x))
    return ROOT_2_PI * (1.0 - rest) / q, ROOT_2_PI * rest


@kernel("UniTuple(f8, 2)(f8, f8, b1)", apart=True)
def arm_evidence(n: float, s: float, below: bool) -> tuple[float, float]:
    """log E(s) after n pulls, and the logarithm of the slope of E in s.

    Both rise with |s| for s >= 0, and both fall with it for s <= 0. At 0 the slope jumps.
    below  whether s <= 0 is meant, at 0 the slope from that side
    """
    top, total, slope = 0.0, 0.0, 0.0
    for j in range(PRIORS):
        rho = n / (n + C[j])
        weight = WEIGHT[j] * math.sqrt(C[j] / (n + C[j]))
        if below:
            root = math.sqrt(n * rho)
            value, fall = tail(-root * s)
            total += weight * value
            slope += weight * root * fall
            continue
        grown = -0.5 * n * math.log1p(-rho * s * s)
        if grown > top:  # in units of the largest power so far
            total *= math.exp(top - grown)
            slope *= math.exp(top - grown)
            top = grown
        weight *= math.exp(grown - top)
        total += weight * (2.0 - math.exp(-grown))
        slope += weight * 2.0 * n * rho * s / (1.0 - rho * s * s)
    return top + math.log(total), top + math.log(slope) if slope > 0.0 else -math.inf


@kernel("f8(f8, f8)")
def place(distance: float, spread: float) -> float:
    """s, for a mean that lies so far below; spread is M2/N."""
    if abs(distance) == math.inf:
        return math.copysign(1.0, distance)
    return max(min(distance / math.sqrt(distance * distance + spread), 1.0), -1.0)


@kernel("f8(f8, f8, f8, f8, f8, f8)")
def evidence(n_b: float, spread_b: float, n_a: float, spread_a: float, reach: float, m: float) -> float:
    """f(m)."""
    up, _ = arm_evidence(n_b, place(reach - m, spread_b), reach < m)
    down, _ = arm_evidence(n_a, place(m, spread_a), m < 0.0)
    return up + down


@kernel("UniTuple(f8, 4)(f8, f8, f8, f8)")
def side(n: float, spread: float, first: float, last: float) -> tuple[float, float, float, float]:
    """log E at two distances of the same sign, and between what its slope lies from one to the other.

    ds/dm is (1 - s²)^1.5/√spread, which falls with |s|.
    """
    s, r, below = place(first, spread), place(last, spread), min(first, last) < 0.0
    at_first, slope_first = arm_evidence(n, s, below)
    at_last, slope_last = arm_evidence(n, r, below)
    turn_first, turn_last = (1.0 - s * s) ** 1.5, (1.0 - r * r) ** 1.5
    least = math.exp(min(slope_first, slope_last) - max(at_first, at_last)) * min(turn_first, turn_last)
    power, most = max(slope_first, slope_last) - min(at_first, at_last), math.inf
    if power < 700.0:  # otherwise beyond the range of doubles
        most = math.exp(power) * max(turn_first, turn_last)
    return at_first, at_last, least / math.sqrt(spread), most / math.sqrt(spread)


@kernel("UniTuple(f8, 3)(f8, f8, f8, f8, f8, f8, f8)", apart=True)
def cell(
    n_b: float, spread_b: float, n_a: float, spread_a: float, reach: float, left: float, right: float
) -> tuple[float, float, float]:
    """A lower bound of f in an interval with neither mean inside it, and f at both ends.

    The evidence of b falls and that of a rises, so that each is at least what it is at one end. On a short
    interval the slopes give a better bound: where the steepest lines through both ends meet.
    """
    up_left, up_right, up_least, up_most = side(n_b, spread_b, reach - left, reach - right)
    down_left, down_right, down_least, down_most = side(n_a, spread_a, left, right)
    at_left, at_right, flat = up_left + down_left, up_right + down_right, up_right + down_left
    least, most = down_least - up_most, down_most - up_least
    if least >= 0.0:
        return at_left, at_left, at_right
    if most <= 0.0:
        return at_right, at_left, at_right
    across = (most - least) * (right - left)
    if not across < math.inf:
        return flat, at_left, at_right
    part = (at_left - at_right + most * (right - left)) / across  # where they meet, between 0 and 1
    return max(flat, at_left + least * (right - left) * part), at_left, at_right


@kernel("UniTuple(f8, 2)(f8, f8, f8, f8, f8)")
def guess(n_b: float, spread_b: float, n_a: float, spread_a: float, reach: float) -> tuple[float, float]:
    """Where f would be least if the variances were known, and the standard error of the difference."""
    v_b, v_a = spread_b / n_b, spread_a / n_a
    return reach * (v_a / (v_a + v_b)), math.sqrt(v_a + v_b)


@kernel("UniTuple(f8, 2)(f8, f8, f8, f8, f8, f8)", apart=True)
def descent(
    n_b: float, spread_b: float, n_a: float, spread_a: float, reach: float, enough: float
) -> tuple[float, float]:
    """A small value of f, and where, by a golden section around the guess; ends at one up to `enough`."""
    middle, error = guess(n_b, spread_b, n_a, spread_a, reach)
    left, right = middle - 3.0 * error, middle + 3.0 * error
    x, y = right - SECTION * (right - left), left + SECTION * (right - left)
    at_x = evidence(n_b, spread_b, n_a, spread_a, reach, x)
    at_y = evidence(n_b, spread_b, n_a, spread_a, reach, y)
    for _ in range(SECTIONS):
        if min(at_x, at_y) <= enough:
            break
        if at_x < at_y:
            right, y, at_y = y, x, at_x
            x = right - SECTION * (right - left)
            at_x = evidence(n_b, spread_b, n_a, spread_a, reach, x)
        else:
            left, x, at_x = x, y, at_y
            y = left + SECTION * (right - left)
            at_y = evidence(n_b, spread_b, n_a, spread_a, reach, y)
    return (at_x, x) if at_x < at_y else (at_y, y)


@kernel("UniTuple(f8, 2)(i8, f8, f8, f8, f8)")
def interval_of(part: int, low: float, high: float, reach: float, error: float) -> tuple[float, float]:
    """The interval of m that belongs to a part of [0, 1]: below both means, between them, above both."""
    first, second = min(reach, 0.0), max(reach, 0.0)
    if part == 1:
        return first + low * (second - first), first + high * (second - first)
    near = error * low / (1.0 - low)
    far = math.inf if high == 1.0 else error * high / (1.0 - high)
    return (first - far, first - near) if part == 0 else (second + near, second + far)


@kernel("UniTuple(f8, 2)(f8, f8, f8, f8, f8, f8)", apart=True)
def minimum(
    n_b: float, spread_b: float, n_a: float, spread_a: float, reach: float, enough: float
) -> tuple[float, float]:
    """A certified lower bound of Λ, and an upper one; they end within CLOSE.

    Intervals are halved until each has a lower bound that is as good as the smallest value found; one after
    the other, so that nothing has to be kept. When pulls are few, f may have a minimum near each mean.

    enough  the search ends as soon as Λ is known to be at most that, with -inf for the lower bound, or above
            that, with a lower bound that may be far from Λ; -inf for the whole search
    """
    upper, _ = descent(n_b, spread_b, n_a, spread_a, reach, enough)
    _, error = guess(n_b, spread_b, n_a, spread_a, reach)
    lower, cells, above = math.inf, 0, math.inf
    if enough > -math.inf:  # by so much that the whole search, too, would end above `enough`
        above = enough + 2.0 * CLOSE * max(1.0, abs(upper))
    for part in range(3):
        depth, index, size = 0, 0, 1.0
        while index == 0 or depth > 0:
            left, right = interval_of(part, index * size, (index + 1) * size, reach, error)
            bound, at_left, at_right = cell(n_b, spread_b, n_a, spread_a, reach, left, right)
            upper, cells = min(upper, at_left, at_right), cells + 1
            if upper <= enough or cells > CELLS:
                return -math.inf, upper
            if bound < min(upper - CLOSE * max(1.0, abs(upper)), above) and depth < DEPTH:
                depth, index, size = depth + 1, 2 * index, 0.5 * size
                continue
            lower = min(lower, bound)
            index += 1
            while depth > 0 and index % 2 == 0:
                depth, index, size = depth - 1, index // 2, 2.0 * size
    return min(lower, upper - CLOSE * max(1.0, abs(upper))), upper


@kernel("f8(f8, f8, f8, f8, f8, f8)", apart=True)
def least_reach(
    n_b: float, spread_b: float, n_a: float, spread_a: float, start: float, level: float
) -> float:
    """Nearly the smallest reach with Λ > level, and certified to have that; inf if there is none.

    start  the first that is tried; if that is certified, what is returned is not larger
    """
    _, error = guess(n_b, spread_b, n_a, spread_a, 0.0)
    farthest = 1e9 * (math.sqrt(spread_b) + math.sqrt(spread_a))
    low, high, below, above = 0.0, math.inf, -level, math.inf  # Λ - level, at 0 not above that
    reach = start if start > 0.0 else error * math.sqrt(2.0 * level)
    for step in range(ENDS):
        least, _ = minimum(n_b, spread_b, n_a, spread_a, reach, -math.inf)
        if least > level:
            high, above = reach, least - level
        else:
            low, below = reach, max(least - level, -1e9)
        if high == math.inf:
            if reach > farthest:
                break
            reach *= 2.0
            continue
        if above <= NEAR_LEVEL or high - low <= 1e-9 * high:
            break
        share = 0.5 if step % 3 == 2 else (0.5 * NEAR_LEVEL - below) / (above - below)  # every third halves
        reach = low + (high - low) * share
    return high


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), i8)")
def varies(params: Array, state: Array, arm: int) -> bool:
    """Whether an arm's values show a variance: they are not all equal, nor as if but for their rounding.

    Where sigma is known, values beyond 2^43 sigma are refused; here the rule waits for a standard deviation
    of 2^-43 of their size.
    """
    n = state[PULLS, arm]
    size = (params[OFFSET] / params[UNIT] + state[MEANS, arm]) / FARTHEST
    return bool(n >= 2.0 and state[SQUARES, arm] > n * size * size)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8)")
def difference(params: Array, state: Array, b: int, a: int) -> float:
    """How far mean b lies above mean a, in units, from the sums: exact to the last bits, at any offset."""
    near = mean_from(state, a, 0.0)
    apart: float = (mean_from(state, b, near) - mean_from(state, a, near)) / params[UNIT]
    return apart


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def reach_of(params: Array, state: Array, b: int, a: int, tolerance: float) -> float:
    """The reach against mean b <= mean a - tolerance; 0 where the rule has to wait for a variance."""
    if not (varies(params, state, b) and varies(params, state, a)):
        return 0.0
    return (1.0 - SLACK) * (difference(params, state, b, a) + tolerance)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def pair_ceiling(params: Array, state: Array, b: int, a: int, tolerance: float) -> float:
    """At least Λ of a pair: f at the guess; -inf where the pair cannot pass."""
    reach = reach_of(params, state, b, a, tolerance)
    if reach <= 0.0:
        return -math.inf
    n_b, n_a = state[PULLS, b], state[PULLS, a]
    spread_b, spread_a = state[SQUARES, b] / n_b, state[SQUARES, a] / n_a
    m, _ = guess(n_b, spread_b, n_a, spread_a, reach)
    return evidence(n_b, spread_b, n_a, spread_a, reach, m)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)")
def pair_evidence(params: Array, state: Array, b: int, a: int, tolerance: float, enough: float) -> float:
    """A certified lower bound of Λ of a pair, see `minimum`; -inf where it cannot pass."""
    reach = reach_of(params, state, b, a, tolerance)
    if reach <= 0.0:
        return -math.inf
    n_b, n_a = state[PULLS, b], state[PULLS, a]
    least, _ = minimum(n_b, state[SQUARES, b] / n_b, n_a, state[SQUARES, a] / n_a, reach, enough)
    return least


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, f8)")
def number_evidence(params: Array, state: Array, arm: int, number: float) -> float:
    """log E of one arm on the side of a number where its mean lies; 0 where the rule has to wait."""
    if not varies(params, state, arm):
        return 0.0
    n, apart = state[PULLS, arm], mean_from(state, arm, number * params[UNIT] + params[OFFSET])
    s = place((1.0 - SLACK) * abs(apart) / params[UNIT], state[SQUARES, arm] / n)
    return float(arm_evidence(n, s, False)[0])


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def lower_end(params: Array, state: Array, b: int, a: int, level: float) -> float:
    """The lower end for μ_b - μ_a, in units: above 0 exactly when the pair passes without a tolerance."""
    if not (varies(params, state, b) and varies(params, state, a)):
        return -math.inf
    n_b, n_a = state[PULLS, b], state[PULLS, a]
    start, apart = reach_of(params, state, b, a, 0.0), difference(params, state, b, a)
    reach = least_reach(n_b, state[SQUARES, b] / n_b, n_a, state[SQUARES, a] / n_a, start, level)
    return apart - reach if reach <= start else min(apart - reach, 0.0)


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def pair_interval(params: Array, state: Array, b: int, a: int, bound: float) -> tuple[float, float]:
    """Both ends, in units."""
    return lower_end(params, state, b, a, bound), -lower_end(params, state, a, b, bound)


@kernel("void(f8[:, ::1], i8, f8)")
def grow(state: Array, arm: int, factor: float) -> None:
    """As if there were `factor` times as many of an arm's values."""
    state[SUMS, arm] *= factor
    state[LOST, arm] *= factor
    state[SQUARES, arm] *= factor
