"""A whole log as text, piece by piece: JSON lines, one JSON document, or comma-separated values.

JSON lines and documents end by saying how many lines there are, and with which hash, so that one that was cut
off or changed is not read back. Comma-separated values are for spreadsheets: they have no such end, and are
not read back.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring_ascii
from operator import add
from typing import Any

from .._records import csv_lines, plain
from .about import without_stderr
from .events import Event
from .shown import Shown

EVENT = ("seq", "time", "kind", "pull", "arm", "value", "data")
VALUE, DATA = 5, 6  # places in it
FORM = {"export": 2}  # what an export that has an end begins with; those of 0.1 and 0.2 have neither

_KEYS = tuple(f'"{key}": ' for key in EVENT)
_sorted = json.JSONEncoder(sort_keys=True).encode  # to make an encoder takes longer than to use it
_indented = json.JSONEncoder(indent=2, allow_nan=False).encode


class Seal:
    """What an export ends with: the number of its lines, and a hash of them."""

    def __init__(self) -> None:
        self._lines, self._hash = 0, hashlib.blake2b(digest_size=16)

    def take(self, record: Mapping[str, Any]) -> None:
        """The next line, as it is written; KeyError if it has not all columns."""
        self.take_columns([record[key] for key in EVENT])

    def take_columns(self, columns: Sequence[Any]) -> list[str]:
        """The same from its columns; returns these as JSON, with the keys of the data as they stand."""
        texts, data = list(map(_json, columns)), columns[DATA]
        in_order = not data or (_is_flat(data) and list(data) == sorted(data))
        text = f"[{', '.join(texts[:DATA])}, {texts[DATA] if in_order else _sorted(data)}]"
        self._lines += 1
        self._hash.update(f"{text}\n".encode())
        return texts

    def to_dict(self) -> dict[str, Any]:
        """How many lines there are so far, and their hash."""
        return {"lines": self._lines, "hash": self._hash.hexdigest()}


def _json(value: Any) -> str:
    """What `json.dumps` writes, at once for what most columns hold."""
    at_once = _AT_ONCE.get(type(value))
    if at_once is None:
        return f"{{{', '.join(_members(value))}}}" if type(value) is dict else json.dumps(value)
    return at_once(value)


_AT_ONCE: dict[type, Callable[[Any], str]] = {
    str: encode_basestring_ascii,
    int: repr,
    float: lambda value: repr(value) if math.isfinite(value) else json.dumps(value),
    type(None): lambda _: "null",
}


def _members(data: dict[str, Any]) -> list[str]:
    return [
        f"{encode_basestring_ascii(key)}: {_AT_ONCE.get(type(one), json.dumps)(one)}"
        for key, one in data.items()
    ]


def _is_flat(data: Any) -> bool:
    """Whether it is a record with no other inside."""
    return type(data) is dict and not any(type(one) in (dict, list) for one in data.values())


def event_columns(event: Event) -> list[Any]:
    """A line of the log by column; the end of a command's stderr, perhaps a secret, left out."""
    data = event.data
    if data and isinstance(data.get("reason"), str):
        data = {**data, "reason": without_stderr(data["reason"])}
    return [event.seq, event.time, event.kind, event.pull, event.arm, event.value, data]


def json_columns(event: Event) -> list[Any]:
    """The same for JSON, which has no infinite numbers: they are the texts "inf" and "-inf"."""
    columns = event_columns(event)
    if event.value is not None and math.isinf(event.value):
        columns[VALUE] = str(event.value)
    columns[DATA] = plain(columns[DATA])
    return columns


def event_record(event: Event) -> dict[str, Any]:
    """`event_columns` by name."""
    return dict(zip(EVENT, event_columns(event), strict=True))


def json_record(event: Event) -> dict[str, Any]:
    """`json_columns` by name."""
    return dict(zip(EVENT, json_columns(event), strict=True))


def exported(experiment: Shown, format: str) -> Iterator[str]:
    """The log line by line, without line ends, as it is read: it may be longer than the memory.

    format  "jsonl", "csv" or "json"
    """
    name, seal = experiment.name, Seal()
    if format == "csv":
        rows = ({"experiment": name, **event_record(event)} for event in experiment.events())
        yield from csv_lines(rows, ["experiment", *EVENT])
        return
    lines = map(json_columns, experiment.events())
    if format == "json":
        yield from _document(name, experiment.settings.to_record(), lines, seal)
        return
    head = f'{{"experiment": {_json(name)}, '
    form = json.dumps(FORM)[1:-1] + ", "
    for columns in lines:
        texts = seal.take_columns(columns)
        yield f"{head}{form}{', '.join(map(add, _KEYS, texts))}}}"
        form = ""
    yield json.dumps({"experiment": name, "end": seal.to_dict()})


def _document(name: str, settings: dict[str, Any], lines: Iterator[list[Any]], seal: Seal) -> Iterator[str]:
    """One JSON document."""
    head = _indented(plain({"name": name, **FORM, "settings": settings}))
    line = head.removesuffix("\n}") + ',\n  "events": ['
    comma = ""  # after every event but the last
    for columns in lines:
        yield line + comma
        texts, data = seal.take_columns(columns), columns[DATA]
        if data and _is_flat(data):
            texts[DATA] = _block(_members(data), "      ")
        elif data:
            texts[DATA] = _indented(data).replace("\n", "\n      ")
        line = f"    {_block(map(add, _KEYS, texts), '    ')}"
        comma = ","
    yield line
    yield f'  ],\n  "end": {json.dumps(seal.to_dict())}\n}}'


def _block(members: Iterable[str], margin: str) -> str:
    """A record with a line for each member."""
    between = f",\n{margin}  "
    return f"{{\n{margin}  {between.join(members)}\n{margin}}}"
