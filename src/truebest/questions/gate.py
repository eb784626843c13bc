"""Is an arm not worse than the old one, by more than a margin?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .. import _door
from ..errors import InvalidInputError
from ..kernels.questions import GATE
from .base import Question


@dataclass(frozen=True)
class Gate(Question):
    """Of every arm but the baseline: whether it is not worse than that by more than a margin.

    An arm *passes* or *fails*, and is undecided meanwhile; exactly one of both is right. With a margin above
    0 it passes when it is "not worse by more than the margin", and fails when it is "worse by more than the
    margin". With a margin of 0 or below it passes when it is "better", or "better by more than -margin", and
    fails when it is not: of two equal arms none is better.

    baseline  the number of the old one
    margin    in the values' units; below 0, by how much an arm must be better
    """

    baseline: int = 0
    margin: float = 0.0

    def __post_init__(self) -> None:
        advice = "it is the number of the arm that the others are compared with, from 0 on"
        object.__setattr__(self, "baseline", _door.whole("baseline", self.baseline, 0, 10**6, advice))
        object.__setattr__(self, "margin", _door.scalar("margin", self.margin))

    def told(self, unit: float) -> tuple[float, float, float]:
        return float(GATE), float(self.baseline), self.margin / unit

    def false_claims(self, num_arms: int) -> int:
        """Every other arm has one wrong verdict."""
        return num_arms - 1

    def check(self, num_arms: int, limits: tuple[float, float] | None) -> None:
        if self.baseline >= num_arms:
            raise InvalidInputError(
                f"baseline must be one of {num_arms} arms, from 0 to {num_arms - 1}, got {self.baseline}; it "
                f"is the arm that the others are compared with."
            )
        width = float("inf") if limits is None else limits[1] - limits[0]
        if not abs(self.margin) < width:
            raise InvalidInputError(
                f"margin must be smaller than the distance of the bounds, {width:g}, got {self.margin:g}; no "
                f"arm can be worse or better than another by more."
            )

    def scaled(self, width: float) -> Gate:
        return replace(self, margin=self.margin / width)

    def named(self, labels: Sequence[float]) -> int:  # noqa: ARG002
        """None: an answer says of every arm whether it passes."""
        return -1
