"""Rows as plain text: aligned for a person, comma-separated for a program."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any


def column_widths(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """The widest cell of every column."""
    return [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """One line per row; columns aligned to the right, all but the first."""
    widths = column_widths(header, rows)
    lines = []
    for row in [header, *rows]:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """A header of the first row's keys, then a line per row."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
