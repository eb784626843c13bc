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

A look at an arm is a search. In a simulation looks are spaced, and `look` searches only where an estimate
says that it may succeed: to look more rarely costs samples, some tenths of a percent, and never the promise.
"""

from __future__ import annotations

import math

from .._jit import kernel
from .._types import Array
from ..exact import two_product, two_sum
from ..families import BOUNDED
from ..layout import (
    HEAD_START,
    LEVEL,
    MEANS,
    MODEL,
    OFFSET,
    OUT,
    PENALTY,
    PULLS,
    SETTLED,
    SHARE,
    SQUARES,
    TUNING,
    UNIT,
    UNSHOWN,
    VARIANCES,
)
from ..tracking import TIE
from .ceilings import likelihood_ratio
from .tilt import (
    BEYOND,
    C_LOST,
    C_MEAN,
    C_RANK,
    C_SCALE,
    C_SCALE_LOST,
    C_SUM,
    C_TOP,
    C_TOTAL,
    C_UP,
    COUNT,
    KAPPA,
    NODES,
    SPREAD,
    comparable,
    comparator_row,
    minimum,
    multiply,
    place,
    pooled,
    rescaled,
)

LONGEST, COST = 0.03, 2.7  # see `next_look`
PAIR = 2.5  # nats: about what the pair's weight costs more than the comparator's
STAYS, REFUTED, SEARCH = 0, 1, 2  # what a look tells of an arm
SURELY, FAR, ROUGH = 0.2, 0.5, 0.2  # nats, and a part: how far below a bound no look is needed, see `look`


@kernel("void(const(f8[::1]), f8[:, ::1], i8)")
def rank(params: Array, state: Array, arm: int) -> None:
    """Keep what ranks an arm after a value: the variance of its mean, and of bounded values the mean."""
    row, n = comparator_row(params), state[PULLS, arm]
    variance = 0.25 * (state[SQUARES, arm] + state[VARIANCES, arm]) / (n + 1.0)
    state[row + SPREAD, arm] = variance / n
    if params[MODEL] == BOUNDED:
        state[row + C_RANK, arm] = (n * place(params, state, arm) + 0.5) / (n + 1.0)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8)")
def shrunken(params: Array, state: Array, arm: int) -> float:
    """A mean for ranking: of bounded values with one more in the middle; of others -inf without a value."""
    if params[MODEL] != BOUNDED:
        return float(0.5 * state[MEANS, arm])
    return float(state[comparator_row(params) + C_RANK, arm])


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8)")
def apparent(params: Array, state: Array, a: int, o: int) -> float:
    """Half the squared difference of two arms over its estimated variance; 0 where a is not the better."""
    if state[PULLS, a] == 0.0 or state[PULLS, o] == 0.0:
        return 0.0
    difference = shrunken(params, state, a) - shrunken(params, state, o)
    if difference <= 0.0:
        return 0.0
    row = comparator_row(params) + SPREAD
    return float(0.5 * difference * difference / (state[row, a] + state[row, o]))


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


@kernel("UniTuple(f8, 3)(const(f8[::1]), const(f8[:, ::1]), i8, f8)")
def weighed(params: Array, state: Array, arm: int, value: float) -> tuple[float, float, float]:
    """What `count` takes of a value: `rescaled`; or the value over its scale, with the error, and 1/scale."""
    if params[MODEL] == BOUNDED:
        up, down = rescaled(params, value)
        return up, down, 0.0
    scale = 1.0 / math.sqrt(state[VARIANCES, arm])
    product, rest = two_product(scale, value)
    return product, rest, scale


@kernel("void(const(f8[::1]), f8[:, ::1], i8, f8, f8, f8)")
def count(params: Array, state: Array, against: int, x: float, rest: float, scale: float) -> None:
    """Count a value that is `weighed` against an arm."""
    row = comparator_row(params)
    state[row + COUNT, against] += 1.0
    if params[MODEL] == BOUNDED:
        state[row + C_TOTAL, against] += x
        if rest == 0.0:
            state[row + C_TOP, against] += 1.0
        elif x > 0.0:
            for k in range(NODES):
                multiply(state, row + C_UP + k, against, 1.0, 1.0 + KAPPA[k] * x)
        return
    state[row + C_SUM, against], error = two_sum(state[row + C_SUM, against], x)
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
    enough = params[HEAD_START]
    x, rest, scale = weighed(params, state, arm, value)
    if arm == second:
        if third < 0 or apparent(params, state, arm, third) >= enough:
            count(params, state, first, x, rest, scale)
        return
    clear = third < 0 or apparent(params, state, arm, second) >= enough
    clearer = clear or apparent(params, state, arm, third) >= enough
    for i in range(state.shape[1]):
        if i != arm and state[OUT, i] == 0.0:
            ahead = clear or (clearer and i == second)
            if ahead or (i != second and apparent(params, state, arm, i) >= enough):
                count(params, state, i, x, rest, scale)


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


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)")
def evidence_against(params: Array, state: Array, b: int, i: int, enough: float, ample: float) -> float:
    """The statistic of "i is the best", with leader b; or a number as far as `enough` and `ample` ask for it.

    See `minimum`: one that is up to `enough` if it is, or one above `ample` if it is.
    """
    if not comparable(params, state, b, i):
        return 0.0
    start = pooled(params, state, b, i)
    least, most, _ = minimum(params, state, b, i, 0.0, start, enough, ample, params[SHARE])
    return least if least > enough else min(most, enough)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, f8)", apart=True)
def standing(params: Array, state: Array, i: int, ample: float) -> float:
    """The statistic of "i is the best" now, or when i was ruled out; or a number above `ample`, if it is."""
    if state[OUT, i] > 0.0:
        return float(state[SETTLED, i])
    return evidence_against(params, state, leader_besides(state, i), i, -math.inf, ample)


@kernel("f8(const(f8[::1]), f8, f8, f8, f8)")
def next_look(params: Array, t: float, size: float, found: float, bound: float) -> float:
    """When to look again where looks are spaced: when the evidence may have come to the bound.

    Evidence, with what the mixture costs, is half a square z²/2, and z moves by some sqrt(s) while the number
    of samples grows by a small part s: so to cover a distance it takes the square of a fourth of it, or so.

    size  of which that part is taken: t, or less for an arm that may soon have many more values than it has
    """
    distance = math.sqrt(2.0 * (bound + COST)) - math.sqrt(2.0 * max(found + COST, 0.0))
    part = min(distance * distance / 20.0, LONGEST)
    return float(t + max(1.0, math.floor(max(part * size, params[TUNING] * t))))


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8)")
def estimate(params: Array, state: Array, b: int, i: int) -> float:
    """About the evidence against i with leader b, but for what the mixture costs; it decides nothing.

    As `apparent`, for the leader or for the comparator, with the variance of the leader's values.
    """
    row = comparator_row(params)
    mean, spread, n = shrunken(params, state, i), state[row + SPREAD, i], state[row + COUNT, i]
    difference, more = shrunken(params, state, b) - mean, state[row + SPREAD, b]
    about = 0.5 * difference * abs(difference) / (more + spread) - PAIR
    if n > 0.0:
        bounded = params[MODEL] == BOUNDED
        compared = state[row + C_TOTAL, i] / n if bounded else 0.5 * state[row + C_MEAN, i]
        difference = compared - mean
        about = max(about, 0.5 * difference * abs(difference) / (more * state[PULLS, b] / n + spread))
    return float(about)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8)")
def least_standing(params: Array, state: Array, b: int) -> float:
    """The smallest `standing` of all arms but b: first of the one that seems the hardest to refute."""
    hardest, least, spread = -1, math.inf, comparator_row(params) + SPREAD
    for i in range(state.shape[1]):
        if i != b and state[OUT, i] == 0.0 and state[spread, i] > 0.0:
            about = estimate(params, state, leader_besides(state, i), i)
            if hardest < 0 or about < least:
                hardest, least = i, about
    least = standing(params, state, hardest, math.inf) if hardest >= 0 else math.inf
    for i in range(state.shape[1]):
        if i != b and i != hardest:
            least = min(least, standing(params, state, i, least))
    return least


@kernel("i8(const(f8[::1]), f8[:, ::1], i8, i8, f8, b1)", apart=True)
def look(params: Array, state: Array, b: int, i: int, t: float, ahead: bool) -> int:
    """Is "i is the best" refuted, with leader b? Where looks are spaced, also when to look again.

    Then a search is made only where it may succeed: BEYOND is what the last one found beyond the likelihood
    ratio, or beyond the estimate of values that have none, and this difference changes slowly.

    ahead    make no search: where one is needed, change nothing and answer SEARCH
    Returns  STAYS, REFUTED or SEARCH
    """
    row, bound, spaced = comparator_row(params), params[LEVEL], t > 0.0 and params[TUNING] > 0.0
    beyond, likely, about, found = state[row + BEYOND, i], 0.0, 0.0, math.inf
    if spaced:
        about = estimate(params, state, b, i)
        likely = about + beyond
    near = not spaced or likely + ROUGH * max(about, 0.0) > bound - FAR
    if near:
        found = likelihood_ratio(params, state, b, i, 0.0, params[SHARE])
        if spaced:
            about = found if found < math.inf else about
            likely = about + beyond
            near = likely > bound - SURELY
    if near and found > bound:
        if ahead:
            return SEARCH
        found = evidence_against(params, state, b, i, bound, bound)
        if found > bound:
            if params[UNSHOWN] == 0.0:
                found = max(found, evidence_against(params, state, b, i, -math.inf, math.inf))
            state[SETTLED, i] = found
            return REFUTED
        if spaced:
            state[row + BEYOND, i] = found - about
    if spaced:
        size = min(t, state.shape[1] * state[PULLS, i])
        state[PENALTY, i] = next_look(params, t, size, found if near else likely, bound)
    return STAYS


@kernel("b1(const(f8[::1]), f8[:, ::1], f8, b1)", apart=True)
def eliminate(params: Array, state: Array, t: float, ahead: bool) -> bool:
    """Rule out every arm that cannot be the best; whether one is left.

    With a spacing every arm has a time when it is looked at again; all are looked at where t is 0.

    ahead  go only as far as no search is needed, and tell whether one is; the next call goes on from there
    """
    spaced, left, now = t > 0.0 and params[TUNING] > 0.0, 0, 0.0
    due = not spaced
    for a in range(state.shape[1]):
        now += state[PULLS, a]
        if state[OUT, a] == 0.0:
            left += 1
            due = due or t >= state[PENALTY, a]
    if not due:
        return not ahead and left == 1
    for i in range(state.shape[1]):
        if left == 1:
            break
        if state[OUT, i] > 0.0 or (spaced and t < state[PENALTY, i]):
            continue
        told = look(params, state, leader_besides(state, i), i, t, ahead)
        if told == SEARCH:
            return True
        if told == REFUTED:
            state[OUT, i], state[MEANS, i] = t if t > 0.0 else now, -math.inf
            left -= 1
    return not ahead and left == 1
