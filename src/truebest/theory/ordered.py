"""Values of which only the order is known: times without bounds, preferences, ratings on no scale."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .models import Model


@dataclass(frozen=True)
class Ordered(Model):
    """Values that are compared, never averaged: any numbers, infinite ones among them.

    No stopping rule for means computes with them; `designs.Wins` counts who was better in each round.
    positive  whether they must be at least 0, which a tolerance that is a factor needs
    """

    positive: bool = False

    @property
    def code(self) -> int:
        raise NotImplementedError("no kernel computes with values of which only the order is known")

    @property
    def unit(self) -> float:
        return 1.0

    @property
    def finest(self) -> float:
        return math.inf

    @property
    def anchored(self) -> bool:
        return True

    @property
    def words(self) -> str:
        return "values of which only the order counts"

    @property
    def limits(self) -> tuple[float, float] | None:
        return (0.0, math.inf) if self.positive else None

    @property
    def demand(self) -> str:
        return "at least 0" if self.positive else "a number"
