"""The decision of a run whose rewards come from outside: one sample after the other, until the rule stops.

Sums are kept of the rewards as they come, with their rounding errors, and centred only when a mean is
taken: means are in units of sigma around a common offset, which may be chosen anew at any time. Product and
difference are exact, so that a mean is rounded as it would be around 0.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array, Flags, Indices
from .thresholds import rule_statistic, threshold
from .tracking import least_pulled
from .weights import two_product, two_sum

PULLS, MEANS, SUMS, LOST, ROWS = 0, 1, 2, 3, 4  # rows of evidence


@kernel("void(i8, f8, f8, f8[:, ::1])")
def centre(arm: int, offset: float, sigma: float, evidence: Array) -> None:
    """The mean of an arm from its sums; 0 without pulls."""
    n = evidence[PULLS, arm]
    if n == 0.0:
        evidence[MEANS, arm] = 0.0
    else:
        product, rest = two_product(n, offset)
        total, error = two_sum(evidence[SUMS, arm], -product)
        evidence[MEANS, arm] = (total + (error + (evidence[LOST, arm] - rest))) / n / sigma


@kernel("void(i8, f8, f8, f8, f8, f8[:, ::1])")
def add(arm: int, count: float, value: float, offset: float, sigma: float, evidence: Array) -> None:
    """Count a reward in, or out again: count 1 with the value, or -1 with its negative."""
    evidence[PULLS, arm] += count
    evidence[SUMS, arm], error = two_sum(evidence[SUMS, arm], value)
    evidence[LOST, arm] += error
    centre(arm, offset, sigma, evidence)


@kernel("UniTuple(f8, 2)(i8, f8, f8, f8[:, ::1])")
def verdict(code: int, level: float, scale: float, evidence: Array) -> tuple[float, float]:
    """Statistic and threshold; -inf and inf while some arm has no pulls."""
    pulls = evidence[PULLS]
    if pulls[least_pulled(pulls)] == 0.0:
        return -math.inf, math.inf
    t = 0.0
    for a in range(pulls.size):
        t += pulls[a]
    z, _ = rule_statistic(code, scale, pulls, evidence[MEANS])
    return z, threshold(code, level, scale, t)


@kernel("i8(i8[::1], f8[::1], b1[::1], f8, f8, i8, f8, f8, f8[:, ::1])")
def advance(
    arms: Indices,
    values: Array,
    checks: Flags,
    offset: float,
    sigma: float,
    code: int,
    level: float,
    scale: float,
    evidence: Array,
) -> int:
    """Take in rewards up to the one with which the rule decides.

    checks   whether the rule is asked after that reward
    Returns  its index, or -1 if all were taken in without a decision
    """
    for i in range(arms.size):
        add(arms[i], 1.0, values[i], offset, sigma, evidence)
        if checks[i]:
            z, beta = verdict(code, level, scale, evidence)
            if z > beta:
                return i
    return -1
