"""Ties, leaders and tracking: which arm lies furthest behind its target.

Accumulated sums round, so values that are equal in exact arithmetic differ in the last bits. Everywhere
an arm is chosen, values within TIE of the extreme count as equal: the lowest index wins, or leaders,
challengers and indices draw lots. Means are in units of σ: a difference of 1e-9 σ could not be told from zero
with fewer than 1e18 samples.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array
from .extremes import MANY, first_surplus, largest, least_surplus, least_unless
from .layout import MEANS, NO_ARM, OUT, PULLS, SETTLED
from .random import Words, uniform

TIE = 1e-9
NEVER_BEHIND = -1e300  # the sum of targets of an arm that was ruled out


@kernel("i8(const(f8[::1]))")
def first_largest(x: Array) -> int:
    """The lowest index among the entries within TIE of the largest."""
    top = -math.inf
    if x.size >= MANY:
        top = largest(x)
    else:
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


@kernel("i8(const(f8[:, ::1]), i8, u8[::1])")
def drawn_leader(state: Array, leader: int, random: Words) -> int:
    """One of the arms whose mean is the leader's, by lot: of values of 0 and 1 there are often several."""
    found, equals, top = leader, 0.0, state[MEANS, leader]
    for a in range(state.shape[1]):
        if state[OUT, a] == 0.0 and abs(state[MEANS, a] - top) <= TIE:
            equals += 1.0
            if equals == 1.0 or uniform(random) * equals < 1.0:
                found = a
    return found


@kernel("i8(const(f8[::1]), const(f8[::1]), f8)")
def furthest_behind(pulls: Array, target: Array, t: float) -> int:
    """The arm of smallest N_a - t target_a; none whose target is 0, if the targets sum to 1."""
    least = math.inf
    if pulls.size >= MANY:
        return first_surplus(pulls, target, t, least_surplus(pulls, target, t) + TIE)
    for a in range(pulls.size):
        least = min(least, pulls[a] - t * target[a])
    for a in range(pulls.size):
        if pulls[a] - t * target[a] <= least + TIE:
            return a
    return 0


@kernel("i8(const(f8[:, ::1]), const(f8[::1]), f8[::1], f8, b1)")
def track(state: Array, target: Array, sums: Array, t: float, direct: bool) -> int:
    """D-tracking follows the current target, `direct`; C-tracking the sums of all targets, kept here."""
    if direct:
        return furthest_behind(state[PULLS], target, t)
    for a in range(sums.size):
        sums[a] = sums[a] + target[a] if state[OUT, a] == 0.0 else NEVER_BEHIND
    return furthest_behind(state[PULLS], sums, 1.0)


@kernel("i8(const(f8[:, ::1]))")
def arms_left(state: Array) -> int:
    """How many arms are in the race."""
    left = 0
    for a in range(state.shape[1]):
        if state[OUT, a] == 0.0:
            left += 1
    return left


@kernel("b1(const(f8[:, ::1]), f8)")
def out_since(state: Array, t: float) -> bool:
    """Whether an arm was ruled out after t samples or later."""
    latest = 0.0
    for a in range(state.shape[1]):
        latest = max(latest, state[OUT, a])
    return latest >= t


@kernel("i8(const(f8[:, ::1]))")
def rarest(state: Array) -> int:
    """The arm in the race with the fewest pulls, the lowest index among equals."""
    arm = NO_ARM
    if state.shape[1] >= MANY:
        fewest = least_unless(state[PULLS], state[OUT])
        for a in range(state.shape[1]):
            if state[PULLS, a] == fewest and state[OUT, a] == 0.0:
                return a
        return arm
    for a in range(state.shape[1]):
        if state[OUT, a] == 0.0 and (arm < 0 or state[PULLS, a] < state[PULLS, arm]):
            arm = a
    return arm


@kernel("i8(const(f8[:, ::1]), i8, i8)")
def still_rarest(state: Array, last: int, before: int) -> int:
    """`rarest`, where it was `before` and only arm `last` has changed since; either may be NO_ARM."""
    if last < 0 or before < 0 or before == last or state[OUT, before] > 0.0:
        return rarest(state)
    more = state[PULLS, last] - state[PULLS, before]
    fewer = more < 0.0 or (more == 0.0 and last < before)  # only if a value was taken back
    return last if fewer and state[OUT, last] == 0.0 else before


@kernel("b1(const(f8[:, ::1]), i8, i8)")
def is_open(state: Array, leader: int, arm: int) -> bool:
    """Whether the rule has not settled an arm: neither ruled it out nor, for now, told it from the leader."""
    return bool(arm == leader or state[SETTLED, arm] == 0.0)


@kernel("i8(const(f8[:, ::1]), i8)")
def open_arms(state: Array, leader: int) -> int:
    """How many arms are open."""
    number = 0
    for a in range(state.shape[1]):
        if is_open(state, leader, a):
            number += 1
    return number


@kernel("i8(const(f8[:, ::1]), i8)")
def rarest_open(state: Array, leader: int) -> int:
    """The open arm with the fewest pulls, the lowest index among equals."""
    arm = NO_ARM
    for a in range(state.shape[1]):
        if is_open(state, leader, a) and (arm < 0 or state[PULLS, a] < state[PULLS, arm]):
            arm = a
    return arm


@kernel("i8(const(f8[:, ::1]), i8, const(f8[::1]), f8[::1], f8, b1)")
def track_open(state: Array, leader: int, target: Array, sums: Array, t: float, direct: bool) -> int:
    """`track` among the open arms: D-tracking where `direct`, else C-tracking."""
    pulls, settled, least, arm = state[PULLS], state[SETTLED], math.inf, leader
    for a in range(sums.size):
        if not direct:
            sums[a] += target[a]
        behind = pulls[a] - (t * target[a] if direct else sums[a])
        if behind < least and (settled[a] == 0.0 or a == leader):
            arm, least = a, behind - TIE
    return arm


@kernel("i8(const(f8[::1]))")
def least_pulled(pulls: Array) -> int:
    """The arm with the fewest pulls, the lowest index among equals."""
    arm = 0
    for a in range(1, pulls.size):
        if pulls[a] < pulls[arm]:
            arm = a
    return arm
