"""Read an exported log back: the lines of an experiment as JSON lines, or as one JSON document."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ..errors import InvalidInputError
from .events import CREATED, Entry

_ADVICE = "give what `truebest export NAME` writes, as JSON lines or with --format json"


def read_log(file: str | os.PathLike[str]) -> tuple[str, list[Entry]]:
    """The name of the experiment, and its lines; hashes are made again when they are stored.

    Raises  InvalidInputError if the file cannot be read, or is no exported log
    """
    try:
        name, events = _events(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise InvalidInputError(f"cannot read {os.fspath(file)!r}: {reason}; {_ADVICE}.") from None
    if not events or not isinstance(events[0], dict) or events[0].get("kind") != CREATED:
        raise InvalidInputError(f"an exported log must begin with a line of kind {CREATED!r}; {_ADVICE}.")
    arms = (events[0].get("data") or {}).get("arms")
    if not isinstance(arms, list):
        raise InvalidInputError(f"the first line of an exported log must hold the arms; {_ADVICE}.")
    index = {arm: i for i, arm in enumerate(arms)}
    return name, [_entry(number, event, index) for number, event in enumerate(events, 1)]


def _events(text: str) -> tuple[str, list[Any]]:
    """The name and the records, from either form."""
    try:
        whole = json.loads(text)
        if isinstance(whole, dict) and "events" in whole:
            return str(whole.get("name", "")), list(whole["events"])
        lines = [whole]
    except ValueError:
        try:
            lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise InvalidInputError(f"this is not an exported log ({error}); {_ADVICE}.") from None
    first = lines[0] if lines and isinstance(lines[0], dict) else {}
    return str(first.get("experiment", "")), lines


def _entry(number: int, event: Any, index: dict[str, int]) -> Entry:
    try:
        if event["seq"] != number:
            raise ValueError(f"its number is {event['seq']}")
        arm, pull, value, data = event["arm"], event["pull"], event["value"], event["data"]
        return Entry(
            kind=str(event["kind"]),
            pull=None if pull is None else int(pull),
            arm=None if arm is None else index[arm],
            value=None if value is None else float(value),
            data=None if data is None else dict(data),
            time=float(event["time"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInputError(
            f"line {number} of the log cannot be read ({type(error).__name__}: {error}); {_ADVICE}."
        ) from None
