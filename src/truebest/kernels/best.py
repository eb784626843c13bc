"""Which arm is best? The leader is compared with each other arm, or every arm with whatever leads it.

The rule says what a pair's evidence is (`rules`); here it is asked when to stop. Any other question is
answered by what is proven of pairs, see `claims`.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array, Indices
from .claims import is_due, judge
from .claims import statistic as least_evidence
from .families import cost, exceeds
from .layout import (
    LEVEL,
    LIMITS,
    NO_ARM,
    OUT,
    PENALTY,
    PULLS,
    QUESTION,
    RULE,
    SHARE,
    TOLERANCE,
    TUNING,
    UNSHOWN,
)
from .rules import pair_ceiling, pair_evidence, pair_interval, pair_statistic, threshold
from .rules.comparator import eliminate, least_standing, next_look
from .rules.mixture import counted
from .rules.student import STUDENT_RULE
from .rules.tilt import TILT
from .settling import settle, settled_with
from .tracking import leading_arm, least_pulled


@kernel("b1(const(f8[::1]))")
def asks_all(params: Array) -> bool:
    """Whether `may_stop` is sufficient by itself, and the statistic is not shown: then it is not needed."""
    return bool((params[RULE] == STUDENT_RULE and params[UNSHOWN] != 0.0) or params[QUESTION] != 0.0)


@kernel("Tuple((f8, i8))(const(f8[::1]), const(f8[:, ::1]))")
def statistic(params: Array, state: Array) -> tuple[float, int]:
    """The smallest pair statistic of the leader, or of "a is the best" for another arm; and the leader."""
    b = leading_arm(state)
    if params[QUESTION] != 0.0:
        return least_evidence(params, state), b
    if params[SHARE] > 0.0:
        return least_standing(params, state, b), b
    least = math.inf
    for a in range(state.shape[1]):
        if a != b and state[OUT, a] == 0.0:
            least = min(least, pair_statistic(params, state, b, a))
        elif a != b and params[LIMITS] != 0.0:
            least = min(least, settled_with(params, state, a))
    return least, b


@kernel("b1(const(f8[::1]), f8[:, ::1], i8, f8, f8, b1)", apart=True)
def searches_exceed(params: Array, state: Array, b: int, bound: float, t: float, ahead: bool) -> bool:
    """For TILT and STUDENT_RULE: whether every pair of the leader b exceeds a bound; first, the hardest pair.

    With a spacing the next look is after part of the samples that the evidence lacks; at once where t is 0.

    ahead  go only as far as no search is needed, and tell whether one may be; the next call goes on there
    """
    if params[QUESTION] != 0.0:
        return ahead and is_due(state, t)
    if params[SHARE] > 0.0:
        return eliminate(params, state, t, ahead)
    if params[LIMITS] != 0.0:
        return ahead or settle(params, state, b, bound, t, NO_ARM)
    spaced = t > 0.0 and params[TUNING] > 0.0
    if spaced and t < state[PENALTY, 0]:
        return False
    hardest, least = NO_ARM, math.inf
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
    keeps rounding from ruling out what `statistic` admits. TILT and STUDENT_RULE need not be asked after
    every sample, and their condition is sufficient, too. `last` is the arm of the last sample, NO_ARM if any
    may be.
    """
    if params[QUESTION] != 0.0:
        return judge(params, state, t, last)
    if params[RULE] == TILT or params[RULE] == STUDENT_RULE:
        return searches_exceed(params, state, b, bound, t, False)
    if params[LIMITS] != 0.0:
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
    if params[QUESTION] != 0.0:
        return True
    z, beta = verdict(params, state)
    return z > beta


@kernel("b1(const(f8[::1]), f8[:, ::1], f8)")
def stops(params: Array, state: Array, t: float) -> bool:
    """`stops_after`, whichever arm is new; at any time where t is 0."""
    return stops_after(params, state, t, NO_ARM)


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


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), const(f8[::1]), i8, f8[::1])")
def costs_against(params: Array, state: Array, v: Array, leader: int, costs: Array) -> float:
    """`cost` of the leader against every arm into `costs` (inf at itself); returns the least.

    With counts of pulls for `v` this is Z(t), with weights it is g(μ, v).
    """
    least = math.inf
    for a in range(v.size):
        if a != leader:
            costs[a] = cost(params, state, leader, a, v[leader], v[a])
            least = min(least, costs[a])
    costs[leader] = math.inf
    return least


@kernel("void(const(f8[:, :, ::1]), i8[::1])")
def leader_rows(states: Array, leader: Indices) -> None:
    """`leading_arm` of every state."""
    for i in range(states.shape[0]):
        leader[i] = leading_arm(states[i])


@kernel("void(const(f8[::1]), const(f8[:, :, ::1]), const(f8[:, ::1]), const(i8[::1]), f8[::1], f8[:, ::1])")
def cost_rows(params: Array, states: Array, v: Array, leader: Indices, least: Array, costs: Array) -> None:
    """`costs_against` for every state."""
    for i in range(states.shape[0]):
        least[i] = costs_against(params, states[i], v[i], leader[i], costs[i])
