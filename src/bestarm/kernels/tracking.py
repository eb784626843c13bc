"""Ties, leaders and tracking: which arm lies furthest behind its target.

Accumulated sums round, so values that are equal in exact arithmetic differ in the last bits. Everywhere
an arm is chosen, values within TIE of the extreme count as equal and the lowest index wins. Means are in
units of σ: a difference of 1e-9 σ could not be told from zero with fewer than 1e18 samples.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array
from .layout import MEANS

TIE = 1e-9


@kernel("i8(const(f8[::1]))")
def first_largest(x: Array) -> int:
    """The lowest index among the entries within TIE of the largest."""
    top = -math.inf
    for a in range(x.size):
        top = max(top, x[a])
    for a in range(x.size):
        if x[a] >= top - TIE:
            return a
    return 0


@kernel("i8(const(f8[:, ::1]))")
def leading_arm(state: Array) -> int:
    """The arm of largest mean, the lowest index among ties; an arm without pulls leads only if all are."""
    return first_largest(state[MEANS])


@kernel("i8(const(f8[::1]), const(f8[::1]), f8)")
def furthest_behind(pulls: Array, target: Array, t: float) -> int:
    """The arm of smallest N_a - t target_a."""
    least = math.inf
    for a in range(pulls.size):
        least = min(least, pulls[a] - t * target[a])
    for a in range(pulls.size):
        if pulls[a] - t * target[a] <= least + TIE:
            return a
    return 0


@kernel("i8(const(f8[::1]), const(f8[::1]), f8[::1], f8, b1)")
def track(pulls: Array, target: Array, sums: Array, t: float, direct: bool) -> int:
    """D-tracking follows the current target, `direct`; C-tracking the sums of all targets, kept here."""
    if direct:
        return furthest_behind(pulls, target, t)
    for a in range(pulls.size):
        sums[a] += target[a]
    return furthest_behind(pulls, sums, 1.0)


@kernel("i8(const(f8[::1]))")
def least_pulled(pulls: Array) -> int:
    """The arm with the fewest pulls, the lowest index among equals."""
    arm = 0
    for a in range(1, pulls.size):
        if pulls[a] < pulls[arm]:
            arm = a
    return arm
