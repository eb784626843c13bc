"""An export is what `json.dumps` writes, whatever a line holds."""

from __future__ import annotations

import hashlib
import json
import math
from types import SimpleNamespace
from typing import Any

from truebest.experiment.events import Event
from truebest.experiment.exports import exported, json_record

ODD: dict[str, dict[str, Any] | None] = {
    "nothing": None,
    "an empty record": {},
    "a usual one": {"deadline": 1.7e9, "worker": "host:3"},
    "every kind": {"a": 1, "b": True, "c": None, "d": 1e-300, "e": 'a "quote"\n\u2028é'},
    "keys out of order": {"b": 1, "a": False, "B": 0.1},
    "keys of which one begins another": {"a": 1, "a!": 2, 'a"': 3, "é": 4},
    "numbers that JSON does not have": {"a": math.inf, "b": math.nan},
    "records inside": {"z": {"y": [1, {"x": 2, "a": []}], "b": {}}, "a": [], "c": [{"b": 1, "a": 2}]},
}
EVENTS = [
    Event(seq, 0.1 * seq, "asked", seq, 'ar"m', value, data)
    for seq, (value, data) in enumerate(
        ((value, data) for value in (None, 0.1, -math.inf, 2.0) for data in ODD.values()), start=1
    )
]


def texts(format: str) -> list[str]:
    experiment: Any = SimpleNamespace(
        name="x", events=lambda: iter(EVENTS), settings=SimpleNamespace(to_record=lambda: {"delta": 0.05})
    )
    return list(exported(experiment, format))


def end() -> dict[str, Any]:
    """The number of lines, and the hash of them with sorted keys."""
    columns = (list(json_record(event).values()) for event in EVENTS)
    text = "".join(json.dumps(line, sort_keys=True) + "\n" for line in columns)
    return {"lines": len(EVENTS), "hash": hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}


def test_a_json_line_is_as_json_dumps_writes_it() -> None:
    """And the last one has the hash of all."""
    records = [{"experiment": "x", **json_record(event)} for event in EVENTS]
    records[0] = {"experiment": "x", "export": 2, **json_record(EVENTS[0])}
    assert texts("jsonl") == [json.dumps(one) for one in (*records, {"experiment": "x", "end": end()})]


def test_a_json_document_is_indented_as_json_dumps_indents_it() -> None:
    """Line by line, but for its end, which stands on one line."""
    found = "\n".join(texts("json"))
    begun = {"name": "x", "export": 2, "settings": {"delta": 0.05}}
    document = json.dumps({**begun, "events": list(map(json_record, EVENTS))}, indent=2)
    assert found == f'{document.removesuffix(chr(10) + "}")},\n  "end": {json.dumps(end())}\n}}'
