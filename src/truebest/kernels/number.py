"""The evidence that the mean of one arm is above a number, or below it.

A tilt of size ε multiplies by (1 + κX)/(1 + κθ), κ = e^ε - 1, for every value X in [0, 1]: a factor of mean 1
if the mean is θ, and below 1 if it is smaller. The evidence for "above θ" is the logarithm of an average over
tilts, that for "below θ" the same of 1 - X and 1 - θ. If the items of a closed set of M have the mean θ, and
those before have the sum S, the rest have the mean (Mθ - S)/(items left). By Jensen's inequality the average
of these may take the place of θ in every round; so one sum serves for all numbers.

    evidence            of independent pulls, in the layout of the rule TILT
    evidence_of_rounds  of rounds: NUMBER_ROWS rows of an arm, behind all others, see `paired`
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel
from ._types import Array
from .exact import two_sum
from .families import BOUNDED
from .layout import HIGH, LOW, MEANS, MODEL, OFFSET, PULLS, UNIT
from .paired import EVEN, HALVINGS, ITEMS, ROUNDS, SLACK, SPAN
from .rules.tilt import DOWNWARDS, KAPPA, NODES, NONE, UPWARDS, multiply, summed, tilt


def _prior() -> Array:
    """The weights of tilts: most on those that are best for means a twentieth to a third apart."""
    weights = np.exp(-0.5 * ((np.arange(NODES) - 4.0) / 2.0) ** 2) + 0.03
    return np.asarray((1.0 - NONE) * weights / weights.sum(), np.float64)


PRIOR = _prior()
# In rounds: the sum of an arm's values, as low and as high as those that are missing may be, each with what
# rounding took from it; the sum over rounds of these before the round, over the items left; and the products
# of 1 + κX, and of 1 + κ(1 - X).
TOTAL, TOTAL_LOST, MOST, MOST_LOST, SPENT, MOST_SPENT, RISEN = range(7)
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
    if bounded:
        number = (number * params[UNIT] + (params[OFFSET] - params[LOW])) / (params[HIGH] - params[LOW])
    top, total, side = 0.0, NONE, UPWARDS if above else DOWNWARDS
    for k in range(NODES):
        exponent, _ = tilt(params, state, a, k, side, number)
        top, total = with_exponent(top, total, exponent)
        total += PRIOR[k] * math.exp(exponent - top)
    return top + math.log(total)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, f8, b1)")
def ahead(params: Array, arms: Array, a: int, number: float, above: bool) -> float:
    """By how much the sum over a closed set is above M times a number, at least; or below it."""
    first, whole = arms.shape[0] - NUMBER_ROWS, params[ITEMS] * number
    if above:
        return float((arms[first + TOTAL, a] - whole) + arms[first + TOTAL_LOST, a])
    rest = params[ITEMS] - arms[ROUNDS, a]
    return float((whole - arms[first + MOST, a]) - arms[first + MOST_LOST, a] - rest)


@kernel("void(f8[:, ::1], i8, f8, f8, f8)", apart=True)
def take_value(arms: Array, a: int, low: float, high: float, left: float) -> None:
    """Count a value of a round in, with so many items left before it; a missing one lies between both."""
    first = arms.shape[0] - NUMBER_ROWS
    arms[first + SPENT, a] += (arms[first + TOTAL, a] + arms[first + TOTAL_LOST, a]) / left
    arms[first + MOST_SPENT, a] += (arms[first + MOST, a] + arms[first + MOST_LOST, a]) / left
    for k in range(NODES):
        multiply(arms, first + RISEN + k, a, 1.0, 1.0 + KAPPA[k] * low)
        multiply(arms, first + FALLEN + k, a, 1.0, 1.0 + KAPPA[k] * (1.0 - high))
    arms[first + TOTAL, a], error = two_sum(arms[first + TOTAL, a], low)
    arms[first + TOTAL_LOST, a] += error
    arms[first + MOST, a], error = two_sum(arms[first + MOST, a], high)
    arms[first + MOST_LOST, a] += error


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, f8, b1)", apart=True)
def evidence_of_rounds(params: Array, arms: Array, a: int, number: float, above: bool) -> float:
    """Of rounds, for "above the number" or "below"; inf where the items left can change nothing."""
    first, n, items = arms.shape[0] - NUMBER_ROWS, arms[ROUNDS, a], params[ITEMS]
    if n == 0.0:
        return 0.0
    if items < math.inf and ahead(params, arms, a, number, above) > SLACK * items:
        return math.inf
    x = (number * arms[SPAN, a] - arms[first + (SPENT if above else MOST_SPENT), a]) / n
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

    Where the sum is M times the number, but for rounding, the arm is not below it.
    """
    if arms[ROUNDS, a] >= params[ITEMS]:
        return bool(ahead(params, arms, a, number, above) > (-EVEN if above else EVEN) * params[ITEMS])
    return bool(evidence_of_rounds(params, arms, a, number, above) > level)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, b1, f8)", apart=True)
def end_of_rounds(params: Array, arms: Array, a: int, lower: bool, level: float) -> float:
    """An end of the numbers between which the evidence leaves a mean possible, and what is left of a set."""
    first, n, items, low, high = arms.shape[0] - NUMBER_ROWS, arms[ROUNDS, a], params[ITEMS], 0.0, 1.0
    if items < math.inf:
        low = (arms[first + TOTAL, a] + arms[first + TOTAL_LOST, a]) / items
        high = (arms[first + MOST, a] + arms[first + MOST_LOST, a] + (items - n)) / items
    inside, outside = (high, low) if lower else (low, high)
    if n == 0.0 or evidence_of_rounds(params, arms, a, outside, lower) <= level:
        return outside
    for _ in range(HALVINGS):
        middle = 0.5 * (inside + outside)
        if evidence_of_rounds(params, arms, a, middle, lower) > level:
            outside = middle
        else:
            inside = middle
    return outside


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, b1, f8)", apart=True)
def end(params: Array, state: Array, a: int, lower: bool, level: float) -> float:
    """The same of independent pulls, in units around the offset; infinite where nothing is known."""
    side, n = -1.0 if lower else 1.0, state[PULLS, a]
    if n == 0.0:
        return side * math.inf
    inside = float(state[MEANS, a])
    outside = inside + side / math.sqrt(n)
    if params[MODEL] == BOUNDED:
        outside = ((params[LOW] if lower else params[HIGH]) - params[OFFSET]) / params[UNIT]
        if evidence(params, state, a, outside, lower) <= level:
            return float(outside)
    elif n < 2.0:
        return side * math.inf
    else:
        while evidence(params, state, a, outside, lower) <= level:
            outside += outside - inside
    for _ in range(HALVINGS):
        middle = 0.5 * (inside + outside)
        if evidence(params, state, a, middle, lower) > level:
            outside = middle
        else:
            inside = middle
    return outside
