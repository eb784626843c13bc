"""The arms as a table: for a terminal, for Markdown, for a notebook, for pandas."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from .._html import Cell
from .._html import table as html_table
from .._text import aligned, begun, cell_of_markdown, harmless, markdown_table, shortened
from ..errors import InvalidInputError
from . import words
from .answers import Open
from .standings import Interval, Standing

if TYPE_CHECKING:
    from .account import Account

TITLE = 40  # characters of a name in the title of a column
FINE = 1e-3  # of an interval's width: a lower end that is barely above 0 is shown as 0


def table(now: Account, between: bool) -> tuple[list[str], list[list[str]]]:
    """Header and rows: the leader first, then the others by mean; with intervals of the means, if known."""
    control, design = now.settings.control, now.settings.design
    between = between and any(one.between is not None for one in now.standings)
    failed = any(one.failures for one in now.standings)
    header = [
        "arm",
        "samples",
        *(["failed"] if failed else []),
        "mean",
        *(["mean between"] if between else []),
        "sd",
    ]
    header.append(f"{shortened(now.leader or 'leader', TITLE)} {design.does}")
    if control is not None:
        header.append(f"better than {shortened(control, TITLE)} by")
    return header, [_row(now, one, between, failed) for one in in_order(now)]


def _row(now: Account, one: Standing, between: bool, failed: bool) -> list[str]:
    row = [one.arm, str(one.samples)]
    row += [str(one.failures or "")] if failed else []
    row.append(shown(one.mean))
    row += [interval_text(one.between)] if between else []
    row.append(shown(one.sd))
    better = ""
    if one.lead is not None and one.lead.known:
        better = now.settings.design.lead_words(interval_text(one.lead.ends), one.lead.won, one.lead.lost)
    out = ", ruled out" if better and one.out is not None and isinstance(now.answer, Open) else ""
    row.append(better + out)
    if now.settings.control is not None:
        row.append(interval_text(one.over_control and one.over_control.ends))
    return row


def in_order(now: Account) -> list[Standing]:
    """The leader, then the others by mean."""
    sign = -1.0 if now.settings.minimize else 1.0
    return sorted(now.standings, key=lambda one: (one.arm != now.leader, -sign * (one.mean or 0.0)))


def below(now: Account) -> list[str]:
    """An empty line and how sure the intervals of a table are; nothing where it has none."""
    return ["", f"{begun(words.ends(now))}."] if words.ends(now) else []


def as_text(now: Account) -> str:
    """The sentence, and the table below it."""
    header, rows = table(now, True)
    lines = aligned(list(map(harmless, header)), [list(map(harmless, row)) for row in rows])
    return "\n".join([harmless(now.sentence), "", *lines, *below(now)])


def as_markdown(now: Account) -> str:
    """The same in Markdown."""
    rest = "".join(f"\n{line}\n" for line in below(now)[1:])
    return f"{cell_of_markdown(now.sentence)}\n\n{markdown_table(*table(now, True))}{rest}"


def as_html(now: Account) -> str:
    """The same in HTML, with whatever was given escaped."""
    header, rows = table(now, True)
    cells = [[Cell(_escaped(text), "style='text-align:left'") for text in row] for row in rows]
    titles = [Cell(_escaped(text), "style='text-align:left'") for text in header]
    rest = "".join(f"<p>{_escaped(line)}</p>" for line in below(now)[1:])
    return f"<p>{_escaped(now.sentence)}</p>{html_table(titles, cells)}{rest}"


def as_frame(now: Account) -> Any:
    """A pandas DataFrame, one row per arm, in the order of the arms."""
    try:
        import pandas as pd  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise InvalidInputError(
            "to_frame needs pandas, which is not installed; install it, or use to_dict."
        ) from None
    return pd.DataFrame(records(now)).set_index("arm")


def records(now: Account) -> list[dict[str, Any]]:
    """A record per arm, in the order of the arms; ends that are not known are None."""
    found = []
    for one in now.standings:
        ends = {
            "mean": one.between,
            "behind": one.lead and one.lead.ends,
            "beats_control": one.over_control and one.over_control.ends,
        }
        found.append(
            {
                "arm": one.arm,
                "samples": one.samples,
                "failed": one.failures,
                "mean": one.mean,
                "deviation": one.sd,
                **{f"{what}_at_least": _finite(pair, 0) for what, pair in ends.items()},
                **{f"{what}_at_most": _finite(pair, 1) for what, pair in ends.items()},
                "leads": one.arm == now.leader,
                "decided": one.arm == now.best,
                "pending": one.pending,
            }
        )
    return found


def _finite(ends: Interval | None, which: int) -> float | None:
    return ends[which] if ends is not None and math.isfinite(ends[which]) else None


def interval_text(ends: Interval | None) -> str:
    """An interval, "" for one that is not bounded; what is next to nothing is 0."""
    if ends is None or not (math.isfinite(ends[0]) and math.isfinite(ends[1])):
        return ""
    low, high = ends
    low = 0.0 if 0.0 < low < FINE * (high - low) else low
    return f"{shown(low)} to {shown(high)}"


def shown(value: float | None) -> str:
    """A number to four digits."""
    return "" if value is None else f"{value + 0.0:.4g}"  # -0.0 is 0


def _escaped(text: str) -> str:
    return f"<bdi>{escape(harmless(text))}</bdi>"
