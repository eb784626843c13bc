"""Which arm wins against every other one, if any does: of rounds in which only wins count."""

from __future__ import annotations

from dataclasses import dataclass

from ..kernels.questions import WINNER
from .base import Question


@dataclass(frozen=True)
class Winner(Question):
    """Which arm wins against every other one in more than half of the rounds that are not ties, or that
    none does.

    Nothing is assumed: preferences may go round in a circle.
    """

    by_means = False

    def told(self) -> tuple[float, float, float]:
        return float(WINNER), 0.0, 0.0

    def false_claims(self, num_arms: int) -> int:
        """If w wins against all, the K - 1 claims against it; else, for every arm, one of those it makes."""
        return num_arms
