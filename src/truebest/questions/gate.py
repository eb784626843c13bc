"""Is an arm not worse than the old one, by more than a margin?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, replace
from fractions import Fraction

from .. import _args
from .._text import claimed, exactly
from ..errors import InvalidInputError
from .base import Means
from .comparison import Comparison, better, checked_baseline, number_of

UNSAID = (
    "give margin=, by how much a new one may be worse, such as margin=0.02; margin=0 asks whether it is "
    "better."
)


@dataclass(frozen=True)
class Gate(Comparison):
    """Of every arm but the baseline: whether it is not worse than that by more than a margin.

    An arm *passes* or *fails*, and is undecided meanwhile; exactly one of both is right. With a margin above
    0 it passes when it is "not worse by more than the margin", and fails when it is "worse by more than the
    margin". With a margin of 0 or below it passes when it is "better", or "better by more than -margin", and
    fails when it is not: of two equal arms none is better.

    Attributes
    ----------
    baseline
        the old one: its name, or its number, from 0 on
    margin
        in the values' units, default 0; below 0, by how much an arm must be better. Or as a part of the
        baseline's mean, "5%", where that mean is known for sure; it is then stored as a fraction, such as
        "1/60", if no decimal is exactly that
    at_least
        by how much an arm must be better; short for a margin of minus that
    """

    baseline: int | str = 0
    margin: float | str | Fraction | None = None
    at_least: InitVar[float | None] = None

    def __post_init__(self, at_least: float | None) -> None:
        object.__setattr__(self, "baseline", checked_baseline(self.baseline))
        if at_least is not None and self.margin is not None:
            raise InvalidInputError(
                f"give either margin or at_least, got {_args.short(self.margin)} and "
                f"{_args.short(at_least)}; at_least=0.01 is short for margin=-0.01."
            )
        if at_least is not None:
            object.__setattr__(self, "margin", -_positive(at_least))
        elif isinstance(self.margin, str):
            part = _part(self.margin)
            if not self.margin.endswith("%"):
                object.__setattr__(self, "margin", part)
        elif not isinstance(self.margin, Fraction):
            margin = 0.0 if self.margin is None else _args.scalar("margin", self.margin)
            object.__setattr__(self, "margin", margin or 0.0)

    @property
    def allowed(self) -> float:
        return float(self.margin or 0.0)

    def bound(self, arms: Sequence[str] | int, known: Means | None = None) -> Gate:
        """With the baseline as a number, and the margin in the values' units."""
        baseline, margin = number_of(self.baseline, arms), self.margin
        if isinstance(margin, str):
            name = str(baseline) if isinstance(arms, int) else arms[baseline]
            mean = None if known is None else known(name)
            if mean is None:
                raise InvalidInputError(
                    f"margin={margin!r} is a part of the baseline's mean, which must be known for sure, and "
                    f"the mean of {name} is not; give the margin as a number in the values' units."
                )
            exact = _part(margin) * abs(mean if isinstance(mean, Fraction) else Fraction(repr(mean)))
            margin = float(exact) if Fraction(repr(float(exact))) == exact else exact
        return replace(self, baseline=baseline, margin=margin)

    def verdict(self, passed: bool, arms: Sequence[str]) -> str:
        old, at = arms[self.reference(arms)], self.at
        if at < 0:
            return f"{'not ' * passed}worse than {old} by more than {claimed(-at, passed)}"
        return better(passed, old, at)

    @property
    def at(self) -> float | Fraction:
        return -self.margin if isinstance(self.margin, Fraction) else self.mark


def _positive(at_least: float) -> float:
    number = _args.scalar("at_least", at_least)
    if not number > 0.0:
        raise InvalidInputError(
            f"at_least must be positive, got {exactly(number)}; it is by how much an arm must be better, and "
            f"margin=0 asks for arms that are better at all."
        )
    return number


def _part(margin: str) -> Fraction:
    """What "5%" says, 1/20; or a fraction as it is stored, "1/60"."""
    try:
        if margin.endswith("%"):
            part = Fraction(repr(float(margin[:-1]))) / 100
        elif "/" in margin:
            part = Fraction(margin)
        else:
            raise ValueError
    except (ValueError, ZeroDivisionError):
        raise InvalidInputError(
            f"margin must be a number in the values' units, or a part of the baseline's mean such as '5%', "
            f"got {_args.short(margin)}; give 0.02, say."
        ) from None
    return part
