"""What a decision rests on: a replay of the log from its first line, which trusts nothing but the lines.

It takes seconds where the log is long, so it is made while others go on (`advance`); what was appended in the
meantime is replayed where they wait. It is kept, and the next decision goes on from where it ended: if the
line there is the same, then so are all lines before it, since its hash is of them, too. Where the first line
has no hash, as in a log that version 0.1 began, nothing is kept.

Only lines that were read from the store are ever replayed here, none that this process remembers.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from .events import DECIDED, Entry
from .findings import same_decision
from .reading import continues, stored_chunks
from .settings import Settings
from .state import Recall, State, new_state
from .store._base import Log, Store
from .stretches import replay

NEAR = 1_000  # lines that are replayed while others wait


class Proof:
    """The replay of one log, for many threads.

    kept  whether it was begun for an earlier decision
    """

    def __init__(self, store: Store, name: str, settings: Settings, recall: Recall) -> None:
        self._store, self._name, self._settings, self._recall = store, name, settings, recall
        self._state: State | None = None  # replaced, never changed
        self._hashed, self.kept = False, False
        self._lock = threading.Lock()

    def lacks(self, line: int) -> bool:
        """Whether so much is left to replay up to that line that nobody else should wait for it."""
        return self._state is None or line - self._state.seq > NEAR

    def advance(self, until: int) -> None:
        """Replay the log up to a line, outside every block; another thread that needs it waits for it.

        Raises  DamagedLogError, StoreError
        """
        with self._lock:
            known = self._state
            if known is None or (known.seq < until and not self._go_on(known.copy(), until)):
                self._begin(until)

    def _begin(self, until: int) -> None:
        """From the first line."""
        self._state, self.kept, self._hashed = None, False, False
        state = new_state(self._settings, chooses=False, recall=self._recall)
        for chunk in self._chunks(0, until):
            self._hashed = self._hashed or (state.seq == 0 and bool(chunk[0].chain))
            replay(state, chunk)
        self._state = state

    def _go_on(self, state: State, until: int) -> bool:
        """From where it ended; False if the log does not go on from there."""
        for chunk in self._chunks(state.seq - 1, until):
            if chunk[0].seq > state.seq:
                replay(state, chunk)
            elif not self._follows(state, chunk):
                return False
        self._state = state
        return True

    def _chunks(self, after: int, until: int) -> Iterator[list[Entry]]:
        return stored_chunks(self._store, self._name, after, until, "replaying the log before the decision")

    def _follows(self, state: State, lines: list[Entry]) -> bool:
        """Replay lines of which the first must be the last one of the state; whether it is."""
        if not continues(state, lines):
            return False
        replay(state, lines[1:])
        return True

    def confirms(self, new: Sequence[Entry], log: Log) -> bool | None:
        """Whether the log gives every decision among new lines; None if `advance` must come first."""
        state = self._state
        if state is None or self.lacks(log.last):
            return None
        if (state.seq, state.head) != (log.last, log.head):
            state = state.copy()
            if not self._follows(state, log.entries(state.seq - 1)):
                self._state = None  # the log is another one
                return None
            self._state = state
        trial = state.copy()
        for entry in new:
            if entry.kind == DECIDED and not same_decision(trial.due, entry.data):
                return False
            trial.apply(entry)
        return True

    def settle(self) -> None:
        """The call has ended: what was replayed is kept for the next decision, if its hashes vouch for it."""
        self.kept = self._hashed and self._state is not None
        if not self.kept:
            self._state = None

    def forget(self) -> None:
        """Begin with the first line the next time."""
        self._state, self.kept = None, False
