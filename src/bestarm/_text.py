"""Plain text: rows aligned for a person or comma-separated for a program, texts that do no harm."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

_ACTING = ("Cc", "Cs", "Zl", "Zp")
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def harmless(text: str, strict: bool = False) -> str:
    """A text that moves no cursor, changes no colour and turns no direction; what would is shown as ?.

    All else stays as it is, also what joins letters and emoji: it may be a name that a program looks for.
    strict  replace everything that cannot be seen, for messages
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or not (strict or _acts(c)) else "?" for c in text)


def _acts(character: str) -> bool:
    return unicodedata.category(character) in _ACTING or character in _TURNING


def rough(number: int) -> int:
    """To two digits: it is an estimate."""
    return round(number, 2 - len(str(number))) if number >= 100 else number


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
