"""Questions in which every other arm is compared with one, the baseline, and passes or fails."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .. import _args
from .._text import claimed, exactly
from ..errors import InvalidInputError
from ..kernels.questions import GATE, LISTED
from .base import Means, PerArm

_ADVICE = "it is the name of the arm that the others are compared with, or its number, from 0 on"


class Comparison(PerArm):
    """See the module; a dataclass with these fields.

    baseline  the arm that the others are compared with: its name, or its number, from 0 on
    margin    in the values' units
    """

    baseline: int | str
    margin: Any

    @property
    @abstractmethod
    def allowed(self) -> float:
        """How much worse an arm that passes may be; at 0 or below, minus what it must be better by."""

    @property
    def pools(self) -> bool:
        return False

    def bound(self, arms: Sequence[str] | int, known: Means | None = None) -> Comparison:  # noqa: ARG002
        """With the baseline as a number."""
        return replace(self, baseline=number_of(self.baseline, arms))  # type: ignore[type-var]

    def spelled(self, arms: Sequence[str]) -> Comparison:
        return replace(self, baseline=arms[self.reference(arms)])  # type: ignore[type-var]

    def told(self) -> tuple[float, float, float]:
        return float(LISTED if self.pools else GATE), float(self.baseline), self.allowed

    def false_claims(self, num_arms: int) -> int:
        """Every other arm has one wrong verdict; of a list, one average over those that are wrong on it."""
        return 1 if self.pools else self.verdicts(num_arms)

    def check(self, num_arms: int, limits: tuple[float, float] | None, minimize: bool = False) -> None:
        super().check(num_arms, limits, minimize)
        width = math.inf if limits is None else limits[1] - limits[0]
        if not abs(self.allowed) < width:
            name = "at_least, or minus the margin," if self.margin < 0.0 else "margin"
            raise InvalidInputError(
                f"{name} must be smaller than the distance between the bounds, {exactly(width)}, got "
                f"{exactly(abs(float(self.margin)))}; no arm can be worse or better than another by more."
            )

    def placed(self, zero: float, unit: float) -> Comparison:  # noqa: ARG002
        return replace(self, margin=float(self.margin) / abs(unit))  # type: ignore[type-var]

    def reference(self, arms: Sequence[str]) -> int:
        return number_of(self.baseline, arms)

    def measure(self, arms: Sequence[str]) -> str:
        return f"better than {arms[self.reference(arms)]} by"

    def about(self, arms: Sequence[str]) -> str:
        return f"By how much each option is better than {arms[self.reference(arms)]}"

    def clause(self, arm: str, seen: str, ends: str, arms: Sequence[str], so_far: str = "") -> str:
        old, value = arms[self.reference(arms)], float(seen or 1.0)
        if not seen:
            return f"{arm} is {self.measure(arms)} {ends}"
        if value > 0.0:
            return f"{arm} is {self.measure(arms)} {seen}{so_far}" + (f" ({ends})" if ends else "")
        said = f"worse than {old} by {seen.removeprefix('-')}" if value < 0.0 else f"as good as {old}"
        return f"{arm} is {said}{so_far}" + (f" (better by {ends})" if ends else "")

    @property
    def mark(self) -> float:
        return 0.0 - self.allowed

    @property
    def passes_at_mark(self) -> bool:
        return self.allowed > 0.0


def better(passed: bool, old: str, mark: float | Fraction) -> str:
    """That an arm is better than another one, by more than a mark of 0 or more; or that it is not."""
    more = f" by more than {claimed(mark, not passed)}" if mark else ""
    return f"{'not ' * (not passed)}better than {old}{more}"


def checked_baseline(given: int | str) -> int | str:
    """A name, or a number from 0 on."""
    return given if isinstance(given, str) else _args.whole("baseline", given, 0, 10**6, _ADVICE)


def number_of(arm: int | str, arms: Sequence[str] | int) -> int:
    """The number of the baseline; of so many arms, if they have no names."""
    many = arms if isinstance(arms, int) else len(arms)
    if not isinstance(arms, int) and arm in arms:
        return arms.index(str(arm))
    if isinstance(arm, str) or not arm < many:
        allowed = "" if isinstance(arms, int) else f"one of the arms {', '.join(arms)[:200]}"
        if not (allowed and isinstance(arm, str)):
            allowed += f"{', or ' * bool(allowed)}a number from 0 to {many - 1}"
        raise InvalidInputError(
            f"baseline must be {allowed}, got {_args.short(arm)}; it is the arm that the others are compared "
            f"with."
        )
    return arm
