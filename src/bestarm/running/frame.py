"""A picture of one moment of a run: text for terminals, HTML for notebooks; no state, no clock."""

from __future__ import annotations

import html
import io
import math
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._text import rough
from ..experiment.forecast import Forecast
from ..experiment.status import Interval, Status

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text

MOST_ARMS = 20
LONGEST_SENTENCE = 500  # characters; the name of an arm alone may have 1000
SHARE, LEAST_BAR, WIDEST_BAR = 8, 8, 44  # cells
UNKNOWN = (-math.inf, math.inf)
JOINERS = dict.fromkeys((0x200C, 0x200D, 0xFE0E, 0xFE0F))  # terminals disagree on the width of what they join


@dataclass(frozen=True)
class Frame:
    """One moment of a run; a `rich` console of any width prints it.

    seconds      since the run began
    max_samples  the budget, if there is one
    before       samples that were there when it began
    """

    status: Status
    forecast: Forecast
    seconds: float
    max_samples: int | None = None
    before: int = 0

    def facts(self) -> list[str]:
        """How many samples, how many more, how long; in a few words each."""
        status, samples = self.status, self.status.samples
        budget = "" if self.max_samples is None else f" of at most {self.max_samples}"
        found = [f"{samples}{budget} samples", f"{_clock(self.seconds)} elapsed", *self._outlook()]
        pending = sum(status.pending.values())
        if pending:
            found.append(f"{pending} pending")
        if status.waiting:
            found.append(f"{status.waiting} waiting for an earlier pull")
        return found

    def _outlook(self) -> list[str]:
        status, more = self.status, self.forecast.samples
        if status.decision is not None or status.suspended:
            return []
        if more is None or self.forecast.reason:
            return [self.forecast.reason]
        text = f"about {rough(more)} more"
        done = status.samples - self.before
        if done > 0 and self.seconds >= 1.0:
            text += f", {_clock(rough(more) * self.seconds / done)} at this pace"
        if self.max_samples is not None and status.samples + more > self.max_samples:
            text += ", beyond the budget"
        return [text]

    def evidence(self) -> tuple[str, float]:
        """The statistic against its threshold, in words and as a part of 1."""
        z, beta = self.status.statistic, self.status.threshold
        if z is None or beta is None:
            return "evidence: none yet", 0.0
        part = z / beta if beta > 0.0 else 1.0
        return f"evidence {max(z, 0.0):.2f} of {beta:.2f}", min(max(part, 0.0), 1.0)

    def notes(self) -> list[str]:
        """What should be known."""
        return [f"note: {note}" for note in self.status.notes(self.status.decision is not None)]

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

        status = self.status
        colour = "bold red" if status.suspended else "bold green" if status.decision is not None else "bold"
        words, part = self.evidence()
        cells = max(0, min(WIDEST_BAR, width - len(words) - 2)) if part or status.statistic is not None else 0
        full = round(part * cells)
        evidence = Text(words + "  ", no_wrap=True, overflow="crop", end="\n")
        evidence.append(fill * full, style="green" if status.decision is not None else "cyan")
        evidence.append(("." if ascii_only else "─") * (cells - full), style="dim")
        above = [prose(str(status), colour)]
        below = [evidence, prose(("; " if ascii_only else " · ").join(self.facts()))]
        below += [prose(note, "yellow", 2 * width) for note in self.notes()]
        taken = sum(len(text.wrap(console, width)) for text in above + below)
        room = options.max_height - taken - 3  # a header, a line for the rest, one to spare
        yield from above
        yield from _table(status, width, min(MOST_ARMS, max(3, room)), ascii_only)
        yield from below

    def html(self) -> str:
        """As HTML; whatever was given is escaped."""
        status = self.status
        arms, rest = _chosen(status, MOST_ARMS)
        axis, places = _axis(status, arms), _places(status, arms)
        most = max(status.pulls.values())
        lines = []
        for arm in arms:
            interval = _interval_words(status, arm, places)
            cells = [
                f'<td style="text-align:left">{_escaped(arm, arm == status.leader)}</td>',
                f"<td>{status.pulls[arm]}</td>",
                f"<td>{_html_bar(status.pulls[arm] / most if most else 0.0)}</td>",
                f"<td>{_mean(status, arm, places)}</td>",
                f"<td>{_html_interval(status, arm, axis)}</td>",
                f'<td style="text-align:left">{html.escape(interval)}</td>',
                f"<td>{status.pending[arm] or ''}</td>",
            ]
            lines.append("<tr>" + "".join(cells) + "</tr>")
        if rest:
            lines.append(f'<tr><td colspan="7" style="text-align:left">{html.escape(_rest(rest))}</td></tr>')
        titles = ("arm", "samples", "", "mean", "leader is better by", "", "pending")
        header = "".join(f"<th>{title}</th>" for title in titles)
        words, part = self.evidence()
        bar = "" if status.statistic is None else _html_bar(part, 200)
        notes = "".join(f"<div>{_escaped(_short(note, LONGEST_SENTENCE))}</div>" for note in self.notes())
        return (
            f"<div><div>{_escaped(_short(str(status), LONGEST_SENTENCE), True)}</div>"
            f"<table><thead><tr>{header}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
            f"<div>{html.escape(words)} {bar}</div>"
            f"<div>{_escaped(' · '.join(self.facts()))}</div>{notes}</div>"
        )


# -- its parts -----------------------------------------------------------------------------------------


def _chosen(status: Status, most: int) -> tuple[list[str], list[int]]:
    """The arms to show, in their own order: all, or the leader and its rivals; pulls of the rest.

    Rivals are the arms that get the samples: those that are hard to tell from the leader.
    """
    if len(status.arms) <= most:
        return list(status.arms), []
    rivals = sorted(status.arms, key=lambda arm: (arm != status.leader, -status.pulls[arm]))
    shown = set(rivals[:most])
    return [arm for arm in status.arms if arm in shown], [status.pulls[arm] for arm in rivals[most:]]


def _rest(pulls: list[int]) -> str:
    return f"... and {len(pulls)} more, with {sum(pulls)} samples"


def _axis(status: Status, arms: list[str]) -> Interval:
    """What an interval bar spans: 0 and all intervals, unless some are far wider than the narrowest."""
    ends = [status.intervals[arm] for arm in arms if arm in status.intervals]
    ends = [(low, high) for low, high in ends if math.isfinite(high - low)]
    if not ends:
        return -1.0, 1.0
    reach = 6.0 * min(high - low for low, high in ends)
    left, right = min(0.0, *(low for low, _ in ends)), max(0.0, *(high for _, high in ends))
    axis = max(left, -reach), min(right, reach)
    return axis if axis[0] < axis[1] else (-1.0, 1.0)


def _difference(status: Status, arm: str) -> float | None:
    """By how much the leader's mean is better."""
    leader, mean = status.means[status.leader] if status.leader is not None else None, status.means[arm]
    if leader is None or mean is None:
        return None
    return mean - leader if status.minimize else leader - mean


def _interval_bar(interval: Interval, middle: float | None, axis: Interval, width: int, marks: str) -> str:
    """A line from end to end, and a mark at 0 that it either covers or has left behind.

    marks  for the line, its middle, 0, 0 under a line
    """
    line, dot, zero_mark, crossing = tuple(marks)
    left, right = axis

    def column(x: float) -> int:
        return round(min(max((x - left) / (right - left), 0.0), 1.0) * (width - 1))

    cells, zero = [" "] * width, column(0.0)
    low, high = interval
    if math.isfinite(low) and math.isfinite(high):
        first = max(column(low), zero + 1) if low > 0.0 else column(low)
        last = min(column(high), zero - 1) if high < 0.0 else column(high)
        first, last = min(first, width - 1), max(last, 0)
        for i in range(first, max(first, last) + 1):
            cells[i] = line
        if middle is not None and left <= middle <= right and first <= column(middle) <= last:
            cells[column(middle)] = dot
        if low < left:
            cells[first] = "<"
        if high > right:
            cells[max(first, last)] = ">"
    cells[zero] = zero_mark if cells[zero] == " " else crossing
    return "".join(cells)


@dataclass(frozen=True)
class _Column:
    title: str
    cells: list[str]
    right: bool = False

    @property
    def size(self) -> int:
        return max(_cells(text) for text in (self.title, *self.cells))

    def lines(self) -> list[str]:
        """Title and cells, all of one width."""
        size = self.size
        blank = [" " * (size - _cells(text)) for text in (self.title, *self.cells)]
        texts = (self.title, *self.cells)
        return [b + text if self.right else text + b for b, text in zip(blank, texts, strict=True)]


def _table(status: Status, width: int, most: int, ascii_only: bool) -> Iterator[Text]:
    """A header and a line per arm, none wider than the console; what does not fit is left out."""
    from rich.text import Text

    arms, rest = _chosen(status, most)
    gap = 2 if width >= 60 else 1
    columns, words, left = _columns(status, arms, width, gap, ascii_only)
    bar = min(left, WIDEST_BAR)
    marks = "=o|+" if ascii_only else "━●│┿"
    titles = (f"leader is better by ({marks[2]} is 0)", "leader is better by", "leads by")
    title = next((text for text in titles if len(text) <= bar), "")
    axis = _axis(status, arms)
    space = " " * gap
    cells = zip(*(column.lines() for column in columns), strict=True)
    yield Text(space.join((*next(cells), title)), style="dim", no_wrap=True, overflow="crop")
    for arm, row, said in zip(arms, cells, words or [""] * len(arms), strict=True):
        line = Text(space.join(row) + space, no_wrap=True, overflow="crop")
        if arm == status.leader:
            line.stylize("bold")
            line.append("is best" if status.decision is not None else "leads")
        elif bar >= LEAST_BAR:
            interval = status.intervals.get(arm, UNKNOWN)
            drawn = _interval_bar(interval, _difference(status, arm), axis, bar, marks)
            line.append(drawn, style="green" if interval[0] > 0.0 else "yellow")
            line.append(space + said)
        yield line
    if rest:
        yield Text(_rest(rest), style="dim", no_wrap=True, overflow="crop")


def _columns(
    status: Status, arms: list[str], width: int, gap: int, ascii_only: bool
) -> tuple[list[_Column], list[str], int]:
    """The columns before the interval bar, the words behind it if there is room, the room for the bar."""
    places = _places(status, arms)
    longest = max(6, min(40, int(0.3 * width)))
    names = [_fit(clean(arm, ascii_only), longest, "~" if ascii_only else "…") for arm in arms]
    columns = [
        _Column("arm", names),
        _Column("samples", [str(status.pulls[arm]) for arm in arms], right=True),
        _Column("mean", [_mean(status, arm, places) for arm in arms], right=True),
    ]
    left = width - sum(column.size + gap for column in columns)
    most = max(status.pulls.values())
    shares = [_share(status.pulls[arm] / most if most else 0.0, ascii_only) for arm in arms]
    pending = _Column("pending", [str(status.pending[arm] or "") for arm in arms], right=True)
    for column, wanted in ((pending, any(pending.cells)), (_Column("", shares), True)):
        if wanted and left - column.size - gap >= LEAST_BAR + 2:
            columns.insert(2, column)
            left -= column.size + gap
    words = [_interval_words(status, arm, places) for arm in arms]
    size = max(map(len, words))
    if left - size - gap < LEAST_BAR + 4:
        return columns, [], left
    return columns, words, left - size - gap


def _share(part: float, ascii_only: bool) -> str:
    """A bar of up to SHARE cells, in eighths."""
    eighths = math.ceil(8 * SHARE * part)
    if ascii_only:
        return ("#" * math.ceil(eighths / 8)).ljust(SHARE)
    return ("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()).ljust(SHARE)


def _places(status: Status, arms: list[str]) -> int | None:
    """Decimal places that fit the narrowest interval; None without one."""
    widths = [high - low for low, high in (status.intervals.get(arm, UNKNOWN) for arm in arms)]
    least = min((w for w in widths if math.isfinite(w) and w > 0.0), default=0.0)
    return min(max(1 - math.floor(math.log10(least)), 0), 12) if least else None


def _mean(status: Status, arm: str, places: int | None) -> str:
    mean = status.means[arm]
    return "" if mean is None else _number(mean, None if places is None else places + 1)


def _number(value: float, places: int | None) -> str:
    """With so many decimal places; more for what would look like 0 and is not."""
    if places is None or abs(value) >= 1e12:
        return f"{value:.4g}"
    return f"{value:.1g}" if value and abs(value) < 0.5 * 10.0**-places else f"{value:.{places}f}"


def _interval_words(status: Status, arm: str, places: int | None) -> str:
    low, high = status.intervals.get(arm, UNKNOWN)
    finite = math.isfinite(low) and math.isfinite(high)
    return f"{_number(low, places)} to {_number(high, places)}" if finite else ""


def _html_bar(part: float, width: int = 80) -> str:
    style = f"display:inline-block;width:{width * part:.0f}px;height:0.7em;background:#4c8fbd"
    outside = f"display:inline-block;width:{width}px;text-align:left;background:rgba(128,128,128,0.2)"
    return f'<span style="{outside}"><span style="{style}"></span></span>'


def _html_interval(status: Status, arm: str, axis: Interval) -> str:
    """A small drawing: a line from end to end, the estimate, and a thin line at 0."""
    if arm == status.leader:
        return "is best" if status.decision is not None else "leads"
    low, high = status.intervals.get(arm, UNKNOWN)

    def x(value: float) -> float:
        return 4.0 + 172.0 * min(max((value - axis[0]) / (axis[1] - axis[0]), 0.0), 1.0)

    colour = "#2e8b57" if low > 0.0 else "#c98a00"
    drawn = f'<line x1="{x(0.0):.1f}" x2="{x(0.0):.1f}" y1="0" y2="14" stroke="gray" stroke-width="1"/>'
    if math.isfinite(low) and math.isfinite(high):
        ends = f'x1="{x(low):.1f}" x2="{x(high):.1f}" y1="7" y2="7"'
        drawn += f'<line {ends} stroke="{colour}" stroke-width="3"/>'
        middle = _difference(status, arm)
        if middle is not None and axis[0] <= middle <= axis[1]:
            drawn += f'<circle cx="{x(middle):.1f}" cy="7" r="4" fill="{colour}"/>'
    return f'<svg width="180" height="14">{drawn}</svg>'


def _escaped(text: str, strong: bool = False) -> str:
    shown = f"<bdi>{html.escape(text)}</bdi>"
    return f"<b>{shown}</b>" if strong else shown


# -- words ---------------------------------------------------------------------------------------------


def _cells(text: str) -> int:
    """The width on a terminal; some characters take two cells, some none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def clean(text: str, ascii_only: bool = False) -> str:
    """Without what would move the cursor, turn the direction of writing or have an unknown width.

    Stricter than `_text.harmless`: columns must stay aligned, and nobody reads a name back from here.
    """
    text = text.translate(JOINERS)
    if not text.isprintable():
        text = "".join(c if c.isprintable() else _replaced(c) for c in text)
    return text.encode("ascii", "backslashreplace").decode() if ascii_only else text


def _replaced(character: str) -> str:
    return " " if unicodedata.category(character) == "Zs" else "\ufffd"


def _fit(text: str, size: int, cut: str) -> str:
    """At most so many cells; a long name loses its middle, since names often differ at their ends."""
    if _cells(text) <= size:
        return text
    head, tail = text[:size], text[-(size // 3) :]
    while _cells(tail) > size // 3:
        tail = tail[1:]
    while _cells(head) + _cells(tail) + 1 > size:
        head = head[:-1]
    return head + cut + tail


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
