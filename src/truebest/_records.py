"""Records for programs: values for JSON, and comma-separated ones that no spreadsheet runs as a formula."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_FORMULA = tuple("=+-@＝＋－＠\t\r\n")  # what makes a spreadsheet run a cell that begins with it
_QUOTED = frozenset(',;"\t\r\n')  # ; and tabs, too: some spreadsheets cut there


def plain(value: Any) -> Any:
    """NumPy to Python, non-finite numbers to None."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def csv_lines(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """A header, then a line per record, without line ends.

    Numbers come back bit for bit. What is true, false or itself a record is written as JSON, in ASCII. A text
    is kept as it is, but one that begins like a formula (with = + - @, a tab or a line break) or with an
    apostrophe has an apostrophe before it: without that one it is the text again.
    """
    yield ",".join(_cell(column) for column in columns)
    for row in rows:
        yield ",".join(_cell(row[column]) for column in columns)


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """The same in one text; the columns are the first row's keys."""
    return "".join(line + "\n" for line in csv_lines(rows, list(rows[0])))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict | list | tuple | bool):
        text = json.dumps(plain(value))
    elif isinstance(value, str):
        text = "'" + value if value.startswith((*_FORMULA, "'")) else value
    else:
        return str(value)
    return '"' + text.replace('"', '""') + '"' if _QUOTED & set(text) else text
