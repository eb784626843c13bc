"""What `identify` returns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from .._text import rough
from ..experiment.status import Status
from ..experiment.tables import as_text

WHY = {
    "max_samples": "the samples ran out",
    "timeout": "the time ran out",
    "callback": "a callback ended the run",
    "items": "the items are used up",
}


@dataclass(frozen=True)
class Result(Status):
    """What was found; everything a `Status` says, and how the run ended.

    ended    "decided", "stopped" (by hand, for good), "callback", "max_samples", "timeout", or "items" if
             these are used up without a decision
    seconds  how long this run took
    resumed  how many of the samples were there before this run
    uniform  how many samples uniform sampling would take in total at the estimated means, None if unknown
             and for two arms, where every strategy is uniform
    """

    ended: str = ""
    seconds: float = 0.0
    resumed: int = 0
    uniform: int | None = None

    @classmethod
    def of(
        cls, status: Status, *, ended: str, seconds: float, resumed: int, uniform: int | None = None
    ) -> Result:
        """A status, with how the run went."""
        found = {field.name: getattr(status, field.name) for field in fields(status)}
        return cls(**found, ended=ended, seconds=seconds, resumed=resumed, uniform=uniform)

    @property
    def best(self) -> str | None:
        """The best arm; None when undecided, never a guess (that is `leader`)."""
        return self.decision

    def to_dict(self) -> dict[str, Any]:
        return {"best": self.best, **super().to_dict()}

    @property
    def sentence(self) -> str:
        """What was found, in one sentence, with everything that should be known of it."""
        text = super().sentence
        if not self.decided:
            why = WHY.get(self.ended, "")
            text += f" ({why})" if why and not self.suspended else ""
        else:
            text += f" (uniform: about {rough(self.uniform)})" if self.uniform else ""
            if self.resumed >= self.samples:
                text += "; already decided, so nothing was run"
        text += f"; {self.versus_control}" if self.versus_control else ""
        return text + "".join(f"; note: {note}" for note in self.notes(self.decided) if note not in text)

    def __str__(self) -> str:
        return as_text(self, self.sentence)

    def plot(self) -> Any:
        """A picture of the means' differences and of where the samples went: a Matplotlib figure."""
        from ..plots.identification import draw

        return draw(self)
