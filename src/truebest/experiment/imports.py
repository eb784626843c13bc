"""Read an exported log back: the lines of an experiment as JSON lines, or as one JSON document.

Every line passes the checks that it passed when it was made: first in a store in memory, of which nothing is
kept. Only then is the experiment created, with all of its lines in one transaction.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InvalidInputError, StoreError
from .admission import admitted
from .events import CREATED, KINDS, Entry
from .exports import Seal
from .names import check_name
from .store import Store
from .store.memory import MemoryStore
from .verification import Verification, verify

_ADVICE = "give what `truebest export NAME` writes, as JSON lines or with --format json"
_AGAIN = "nothing was stored; export the log again"
_ODD = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


class Imported(NamedTuple):
    """What came in.

    name      of the new experiment
    audit     what the check of its lines found
    complete  whether the file said where it ends; one of version 0.1 or 0.2 does not, and may have been cut
    """

    name: str
    audit: Verification
    complete: bool


class Exported(NamedTuple):
    """What a file holds: the name of the experiment, its lines as records, and how the file ends."""

    name: str
    records: list[Any]
    sealed: bool
    end: Any


def import_log(place: Store, file: str | os.PathLike[str], name: str | None) -> Imported:
    """Create an experiment from an exported log, or store nothing.

    Raises  InvalidInputError if the file is not an exported log, if it holds something that cannot have come
            about, or if there is an experiment of that name
    """
    found = _read(file)
    title = check_name("the name of an experiment", name or found.name)
    if title in place.names():
        raise _taken(title, place)
    lines = _lines(found.records)
    _refuse_cut(found)
    try:
        admitted(lines[0].data or {})
    except (InvalidInputError, StoreError) as error:
        raise InvalidInputError(f"the settings in line 1 of the log are not allowed: {error}") from error
    trial = MemoryStore()
    trial.create(title, lines[0], lines[1:])
    audit = verify(trial, title)
    if not audit.sound:
        raise InvalidInputError(f"{audit}; {_AGAIN}.")
    if not place.create(title, lines[0], lines[1:]):
        raise _taken(title, place)
    return Imported(title, audit, found.sealed)


def _taken(title: str, place: Store) -> InvalidInputError:
    return InvalidInputError(f"there is an experiment {title!r} in {place.place} already; give another name.")


def _read(file: str | os.PathLike[str]) -> Exported:
    """What a file holds, from either form."""
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise InvalidInputError(f"cannot read {os.fspath(file)!r}: {reason}; {_ADVICE}.") from None
    try:
        whole = _parsed(text)
    except _ODD:
        return _of_lines(text)
    if not isinstance(whole, dict) or "events" not in whole:
        return _of_lines(text)
    records = whole["events"]
    if not isinstance(records, list):
        raise InvalidInputError(f"the events of an exported log must be a list; {_ADVICE}.")
    return Exported(_text(whole.get("name")), records, "export" in whole, whole.get("end"))


def _of_lines(text: str) -> Exported:
    """From JSON lines."""
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                records.append(_parsed(line))
            except _ODD as error:
                raise InvalidInputError(
                    f"this is not an exported log: line {number} is not JSON ({error}); {_ADVICE}."
                ) from None
    last = records[-1] if records and isinstance(records[-1], dict) else {}
    if "end" in last:
        records.pop()
    first = records[0] if records and isinstance(records[0], dict) else {}
    return Exported(_text(first.get("experiment")), records, "export" in first, last.get("end"))


def _parsed(text: str) -> Any:
    """JSON as the standard has it, without numbers that are none."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not a number")

    return json.loads(text, parse_constant=refuse)


def _text(given: Any) -> str:
    return given if isinstance(given, str) else ""


def _refuse_cut(found: Exported) -> None:
    """Refuse what lacks a part of what was exported."""
    if not found.sealed and found.end is None:
        return  # of version 0.1 or 0.2
    if found.end is None:
        raise InvalidInputError(
            f"the log was cut off: behind its {len(found.records)} lines there is no line that says how many "
            f"there are; {_AGAIN}."
        )
    seal = Seal()
    for record in found.records:
        seal.take(record)
    if found.end != seal.to_dict():
        raise InvalidInputError(
            f"the log is not what was exported: its end says {found.end!r:.100}, and its lines are "
            f"{seal.to_dict()}; {_AGAIN}."
        )


def _lines(records: list[Any]) -> list[Entry]:
    """The lines, each of the right types; hashes are made again when they are stored."""
    first = records[0] if records else None
    if not isinstance(first, dict) or first.get("kind") != CREATED:
        raise InvalidInputError(f"an exported log must begin with a line of kind {CREATED!r}; {_ADVICE}.")
    data = first.get("data")
    arms = data.get("arms") if isinstance(data, dict) else None
    if not isinstance(arms, list) or not all(isinstance(arm, str) for arm in arms):
        raise InvalidInputError(f"the first line of an exported log must hold the arms; {_ADVICE}.")
    index = {arm: i for i, arm in enumerate(arms)}
    return [_entry(number, record, index) for number, record in enumerate(records, 1)]


def _entry(number: int, record: Any, index: Mapping[str, int]) -> Entry:
    try:
        if not isinstance(record, dict) or record["seq"] != number or type(record["seq"]) is not int:
            raise ValueError(f"it must be an object with the seq {number}")
        kind, arm, data = record["kind"], record["arm"], record["data"]
        if kind not in KINDS:
            raise ValueError(f"its kind is {kind!r:.40}")
        if not isinstance(data, dict | None):
            raise ValueError(f"its data must be an object, got {data!r:.40}")
        time = _number(record["time"])
        if time is None or not 0.0 < time < math.inf:
            raise ValueError(f"its time must be seconds since 1970, got {time}")
        return Entry(
            kind=kind,
            pull=_pull(record["pull"]),
            arm=None if arm is None else index[arm],
            value=_number(record["value"], ("inf", "-inf")),
            data=data,
            time=time,
        )
    except _ODD as error:
        problem = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise InvalidInputError(f"line {number} of the log cannot be read: {problem}; {_ADVICE}.") from None


def _pull(given: Any) -> int | None:
    if given is not None and not (type(given) is int and 1 <= given <= 2**53):
        raise ValueError(f"its pull must be a whole number from 1, got {given!r:.40}")
    return given


def _number(given: Any, texts: tuple[str, ...] = ()) -> float | None:
    """A number, or one of the texts that stand for what JSON does not have."""
    if given is None or type(given) in (int, float) or given in texts:
        return None if given is None else float(given)
    raise ValueError(f"it must hold a number, got {given!r:.40}")
