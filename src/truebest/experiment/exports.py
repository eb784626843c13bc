"""A whole log as text, piece by piece: JSON lines, one JSON document, or comma-separated values.

JSON lines and documents end by saying how many lines there are, and with which hash, so that one that was cut
off or changed is not read back. Comma-separated values are for spreadsheets: they have no such end, and are
not read back.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from .._records import csv_lines, plain
from .about import without_stderr
from .events import Event
from .shown import Shown

EVENT = ("seq", "time", "kind", "pull", "arm", "value", "data")
FORM = {"export": 2}  # what an export that has an end begins with; those of 0.1 and 0.2 have neither


class Seal:
    """What an export ends with: the number of its lines, and a hash of them."""

    def __init__(self) -> None:
        self._lines, self._hash = 0, hashlib.blake2b(digest_size=16)

    def take(self, record: Mapping[str, Any]) -> None:
        """The next line, as it is written; KeyError if it has not all columns."""
        text = json.dumps([record[key] for key in EVENT], sort_keys=True)
        self._lines += 1
        self._hash.update(f"{text}\n".encode())

    def to_dict(self) -> dict[str, Any]:
        """Of the lines so far."""
        return {"lines": self._lines, "hash": self._hash.hexdigest()}


def event_record(event: Event) -> dict[str, Any]:
    """A line of the log by name of column; the end of a command's stderr, perhaps a secret, left out."""
    record = {key: getattr(event, key) for key in EVENT}
    if event.data and isinstance(event.data.get("reason"), str):
        record["data"] = {**event.data, "reason": without_stderr(event.data["reason"])}
    return record


def json_record(event: Event) -> dict[str, Any]:
    """The same for JSON, which has no infinite numbers: they are the texts "inf" and "-inf"."""
    record = event_record(event)
    if event.value is not None and math.isinf(event.value):
        record["value"] = str(event.value)
    return dict(plain(record))


def exported(experiment: Shown, format: str) -> Iterator[str]:
    """The log line by line, without line ends, as it is read: it may be longer than the memory.

    format  "jsonl", "csv" or "json"
    """
    name, seal = experiment.name, Seal()
    if format == "csv":
        rows = ({"experiment": name, **event_record(event)} for event in experiment.events())
        yield from csv_lines(rows, ["experiment", *EVENT])
    elif format == "json":
        yield from _document(name, experiment.settings.to_record(), _sealed(experiment, seal), seal)
    else:
        form: dict[str, Any] = FORM
        for record in _sealed(experiment, seal):
            yield json.dumps({"experiment": name, **form, **record}, allow_nan=False)
            form = {}
        yield json.dumps({"experiment": name, "end": seal.to_dict()})


def _sealed(experiment: Shown, seal: Seal) -> Iterator[dict[str, Any]]:
    for record in map(json_record, experiment.events()):
        seal.take(record)
        yield record


def _document(
    name: str, settings: dict[str, Any], records: Iterator[dict[str, Any]], seal: Seal
) -> Iterator[str]:
    """One JSON document."""
    head = json.dumps(plain({"name": name, **FORM, "settings": settings}), indent=2, allow_nan=False)
    line = head.removesuffix("\n}") + ',\n  "events": ['
    comma = ""  # after every event but the last
    for record in records:
        yield line + comma
        line = "    " + json.dumps(record, indent=2, allow_nan=False).replace("\n", "\n    ")
        comma = ","
    yield line
    yield f'  ],\n  "end": {json.dumps(seal.to_dict())}\n}}'
