"""The decision of a run whose rewards come from outside: one sample after the other, until the rule stops."""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array, Flags, Indices
from .moments import observe
from .thresholds import rule_statistic, threshold
from .tracking import least_pulled

PULLS, MEANS, SUMS, LOST, ROWS = 0, 1, 2, 3, 4  # rows of evidence


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


@kernel("i8(i8[::1], f8[::1], b1[::1], i8, f8, f8, f8[:, ::1])")
def advance(
    arms: Indices, values: Array, checks: Flags, code: int, level: float, scale: float, evidence: Array
) -> int:
    """Take in samples (in units of sigma) up to the one with which the rule decides.

    checks   whether the rule is asked after that sample
    Returns  its index, or -1 if all were taken in without a decision
    """
    for i in range(arms.size):
        a = arms[i]
        observe(a, values[i], evidence[PULLS], evidence[SUMS], evidence[LOST], evidence[MEANS])
        if checks[i]:
            z, beta = verdict(code, level, scale, evidence)
            if z > beta:
                return i
    return -1
