"""What is asked: which claims would help, which arms are done with, what is answered. No evidence.

A claim (b, i) says that the mean of arm b exceeds that of arm i by more than d, or that b wins against i. It
is *weak*, and holds at equality, too, where d has a minus; -0.0 is not 0.0 here, see `is_weak`. In the place
of an arm, K stands for a number: (b, K) says that the mean of b exceeds d, (K, i) that that of i is below it.
Each question is a code with a branch in every kernel here; independent pulls (`claims`) and rounds
(`round_claims`) prove claims, each in its own way, and share this file.

    ask      CODE, the question; NUMBER and MARGIN, of which a question makes what it likes
    standing (K,) by what arms are ordered as they look now; larger is better
    proven   (K + 2, K), in row b: after how many samples or rounds claim (b, i) was proven, 0 before that; at
             (i, i), after how many arm i was first found to be worse than another one; then of every arm
             when it was found to be above the number, and below it
    labels   (K,) what would be answered now, see `label`

Questions from GATE on are answered by a verdict for every arm, which passes or fails.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array
from .layout import NO_ARM
from .tracking import TIE

# NOTHING where the best arm is found in the rule's own way, see `best`; LISTED is GATE where those that pass
# make a list, and THRESHOLD compares every arm with a number, below which arms pass where NUMBER is 1.
NOTHING, BEST, WINNER, GATE, LISTED, THRESHOLD = range(6)
CODE, NUMBER, MARGIN, ASKED = range(4)
FIRST, OTHER, BEATEN = 0.0, 1.0, 2.0  # labels of the arm that looks best, and of all others
WEAK_0, NO_CLAIM = -0.0, math.nan  # in the place of a margin
PASSED, OPEN, FAILED = 0.0, 1.0, 2.0  # labels of a verdict; a baseline's is that of the arms that are open


@kernel("UniTuple(i8, 2)(const(f8[::1]), i8)")
def rivals(ask: Array, num_arms: int) -> tuple[int, int]:
    """With what arms are compared, from and up to: with each other, or with a number."""
    return (num_arms, num_arms + 1) if ask[CODE] == THRESHOLD else (0, num_arms)


@kernel("i8(const(f8[::1]))")
def baseline(ask: Array) -> int:
    """The arm that others are compared with; NO_ARM for none."""
    return int(ask[NUMBER]) if ask[CODE] == GATE or ask[CODE] == LISTED else NO_ARM


@kernel("UniTuple(i8, 2)(i8, i8, i8)")
def place(num_arms: int, b: int, i: int) -> tuple[int, int]:
    """Where a claim is in `proven`."""
    if i == num_arms:
        return num_arms, b
    return (num_arms + 1, i) if b == num_arms else (b, i)


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]), i8)")
def verdict_times(ask: Array, proven: Array, a: int) -> tuple[float, float]:
    """After how many samples or rounds it was proven that an arm passes, and that it fails."""
    K, base = proven.shape[1], baseline(ask)
    if base < 0:
        above, below = proven[K, a], proven[K + 1, a]
        return (below, above) if ask[NUMBER] != 0.0 else (above, below)
    return proven[a, base], proven[base, a]


@kernel("void(const(f8[::1]), const(f8[:, ::1]), f8[::1])")
def label_verdicts(ask: Array, proven: Array, labels: Array) -> None:
    """`label` for questions from GATE on."""
    base, still = baseline(ask), False
    for a in range(labels.size):
        labels[a] = OPEN
        if a != base:
            passed, failed = verdict_times(ask, proven, a)
            if passed + failed > 0.0:
                labels[a] = FAILED if failed > 0.0 and (passed == 0.0 or failed < passed) else PASSED
            still = still or labels[a] == OPEN
    if base >= 0:
        labels[base] = OPEN if still else PASSED


@kernel("void(const(f8[::1]), const(f8[::1]), const(f8[:, ::1]), f8[::1])")
def label(ask: Array, standing: Array, proven: Array, labels: Array) -> None:
    """What would be answered now: what is proven comes first, then how arms stand, then the index.

    BEST, WINNER  BEATEN for an arm that another one is proven to be better than; of the rest FIRST for the
                  one that stands highest, and OTHER. If claims go round in a circle, which has a probability
                  of delta at most, all are BEATEN
    GATE, ...     PASSED or FAILED, what was proven first, or OPEN; the baseline is OPEN if some arm is
    """
    if ask[CODE] >= GATE:
        label_verdicts(ask, proven, labels)
        return
    top = -math.inf
    for a in range(labels.size):
        labels[a] = OTHER if proven[a, a] == 0.0 else BEATEN
        if labels[a] == OTHER:
            top = max(top, standing[a])
    for a in range(labels.size):
        if labels[a] == OTHER and standing[a] >= top - TIE:
            labels[a] = FIRST
            return


@kernel("b1(f8)")
def is_asked(d: float) -> bool:
    """Whether to prove a claim with that margin would help."""
    return not math.isnan(d)


@kernel("b1(f8)")
def is_weak(d: float) -> bool:
    """Whether a claim with that margin holds at equality, too: a d that has passed a sum may not be -0.0."""
    return math.copysign(1.0, d) < 0.0


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), const(f8[::1]), i8, i8)")
def margin(ask: Array, proven: Array, labels: Array, b: int, i: int) -> float:
    """The d of claim (b, i) if to prove it would help now, else NO_CLAIM; see `is_asked` and `is_weak`.

    BEST       the arm in front against every other one that is unbeaten
    WINNER     every pair: also of two arms that are beaten, as long as someone unbeaten needs one of them
    GATE       an open arm against the baseline, and the other way round. Of two arms that differ by exactly
               the margin one of both claims holds, the weak one
    THRESHOLD  an open arm against the number, and the other way round
    """
    K = labels.size
    if ask[CODE] == THRESHOLD:
        if (b == K) == (i == K) or labels[b if i == K else i] != OPEN:
            return NO_CLAIM
        return float(ask[MARGIN])
    if b == i or proven[b, i] > 0.0:
        return NO_CLAIM
    if ask[CODE] == WINNER:
        return 0.0
    if ask[CODE] >= GATE:
        base = baseline(ask)
        if (b != base and i != base) or labels[b] != OPEN or labels[i] != OPEN:
            return NO_CLAIM
        allowed = float(ask[MARGIN])
        if i == base:
            return -allowed if allowed != 0.0 else 0.0
        return allowed if allowed != 0.0 else WEAK_0
    return 0.0 if labels[b] == FIRST and labels[i] == OTHER else NO_CLAIM


@kernel("void(f8[:, ::1], i8, i8, f8, f8)")
def note_proof(proven: Array, b: int, i: int, d: float, now: float) -> None:
    """Write down that a claim is proven."""
    K = proven.shape[1]
    row, column = place(K, b, i)
    proven[row, column] = now
    if d >= 0.0 and row < K and proven[i, i] == 0.0:
        proven[i, i] = now


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), const(f8[::1]), i8)")
def is_settled(ask: Array, proven: Array, labels: Array, a: int) -> bool:
    """Whether an arm needs no more samples, whatever they would be: it leaves for good.

    BEST       when it is beaten
    WINNER     when, besides, every unbeaten arm has beaten it
    GATE, ...  when it has passed or failed; the baseline, when all have
    """
    if ask[CODE] >= GATE:
        return bool(labels[a] != OPEN)
    if labels[a] != BEATEN:
        return False
    if ask[CODE] == WINNER:
        for b in range(labels.size):
            if b != a and labels[b] != BEATEN and proven[b, a] == 0.0:
                return False
    return True


@kernel("b1(const(f8[:, ::1]), i8)")
def has_won(proven: Array, b: int) -> bool:
    """Whether an arm is proven to be better than every other one."""
    wins, K = 0, proven.shape[1]
    for i in range(K):
        if i != b and proven[b, i] > 0.0:
            wins += 1
    return bool(wins == K - 1)


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), const(f8[::1]))")
def is_answered(ask: Array, proven: Array, labels: Array) -> bool:
    """Whether the labels are final.

    BEST       when one arm is left
    WINNER     when an unbeaten arm has beaten every other one, or all are beaten
    GATE, ...  when no arm is open
    """
    if ask[CODE] >= GATE:
        still = 0
        for a in range(labels.size):
            still += labels[a] == OPEN
        return still == 0
    unbeaten = 0
    for b in range(labels.size):
        if labels[b] != BEATEN:
            unbeaten += 1
            if ask[CODE] == WINNER and has_won(proven, b):
                return True
    return unbeaten == 0 or (unbeaten == 1 and ask[CODE] == BEST)


@kernel("b1(const(f8[::1]), const(f8[::1]), const(f8[::1]))", apart=True)
def is_right(ask: Array, truth: Array, labels: Array) -> bool:
    """Whether an answer is right where the arms have these means, or so far; for simulations.

    BEST       one of the largest means; it is wrong that all are beaten
    GATE, ...  every verdict; with a margin above 0 it is right at equality that an arm passes, else that it
               fails; of a LISTED one, those that pass: only these are promised not to be wrong
    THRESHOLD  every verdict; at equality it is right that an arm passes
    """
    if ask[CODE] >= GATE:
        base, right = baseline(ask), True
        for a in range(labels.size):
            if base >= 0:
                ahead = truth[a] - truth[base] + ask[MARGIN]
            else:
                ahead = ask[MARGIN] - truth[a] if ask[NUMBER] != 0.0 else truth[a] - ask[MARGIN]
            passes = ahead > -TIE if base < 0 or ask[MARGIN] > 0.0 else ahead > TIE
            fits = labels[a] == (PASSED if passes else FAILED) or labels[a] == OPEN
            if ask[CODE] == LISTED:
                fits = passes or labels[a] != PASSED
            right = right and (a == base or fits)
        return right
    most, found = -math.inf, -math.inf
    for a in range(labels.size):
        most = max(most, truth[a])
        if labels[a] == FIRST:
            found = truth[a]
    return found == most
