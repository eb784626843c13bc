"""Rounds: claims are proven pair by pair, for any question but the best arm in the design's own way.

`claims` is the same for independent pulls. An arm rests while no claim about it would help, and is out for
good when none will. After a rest it catches up: arms take rows one by one, those that are behind first, and a
pair counts the rows that both of its arms have, which are always the first ones. Arms whose scores are known
take every row with the first that does, and before it: a bet beside them depends on the rows of the other.

    told  (HEADS + K + ABOUT_ONE, K): of each arm the sum of its values and their mean, by which arms are
          ordered, its label, after how many rows it rests, 0 if it does not; and the claims that are proven

Where a list is asked for, a claim must exceed the bar of it, see `claims`. All arms that are asked about have
the same rows then, complete ones.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel
from ._types import Array
from .layout import ABOUT_ONE
from .number import evidence_of_rounds, is_on_side, take_value
from .paired import (
    EVEN,
    EXACT,
    ITEMS,
    OUT_AFTER,
    PARAMS,
    ROUND_PAIR_LEVEL,
    ROUND_QUESTION,
    ROUNDS,
    SEEN,
    WINS,
    difference,
    has_scores,
    is_half_known,
    lead,
    pair_evidence,
    rounds_taken,
    take_beside,
    take_pair,
    take_row,
)
from .questions import (
    ASKED,
    CODE,
    LISTED,
    THRESHOLD,
    baseline,
    is_asked,
    is_settled,
    is_weak,
    label,
    margin,
    note_proof,
    rivals,
    verdict_times,
)
from .strata import is_known, note

SUM, STANDING, ROUND_LABELS, RESTS, HEADS = range(5)


def room(num_arms: int) -> Array:
    """Nothing told."""
    return np.zeros((HEADS + num_arms + ABOUT_ONE, num_arms))


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), i8, i8, f8, f8)")
def is_shown(params: Array, pairs: Array, arms: Array, b: int, i: int, d: float, level: float) -> bool:
    """Whether the evidence for claim (b, i) exceeds a level, or the sums say it of a set that is used up.

    Without a limit to the items, there is none where b is not ahead by d on average. Where a set is used up
    and b is ahead by exactly d, but for rounding, the weak claim of two holds.
    """
    if b == arms.shape[1] or i == arms.shape[1]:
        return bool(is_on_side(params, arms, min(b, i), d, b < i, level))
    n, items, ahead = min(arms[ROUNDS, b], arms[ROUNDS, i]), params[ITEMS], lead(pairs, arms, b, i)
    if items == math.inf and ahead <= d * n:
        return False
    if n >= items and params[WINS] == 0.0:
        return params[EXACT] == 0.0 and bool(ahead - d * items >= (-EVEN if is_weak(d) else EVEN) * items)
    return bool(pair_evidence(params, pairs, arms, b, i, d) > level)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), const(f8[:, ::1]), b1)", apart=True)
def bar(params: Array, pairs: Array, arms: Array, told: Array, passing: bool) -> float:
    """The bar of the list of arms that pass, or of those that fail."""
    ask, level, missing = params[ROUND_QUESTION : ROUND_QUESTION + ASKED], params[ROUND_PAIR_LEVEL], 0.0
    base, labels, proven = baseline(ask), told[ROUND_LABELS], told[HEADS:]
    for a in range(arms.shape[1]):
        passed, failed = verdict_times(ask, proven, a)
        if a == base or (passed if passing else failed) > 0.0:
            continue
        b, i = (a, base) if passing else (base, a)
        d = margin(ask, proven, labels, b, i)
        found = pair_evidence(params, pairs, arms, b, i, d) if is_asked(d) else -math.inf
        missing += 1.0 - math.exp(min(found - level, 0.0))
    return float(level + math.log1p(missing))


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), f8[:, ::1])")
def prove(params: Array, pairs: Array, arms: Array, told: Array) -> bool:
    """Prove what can be proven, and would help; whether there was anything."""
    K, ask, some = arms.shape[1], params[ROUND_QUESTION : ROUND_QUESTION + ASKED], False
    labels, proven, base, (_, end) = told[ROUND_LABELS], told[HEADS:], baseline(ask), rivals(ask, K)
    for b in range(end):
        for i in range(end):
            d = margin(ask, proven, labels, b, i)
            gone = (b < K and arms[OUT_AFTER, b] > 0.0) or (i < K and arms[OUT_AFTER, i] > 0.0)
            if gone or not is_asked(d):
                continue
            shown = is_shown(params, pairs, arms, b, i, d, params[ROUND_PAIR_LEVEL])
            if shown and ask[CODE] == LISTED:
                shown = is_shown(params, pairs, arms, b, i, d, bar(params, pairs, arms, told, i == base))
            if shown:
                rows = arms[ROUNDS, min(b, i)]
                note_proof(proven, b, i, d, rows if max(b, i) == K else min(rows, arms[ROUNDS, max(b, i)]))
                some = True
    return some


@kernel("void(const(f8[::1]), const(f8[:, ::1]), f8[:, ::1], f8[:, ::1])", apart=True)
def judge(params: Array, pairs: Array, arms: Array, told: Array) -> None:
    """After a row: prove what can be proven, let arms rest, and leave out those that are done with."""
    K, n, ask = arms.shape[1], rounds_taken(arms), params[ROUND_QUESTION : ROUND_QUESTION + ASKED]
    labels, proven, (low, high) = told[ROUND_LABELS], told[HEADS:], rivals(ask, K)
    label(ask, told[STANDING], proven, labels)
    again = True
    while again:
        again = prove(params, pairs, arms, told) and ask[CODE] == LISTED  # the bar is lower now
        label(ask, told[STANDING], proven, labels)
    for a in range(K):
        if arms[OUT_AFTER, a] <= 0.0 and is_settled(ask, proven, labels, a):
            arms[OUT_AFTER, a] = n
    for a in range(K):
        told[RESTS, a] = n
        for o in range(low, high):
            if arms[OUT_AFTER, a] <= 0.0 and (o == K or arms[OUT_AFTER, o] <= 0.0):
                here, there = margin(ask, proven, labels, a, o), margin(ask, proven, labels, o, a)
                if is_asked(here) or is_asked(there):
                    told[RESTS, a] = 0.0


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), i8, i8, f8)")
def evidence_for(params: Array, pairs: Array, arms: Array, b: int, i: int, d: float) -> float:
    """The evidence for claim (b, i)."""
    if b == arms.shape[1] or i == arms.shape[1]:
        return float(evidence_of_rounds(params, arms, min(b, i), d, b < i))
    return float(pair_evidence(params, pairs, arms, b, i, d))


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), const(f8[:, ::1]))", apart=True)
def progress(params: Array, pairs: Array, arms: Array, told: Array) -> float:
    """The least evidence that is asked for now, of two opposite claims the larger one; inf if nothing is.

    Where it must exceed a bar, what that is above the level is subtracted.
    """
    K, ask, least = arms.shape[1], params[ROUND_QUESTION : ROUND_QUESTION + ASKED], math.inf
    labels, proven, (low, high) = told[ROUND_LABELS], told[HEADS:], rivals(ask, K)
    to_pass = to_fail = 0.0
    if ask[CODE] == LISTED:
        to_pass = bar(params, pairs, arms, told, True) - params[ROUND_PAIR_LEVEL]
        to_fail = bar(params, pairs, arms, told, False) - params[ROUND_PAIR_LEVEL]
    for b in range(K):
        for i in range(max(low, b + 1), high):
            found = -math.inf
            here, there = (to_pass, to_fail) if i == baseline(ask) else (to_fail, to_pass)
            d = margin(ask, proven, labels, b, i)
            if is_asked(d) and arms[OUT_AFTER, b] <= 0.0:
                found = evidence_for(params, pairs, arms, b, i, d) - here
            d = margin(ask, proven, labels, i, b)
            if is_asked(d) and arms[OUT_AFTER, b] <= 0.0:
                found = max(found, evidence_for(params, pairs, arms, i, b, d) - there)
            if found > -math.inf and (i == K or arms[OUT_AFTER, i] <= 0.0):
                least = min(least, found)
    return least


@kernel("i8(const(f8[:, ::1]), const(f8[:, ::1]))")
def next_row(arms: Array, told: Array) -> int:
    """How many rows those have that are behind of the arms that neither rest nor are out; -1 if none is."""
    fewest = -1
    for a in range(arms.shape[1]):
        if arms[OUT_AFTER, a] <= 0.0 and told[RESTS, a] == 0.0 and (fewest < 0 or arms[ROUNDS, a] < fewest):
            fewest = int(arms[ROUNDS, a])
    return fewest


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), i8, i8)")
def takes(params: Array, arms: Array, told: Array, row: int, a: int) -> bool:
    """Whether an arm takes the next row."""
    waits = told[RESTS, a] != 0.0 and not is_known(params, PARAMS, a)
    return bool(arms[OUT_AFTER, a] <= 0.0 and not waits and arms[ROUNDS, a] == row)


@kernel("void(const(f8[::1]), const(f8[::1]), const(f8[::1]), f8[:, ::1], f8[:, ::1], f8[:, ::1], i8)")
def take_cell(params: Array, low: Array, high: Array, pairs: Array, arms: Array, told: Array, a: int) -> None:
    """Count the next row of one arm in: every pair counts the rows that both of its arms have.

    low, high  the row, of which the values of arms count that have taken it before, and of this one
    """
    K, row = arms.shape[1], arms[ROUNDS, a]
    left, alone = params[ITEMS] - row, params[ROUND_QUESTION] == THRESHOLD
    if alone and not is_known(params, PARAMS, a):
        take_value(params, low, high, arms, a, left)
    for b in range(0 if alone else K):
        if b != a and arms[OUT_AFTER, b] <= 0.0 and arms[ROUNDS, b] > row:
            if has_scores(params) and is_half_known(params, a, b):
                take_beside(params, low, high, pairs, arms, a, b, left)
                take_beside(params, low, high, pairs, arms, b, a, left)
            else:
                take_pair(params, pairs, a * K + b, difference(params, low, high, a, b), left)
                take_pair(params, pairs, b * K + a, difference(params, low, high, b, a), left)
    take_row(params, arms, a, left)
    if has_scores(params):
        note(params, PARAMS, low, high, arms, SEEN, a)
    told[SUM, a] += 0.5 * (low[a] + high[a])
    told[STANDING, a] = told[SUM, a] / arms[ROUNDS, a]


@kernel("void(const(f8[::1]), const(f8[::1]), const(f8[::1]), f8[:, ::1], f8[:, ::1], f8[:, ::1], i8)")
def take_cells(
    params: Array, low: Array, high: Array, pairs: Array, arms: Array, told: Array, row: int
) -> None:
    """Let the arms take a row that take it next."""
    for known in (True, False):
        for a in range(arms.shape[1]):
            if is_known(params, PARAMS, a) == known and takes(params, arms, told, row, a):
                take_cell(params, low, high, pairs, arms, told, a)
