"""What `identify` returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from html import escape
from typing import Any

from .._html import table
from .._text import cell_of_markdown, markdown_table, rough
from ..experiment.status import Interval, Status

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

    def __str__(self) -> str:
        if self.best is None:
            why = WHY.get(self.ended, "")
            text = super().__str__() + (f" ({why})" if why and not self.suspended else "")
        else:
            about = f" (uniform: about {rough(self.uniform)})" if self.uniform else ""
            text = super().__str__() + about
            if self.resumed >= self.samples:
                text += "; already decided, so nothing was run"
        text += f"; {self.versus_control}" if self.versus_control else ""
        return text + "".join(f"; note: {note}" for note in self.notes(self.best is not None))

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows: the leader first, then the others by mean."""
        header = ["arm", "samples", "mean", "sd", f"{self.leader or 'leader'} is better by"]
        header += [f"better than {self.control} by"] if self.control is not None else []
        sign = -1.0 if self.minimize else 1.0
        order = sorted(self.arms, key=lambda arm: (arm != self.leader, -sign * (self.means[arm] or 0.0)))
        return header, [
            [
                arm,
                str(self.pulls[arm]),
                _shown(self.means[arm]),
                _shown(self.deviations.get(arm)),
                self._better(arm),
                *([interval_text(self.against_control.get(arm))] if self.control is not None else []),
            ]
            for arm in order
        ]

    def to_markdown(self) -> str:
        """The sentence and the table, as Markdown."""
        return f"{cell_of_markdown(str(self))}\n\n{markdown_table(*self.table())}"

    def plot(self) -> Any:
        """A picture of the means' differences and of where the samples went: a Matplotlib figure."""
        from ..plots.identification import draw

        return draw(self)

    def _better(self, arm: str) -> str:
        words = interval_text(self.intervals.get(arm))
        return words + (", ruled out" if words and arm in self.ruled_out and self.best is None else "")

    def _repr_html_(self) -> str:
        header, rows = self.table()
        return f"<p>{escape(str(self))}</p>{table(header, rows)}"


def interval_text(ends: Interval | None) -> str:
    """An interval, "" for one that is not bounded."""
    if ends is None or not (math.isfinite(ends[0]) and math.isfinite(ends[1])):
        return ""
    return f"{_shown(ends[0])} to {_shown(ends[1])}"


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
