"""Print records as a table for people, as JSON or CSV for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._records import plain
from .._text import harmless, moment
from ._output import ListingFormat, number, print_csv, print_json, print_table

if TYPE_CHECKING:
    from ..experiment.status import Status

ARM = ["arm", "is", "samples", "failed", "mean", "deviation", "behind_at_least", "behind_at_most", "pending"]


def show(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str], format: ListingFormat, title: str = ""
) -> None:
    """A list of records; nothing to see is no table, [] in JSON, a header in CSV."""
    if format is ListingFormat.json:
        print_json([dict(row) for row in rows])
    elif format is ListingFormat.csv:
        print_csv(rows, columns)
    elif rows:
        header = [column.replace("_", " ") for column in columns]
        print_table(header, [[cell(column, row[column]) for column in columns] for row in rows], title)


def arm_rows(now: Status) -> list[dict[str, Any]]:
    """Per arm; `behind` is by how much the leader is better, with the rule's own certainty."""
    rows = []
    for arm in now.arms:
        low, high = plain(now.intervals.get(arm, (None, None)))
        standing = "decision" if arm == now.decision else "leader" if arm == now.leader else ""
        rows.append(
            {
                "arm": arm,
                "is": standing,
                "samples": now.pulls[arm],
                "failed": now.failures.get(arm, 0),
                "mean": now.means[arm],
                "deviation": now.deviations.get(arm),
                "behind_at_least": low,
                "behind_at_most": high,
                "pending": now.pending[arm],
            }
        )
    return rows


def cell(column: str, value: Any) -> str:
    """A value as people read it; columns called time or deadline are moments."""
    if value is None:
        return ""
    if column in ("time", "deadline"):
        return moment(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        text = ", ".join(f"{key}: {cell(key, item)}" for key, item in value.items())
        return harmless(text if len(text) <= 60 else text[:57] + "...")
    if isinstance(value, list | tuple):
        return ", ".join(cell("", item) for item in value)
    return harmless(str(value))
