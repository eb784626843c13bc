"""Reading a long log takes a while: who waits for it is told how far it is, from two seconds on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

AFTER, EVERY = 2.0, 5.0  # seconds before the first time, and between two
Listener = Callable[[str], object]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def told(listener: Listener) -> Iterator[None]:
    """Inside, the listener is told in a sentence how far something is that takes long."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


class Wait:
    """One pass through a log.

    what  is done with it: "reading the log"
    last  the line at which it ends
    """

    def __init__(self, what: str, last: int) -> None:
        self._what, self._last, self._due = what, last, time.monotonic() + AFTER

    def at(self, line: int) -> None:
        """So far it has come."""
        listener, now = _listener.get(), time.monotonic()
        if listener is not None and now >= self._due and line < self._last:
            self._due = now + EVERY
            listener(f"{self._what}: {line:,} of {self._last:,} lines")
