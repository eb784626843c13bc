"""Which arms are better than the control?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import _args
from .._text import exactly
from ..errors import InvalidInputError
from .comparison import Comparison, better, checked_baseline

BETTER = "better"


@dataclass(frozen=True)
class Against(Comparison):
    """Of every arm but the control: whether it is better than that, by more than a margin, or not better.

    All verdicts together are right with probability 1 - delta; of two equal arms none is better. With
    only="better" that is promised of those which are found to be better, the list of what to ship, and apart
    from that of those which are found not to be: each list has the whole delta. The more arms are on a list,
    the less evidence the others need.

    Attributes
    ----------
    baseline
        the control: its name, or its number, from 0 on
    margin
        in the values' units, by how much an arm must be better to count; at least 0
    only
        "better", or None for both verdicts together
    """

    baseline: int | str = 0
    margin: float = 0.0
    only: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "baseline", checked_baseline(self.baseline))
        object.__setattr__(self, "margin", _args.scalar("margin", self.margin) or 0.0)
        if not self.margin >= 0.0:
            raise InvalidInputError(
                f"margin must be at least 0, got {exactly(self.margin)}; to ask which arms are not worse by "
                f"more than that, ask Gate({self.baseline!r}, margin={exactly(-self.margin)})."
            )
        if self.only is not None:
            _args.choice("only", self.only, (BETTER,))

    @property
    def allowed(self) -> float:
        return -self.margin or 0.0

    def verdict(self, passed: bool, arms: Sequence[str]) -> str:
        return better(passed, arms[self.reference(arms)], self.mark)

    @property
    def pools(self) -> bool:
        return self.only is not None
