"""Records for programs: values for JSON, and comma-separated ones that no spreadsheet runs as a formula."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from .errors import InvalidInputError

_FORMULA = tuple("=+-@＝＋－＠\t\r\n")  # what makes a spreadsheet run a cell that begins with it
_QUOTED = frozenset(',;"\t\r\n')  # ; and tabs, too: some spreadsheets cut there


def plain(value: Any) -> Any:
    """NumPy to Python, non-finite numbers to None."""
    if value is None or type(value) in (str, int, bool):
        return value
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


def frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """The same as a pandas DataFrame; needs pandas."""
    try:
        import pandas as pd  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise InvalidInputError(
            "to_frame needs pandas, which is not installed; install it, or use to_dict."
        ) from None
    return pd.DataFrame(rows)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if type(value) in (int, float):
        return repr(value)
    if hasattr(value, "tolist"):
        return _cell(value.tolist())
    if isinstance(value, str):
        return _text_cell(value)
    if isinstance(value, dict | list | tuple | bool):
        return _quoted(json.dumps(plain(value)))
    return str(value)


@lru_cache(1000)  # a column of texts has the same ones again and again
def _text_cell(text: str) -> str:
    return _quoted("'" + text if text.startswith((*_FORMULA, "'")) else text)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.intersection(text) else text
