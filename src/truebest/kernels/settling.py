"""Arms are ruled out pair by pair: for strategies that sample only arms which the rule has not settled.

An arm is out for good once a pair shows it to be worse. With a tolerance it may also be told from the leader
for now, and then rests until the leader or its evidence changes.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array
from .families import exceeds
from .layout import MEANS, OUT, PENALTY, PULLS, RULE, SETTLED, TOLERANCE, TUNING, UNSHOWN
from .rules import pair_ceiling, pair_evidence, threshold
from .rules.comparator import next_look
from .rules.likelihood import growth
from .rules.mixture import counted
from .rules.student import STUDENT_RULE
from .rules.tilt import TILT
from .tracking import open_arms


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8)", apart=True)
def settled_with(params: Array, state: Array, arm: int) -> float:
    """The statistic with which a pair ruled an arm out, as far above the threshold now as it was then."""
    t = 0.0
    for a in range(state.shape[1]):
        t += state[PULLS, a]
    return float(state[SETTLED, arm] + (growth(params, t) - growth(params, state[OUT, arm])))


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)", apart=True)
def evidence_up_to(params: Array, state: Array, b: int, a: int, tolerance: float, limit: float) -> float:
    """The statistic of a pair if it is above a limit; if it is not shown, any number above it will do.

    Else a number up to the limit, not less than 0.
    """
    found = pair_ceiling(params, state, b, a, tolerance)
    if found > limit:
        found = pair_evidence(params, state, b, a, tolerance, limit)
    if found > limit and params[UNSHOWN] == 0.0 and (params[RULE] == TILT or params[RULE] == STUDENT_RULE):
        found = max(found, pair_evidence(params, state, b, a, tolerance, -math.inf))
    return max(found, 0.0)


@kernel("b1(const(f8[::1]), f8[:, ::1], i8, i8, b1, f8, f8, f8)")
def settle_pair(
    params: Array, state: Array, c: int, a: int, leads: bool, bound: float, t: float, now: float
) -> bool:
    """Rule out the worse of two arms in the race, if their pair shows it; whether it does. See `settle`.

    A tolerance does not count: if each arm could go for being hardly better than another, the last one might
    be far from the best. Where c leads, it is noted whether it need be told from a any more.
    """
    searched = params[RULE] == TILT or params[RULE] == STUDENT_RULE
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
    has more pulls than it. Where `last` is NO_ARM or has its first value, under a tolerance, and for TILT and
    STUDENT_RULE, all pairs of the leader and of the arm with the most pulls are. Where looks are spaced,
    every arm has a time of its own when it is looked at again; all are looked at where t is 0.
    """
    now, some = t, False
    if t == 0.0:
        for a in range(state.shape[1]):
            now += state[PULLS, a]
    searched = params[RULE] == TILT or params[RULE] == STUDENT_RULE
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
