"""How every command prints: a rich table on a terminal, plain text in a pipe, other formats on request."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, SupportsFloat

from .._files import write_whole
from .._records import csv_lines, plain
from .._text import aligned, column_widths, harmless, markdown_lines, moment
from ..errors import InvalidInputError
from . import DONE, OTHER, UNDECIDED, forget_output

if TYPE_CHECKING:
    from rich.console import Console

    from ..telling.account import Account

ROWS_ON_A_TERMINAL = 60


class Format(StrEnum):
    """What `--format` takes; `FORMATS` says how each is printed."""

    table = "table"
    csv = "csv"
    json = "json"
    markdown = "markdown"


class Output(NamedTuple):
    """What a command has found.

    records   for CSV, and for every other format if nothing else is said; they may come one by one
    columns   of these
    document  what JSON has instead
    table     header and rows for people
    people    prints what people read around the table, and the table
    markdown  text with the table
    """

    records: Iterable[Mapping[str, Any]]
    columns: Sequence[str]
    document: object = None
    table: tuple[Sequence[str], Iterable[Sequence[str]]] | None = None
    people: Callable[[], None] | None = None
    markdown: str | None = None

    def cells(self) -> tuple[Sequence[str], Iterable[Sequence[str]]]:
        """Header and rows, for people."""
        if self.table is not None:
            return self.table
        rows = ([cell(column, record[column]) for column in self.columns] for record in self.records)
        return [column.replace("_", " ") for column in self.columns], rows


def _put_table(found: Output) -> None:
    header, rows = found.cells()
    if found.people is not None:
        found.people()
    elif cells := list(rows):
        print_table(header, cells)


def _put_csv(found: Output) -> None:
    print_csv(found.records, found.columns)


def _put_json(found: Output) -> None:
    if found.document is None:
        print_json_list(dict(record) for record in found.records)
    else:
        print_json(found.document)


def _put_markdown(found: Output) -> None:
    if found.markdown is not None:
        print(found.markdown, end="")
        return
    for line in markdown_lines(*found.cells()):
        print(line, flush=True)


FORMATS = {
    Format.table: _put_table,
    Format.csv: _put_csv,
    Format.json: _put_json,
    Format.markdown: _put_markdown,
}


def put(format: Format, found: Output) -> None:
    """Print what was found in a format."""
    FORMATS[format](found)


def show(records: Sequence[Mapping[str, Any]], columns: Sequence[str], format: Format) -> None:
    """Print a list of records; without one there is no table, [] in JSON, a header in CSV."""
    put(format, Output(records, columns))


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


def check_writable(file: str) -> None:
    """Refuse an output file that cannot be written, before the work and not after it."""
    target = Path(file)
    if target.is_dir() or not target.parent.is_dir() or not os.access(target.parent, os.W_OK):
        raise InvalidInputError(
            f"cannot write to {file!r}: it must be a file in an existing, writable folder; choose another."
        )


def print_json(value: object) -> None:
    """JSON with infinities and NaN as null."""
    print(json.dumps(plain(value), indent=2, allow_nan=False))


def print_json_list(records: Iterable[object]) -> None:
    """The same of a list, a record at a time."""
    before = "["
    for record in records:
        text = json.dumps(plain(record), indent=2, allow_nan=False)
        print(before, indent(text, "  "), sep="\n", end="", flush=True)
        before = ","
    print("[]" if before == "[" else "\n]")


def print_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Comma-separated values, a line per record."""
    print_csv_lines(csv_lines(rows, columns))


def print_csv_lines(lines: Iterable[str]) -> None:
    """In UTF-8, letter for letter; only on a terminal they are made harmless."""
    shown = harmless if sys.stdout.isatty() else str
    if not sys.stdout.isatty() and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")  # or names would suffer from the locale
    for line in lines:
        print(shown(line))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Columns aligned to the right, all but the first; rich on a terminal wide enough for them."""
    widths = column_widths(header, rows)
    if sys.stdout.isatty():
        from rich.console import Console

        console = Console()
        if console.width >= sum(widths) + 3 * len(widths) + 2:
            _print_rich(console, header, rows, title)
            return
    if title:
        print(title)
    for line in aligned(header, rows):
        print(line)


def _print_rich(console: Console, header: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD)
    for i, name in enumerate(header):
        table.add_column(Text(name), justify="left" if i == 0 else "right")
    for row in rows[:ROWS_ON_A_TERMINAL]:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)
    print_hidden(len(rows) - ROWS_ON_A_TERMINAL)


def print_hidden(rows: int) -> None:
    """Say how many rows are not shown, if there are any."""
    if rows > 0:
        print(f"... and {rows} more; a pipe or --format json shows them all")


def code_of(now: Account, expected: str | None = None) -> int:
    """The answer as an exit code; with the arm that was expected to be the best, if one was.

    An arm whose scores are stored does not count: that it fails was known.
    """
    from ..telling.answers import Open, Tied, Verdicts
    from ..telling.words import known

    answer = now.answer
    if isinstance(answer, Open):
        return UNDECIDED
    if isinstance(answer, Verdicts):
        return OTHER if set(answer.failed) - set(known(now.settings)) else DONE
    found = answer.arms if isinstance(answer, Tied) else (getattr(answer, "arm", None),)
    return DONE if expected is None or expected in found else OTHER


@contextlib.contextmanager
def answering() -> Iterator[None]:
    """What is printed in the block is an answer: if nobody reads it to its end, it is one all the same."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        forget_output()


def print_arms(now: Account) -> None:
    """The table of arms, and how sure its intervals are."""
    from ..telling.columns import below

    header, rows = now.table()
    print_table(list(map(harmless, header)), [list(map(harmless, row)) for row in rows])
    for line in below(now):
        print(line)


def output_of(now: Account, **others: Any) -> Output:
    """An account, as commands print it."""
    from ..telling.columns import records

    rows = records(now)
    return Output(rows, list(rows[0]), now.to_dict(), markdown=now.to_markdown(), **others)


class Printable(Protocol):
    """What a simulation gives."""

    def to_dict(self) -> object: ...
    def table(self) -> tuple[list[str], list[list[str]]]: ...


def print_result(
    result: Printable, records: Sequence[Mapping[str, Any]], format: Format, output: str | None
) -> None:
    """In a format, on stdout or into a file, whole or not at all."""
    with printed_into(output):
        put(format, Output(records, list(records[0]), result.to_dict(), result.table()))


@contextlib.contextmanager
def printed_into(output: str | None) -> Iterator[None]:
    """What is printed in the block goes into a file, whole or not at all, if there is one."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text) if output else contextlib.nullcontext():
        yield
    if output:
        write_whole(output, text.getvalue())


def number(value: SupportsFloat, digits: int = 6) -> str:
    """A number to so many significant digits, without a superfluous exponent."""
    x = float(value)
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    if x == round(x) and abs(x) < 1e15:
        return str(int(x))
    return f"{x:.{digits}g}"
