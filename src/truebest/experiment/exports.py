"""A whole log as text, piece by piece: JSON lines, one JSON document, or comma-separated values."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from .._records import csv_lines, plain
from .events import Event
from .looking import Looking

EVENT = ("seq", "time", "kind", "pull", "arm", "value", "data")


def event_record(event: Event) -> dict[str, Any]:
    """A line of the log by name of column."""
    return {key: getattr(event, key) for key in EVENT}


def json_record(event: Event) -> dict[str, Any]:
    """The same for JSON, which has no infinite numbers: they are the texts "inf" and "-inf"."""
    record = event_record(event)
    if event.value is not None and math.isinf(event.value):
        record["value"] = str(event.value)
    return dict(plain(record))


def exported(experiment: Looking, format: str) -> Iterator[str]:
    """The log line by line, without line ends, as it is read: it may be longer than the memory.

    format  "jsonl", "csv" or "json"
    """
    name, events = experiment.name, map(json_record, experiment.events())
    if format == "csv":
        rows = ({"experiment": name, **event_record(event)} for event in experiment.events())
        yield from csv_lines(rows, ["experiment", *EVENT])
    elif format == "json":
        yield from _document(name, experiment.settings.to_record(), events)
    else:
        for event in events:
            yield json.dumps({"experiment": name, **event}, allow_nan=False)


def _document(name: str, settings: dict[str, Any], events: Iterator[dict[str, Any]]) -> Iterator[str]:
    """One JSON document."""
    head = json.dumps(plain({"name": name, "settings": settings}), indent=2, allow_nan=False)
    line = head.removesuffix("\n}") + ',\n  "events": ['
    comma = ""  # after every event but the last
    for event in events:
        yield line + comma
        line = "    " + json.dumps(event, indent=2, allow_nan=False).replace("\n", "\n    ")
        comma = ","
    yield line
    yield "  ]\n}"
