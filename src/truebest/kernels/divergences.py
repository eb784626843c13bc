"""One-parameter exponential families by their mean: divergence, cost of a pair, where a cost is reached.

    BERNOULLI_MODEL    d(μ, x) = μ log(μ/x) + (1-μ) log((1-μ)/(1-x))      variance x(1-x)
    POISSON_MODEL      d(μ, x) = x - μ + μ log(μ/x)                       x
    EXPONENTIAL_MODEL  d(μ, x) = μ/x - 1 - log(μ/x)                       x²

All three are made of `excess`, the divergence of Poisson: twice for the two sides of a Bernoulli value, and
with its arguments swapped for an exponential one.

Means are those of the values as they are, counted from 0. Where the smallest is the best, values are negated,
and means with them; |mean| is then the parameter, and `side` is -1.

Numerics: a mean x is never subtracted from μ. It comes with its distance from μ, so that means that differ in
the last bits lose nothing, and with itself, so that a mean near the end of the domain loses nothing.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array
from .layout import LOW, MEANS, MODEL, TOLERANCE

BERNOULLI_MODEL, POISSON_MODEL, EXPONENTIAL_MODEL = 4, 5, 6
HALVINGS_AT_MOST = 200  # of a search at most: more than halving needs
CLOSE = 2e-16  # of the interval that is searched: the minimum may be at an end, or very sharp


@kernel("f8(f8)")
def above_log(u: float) -> float:
    """u - log(1+u) for |u| <= 0.3, by the series of log((1+s)/(1-s)) with s = u/(2+u)."""
    s = u / (2.0 + u)
    q = s * s
    tail = 0.0
    for k in range(23, 1, -2):
        tail = tail * q + 1.0 / k
    return s * (u - 2.0 * q * tail)


@kernel("f8(f8, f8, f8)")
def excess(mu: float, x: float, shift: float) -> float:
    """x - μ + μ log(μ/x), where x = μ + shift: at least 0, and 0 for equal means only."""
    if shift == 0.0:
        return 0.0
    u = shift / mu if mu > 0.0 else math.inf
    if abs(u) <= 0.3:
        return mu * above_log(u)
    if u == math.inf:
        return shift
    if x <= 0.0:
        return math.inf
    return shift - mu * (math.log1p(u) if abs(u) < 1.0 and u > -0.5 else math.log(x / mu))


@kernel("f8(f8, f8, f8, f8)")
def divergence(model: float, mu: float, x: float, shift: float) -> float:
    """d(μ, x), where x = μ + shift."""
    if model == POISSON_MODEL:
        return excess(mu, x, shift)
    if model == EXPONENTIAL_MODEL:
        return excess(x, mu, -shift) / x if x > 0.0 else math.inf
    return excess(mu, x, shift) + excess(1.0 - mu, 1.0 - x, -shift)


@kernel("UniTuple(f8, 2)(f8, f8)")
def variance(model: float, x: float) -> tuple[float, float]:
    """The variance of a value of mean x, and its derivative."""
    if model == POISSON_MODEL:
        return x, 1.0
    if model == EXPONENTIAL_MODEL:
        return x * x, 2.0 * x
    return x * (1.0 - x), 1.0 - 2.0 * x


@kernel("f8(const(f8[::1]))")
def side(params: Array) -> float:
    """1, or -1 where values are negated."""
    return -1.0 if params[LOW] < 0.0 else 1.0


@kernel("UniTuple(f8, 2)(f8, f8, f8, f8, f8, f8, f8, f8)")
def imbalance(
    model: float, mu_b: float, mu_a: float, sign: float, v_b: float, v_a: float, span: float, z: float
) -> tuple[float, float]:
    """The derivative of the cost in z times both variances, and the derivative of that: see `meeting`."""
    var_x, slope_x = variance(model, mu_b - sign * z)
    var_y, slope_y = variance(model, mu_a + sign * (span - z))
    value = v_b * z * var_y - v_a * (span - z) * var_x
    slope = v_b * var_y + v_a * var_x + sign * (v_a * (span - z) * slope_x - v_b * z * slope_y)
    return value, slope


@kernel("f8(f8, f8, f8, f8, f8, f8, f8, f8, f8)")
def balance(
    model: float,
    mu_b: float,
    mu_a: float,
    sign: float,
    v_b: float,
    v_a: float,
    span: float,
    low: float,
    high: float,
) -> float:
    """Where `imbalance` changes its sign between low and high; Newton's method, or halving."""
    close, z = CLOSE * span, min(max(span * (v_a / (v_b + v_a)), low), high)
    for _ in range(HALVINGS_AT_MOST):
        value, slope = imbalance(model, mu_b, mu_a, sign, v_b, v_a, span, z)
        if value > 0.0:
            high = z
        else:
            low = z
        new = z - value / slope if slope > 0.0 else low
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - z) <= close or not low < new < high:
            return new
        z = new
    return z


@kernel("f8(f8, f8, f8, f8, f8, f8, f8, f8)")
def pair_value(
    model: float, mu_b: float, mu_a: float, sign: float, v_b: float, v_a: float, span: float, z: float
) -> float:
    """v_b d(μ_b, x) + v_a d(μ_a, y) for x = μ_b - z and y = μ_a + (span - z), up to the sign."""
    to_b, to_a = -sign * z, sign * (span - z)
    return v_b * divergence(model, mu_b, mu_b + to_b, to_b) + v_a * divergence(model, mu_a, mu_a + to_a, to_a)


@kernel("f8(f8, f8, f8, f8, f8, f8, f8)", apart=True)
def meeting(
    model: float, mu_b: float, mu_a: float, sign: float, v_b: float, v_a: float, span: float
) -> float:
    """Where the cost of a pair with a tolerance is least: z, if mean b gives up z and mean a gains span - z.

    -1 if the domain has no such means. The derivative changes its sign once, but for exponential values and a
    negative tolerance, where the cost may have two minima: `imbalance` is a cubic, and each of its monotone
    pieces is searched.
    """
    low, high = 0.0, span
    if sign > 0.0:
        high = min(high, mu_b)
    else:
        low = max(low, span - mu_a)
    if model == BERNOULLI_MODEL:
        if sign > 0.0:
            low = max(low, span - (1.0 - mu_a))
        else:
            high = min(high, 1.0 - mu_b)
    if low > high:
        return -1.0
    if model != EXPONENTIAL_MODEL:
        return balance(model, mu_b, mu_a, sign, v_b, v_a, span, low, high)
    # The derivative of the cubic through its values at three points; its roots part the pieces.
    middle = 0.5 * (low + high)
    _, s0 = imbalance(model, mu_b, mu_a, sign, v_b, v_a, span, low)
    _, s1 = imbalance(model, mu_b, mu_a, sign, v_b, v_a, span, middle)
    _, s2 = imbalance(model, mu_b, mu_a, sign, v_b, v_a, span, high)
    bend, tilt = 2.0 * (s0 - 2.0 * s1 + s2), 4.0 * s1 - 3.0 * s0 - s2
    rest = tilt * tilt - 4.0 * bend * s0
    if rest <= 0.0:
        return balance(model, mu_b, mu_a, sign, v_b, v_a, span, low, high)
    root = -0.5 * (tilt + math.copysign(math.sqrt(rest), tilt))
    first = root / bend if bend != 0.0 else math.inf
    second = s0 / root if root != 0.0 else math.inf
    first, second = min(first, second), max(first, second)
    found, least, start = 0.5 * (low + high), math.inf, low
    for part in (first, second, 1.0):
        end = low + min(max(part, 0.0), 1.0) * (high - low)
        z = balance(model, mu_b, mu_a, sign, v_b, v_a, span, start, end)
        value = pair_value(model, mu_b, mu_a, sign, v_b, v_a, span, z)
        if value < least:
            found, least = z, value
        start = end
    return found


@kernel("UniTuple(f8, 5)(f8, f8, f8, f8, f8, f8, f8, f8)")
def sides(
    model: float, mu_b: float, mu_a: float, sign: float, v_b: float, v_a: float, span: float, tolerance: float
) -> tuple[float, float, float, float, float]:
    """What a pair costs: d(μ_b, x), d(μ_a, y), z, and the means x and y that are confused.

    x and y are the weighted mean, or with a tolerance as near as it says; inf if there are no such means.
    """
    if tolerance == 0.0:
        s, r = v_a / (v_b + v_a), v_b / (v_b + v_a)
        z, x = s * span, r * mu_b + s * mu_a
        to_b, to_a = -sign * z, sign * (r * span)
        if model != BERNOULLI_MODEL:
            return divergence(model, mu_b, x, to_b), divergence(model, mu_a, x, to_a), z, x, x
        rest = r * (1.0 - mu_b) + s * (1.0 - mu_a)
        d_b = excess(mu_b, x, to_b) + excess(1.0 - mu_b, rest, -to_b)
        d_a = excess(mu_a, x, to_a) + excess(1.0 - mu_a, rest, -to_a)
        return d_b, d_a, z, x, x
    # Searched from both ends, as what mean b gives up or what mean a gains may be tiny beside the other.
    z = meeting(model, mu_b, mu_a, sign, v_b, v_a, span)
    u = meeting(model, mu_a, mu_b, -sign, v_a, v_b, span)
    if z < 0.0 or u < 0.0:
        return math.inf, math.inf, z, mu_b, mu_a
    d_b = divergence(model, mu_b, mu_b - sign * z, -sign * z)
    d_a = divergence(model, mu_a, mu_a + sign * (span - z), sign * (span - z))
    e_b = divergence(model, mu_b, mu_b - sign * (span - u), -sign * (span - u))
    e_a = divergence(model, mu_a, mu_a + sign * u, sign * u)
    if v_b * e_b + v_a * e_a < v_b * d_b + v_a * d_a:
        return e_b, e_a, span - u, mu_b - sign * (span - u), mu_a + sign * u
    return d_b, d_a, z, mu_b - sign * z, mu_a + sign * (span - z)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8, f8)", apart=True)
def family_cost(
    params: Array, state: Array, b: int, a: int, v_b: float, v_a: float, tolerance: float
) -> float:
    """The least v_b d(mean b, x) + v_a d(mean a, y) over x <= y - tolerance; 0 where the means are such."""
    span: float = state[MEANS, b] - state[MEANS, a] + tolerance
    if v_b == 0.0 or v_a == 0.0 or not span > 0.0:
        return 0.0
    mu_b, mu_a = abs(state[MEANS, b]), abs(state[MEANS, a])
    d_b, d_a, _, _, _ = sides(params[MODEL], mu_b, mu_a, side(params), v_b, v_a, span, tolerance)
    return v_b * d_b + v_a * d_a


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)", apart=True)
def family_slopes(params: Array, state: Array, b: int, a: int, v_b: float, v_a: float) -> tuple[float, float]:
    """d(mean b, x) and d(mean a, y) of the means x and y that are confused; 0 where means are such."""
    span: float = state[MEANS, b] - state[MEANS, a] + params[TOLERANCE]
    if not span > 0.0:
        return 0.0, 0.0
    mu_b, mu_a = abs(state[MEANS, b]), abs(state[MEANS, a])
    found = sides(params[MODEL], mu_b, mu_a, side(params), v_b, v_a, span, params[TOLERANCE])
    return found[0], found[1]


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8, f8)", apart=True)
def family_lower_end(
    params: Array, state: Array, b: int, a: int, v_b: float, v_a: float, bound: float
) -> float:
    """The least difference of means b and a whose cost is at most `bound`; never above what it should be.

    The cost rises with the tolerance from 0, where that is the distance of the means. By halving: it may be
    infinite from some tolerance on.
    """
    difference: float = state[MEANS, b] - state[MEANS, a]
    low, high = 0.0, max(1.0, abs(difference))
    while high < 1e300 and family_cost(params, state, b, a, v_b, v_a, high - difference) <= bound:
        low, high = high, 4.0 * high
    if high >= 1e300:
        return -math.inf
    for _ in range(HALVINGS_AT_MOST):
        middle = 0.5 * (low + high)
        if not low < middle < high or high - low <= 1e-13 * high:
            break
        if family_cost(params, state, b, a, v_b, v_a, middle - difference) <= bound:
            low = middle
        else:
            high = middle
    return difference - high


@kernel("f8(const(f8[::1]), f8, f8, f8)", apart=True)
def family_reach(params: Array, mean: float, bound: float, direction: float) -> float:
    """How far from its mean an arm may be, upwards (1) or downwards (-1), with d at most `bound`."""
    mu, model, way = abs(mean), params[MODEL], direction * side(params)
    low, high = 0.0, math.inf
    if way < 0.0:
        high = mu
    elif model == BERNOULLI_MODEL:
        high = 1.0 - mu
    if high == math.inf:
        high = max(1.0, mu)
        while high < 1e300 and divergence(model, mu, mu + high, high) <= bound:
            low, high = high, 4.0 * high
    for _ in range(HALVINGS_AT_MOST):
        middle = 0.5 * (low + high)
        if not low < middle < high or high - low <= 1e-13 * high:
            break
        if divergence(model, mu, mu + way * middle, way * middle) <= bound:
            low = middle
        else:
            high = middle
    return high
