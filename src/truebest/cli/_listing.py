"""Print records as a table for people, as JSON or CSV for programs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from .._text import aligned, column_widths, harmless, moment
from ._output import (
    ROWS_ON_A_TERMINAL,
    ListingFormat,
    number,
    print_csv,
    print_hidden,
    print_json,
    print_json_list,
    print_table,
)

AT_ONCE = 1.0  # seconds for which the rows of a long table are collected


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


def stream(
    rows: Iterator[Mapping[str, Any]], columns: Sequence[str], format: ListingFormat, total: int
) -> None:
    """`show` for a long list whose rows take a while: they are printed as they come.

    In a table, those of a second are printed at once, and a column may become wider from one second to the
    next. A terminal gets the first rows only.
    """
    if format is ListingFormat.csv:
        print_csv(rows, columns)
    elif format is ListingFormat.json:
        print_json_list(dict(row) for row in rows)
    elif sys.stdout.isatty():
        show(list(islice(rows, ROWS_ON_A_TERMINAL)), columns, format)
        print_hidden(total - ROWS_ON_A_TERMINAL)
    else:
        header, skip = [column.replace("_", " ") for column in columns], 0
        for block in _by_the_second(rows):
            cells = [[cell(column, row[column]) for column in columns] for row in block]
            print("\n".join(aligned(header, cells)[skip:]), flush=True)
            widths = column_widths(header, cells)
            header, skip = [name.ljust(width) for name, width in zip(header, widths, strict=True)], 1


def _by_the_second(rows: Iterator[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Rows in lists, each with those that come within a second."""
    for first in rows:
        block, end = [first], time.monotonic() + AT_ONCE
        for row in rows:
            block.append(row)
            if time.monotonic() >= end:
                break
        yield block


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
