"""A whole log as text, piece by piece: JSON lines, one JSON document, or comma-separated values.

JSON lines and documents end by saying how many lines there are, and with which hash, so that one that was cut
off or changed is not read back. Comma-separated values are for spreadsheets: they have no such end, and are
not read back.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from json.encoder import encode_basestring_ascii
from operator import add
from typing import Any

from .._records import csv_lines, plain
from .about import without_stderr
from .events import Event
from .shown import Shown

EVENT = ("seq", "time", "kind", "pull", "arm", "value", "data")
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
        texts = list(map(_json, columns))
        data = columns[-1]
        text = f"[{', '.join(texts[:-1])}, {_sorted(data) if data else texts[-1]}]"
        self._lines += 1
        self._hash.update(f"{text}\n".encode())
        return texts

    def to_dict(self) -> dict[str, Any]:
        """How many lines there are so far, and their hash."""
        return {"lines": self._lines, "hash": self._hash.hexdigest()}


def _json(value: Any) -> str:
    """What `json.dumps` writes, at once for what most columns hold."""
    kind = type(value)
    if kind is str:
        return encode_basestring_ascii(value)
    if kind is int or (kind is float and math.isfinite(value)):
        return repr(value)
    return "null" if value is None else json.dumps(value)


def event_record(event: Event) -> dict[str, Any]:
    """A line of the log by name of column; the end of a command's stderr, perhaps a secret, left out."""
    data = event.data
    if data and isinstance(data.get("reason"), str):
        data = {**data, "reason": without_stderr(data["reason"])}
    columns = (event.seq, event.time, event.kind, event.pull, event.arm, event.value, data)
    return dict(zip(EVENT, columns, strict=True))


def json_record(event: Event) -> dict[str, Any]:
    """The same for JSON, which has no infinite numbers: they are the texts "inf" and "-inf"."""
    record = event_record(event)
    if event.value is not None and math.isinf(event.value):
        record["value"] = str(event.value)
    record["data"] = plain(record["data"])
    return record


def exported(experiment: Shown, format: str) -> Iterator[str]:
    """The log line by line, without line ends, as it is read: it may be longer than the memory.

    format  "jsonl", "csv" or "json"
    """
    name, seal = experiment.name, Seal()
    if format == "csv":
        rows = ({"experiment": name, **event_record(event)} for event in experiment.events())
        yield from csv_lines(rows, ["experiment", *EVENT])
        return
    records = map(json_record, experiment.events())
    if format == "json":
        yield from _document(name, experiment.settings.to_record(), records, seal)
        return
    head = f'{{"experiment": {_json(name)}, '
    form = json.dumps(FORM)[1:-1] + ", "
    for record in records:
        texts = seal.take_columns(list(record.values()))
        yield f"{head}{form}{', '.join(map(add, _KEYS, texts))}}}"
        form = ""
    yield json.dumps({"experiment": name, "end": seal.to_dict()})


def _document(
    name: str, settings: dict[str, Any], records: Iterator[dict[str, Any]], seal: Seal
) -> Iterator[str]:
    """One JSON document."""
    head = _indented(plain({"name": name, **FORM, "settings": settings}))
    line = head.removesuffix("\n}") + ',\n  "events": ['
    comma = ""  # after every event but the last
    for record in records:
        yield line + comma
        texts, data = seal.take_columns(list(record.values())), record["data"]
        if data:
            texts[-1] = _indented(data).replace("\n", "\n      ")
        line = f"    {{\n      {(',' + chr(10) + '      ').join(map(add, _KEYS, texts))}\n    }}"
        comma = ","
    yield line
    yield f'  ],\n  "end": {json.dumps(seal.to_dict())}\n}}'
