"""The tilt rule for a pair of arms: a mixture of tilts, minimised over the mean that the arms may share.

A tilt of size ε multiplies by (1 + κ X)/(1 + κ μ), κ = e^ε - 1, for every value X in [0, 1] of an arm of mean
μ: a positive factor of mean 1. Arm b is tilted up, and arm a, which may be the better one, down. With P_j and
Q_l averages of their products over tilts of scale j and l,

    f(m, d) = log Σ_jl W_jl P_j(m + d) Q_l(m) = log Σ_kl W_kl up_k(m + d) down_l(m)

is the logarithm of a martingale where m = μ_a and m + d = μ_b, whatever chooses the arms. Its minimum over m,
Λ(d), is the evidence against μ_b - μ_a <= d. f is jointly convex, so tangents bound its minimum from below.

For values that are sub-Gaussian of scale σ a tilt is exp(ε(X - μ)/2σ - ε²/8): pulls and means are enough.

Where an arm a is tested against all others at once, `share` > 0, part of b's side is that of the comparator
of a, see `comparator`: values of whatever arm led, each tilted as if its arm had the mean of the best one.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel
from .._types import Array
from ..families import BOUNDED
from ..layout import CUT, HIGH, LOW, MEANS, MODEL, NEAR, OFFSET, PULLS, ROWS, SCALED, UNIT, VARIANCES

NODES, SCALES = 16, 7
# Rows of a bounded arm: values at the ends are counted. Of all others the factors 1 + κ x are multiplied (0
# stands for an empty product), and the logarithm of a product that has become large is added to a sum.
# Each of the sums is followed by the products, NODES rows further.
TOP, BOTTOM, UP, DOWN = ROWS, ROWS + 1, ROWS + 2, ROWS + 2 + 2 * NODES
OWN_ROWS = 2 + 4 * NODES
# Rows of an arm's comparator, behind these or, if values have no bounds, behind ROWS: how many values were
# counted; the variance of the arm's mean; what the last search found beyond an estimate (`comparator.look`).
# Then, of bounded values, its mean for ranking, the sum of the values counted, how many were at the top, and
# the products, as above; of others the sum of values over their scale with what rounding took from it, the
# same of 1 over the scale, the mean.
COUNT, SPREAD, BEYOND, MORE = range(4)
C_RANK, C_TOTAL, C_TOP, C_UP = range(MORE, MORE + 4)
C_SUM, C_LOST, C_SCALE, C_SCALE_LOST, C_MEAN = range(MORE, MORE + 5)
BOUNDED_ROWS, OTHER_ROWS = MORE + 3 + 2 * NODES, MORE + 5
TOO_LARGE = 1e250  # a factor is at most e^8

NONE = 0.02  # the weight of no tilt
EPSILON = 8.0 * 0.5 ** np.arange(NODES)
KAPPA = np.expm1(EPSILON)


def _prior() -> tuple[Array, Array, Array]:
    """The weights of the tilts at each scale, and of pairs of scales: equal ones, and b's one step finer.

    The tilt of size 0, which is 1 whatever the values, has the weight NONE at every scale. So an arm with
    much more data than the other, for which no tilt is small enough, costs 4 nats and not all evidence.
    """
    scales = 8.0 * 0.25 ** np.arange(SCALES)
    q = EPSILON * np.exp(-(EPSILON**2) / (2.0 * scales[:, None] ** 2))
    w = BY_SCALE / 13.0
    same, finer = 0.7 * w, 0.3 * w
    same[0], finer[0] = w[0], 0.0
    return (1.0 - NONE) * q / q.sum(axis=1, keepdims=True), same, finer


def _near() -> tuple[Array, Array]:
    """The weights of pairs of tilts that are equal, or nearly, for two arms and for more.

    Where samples are spread as they should be, the best tilts of two arms are about equal; of more arms, the
    leader has more samples, and so a finer tilt. How large they are is as unknown as ever: W_kl is in
    proportion to the weight of the scale between both.

    Returns  (2, 5, NODES): of b's tilt k with a's that is 0, 1, 2, 3 steps coarser, of b's k - 1 with a's k;
             (2, 2, NODES): of b's tilt k, and of a's, where the other side has none
    """
    weights = np.zeros((2, 5, NODES))
    spread = ((0.6, 0.2, 0.0, 0.0, 0.2), (0.35, 0.25, 0.2, 0.05, 0.15))
    for form, step, k in np.ndindex(weights.shape):
        other = k - (step if step < 4 else 1)
        if other >= 0:
            of_scales = np.interp(0.5 * (k + other), np.arange(0, 2 * SCALES, 2), BY_SCALE, right=0.25)
            weights[form, step, k] = spread[form][step] * of_scales
    weights /= weights.sum(axis=(1, 2), keepdims=True)
    alone = np.zeros((2, 2, NODES))
    for step in range(4):
        alone[:, 0] += weights[:, step]
        alone[:, 1, : NODES - step] += weights[:, step, step:]
    alone[:, 0, :-1] += weights[:, 4, 1:]
    alone[:, 1] += weights[:, 4]
    return (1.0 - NONE) ** 2 * weights, NONE * (1.0 - NONE) * alone


BY_SCALE = np.array([0.5, 1.0, 3.0, 4.0, 3.0, 1.0, 0.5])
PRIOR, SAME, FINER = _prior()
NEARLY, ALONE = _near()
TILT = 4
UPWARDS, DOWNWARDS, COMPARED = 0, 1, 2  # sides: an arm's tilts up, or down, or its comparator's up
SMALL = 0.15  # of their weight is left to tilts that are too small to decide in time
LOOKS = 80  # of a search at most; what it has certified by then counts
CLOSE = 1e-10  # nats between the bounds of a minimum
AIM = 1e-8  # nats above the level, where the search for an end aims: on it, rounding has the last word

_SCALES = "UniTuple(f8, 14)"
Scales = tuple[float, ...]
NO_SCALES: Scales = (0.0,) * 14


def weights_of(num_arms: int, guard: float, cut: float) -> tuple[float, float]:
    """NEAR and SCALED of params, so that all weights are of sum 1; `guard` is those of a common scale."""
    form, nodes = min(num_arms - 2, 1), np.arange(NODES)
    near = NONE**2 + (ALONE[form] * np.where(nodes > cut, SMALL, 1.0)).sum()
    for step, off in enumerate((0.0, 0.5, 1.0, 1.5, 0.5)):
        near += (NEARLY[form, step] * np.where(nodes - off > cut, SMALL, 1.0)).sum()
    scaled = ((SAME + FINER) * np.where(nodes[:SCALES] * 2.0 > cut, SMALL, 1.0)).sum()
    return (1.0 - guard) / near, guard / scaled


@kernel("void(f8[:, ::1], i8, i8, f8, f8)")
def multiply(state: Array, row: int, arm: int, count: float, factor: float) -> None:
    """Take a factor into the product of a row, or out of it again.

    Numerics: a product of n factors is exact to n units in the last place, so that its logarithm is wrong by
    2e-16 n at most, as a sum of n logarithms would be.
    """
    product = state[row + NODES, arm]
    product = 1.0 if product == 0.0 else product
    product = product * factor if count > 0.0 else product / factor
    if product > TOO_LARGE or product < 1.0 / TOO_LARGE:  # the latter after many were taken out
        state[row, arm] += math.log(product)
        product = 1.0
    state[row + NODES, arm] = product


@kernel("f8(const(f8[:, ::1]), i8, i8)")
def summed(state: Array, row: int, arm: int) -> float:
    """The sum of logarithms of a row."""
    product, total = state[row + NODES, arm], state[row, arm]
    return float(total) if product == 0.0 else float(total + math.log(product))


@kernel("void(f8[:, ::1], i8)", apart=True)
def fold(state: Array, arm: int) -> None:
    """Add the logarithms of all products to the sums."""
    for k in range(NODES):
        for row in (UP + k, DOWN + k):
            state[row, arm], state[row + NODES, arm] = summed(state, row, arm), 0.0


@kernel("UniTuple(f8, 2)(const(f8[::1]), f8)")
def rescaled(params: Array, value: float) -> tuple[float, float]:
    """A bounded value as parts of the distance of the ends: from the lower one, and from the upper one."""
    width = params[HIGH] - params[LOW]
    up = min(max((value - params[LOW]) / width, 0.0), 1.0)
    return up, min(max((params[HIGH] - value) / width, 0.0), 1.0)


@kernel("void(const(f8[::1]), f8[:, ::1], i8, f8, f8)", apart=True)
def count_tilts(params: Array, state: Array, arm: int, count: float, value: float) -> None:
    """Count a value of a bounded arm in, or out again: count -1 with the negative of the value."""
    up, down = rescaled(params, count * value)
    if down == 0.0:
        state[TOP, arm] += count
    elif up == 0.0:
        state[BOTTOM, arm] += count
    else:
        for k in range(NODES):
            multiply(state, UP + k, arm, count, 1.0 + KAPPA[k] * up)
            multiply(state, DOWN + k, arm, count, 1.0 + KAPPA[k] * down)


@kernel("i8(const(f8[::1]))")
def comparator_row(params: Array) -> int:
    """The first row of the comparators."""
    return ROWS + OWN_ROWS if params[MODEL] == BOUNDED else ROWS


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8)")
def place(params: Array, state: Array, arm: int) -> float:
    """The mean of an arm where f is evaluated: in [0, 1] for bounded values, else in units."""
    if params[MODEL] == BOUNDED:
        mean = state[MEANS, arm] * params[UNIT] + (params[OFFSET] - params[LOW])
        return float(min(max(mean / (params[HIGH] - params[LOW]), 0.0), 1.0))
    return float(state[MEANS, arm])


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]), i8, i8, i8, f8)")
def tilt(params: Array, state: Array, arm: int, k: int, which: int, x: float) -> tuple[float, float]:
    """The exponent of the k-th tilt of a side for a mean of x, and its slope in x.

    Numerics: the entries of EPSILON are powers of two, so that to multiply them by 1/σ, which is the same for
    all k, gives to the bit what dividing them by σ gives.
    """
    n, row = state[PULLS, arm], 0
    if which == COMPARED:
        row = comparator_row(params)
        n = state[row + COUNT, arm]
    if params[MODEL] == BOUNDED:
        if which == DOWNWARDS:
            total = state[BOTTOM, arm] * EPSILON[k] + summed(state, DOWN + k, arm)
            y = 1.0 - x
            return total - n * math.log1p(KAPPA[k] * y), n * KAPPA[k] / (1.0 + KAPPA[k] * y)
        if which == COMPARED:
            total = state[row + C_TOP, arm] * EPSILON[k] + summed(state, row + C_UP + k, arm)
        else:
            total = state[TOP, arm] * EPSILON[k] + summed(state, UP + k, arm)
        return total - n * math.log1p(KAPPA[k] * x), -n * KAPPA[k] / (1.0 + KAPPA[k] * x)
    if which == COMPARED:
        slope, mean = -0.5 * EPSILON[k] * state[row + C_SCALE, arm], state[row + C_MEAN, arm]
    else:
        step = 0.5 * EPSILON[k] * (1.0 / math.sqrt(state[VARIANCES, arm]))
        slope, mean = (n * step if which == DOWNWARDS else -n * step), state[MEANS, arm]
    return slope * (x - mean) - n * (0.125 * EPSILON[k] * EPSILON[k]), slope


@kernel("UniTuple(f8, 3)(const(f8[::1]), const(f8[:, ::1]), i8, i8, i8, f8, f8)")
def raised(
    params: Array, state: Array, b: int, a: int, k: int, x: float, share: float
) -> tuple[float, float, float]:
    """The k-th tilt of b, mixed with that of the comparator of a: exponent; in its unit value and slope."""
    up, slope = tilt(params, state, b, k, UPWARDS, x)
    if share == 0.0:
        return up, 1.0, slope
    compared, steep = tilt(params, state, a, k, COMPARED, x)
    top = max(up, compared)
    own = (1.0 - share) / (state.shape[1] - 1.0) * math.exp(up - top)
    other = share * math.exp(compared - top)
    return top, own + other, own * slope + other * steep


@kernel("UniTuple(f8, 3)(f8, f8)")
def unit_for(top: float, exponent: float) -> tuple[float, float, float]:
    """The larger one, as the unit, and what makes numbers in units of each of the two ones in it."""
    r = math.exp(-abs(exponent - top))
    return (exponent, r, 1.0) if exponent > top else (top, 1.0, r)


@kernel(f"{_SCALES}({_SCALES}, i8, f8, f8, f8)")
def with_tilt(sums: Scales, k: int, r: float, value: float, slope: float) -> Scales:
    """Averages over tilts of every scale, times r, and their slopes, with those of the k-th tilt."""
    return (
        sums[0] * r + PRIOR[0, k] * value,
        sums[1] * r + PRIOR[1, k] * value,
        sums[2] * r + PRIOR[2, k] * value,
        sums[3] * r + PRIOR[3, k] * value,
        sums[4] * r + PRIOR[4, k] * value,
        sums[5] * r + PRIOR[5, k] * value,
        sums[6] * r + PRIOR[6, k] * value,
        sums[7] * r + PRIOR[0, k] * slope,
        sums[8] * r + PRIOR[1, k] * slope,
        sums[9] * r + PRIOR[2, k] * slope,
        sums[10] * r + PRIOR[3, k] * slope,
        sums[11] * r + PRIOR[4, k] * slope,
        sums[12] * r + PRIOR[5, k] * slope,
        sums[13] * r + PRIOR[6, k] * slope,
    )


@kernel("f8(const(f8[::1]), f8)")
def kept(params: Array, halvings: float) -> float:
    """Which part of its weight a tilt of 8/2^halvings keeps."""
    return SMALL if halvings > params[CUT] else 1.0


@kernel(f"UniTuple(f8, 3)(const(f8[::1]), {_SCALES}, {_SCALES}, f8, f8)")
def by_scales(
    params: Array, ups: Scales, downs: Scales, none_up: float, none_down: float
) -> tuple[float, float, float]:
    """The average over pairs of scales, and its slopes in the means of both arms."""
    total, in_x, in_y = 0.0, 0.0, 0.0
    for j in range(SCALES):
        weight, slope = SAME[j] * (none_down + downs[j]), SAME[j] * downs[7 + j]
        if j > 0:
            weight += FINER[j] * (none_down + downs[j - 1])
            slope += FINER[j] * downs[6 + j]
        part = kept(params, 2.0 * j)
        weight, slope = part * weight, part * slope
        total += (none_up + ups[j]) * weight
        in_x += ups[7 + j] * weight
        in_y += (none_up + ups[j]) * slope
    return total, in_x, in_y


@kernel("UniTuple(f8, 3)(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8, f8)")
def evidence(
    params: Array, state: Array, b: int, a: int, m: float, d: float, share: float
) -> tuple[float, float, float]:
    """f(m, d), and its slopes in m and in d; `share` is the weight of the comparator of a, 0 for a pair.

    Numerics: of each side the largest exponent so far, at least 0, is the unit; sums are rescaled when a
    larger one comes. Pairs of tilts that are equal, or nearly, are those of the last few.
    """
    form, top, low = min(state.shape[1] - 2, 1), 0.0, 0.0
    ups = downs = NO_SCALES
    total, in_x, in_y, alone_up, alone_rise, alone_down, alone_fall = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    u1, su1, v1, v2, v3, sv1, sv2, sv3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(NODES):
        exponent, u, su = raised(params, state, b, a, k, m + d, share)
        other, slope = tilt(params, state, a, k, DOWNWARDS, m)
        top, r, scale = unit_for(top, exponent)
        low, h, v = unit_for(low, other)
        u, su, sv = scale * u, scale * su, v * slope
        ups, downs = with_tilt(ups, k, r, u, su), with_tilt(downs, k, h, v, sv)
        u1, su1 = u1 * r, su1 * r
        v1, v2, v3, sv1, sv2, sv3 = v1 * h, v2 * h, v3 * h, sv1 * h, sv2 * h, sv3 * h
        part, half = kept(params, k), kept(params, k - 0.5)
        same, one, before = part * NEARLY[form, 0, k], half * NEARLY[form, 1, k], half * NEARLY[form, 4, k]
        two = kept(params, k - 1.0) * NEARLY[form, 2, k]
        three = kept(params, k - 1.5) * NEARLY[form, 3, k]
        facing = same * v + one * v1 + two * v2 + three * v3
        falling = same * sv + one * sv1 + two * sv2 + three * sv3
        total = total * r * h + u * facing + u1 * before * v
        in_x = in_x * r * h + su * facing + su1 * before * v
        in_y = in_y * r * h + u * falling + u1 * before * sv
        up, down = part * ALONE[form, 0, k], part * ALONE[form, 1, k]
        alone_up, alone_rise = alone_up * r + up * u, alone_rise * r + up * su
        alone_down, alone_fall = alone_down * h + down * v, alone_fall * h + down * sv
        u1, su1, v1, v2, v3, sv1, sv2, sv3 = u, su, v, v1, v2, sv, sv1, sv2
    none_up, none_down = math.exp(-top), math.exp(-low)
    if share > 0.0:
        none_up *= share + (1.0 - share) / (state.shape[1] - 1.0)
    total += alone_up * none_down + (alone_down + NONE * NONE * none_down) * none_up
    in_x, in_y = in_x + alone_rise * none_down, in_y + alone_fall * none_up
    other, more_x, more_y = by_scales(params, ups, downs, NONE * none_up, NONE * none_down)
    total = params[NEAR] * total + params[SCALED] * other
    in_x = params[NEAR] * in_x + params[SCALED] * more_x
    in_y = params[NEAR] * in_y + params[SCALED] * more_y
    if total == 0.0:
        return -math.inf, 0.0, 0.0
    return top + low + math.log(total), (in_x + in_y) / total, in_x / total


@kernel("UniTuple(f8, 2)(const(f8[::1]), f8)")
def ends(params: Array, d: float) -> tuple[float, float]:
    """Between which m may lie."""
    if params[MODEL] == BOUNDED:
        return max(0.0, -d), min(1.0, 1.0 - d)
    return -math.inf, math.inf


_POINT = "UniTuple(f8, 2)"
Point = tuple[float, float]  # a mean, and the slope of f there


@kernel(f"f8({_POINT}, {_POINT}, {_POINT})")
def crossing(last: Point, one: Point, two: Point) -> float:
    """About where the slope is 0, by inverse interpolation, and a little beyond as seen from the last point.

    So the points close in from both sides. `two` is `one` where there is no third point yet.
    """
    (x, s), (x1, s1), (x2, s2) = last, one, two
    if s == s1:
        return x
    root = x - s * (x - x1) / (s - s1)
    if s1 == s2 or s == s2:
        return root + 0.05 * (root - x)
    bent = x2 * s * s1 / ((s2 - s) * (s2 - s1)) - x1 * s * s2 / ((s1 - s) * (s2 - s1))
    bent += x * s1 * s2 / ((s - s1) * (s - s2))
    return bent + math.copysign(0.1 * abs(bent - root), bent - x)


@kernel("UniTuple(f8, 3)(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8, f8, f8, f8)", apart=True)
def minimum(
    params: Array,
    state: Array,
    b: int,
    a: int,
    d: float,
    start: float,
    enough: float,
    ample: float,
    share: float,
) -> tuple[float, float, float]:
    """A certified lower bound of Λ(d), an upper one, and where that is taken.

    start   a guess of the minimiser
    enough  the search ends as soon as Λ is known to be at most that; -inf: it goes on until they are CLOSE
    ample   and as soon as Λ is known to be above that
    """
    low, high = ends(params, d)
    n = state[PULLS, b] + state[PULLS, a]
    m = min(max(start, low), high)
    left, at_left, slope_left, right, at_right, slope_right = low, 0.0, 0.0, high, 0.0, 0.0
    has_left, has_right, widen = False, False, 1.0
    upper, best, lower, one, two = math.inf, m, -math.inf, (m, 0.0), (m, 0.0)
    for tries in range(LOOKS):
        value, slope, _ = evidence(params, state, b, a, m, d, share)
        if value < upper:
            upper, best = value, m
        if value <= enough or slope == 0.0:
            return (value if slope == 0.0 else lower), upper, best
        if slope > 0.0:
            if m <= low:  # convex: the minimum is at this end
                return value, value, m
            right, at_right, slope_right, has_right = m, value, slope, True
        else:
            if m >= high:
                return value, value, m
            left, at_left, slope_left, has_left = m, value, slope, True
        last = (m, slope)
        if has_left and has_right:
            m = (at_right - at_left + slope_left * left - slope_right * right) / (slope_left - slope_right)
            lower = max(lower, at_left + slope_left * (m - left))
            if upper - lower <= CLOSE * max(1.0, abs(upper)) or lower > ample:
                break
            inner = 0.05 * (right - left)
            if enough == -math.inf and tries % 16 < 15:
                m, inner = crossing(last, one, two), 0.0
            if not left + inner <= m <= right - inner:
                m = 0.5 * (left + right)
            if m <= left or m >= right:  # nothing lies between them any more
                break
        else:
            spread = max(m * (1.0 - m), 1.0 / n) if params[MODEL] == BOUNDED else 1.0
            m = min(max(m - widen * 2.0 * slope * spread / n, low), high)
            widen *= 4.0
        one, two = last, one if tries > 0 else last
    return min(lower, upper), upper, best  # not above it by rounding


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), i8, i8)")
def comparable(params: Array, state: Array, b: int, a: int) -> bool:
    """Whether two arms have enough values to be compared: if a scale is assumed, two each.

    One value of each says nothing of whether the scale is right; two can refute it, see `alarm`.
    """
    least = 1.0 if params[MODEL] == BOUNDED else 2.0
    return bool(state[PULLS, b] >= least and state[PULLS, a] >= least)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8)")
def pooled(params: Array, state: Array, b: int, a: int) -> float:
    """The mean of both arms together, where a search begins."""
    n_b, n_a = state[PULLS, b], state[PULLS, a]
    if params[MODEL] != BOUNDED:  # where variances differ: the mean that both may share at the least cost
        n_b, n_a = n_b / state[VARIANCES, b], n_a / state[VARIANCES, a]
    mean: float = (n_b * place(params, state, b) + n_a * place(params, state, a)) / (n_b + n_a)
    return mean


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)", apart=True)
def lower_end(params: Array, state: Array, b: int, a: int, level: float) -> float:
    """The largest d that is certified: Λ(d) > level there, so that μ_b - μ_a > d; Λ is convex and falls.

    Newton's step from a d with Λ(d) above the level leads to another one, and so does one from below it.
    """
    m, d, found = pooled(params, state, b, a), 0.0, -math.inf
    bounded = params[MODEL] == BOUNDED
    for _ in range(LOOKS):
        lower, _, m = minimum(params, state, b, a, d, m, -math.inf, math.inf, 0.0)
        _, in_m, slope = evidence(params, state, b, a, m, d, 0.0)
        low, high = ends(params, d)
        if bounded and ((d < 0.0 and m <= low) or (d > 0.0 and m >= high)):
            slope -= in_m  # that end moves with d
        if lower > level:
            found = max(found, d)
        elif bounded and d <= -1.0:
            return -1.0
        step = (level + AIM - lower) / slope if slope < 0.0 else -1.0
        if lower > level and step <= 1e-9 * max(1e-3, abs(d)):
            break
        d += step
        if bounded:
            d = min(max(d, -1.0), 1.0)
    return max(found, -1.0) if bounded else found


@kernel("void(const(f8[::1]), f8[:, ::1], i8, f8, f8)")
def note(params: Array, state: Array, arm: int, count: float, value: float) -> None:
    """Keep the tilts of a bounded value."""
    if params[MODEL] == BOUNDED:
        count_tilts(params, state, arm, count, value)


@kernel("void(const(f8[::1]), f8[:, ::1], i8)")
def grow(params: Array, state: Array, arm: int) -> None:
    """Leave only what is in proportion to the number of pulls."""
    if params[MODEL] == BOUNDED:
        fold(state, arm)


@kernel("f8(const(f8[::1]), f8)")
def excluded(params: Array, tolerance: float) -> float:
    """The difference against which a pair is tested, less than 0 by the tolerance."""
    return -min(0.5 * tolerance, 1.0) if params[MODEL] == BOUNDED else -tolerance


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)")
def pair_evidence(params: Array, state: Array, b: int, a: int, tolerance: float, enough: float) -> float:
    """Λ of a pair, or any number on the same side of `enough`."""
    if not comparable(params, state, b, a):
        return 0.0
    d, start = excluded(params, tolerance), pooled(params, state, b, a)
    ample = enough if enough > -math.inf else math.inf
    least, most, _ = minimum(params, state, b, a, d, start, enough, ample, 0.0)
    return least if least > enough else min(most, enough)


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def pair_interval(params: Array, state: Array, b: int, a: int, bound: float) -> tuple[float, float]:
    """Both ends, in units."""
    if not comparable(params, state, b, a):
        return -math.inf, math.inf
    scale = 2.0 if params[MODEL] == BOUNDED else 1.0
    low, high = lower_end(params, state, b, a, bound), -lower_end(params, state, a, b, bound)
    return scale * low, scale * high
