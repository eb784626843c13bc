"""Print records as a table for people, as JSON or CSV for programs."""

from __future__ import annotations

import csv
import json
import sys
import time
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._output import ListingFormat, number, plain, print_json, print_table

_UNSAFE = ("Cc", "Cs", "Zl", "Zp")
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """A text that moves no cursor, changes no colour and turns no direction; what would is shown as ?."""
    return "".join("?" if unicodedata.category(c) in _UNSAFE or c in _TURNING else c for c in text)


def show(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str], format: ListingFormat, title: str = ""
) -> None:
    """A list of records; nothing to see is no table, [] in JSON, a header in CSV."""
    if format is ListingFormat.json:
        print_json([dict(row) for row in rows])
    elif format is ListingFormat.csv:
        write_csv(rows, columns)
    elif rows:
        header = [column.replace("_", " ") for column in columns]
        print_table(header, [[cell(column, row[column]) for column in columns] for row in rows], title)


def write_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """A header, then a line per record; what is itself a record is written as JSON."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_flat(row[column]) for column in columns])


def cell(column: str, value: Any) -> str:
    """A value as people read it; columns called time or deadline are moments."""
    if value is None:
        return ""
    if column in ("time", "deadline"):
        return _moment(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        text = ", ".join(f"{key}: {cell(key, item)}" for key, item in value.items())
        return printable(text if len(text) <= 60 else text[:57] + "...")
    if isinstance(value, list | tuple):
        return ", ".join(cell("", item) for item in value)
    return printable(str(value))


def _moment(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
    except (OverflowError, ValueError, OSError):  # farther away than calendars go
        return number(seconds)


def _flat(value: Any) -> Any:
    if isinstance(value, dict | list | tuple | bool):
        return json.dumps(plain(value), ensure_ascii=False)
    return value
