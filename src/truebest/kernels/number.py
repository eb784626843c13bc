"""The evidence that the mean of one arm is above a number, or below it.

A tilt of size ε multiplies by (1 + κX)/(1 + κθ), κ = e^ε - 1, for every value X in [0, 1]: a factor of mean 1
if the mean is θ, and below 1 if it is smaller. The evidence for "above θ" is the logarithm of an average over
tilts, that for "below θ" the same of 1 - X and 1 - θ. If the items of a closed set of M have the mean θ, and
those before have the sum S, the rest have the mean (Mθ - S)/(items left). By Jensen's inequality the average
of these may take the place of θ in every round; so one sum serves for all numbers. Where scores of other arms
are known, a factor is κ(X + c)/(1 + κθ), with a c of 1/κ on average over the items left, see `strata`.

    evidence            of independent pulls; of the rule TILT as above, of the others as they have it
    evidence_of_rounds  of rounds: NUMBER_ROWS rows of an arm, behind all others, see `paired`
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel
from ._types import Array
from .exact import two_sum
from .families import BOUNDED
from .layout import HIGH, LOW, MEANS, MODEL, OFFSET, PULLS, RULE, UNIT
from .paired import (
    EVEN,
    EXACT,
    HALVINGS,
    ITEMS,
    PARAMS,
    ROUND_QUESTION,
    ROUNDS,
    SEEN,
    SLACK,
    SPAN,
    has_scores,
)
from .questions import NUMBER
from .rules.likelihood import number_evidence as likelihood_evidence
from .rules.mixture import MIXTURE
from .rules.mixture import number_evidence as mixture_evidence
from .rules.student import STUDENT_RULE
from .rules.student import number_evidence as student_evidence
from .rules.tilt import DOWNWARDS, KAPPA, NODES, NONE, TILT, UPWARDS, multiply, summed, tilt
from .strata import is_known, payoff
from .strata import total as known_total


def _prior() -> Array:
    """The weights of tilts: most on those that are best for means a twentieth to a third apart."""
    weights = np.exp(-0.5 * ((np.arange(NODES) - 4.0) / 2.0) ** 2) + 0.03
    return np.asarray((1.0 - NONE) * weights / weights.sum(), np.float64)


PRIOR = _prior()
FARTHEST = 1e150  # where the search for an end is given up: its evidence rises no more
# In rounds: the sum of an arm's values, as low and as high as those that are missing may be, each with what
# rounding took from it; the sum over rounds of these before the round, over the items left; and the products
# of 1 + κX, and of 1 + κ(1 - X).
LOW_TOTAL, LOW_LOST, HIGH_TOTAL, HIGH_LOST, LOW_SPENT, HIGH_SPENT, RISEN = range(7)
FALLEN, NUMBER_ROWS = RISEN + 2 * NODES, RISEN + 4 * NODES


@kernel("UniTuple(f8, 2)(f8, f8, f8)")
def with_exponent(top: float, total: float, exponent: float) -> tuple[float, float]:
    """A sum in units of e^top, times a number that is 1 before the first: with one more exponential."""
    if exponent > top:
        return exponent, total * math.exp(top - exponent)
    return top, total


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, f8, b1)", apart=True)
def evidence(params: Array, state: Array, a: int, number: float, above: bool) -> float:
    """Of independent pulls, for "above the number", which is in units around the offset; or for "below"."""
    bounded = params[MODEL] == BOUNDED
    if state[PULLS, a] < (1.0 if bounded else 2.0):  # if a scale is assumed, two may refute it
        return 0.0
    if params[RULE] != TILT:
        if (state[MEANS, a] > number) != above:
            return 0.0
        if params[RULE] == STUDENT_RULE:
            return float(student_evidence(params, state, a, number))
        if params[RULE] == MIXTURE:
            return float(mixture_evidence(params, state, a, number))
        return float(likelihood_evidence(params, state, a, number))
    if bounded:
        number = (number * params[UNIT] + (params[OFFSET] - params[LOW])) / (params[HIGH] - params[LOW])
    top, total, side = 0.0, NONE, UPWARDS if above else DOWNWARDS
    for k in range(NODES):
        exponent, _ = tilt(params, state, a, k, side, number)
        top, total = with_exponent(top, total, exponent)
        total += PRIOR[k] * math.exp(exponent - top)
    return top + math.log(total)


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]), i8)")
def sums(params: Array, arms: Array, a: int) -> tuple[float, float]:
    """The least and the most that the sum over a closed set can be."""
    if is_known(params, PARAMS, a):
        return known_total(params, PARAMS, a), known_total(params, PARAMS, a)
    first, rest = arms.shape[0] - NUMBER_ROWS, params[ITEMS] - arms[ROUNDS, a]
    least = arms[first + LOW_TOTAL, a] + arms[first + LOW_LOST, a]
    return least, arms[first + HIGH_TOTAL, a] + arms[first + HIGH_LOST, a] + rest


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, f8, b1)")
def ahead(params: Array, arms: Array, a: int, number: float, above: bool) -> float:
    """By how much the sum over a closed set is above M times a number, at least; or below it."""
    least, most = sums(params, arms, a)
    return float(least - params[ITEMS] * number if above else params[ITEMS] * number - most)


@kernel("void(const(f8[::1]), const(f8[::1]), const(f8[::1]), f8[:, ::1], i8, f8)", apart=True)
def take_value(params: Array, low: Array, high: Array, arms: Array, a: int, left: float) -> None:
    """Count an arm's value in a round in, with so many items left before it.

    low, high  the round: a missing value lies between both; see `paired` and `strata`
    """
    first, least, most = arms.shape[0] - NUMBER_ROWS, low[a], high[a]
    arms[first + LOW_SPENT, a] += (arms[first + LOW_TOTAL, a] + arms[first + LOW_LOST, a]) / left
    arms[first + HIGH_SPENT, a] += (arms[first + HIGH_TOTAL, a] + arms[first + HIGH_LOST, a]) / left
    for k in range(NODES):
        rise = fall = 1.0
        if has_scores(params):
            s, budget = int(low[arms.shape[1]]), left / KAPPA[k]
            rise = KAPPA[k] * payoff(params, PARAMS, arms, SEEN, a, True, s, budget, left)
            fall = KAPPA[k] * payoff(params, PARAMS, arms, SEEN, a, False, s, budget, left)
        multiply(arms, first + RISEN + k, a, 1.0, rise + KAPPA[k] * least)
        multiply(arms, first + FALLEN + k, a, 1.0, fall + KAPPA[k] * (1.0 - most))
    arms[first + LOW_TOTAL, a], error = two_sum(arms[first + LOW_TOTAL, a], least)
    arms[first + LOW_LOST, a] += error
    arms[first + HIGH_TOTAL, a], error = two_sum(arms[first + HIGH_TOTAL, a], most)
    arms[first + HIGH_LOST, a] += error


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, f8, b1)", apart=True)
def evidence_of_rounds(params: Array, arms: Array, a: int, number: float, above: bool) -> float:
    """Of rounds, for "above the number" or "below"; inf where the items left can change nothing."""
    first, n, items = arms.shape[0] - NUMBER_ROWS, arms[ROUNDS, a], params[ITEMS]
    if n == 0.0:
        return 0.0
    if items < math.inf and ahead(params, arms, a, number, above) > SLACK * items:
        return math.inf
    if is_known(params, PARAMS, a):
        return 0.0
    x = (number * arms[SPAN, a] - arms[first + (LOW_SPENT if above else HIGH_SPENT), a]) / n
    x = max(x if above else 1.0 - x, 0.0)
    top, total, row = 0.0, NONE, first + (RISEN if above else FALLEN)
    for k in range(NODES):
        exponent = summed(arms, row + k, a) - n * math.log1p(KAPPA[k] * x)
        top, total = with_exponent(top, total, exponent)
        total += PRIOR[k] * math.exp(exponent - top)
    return top + math.log(total)


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), i8, f8, b1, f8)")
def is_on_side(params: Array, arms: Array, a: int, number: float, above: bool, level: float) -> bool:
    """Whether the evidence exceeds a level, or the sum says it of a set that is used up.

    Where the sum is M times the number, but for rounding, the arm passes. A known arm's sum says it.
    """
    if arms[ROUNDS, a] >= params[ITEMS] or is_known(params, PARAMS, a):
        passes = above == (params[ROUND_QUESTION + NUMBER] == 0.0)
        least = (-EVEN if passes else EVEN) * params[ITEMS]
        return params[EXACT] == 0.0 and bool(ahead(params, arms, a, number, above) > least)
    return bool(evidence_of_rounds(params, arms, a, number, above) > level)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, b1, f8, f8, f8, b1)", apart=True)
def outermost(
    params: Array,
    state: Array,
    a: int,
    lower: bool,
    level: float,
    inside: float,
    outside: float,
    rounds: bool,
) -> float:
    """Nearly the last number, from one outside of an interval to one inside, whose evidence is above a level.

    rounds  whether the evidence is that of rounds, and not of independent pulls
    """
    for _ in range(HALVINGS):
        middle = 0.5 * (inside + outside)
        if rounds:
            found = evidence_of_rounds(params, state, a, middle, lower)
        else:
            found = evidence(params, state, a, middle, lower)
        if found > level:
            outside = middle
        else:
            inside = middle
    return outside


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, b1, f8)", apart=True)
def end_of_rounds(params: Array, arms: Array, a: int, lower: bool, level: float) -> float:
    """An end of the numbers between which the evidence leaves a mean possible, and what is left of a set."""
    low, high = 0.0, 1.0
    if params[ITEMS] < math.inf:
        least, most = sums(params, arms, a)
        low, high = least / params[ITEMS], most / params[ITEMS]
    inside, outside = (high, low) if lower else (low, high)
    if arms[ROUNDS, a] == 0.0 or evidence_of_rounds(params, arms, a, outside, lower) <= level:
        return outside
    return float(outermost(params, arms, a, lower, level, inside, outside, True))


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, b1, f8)", apart=True)
def end(params: Array, state: Array, a: int, lower: bool, level: float) -> float:
    """The same of independent pulls, in units around the offset; infinite where nothing is known."""
    side, n, limit = -1.0 if lower else 1.0, state[PULLS, a], params[LOW] if lower else params[HIGH]
    if n == 0.0:
        return side * math.inf
    inside = float(state[MEANS, a])
    if abs(limit) < math.inf:
        outside = (limit - params[OFFSET]) / params[UNIT]
        if evidence(params, state, a, outside, lower) <= level:
            return float(outside)
    else:
        outside = inside + side * max(1.0 / math.sqrt(n), 1e-12 * abs(inside))
        while evidence(params, state, a, outside, lower) <= level:
            outside += outside - inside
            if abs(outside) > FARTHEST:
                return side * math.inf
    return float(outermost(params, state, a, lower, level, inside, outside, False))
