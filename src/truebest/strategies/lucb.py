"""LUCB++: sample the leader and the other arm that may still be better, in pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .. import _args
from ..kernels._jit import kernel
from ..kernels._types import Array
from ..kernels.divergences import BERNOULLI_MODEL, family_reach
from ..kernels.layout import DELTA, MEANS, MODEL, OUT, OWN, PULLS, SELECT, VARIANCES, Select
from ..kernels.random import Words, uniform
from ..kernels.tracking import TIE, drawn_leader
from ._base import TIES, Strategy

_BONUS, _PAIR = range(2)
_PENDING, _LEADER = 0, 1  # places in the second row: the challenger still to pull, plus one; the leader


@kernel("f8(f8, f8, i8, f8)")
def bonus(n: float, variance: float, num_arms: int, delta: float) -> float:
    """sqrt(3/N log(2K log(N)/δ)) standard deviations; inf for N = 1, where log log N is undefined."""
    if n < 2.0:
        return math.inf
    return math.sqrt(3.0 * variance / n * math.log(math.log(n) * 2.0 * num_arms / delta))


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8)")
def bonus_of(params: Array, state: Array, arm: int) -> float:
    """`bonus`; for an exponential family how far above its mean N d(mean, m) is 3/2 log(2K log(N)/δ)."""
    n, num_arms = state[PULLS, arm], state.shape[1]
    if params[MODEL] < BERNOULLI_MODEL or n < 2.0:
        return bonus(n, state[VARIANCES, arm], num_arms, params[DELTA])
    level = 1.5 * math.log(math.log(n) * 2.0 * num_arms / params[DELTA])
    return family_reach(params, state[MEANS, arm], level / n, 1.0)


@kernel("i8(const(f8[:, ::1]), const(f8[::1]), i8, b1, u8[::1])")
def challenger_of(state: Array, bonuses: Array, leader: int, lots: bool, random: Words) -> int:
    """The arm of largest index other than the leader. Equals draw lots; else the lowest number wins.

    So it does among infinite ones: all of these are pulled in turn.
    """
    means, out, top, arm, equals = state[MEANS], state[OUT], -math.inf, -1, 0.0
    for a in range(means.size):
        if a != leader and out[a] == 0.0:
            top = max(top, means[a] + bonuses[a])
    for a in range(means.size):
        if a != leader and out[a] == 0.0 and means[a] + bonuses[a] >= top - TIE:
            equals += 1.0
            if equals == 1.0 or (lots and top < math.inf and uniform(random) * equals < 1.0):
                arm = a
    return arm


@kernel(SELECT)
def select(
    t: float, last: int, leader: int, state: Array, params: Array, memory: Array, random: Words
) -> int:
    """The leader, then the challenger; stopping is checked after the pair."""
    bonuses, pair = memory[_BONUS], memory[_PAIR]
    if pair[_PENDING] > 0.0:
        challenger = int(pair[_PENDING]) - 1
        pair[_PENDING] = 0.0
        return challenger
    lots = params[OWN] != 0.0
    if lots:
        leader = drawn_leader(state, leader, random)
    if last < 0:
        for a in range(bonuses.size):
            bonuses[a] = bonus_of(params, state, a)
    else:
        previous = int(pair[_LEADER])
        bonuses[last] = bonus_of(params, state, last)
        bonuses[previous] = bonus_of(params, state, previous)
    pair[_LEADER] = leader
    pair[_PENDING] = challenger_of(state, bonuses, leader, lots, random) + 1
    return ~leader


@dataclass(frozen=True)
class LUCB(Strategy):
    """LUCB++ of Simchowitz, Jamieson & Recht 2017, with the paper's constant.

    An arm's index depends on its own pulls alone. Once it lies below the leader's mean the arm is left
    alone, so with a threshold that grows with time a run may never end. For Bernoulli, Poisson and
    exponential values the index is the largest mean m with N d(mean, m) at most what it is for normal ones.

    Attributes
    ----------
    ties
        "random" draws among equal leaders and challengers; with "first" the lowest number wins, as it did
    """

    ties: str = "random"

    rows: ClassVar[tuple[str, ...]] = ("bonus", "pair")
    uses_delta: ClassVar[bool] = True
    adds_up: ClassVar[str | None] = ""
    older: ClassVar[Mapping[str, object]] = {"ties": "first"}

    def __post_init__(self) -> None:
        _args.choice("ties", self.ties, TIES)

    @property
    def name(self) -> str:
        return "lucb++" + "(ties=first)" * (self.ties == "first")

    @property
    def select(self) -> Select:
        return select

    def once(self) -> LUCB:
        return LUCB(ties="first")

    def parameters(self, num_arms: int, sigma: float) -> npt.NDArray[np.float64]:
        return np.array([1.0 if self.ties == "random" else 0.0])

    def evidence_left(self, num_arms: int, delta: float) -> float | None:
        return None if num_arms == 2 else 1.5 * math.log(2 * num_arms * math.log(2.0) / delta)
