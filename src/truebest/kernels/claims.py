"""Independent pulls: claims are proven pair by pair, for any question but the best arm in a rule's own way.

Behind the rule's own rows a state has HEADS rows and the claims that are proven. After a sample only claims
about its arm are looked at, and about arms whose label has changed. Where looks are spaced, every arm has a
time of its own when it is looked at again; a claim is looked at with the one of its arms about which less is
asked. What is proven stays so.

Where a list is asked for, claims must exceed not the level but a *bar*, which those about the list share: the
average of the evidence over every set of arms that are not on it, with the one in question, must be above
e^level. All evidence in it is of the same moment; an arm of which the opposite is proven has none.

    NEXT    when an arm is looked at again: NOW or ALL in the meantime
    HELPFUL of how many claims about it some would help
    LABELS  its label now; LAST_LABELS, at the last look

An arm rests (row SETTLED) while no claim about it would help; it is out for good (row OUT) when none will.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array
from .layout import (
    ABOUT_ONE,
    HEADS,
    HELPFUL,
    LABELS,
    LAST_LABELS,
    LEVEL,
    LIMITS,
    MEANS,
    NEXT,
    NO_ARM,
    OUT,
    PULLS,
    QUESTION,
    RULE,
    SETTLED,
    TUNING,
    arm_of,
)
from .number import evidence as number_evidence
from .questions import (
    ASKED,
    CODE,
    LISTED,
    baseline,
    is_answered,
    is_asked,
    is_right,
    is_settled,
    label,
    margin,
    note_proof,
    rivals,
    verdict_times,
)
from .rules import pair_ceiling, pair_evidence, threshold
from .rules.comparator import next_look
from .rules.student import STUDENT_RULE
from .rules.tilt import TILT
from .tracking import rarest, rarest_open

FAR = 4.0  # nats below the level: evidence that is lower counts as none for a bar, as does what is below 1
ALL, NOW = 0.0, -1.0  # an arm is looked at now: with all claims about it, or with those of which it says when


@kernel("i8(const(f8[:, ::1]))")
def first_claim(state: Array) -> int:
    """The row with which the claims begin."""
    return int(state.shape[0] - state.shape[1] - ABOUT_ONE)


@kernel("b1(const(f8[:, ::1]), f8)", apart=True)
def is_due(state: Array, t: float) -> bool:
    """Whether an arm is to be looked at after t samples, where looks are spaced."""
    row, due = first_claim(state) - HEADS + NEXT, False
    for a in range(state.shape[1]):
        due = due or (state[OUT, a] == 0.0 and t >= state[row, a])
    return due


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)", apart=True)
def evidence_for(params: Array, state: Array, b: int, i: int, d: float, enough: float) -> float:
    """The evidence for claim (b, i), or a number on the same side of `enough`.

    It is 0 where b is not ahead by d: a cost squares the difference.
    """
    if b == state.shape[1] or i == state.shape[1]:
        return float(number_evidence(params, state, min(b, i), d, b < i))
    if state[MEANS, b] - state[MEANS, i] <= d:
        return 0.0
    found = pair_ceiling(params, state, b, i, -d)
    return pair_evidence(params, state, b, i, -d, enough) if found > enough else found


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), f8, b1)", apart=True)
def bar(params: Array, state: Array, level: float, passing: bool) -> float:
    """The bar of a list: of the arms that pass, or of those that fail."""
    K, ask, missing = state.shape[1], params[QUESTION : QUESTION + ASKED], 0.0
    base, proven = baseline(ask), state[first_claim(state) :]
    labels = state[first_claim(state) - HEADS + LABELS]
    for a in range(K):
        passed, failed = verdict_times(ask, proven, a)
        if a == base or (passed if passing else failed) > 0.0:
            continue
        b, i = (a, base) if passing else (base, a)
        d, found = margin(ask, proven, labels, b, i), 0.0
        near = is_asked(d) and state[MEANS, b] - state[MEANS, i] > d
        if near and pair_ceiling(params, state, b, i, -d) > level - FAR:
            found = pair_evidence(params, state, b, i, -d, -math.inf)
        missing += 1.0 - (math.exp(min(found - level, 0.0)) if found > 0.0 else 0.0)
    return level + math.log1p(missing)


@kernel("f8(const(f8[::1]), f8[:, ::1], i8, i8, f8, f8)")
def prove(params: Array, state: Array, b: int, i: int, level: float, now: float) -> float:
    """Look at claim (b, i) if it would help; the evidence for it, -inf where nothing is asked any more.

    Where it must exceed a bar, what that is above the level is subtracted.
    """
    ask, first = params[QUESTION : QUESTION + ASKED], first_claim(state)
    proven = state[first:]
    d = margin(ask, proven, state[first - HEADS + LABELS], b, i)
    if not is_asked(d):
        return -math.inf
    found = evidence_for(params, state, b, i, d, level)
    if found > level and ask[CODE] == LISTED:
        limit = bar(params, state, level, i == baseline(ask))
        found = evidence_for(params, state, b, i, d, limit) - (limit - level)
    if found > level:
        note_proof(proven, b, i, d, now)
    return found


@kernel("b1(const(f8[::1]), f8[:, ::1], f8, i8, b1)")
def relabel(params: Array, state: Array, t: float, last: int, spaced: bool) -> bool:
    """Label the arms, and note in NEXT which are due for a look; whether a label has changed."""
    K, changed, first = state.shape[1], False, first_claim(state)
    shared = params[QUESTION + CODE] == LISTED  # then a claim depends on the values of all arms
    due, known, labels = (
        state[first - HEADS + NEXT],
        state[first - HEADS + LAST_LABELS],
        state[first - HEADS + LABELS],
    )
    label(params[QUESTION : QUESTION + ASKED], state[MEANS], state[first:], labels)
    for a in range(K):
        if labels[a] != known[a]:
            known[a], due[a], changed = labels[a], ALL, True
        elif spaced and t >= due[a] > ALL:
            due[a] = NOW
        elif not spaced and (last < 0 or a == last or shared):
            due[a] = ALL
    return changed


@kernel("void(const(f8[::1]), f8[:, ::1], f8)")
def let_rest(params: Array, state: Array, now: float) -> None:
    """Let those arms rest about which no claim would help, and leave out those about which none will."""
    K = state.shape[1]
    first, ask = first_claim(state), params[QUESTION : QUESTION + ASKED]
    due, number = state[first - HEADS + NEXT], state[first - HEADS + HELPFUL]
    labels, proven, (low, high) = state[first - HEADS + LABELS], state[first:], rivals(ask, K)
    for a in range(K):
        if state[OUT, a] == 0.0 and is_settled(ask, proven, labels, a):
            state[OUT, a] = now
    for a in range(K):
        number[a] = 0.0
        for o in range(low, high):
            if state[OUT, a] == 0.0 and (o == K or state[OUT, o] == 0.0):
                here, there = margin(ask, proven, labels, a, o), margin(ask, proven, labels, o, a)
                number[a] += 1.0 if is_asked(here) or is_asked(there) else 0.0
        if number[a] == 0.0:
            state[SETTLED, a], due[a] = now, math.inf
        elif state[SETTLED, a] > 0.0:
            state[SETTLED, a], due[a] = 0.0, ALL


@kernel("f8(const(f8[::1]), f8, f8, f8, f8)")
def later(params: Array, t: float, pulls: float, found: float, level: float) -> float:
    """When an arm is looked at again, on a grid: so that arms come together, and labels are rarely needed."""
    grid = 1.0
    while 2.0 * grid <= params[TUNING] * t:
        grid *= 2.0
    return grid * math.ceil(next_look(params, t, min(t, pulls), min(found, level), level) / grid)


@kernel("b1(const(f8[::1]), f8[:, ::1], f8, i8)", apart=True)
def judge(params: Array, state: Array, t: float, last: int) -> bool:
    """Prove what can be proven, and let arms rest; whether the question is answered.

    t     samples so far; or 0, and all arms are looked at
    last  the arm of the last sample; where it is -1, all are looked at
    """
    K, now = state.shape[1], t
    spaced = t > 0.0 and params[TUNING] > 0.0 and (params[RULE] == TILT or params[RULE] == STUDENT_RULE)
    if spaced and not is_due(state, t):
        return False
    if t == 0.0:
        for a in range(K):
            now += state[PULLS, a]
    level, first = threshold(params, now), first_claim(state)
    due, number = state[first - HEADS + NEXT], state[first - HEADS + HELPFUL]
    ask = params[QUESTION : QUESTION + ASKED]
    low, high = rivals(ask, K)
    changed = relabel(params, state, t, last if t > 0.0 else -1, spaced)
    again = True
    while again:
        again = False
        for a in range(K):
            if due[a] > 0.0 or state[OUT, a] > 0.0:
                continue
            nearest, everything = -math.inf, due[a] == ALL
            for o in range(low, high):
                if o == a or (o < K and (state[OUT, o] > 0.0 or not (everything or number[a] <= number[o]))):
                    continue
                found = max(prove(params, state, a, o, level, now), prove(params, state, o, a, level, now))
                nearest, again = max(nearest, found), again or found > level
            due[a] = later(params, t, K * state[PULLS, a], nearest, level) if spaced else 1.0
        if again:
            changed = True
            relabel(params, state, t, K, spaced)
            if ask[CODE] == LISTED:  # the bar is lower now
                for a in range(K):
                    due[a] = ALL
    if not changed:
        return False
    let_rest(params, state, now)
    labels = state[first - HEADS + LABELS]
    return is_answered(ask, state[first:], labels)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]))", apart=True)
def statistic(params: Array, state: Array) -> float:
    """The least evidence that is asked for now, of two opposite claims the larger one; inf if nothing is."""
    K, least = state.shape[1], math.inf
    first, ask, level = first_claim(state), params[QUESTION : QUESTION + ASKED], params[LEVEL]
    labels, proven, (low, high) = state[first - HEADS + LABELS], state[first:], rivals(ask, K)
    to_pass = to_fail = 0.0  # above the level
    if ask[CODE] == LISTED:
        to_pass, to_fail = bar(params, state, level, True) - level, bar(params, state, level, False) - level
    for b in range(K):
        for i in range(max(low, b + 1), high):
            found = -math.inf
            here, there = (to_pass, to_fail) if i == baseline(ask) else (to_fail, to_pass)
            d = margin(ask, proven, labels, b, i)
            if is_asked(d):
                found = evidence_for(params, state, b, i, d, -math.inf) - here
            d = margin(ask, proven, labels, i, b)
            if is_asked(d):
                found = max(found, evidence_for(params, state, i, b, d, -math.inf) - there)
            if found > -math.inf:
                least = min(least, found)
    return least


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), const(f8[::1]))", apart=True)
def answers_rightly(params: Array, state: Array, truth: Array) -> bool:
    """Whether the answer that was found is right where the arms have these means."""
    labels = state[first_claim(state) - HEADS + LABELS]
    return is_right(params[QUESTION : QUESTION + ASKED], truth, labels)


@kernel("i8(const(f8[::1]), const(f8[:, ::1]))")
def in_turn(params: Array, state: Array) -> int:
    """Of the arms that neither rest nor are out the rarest, but a baseline √k times as often as each of k."""
    base, rare, k = baseline(params[QUESTION : QUESTION + ASKED]), NO_ARM, 0.0
    if base < 0 or state[SETTLED, base] > 0.0:
        return rarest_open(state, NO_ARM)
    for a in range(state.shape[1]):
        if a != base and state[SETTLED, a] == 0.0:
            k += 1.0
            if rare < 0 or state[PULLS, a] < state[PULLS, rare]:
                rare = a
    return base if rare < 0 or state[PULLS, base] < math.sqrt(k) * state[PULLS, rare] else rare


@kernel("i8(const(f8[::1]), const(f8[:, ::1]), i8)")
def allowed(params: Array, state: Array, action: int) -> int:
    """An action as it is; or if its arm may not be pulled, to pull the rarest of those that may.

    Where a question is asked, the strategy samples in turn, and the question says how often each arm's is.
    """
    if params[LIMITS] != 0.0:
        arm = arm_of(action, state.shape[1])
        if params[QUESTION] != 0.0:  # then an arm that is out has been settled, too
            other = in_turn(params, state)
            return other if other >= 0 and 0 <= arm < state.shape[1] else action
        if 0 <= arm < state.shape[1] and state[OUT, arm] > 0.0:
            return rarest(state)
    return action
