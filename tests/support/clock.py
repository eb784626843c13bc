"""A store in memory whose clock a test moves."""

from __future__ import annotations

from typing import Any

from truebest.experiment.store.memory import MemoryStore


class Clocked(MemoryStore):
    """A store whose clock stands still until a test moves it; decisions are proven as on a disk."""

    lasting = True

    def __init__(self) -> None:
        super().__init__()
        self.time = 1000.0

    def reading(self, name: str) -> Any:
        return _WithClock(super().reading(name), self)

    def writing(self, name: str, *, patience: float | None = None) -> Any:
        return _WithClock(super().writing(name, patience=patience), self)


class _WithClock:
    def __init__(self, inner: Any, store: Clocked) -> None:
        self.inner, self.store = inner, store

    def __enter__(self) -> Any:
        log = self.inner.__enter__()
        log.now = lambda: self.store.time
        return log

    def __exit__(self, *problem: Any) -> Any:
        return self.inner.__exit__(*problem)
