"""A picture of one moment of a run: text for terminals, HTML for notebooks; no state, no clock."""

from __future__ import annotations

import html
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._text import clean, rough_range
from ..experiment.forecast import Forecast
from ..telling import words
from ..telling.account import Account
from ..telling.answers import Suspended, Undecided, UsedUp
from .page import arm_table, bar, escaped
from .terminal import WIDEST_BAR, arm_lines

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text

MOST_ARMS = 20
LONGEST_SENTENCE = 500  # characters; the name of an arm alone may have 1000


@dataclass(frozen=True)
class Frame:
    """One moment of a run; a `rich` console of any width prints it.

    seconds      since the run began
    max_samples  the budget, if there is one
    before       samples that were there when it began
    held         whether to say what the decision waits for: it has waited for long
    """

    now: Account
    forecast: Forecast
    seconds: float
    max_samples: int | None = None
    before: int = 0
    held: bool = False

    def facts(self) -> list[str]:
        """How many samples, how many more, how long; in a few words each."""
        samples = self.now.samples
        budget = "" if self.max_samples is None else f" of at most {self.max_samples}"
        found = [f"{samples}{budget} samples", f"{_clock(self.seconds)} elapsed", *self._outlook()]
        pending = sum(one.pending for one in self.now.standings)
        if pending and not self.now.over:
            found.append(f"{pending} pending")
        waiting = self.now.progress.waiting
        if waiting and not isinstance(self.now.answer, Undecided | UsedUp):  # else the sentence says it
            found.append(f"{waiting} waiting for an earlier pull")
        return found

    def _outlook(self) -> list[str]:
        now, more = self.now, self.forecast.samples
        if now.decided or isinstance(now.answer, Suspended):
            return []
        if more is None or self.forecast.reason:
            return [self.forecast.reason]
        text = self.forecast.words
        done = now.samples - self.before
        low, high = self.forecast.low, self.forecast.high
        if low is None or high is None:
            return [text]
        if done > 0 and self.seconds >= 1.0:
            pace = self.seconds / done
            least, most = (_clock(end * pace) for end in rough_range(low, high))
            text += f", {least} to {most} at this pace"
        if self.max_samples is not None and now.samples + low > self.max_samples:
            text += ", beyond the budget"
        return [text]

    def notes(self) -> list[str]:
        """What should be known."""
        notes = words.notes(self.now, self.now.decided)
        notes += [words.hold(self.now)] if self.held else []
        return [f"note: {note}" for note in notes]

    def text(self, width: int = 100) -> str:
        """As plain text."""
        from rich.console import Console

        file = io.StringIO()
        # In a notebook rich would display the text there, instead of writing it to the file.
        console = Console(file=file, width=width, height=100, force_jupyter=False, color_system=None)
        console.print(self, end="")
        return file.getvalue()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        width, ascii_only = options.max_width, options.ascii_only
        fill = "#" if ascii_only else "━"

        def prose(text: str, style: str = "", most: int = LONGEST_SENTENCE) -> Text:
            return Text(clean(_short(text, most), ascii_only), style=style)

        now = self.now
        suspended, known = isinstance(now.answer, Suspended), now.progress.statistic is not None
        colour = "bold red" if suspended else "bold green" if now.decided else "bold"
        said, part = words.evidence(now)
        said = f"evidence: {said}"
        cells = max(0, min(WIDEST_BAR, width - len(said) - 2)) if part or known else 0
        full = round(part * cells)
        evidence = Text(said + "  ", no_wrap=True, overflow="crop", end="\n")
        evidence.append(fill * full, style="green" if now.decided else "cyan")
        evidence.append(("." if ascii_only else "─") * (cells - full), style="dim")
        above = [prose(str(now), colour), *map(prose, words.beyond(now))]
        below = [evidence, prose(("; " if ascii_only else " · ").join(self.facts()))]
        below += [prose(words.ends(now), "dim")] if words.ends(now) else []
        below += [prose(note, "yellow", 2 * width) for note in self.notes()]
        taken = sum(len(text.wrap(console, width)) for text in above + below)
        room = options.max_height - taken - 3  # a header, a line for the rest, one to spare
        yield from above
        yield from arm_lines(now, width, min(MOST_ARMS, max(3, room)), ascii_only)
        yield from below

    def html(self) -> str:
        """As HTML; whatever was given is escaped."""
        now = self.now
        said, part = words.evidence(now)
        said = f"evidence: {said}"
        drawn = "" if now.progress.statistic is None else bar(part, 200)
        beyond = "".join(f"<div>{escaped(line)}</div>" for line in words.beyond(now))
        notes = "".join(f"<div>{escaped(_short(note, LONGEST_SENTENCE))}</div>" for note in self.notes())
        return (
            f"<div><div>{escaped(_short(str(now), LONGEST_SENTENCE), True)}</div>{beyond}"
            f"{arm_table(now, MOST_ARMS)}<div>{escaped(words.ends(now))}</div>"
            f"<div>{html.escape(said)} {drawn}</div>"
            f"<div>{escaped(' · '.join(self.facts()))}</div>{notes}</div>"
        )


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
