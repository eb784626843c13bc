"""The arms of a frame as lines for a terminal of any width: none wraps, and columns stay aligned."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._text import clean
from ..telling import words
from ..telling.account import Account
from ..telling.columns import ends_text, mean_text, pending_text, samples_text, sd_text
from ..telling.drawing import UNKNOWN, axis_of, chosen, look_of, mark_of, rest_words
from ..telling.numbers import places_of
from ..telling.standings import Interval, Lead, Standing

if TYPE_CHECKING:
    from rich.text import Text

SHARE, LEAST_BAR, WIDEST_BAR = 8, 8, 44  # cells
COLOURS = {"sure": "green", "bad": "red", "open": "yellow"}


def arm_lines(now: Account, width: int, most: int, ascii_only: bool) -> Iterator[Text]:
    """A header and a line per arm, none wider than the console; what does not fit is left out."""
    from rich.text import Text

    arms, rest = chosen(now, most)
    gap = 2 if width >= 60 else 1
    columns, said, left = _columns(now, arms, width, gap, ascii_only)
    bar = min(left, WIDEST_BAR)
    marks = "=o|+" if ascii_only else "━●│┿"
    mark = mark_of(now)
    titles = words.bar_titles(now, marks[2])
    title = next((text for text in titles if len(text) <= bar), "")
    axis = axis_of(now, arms)
    space = " " * gap
    cells = zip(*(column.lines() for column in columns), strict=True)
    yield Text(space.join((*next(cells), title)), style="dim", no_wrap=True, overflow="crop")
    for one, row, text in zip(arms, cells, said or [""] * len(arms), strict=True):
        line = Text(space.join(row) + space, no_wrap=True, overflow="crop")
        if one.arm == now.centre:
            line.stylize("bold")
            line.append(words.beside(now))
        elif bar >= LEAST_BAR:
            drawn = _interval_bar(one.lead or UNKNOWN, axis, bar, marks, mark)
            line.append(drawn, style=COLOURS[look_of(one)])
            line.append(space + text)
        yield line
    if rest:
        yield Text(rest_words(rest), style="dim", no_wrap=True, overflow="crop")


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


def _columns(
    now: Account, arms: list[Standing], width: int, gap: int, ascii_only: bool
) -> tuple[list[_Column], list[str], int]:
    """The columns before the interval bar, the words behind it if there is room, the room for the bar."""
    places = places_of(now, arms)
    longest = max(6, min(40, int(0.3 * width)))
    names = _told_apart([clean(one.arm, ascii_only) for one in arms], longest, "~" if ascii_only else "…")
    columns = [
        _Column("arm", names),
        _Column("samples", [samples_text(now, one) for one in arms], right=True),
        _Column("mean", [mean_text(one, places) for one in arms], right=True),
    ]
    left = width - sum(column.size + gap for column in columns)
    most = max(one.samples for one in now.standings)
    shares = [_share(one.samples / most if most else 0.0, ascii_only) for one in arms]
    pending = _Column("pending", [pending_text(now, one) for one in arms], right=True)
    spread = _Column("sd", [sd_text(one) for one in arms], right=True)
    # pending and share stand before the mean, the deviation behind it
    for column, wanted in (
        (pending, any(pending.cells)),
        (_Column("", shares), True),
        (spread, any(spread.cells)),
    ):
        if wanted and left - column.size - gap >= LEAST_BAR + 2:
            columns.insert(len(columns) if column is spread else 2, column)
            left -= column.size + gap
    said = [ends_text(now, one, places) for one in arms]
    size = max(map(len, said))
    if left - size - gap < LEAST_BAR + 4:
        return columns, [], left
    return columns, said, left - size - gap


def _interval_bar(lead: Lead, axis: Interval, width: int, marks: str, mark: float) -> str:
    """A line from end to end, and a mark that it either covers or has left behind.

    marks  for the line, its middle, the mark, the mark under a line
    """
    line, dot, zero_mark, crossing = tuple(marks)
    left, right = axis

    def column(x: float) -> int:
        return round(min(max((x - left) / (right - left), 0.0), 1.0) * (width - 1))

    cells, zero = [" "] * width, column(mark)
    if lead.known:
        low, high = lead.ends
        first = max(column(low), zero + 1) if low > mark else column(low)
        last = min(column(high), zero - 1) if high < mark else column(high)
        first, last = min(first, width - 1), max(last, 0)
        for i in range(first, max(first, last) + 1):
            cells[i] = line
        middle = lead.estimate
        if middle is not None and left <= middle <= right and first <= column(middle) <= last:
            cells[column(middle)] = dot
        if low < left:
            cells[first] = "<"
        if high > right:
            cells[max(first, last)] = ">"
    cells[zero] = zero_mark if cells[zero] == " " else crossing
    return "".join(cells)


def _share(part: float, ascii_only: bool) -> str:
    """A bar of up to SHARE cells, in eighths."""
    eighths = math.ceil(8 * SHARE * part)
    if ascii_only:
        return ("#" * math.ceil(eighths / 8)).ljust(SHARE)
    return ("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()).ljust(SHARE)


def _cells(text: str) -> int:
    """The width on a terminal; some characters take two cells, some none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _told_apart(names: list[str], size: int, cut: str) -> list[str]:
    """Names of at most so many cells; where these look alike, without what they have in common."""
    fitted = [_fit(name, size, cut) for name in names]
    if len(set(fitted)) == len(set(names)):
        return fitted
    begin = _in_common(names)
    end = _in_common([name[begin:][::-1] for name in names])
    middles = [cut + name[begin : len(name) - end] + (cut if end else "") for name in names]
    shorter = [_fit(middle, size, cut) for middle in middles]
    if len(set(shorter)) == len(set(names)):
        return shorter
    return [_fit(f"{i}{cut}{name}", size, cut) for i, name in enumerate(names, 1)]


def _in_common(names: list[str]) -> int:
    """How many letters all names begin with."""
    columns = enumerate(zip(*names, strict=False))
    return next((i for i, letters in columns if len(set(letters)) > 1), min(map(len, names)))


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
