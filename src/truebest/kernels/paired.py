"""Rounds in which the arms share an item: the evidence that an arm is not the best, from differences.

In every round the arms in the race are evaluated on one item. D = X_b - X_i lies in [-1, 1]: the difference
of two values that were mapped to [0, 1], larger being better, or its sign, where only wins count. A bet of
size λ on b against i multiplies by (1 + λD)/(1 + λd), a positive factor of mean 1 if d is the mean of D given
the rounds before, and of mean below 1 if that is smaller. With T_k the sum of log(1 + λ_k D) over n rounds,

    Λ_b,i(d) = log Σ_k p_k exp(T_k - n log(1 + λ_k x(d)))        the evidence against mean b - mean i <= d

With an unlimited source of items x(d) = d. If a set of M items is used up in random order, the mean of D
given the past is what remains of M d, spread over the items that are left; x(d) = (A d - B)/n is the average
of these, and by Jensen's inequality the evidence with the average is at most that with each. There bets grow
as M over the items that are left, as does what the best of them would be; those are left out that are too
small to decide before the items are used up. λ_k x(d) is then the average of λ_k,r d_r(d).

Arm i is tested for being the best: against every other arm, and against its *comparator*, in each round the
arm in the race that was ahead of it the most before that round. It is out for ever when the average of both,
with the weight ROUND_SHARE on the comparator, exceeds 1/δ; the last arm is declared. Proofs are in
docs/proofs.md.

    params   ROUND_LEVEL .. ROUND_QUESTION below
    pairs    (PAIR_ROWS, K K): column b K + i for b against i
    arms     (ARM_ROWS, K): how long an arm was in the race, and its comparator

Where bets grow, both have more rows, and where the scores of some arms are known, all have: see `strata` and
`Rounds.blank`.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel
from ._types import Array
from .exact import two_sum
from .questions import ASKED
from .rules.tilt import EPSILON, NODES, SCALES, multiply, summed
from .strata import SUM_HIGH, SUM_LOW, is_known, note, payoff, total

# Parameters: log(1/δ); the level of one pair; the comparator's weight; the tolerance as a part of the
# distance of the bounds; how many items there are, inf for unlimited ones. Then, where only wins count (see
# `wins`): 1; the factor within which values are near, 0 for none; and by what part of itself a value may miss
# the factor and count as equal to it, as 1.07 * 100 is above 107. Then how many bets grow, the largest ones,
# 0 where all stay as they are; and the logarithm of their weight in PRIOR; 1 where the sums of a set that is
# used up are compared elsewhere, in exact numbers. Last, what is asked, see `questions`; 0 for the best arm
# in the way that is described above.
ROUND_LEVEL, ROUND_PAIR_LEVEL, ROUND_SHARE, ROUND_TOLERANCE, ITEMS, WINS, RATIO, ROUNDING = range(8)
GROWING, KEPT, EXACT, ROUND_QUESTION = range(8, 12)
PARAMS = ROUND_QUESTION + ASKED

# The rows of bets: how often D was 1, and -1; the logarithms of products of all other factors that have
# become large, and NODES rows further these products (see `tilt.multiply`). Then, of a pair: the sum of D,
# and what rounding took from it; and B. Of an arm: its rounds in the race; A; after how many rounds it was
# ruled out, 0 before that; a bound of its evidence; the sum over rounds of the mean that its comparator's D
# had at most.
UPS, DOWNS, FACTORS, BET_ROWS = 0, 1, 2, 2 + 2 * NODES
LEAD, LEAD_LOST, SPENT, PAIR_ROWS = range(BET_ROWS, BET_ROWS + 4)
ROUNDS, SPAN, OUT_AFTER, HOPE, EXPECTED, ARM_ROWS = range(BET_ROWS, BET_ROWS + 6)
# Where bets grow, a product has the factors of every D. Then, for each bet, the sum over rounds of its size
# times the lead before the round over the items left, of a pair and of a comparator; and of an arm, behind
# that, the sum of its size times all items over the items left. They take the place of B, EXPECTED and A.
GROWN_PAIR_ROWS, SPANS, GROWN_ARM_ROWS = PAIR_ROWS + NODES, ARM_ROWS + NODES, ARM_ROWS + 2 * NODES
SEEN = GROWN_ARM_ROWS  # where some scores are known, the rows of `strata`

LAMBDA = np.tanh(0.5 * EPSILON)
FULL = 0.97  # no bet grows beyond it
LOG_WON = np.log1p(LAMBDA)
LOG_LOST = -np.log1p(0.5 * np.expm1(EPSILON))  # log(1 - λ), without its cancellation


def _prior() -> Array:
    """Weights of the bets: more on large ones than the tilt rule's, for on common items most D are 0."""
    scales = 8.0 * 0.25 ** np.arange(SCALES)
    q = EPSILON * np.exp(-(EPSILON**2) / (2.0 * scales[:, None] ** 2))
    w = np.array([2.0, 3.0, 4.0, 3.0, 2.0, 1.0, 0.5]) / 15.5
    return np.asarray(w @ (q / q.sum(axis=1, keepdims=True)), np.float64)


PRIOR = _prior()
LOG_PRIOR = np.log(PRIOR)

SLACK = 1e-9  # of all items: how far a lead must exceed what is left to be certain, rounding aside
EVEN = 1e-12  # of all items: sums that differ by less are equal
HALVINGS = 60  # of a search for the end of an interval
GO_ON, UNDECIDED = -1, -2  # what `declared` answers besides an arm; the latter when the items are used up
NO_WINNER = -3  # what `wins` may answer, too


@kernel("b1(const(f8[::1]))")
def has_scores(params: Array) -> bool:
    """Whether the scores of some arms are known: `params` has the strata behind its own places then."""
    return bool(params.size > PARAMS)


@kernel("f8(const(f8[::1]), const(f8[::1]), const(f8[::1]), i8, i8)")
def difference(params: Array, low: Array, high: Array, b: int, i: int) -> float:
    """D of one round; a value that is missing lies between `low` and `high`, all others are equal to both."""
    if params[WINS] != 0.0:
        return 1.0 if low[b] > high[i] else -1.0 if low[b] < high[i] else 0.0
    return float(low[b] - high[i])


@kernel("f8(const(f8[::1]), i8, f8)")
def grown(params: Array, k: int, left: float) -> float:
    """The size of a bet that grows in a round before which so many items are left."""
    return float(min(LAMBDA[k] * (params[ITEMS] / left), max(LAMBDA[k], FULL)))


@kernel("void(const(f8[::1]), f8[:, ::1], i8, f8, i8, f8, f8)")
def bet(params: Array, state: Array, column: int, d: float, spent: int, expected: float, left: float) -> None:
    """Multiply all bets of a column by 1 + λd; those that grow add to their rows from `spent` on, too."""
    if d == 1.0:
        state[UPS, column] += 1.0
    elif d == -1.0:
        state[DOWNS, column] += 1.0
    for k in range(int(params[GROWING])):
        size = grown(params, k, left)
        state[spent + k, column] += size * expected
        if d != 0.0:
            multiply(state, FACTORS + k, column, 1.0, 1.0 + size * d)
    if params[GROWING] == 0.0 and d != 0.0 and abs(d) != 1.0:
        for k in range(NODES):
            multiply(state, FACTORS + k, column, 1.0, 1.0 + LAMBDA[k] * d)


@kernel("f8(const(f8[:, ::1]), i8, f8, f8)", apart=True)
def log_average(state: Array, column: int, n: float, x: float) -> float:
    """The logarithm of the average over bets of Π (1 + λD), each divided by (1 + λx)^n."""
    ups, downs = state[UPS, column], state[DOWNS, column]
    has_factors = state[FACTORS, column] != 0.0 or state[FACTORS + NODES, column] != 0.0
    top, total = -math.inf, 0.0
    for k in range(NODES):
        exponent = LOG_PRIOR[k] + ups * LOG_WON[k] + downs * LOG_LOST[k]
        if has_factors:
            exponent += summed(state, FACTORS + k, column)
        if x != 0.0:
            exponent -= n * math.log1p(LAMBDA[k] * x)
        if exponent > top:
            total = total * math.exp(top - exponent) + 1.0
            top = exponent
        else:
            total += math.exp(exponent - top)
    return top + math.log(total)


@kernel("f8(const(f8[:, ::1]), const(f8[:, ::1]), i8, i8, i8, f8, i8)")
def grown_exponent(state: Array, arms: Array, column: int, spent: int, a: int, d: float, k: int) -> float:
    """The logarithm of what a bet that grows has come to, over the rounds of arm a."""
    n = arms[ROUNDS, a]
    x = max((d * arms[SPANS + k, a] - state[spent + k, column]) / n, -max(LAMBDA[k], FULL))
    return float(summed(state, FACTORS + k, column) - n * math.log1p(x))


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), i8, i8, i8, f8)", apart=True)
def grown_average(
    params: Array, state: Array, arms: Array, column: int, spent: int, a: int, d: float
) -> float:
    """As `log_average`, of bets that grow, over the rounds of arm a."""
    top, total = -math.inf, 0.0
    for k in range(int(params[GROWING])):
        exponent = LOG_PRIOR[k] + grown_exponent(state, arms, column, spent, a, d, k)
        if exponent > top:
            total = total * math.exp(top - exponent) + 1.0
            top = exponent
        else:
            total += math.exp(exponent - top)
    return float(top + math.log(total) - params[KEPT])


@kernel("f8(const(f8[:, ::1]), const(f8[:, ::1]), i8, i8)")
def lead(pairs: Array, arms: Array, b: int, i: int) -> float:
    """The sum of D over the rounds of a pair."""
    column = b * arms.shape[1] + i
    return float(pairs[LEAD, column] + pairs[LEAD_LOST, column])


@kernel("f8(const(f8[:, ::1]))")
def rounds_taken(arms: Array) -> float:
    """How many rounds there were."""
    n = 0.0
    for a in range(arms.shape[1]):
        n = max(n, arms[ROUNDS, a])
    return n


@kernel("i8(const(f8[:, ::1]), i8, i8)")
def first_out(arms: Array, b: int, i: int) -> int:
    """Of two arms, the one that was in the race for fewer rounds, which are those of the pair."""
    return b if arms[ROUNDS, b] <= arms[ROUNDS, i] else i


@kernel("b1(const(f8[::1]), i8, i8)")
def is_half_known(params: Array, b: int, i: int) -> bool:
    """Whether the scores of one of two arms are known, and those of the other one are not."""
    return is_known(params, PARAMS, b) != is_known(params, PARAMS, i)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8)")
def least_lead(params: Array, arms: Array, b: int, i: int) -> float:
    """The least lead of b over i in total, where the scores of one or of both are known."""
    if is_known(params, PARAMS, i):
        least = total(params, PARAMS, b) if is_known(params, PARAMS, b) else arms[SEEN + SUM_LOW, b]
        return float(least - total(params, PARAMS, i))
    return float(total(params, PARAMS, b) - arms[SEEN + SUM_HIGH, i] - (params[ITEMS] - arms[ROUNDS, i]))


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), i8, i8, f8)", apart=True)
def evidence_beside(params: Array, pairs: Array, arms: Array, b: int, i: int, d: float) -> float:
    """As `pair_evidence`, where some scores are known: of two known arms the difference is."""
    items, n, known = params[ITEMS], min(arms[ROUNDS, b], arms[ROUNDS, i]), is_known(params, PARAMS, b)
    known = known or is_known(params, PARAMS, i)
    least = least_lead(params, arms, b, i) if known else lead(pairs, arms, b, i) - (items - n)
    if items * d < least - SLACK * items:
        return math.inf
    if known and not is_half_known(params, b, i):
        return 0.0
    a = first_out(arms, b, i)
    return float(grown_average(params, pairs, arms, b * arms.shape[1] + i, PAIR_ROWS, a, d))


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), i8, i8, f8)")
def pair_evidence(params: Array, pairs: Array, arms: Array, b: int, i: int, d: float) -> float:
    """Λ_b,i(d); inf where mean b - mean i <= d is impossible. Frozen since one of the two was ruled out."""
    n, span = min(arms[ROUNDS, b], arms[ROUNDS, i]), min(arms[SPAN, b], arms[SPAN, i])
    if n == 0.0:
        return 0.0
    column, items = b * arms.shape[1] + i, params[ITEMS]
    if has_scores(params):
        return float(evidence_beside(params, pairs, arms, b, i, d))
    if items < math.inf and items * d - lead(pairs, arms, b, i) < -(items - n) - SLACK * items:
        return math.inf
    if params[GROWING] > 0.0:
        return grown_average(params, pairs, arms, column, PAIR_ROWS, first_out(arms, b, i), d)
    return log_average(pairs, column, n, max((span * d - pairs[SPENT, column]) / n, -1.0))


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8)")
def compared_evidence(params: Array, arms: Array, i: int) -> float:
    """The evidence of an arm's comparator."""
    n = arms[ROUNDS, i]
    if n == 0.0:
        return 0.0
    if params[GROWING] > 0.0:
        return grown_average(params, arms, arms, i, ARM_ROWS, i, 0.0)
    return log_average(arms, i, n, max(arms[EXPECTED, i] / n, -1.0))


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), i8)", apart=True)
def evidence(params: Array, pairs: Array, arms: Array, i: int) -> float:
    """The evidence that arm i is not the best: it exceeds log(1/δ) with probability δ at most if it is."""
    K, share = arms.shape[1], params[ROUND_SHARE]
    top, total = -math.inf, 0.0
    for b in range(K):
        if b == i:  # the place of the comparator
            if share == 0.0:
                continue
            exponent = math.log(share) + compared_evidence(params, arms, i)
        else:
            exponent = math.log((1.0 - share) / (K - 1.0)) + pair_evidence(params, pairs, arms, b, i, 0.0)
            if exponent == math.inf:
                return math.inf
        if exponent > top:
            total = total * math.exp(top - exponent) + 1.0
            top = exponent
        else:
            total += math.exp(exponent - top)
    return top + math.log(total)


@kernel("f8(f8[:, ::1], i8, f8, f8)")
def lead_on(pairs: Array, column: int, d: float, left: float) -> float:
    """Add D to a lead; returns the lead before, over the items that were left."""
    expected = (pairs[LEAD, column] + pairs[LEAD_LOST, column]) / left
    pairs[SPENT, column] += expected
    pairs[LEAD, column], error = two_sum(pairs[LEAD, column], d)
    pairs[LEAD_LOST, column] += error
    return float(expected)


@kernel("void(const(f8[::1]), f8[:, ::1], i8, f8, f8)")
def take_pair(params: Array, pairs: Array, column: int, d: float, left: float) -> None:
    """Count D of a round in, with so many items left before it."""
    expected = lead_on(pairs, column, d, left)
    bet(params, pairs, column, d, PAIR_ROWS, expected, left)


@kernel(
    "void(const(f8[::1]), const(f8[::1]), const(f8[::1]), const(f8[:, ::1]), f8[:, ::1], i8, i8, i8, i8, f8, "
    "f8)",
    apart=True,
)
def bet_beside(
    params: Array,
    low: Array,
    high: Array,
    arms: Array,
    state: Array,
    column: int,
    spent: int,
    b: int,
    i: int,
    expected: float,
    left: float,
) -> None:
    """As `bet`, where the scores of b or of i are known: multiply all bets of b on i by λ(W + c)."""
    up = is_known(params, PARAMS, i)
    a = b if up else i
    value = low[b] if up else 1.0 - high[i]
    so_far = arms[SEEN + SUM_LOW, b] if up else params[ITEMS] - left - arms[SEEN + SUM_HIGH, i]
    whole = total(params, PARAMS, i) if up else params[ITEMS] - total(params, PARAMS, b)
    known = whole - so_far + expected * left  # the sum of V over the items that are left
    s = int(low[arms.shape[1]])
    for k in range(int(params[GROWING])):
        size = grown(params, k, left)
        state[spent + k, column] += size * expected
        c = payoff(params, PARAMS, arms, SEEN, a, up, s, left / size - known, left)
        multiply(state, FACTORS + k, column, 1.0, size * (value + c))


@kernel(
    "void(const(f8[::1]), const(f8[::1]), const(f8[::1]), f8[:, ::1], const(f8[:, ::1]), i8, i8, f8)",
    apart=True,
)
def take_beside(
    params: Array, low: Array, high: Array, pairs: Array, arms: Array, b: int, i: int, left: float
) -> None:
    """As `take_pair`, of b against i, where the scores of one of both are known."""
    column = b * arms.shape[1] + i
    expected = lead_on(pairs, column, difference(params, low, high, b, i), left)
    bet_beside(params, low, high, arms, pairs, column, PAIR_ROWS, b, i, expected, left)


@kernel("void(const(f8[::1]), f8[:, ::1], i8, f8)")
def take_row(params: Array, arms: Array, a: int, left: float) -> None:
    """Count one round more of an arm, before which so many items are left."""
    items = params[ITEMS]
    arms[ROUNDS, a] += 1.0
    arms[SPAN, a] += 1.0 if items == math.inf else items / left
    for k in range(int(params[GROWING])):
        arms[SPANS + k, a] += grown(params, k, left) * items / left


@kernel("void(const(f8[::1]), const(f8[::1]), const(f8[::1]), f8[:, ::1], f8[:, ::1], f8)", apart=True)
def take_rows_beside(params: Array, low: Array, high: Array, pairs: Array, arms: Array, left: float) -> None:
    """The part of `take_round` that counts pairs and arms, where some scores are known."""
    K = arms.shape[1]
    for b in range(K):
        for i in range(K):
            if b == i or arms[OUT_AFTER, b] > 0.0 or arms[OUT_AFTER, i] > 0.0:
                continue
            if is_half_known(params, b, i):
                take_beside(params, low, high, pairs, arms, b, i, left)
            else:
                take_pair(params, pairs, b * K + i, difference(params, low, high, b, i), left)
    for a in range(K):
        if arms[OUT_AFTER, a] <= 0.0:
            take_row(params, arms, a, left)
            note(params, PARAMS, low, high, arms, SEEN, a)
            arms[HOPE, a] = math.inf  # such a bet may multiply by more


@kernel("void(const(f8[::1]), const(f8[::1]), const(f8[::1]), f8[:, ::1], f8[:, ::1])", apart=True)
def take_round(params: Array, low: Array, high: Array, pairs: Array, arms: Array) -> None:
    """Count the next round in: the values of the arms in the race, mapped to [0, 1]; all others are ignored.

    HOPE bounds the evidence from above without computing it: a bet on b multiplies by 1 + D at most, divided
    by 1 + λd for the mean d that is left to this round, and -log is convex.
    """
    K, items, known = arms.shape[1], params[ITEMS], has_scores(params)
    left = items - rounds_taken(arms)  # with the item of this round
    for i in range(K):
        if arms[OUT_AFTER, i] > 0.0:
            continue
        ahead, comparator, most = -math.inf, -1, 0.0
        for b in range(K):
            if b == i or arms[OUT_AFTER, b] > 0.0:
                continue
            one = lead(pairs, arms, b, i)
            if one > ahead:
                ahead, comparator = one, b
            most = max(most, difference(params, low, high, b, i))
        if comparator < 0:
            continue
        if params[ROUND_SHARE] > 0.0:
            if known and is_half_known(params, comparator, i):
                bet_beside(params, low, high, arms, arms, i, ARM_ROWS, comparator, i, ahead / left, left)
            else:
                d = difference(params, low, high, comparator, i)
                bet(params, arms, i, d, ARM_ROWS, ahead / left, left)
            arms[EXPECTED, i] -= ahead / left
        if left < math.inf and ahead + most > left - 1.0 - SLACK * items:  # may be certain after this round
            arms[HOPE, i] = math.inf
        else:
            arms[HOPE, i] += math.log1p(most) - math.log1p(-max(ahead, 0.0) / left)
    if known:
        take_rows_beside(params, low, high, pairs, arms, left)
        return
    for b in range(K):
        if arms[OUT_AFTER, b] > 0.0:
            continue
        take_row(params, arms, b, left)
        for i in range(K):
            if b == i or arms[OUT_AFTER, i] > 0.0:
                continue
            take_pair(params, pairs, b * K + i, difference(params, low, high, b, i), left)


@kernel("i8(const(f8[:, ::1]), const(f8[:, ::1]))")
def leading(pairs: Array, arms: Array) -> int:
    """The arm in the race whose worst lead over the others there is largest; the first of several."""
    best, found = -math.inf, 0
    for b in range(arms.shape[1]):
        if arms[OUT_AFTER, b] > 0.0:
            continue
        worst = math.inf
        for i in range(arms.shape[1]):
            if i != b and arms[OUT_AFTER, i] <= 0.0:
                worst = min(worst, lead(pairs, arms, b, i))
        if worst > best:
            best, found = worst, b
    return found


@kernel("i8(const(f8[::1]), const(f8[:, ::1]), f8[:, ::1])")
def rule_out(params: Array, pairs: Array, arms: Array) -> int:
    """Rule out the arms that are surely not the best; returns how many are left.

    Where HOPE is below the level, the evidence is too, and it is not computed.
    """
    n, left, out = rounds_taken(arms), 0, 0
    for i in range(arms.shape[1]):
        if arms[OUT_AFTER, i] > 0.0:
            continue
        left += 1
        if arms[HOPE, i] > params[ROUND_LEVEL] - SLACK:
            arms[HOPE, i] = evidence(params, pairs, arms, i)
            if arms[HOPE, i] > params[ROUND_LEVEL]:
                arms[OUT_AFTER, i] = -1.0  # not yet: all others are judged as if it were in the race
                out += 1
    if out == 0:
        return left
    kept = leading(pairs, arms) if out == left else -1  # with probability δ at most
    for i in range(arms.shape[1]):
        if arms[OUT_AFTER, i] < 0.0:
            arms[OUT_AFTER, i] = 0.0 if i == kept else n
    return max(left - out, 1)


@kernel("i8(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]))")
def declared(params: Array, pairs: Array, arms: Array) -> int:
    """The arm that is found to be the best, or within the tolerance of it; GO_ON or UNDECIDED for none."""
    b, n, items, left = leading(pairs, arms), rounds_taken(arms), params[ITEMS], 0
    for i in range(arms.shape[1]):
        left += arms[OUT_AFTER, i] <= 0.0
    if left == 1:
        return b
    used_up = n >= items
    if not used_up and params[ROUND_TOLERANCE] == 0.0:
        return GO_ON
    for i in range(arms.shape[1]):
        if i == b or arms[OUT_AFTER, i] > 0.0:
            continue
        if used_up:
            if lead(pairs, arms, b, i) < -items * (params[ROUND_TOLERANCE] + EVEN):
                return UNDECIDED
        elif pair_evidence(params, pairs, arms, b, i, -params[ROUND_TOLERANCE]) <= params[ROUND_PAIR_LEVEL]:
            return GO_ON
    return b


@kernel("i8(const(f8[::1]), const(f8[::1]), const(f8[::1]), f8[:, ::1], f8[:, ::1])")
def play_round(params: Array, low: Array, high: Array, pairs: Array, arms: Array) -> int:
    """Count a round in, rule out, and say what is `declared`."""
    take_round(params, low, high, pairs, arms)
    rule_out(params, pairs, arms)
    return declared(params, pairs, arms)


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), i8)", apart=True)
def progress(params: Array, pairs: Array, arms: Array, leader: int) -> tuple[float, float]:
    """The least evidence against an arm in the race but the leader, and the level that it must exceed.

    inf where no other arm is left. It is that of the pair where a tolerance, a factor or wins against each
    arm decide.
    """
    by_pairs = params[ROUND_TOLERANCE] > 0.0 or params[RATIO] != 0.0 or params[ROUND_QUESTION] != 0.0
    least = math.inf
    for i in range(arms.shape[1]):
        if i != leader and arms[OUT_AFTER, i] <= 0.0:
            if by_pairs:
                least = min(least, pair_evidence(params, pairs, arms, leader, i, -params[ROUND_TOLERANCE]))
            else:
                least = min(least, evidence(params, pairs, arms, i))
    return least, float(params[ROUND_PAIR_LEVEL] if by_pairs else params[ROUND_LEVEL])


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), i8, i8)", apart=True)
def best_rate(params: Array, pairs: Array, arms: Array, b: int, i: int) -> float:
    """By how much the evidence of the best bet on b against i has grown per round, at least 0.

    Evidence of bets that grow is that times M/(M - n), about, after n of M items.
    """
    n, column, best = min(arms[ROUNDS, b], arms[ROUNDS, i]), b * arms.shape[1] + i, 0.0
    if params[GROWING] > 0.0 and n > 0.0:
        a, unused = first_out(arms, b, i), 1.0 - n / params[ITEMS]
        for k in range(int(params[GROWING])):
            best = max(best, unused * grown_exponent(pairs, arms, column, PAIR_ROWS, a, 0.0, k))
        return float(best / n)
    for k in range(NODES):
        total = pairs[UPS, column] * LOG_WON[k] + pairs[DOWNS, column] * LOG_LOST[k]
        best = max(best, total + summed(pairs, FACTORS + k, column))
    return float(best / n) if n > 0.0 else 0.0


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), i8, i8, f8)", apart=True)
def lower_end(params: Array, pairs: Array, arms: Array, b: int, i: int, level: float) -> float:
    """The smallest d for mean b - mean i that the evidence leaves possible at a level, from below."""
    n, items, low, high = min(arms[ROUNDS, b], arms[ROUNDS, i]), params[ITEMS], -1.0, 1.0
    if items < math.inf:  # what the items left can still do
        now = lead(pairs, arms, b, i)
        low, high = (now - (items - n)) / items, (now + (items - n)) / items
        if has_scores(params) and (is_known(params, PARAMS, b) or is_known(params, PARAMS, i)):
            low = least_lead(params, arms, b, i) / items
            high = low if not is_half_known(params, b, i) else low + (items - n) / items
        low = 0.0 if 0.0 < low <= SLACK else low  # above 0 by rounding, perhaps
    if n == 0.0 or pair_evidence(params, pairs, arms, b, i, low) <= level:
        return low
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if pair_evidence(params, pairs, arms, b, i, middle) > level:
            low = middle
        else:
            high = middle
    return low
