"""Frank-Wolfe sampling: one step of an ascent of the lower bound per sample, and its iterate tracked.

    x = (1/K, ..., 1/K) at first
    f_a = W(b, a) with x for the pulls, h_a its gradient: d_b at b, d_a at a
    if floor(t/K) is a perfect square, or two arms lead: z = (1/K, ..., 1/K)
    else z = argmax over weights of min <z - x, h_a> over the a with f_a < min f + t^-0.9/K
    x <- ((t-1) x + z)/t;   pull argmax x_a/N_a

With one such a, z is 1 at the larger of d_b and d_a. Else it is a game: that z_b d_b + z_a d_a - f_a >= s for
all of them needs z_a = max(0, (s + f_a - z_b d_b)/d_a). The largest s has a z_b that makes the sum 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ..kernels._jit import kernel
from ..kernels._types import Array
from ..kernels.families import cost, slopes
from ..kernels.layout import MEANS, OUT, PULLS, SELECT, Select
from ..kernels.random import Words
from ..kernels.tracking import TIE, arms_left
from ._base import Strategy

POWER = -0.9  # of t, in how near to the least cost another one counts
HALVINGS = 60

_X, _Z, _COST, _AT_LEADER, _AT_ARM = range(5)


@kernel("f8(f8[:, ::1], f8, f8)")
def total_share(memory: Array, s: float, z_b: float) -> float:
    """The sum of z that the level s needs with z_b at the leader."""
    total = z_b
    for a in range(memory.shape[1]):
        if memory[_AT_ARM, a] > 0.0:
            need = s + memory[_COST, a] - z_b * memory[_AT_LEADER, a]
            total += max(0.0, need / memory[_AT_ARM, a])
    return total


@kernel("UniTuple(f8, 2)(f8[:, ::1], f8)")
def least_total(memory: Array, s: float) -> tuple[float, float]:
    """The least of `total_share` over z_b in [0, 1], and the first place: convex, a kink for each arm."""
    found, least = 0.0, total_share(memory, s, 0.0)
    for a in range(memory.shape[1]):
        if memory[_AT_ARM, a] > 0.0:
            z_b = (s + memory[_COST, a]) / memory[_AT_LEADER, a]
            if 0.0 < z_b <= 1.0:
                total = total_share(memory, s, z_b)
                if total < least - TIE or (total <= least + TIE and z_b < found):
                    found, least = z_b, total
    return least, found


@kernel("void(f8[:, ::1], i8)", apart=True)
def play(memory: Array, b: int) -> None:
    """The answer z to the game of the arms whose _AT_ARM is positive."""
    low, high = 0.0, 0.0
    for a in range(memory.shape[1]):
        memory[_Z, a] = 0.0
        if memory[_AT_ARM, a] > 0.0:
            high = max(high, memory[_AT_LEADER, a] + memory[_AT_ARM, a])
    for _ in range(HALVINGS):
        s = 0.5 * (low + high)
        least, _ = least_total(memory, s)
        if least <= 1.0:
            low = s
        else:
            high = s
    _, memory[_Z, b] = least_total(memory, low)
    total = memory[_Z, b]
    for a in range(memory.shape[1]):
        if memory[_AT_ARM, a] > 0.0:
            need = low + memory[_COST, a] - memory[_Z, b] * memory[_AT_LEADER, a]
            memory[_Z, a] = max(0.0, need / memory[_AT_ARM, a])
            total += memory[_Z, a]
    for a in range(memory.shape[1]):
        memory[_Z, a] /= total


@kernel("i8(const(f8[::1]), const(f8[:, ::1]), i8, f8[:, ::1], f8)")
def costs(params: Array, state: Array, b: int, memory: Array, t: float) -> int:
    """The costs and slopes at x into the memory, of the arms whose cost is nearly the least; how many."""
    x, K, least, number = memory[_X], memory.shape[1], math.inf, 0
    for a in range(K):
        memory[_COST, a], memory[_AT_LEADER, a], memory[_AT_ARM, a] = math.inf, 0.0, 0.0
        if a != b and state[OUT, a] == 0.0:
            memory[_COST, a] = cost(params, state, b, a, x[b], x[a])
            least = min(least, memory[_COST, a])
    for a in range(K):
        if memory[_COST, a] < least + math.pow(t, POWER) / K:
            memory[_AT_LEADER, a], memory[_AT_ARM, a] = slopes(params, state, b, a, x[b], x[a])
            number += int(memory[_AT_ARM, a] > 0.0)
    return number


@kernel("b1(const(f8[:, ::1]), i8)")
def shared_lead(state: Array, b: int) -> bool:
    """Whether another arm has the mean of the leader."""
    shared = False
    for a in range(state.shape[1]):
        shared = shared or (a != b and state[MEANS, a] >= state[MEANS, b] - TIE)
    return shared


@kernel("void(const(f8[::1]), const(f8[:, ::1]), i8, f8[:, ::1], f8)")
def direction(params: Array, state: Array, b: int, memory: Array, t: float) -> None:
    """z; as if two arms led where no cost is known, before variances are seen."""
    K, near = memory.shape[1], 0
    turns = math.floor(t / K)
    root = math.floor(math.sqrt(turns) + 0.5)
    if root * root != turns and not shared_lead(state, b):
        near = costs(params, state, b, memory, t)
    if near == 0:
        for a in range(K):
            memory[_Z, a] = 1.0 / arms_left(state) if state[OUT, a] == 0.0 else 0.0
    elif near > 1:
        play(memory, b)
    else:
        for a in range(K):
            memory[_Z, a] = 0.0
        for a in range(K):
            if memory[_AT_ARM, a] > 0.0:
                more = memory[_AT_LEADER, a] >= memory[_AT_ARM, a] * (1.0 - TIE)
                memory[_Z, b if more else a] = 1.0


@kernel(SELECT)
def select(
    t: float, last: int, leader: int, state: Array, params: Array, memory: Array, random: Words
) -> int:
    """As the module says."""
    x, top, arm = memory[_X], -math.inf, leader
    if x[leader] == 0.0:
        for a in range(x.size):
            x[a] = 1.0 / x.size
    direction(params, state, leader, memory, t)
    for a in range(x.size):
        x[a] = x[a] * ((t - 1.0) / t) + memory[_Z, a] / t
    for a in range(x.size):
        if state[OUT, a] == 0.0 and x[a] / state[PULLS, a] > top:
            arm, top = a, x[a] / state[PULLS, a] * (1.0 + TIE)
    return arm


@dataclass(frozen=True)
class FrankWolfe(Strategy):
    """Frank-Wolfe sampling (FWS) of Wang, Tzeng & Proutière 2021.

    The samples are optimal for delta to 0. Forced exploration is part of it: whenever floor(t/K) is a perfect
    square. Its steps are 1/t, so that what early means led to takes long to be made up for.
    """

    name = "fws"
    rows: ClassVar[tuple[str, ...]] = ("target", "step", "cost", "at leader", "at arm")

    @property
    def select(self) -> Select:
        return select
