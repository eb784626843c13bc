"""Rounds in which only wins count: who was better, not by how much.

D = 1 where arm b was better than arm i in a round, -1 where it was worse, 0 for a tie, and `paired` computes
with it. Values need neither bounds nor moments. *Best* is an arm w that wins against every other one in more
than half of the rounds that are not ties. There need not be one: preferences may go round in a circle.

    race     assumes that there is one: arms are ruled out as in `paired`, with a comparator
    direct   assumes nothing, and asks for the winner (`questions.WINNER`): b beats i, for good, when the
             evidence of the pair exceeds log(K/δ); an arm that has beaten all others is declared, and where
             every arm is beaten there is no winner. An arm is measured as long as it is unbeaten, or some
             unbeaten arm has not beaten it

A tolerance is a factor: `near` has, in the layout of pairs, the evidence for "b is better than i, or within
the factor of it". The arm ahead is declared when that exceeds the level of a pair against every arm in the
race; what is common to the values of a round may then drift as a factor alone. Proofs are in docs/proofs.md.

    told     see `round_claims`: after how many rounds b has beaten i, 0 before
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array
from .layout import NO_ARM
from .paired import (
    EVEN,
    GO_ON,
    ITEMS,
    NO_WINNER,
    OUT_AFTER,
    RATIO,
    ROUND_PAIR_LEVEL,
    ROUND_QUESTION,
    ROUNDING,
    UNDECIDED,
    declared,
    lead,
    leading,
    pair_evidence,
    rounds_taken,
    rule_out,
    take_pair,
    take_round,
)
from .questions import ASKED, BEATEN, has_won, is_answered
from .round_claims import HEADS, ROUND_LABELS, judge


@kernel("f8(const(f8[::1]), const(f8[::1]), const(f8[::1]), i8, i8)")
def near_difference(params: Array, low: Array, high: Array, b: int, i: int) -> float:
    """D of one round if b counts as better within a factor; values of one sign, larger ones being better."""
    x = high[i]
    limit = x * params[RATIO] if x < 0.0 else x / params[RATIO]
    if abs(limit) < math.inf and abs(low[b] - limit) <= params[ROUNDING] * abs(limit):
        return 0.0
    return 1.0 if low[b] > limit else -1.0 if low[b] < limit else 0.0


@kernel("void(const(f8[::1]), const(f8[::1]), const(f8[::1]), f8[:, ::1], const(f8[:, ::1]))", apart=True)
def take_near(params: Array, low: Array, high: Array, near: Array, arms: Array) -> None:
    """Count the next round in, before `take_round` does."""
    K, left = arms.shape[1], params[ITEMS] - rounds_taken(arms)
    for b in range(K):
        for i in range(K):
            if b != i and arms[OUT_AFTER, b] <= 0.0 and arms[OUT_AFTER, i] <= 0.0:
                take_pair(params, near, b * K + i, near_difference(params, low, high, b, i), left)


@kernel("i8(const(f8[:, ::1]), const(f8[:, ::1]), const(f8[:, ::1]))")
def foremost(pairs: Array, arms: Array, told: Array) -> int:
    """The unbeaten arm whose worst lead over those that it has not beaten is largest; NO_ARM for none."""
    K, best, found, proven = arms.shape[1], -math.inf, NO_ARM, told[HEADS:]
    for b in range(K):
        if proven[b, b] > 0.0:
            continue
        worst = math.inf
        for i in range(K):
            if i != b and proven[b, i] == 0.0:
                worst = min(worst, lead(pairs, arms, b, i))
        if worst > best:
            best, found = worst, b
    return found


@kernel("i8(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), const(f8[:, ::1]))")
def direct_verdict(params: Array, pairs: Array, arms: Array, told: Array) -> int:
    """The arm that has beaten all others, or NO_WINNER; when the items are used up, what their sums say."""
    K, items, labels, proven = arms.shape[1], params[ITEMS], told[ROUND_LABELS], told[HEADS:]
    if is_answered(params[ROUND_QUESTION : ROUND_QUESTION + ASKED], proven, labels):
        for b in range(K):
            if has_won(proven, b):
                return b
        return NO_WINNER
    if rounds_taken(arms) < items:
        return GO_ON
    hopeful = False
    for b in range(K):
        if labels[b] == BEATEN:
            continue
        ahead, behind = True, False
        for i in range(K):
            if i != b and proven[b, i] == 0.0:
                ahead = ahead and lead(pairs, arms, b, i) >= -EVEN * items
                behind = behind or lead(pairs, arms, i, b) > EVEN * items
        if ahead:
            return b
        hopeful = hopeful or not behind  # values that are missing leave it open
    return UNDECIDED if hopeful else NO_WINNER


@kernel("i8(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), const(f8[:, ::1]))")
def near_verdict(params: Array, pairs: Array, near: Array, arms: Array) -> int:
    """The arm that is left, or is near every arm in the race; GO_ON or UNDECIDED for none."""
    b, left = leading(pairs, arms), 0
    for i in range(arms.shape[1]):
        left += arms[OUT_AFTER, i] <= 0.0
    if left == 1:
        return b
    used_up = rounds_taken(arms) >= params[ITEMS]
    for i in range(arms.shape[1]):
        if i == b or arms[OUT_AFTER, i] > 0.0:
            continue
        if used_up:
            if lead(near, arms, b, i) < -EVEN * params[ITEMS]:
                return UNDECIDED
        elif pair_evidence(params, near, arms, b, i, 0.0) <= params[ROUND_PAIR_LEVEL]:
            return GO_ON
    return b


@kernel("i8(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), const(f8[:, ::1]), const(f8[:, ::1]))")
def verdict(params: Array, pairs: Array, near: Array, arms: Array, told: Array) -> int:
    """The arm that is found to be the best, or near it; NO_WINNER, GO_ON or UNDECIDED."""
    if params[ROUND_QUESTION] != 0.0:
        return direct_verdict(params, pairs, arms, told)
    if params[RATIO] != 0.0:
        return near_verdict(params, pairs, near, arms)
    return declared(params, pairs, arms)


@kernel(
    "i8(const(f8[::1]), const(f8[::1]), const(f8[::1]), f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])",
    apart=True,
)
def play(params: Array, low: Array, high: Array, pairs: Array, near: Array, arms: Array, told: Array) -> int:
    """Count a round in, rule out or prove who beats whom, and give the `verdict`."""
    if params[RATIO] != 0.0:
        take_near(params, low, high, near, arms)
    take_round(params, low, high, pairs, arms)
    if params[ROUND_QUESTION] != 0.0:
        judge(params, pairs, arms, told)
    else:
        rule_out(params, pairs, arms)
    return verdict(params, pairs, near, arms, told)
