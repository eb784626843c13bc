"""Is the mean of an arm at least a number, or at most?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from .. import _args
from .._text import exactly
from ..errors import InvalidInputError
from ..kernels.questions import THRESHOLD
from .base import PerArm


@dataclass(frozen=True)
class AtLeast(PerArm):
    """Of every arm, also of a single one: whether its mean is at least a threshold, or below it.

    An arm *passes* when its mean is at least the threshold, and *fails* when it is below; all verdicts
    together are right with probability 1 - delta.

    Attributes
    ----------
    threshold
        in the values' units
    """

    threshold: float

    of_number = True
    fewest = 1
    # Of the threshold, where an arm passes, and where it fails
    sides: ClassVar[tuple[str, str]] = ("at least", "below")

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", _args.scalar("threshold", self.threshold) or 0.0)

    def told(self) -> tuple[float, float, float]:
        return float(THRESHOLD), float(not self.upwards), self.threshold

    def false_claims(self, num_arms: int) -> int:
        """Every arm has one wrong verdict."""
        return self.verdicts(num_arms)

    def verdicts(self, num_arms: int) -> int:
        return num_arms

    def check(self, num_arms: int, limits: tuple[float, float] | None, minimize: bool = False) -> None:
        super().check(num_arms, limits, minimize)
        low, high = (-float("inf"), float("inf")) if limits is None else limits
        apart = low < self.threshold <= high if self.upwards else low <= self.threshold < high
        if not (apart and abs(self.threshold) < float("inf")):
            ends = ("above", "at most") if self.upwards else ("at least", "below")
            within = f"{ends[0]} {exactly(low)}, and {ends[1]} {exactly(high)}, as values are"
            within = "finite" if limits is None else within
            raise InvalidInputError(
                f"{self} needs a number that is {within}; it is what the mean of an arm is compared with."
            )
        if minimize:
            raise InvalidInputError(
                f"{self} says on which side of a number means are to lie, got minimize=True too; leave "
                f"minimize out"
                + (f", and ask for at most {exactly(self.threshold)} instead." if self.upwards else ".")
            )

    def placed(self, zero: float, unit: float) -> AtLeast:
        return replace(self, threshold=(self.threshold - zero) / unit)

    def reference(self, arms: Sequence[str]) -> int:  # noqa: ARG002
        return -1

    def verdict(self, passed: bool, arms: Sequence[str]) -> str:  # noqa: ARG002
        return f"{self.sides[0 if passed else 1]} {exactly(self.threshold)}"

    def subject(self, arms: str, many: bool = False) -> str:
        return f"the mean{'s' * many} of {arms}"

    def measure(self, arms: Sequence[str]) -> str:  # noqa: ARG002
        return "mean"

    def about(self, arms: Sequence[str]) -> str:  # noqa: ARG002
        return "The mean of each option"

    def clause(self, arm: str, seen: str, ends: str, arms: Sequence[str], so_far: str = "") -> str:  # noqa: ARG002
        rest = f" ({ends})" if seen and ends else ends
        return f"the mean of {arm} is {seen}{so_far if seen else ''}{rest}"

    def base(self, means: Sequence[float | None], arms: Sequence[str]) -> float | None:  # noqa: ARG002
        return 0.0

    @property
    def mark(self) -> float:
        return self.threshold


@dataclass(frozen=True)
class AtMost(AtLeast):
    """Of every arm, also of a single one: whether its mean is at most a threshold, or above it.

    As `AtLeast`, for times, costs and errors: an arm *passes* when its mean is at most the threshold, and
    *fails* when it is above.

    Attributes
    ----------
    threshold
        in the values' units
    """

    upwards = False
    sides = "at most", "above"
