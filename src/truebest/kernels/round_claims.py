"""Rounds: claims are proven pair by pair, for any question but the best arm in the design's own way.

`claims` is the same for independent pulls. An arm rests while no claim about it would help, and is out for
good when none will. After a rest it catches up: arms take rows one by one, those that are behind first, and a
pair counts the rows that both of its arms have, which are always the first ones. Arms whose scores are known
take every row with the first that does, and before it: a bet beside them depends on the rows of the other.

    told  (HEADS + K, K): of each arm the sum of its values and their mean, by which arms are ordered, its
          label, after how many rows it rests, 0 if it does not; and the claims that are proven
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array
from .paired import (
    EVEN,
    ITEMS,
    OUT,
    PAIR_LEVEL,
    PARAMS,
    QUESTION,
    ROUNDS,
    SEEN,
    WINS,
    lead,
    pair_evidence,
    rounds_taken,
    take_both,
    take_row,
)
from .questions import ASKED, is_settled, label, margin
from .strata import is_known, note

SUM, STANDING, LABELS, RESTS, HEADS = range(5)


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), i8, i8, f8)")
def is_shown(params: Array, pairs: Array, arms: Array, b: int, i: int, d: float) -> bool:
    """Whether the evidence for claim (b, i) exceeds the level, or the sums say it of a set that is used up.

    Without a limit to the items, there is none where b is not ahead by d on average. Where a set is used up
    and b is ahead by exactly d, but for rounding, the claim holds if d has a minus: the weak one of two.
    """
    n, items, ahead = min(arms[ROUNDS, b], arms[ROUNDS, i]), params[ITEMS], lead(pairs, arms, b, i)
    if items == math.inf and ahead <= d * n:
        return False
    if n >= items and params[WINS] == 0.0:
        return bool(ahead - d * items >= (-EVEN if math.copysign(1.0, d) < 0.0 else EVEN) * items)
    return bool(pair_evidence(params, pairs, arms, b, i, d) > params[PAIR_LEVEL])


@kernel("void(const(f8[::1]), const(f8[:, ::1]), f8[:, ::1], f8[:, ::1])", apart=True)
def judge(params: Array, pairs: Array, arms: Array, told: Array) -> None:
    """After a row: prove what can be proven, let arms rest, and leave out those that are done with."""
    K, n, ask = arms.shape[1], rounds_taken(arms), params[QUESTION : QUESTION + ASKED]
    labels, proven = told[LABELS], told[HEADS:]
    label(ask, told[STANDING], proven, labels)
    for b in range(K):
        for i in range(K):
            d = margin(ask, proven, labels, b, i)
            if math.isnan(d) or arms[OUT, b] > 0.0 or arms[OUT, i] > 0.0:
                continue
            if is_shown(params, pairs, arms, b, i, d):
                proven[b, i] = min(arms[ROUNDS, b], arms[ROUNDS, i])
                if d >= 0.0 and proven[i, i] == 0.0:
                    proven[i, i] = proven[b, i]
    label(ask, told[STANDING], proven, labels)
    for a in range(K):
        if arms[OUT, a] <= 0.0 and is_settled(ask, proven, labels, a):
            arms[OUT, a] = n
    for a in range(K):
        told[RESTS, a] = n
        for o in range(K):
            if arms[OUT, a] <= 0.0 and arms[OUT, o] <= 0.0:
                here, there = margin(ask, proven, labels, a, o), margin(ask, proven, labels, o, a)
                if not (math.isnan(here) and math.isnan(there)):
                    told[RESTS, a] = 0.0


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), const(f8[:, ::1]))", apart=True)
def progress(params: Array, pairs: Array, arms: Array, told: Array) -> float:
    """The least evidence that is asked for now, of two opposite claims the larger one; inf if none is."""
    K, least, ask = arms.shape[1], math.inf, params[QUESTION : QUESTION + ASKED]
    for b in range(K):
        for i in range(b + 1, K):
            if arms[OUT, b] <= 0.0 and arms[OUT, i] <= 0.0:
                here = margin(ask, told[HEADS:], told[LABELS], b, i)
                there = margin(ask, told[HEADS:], told[LABELS], i, b)
                found = -math.inf
                if not math.isnan(here):
                    found = max(found, pair_evidence(params, pairs, arms, b, i, here))
                if not math.isnan(there):
                    found = max(found, pair_evidence(params, pairs, arms, i, b, there))
                if found > -math.inf:
                    least = min(least, found)
    return least


@kernel("i8(const(f8[:, ::1]), const(f8[:, ::1]))")
def next_row(arms: Array, told: Array) -> int:
    """How many rows those have that are behind of the arms that neither rest nor are out; -1 if none is."""
    fewest = -1
    for a in range(arms.shape[1]):
        if arms[OUT, a] <= 0.0 and told[RESTS, a] == 0.0 and (fewest < 0 or arms[ROUNDS, a] < fewest):
            fewest = int(arms[ROUNDS, a])
    return fewest


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), i8, i8)")
def takes(params: Array, arms: Array, told: Array, row: int, a: int) -> bool:
    """Whether an arm takes the next row."""
    waits = told[RESTS, a] != 0.0 and not is_known(params, PARAMS, a)
    return bool(arms[OUT, a] <= 0.0 and not waits and arms[ROUNDS, a] == row)


@kernel("void(const(f8[::1]), const(f8[::1]), const(f8[::1]), f8[:, ::1], f8[:, ::1], f8[:, ::1], i8)")
def take_cell(params: Array, low: Array, high: Array, pairs: Array, arms: Array, told: Array, a: int) -> None:
    """Count the next row of one arm in: every pair counts the rows that both of its arms have.

    low, high  the row, of which the values of arms count that have taken it before, and of this one
    """
    K, row = arms.shape[1], arms[ROUNDS, a]
    left = params[ITEMS] - row
    for b in range(K):
        if b != a and arms[OUT, b] <= 0.0 and arms[ROUNDS, b] > row:
            take_both(params, low, high, pairs, arms, a, b, left)
            take_both(params, low, high, pairs, arms, b, a, left)
    take_row(params, arms, a, left)
    if params.size > PARAMS:
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
