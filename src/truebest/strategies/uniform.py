"""Uniform sampling: one arm after the other, until the stopping rule is satisfied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..kernels._jit import kernel
from ..kernels._types import Array
from ..kernels.layout import SELECT, Select
from ..kernels.random import Words
from ..kernels.tracking import rarest
from ._base import Strategy


@kernel(SELECT)
def select(
    t: float, last: int, leader: int, state: Array, params: Array, memory: Array, random: Words
) -> int:
    """The arm with the fewest pulls."""
    return rarest(state)


@dataclass(frozen=True)
class Uniform(Strategy):
    """Uniform sampling, the baseline."""

    name = "uniform"
    adds_up: ClassVar[str | None] = ""
    in_turn: ClassVar[bool] = True

    @property
    def select(self) -> Select:
        return select
