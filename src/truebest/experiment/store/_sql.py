"""What the SQL stores share: the tables, the statements, and the life of a connection.

A connection serves one block at a time and only the process that opened it. Between blocks it waits in
the store's list of idle ones, so that threads, nested reads and forks need no care elsewhere.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple

from ...errors import DamagedLogError, LostConnectionError, StoreError
from ..events import Entry
from ..names import check_name
from ._base import Log, NestingGuard, Store, no_such_experiment
from ._rows import CHAIN, COLUMNS, SEQ, Row, checked_entries, checked_entry, to_entry, to_rows

# Version n of the schema is what the first n steps make. Steps are only ever added at the end.
# {id}: a number given by the database; {real}: a float that keeps every bit; {clustered}: stored by its key.
STEPS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE experiments (id {id}, name TEXT NOT NULL UNIQUE, last BIGINT NOT NULL)",
        "CREATE TABLE events (experiment BIGINT NOT NULL, seq BIGINT NOT NULL, time {real} NOT NULL,"
        " kind TEXT NOT NULL, pull BIGINT, arm BIGINT, value {real}, data TEXT,"
        " PRIMARY KEY (experiment, seq)){clustered}",
        "CREATE INDEX events_by_pull ON events (experiment, pull)",
    ),
    ("CREATE TABLE snapshots (experiment BIGINT PRIMARY KEY, seq BIGINT NOT NULL, text TEXT NOT NULL)",),
    (
        "ALTER TABLE events ADD COLUMN chain TEXT",
        "ALTER TABLE experiments ADD COLUMN head TEXT",  # number and chain of the last line that has one
        "ALTER TABLE experiments ADD COLUMN saved BIGINT NOT NULL DEFAULT 0",
    ),
    (
        "CREATE TABLE leases (experiment BIGINT NOT NULL, pull BIGINT NOT NULL, until {real} NOT NULL,"
        " PRIMARY KEY (experiment, pull)){clustered}",
    ),
)
VERSION = len(STEPS)

NAMES = "SELECT name FROM experiments ORDER BY id"
CREATE = "INSERT INTO experiments (name, last) VALUES (%s, 0) ON CONFLICT (name) DO NOTHING"
ENTRIES = f"SELECT {COLUMNS} FROM events WHERE experiment = %s AND seq >= %s AND seq <= %s ORDER BY seq"
ENTRIES_OF_PULL = (
    f"SELECT {COLUMNS}, (SELECT before.chain FROM events AS before"
    " WHERE before.experiment = events.experiment AND before.seq = events.seq - 1)"
    " FROM events WHERE experiment = %s AND pull = %s AND seq > %s ORDER BY seq"
)
FIRST = f"SELECT {COLUMNS} FROM events WHERE experiment = %s AND seq = 1"
SNAPSHOT = "SELECT seq, text FROM snapshots WHERE experiment = %s"
SAVE_SNAPSHOT = (
    "INSERT INTO snapshots (experiment, seq, text) VALUES (%s, %s, %s)"
    " ON CONFLICT (experiment) DO UPDATE SET seq = excluded.seq, text = excluded.text"
)
NOTE_SNAPSHOT = "UPDATE experiments SET saved = %s WHERE id = %s"
LEASES = "SELECT pull, until FROM leases WHERE experiment = %s"
RENEW = (
    "INSERT INTO leases (experiment, pull, until) VALUES (%s, %s, %s)"
    " ON CONFLICT (experiment, pull) DO UPDATE SET until = excluded.until"
)
FORGET = "DELETE FROM leases WHERE experiment = %s AND until <= %s"
# where an experiment has rows, and which column says so
PARTS = (
    ("events", "experiment"),
    ("snapshots", "experiment"),
    ("leases", "experiment"),
    ("experiments", "id"),
)

LARGEST = 2**63 - 1  # of a BIGINT


def steps_from(version: int, place: str) -> tuple[tuple[str, ...], ...]:
    """The steps that bring a schema of that version up to date.

    Raises  StoreError if the schema is newer than this package
    """
    if version > VERSION:
        raise StoreError(
            f"{place} was written by a newer truebest (version {version} of its tables, this one knows"
            f" {VERSION}); upgrade with `pip install --upgrade truebest`"
        )
    return STEPS[version:]


class Found(NamedTuple):
    """What a transaction knows of its experiment: the columns of its row, and the clock."""

    id: int
    last: int
    head: str | None
    saved: int
    clock: Callable[[], float]


class Session(ABC):
    """One connection. Whatever its driver raises comes out as `StoreError`, and spoils the block."""

    errors: ClassVar[tuple[type[Exception], ...]]  # what the driver raises

    def __init__(self, raw: Any, place: str) -> None:
        self.raw = raw
        self.place = place
        self.failed = False
        self._pid = os.getpid()

    @abstractmethod
    def explain(self, error: Exception) -> str:
        """One sentence: what went wrong, and what to do."""

    @abstractmethod
    def begin(self, *, write: bool, patience: float | None = None) -> None:
        """Start a transaction; a writer waits for others so many seconds, or as long as the store does."""

    @abstractmethod
    def find(self, name: str, *, write: bool) -> Found | None:
        """An experiment by its name; with `write`, lock it."""

    @abstractmethod
    def insert(self, experiment: int, rows: Sequence[Row]) -> None:
        """Add lines at the end of a log, and note the last one's seq and chain."""

    def lost(self) -> bool:
        """Whether the connection broke, so that another one may do better."""
        return False

    def usable(self) -> bool:
        """Whether an idle connection may serve a block of this process."""
        return self._pid == os.getpid()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run a query and fetch all of its rows."""
        return self._try(lambda: self.raw.execute(sql, values).fetchall())  # type: ignore[no-any-return]

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run a statement; returns the number of rows that it changed."""
        return self._try(lambda: self.raw.execute(sql, values).rowcount)  # type: ignore[no-any-return]

    def _try(self, call: Callable[[], Any]) -> Any:
        if self._pid != os.getpid():
            raise StoreError("this block was begun in another process; begin a new one after the fork")
        try:
            return call()
        except self.errors as error:
            self.failed = True
            kind = LostConnectionError if self.lost() else StoreError
            raise kind(self.explain(error)) from error

    def commit(self) -> None:
        """Make the block durable."""
        if self.failed:  # and the caller went on: half a block must not be stored
            raise StoreError(
                f"a step of this block on {self.place} failed, so none of it was stored; repeat it"
            )
        self.run("COMMIT")

    def abandon(self) -> None:
        """Undo the block; a connection that cannot is closed, which undoes it too."""
        if self.failed or self._pid != os.getpid():
            return self.close()
        try:
            self.run("ROLLBACK")
        except StoreError:
            self.close()

    def close(self) -> None:
        """Close the connection, unless it is a parent process's."""
        self.failed = True
        if self._pid == os.getpid():
            self.raw.close()
        else:  # never delete it, not even at exit: that would talk to the database, too
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.raw))


class _SqlLog(Log):
    """A log inside one transaction."""

    def __init__(self, session: Session, found: Found, *, write: bool) -> None:
        super().__init__(write=write)
        self._session, self._experiment, self._clock = session, found.id, found.clock
        self.last, self.saved = found.last, found.saved
        chained, _, head = (found.head or "0 ").partition(" ")
        self.head = head if chained == str(self.last) else ""  # version 0.1 leaves the head as it is

    def _checked(self, *, write: bool = False) -> Session:
        self._check(write=write)
        return self._session

    def now(self) -> float:
        self._check()
        return self._clock()

    def entries(self, after: int = 0, *, most: int | None = None, pull: int | None = None) -> list[Entry]:
        session, after = self._checked(), max(after, 0)
        if after >= self.last or (pull is not None and abs(pull) > LARGEST):
            return []
        if pull is not None:
            found = session.rows(ENTRIES_OF_PULL, (self._experiment, pull, after))
            with _placed(session.place):
                return [checked_entry(row, before or "") for *row, before in found]
        until = self.last if most is None else min(self.last, after + most)
        rows = session.rows(ENTRIES, (self._experiment, after, until))
        previous = rows.pop(0)[CHAIN] if after and rows else ""
        with _placed(session.place):
            for seq, row in enumerate([*rows, None], start=after + 1):
                if seq <= until and (row is None or row[SEQ] != seq):
                    raise DamagedLogError(seq, "it is missing")
            entries = checked_entries(rows, previous or "")
            if until == self.last and entries and entries[-1].chain != self.head:
                raise DamagedLogError(until, "it is not the line that was written last")
        return entries

    def first(self) -> Entry:
        rows = self._checked().rows(FIRST, (self._experiment,))
        with _placed(self._session.place):
            if not rows:
                raise DamagedLogError(1, "it is missing")
            return checked_entry(rows[0], "")

    def append(self, entries: Sequence[Entry]) -> list[Entry]:
        session = self._checked(write=True)
        rows = to_rows(entries, self.last, self.head, self._clock())
        if rows:
            session.insert(self._experiment, rows)
            self.last, self.head = rows[-1][SEQ], rows[-1][CHAIN]
        return [to_entry(row) for row in rows]

    def leases(self) -> dict[int, float]:
        return dict(self._checked().rows(LEASES, (self._experiment,)))

    def renew(self, until: Mapping[int, float]) -> None:
        session = self._checked(write=True)
        for pull, end in until.items():
            session.run(RENEW, (self._experiment, pull, end))
        session.run(FORGET, (self._experiment, self._clock()))

    def snapshot(self) -> tuple[int, str] | None:
        rows = self._checked().rows(SNAPSHOT, (self._experiment,))
        return (rows[0][0], rows[0][1]) if rows else None

    def save_snapshot(self, seq: int, text: str) -> None:
        session = self._checked(write=True)
        session.run(SAVE_SNAPSHOT, (self._experiment, seq, text))
        session.run(NOTE_SNAPSHOT, (seq, self._experiment))
        self.saved = seq


@contextmanager
def _placed(place: str) -> Iterator[None]:
    """Say in which store a damaged line is."""
    try:
        yield
    except DamagedLogError as error:
        raise DamagedLogError(error.line, error.problem, place) from error.__cause__


class SqlStore(Store):
    """Logs in a database."""

    def __init__(self, url: str, place: str) -> None:
        self.url = url
        self.place = place
        self._idle: list[Session] = []  # list.append and list.pop need no lock
        self._guard = NestingGuard()
        weakref.finalize(self, _close_all, self._idle)

    @abstractmethod
    def _connect(self) -> Session:
        """A new connection to tables of the current version."""

    def create(self, name: str, first: Entry, rest: Sequence[Entry] = ()) -> bool:
        check_name("the name of an experiment", name)
        with self._guard, self._block(write=True) as session:
            if not session.run(CREATE, (name,)):
                return False
            with self._log(session, name, write=True, new=True) as log:
                log.append([first, *rest])
            return True

    def names(self) -> list[str]:
        if not self.exists():
            return []
        with self._block(write=False) as session:
            return [name for (name,) in session.rows(NAMES)]

    def delete(self, name: str) -> None:
        self._check_exists(name)
        with self._guard, self._block(write=True) as session:
            experiment = self._found(session, name, write=True).id
            for table, key in PARTS:
                session.run(f"DELETE FROM {table} WHERE {key} = %s", (experiment,))

    @contextmanager
    def reading(self, name: str) -> Iterator[Log]:
        self._check_exists(name)
        with self._block(write=False) as session, self._log(session, name, write=False) as log:
            yield log

    @contextmanager
    def writing(self, name: str, *, patience: float | None = None) -> Iterator[Log]:
        self._check_exists(name)
        with (
            self._guard,
            self._block(write=True, patience=patience) as session,
            self._log(session, name, write=True) as log,
        ):
            yield log

    def close(self) -> None:
        _close_all(self._idle)

    def _check_exists(self, name: str) -> None:
        check_name("the name of an experiment", name)
        if not self.exists():
            raise no_such_experiment(name, self.place, [])

    def _found(self, session: Session, name: str, *, write: bool) -> Found:
        found = session.find(name, write=write)
        if found is None:
            raise no_such_experiment(name, self.place, [row[0] for row in session.rows(NAMES)])
        return found

    @contextmanager
    def _log(self, session: Session, name: str, *, write: bool, new: bool = False) -> Iterator[Log]:
        found = self._found(session, name, write=write)
        if found.last < 1 and not new:
            raise DamagedLogError(1, "it is missing", self.place)
        log = _SqlLog(session, found, write=write)
        try:
            yield log
        finally:
            log.open = False

    @contextmanager
    def _block(self, *, write: bool, patience: float | None = None) -> Iterator[Session]:
        session = self._begin(write=write, patience=patience)
        try:
            yield session
            session.commit()
        except BaseException:
            session.abandon()
            raise
        finally:
            if not session.failed:
                self._idle.append(session)

    def _begin(self, *, write: bool, patience: float | None) -> Session:
        """A connection inside a new transaction; an idle one that turns out to be lost is replaced."""
        while True:
            idle = self._pop()
            session = idle or self._connect()
            try:
                session.begin(write=write, patience=patience)
                return session
            except BaseException as error:
                session.close()
                if idle is None or not isinstance(error, StoreError) or not session.lost():
                    raise

    def _pop(self) -> Session | None:
        while self._idle:
            try:
                session = self._idle.pop()
            except IndexError:  # another thread was quicker
                break
            if session.usable():
                return session
            session.close()
        return None


def _close_all(sessions: list[Session]) -> None:
    while sessions:
        try:
            sessions.pop().close()
        except IndexError:
            break
