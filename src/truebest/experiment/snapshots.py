"""Snapshots: a state as a text, so that a process need not replay the whole log. A cache, never the truth."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

from .findings import Findings
from .leases import Open
from .settings import Settings
from .state import Recall, State, new_state

SNAPSHOT = 11  # raised whenever the form of `as_dict` changes; other snapshots are not read
_PLAIN = ("seq", "mark", "head", "next_pull", "counts", "stopped")


def packed(state: State) -> str:
    """A state as the text of a snapshot, with a hash of its own in front."""
    text = json.dumps(as_dict(state))
    return f"{_digest(text)} {text}"


def unpacked(
    settings: Settings, snapshot: str, recall: Recall | None = None, *, chooses: bool = True
) -> State:
    """The state back; ValueError or KeyError if it is damaged, or of another version."""
    if not is_whole(snapshot):
        raise ValueError("a damaged snapshot")
    return from_dict(settings, json.loads(snapshot.partition(" ")[2]), recall, chooses=chooses)


def is_whole(snapshot: str) -> bool:
    """Whether a snapshot is as it was saved, by its own hash."""
    if not isinstance(snapshot, str):  # SQLite has damaged the type of the column
        return False
    digest, _, text = snapshot.partition(" ")
    return digest == _digest(text)


def as_dict(state: State) -> dict[str, Any]:
    """Everything, as JSON can hold it; `from_dict` gives the same state, bit for bit."""
    return {
        "snapshot": SNAPSHOT,
        **{name: getattr(state, name) for name in _PLAIN},
        **state.to_dict(),
        "decision": None
        if state.decision is None
        else state.decision.to_record(state.settings.arms, state.settings.question),
        "open": [[pull, *item] for pull, item in state.open.items()],
        "violated": list(state.violated.items()),
        "refuted": None if state.refuted is None else list(state.refuted),
        "outside": list(state.outside.items()),
    }


def from_dict(
    settings: Settings, data: dict[str, Any], recall: Recall | None = None, *, chooses: bool = True
) -> State:
    """The inverse of `as_dict`; KeyError or ValueError if it is no snapshot of ours."""
    if data["snapshot"] != SNAPSHOT:
        raise ValueError("a snapshot of another version")
    state = new_state(settings, chooses=chooses, recall=recall)
    state.restore(data)
    state.open = {pull: Open(*rest) for pull, *rest in data["open"]}
    state.violated = dict(data["violated"])
    state.refuted = None if data["refuted"] is None else tuple(data["refuted"])
    state.outside = dict(data["outside"])
    for name in _PLAIN:
        setattr(state, name, data[name])
    state.decision = None if data["decision"] is None else Findings.from_record(data["decision"])
    return state


def agree(one: Any, other: Any) -> bool:
    """Whether two values of `as_dict` are equal up to rounding, which differs between versions of Numba."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(agree(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(agree, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (
            math.isnan(one) and math.isnan(other)
        )
    return bool(one == other)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
