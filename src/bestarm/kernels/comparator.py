"""Elimination: every arm is tested for being the best, against a comparator; who fails is out for ever.

Testing the leader against each of K-1 others costs log(K-1) nats. Here the hypothesis "i is the best" is
tested for each arm i by itself, and only one of these hypotheses must not be refuted wrongly: that of the
best arm. The *comparator* of i collects values of whatever arm led when they were drawn, each tilted as if
its arm had the mean of the best of the others; that is at least what it has, so the product of tilts is a
supermartingale. With the weight `share` on the comparator and the rest on the leader's own pair, the test
has the level log(1/δ).

Which values are counted is settled before they are known: `count_against`. An arm that is ruled out has its
row OUT positive and a mean of -inf, so that it neither leads nor draws samples; its values are ignored. It is
a function of the values in their order, so that taking one back means to start over.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array
from .exact import two_product, two_sum
from .families import BOUNDED
from .layout import (
    LEVEL,
    MEANS,
    MODEL,
    OFFSET,
    OUT,
    PENALTY,
    PULLS,
    SHARE,
    SQUARES,
    TUNING,
    UNIT,
    VARIANCES,
)
from .tilt import (
    C_LOST,
    C_MEAN,
    C_SCALE,
    C_SCALE_LOST,
    C_SUM,
    C_TOP,
    C_UP,
    COUNT,
    FOUND,
    KAPPA,
    LEAD,
    NODES,
    ceiling,
    comparable,
    comparator_row,
    lower_end,
    minimum,
    multiply,
    place,
    pooled,
    rescaled,
)
from .tracking import TIE, arms_left

LONGEST, COST = 0.03, 2.7  # see `next_look`


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8)")
def shrunken(params: Array, state: Array, arm: int) -> float:
    """A mean for ranking: of bounded values with one more in the middle; of others -inf without a value."""
    if params[MODEL] != BOUNDED:
        return float(0.5 * state[MEANS, arm])
    n = state[PULLS, arm]
    return float((n * place(params, state, arm) + 0.5) / (n + 1.0)) if n > 0.0 else 0.5


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8)")
def apparent(params: Array, state: Array, a: int, o: int) -> float:
    """Half the squared difference of two arms over its estimated variance; 0 where a is not the better."""
    n_a, n_o = state[PULLS, a], state[PULLS, o]
    if n_a == 0.0 or n_o == 0.0:
        return 0.0
    difference = shrunken(params, state, a) - shrunken(params, state, o)
    if difference <= 0.0:
        return 0.0
    v_a = 0.25 * (state[SQUARES, a] + state[VARIANCES, a]) / (n_a + 1.0)
    v_o = 0.25 * (state[SQUARES, o] + state[VARIANCES, o]) / (n_o + 1.0)
    return float(0.5 * difference * difference / (v_a / n_a + v_o / n_o))


@kernel("UniTuple(i8, 3)(const(f8[::1]), const(f8[:, ::1]))")
def podium(params: Array, state: Array) -> tuple[int, int, int]:
    """The first three arms in the race by shrunken mean, the lowest index among equals; -1 for none."""
    first, second, third = -1, -1, -1
    x, y, z = -math.inf, -math.inf, -math.inf
    for a in range(state.shape[1]):
        if state[OUT, a] == 0.0:
            mean = shrunken(params, state, a)
            if first < 0 or mean > x:
                first, second, third, x, y, z = a, first, second, mean, x, y
            elif second < 0 or mean > y:
                second, third, y, z = a, second, mean, y
            elif third < 0 or mean > z:
                third, z = a, mean
    return first, second, third


@kernel("void(const(f8[::1]), f8[:, ::1], i8)")
def centre_comparator(params: Array, state: Array, arm: int) -> None:
    """The mean of a comparator of values without bounds, around the offset."""
    row = comparator_row(params)
    if params[MODEL] == BOUNDED or state[row + COUNT, arm] == 0.0:
        return
    scale, rest = state[row + C_SCALE, arm], state[row + C_SCALE_LOST, arm]
    product, error = two_product(scale, params[OFFSET])
    total, lost = two_sum(state[row + C_SUM, arm], -product)
    lost += state[row + C_LOST, arm] - error - rest * params[OFFSET]
    state[row + C_MEAN, arm] = (total + lost) / (scale * params[UNIT])


@kernel("void(const(f8[::1]), f8[:, ::1], i8, i8, f8)")
def count(params: Array, state: Array, arm: int, against: int, value: float) -> None:
    """Count a value of an arm against another one."""
    row = comparator_row(params)
    state[row + COUNT, against] += 1.0
    if params[MODEL] == BOUNDED:
        up, down = rescaled(params, value)
        if down == 0.0:
            state[row + C_TOP, against] += 1.0
        elif up > 0.0:
            for k in range(NODES):
                multiply(state, row + C_UP + k, against, 1.0, 1.0 + KAPPA[k] * up)
        return
    scale = 1.0 / math.sqrt(state[VARIANCES, arm])
    product, rest = two_product(scale, value)
    state[row + C_SUM, against], error = two_sum(state[row + C_SUM, against], product)
    state[row + C_LOST, against] += error + rest
    state[row + C_SCALE, against], error = two_sum(state[row + C_SCALE, against], scale)
    state[row + C_SCALE_LOST, against] += error
    centre_comparator(params, state, against)


@kernel("void(const(f8[::1]), f8[:, ::1], i8, f8)", apart=True)
def count_against(params: Array, state: Array, arm: int, value: float) -> None:
    """Count a value, which is not in the state yet, against every arm that its own arm leads by enough.

    Only the best arm besides i is counted against i, and only when it lies apparently above i or above the
    next best: values of wrong leaders would stay in the comparator for ever.
    """
    first, second, third = podium(params, state)
    if arm != first and arm != second:
        return
    left, enough = arms_left(state), 0.5 * math.log(state.shape[1] - 1.0)
    if arm == second:
        if left == 2 or (third >= 0 and apparent(params, state, arm, third) >= enough):
            count(params, state, arm, first, value)
        return
    clear = left == 2 or (second >= 0 and apparent(params, state, arm, second) >= enough)
    clearer = clear or (third >= 0 and apparent(params, state, arm, third) >= enough)
    for i in range(state.shape[1]):
        if i != arm and state[OUT, i] == 0.0:
            ahead = clear or (clearer and i == second)
            if ahead or (i != second and apparent(params, state, arm, i) >= enough):
                count(params, state, arm, i, value)


@kernel("i8(const(f8[:, ::1]), i8)")
def leader_besides(state: Array, i: int) -> int:
    """The arm of largest mean besides i; the lowest index among ties."""
    top, leader = -math.inf, -1
    for a in range(state.shape[1]):
        if a != i:
            top = max(top, state[MEANS, a])
    for a in range(state.shape[1]):
        if leader < 0 and a != i and state[OUT, a] == 0.0 and state[MEANS, a] >= top - TIE:
            leader = a
    return leader


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def evidence_against(params: Array, state: Array, b: int, i: int, enough: float) -> float:
    """The statistic of "i is the best", with leader b; or `enough` or less, if it is at most that."""
    if not comparable(params, state, b, i):
        return 0.0
    start = pooled(params, state, b, i)
    least, most, _ = minimum(params, state, b, i, 0.0, start, enough, params[SHARE])
    return least if least > enough else min(most, enough)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8)", apart=True)
def lead_bound(params: Array, state: Array, i: int) -> float:
    """Arm i is at most this much better than the best of the others, in units; negative once it is out."""
    row = comparator_row(params)
    if state[OUT, i] > 0.0:
        return float(state[row + LEAD, i])
    if not comparable(params, state, leader_besides(state, i), i):
        return math.inf
    end = lower_end(params, state, leader_besides(state, i), i, params[LEVEL], params[SHARE])
    return -2.0 * end if params[MODEL] == BOUNDED else -end


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8)", apart=True)
def standing(params: Array, state: Array, i: int) -> float:
    """The statistic of "i is the best" now, or as it was when i was ruled out."""
    if state[OUT, i] > 0.0:
        return float(state[comparator_row(params) + FOUND, i])
    return evidence_against(params, state, leader_besides(state, i), i, -math.inf)


@kernel("f8(const(f8[::1]), f8, f8, f8)")
def next_look(params: Array, t: float, found: float, bound: float) -> float:
    """When to look again where looks are spaced: when the evidence may have come to the bound.

    Evidence, with what the mixture costs, is half a square z²/2, and z moves by some sqrt(s) while the number
    of samples grows by a small part s: so to cover a distance it takes the square of a fourth of it, or so.
    """
    distance = math.sqrt(2.0 * (bound + COST)) - math.sqrt(2.0 * max(found + COST, 0.0))
    part = max(min(distance * distance / 20.0, LONGEST), params[TUNING])
    return float(t + max(1.0, math.floor(part * t)))


@kernel("b1(const(f8[::1]), f8[:, ::1], f8)", apart=True)
def eliminate(params: Array, state: Array, t: float) -> bool:
    """Rule out every arm that cannot be the best; whether one is left.

    With a spacing every arm has a time when it is looked at again; all are looked at where t is 0.
    """
    row, bound, left, spacing = comparator_row(params), params[LEVEL], arms_left(state), params[TUNING]
    now = t
    if t == 0.0:
        for a in range(state.shape[1]):
            now += state[PULLS, a]
    for i in range(state.shape[1]):
        if left == 1:
            break
        if state[OUT, i] > 0.0 or (t > 0.0 and spacing > 0.0 and t < state[PENALTY, i]):
            continue
        b = leader_besides(state, i)
        found = ceiling(params, state, b, i, 0.0, params[SHARE])
        if found > bound:
            found = evidence_against(params, state, b, i, bound)
        if found > bound:
            state[row + FOUND, i] = found
            if spacing == 0.0:
                state[row + LEAD, i] = lead_bound(params, state, i)
            state[OUT, i], state[MEANS, i] = now, -math.inf
            left -= 1
        elif t > 0.0 and spacing > 0.0:
            state[PENALTY, i] = next_look(params, t, found, bound)
    return left == 1
