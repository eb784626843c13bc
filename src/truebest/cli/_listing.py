"""Print long lists whose rows take a while, as they come."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from .._text import aligned, column_widths
from ._output import ROWS_ON_A_TERMINAL, Format, Output, print_hidden, put, show

AT_ONCE = 1.0  # seconds for which the rows of a long table are collected


def stream(rows: Iterator[Mapping[str, Any]], columns: Sequence[str], format: Format, total: int) -> None:
    """`show` for a long list whose rows take a while: they are printed as they come.

    In a table, those of a second are printed at once, and a column may become wider from one second to the
    next. A terminal gets the first rows only.
    """
    if format is not Format.table:
        put(format, Output(rows, columns))
    elif sys.stdout.isatty():
        show(list(islice(rows, ROWS_ON_A_TERMINAL)), columns, format)
        print_hidden(total - ROWS_ON_A_TERMINAL)
    else:
        header: Sequence[str] = []
        for block in _by_the_second(rows):
            titles, rest = Output(block, columns).cells()
            cells = list(rest)
            first, header = not header, header or titles
            print("\n".join(aligned(header, cells)[0 if first else 1 :]), flush=True)
            widths = column_widths(header, cells)
            header = [name.ljust(width) for name, width in zip(header, widths, strict=True)]


def _by_the_second(rows: Iterator[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Rows in lists, each with those that come within a second."""
    for first in rows:
        block, end = [first], time.monotonic() + AT_ONCE
        for row in rows:
            block.append(row)
            if time.monotonic() >= end:
                break
        yield block
