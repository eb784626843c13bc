"""Stopping rules: compare the leader with each other arm, and stop when every pair exceeds a threshold.

For a given model, number of arms and delta a rule is three numbers in params: RULE, one of the codes below;
LEVEL, the part of the threshold that does not depend on the time and is never above it; and TUNING, alpha for
GK16, c for MIXTURE, the spacing of checks for TILT and STUDENT, unused by the others.
"""

from __future__ import annotations

import math

from .._jit import kernel
from .._types import Array, Indices
from ..divergences import BERNOULLI
from ..families import BOUNDED, cost_beyond, exceeds, interval
from ..layout import (
    DECIDES,
    ELIMINATES,
    LEVEL,
    LOST,
    MEANS,
    MODEL,
    OUT,
    PENALTY,
    PULLS,
    ROWS,
    RULE,
    SETTLED,
    SHARE,
    SQUARES,
    SUMS,
    TOLERANCE,
    TUNING,
)
from ..tracking import leading_arm, least_pulled, open_arms
from .ceilings import ceiling
from .comparator import eliminate, next_look, rank, standing
from .student import ceiling as student_ceiling
from .student import lower_end as student_end
from .student import pair_minimum as student_minimum
from .tilt import comparable, count_tilts, fold, lower_end, minimum, pooled

PRACTICAL, GK16, KAUFMANN_KOOLEN, MIXTURE, TILT, STUDENT = 0, 1, 2, 3, 4, 5
CUSTOM = 6  # a user's, which is asked elsewhere; the statistic is the likelihood ratio, without a threshold
MIXTURE_C = 20.0  # default of the rule and of the width: the prior has the weight of 20 pulls


@kernel("f8(const(f8[::1]), f8)")
def growth(params: Array, t: float) -> float:
    """What the threshold at time t >= 1 has above its level."""
    if params[RULE] == PRACTICAL:
        return math.log(1.0 + math.log(t))
    if params[RULE] == GK16:
        return float(params[TUNING]) * math.log(t)
    if params[RULE] == KAUFMANN_KOOLEN:
        if params[MODEL] >= BERNOULLI:
            return 6.0 * math.log(1.0 + math.log(max(0.5 * t, 1.0)))
        return 4.0 * math.log(4.0 + math.log(0.5 * t))
    return 0.0


@kernel("f8(const(f8[::1]), f8)")
def threshold(params: Array, t: float) -> float:
    """The threshold at time t >= 1."""
    return float(params[LEVEL]) + growth(params, t)


@kernel("f8(const(f8[::1]), f8)")
def charge(params: Array, n: float) -> float:
    """What is taken off a pair's cost for n pulls of an arm: for MIXTURE what its prior costs."""
    return 0.5 * math.log1p(n / params[TUNING]) if params[RULE] == MIXTURE else 0.0


@kernel("f8(const(f8[::1]), f8)")
def counted(params: Array, n: float) -> float:
    """How much n pulls count in a pair's cost: for MIXTURE N²/(N + c)."""
    return n * (n / (n + params[TUNING])) if params[RULE] == MIXTURE else n


@kernel("void(const(f8[::1]), f8[:, ::1], i8, f8, f8)")
def note(params: Array, state: Array, arm: int, count: float, value: float) -> None:
    """Keep what the rule needs of a value; for MIXTURE, so that `may_stop` needs no logarithm."""
    if params[RULE] == MIXTURE:
        state[PENALTY, arm] = charge(params, state[PULLS, arm])
    elif params[RULE] == TILT:
        if params[MODEL] == BOUNDED:
            count_tilts(params, state, arm, count, value)
        if params[SHARE] > 0.0:
            rank(params, state, arm)


@kernel("void(const(f8[::1]), f8[:, ::1], i8, f8)")
def grow(params: Array, state: Array, arm: int, pulls: float) -> None:
    """As if an arm had so many pulls of the values that it has."""
    if params[RULE] == TILT and params[MODEL] == BOUNDED:
        fold(state, arm)
    if state[PULLS, arm] > 0.0:
        factor = pulls / state[PULLS, arm]
        for row in range(ROWS, state.shape[0]):
            state[row, arm] *= factor
        if params[RULE] == STUDENT:
            state[SUMS, arm] *= factor
            state[LOST, arm] *= factor
            state[SQUARES, arm] *= factor
    state[PULLS, arm] = pulls
    if params[RULE] == MIXTURE:
        state[PENALTY, arm] = charge(params, pulls)


@kernel("f8(const(f8[::1]), f8)")
def excluded(params: Array, tolerance: float) -> float:
    """For TILT: the difference against which a pair is tested, less than 0 by the tolerance."""
    return -min(0.5 * tolerance, 1.0) if params[MODEL] == BOUNDED else -tolerance


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)")
def pair_evidence(params: Array, state: Array, b: int, a: int, tolerance: float, enough: float) -> float:
    """The statistic of one pair: its cost, or for MIXTURE and TILT the logarithm of a supermartingale.

    For TILT and STUDENT it may be any number on the same side of `enough`: up to that, or for TILT above it.
    """
    if params[RULE] == STUDENT:
        return student_minimum(params, state, b, a, tolerance, enough)
    n_b, n_a = state[PULLS, b], state[PULLS, a]
    if params[RULE] == TILT:
        if not comparable(params, state, b, a):
            return 0.0
        d = excluded(params, tolerance)
        least, most, _ = minimum(params, state, b, a, d, pooled(params, state, b, a), enough, 0.0)
        return least if least > enough else min(most, enough)
    likelihood = cost_beyond(params, state, b, a, counted(params, n_b), counted(params, n_a), tolerance)
    return likelihood - (charge(params, n_b) + charge(params, n_a))


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8)")
def pair_statistic(params: Array, state: Array, b: int, a: int) -> float:
    """The statistic of one pair."""
    return pair_evidence(params, state, b, a, params[TOLERANCE], -math.inf)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def pair_ceiling(params: Array, state: Array, b: int, a: int, tolerance: float) -> float:
    """At least the statistic of one pair, without a search; inf where that needs none."""
    if params[RULE] == TILT:
        return ceiling(params, state, b, a, excluded(params, tolerance), 0.0)
    if params[RULE] == STUDENT:
        return student_ceiling(params, state, b, a, tolerance)
    return math.inf


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)")
def pair_exceeds(params: Array, state: Array, b: int, a: int, tolerance: float, bound: float) -> bool:
    """Whether the statistic of one pair is above a bound; for TILT and STUDENT often without a search."""
    if pair_ceiling(params, state, b, a, tolerance) <= bound:
        return False
    return pair_evidence(params, state, b, a, tolerance, bound) > bound


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def pair_interval(params: Array, state: Array, b: int, a: int, bound: float) -> tuple[float, float]:
    """The interval for μ_b - μ_a, in units, that lies above 0 exactly when the pair exceeds `bound`."""
    n_b, n_a = state[PULLS, b], state[PULLS, a]
    if n_b == 0.0 or n_a == 0.0 or (params[RULE] == TILT and not comparable(params, state, b, a)):
        return -math.inf, math.inf
    if params[RULE] == TILT:
        scale = 2.0 if params[MODEL] == BOUNDED else 1.0
        low, high = lower_end(params, state, b, a, bound), -lower_end(params, state, a, b, bound)
        return scale * low, scale * high
    if params[RULE] == STUDENT:
        return student_end(params, state, b, a, bound), -student_end(params, state, a, b, bound)
    i_b, i_a = 1.0 / n_b, 1.0 / n_a
    if params[RULE] == MIXTURE:
        i_b, i_a = (1.0 + params[TUNING] / n_b) / n_b, (1.0 + params[TUNING] / n_a) / n_a
    bound += charge(params, n_b) + charge(params, n_a)
    return interval(params, state, b, a, i_b, i_a, bound)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8)", apart=True)
def settled_with(params: Array, state: Array, arm: int) -> float:
    """The statistic with which a pair ruled an arm out, as far above the threshold now as it was then."""
    t = 0.0
    for a in range(state.shape[1]):
        t += state[PULLS, a]
    return float(state[SETTLED, arm] + (growth(params, t) - growth(params, state[OUT, arm])))


@kernel("b1(const(f8[::1]))")
def asks_all(params: Array) -> bool:
    """Whether `may_stop` is sufficient by itself, and the statistic is not shown: then it is not needed."""
    return bool(params[RULE] == STUDENT and params[DECIDES] != 0.0)


@kernel("Tuple((f8, i8))(const(f8[::1]), const(f8[:, ::1]))")
def statistic(params: Array, state: Array) -> tuple[float, int]:
    """The smallest pair statistic of the leader, or of "a is the best" for another arm; and the leader."""
    b = leading_arm(state)
    least = math.inf
    for a in range(state.shape[1]):
        if a != b and params[SHARE] > 0.0:
            least = min(least, standing(params, state, a))
        elif a != b and state[OUT, a] == 0.0:
            least = min(least, pair_statistic(params, state, b, a))
        elif a != b and params[ELIMINATES] != 0.0:
            least = min(least, settled_with(params, state, a))
    return least, b


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)", apart=True)
def evidence_up_to(params: Array, state: Array, b: int, a: int, tolerance: float, limit: float) -> float:
    """The statistic of a pair if it is above a limit; if it is not shown, any number above it will do.

    Else a number up to the limit, not less than 0.
    """
    found = pair_ceiling(params, state, b, a, tolerance)
    if found > limit:
        found = pair_evidence(params, state, b, a, tolerance, limit)
    if found > limit and params[DECIDES] == 0.0 and (params[RULE] == TILT or params[RULE] == STUDENT):
        found = pair_evidence(params, state, b, a, tolerance, -math.inf)
    return max(found, 0.0)


@kernel("b1(const(f8[::1]), f8[:, ::1], i8, i8, b1, f8, f8, f8)")
def settle_pair(
    params: Array, state: Array, c: int, a: int, leads: bool, bound: float, t: float, now: float
) -> bool:
    """Rule out the worse of two arms in the race, if their pair shows it; whether it does. See `settle`.

    A tolerance does not count: if each arm could go for being hardly better than another, the last one might
    be far from the best. Where c leads, it is noted whether it need be told from a any more.
    """
    searched = params[RULE] == TILT or params[RULE] == STUDENT
    spaced = searched and t > 0.0 and params[TUNING] > 0.0
    if spaced and t < state[PENALTY, a]:
        return False
    high, low = (c, a) if state[MEANS, c] >= state[MEANS, a] else (a, c)
    if leads and params[TOLERANCE] > 0.0:
        state[SETTLED, a] = 0.0
    if not searched:
        v_b, v_a = counted(params, state[PULLS, high]), counted(params, state[PULLS, low])
        enough = (1.0 - 1e-12) * (bound + state[PENALTY, c] + state[PENALTY, a])
        if not exceeds(params, state, high, low, v_b, v_a, enough):
            return False
    limit = threshold(params, now)
    found = evidence_up_to(params, state, high, low, 0.0, limit)
    if found > limit:
        state[OUT, low], state[SETTLED, low], state[MEANS, low] = now, found, -math.inf
        return True
    if leads and params[TOLERANCE] > 0.0:
        found = evidence_up_to(params, state, c, a, params[TOLERANCE], limit)
        state[SETTLED, a] = found if found > limit else 0.0
    if leads and spaced:
        state[PENALTY, a] = next_look(params, t, t, found, limit)
    return bool(state[SETTLED, a] > 0.0)


@kernel("b1(const(f8[::1]), f8[:, ::1], i8, b1, f8, f8, f8)")
def settle_pairs(
    params: Array, state: Array, c: int, leads: bool, bound: float, t: float, now: float
) -> bool:
    """`settle_pair` with every other arm, as long as c is in the race; whether one was settled."""
    some = False
    for a in range(state.shape[1]):
        if a != c and state[OUT, a] == 0.0 and state[OUT, c] == 0.0:
            settled = settle_pair(params, state, c, a, leads, bound, t, now)
            some = some or settled
    return some


@kernel("b1(const(f8[::1]), f8[:, ::1], i8, f8, f8, i8)", apart=True)
def settle(params: Array, state: Array, b: int, bound: float, t: float, last: int) -> bool:
    """Rule out, for good, every arm that a pair shows to be worse; whether none is open but the leader b.

    After a value of arm `last` its pair with the leader is tested, or all its pairs, if it is the leader or
    has more pulls than it. Where `last` is -1 or has its first value, under a tolerance, and for TILT and
    STUDENT, all pairs of the leader and of the arm with the most pulls are. Where looks are spaced, every arm
    has a time of its own when it is looked at again; all are looked at where t is 0.
    """
    now, some = t, False
    if t == 0.0:
        for a in range(state.shape[1]):
            now += state[PULLS, a]
    searched = params[RULE] == TILT or params[RULE] == STUDENT
    if last < 0 or searched or params[TOLERANCE] > 0.0 or state[PULLS, last] == 1.0:
        most = b
        for a in range(state.shape[1]):
            if state[OUT, a] == 0.0 and state[PULLS, a] > state[PULLS, most]:
                most = a
        if most != b:
            settle_pairs(params, state, most, False, bound, t, now)
        settle_pairs(params, state, b, True, bound, t, now)
        state[SETTLED, b], some = 0.0, True
    elif last == b or state[PULLS, last] > state[PULLS, b]:
        some = settle_pairs(params, state, last, last == b, bound, t, now)
    else:
        some = settle_pair(params, state, b, last, True, bound, t, now)
    return some and open_arms(state, b) == 1


@kernel("b1(const(f8[::1]), f8[:, ::1], i8, f8, f8, b1)", apart=True)
def searches_exceed(params: Array, state: Array, b: int, bound: float, t: float, ahead: bool) -> bool:
    """For TILT and STUDENT: whether every pair of the leader b exceeds a bound; first, the hardest pair.

    With a spacing the next look is after part of the samples that the evidence lacks; at once where t is 0.

    ahead  go only as far as no search is needed, and tell whether one may be; the next call goes on there
    """
    if params[SHARE] > 0.0:
        return eliminate(params, state, t, ahead)
    if params[ELIMINATES] != 0.0:
        return ahead or settle(params, state, b, bound, t, -1)
    spaced = t > 0.0 and params[TUNING] > 0.0
    if spaced and t < state[PENALTY, 0]:
        return False
    hardest, least = -1, math.inf
    for a in range(state.shape[1]):
        if a != b and state[OUT, a] == 0.0:
            most = pair_ceiling(params, state, b, a, params[TOLERANCE])
            if most < least:
                hardest, least = a, most
            if most <= bound:
                break
    if ahead and least > bound:
        return True
    if hardest >= 0 and least > bound:
        least = pair_evidence(params, state, b, hardest, params[TOLERANCE], bound)
    for a in range(state.shape[1]):
        if least > bound and a != b and a != hardest and state[OUT, a] == 0.0:
            least = pair_evidence(params, state, b, a, params[TOLERANCE], bound)
    if least <= bound and spaced:
        state[PENALTY, 0] = next_look(params, t, t, least if math.isfinite(least) else bound, bound)
    return least > bound


@kernel("b1(const(f8[::1]), f8[:, ::1], i8, f8, f8, i8)")
def may_stop(params: Array, state: Array, b: int, bound: float, t: float, last: int) -> bool:
    """A cheap necessary condition for stopping with leader b, where the threshold is at least `bound`.

    No logarithm, no division but for MIXTURE, and usually the first or second arm answers. The tiny allowance
    keeps rounding from ruling out what `statistic` admits. TILT and STUDENT need not be asked after every
    sample, and their condition is sufficient, too. `last` is the arm of the last sample, -1 if any may be.
    """
    if params[RULE] == TILT or params[RULE] == STUDENT:
        return searches_exceed(params, state, b, bound, t, False)
    if params[ELIMINATES] != 0.0:
        return settle(params, state, b, bound, t, last)
    v_b = counted(params, state[PULLS, b])
    at_least = (1.0 - 1e-12) * (bound + state[PENALTY, b])
    for a in range(state.shape[1]):
        if a != b:
            v_a = counted(params, state[PULLS, a])
            if not exceeds(params, state, b, a, v_b, v_a, at_least + state[PENALTY, a]):
                return False
    return True


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]))")
def verdict(params: Array, state: Array) -> tuple[float, float]:
    """Statistic and threshold; -inf and inf while some arm has no pulls."""
    pulls = state[PULLS]
    if pulls[least_pulled(pulls)] == 0.0:
        return -math.inf, math.inf
    t = 0.0
    for a in range(pulls.size):
        t += pulls[a]
    z, _ = statistic(params, state)
    return z, threshold(params, t)


@kernel("b1(const(f8[::1]), f8[:, ::1], f8, i8)")
def stops_after(params: Array, state: Array, t: float, last: int) -> bool:
    """Whether the rule decides after t samples, the last of arm `last`; `verdict` after a cheap look."""
    pulls, b = state[PULLS], leading_arm(state)
    if pulls[least_pulled(pulls)] == 0.0 or not may_stop(params, state, b, params[LEVEL], t, last):
        return False
    z, beta = verdict(params, state)
    return z > beta


@kernel("b1(const(f8[::1]), f8[:, ::1], f8)")
def stops(params: Array, state: Array, t: float) -> bool:
    """`stops_after`, whichever arm is new; at any time where t is 0."""
    return stops_after(params, state, t, -1)


@kernel("void(const(f8[::1]), const(f8[::1]), f8[::1])")
def threshold_rows(params: Array, t: Array, value: Array) -> None:
    """`threshold` for every entry."""
    for i in range(t.size):
        value[i] = threshold(params, t[i])


@kernel("void(const(f8[::1]), const(f8[:, :, ::1]), f8[::1], i8[::1])")
def statistic_rows(params: Array, states: Array, value: Array, leader: Indices) -> None:
    """`statistic` for every state."""
    for i in range(states.shape[0]):
        value[i], leader[i] = statistic(params, states[i])


@kernel("void(const(f8[::1]), const(f8[:, :, ::1]), const(i8[::1]), const(f8[::1]), f8[:, ::1], f8[:, ::1])")
def pair_interval_rows(
    params: Array, states: Array, leader: Indices, bound: Array, lower: Array, upper: Array
) -> None:
    """`pair_interval` of the leader against each arm, for every state; 0 at the leader."""
    for i in range(states.shape[0]):
        for a in range(lower.shape[1]):
            lower[i, a], upper[i, a] = pair_interval(params, states[i], leader[i], a, bound[i])
        lower[i, leader[i]], upper[i, leader[i]] = 0.0, 0.0
