"""A line of a log as plain columns, the same in every store: what goes in comes out, bit for bit.

Every line carries a hash of itself and of the hash before it. So a changed bit anywhere in the log breaks
the chain at that line, and is found when the line is read. This detects damage, not forgery: anyone who can
write to the store can also compute the hashes. Lines written by version 0.1 have none, and the first line
after them begins the chain; behind a line that has a hash, a line without one is damaged.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from ...errors import DamagedLogError, InvalidInputError
from ..events import Entry

COLUMNS = "kind, pull, arm, value, data, seq, time, chain"  # in the order of Entry's fields
DATA: Final = 4  # places in a row
SEQ: Final = 5
TIME: Final = 6
CHAIN: Final = 7
_to_json = json.JSONEncoder(separators=(",", ":")).encode  # in ASCII: safe in any encoding
# `json.loads` without what it does before and after
_from_json: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
_blank_hash = hashlib.blake2b(digest_size=16)  # to copy it is quicker than to make one
Row = tuple[str, int | None, int | None, float | None, str | None, int, float, str]


def link(previous: str, row: Sequence[Any]) -> str:
    """The hash that ties the columns of a line to the chain before it; 32 hexadecimal digits."""
    return links(previous, [row])[0]


def links(previous: str, rows: Iterable[Sequence[Any]]) -> list[str]:
    """The hashes that consecutive lines should have, each if the chain of the line before it is right.

    The text of a float is exact, and the data, which may contain anything, stands last: no two different
    lines have the same text.
    """
    found = []
    for kind, pull, arm, value, data, seq, time, chain in rows:
        digest = _blank_hash.copy()
        text = f"{previous}|{kind}|{pull}|{arm}|{value!r}|{seq}|{time!r}|{data}"
        digest.update(text.encode("utf-8", "surrogatepass"))
        found.append(digest.hexdigest())
        previous = chain or ""
    return found


def to_rows(entries: Iterable[Entry], last: int, chain: str, time: float) -> list[Row]:
    """The columns of lines that follow line number `last` with its `chain`, as plain numbers and text.

    time  of those that have none yet, as a number of seconds; a line from another log keeps its own
    Raises  InvalidInputError if a value is NaN, which SQLite would store as no value
    """
    rows: list[Row] = []
    for seq, (kind, pull, arm, value, data, _, own, _) in enumerate(entries, start=last + 1):
        if value is not None and value != value:
            raise InvalidInputError("a log cannot store the value nan; give a number, or record a failure")
        columns = (
            kind,
            None if pull is None else int(pull),
            None if arm is None else int(arm),
            None if value is None else float(value),
            None if data is None else _to_json(data),
            seq,
            own if 0.0 < own < math.inf else time,
        )
        chain = link(chain, (*columns, ""))
        rows.append((*columns, chain))
    return rows


def to_entry(row: Sequence[Any]) -> Entry:
    """The line back from its columns."""
    if row[DATA] is None and row[CHAIN]:
        return Entry._make(row)
    kind, pull, arm, value, data, seq, time, chain = row
    return Entry(kind, pull, arm, value, None if data is None else _parsed(data, seq), seq, time, chain or "")


def _parsed(data: Any, seq: int) -> Any:
    try:
        found, end = _from_json(data, 0)
        if end == len(data):
            return found
    except (StopIteration, TypeError, ValueError):  # which `loads` puts into words
        pass
    try:
        return json.loads(data)
    except (TypeError, ValueError) as error:
        raise DamagedLogError(seq, f"its data is not JSON ({error})") from error


def checked_entry(row: Sequence[Any], previous: str) -> Entry:
    """The line back from its columns, if its hash matches them and the chain before it."""
    if previous and not row[CHAIN]:
        raise DamagedLogError(row[SEQ], "it has no hash, and the line before it has one")
    if row[CHAIN] and row[CHAIN] != link(previous, row):
        raise DamagedLogError(row[SEQ], "it does not match its hash")
    return to_entry(row)


def checked_entries(rows: Iterable[Sequence[Any]], previous: str) -> list[Entry]:
    """Consecutive lines, each checked against the one before it."""
    rows = list(rows)
    if [row[CHAIN] for row in rows] == links(previous, rows):
        return list(map(to_entry, rows))
    found: list[Entry] = []  # of version 0.1, or damaged: then this raises
    for row in rows:
        found.append(checked_entry(row, previous))
        previous = found[-1].chain
    return found
