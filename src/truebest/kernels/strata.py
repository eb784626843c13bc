"""A closed set of items on which the scores of some arms are known: what a bet on another arm pays.

Where the scores V of one arm of a pair are known, only those of the other one, W, are open: W = X_b if it is
to be shown better than i, and W = 1 - X_i if b is to be shown better than it, so that D = W - V with V = X_i
or V = 1 - X_b. A bet of size λ multiplies by λ(W + c), and c may depend on the item: it is small where much
is expected of W, so that what is expected costs and pays little. Items that are alike for all that is known
beforehand form a *stratum*. With n items left, c must sum over them to n/λ - ΣV at most; the proof is in
docs/proofs.md.

Of a stratum, a W is expected that is the average of what was seen there and of a guess, which counts as much
as GUESSED items. What is expected decides how soon there is an answer, never whether it is right.

    params   behind its own: how many strata there are; of each, how many items, and the mean that is guessed
             for the value of an arm; of each arm its sum over all items, nan where that is not known
    arms     from row SEEN on, of each arm: the sums of the least and of the most that its values can be; then
             for each stratum how many rows were counted, and the same two sums
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array

GUESSED = 15.0  # items
LEAST = 0.01  # of the average: what c is at least, so that no value ends a bet

SUM_LOW, SUM_HIGH, STRATA = range(3)  # rows from SEEN on; then, per stratum, how many, and both sums


def seen_rows(strata: int) -> int:
    """How many rows of `arms` there are from SEEN on."""
    return STRATA + 3 * strata


@kernel("b1(const(f8[::1]), i8, i8)")
def is_known(params: Array, own: int, a: int) -> bool:
    """Whether the scores of an arm are known; `own` is how many parameters there are before these."""
    return bool(params.size > own and not math.isnan(params[own + 1 + 2 * int(params[own]) + a]))


@kernel("f8(const(f8[::1]), i8, i8)")
def total(params: Array, own: int, a: int) -> float:
    """The sum of a known arm's scores."""
    return float(params[own + 1 + 2 * int(params[own]) + a])


@kernel("f8(const(f8[::1]), i8, const(f8[:, ::1]), i8, i8, i8, b1)")
def awaited(params: Array, own: int, arms: Array, seen: int, a: int, s: int, up: bool) -> float:
    """The W that is expected of an arm on an item of a stratum."""
    strata = int(params[own])
    rows = arms[seen + STRATA + s, a]
    values = arms[seen + STRATA + (1 if up else 2) * strata + s, a]
    mean = (GUESSED * params[own + 1 + strata + s] + values) / (GUESSED + rows)
    return float(mean if up else 1.0 - mean)


@kernel("f8(const(f8[::1]), i8, const(f8[:, ::1]), i8, i8, b1, i8, f8, f8)", apart=True)
def payoff(
    params: Array,
    own: int,
    arms: Array,
    seen: int,
    a: int,
    up: bool,
    stratum: int,
    budget: float,
    left: float,
) -> float:
    """The c of an item: max(LEAST of the average, α - what is expected), with the α that spends the budget.

    a, up   the arm of the pair that is not known, and whether it is to be shown better
    budget  the sum of c over the items that are left

    Numerics: the sum is convex in α and rises, so Newton's method comes down to the root, and is there after
    as many steps as there are strata, at most.
    """
    strata, least = int(params[own]), LEAST * budget / left
    alpha = 0.0
    for s in range(strata):
        n = params[own + 1 + s] - arms[seen + STRATA + s, a]
        if n > 0.0:
            alpha += n * awaited(params, own, arms, seen, a, s, up)
    alpha = (alpha + budget) / left
    for _ in range(strata):
        spent, slope = 0.0, 0.0
        for s in range(strata):
            n = params[own + 1 + s] - arms[seen + STRATA + s, a]
            if n > 0.0:
                c = alpha - awaited(params, own, arms, seen, a, s, up)
                spent += n * max(c, least)
                slope += n if c > least else 0.0
        if spent <= budget * (1.0 + 1e-13) or slope == 0.0:
            break
        alpha += (budget - spent) / slope
    return float(max(least, alpha - awaited(params, own, arms, seen, a, stratum, up)))


@kernel("void(const(f8[::1]), i8, const(f8[::1]), const(f8[::1]), f8[:, ::1], i8, i8)")
def note(params: Array, own: int, low: Array, high: Array, arms: Array, seen: int, a: int) -> None:
    """Keep the value of an arm on an item, whose stratum is behind the values of all arms in `low`."""
    strata, s = int(params[own]), int(low[arms.shape[1]])
    arms[seen + SUM_LOW, a] += low[a]
    arms[seen + SUM_HIGH, a] += high[a]
    arms[seen + STRATA + s, a] += 1.0
    arms[seen + STRATA + strata + s, a] += low[a]
    arms[seen + STRATA + 2 * strata + s, a] += high[a]
