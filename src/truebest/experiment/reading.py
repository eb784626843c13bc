"""A stored log, read in chunks: each in a block of its own, so that none is open for long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from .events import Entry
from .state import State
from .store._base import Store, patiently
from .waiting import Wait

CHUNK = 5_000  # lines that are read at once


def stored_chunks(
    store: Store, name: str, after: int, until: int | None = None, what: str = "reading the log"
) -> Iterator[list[Entry]]:
    """Lines of a log in chunks; the end is where it was at the first.

    what  is done with them, for people who wait
    """

    def read(after: int) -> tuple[int, list[Entry]]:
        with store.reading(name) as log:
            end = log.last if until is None else until
            return end, log.entries(after, most=min(CHUNK, end - after))

    wait = None
    while until is None or after < until:
        until, chunk = patiently(store, partial(read, after))
        if not chunk:
            return
        yield chunk
        after = chunk[-1].seq
        wait = wait or Wait(what, until)
        wait.at(after)


def stored_lines(store: Store, name: str, after: int = 0, until: int | None = None) -> Iterator[Entry]:
    """Lines of a log, read in chunks."""
    for chunk in stored_chunks(store, name, after, until):
        yield from chunk


def continues(state: State, new: Sequence[Entry]) -> bool:
    """Whether lines begin with the last one of the state."""
    return bool(new) and (new[0].seq, new[0].time, new[0].chain) == (state.seq, state.mark, state.head)
