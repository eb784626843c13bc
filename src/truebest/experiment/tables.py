"""A status as a table: for a terminal, for Markdown, for a notebook, for pandas."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from .._html import Cell, table
from .._text import aligned, cell_of_markdown, harmless, markdown_table, shortened
from ..errors import InvalidInputError

if TYPE_CHECKING:
    from .status import Interval, Status

TITLE = 40  # characters of a name in the title of a column
FINE = 1e-3  # of an interval's width: a lower end that is barely above 0 is shown as 0


def arm_table(status: Status, means: bool) -> tuple[list[str], list[list[str]]]:
    """Header and rows: the leader first, then the others by mean; with intervals of the means, if known."""
    means = means and any(ends is not None for ends in status.mean_intervals.values())
    failed = any(status.failures.values())
    header = [
        "arm",
        "samples",
        *(["failed"] if failed else []),
        "mean",
        *(["mean between"] if means else []),
        "sd",
    ]
    does = "wins - loses" if status.compare == "wins" else "is better by"
    header.append(f"{shortened(status.leader or 'leader', TITLE)} {does}")
    if status.control is not None:
        header.append(f"better than {shortened(status.control, TITLE)} by")
    return header, [_row(status, arm, means, failed) for arm in _order(status)]


def _below(status: Status) -> list[str]:
    """An empty line and how sure the intervals of a table are; nothing where it has none."""
    return ["", f"{status.ends[:1].upper()}{status.ends[1:]}."] if status.ends else []


def _row(status: Status, arm: str, means: bool, failed: bool) -> list[str]:
    row = [arm, str(status.pulls[arm])]
    row += [str(status.failures[arm] or "")] if failed else []
    row.append(shown(status.means[arm]))
    row += [interval_text(status.mean_intervals.get(arm))] if means else []
    row.append(shown(status.deviations.get(arm)))
    better = interval_text(status.intervals.get(arm))
    if arm in status.wins:
        better = "{} - {}".format(*status.wins[arm])
    out = ", ruled out" if better and arm in status.ruled_out and status.decision is None else ""
    row.append(better + out)
    row += [interval_text(status.against_control.get(arm))] if status.control is not None else []
    return row


def _order(status: Status) -> list[str]:
    sign = -1.0 if status.minimize else 1.0
    return sorted(status.arms, key=lambda arm: (arm != status.leader, -sign * (status.means[arm] or 0.0)))


def as_text(status: Status, sentence: str) -> str:
    """A sentence, and the table below it."""
    header, rows = arm_table(status, True)
    lines = aligned(list(map(harmless, header)), [list(map(harmless, row)) for row in rows])
    return "\n".join([harmless(sentence), "", *lines, *_below(status)])


def as_markdown(status: Status, sentence: str) -> str:
    """The same in Markdown."""
    rest = "".join(f"\n{line}\n" for line in _below(status)[1:])
    return f"{cell_of_markdown(sentence)}\n\n{markdown_table(*arm_table(status, True))}{rest}"


def as_html(status: Status, sentence: str) -> str:
    """The same in HTML, with whatever was given escaped."""
    header, rows = arm_table(status, True)
    cells = [[Cell(_escaped(text), "style='text-align:left'") for text in row] for row in rows]
    titles = [Cell(_escaped(text), "style='text-align:left'") for text in header]
    rest = "".join(f"<p>{_escaped(line)}</p>" for line in _below(status)[1:])
    return f"<p>{_escaped(sentence)}</p>{table(titles, cells)}{rest}"


def as_frame(status: Status) -> Any:
    """A pandas DataFrame, one row per arm, in the order of the arms."""
    try:
        import pandas as pd  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise InvalidInputError(
            "to_frame needs pandas, which is not installed; install it, or use to_dict."
        ) from None
    return pd.DataFrame(records(status)).set_index("arm")


def records(status: Status) -> list[dict[str, Any]]:
    """A record per arm, in the order of the arms; ends that are not known are None."""
    found = []
    for arm in status.arms:
        ends = {
            "mean": status.mean_intervals.get(arm),
            "behind": status.intervals.get(arm),
            "beats_control": status.against_control.get(arm),
        }
        found.append(
            {
                "arm": arm,
                "samples": status.pulls[arm],
                "failed": status.failures.get(arm, 0),
                "mean": status.means[arm],
                "deviation": status.deviations.get(arm),
                **{f"{what}_at_least": _finite(pair, 0) for what, pair in ends.items()},
                **{f"{what}_at_most": _finite(pair, 1) for what, pair in ends.items()},
                "leads": arm == status.leader,
                "decided": arm == status.decision,
                "pending": status.pending[arm],
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
