"""A line of a log as plain columns, the same in every store: what goes in comes out, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ...errors import InvalidInputError, StoreError
from ..events import Entry

COLUMNS = "kind, pull, arm, value, data, seq, time"  # in the order of Entry's fields
Row = tuple[str, int | None, int | None, float | None, str | None, int, float]


def to_row(entry: Entry, seq: int, time: float) -> Row:
    """The columns of a line, as plain Python numbers and text.

    Raises  InvalidInputError if the value is NaN, which SQLite would store as no value
    """
    kind, pull, arm, value, data, _, _ = entry
    if value is not None and value != value:
        raise InvalidInputError("a log cannot store the value nan; give a number, or record a failure")
    return (
        kind,
        None if pull is None else int(pull),
        None if arm is None else int(arm),
        None if value is None else float(value),
        None if data is None else json.dumps(data, separators=(",", ":")),  # ASCII: safe in any encoding
        seq,
        time,
    )


def to_rows(entries: Sequence[Entry], last: int, time: float) -> list[Row]:
    """The columns of lines that follow line number `last`."""
    return [to_row(entry, last + i, time) for i, entry in enumerate(entries, start=1)]


def to_entry(row: Sequence[Any]) -> Entry:
    """The line back from its columns."""
    kind, pull, arm, value, data, seq, time = row
    if data is not None:
        try:
            data = json.loads(data)
        except (TypeError, ValueError) as error:
            raise StoreError(f"line {seq} of the log is damaged: its data is not JSON ({error})") from error
    return Entry(kind, pull, arm, value, data, seq, time)
