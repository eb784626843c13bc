"""What `identify` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._text import rough
from ..telling import columns, words
from ..telling.account import Account
from ..telling.answers import Suspended

WHY = {
    "max_samples": "the samples ran out",
    "timeout": "the time ran out",
    "callback": "a callback ended the run",
    "items": "the items are used up",
}


@dataclass(frozen=True)
class Result(Account):
    """What was found: an `Account`, and how the run ended.

    Attributes
    ----------
    ended
        "decided", "stopped" (by hand, for good), "callback", "max_samples", "timeout", or "items" if these
        are used up without a decision
    seconds
        how long this run took
    resumed
        how many of the samples were there before this run
    uniform
        how many samples uniform sampling would take in total at the estimated means, None if unknown and for
        two arms, where every strategy is uniform
    """

    ended: str = ""
    seconds: float = 0.0
    resumed: int = 0
    uniform: int | None = None

    @classmethod
    def of(
        cls, now: Account, *, ended: str, seconds: float, resumed: int, uniform: int | None = None
    ) -> Result:
        """An account, with how the run went."""
        return cls(**vars(now), ended=ended, seconds=seconds, resumed=resumed, uniform=uniform)

    @property
    def sentence(self) -> str:
        """What was found, in one sentence, with everything that should be known of it."""
        text, control = super().sentence, words.versus_control(self)
        if not self.decided:
            why = WHY.get(self.ended, "")
            text += f"; {why}" if why and not isinstance(self.answer, Suspended) else ""
        else:
            text += f" (uniform: about {rough(self.uniform)})" if self.uniform else ""
            if self.resumed >= self.samples:
                text += "; already decided, so nothing was run"
        text += f"; {control}" if control else ""
        return text + "".join(
            f"; note: {note}" for note in words.notes(self, self.decided) if note not in text
        )

    def __str__(self) -> str:
        return columns.as_text(self)

    def plot(self) -> Any:
        """A picture of the means' differences and of where the samples went: a Matplotlib figure."""
        from ..plots.identification import draw

        return draw(self)
