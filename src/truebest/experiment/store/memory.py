"""A store in memory: for tests, and for runs that nobody wants to keep."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ...errors import StoreError
from ..events import Entry
from ..names import check_name
from ._base import Log, NestingGuard, Store, no_such_experiment
from ._rows import CHAIN, SEQ, TIME, Row, to_entry, to_rows


class _Book:
    """One experiment: its lines, renewed leases and snapshot, as far as they are committed."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows: list[Row] = []
        self.of_pull: dict[int, list[Row]] = {}
        self.snapshot: tuple[int, str] | None = None
        self.leases: dict[int, float] = {}
        self.writer = threading.Lock()
        self.add(rows)

    def add(self, rows: list[Row]) -> None:
        """Lines at the end."""
        self.rows += rows
        for row in rows:
            if row[1] is not None:
                self.of_pull.setdefault(row[1], []).append(row)


class _MemoryLog(Log):
    """A view of a book as it was, plus what this block adds."""

    def __init__(self, book: _Book, *, write: bool) -> None:
        super().__init__(write=write)
        self._book = book
        self._snapshot = book.snapshot  # before the length: a snapshot never has more lines than the log
        self._length = self.last = len(book.rows)
        self._new: list[Row] = []
        self._leases = book.leases
        self.head = book.rows[self.last - 1][CHAIN]
        self.saved = self._snapshot[0] if self._snapshot else 0

    def now(self) -> float:
        self._check()
        return time.time()

    def entries(self, after: int = 0, *, most: int | None = None, pull: int | None = None) -> list[Entry]:
        self._check()
        after = max(after, 0)
        if pull is not None:
            rows = [row for row in self._book.of_pull.get(pull, ()) if row[SEQ] <= self._length]
            rows += [row for row in self._new if row[1] == pull]
            return [to_entry(row) for row in rows if row[SEQ] > after]
        until = self.last if most is None else min(self.last, after + most)
        old, new = self._book.rows[after : min(until, self._length)], self._new
        if until > self._length:
            old = old + new[max(after - self._length, 0) : until - self._length]
        return [to_entry(row) for row in old]

    def first(self) -> Entry:
        self._check()
        return to_entry(self._book.rows[0])

    def append(self, entries: Sequence[Entry]) -> list[Entry]:
        self._check(write=True)
        rows = to_rows(entries, self.last, self.head, time.time())
        self._new += rows
        if rows:
            self.last, self.head = rows[-1][SEQ], rows[-1][CHAIN]
        return [
            entry._replace(seq=row[SEQ], time=row[TIME], chain=row[CHAIN])
            for entry, row in zip(entries, rows, strict=True)
        ]

    def leases(self) -> dict[int, float]:
        self._check()
        return dict(self._leases)

    def renew(self, until: Mapping[int, float]) -> None:
        self._check(write=True)
        now = self.now()
        self._leases = {pull: end for pull, end in {**self._leases, **until}.items() if end > now}

    def snapshot(self) -> tuple[int, str] | None:
        self._check()
        return self._snapshot

    def save_snapshot(self, seq: int, text: str) -> None:
        self._check(write=True)
        self._snapshot, self.saved = (seq, text), seq

    def end(self, *, keep: bool) -> None:
        """Publish what the block added, or forget it."""
        self.open = False
        if keep and self._write:
            self._book.add(self._new)
            self._book.snapshot, self._book.leases = self._snapshot, self._leases


class MemoryStore(Store):
    """Logs in this process, gone with it."""

    lasting = False

    def __init__(self, url: str = "memory:") -> None:
        self.url = self.place = url
        self._books: dict[str, _Book] = {}
        self._guard = NestingGuard()

    def create(self, name: str, first: Entry, rest: Sequence[Entry] = ()) -> bool:
        check_name("the name of an experiment", name)
        book = _Book(to_rows([first, *rest], 0, "", time.time()))
        with self._guard:
            return self._books.setdefault(name, book) is book

    def names(self) -> list[str]:
        return list(self._books)

    def delete(self, name: str) -> None:
        with self.writing(name):
            del self._books[name]

    @contextmanager
    def reading(self, name: str) -> Iterator[Log]:
        log = _MemoryLog(self._book(name), write=False)
        try:
            yield log
        finally:
            log.end(keep=False)

    @contextmanager
    def writing(self, name: str, *, patience: float | None = None) -> Iterator[Log]:
        book, wait = self._book(name), self.patience if patience is None else patience
        with self._guard:
            if not book.writer.acquire(timeout=wait):
                raise StoreError(
                    f"another thread has been writing to {name!r} for {wait:g} s;"
                    " let it end, then repeat the call"
                )
            try:
                log = _MemoryLog(book, write=True)
                try:
                    yield log
                except BaseException:
                    log.end(keep=False)
                    raise
                log.end(keep=True)
            finally:
                book.writer.release()

    def close(self) -> None:
        """Nothing to close; the logs stay as long as the store."""

    def _book(self, name: str) -> _Book:
        try:
            return self._books[name]
        except (KeyError, TypeError):
            check_name("the name of an experiment", name)
            raise no_such_experiment(name, "this store in memory", self.names()) from None
