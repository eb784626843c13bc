"""Chernoff Racing: sample the arms that are left in turn, drop the worst when it is surely not the best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ..kernels._jit import kernel
from ..kernels._types import Array
from ..kernels.layout import MEANS, SELECT, TOLERANCE, Select
from ..kernels.random import Words
from ..kernels.rules import pair_exceeds, threshold
from ..kernels.tracking import TIE
from ._base import Strategy

_OUT, _COUNT = range(2)


@kernel("UniTuple(i8, 2)(const(f8[::1]), const(f8[::1]))")
def best_and_worst(means: Array, out: Array) -> tuple[int, int]:
    """The active arms of largest and smallest mean, the lowest index among ties."""
    top, bottom = -math.inf, math.inf
    for a in range(means.size):
        if out[a] == 0.0:
            top = max(top, means[a])
            bottom = min(bottom, means[a])
    best, worst = -1, -1
    for a in range(means.size):
        if out[a] == 0.0:
            if best < 0 and means[a] >= top - TIE:
                best = a
            if worst < 0 and means[a] <= bottom + TIE:
                worst = a
    return best, worst


@kernel("i8(const(f8[::1]), i8)")
def next_active(out: Array, after: int) -> int:
    """The first active arm behind `after`, -1 if there is none."""
    for a in range(after + 1, out.size):
        if out[a] == 0.0:
            return a
    return -1


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), i8, const(f8[::1]), f8)")
def within(params: Array, state: Array, best: int, out: Array, bound: float) -> bool:
    """Whether an arm is within the tolerance of every other one that is active."""
    for a in range(out.size):
        if a != best and out[a] == 0.0 and not pair_exceeds(params, state, best, a, params[TOLERANCE], bound):
            return False
    return True


@kernel(SELECT)
def select(
    t: float, last: int, leader: int, state: Array, params: Array, memory: Array, random: Words
) -> int:
    """At the end of a round the worst active arm alone is tested, by the pairwise form of the rule.

    An arm is dropped because it is worse, whatever the tolerance: if each could be dropped for being hardly
    better than another, the last one might be far from the best. Under a tolerance the race ends when the
    best active arm is within it of all the others.
    """
    means, out = state[MEANS], memory[_OUT]
    if last >= 0:
        arm = next_active(out, last)
        if arm >= 0:
            return ~arm
    best, worst = best_and_worst(means, out)
    bound = threshold(params, t)
    if params[TOLERANCE] > 0.0 and within(params, state, best, out, bound):
        return int(means.size) + best
    if pair_exceeds(params, state, best, worst, 0.0, bound):
        out[worst] = 1.0
        memory[_COUNT, 0] += 1.0
        if memory[_COUNT, 0] == means.size - 1.0:
            return int(means.size) + best
    return ~next_active(out, -1)


@dataclass(frozen=True)
class Racing(Strategy):
    """Chernoff Racing, with the elimination rule of Garivier & Kaufmann 2016."""

    name = "racing"
    rows: ClassVar[tuple[str, ...]] = ("out", "count")
    uses_delta: ClassVar[bool] = True
    stops_itself: ClassVar[bool] = True
    adds_up: ClassVar[str | None] = ""

    @property
    def select(self) -> Select:
        return select
