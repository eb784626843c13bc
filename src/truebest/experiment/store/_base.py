"""What a store is: a place for the logs of experiments. It keeps lines and understands none of them.

    with store.writing(name) as log:      # alone: other writers of this experiment wait
        new = log.entries(after=seen)     # what others have appended
        log.append([Entry(TOLD, pull=7, value=0.5)])
    # here the lines are durable; an exception inside, or a crash, leaves nothing behind

Every line is tied to the one before it by a hash (`_rows.py`), and is checked when it is read. All
implementations run under the same contract tests. Everything that goes wrong underneath is raised
as `StoreError`, after which the store may be used again. When a connection breaks just as a block is
left, its lines are either all stored or none: read the log before repeating them (`patiently`).
"""

from __future__ import annotations

import logging
import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from ...errors import InvalidInputError, LostConnectionError, StoreError
from ..events import Entry

Answer = TypeVar("Answer")

FIRST, LONGEST = 0.1, 5.0  # seconds of the first pause after a lost connection, and of the longest
_log = logging.getLogger("truebest")
_random = random.Random()  # its own, as arms may use the common one with a seed


class Log(ABC):
    """The log of one experiment, inside `Store.reading` or `Store.writing` and not after it.

    last   the number of its last line
    head   that line's chain, "" if version 0.1 wrote it
    saved  the last line that the saved snapshot contains, 0 without one
    """

    last: int
    head: str
    saved: int

    def __init__(self, *, write: bool) -> None:
        self.open = True
        self._write = write

    def _check(self, *, write: bool = False) -> None:
        """Refuse a use after the block, or a change where only reading was asked for."""
        if not self.open:
            raise StoreError("this log's block has ended; open a new one with reading() or writing()")
        if write and not self._write:
            raise StoreError("this log is open for reading; use writing() to change it")

    @abstractmethod
    def now(self) -> float:
        """Seconds since 1970 by the store's clock, the same for all who use the store."""

    @abstractmethod
    def entries(self, after: int = 0, *, most: int | None = None, pull: int | None = None) -> list[Entry]:
        """The lines with seq > after in order, at most so many; with `pull`, those of that pull alone.

        Raises  DamagedLogError if a line is not what was written
        """

    @abstractmethod
    def first(self) -> Entry:
        """The line that the log began with."""

    @abstractmethod
    def append(self, entries: Sequence[Entry]) -> list[Entry]:
        """Add lines at the end; returns them as `entries` will, with the seq and the time they were given."""

    @abstractmethod
    def leases(self) -> dict[int, float]:
        """Pull -> until when its lease was renewed, for those that were; see `renew`."""

    @abstractmethod
    def renew(self, until: Mapping[int, float]) -> None:
        """Note until when the leases of pulls were renewed, beside the log; forget those that have ended."""

    @abstractmethod
    def snapshot(self) -> tuple[int, str] | None:
        """The last saved snapshot: the seq of the last line that it contains, and its text."""

    @abstractmethod
    def save_snapshot(self, seq: int, text: str) -> None:
        """Replace the snapshot. It is a cache: the log alone must be enough."""


class Store(ABC):
    """The logs of many experiments, by name. May be used by many threads, and after a fork.

    url       where it is, as given, perhaps with a password: for connecting, never for a message
    place     the same for people: without a password
    lasting   whether it outlives the process, so that what is read may differ from what was written
    patience  seconds to wait for other writers before giving up
    reconnect seconds for which an experiment tries again after a lost connection
    """

    url: str
    place: str
    lasting: bool = True
    patience: float = 60.0
    reconnect: float = 120.0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.place!r})"

    @abstractmethod
    def create(self, name: str, first: Entry, rest: Sequence[Entry] = ()) -> bool:
        """Begin a log with its first line, and perhaps others, durably; False if the name is taken.

        They are stored at once: there is never an experiment with some of them.

        Raises  InvalidInputError if the name is empty or has control characters
        """

    def exists(self) -> bool:
        """False for a store that will be made when the first experiment is created."""
        return True

    @abstractmethod
    def names(self) -> list[str]:
        """All experiments, in the order of their creation."""

    @abstractmethod
    def delete(self, name: str) -> None:
        """Delete an experiment and all that belongs to it, durably; it waits for other writers.

        Raises  InvalidInputError if there is no such experiment
        """

    @abstractmethod
    def reading(self, name: str) -> AbstractContextManager[Log]:
        """A consistent view of one log, which keeps no writer waiting.

        Raises  InvalidInputError if there is no such experiment
        """

    @abstractmethod
    def writing(self, name: str, *, patience: float | None = None) -> AbstractContextManager[Log]:
        """The log, for one writer at a time; durable when left, unchanged when left by an exception.

        Keep the block short, for others wait; a thread may be inside one such block of a store only.
        patience  seconds to wait for other writers, by default the store's
        Raises    InvalidInputError if there is no such experiment
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connections; the store opens them again if it is used again."""

    def problem(self) -> str:
        """What is wrong with the place itself, apart from the lines, as far as it can tell; "" if nothing."""
        return ""


class NestingGuard(threading.local):
    """Refuses a second writing block in the thread that is inside one: it would wait for itself."""

    held = False

    def __enter__(self) -> None:
        if self.held:
            raise StoreError(
                "this thread is already inside a writing block of this store and would wait for itself;"
                " leave that block first"
            )
        self.held = True

    def __exit__(self, *exception: object) -> None:
        self.held = False


def no_such_experiment(name: str, place: str, names: Sequence[str]) -> InvalidInputError:
    """The error for a name that a store does not have."""
    some = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    there = f"it has {some}" if names else "it has none yet"
    return InvalidInputError(
        f"there is no experiment {name!r} in {place}; {there}; create it first, or give another name"
    )


def backoff(attempt: int, first: float, longest: float) -> float:
    """The pause before attempt 1, 2, ...: doubled each time, and half of it more or less by chance."""
    return float(min(longest, first * 2.0 ** min(attempt - 1, 60)) * _random.uniform(0.5, 1.5))


def patiently(store: Store, call: Callable[[], Answer]) -> Answer:
    """What a call on a store returns; while the connection is lost, it is repeated for a stated time.

    A server that is restarted, or a network that fails for some seconds, must not end a worker that has run
    for days. The call is repeated as a whole; the journal sees to it that nothing is written twice.
    """
    begun, attempt = time.monotonic(), 0
    while True:
        try:
            answer = call()
        except LostConnectionError as error:
            attempt += 1
            begun = begun if attempt > 1 else time.monotonic()
            pause = backoff(attempt, FIRST, LONGEST)
            if time.monotonic() + pause > begun + store.reconnect:
                raise
            if attempt == 1:
                _log.warning("%s; trying again for %g s", error, store.reconnect)
            time.sleep(pause)
            continue
        if attempt:
            _log.warning("%s is back after %.1f s", store.place, time.monotonic() - begun)
        return answer
