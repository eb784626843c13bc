"""The optimal weights for a one-parameter exponential family: Garivier & Kaufmann 2016, Section 2.2.

With x_a = w_a/w_b, b the best arm, the costs of all pairs equal w_b y where g_a(x_a) = y for every a,

    g_a(x) = min over m of d(μ_b, m) + x d(μ_a, m),      g_a'(x) = d(μ_a, m),

and the weights are optimal where F(y) = Σ d(μ_b, m_a)/d(μ_a, m_a) = 1. Then T = (1 + Σ x_a)/y. With a
tolerance m is two means that differ by it, and all else stays.

Inside, g_a is concave and increasing: from the left Newton's iterates increase towards the root. Outside, F
is (y/(D-y))² for two normal arms, so F^(-1/2) is nearly linear in 1/y, as for `weights.newton_root`; a
bracket guards what is not proven.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array, Indices
from .divergences import side, sides, variance
from .layout import MODEL, TOLERANCE

MOST = 1e9  # times the best arm's weight: reached only where nothing is learnt from the best arm
INNER, OUTER = 80, 100  # steps, never reached
NEARLY = 1e-6  # a relative step below this needs only one more


@kernel("UniTuple(f8, 3)(f8, f8, f8, f8, f8, f8, f8, f8)", apart=True)
def share(
    model: float, mu_b: float, mu_a: float, sign: float, span: float, tolerance: float, y: float, guess: float
) -> tuple[float, float, float]:
    """The root x of g_a(x) = y, the arm's term of F, and the derivative of that in y.

    0 if the cost does not depend on the arm's weight, or is infinite.
    """
    x, done = guess, False
    d_b, d_a, z, at_b, at_a = sides(model, mu_b, mu_a, sign, 1.0, x, span, tolerance)
    for _ in range(INNER):
        if not 0.0 < d_a < math.inf or d_b == math.inf:
            return 0.0, 0.0, 0.0
        new = max(x + (y - d_b - x * d_a) / d_a, x / 16.0)
        if done:
            x = new
            break
        done = abs(new - x) <= NEARLY * new
        x = new
        d_b, d_a, z, at_b, at_a = sides(model, mu_b, mu_a, sign, 1.0, x, span, tolerance)
    if not 0.0 < d_a < math.inf:
        return 0.0, 0.0, 0.0
    term, slope = d_b / d_a, 0.0
    var_x, slope_x = variance(model, at_b)
    var_y, slope_y = variance(model, at_a)
    if var_x > 0.0 and var_y > 0.0:  # at an end of the domain the bracket has to do
        to_b, to_a = z / var_x, (span - z) / var_y
        curvature = (1.0 + sign * to_b * slope_x) / var_x + x * (1.0 - sign * to_a * slope_y) / var_y
        slope = (to_b + term * to_a) * to_a / (max(curvature, 1e-300) * d_a * d_a)
    return x, term, slope


@kernel("f8(f8, f8, f8, f8, f8, f8, f8)")
def reward_of(
    model: float, mu_b: float, mu_a: float, sign: float, span: float, tolerance: float, x: float
) -> float:
    """g_a(x)."""
    d_b, d_a, _, _, _ = sides(model, mu_b, mu_a, sign, 1.0, x, span, tolerance)
    return d_b + x * d_a


@kernel("b1(const(f8[::1]), i8, f8, f8, f8[::1])")
def share_ties(means: Array, best: int, tolerance: float, tie: float, w: Array) -> bool:
    """Give the weight to the best arm and those within `tie` of it, if there are any."""
    ties = 1
    for a in range(w.size):
        if a != best and means[best] - means[a] + tolerance <= tie:
            ties += 1
    if ties == 1:
        return False
    for a in range(w.size):
        w[a] = 1.0 / ties if a == best or means[best] - means[a] + tolerance <= tie else 0.0
    return True


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[::1]), i8, f8, f8, f8[::1])", apart=True)
def solve_family(
    params: Array, means: Array, best: int, tie: float, warm: float, w: Array
) -> tuple[float, float]:
    """The optimal weights into `w`; returns 1/T, and y in units of the least g_a(1), the next call's `warm`.

    means  of which -inf marks an arm that is out, and gets nothing
    tie   arms within this of the best share the weight, and 1/T is 0
    warm  a guess of y in that unit, 0 for none
    """
    model, tolerance, sign = params[MODEL], params[TOLERANCE], side(params)
    if share_ties(means, best, tolerance, tie, w):
        return 0.0, warm
    mu_b, unit, top = abs(means[best]), math.inf, math.inf
    for a in range(w.size):
        w[a] = 0.0  # of an arm that is out, whose mean is -inf
        if a != best and means[a] > -math.inf:
            mu_a, span = abs(means[a]), means[best] - means[a] + tolerance
            unit = min(unit, reward_of(model, mu_b, mu_a, sign, span, tolerance, 1.0))
            top = min(top, reward_of(model, mu_b, mu_a, sign, span, tolerance, MOST))
            w[a] = 1.0
    if not 0.0 < unit < math.inf:  # no mean in the domain is as far from the best as the tolerance says
        for a in range(w.size):
            w[a] = 1.0 / w.size
        return math.inf, warm
    low, high = 1.0 / top, math.inf
    r, done, total = max(1.0 / (unit * warm), low) if warm > 0.0 else 1.0 / unit, False, 0.0
    for _ in range(OUTER):
        terms, slope, total = 0.0, 0.0, 0.0
        for a in range(w.size):
            if a != best and means[a] > -math.inf:
                mu_a, span = abs(means[a]), means[best] - means[a] + tolerance
                guess = w[a] if w[a] > 0.0 else 1.0
                w[a], term, rise = share(model, mu_b, mu_a, sign, span, tolerance, 1.0 / r, guess)
                terms += term
                slope += rise
                total += w[a]
        if done:
            break
        if terms > 1.0:
            low = r
        else:
            high = r
        new = math.inf
        if slope > 0.0 and terms > 0.0:
            new = r + 2.0 * r * r * terms * (math.sqrt(terms) - 1.0) / slope
        if new != r and not low < new < high:  # it is r, an end of the bracket, once it has arrived
            new = 0.5 * (low + high) if high < math.inf else 2.0 * low
        done = abs(new - r) <= 0.01 * NEARLY * r
        r = new
    w[best] = 0.0
    for a in range(w.size):
        w[a] /= 1.0 + total
    w[best] = 1.0 / (1.0 + total)
    return 1.0 / (r * (1.0 + total)), 1.0 / (r * unit)


@kernel("void(const(f8[::1]), const(f8[:, ::1]), const(i8[::1]), f8[:, ::1], f8[::1])")
def family_weights_rows(params: Array, means: Array, best: Indices, w: Array, rate: Array) -> None:
    """`solve_family` for every row, exact ties alone; 1/T becomes an entry of `rate`."""
    for i in range(means.shape[0]):
        rate[i], _ = solve_family(params, means[i], best[i], 0.0, 0.0, w[i])
