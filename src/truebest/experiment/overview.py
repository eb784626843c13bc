"""Where an experiment stands, in a line of a list: what follows from its log without any interval.

The ends of an interval take hundreds of times as long as everything else that is read of an experiment, and
a list of thousands shows none. So it does not ask for an `Account`, and keeps nothing of what a strategy
remembers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from ..telling.answers import Answer
from .accounts import answer_of
from .events import Entry
from .promise import certain, promise
from .reading import CHUNK, continues, stored_chunks, stored_lines
from .settings import Settings, read_settings
from .snapshots import unpacked
from .state import Recall, State, new_state
from .store._base import Log, Store, patiently


@dataclass(frozen=True)
class Overview:
    """What a list shows of an account; `failed` is of all arms, `bound` and `certain` are of the promise."""

    name: str
    settings: Settings
    answer: Answer
    samples: int
    failed: int
    waiting: int
    bound: float | None
    certain: bool = False


def overview(store: Store, name: str) -> Overview:
    """Read an experiment of a store, from its last snapshot on.

    Raises  InvalidInputError if there is none, StoreError
    """
    state, last = patiently(store, partial(_near_the_end, store, name))
    for chunk in stored_chunks(store, name, state.seq, last):
        state.replay(chunk)
    return overview_of(name, state)


def overview_of(name: str, state: State) -> Overview:
    """The same of a state."""
    found = state.decision
    arm, samples = state.standing() if found is None else (found.arm, found.samples)
    return Overview(
        name=name,
        settings=state.settings,
        answer=answer_of(state, arm),
        samples=samples,
        failed=sum(state.counts["failed"]),
        waiting=state.waiting,
        bound=promise(state),
        certain=certain(state),
    )


def _near_the_end(store: Store, name: str) -> tuple[State, int]:
    """The state after the first lines behind the snapshot, usually all of them, and the log's last line."""

    def recall(until: int) -> Iterator[Entry]:
        return stored_lines(store, name, 0, until)

    with store.reading(name) as log:
        settings, last = read_settings(log.first().data or {}), log.last
        state = _saved(settings, log, recall)
        new = log.entries(max(0, state.seq - 1), most=CHUNK)
        if state.seq and not continues(state, new):  # the snapshot is of another log
            state = new_state(settings, chooses=False, recall=recall)
            new = log.entries(0, most=CHUNK)
    state.replay(new[1:] if state.seq else new)
    return state, last


def _saved(settings: Settings, log: Log, recall: Recall) -> State:
    """The state of the snapshot, or before the first line if there is none that is of use."""
    saved = log.snapshot() if log.saved else None
    if saved is not None:
        with suppress(Exception):  # a cache: without it the log is replayed
            return unpacked(settings, saved[1], recall, chooses=False)
    return new_state(settings, chooses=False, recall=recall)
