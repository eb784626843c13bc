"""Models of values, one branch each: taking a value in, and what it costs to mistake one arm for another.

A *model* says what a value is; `params[MODEL]` is its code. All others ask it here:

    observe, centre    a value, and the mean that follows from the sums
    gap                how far one mean lies above another, with the tolerance
    cost, exceeds      the transport cost of a pair: the least evidence against mean b <= mean a
    slopes             what a pull of either arm adds to it
    interval           of differences whose cost is at most a bound
    weights            the proportions of pulls that make the least cost of the leader largest

Means are in units of `params[UNIT]` around `params[OFFSET]`. To add a model: a branch where it differs, and a
class in `theory/models.py`.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array
from .divergences import BERNOULLI_MODEL, family_cost, family_lower_end, family_slopes
from .exact import two_product, two_sum
from .family_weights import solve_family
from .layout import LOST, MEANS, MODEL, OFFSET, OUT, PULLS, SQUARES, SUMS, TOLERANCE, UNIT, VARIANCES, WATCHED
from .random import Words, uniform
from .tracking import TIE, is_open, open_arms
from .weights import solve_scaled, solve_unequal, untied_squares

GAUSSIAN = 0  # of one scale, which is the unit; what is sub-Gaussian of that scale is treated alike
UNEQUAL = 1  # normal, with a variance for each arm
BOUNDED = 2  # between two ends, and so sub-Gaussian of half their distance, which is the unit
STUDENT = 3  # normal, with variances that are estimated: infinite until an arm has ENOUGH values that differ
ENOUGH = 10.0  # pulls: from fewer, a variance may come out so small that a strategy forgets the arm
# From BERNOULLI_MODEL on: one-parameter exponential families, whose unit is 1 and whose offset is 0.


@kernel("f8(const(f8[:, ::1]), i8, f8)")
def mean_from(state: Array, arm: int, origin: float) -> float:
    """The mean of an arm's values less an origin, from its sums, rounded as it would be around 0."""
    n, total, lost = state[PULLS, arm], state[SUMS, arm], state[LOST, arm]
    if origin != 0.0:
        product, rest = two_product(n, origin)
        total, error = two_sum(total, -product)
        lost = error + (lost - rest)
    mean: float = (total + lost) / n
    return mean


@kernel("void(const(f8[::1]), f8[:, ::1], i8)")
def centre(params: Array, state: Array, arm: int) -> None:
    """The mean of an arm from its sums, -inf without pulls; and its variance, if that is estimated."""
    n = state[PULLS, arm]
    if params[MODEL] == STUDENT:
        seen = n >= ENOUGH and state[SQUARES, arm] > 0.0
        state[VARIANCES, arm] = state[SQUARES, arm] / (n - 1.0) if seen else math.inf
    if n == 0.0:
        state[MEANS, arm] = -math.inf
        return
    mean = mean_from(state, arm, params[OFFSET])
    if params[UNIT] != 1.0:
        mean /= params[UNIT]
    state[MEANS, arm] = mean


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, f8)")
def squared_by(params: Array, state: Array, arm: int, value: float) -> float:
    """What one more value adds to Σ (x - mean)², from the sums: an offset costs no bits."""
    n = state[PULLS, arm]
    if n == 0.0:
        return 0.0
    distance = mean_from(state, arm, value) / params[UNIT]
    return float(distance * distance * (n / (n + 1.0)))


@kernel("void(const(f8[::1]), f8[:, ::1], i8, f8, f8)")
def observe(params: Array, state: Array, arm: int, count: float, value: float) -> None:
    """Count a value in, or out again: count 1 with the value, or -1 with its negative."""
    watched = params[WATCHED] != 0.0
    if watched and count > 0.0:
        state[SQUARES, arm] += squared_by(params, state, arm, value)
    state[PULLS, arm] += count
    state[SUMS, arm], error = two_sum(state[SUMS, arm], value)
    state[LOST, arm] += error
    if watched and count < 0.0:
        less = squared_by(params, state, arm, -value)
        state[SQUARES, arm] = max(state[SQUARES, arm] - less, 0.0) if state[PULLS, arm] > 1.0 else 0.0
    centre(params, state, arm)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8)")
def gap(params: Array, state: Array, b: int, a: int) -> float:
    """How far mean b lies above mean a; a tolerance is this much more."""
    difference: float = state[MEANS, b] - state[MEANS, a] + params[TOLERANCE]
    return difference


@kernel("f8(f8, f8, f8)")
def pair_cost(v_b: float, v_a: float, difference: float) -> float:
    """½ v_b v_a/(v_b+v_a) difference², equation (8) for one arm; zero where an arm has no weight.

    Numerics: nothing is squared before it is multiplied by the weights, so 0 * inf cannot arise.
    """
    if v_b == 0.0 or v_a == 0.0:
        return 0.0
    return 0.5 * (v_b / (v_b + v_a) * v_a * difference) * difference


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8, f8)")
def cost_beyond(
    params: Array, state: Array, b: int, a: int, v_b: float, v_a: float, tolerance: float
) -> float:
    """`cost`, with another tolerance than that of the parameters."""
    if params[MODEL] >= BERNOULLI_MODEL:
        return family_cost(params, state, b, a, v_b, v_a, tolerance)
    if params[MODEL] == UNEQUAL or params[MODEL] == STUDENT:
        v_b /= state[VARIANCES, b]
        v_a /= state[VARIANCES, a]
    return pair_cost(v_b, v_a, state[MEANS, b] - state[MEANS, a] + tolerance)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)")
def cost(params: Array, state: Array, b: int, a: int, v_b: float, v_a: float) -> float:
    """The least v_b d(mean b, x) + v_a d(mean a, y) over x <= y; v are pulls, or weights."""
    return cost_beyond(params, state, b, a, v_b, v_a, params[TOLERANCE])


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)")
def slopes(params: Array, state: Array, b: int, a: int, v_b: float, v_a: float) -> tuple[float, float]:
    """What more of v_b and of v_a add to `cost`: the divergences of both arms from the means confused."""
    if params[MODEL] >= BERNOULLI_MODEL:
        return family_slopes(params, state, b, a, v_b, v_a)
    s_b, s_a = 1.0, 1.0
    if params[MODEL] == UNEQUAL or params[MODEL] == STUDENT:
        s_b, s_a = state[VARIANCES, b], state[VARIANCES, a]
    y_b, y_a = v_b / s_b, v_a / s_a
    if y_b + y_a == 0.0:  # neither variance is seen
        return 0.0, 0.0
    to_b, to_a = y_a / (y_b + y_a) * gap(params, state, b, a), y_b / (y_b + y_a) * gap(params, state, b, a)
    return 0.5 * to_b * to_b / s_b, 0.5 * to_a * to_a / s_a


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8, f8)")
def exceeds(params: Array, state: Array, b: int, a: int, v_b: float, v_a: float, bound: float) -> bool:
    """Whether `cost` is above a bound, but for rounding; without a division where the model allows it."""
    if params[MODEL] >= BERNOULLI_MODEL:
        return family_cost(params, state, b, a, v_b, v_a, params[TOLERANCE]) > bound
    if params[MODEL] == UNEQUAL or params[MODEL] == STUDENT:
        v_b /= state[VARIANCES, b]
        v_a /= state[VARIANCES, a]
    difference = gap(params, state, b, a)
    return v_b * v_a * difference * difference > 2.0 * bound * (v_b + v_a)


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8, f8)")
def interval(
    params: Array, state: Array, b: int, a: int, i_b: float, i_a: float, bound: float
) -> tuple[float, float]:
    """The interval of differences of means b and a whose cost is at most `bound`; i are the inverses of v."""
    if params[MODEL] >= BERNOULLI_MODEL:
        low = family_lower_end(params, state, b, a, 1.0 / i_b, 1.0 / i_a, bound)
        return low, -family_lower_end(params, state, a, b, 1.0 / i_a, 1.0 / i_b, bound)
    half = math.sqrt(2.0 * (i_b * state[VARIANCES, b] + i_a * state[VARIANCES, a]) * bound)
    difference = state[MEANS, b] - state[MEANS, a]
    return difference - half, difference + half


@kernel("i8(const(f8[::1]), const(f8[:, ::1]), i8, f8, b1, b1, u8[::1])")
def cheapest(
    params: Array, state: Array, b: int, tolerance: float, penalised: bool, lots: bool, random: Words
) -> int:
    """The arm in the race that b is told from at the least cost, plus log N if `penalised`; -1 for none.

    The cost is 0 for every arm that is better by the tolerance. Equals draw lots; else the lowest index wins.
    """
    least, arm, equals, pulls = math.inf, -1, 1.0, state[PULLS]
    for a in range(pulls.size):
        if a != b and state[OUT, a] == 0.0:
            found = 0.0
            if state[MEANS, b] - state[MEANS, a] + tolerance > 0.0:
                found = cost_beyond(params, state, b, a, pulls[b], pulls[a], tolerance)
            if penalised:
                found += math.log(pulls[a])
            if arm < 0 or found < least - TIE:
                arm, least, equals = a, found, 1.0
            elif lots and found <= least + TIE:
                equals += 1.0
                arm = a if uniform(random) * equals < 1.0 else arm
    return arm


@kernel("b1(const(f8[:, ::1]))")
def unseen(state: Array) -> bool:
    """Whether the variance of some arm cannot be estimated yet."""
    largest = 0.0
    for a in range(state.shape[1]):
        largest = max(largest, state[VARIANCES, a])
    return largest == math.inf


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, f8, f8[::1])")
def weights_of_gaps(params: Array, state: Array, best: int, warm: float, w: Array) -> float:
    """`weights`, where `w` has the gaps, but for exponential families; inf for an arm that gets nothing."""
    if not untied_squares(w, best):
        return warm
    if params[MODEL] == UNEQUAL or params[MODEL] == STUDENT:
        return solve_unequal(w, state[VARIANCES], best, warm)
    return solve_scaled(w, best, warm)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, f8, f8[::1])")
def weights(params: Array, state: Array, best: int, warm: float, w: Array) -> float:
    """The optimal weights of the means as they are into `w`; returns the root, the next call's `warm`.

    Arms within TIE of the best share the weight; all do, as long as the variance of one is not seen.
    """
    if params[MODEL] >= BERNOULLI_MODEL:
        _, root = solve_family(params, state[MEANS], best, TIE, warm, w)
        return root
    if params[MODEL] == STUDENT and unseen(state):
        for a in range(w.size):
            w[a] = 1.0 / w.size
        return warm
    for a in range(w.size):
        w[a] = gap(params, state, best, a)
    return weights_of_gaps(params, state, best, warm, w)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, f8, f8[::1], f8[::1])", apart=True)
def open_weights(params: Array, state: Array, best: int, warm: float, means: Array, w: Array) -> float:
    """`weights` of the open arms alone, 0 for all others; `means` is a row to work in."""
    for a in range(w.size):
        means[a] = state[MEANS, a] if is_open(state, best, a) else -math.inf
    if params[MODEL] >= BERNOULLI_MODEL:
        _, root = solve_family(params, means, best, TIE, warm, w)
        return root
    if params[MODEL] == STUDENT and unseen(state):
        for a in range(w.size):
            w[a] = 1.0 / open_arms(state, best) if means[a] > -math.inf else 0.0
        return warm
    for a in range(w.size):
        w[a] = means[best] - means[a] + params[TOLERANCE]
    return weights_of_gaps(params, state, best, warm, w)
