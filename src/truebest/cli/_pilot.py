"""Read values of several arms from comma-separated text: a pilot's data, or a table of scores.

A pilot has two forms, told apart by the header: *wide* has a column for each arm, with empty cells where an
arm has fewer values than others; *long* has the columns `arm` and `value`, in this order or the other, and is
the only one whose rows have an order. A file may be cut at semicolons or tabs instead of commas. Whatever is
refused is refused with the number of its line.

A table has a line for each item and a column for each arm; a cell that is empty is missing. A first column
named `item` or `id` is left out.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from ..errors import InvalidInputError
from ._numbers import read_text, to_number

LONG = {"arm", "value"}
LABELS = ("item", "id")
EXAMPLE = "write a line of names, like old,new, above lines of numbers; or arm,value above lines like old,0.7"

Row = tuple[int, list[str]]  # the number of its line, its cells


def read_pilot(file: str) -> dict[str, list[float]]:
    """The values of each arm, in the order of the columns or of the arms' first lines.

    file  its name, or - for standard input
    Raises  InvalidInputError
    """
    found = read_values(file)
    return by_arm(found) if isinstance(found, list) else found


def read_values(file: str) -> list[tuple[str, float]] | dict[str, list[float]]:
    """The rows of a long file in their order, or the values of each arm of a wide one; raises the same."""
    line, header, rows = _opened(file)
    lowered = [cell.lower() for cell in header]
    if set(lowered) == LONG and len(header) == 2:
        return _long(lowered, rows)
    return _known(_wide(line, header, rows))


def by_arm(rows: list[tuple[str, float]]) -> dict[str, list[float]]:
    """The values of each arm."""
    found: dict[str, list[float]] = {}
    for name, value in rows:
        found.setdefault(name, []).append(value)
    return found


def read_table(file: str) -> dict[str, list[float]]:
    """The scores of each arm on all items, NaN where one is missing.

    file  its name, or - for standard input
    Raises  InvalidInputError
    """
    line, header, rows = _opened(file)
    if header[0].lower() in LABELS:
        header, rows = header[1:], ((number, cells[1:]) for number, cells in rows)
    found = _wide(line, header, rows)
    if not next(iter(found.values())):
        raise InvalidInputError(f"the data must have a line for each item, got a header alone; {EXAMPLE}.")
    return found


def _opened(file: str) -> tuple[int, list[str], Iterator[Row]]:
    """The number of the header's line, the header, and the lines after it."""
    rows = _rows(read_text(file, EXAMPLE))
    line, header = next(rows, (0, []))
    if not header:
        raise InvalidInputError(f"the data must have a header and values, got an empty file; {EXAMPLE}.")
    if all(_is_number(cell) for cell in header):
        raise InvalidInputError(
            f"line {line} of the data must be a header that names the arms, got the number {header[0]!r}; "
            f"{EXAMPLE}."
        )
    while not header[-1]:
        header = header[:-1]  # separators at the end of a line
    return line, header, rows


def refuse_few(found: Mapping[str, list[float]] | None, asked: Mapping[str, Any]) -> None:
    """Refuse data of fewer arms than the question among these settings needs, if there are data."""
    if found is not None and len(found) < (asked["question"].fewest if "question" in asked else 2):
        raise InvalidInputError(
            f"the data must have values for at least two arms, got {', '.join(map(repr, found)) or 'none'}; "
            f"{EXAMPLE}."
        )


def _rows(text: str) -> Iterator[Row]:
    """Lines that are not blank, cut at the separator that the first of them has most often."""
    first = next((line for line in io.StringIO(text, newline="") if line.strip()), "")
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if any(stripped):
                yield reader.line_num, stripped
    except csv.Error as error:
        raise InvalidInputError(
            f"line {reader.line_num} of the data must be comma-separated text, got one that cannot be read "
            f"({error}); check its quotation marks."
        ) from None


def _wide(line: int, header: list[str], rows: Iterator[Row]) -> dict[str, list[float]]:
    """A column for each arm; NaN for a cell that is empty."""
    for name in header:
        if not name or header.count(name) > 1:
            raise InvalidInputError(
                f"line {line} of the data must name every arm once, got "
                f"{'the name ' + repr(name) + ' twice' if name else 'a column without a name'}; rename it."
            )
    found: dict[str, list[float]] = {name: [] for name in header}
    for number, cells in rows:
        if any(cells[len(header) :]):
            raise InvalidInputError(
                f"line {number} of the data must have at most {len(header)} cells, one for each arm, got "
                f"{len(cells)}; remove what is too much, and write numbers with a point."
            )
        for name, cell in zip_longest(header, cells[: len(header)], fillvalue=""):
            found[name].append(_value(cell, number, name) if cell else math.nan)
    return found


def _known(columns: dict[str, list[float]]) -> dict[str, list[float]]:
    """The values that are not missing."""
    found = {name: [value for value in values if value == value] for name, values in columns.items()}
    for name, values in found.items():
        if not values:
            raise InvalidInputError(
                f"every arm must have at least one value, got none for {name!r}; add one, or remove it."
            )
    return found


def _long(header: list[str], rows: Iterator[Row]) -> list[tuple[str, float]]:
    """A line for each value."""
    found: list[tuple[str, float]] = []
    for number, cells in rows:
        if len(cells) < 2 or any(cells[2:]) or not all(cells[:2]):
            raise InvalidInputError(
                f"line {number} of the data must have an arm and a value, got {', '.join(cells)[:40]!r}; "
                f"fill or remove it, and write numbers with a point."
            )
        name, cell = cells[header.index("arm")], cells[header.index("value")]
        found.append((name, _value(cell, number, name)))
    return found


def _is_number(cell: str) -> bool:
    try:
        to_number(cell, "a value")
    except InvalidInputError:
        return False
    return True


def _value(cell: str, line: int, name: str) -> float:
    """A finite number, or a refusal that says where it is."""
    value = to_number(cell, "a value") if _is_number(cell) else math.nan
    if not math.isfinite(value):
        raise InvalidInputError(
            f"line {line} of the data must have a finite number for {name!r}, got {cell[:40]!r}; write it "
            f"like 0.73, with a point, or leave it out if it is missing."
        )
    return value
