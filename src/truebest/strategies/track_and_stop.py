"""Track-and-Stop (Algorithm 3): track the optimal weights of the estimated means, with forced exploration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .. import _args
from ..kernels._jit import kernel
from ..kernels._types import Array
from ..kernels.families import open_weights, weights
from ..kernels.layout import OWN, PULLS, SELECT, Select
from ..kernels.random import Words
from ..kernels.tracking import rarest_open, still_rarest, track, track_open
from ._base import Strategy

_TARGET, _SUM, _WARM, _ROOM = range(4)  # in the third: the last root, and 1 + the arm with the fewest pulls


@kernel(SELECT)
def select(
    t: float, last: int, leader: int, state: Array, params: Array, memory: Array, random: Words
) -> int:
    """Algorithm 3; on a forced step no weights are computed, and none are added to the sums."""
    pulls, target = state[PULLS], memory[_TARGET]
    arm = still_rarest(state, last, int(memory[_WARM, 1]) - 1)
    memory[_WARM, 1] = arm + 1.0
    reach = pulls[arm] + 0.5 * pulls.size
    if reach * reach < t:  # N_a < sqrt(t) - K/2, exactly and without the root
        for a in range(pulls.size):
            target[a] = 0.0
        target[arm] = 1.0
        return arm
    memory[_WARM, 0] = weights(params, state, leader, memory[_WARM, 0], target)
    return track(state, target, memory[_SUM], t, params[OWN] != 0.0)


@kernel(SELECT)
def select_open(
    t: float, last: int, leader: int, state: Array, params: Array, memory: Array, random: Words
) -> int:
    """Algorithm 3 on the arms that the rule has not settled."""
    target = memory[_TARGET]
    arm = rarest_open(state, leader)
    reach = state[PULLS, arm] + 0.5 * target.size
    if reach * reach < t:
        for a in range(target.size):
            target[a] = 0.0
        target[arm] = 1.0
        return arm
    memory[_WARM, 0] = open_weights(params, state, leader, memory[_WARM, 0], memory[_ROOM], target)
    return track_open(state, leader, target, memory[_SUM], t, params[OWN] != 0.0)


@dataclass(frozen=True)
class TrackAndStop(Strategy):
    """Track-and-Stop (Algorithm 3) of Garivier & Kaufmann 2016.

    Attributes
    ----------
    tracking
        "C": follow the sums of the target weights; "D": the current ones, often faster
    open_only
        True samples only arms that the stopping rule has not settled, which then are out for good, and tracks
        the weights of these; that takes fewer samples. The theorem is about False
    """

    tracking: str = "D"
    open_only: bool = False  # type: ignore[misc]

    rows: ClassVar[tuple[str, ...]] = ("target", "sum", "warm", "room")
    adds_up: ClassVar[str | None] = "sum"

    def __post_init__(self) -> None:
        _args.choice("tracking", self.tracking, ("C", "D"))
        _args.flag("open_only", self.open_only)

    @property
    def name(self) -> str:
        return f"tas-{self.tracking.lower()}" + "(open_only=True)" * self.open_only

    @property
    def select(self) -> Select:
        return select_open if self.open_only else select

    def parameters(self, num_arms: int, sigma: float) -> npt.NDArray[np.float64]:
        return np.array([1.0 if self.tracking == "D" else 0.0])
