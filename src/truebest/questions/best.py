"""Which arm has the largest mean: the question that is asked if none is given."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _args
from ..kernels.questions import BEST, NOTHING
from .base import Question


@dataclass(frozen=True)
class BestArm(Question):
    """Which arm has the largest mean.

    Attributes
    ----------
    pairs
        whether an arm is out as soon as the one in front is proven to be better, and what is proven of two
        arms stays so. Otherwise the stopping rule or the design decides in its own way, which needs fewer
        samples from three arms on; so are all other questions answered
    """

    pairs: bool = False

    unique = rules_out = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", _args.flag("pairs", self.pairs))

    def told(self) -> tuple[float, float, float]:
        return float(BEST if self.pairs else NOTHING), 0.0, 0.0

    @property
    def by_claims(self) -> bool:
        return self.pairs

    def false_claims(self, num_arms: int) -> int:
        """The best arm must have been beaten by one of the others."""
        return num_arms - 1
