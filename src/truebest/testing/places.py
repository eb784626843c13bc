"""A store under test, and what the demands on it have in common."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..experiment.events import CREATED, TOLD, Entry
from ..experiment.store import Store
from .demands import BrokenError, require

FIRST = Entry(CREATED, data={"arms": ["a", "b"], "delta": 0.05})


@dataclass(frozen=True)
class Place:
    """A store, which may hold experiments of others, and a name that nobody else has.

    wait  seconds after which a call that should go on at once counts as waiting
    """

    store: Store
    wait: float
    token: str = field(default_factory=lambda: uuid.uuid4().hex[:12])

    @property
    def name(self) -> str:
        """The experiment of this demand."""
        return f"check {self.token}"

    def names(self) -> list[str]:
        """The experiments of this demand, in the store's order."""
        return [name for name in self.store.names() if self.token in name]

    def create(self, name: str | None = None) -> None:
        """Begin a log."""
        advice = "create() must say True for a name that is new"
        require(self.store.create(name or self.name, FIRST), "a new experiment was not created", advice)

    def lines(self, name: str | None = None) -> list[Entry]:
        """The whole log."""
        with self.store.reading(name or self.name) as log:
            return log.entries()

    def add(self, *entries: Entry, name: str | None = None) -> list[Entry]:
        """Append lines in one block."""
        with self.store.writing(name or self.name) as log:
            return log.append(entries)


@dataclass(frozen=True)
class Opener:
    """Opens the store under test, anew for every demand."""

    open: Callable[[], Store]
    wait: float

    @contextmanager
    def opened(self) -> Iterator[Place]:
        """A place, closed at the end."""
        store = self.open()
        require(
            isinstance(store, Store),
            f"what was opened is a {type(store).__name__}",
            "return a subclass of truebest.experiment.store.Store",
        )
        try:
            yield Place(store, self.wait)
        finally:
            store.close()


def told(pull: int, value: float = 0.5, **data: Any) -> Entry:
    """A line."""
    return Entry(TOLD, pull=pull, arm=0, value=value, data=data or None)


def raised(call: Callable[[], object]) -> BaseException | None:
    """What a call raises."""
    try:
        call()
    except BaseException as error:
        return error
    return None


def entered(block: Callable[[], Any]) -> Callable[[], None]:
    """A call that enters a block and leaves it."""

    def enter() -> None:
        with block():
            pass

    return enter


class Beside(threading.Thread):
    """Work beside this thread, begun at once; what it raises is raised by `finish`."""

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        self._error = raised(self._work)

    def finish(self, what: str, seconds: float) -> None:
        """Wait for the end."""
        self.join(seconds)
        if self.is_alive():
            raise BrokenError(f"{what} has not ended within {seconds:g} s; it must not wait")
        if self._error is not None:
            raise self._error
