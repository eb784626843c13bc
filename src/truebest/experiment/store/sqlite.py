"""A store in one SQLite file, for one machine: nothing to start, and several processes may use it.

The file is in WAL mode, so that readers and the writer do not wait for each other, with synchronous=FULL:
a commit returns when the disk has it. Beside `runs.db` lie SQLite's `runs.db-wal` and `runs.db-shm`, and
`runs.db-queue`, an empty file on which writers queue: SQLite alone lets a busy writer starve the others.
Not for network drives: SQLite's locks do not work there. A file in a folder that may not be written, or on a
read-only mount, can be read.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import quote

from ...errors import StoreError
from ._forks import forks
from ._queue import queue
from ._rows import CHAIN, COLUMNS, SEQ, Row
from ._sql import VERSION, Found, Session, SqlStore, steps_from

APPLICATION_ID = int.from_bytes(b"barm", "big")
# REAL would turn -0.0 into 0.0, so floats lie in columns without a type.
TYPES = {"id": "INTEGER PRIMARY KEY", "real": "", "clustered": " WITHOUT ROWID"}
FIND = "SELECT id, last, head, saved FROM experiments WHERE name = ?"
INSERT = f"INSERT INTO events ({COLUMNS}, experiment) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
GROW = "UPDATE experiments SET last = ?, head = ? WHERE id = ?"
RETRY = 0.0005  # seconds between two attempts to be the writer

# By SQLite's primary result code. Written so that each is a sentence after the file's name.
ADVICE = {
    sqlite3.SQLITE_NOTADB: "is not a SQLite database; give another file name, or move that file away",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore a backup, or save what is left with `sqlite3 FILE .recover`",
    sqlite3.SQLITE_READONLY: "cannot be written; make sure that you may write to the file and its folder",
    sqlite3.SQLITE_PERM: "cannot be accessed; make sure that you may write to the file and its folder",
    sqlite3.SQLITE_FULL: "has no room to grow, so nothing was stored; free some space and repeat the call",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that its folder exists and that you may write to it",
    sqlite3.SQLITE_IOERR: "could not be read or written by the operating system; check the disk, then repeat",
    sqlite3.SQLITE_BUSY: "is locked by another program; let that end, then repeat the call",
    sqlite3.SQLITE_PROTOCOL: "cannot be locked; use a file on a local disk",
}


class SqliteSession(Session):
    """One connection to the file."""

    errors = (sqlite3.Error, UnicodeDecodeError)  # the second from a damaged file

    def __init__(self, raw: sqlite3.Connection, path: str, patience: float) -> None:
        super().__init__(raw, path)
        self.patience = patience
        self.file = identity(path)

    def explain(self, error: Exception) -> str:
        advice = ADVICE.get(code_of(error), "could not be read or written; see SQLite's message")
        return f"{self.place} {advice} ({' '.join(str(error).split())})"

    def prepare(self) -> None:
        """Check whose file it is, bring its tables up to date, and make sure that commits are durable."""
        if steps_from(version_of(self), self.place):
            self.wait_patiently("PRAGMA journal_mode = WAL")
            migrate(self)
        self.rows("PRAGMA cell_size_check = ON")
        self.run("PRAGMA synchronous = FULL")
        found = self.rows("PRAGMA journal_mode")[0][0], self.rows("PRAGMA synchronous")[0][0]
        if found != ("wal", 2):
            raise StoreError(
                f"{self.place} cannot be made durable: SQLite has journal_mode={found[0]} and synchronous="
                f"{found[1]} where wal and 2 are needed; use a file on a local disk"
            )

    def usable(self) -> bool:
        """Not after a fork, nor when the file was deleted or replaced."""
        return super().usable() and self.file == identity(self.place)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return super().rows(sql.replace("%s", "?"), values)

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        return super().run(sql.replace("%s", "?"), values)

    def begin(self, *, write: bool, patience: float | None = None) -> None:
        if write:
            self.wait_patiently("BEGIN IMMEDIATE", patience)
        else:
            self.run("BEGIN")

    def wait_patiently(self, sql: str, patience: float | None = None) -> None:
        """Run a statement that needs the file alone, in turn with the other writers."""
        seconds = self.patience if patience is None else patience
        deadline = time.monotonic() + seconds
        with queue(self.place, seconds / 2):
            self.rows("PRAGMA busy_timeout = 0")
            while not self._succeeds(sql, deadline):
                time.sleep(RETRY)
        self.rows(f"PRAGMA busy_timeout = {self.patience * 1000:.0f}")

    def _succeeds(self, sql: str, deadline: float) -> bool:
        try:
            self.raw.execute(sql)
        except self.errors as error:
            if code_of(error) == sqlite3.SQLITE_BUSY and time.monotonic() < deadline:
                return False
            raise StoreError(self.explain(error)) from error
        return True

    def find(self, name: str, *, write: bool) -> Found | None:  # noqa: ARG002
        rows = self.rows(FIND, (name,))
        if not rows:
            return None
        experiment, last, head, saved = rows[0]
        if not (isinstance(last, int) and isinstance(saved, int) and isinstance(head, str | None)):
            raise StoreError(f"{self.place} {ADVICE[sqlite3.SQLITE_CORRUPT]} (no head of a log)")
        return Found(experiment, last, head, saved, time.time)

    def insert(self, experiment: int, rows: Sequence[Row]) -> None:
        self._try(lambda: self.raw.executemany(INSERT, [(*row, experiment) for row in rows]))
        self.run(GROW, (rows[-1][SEQ], f"{rows[-1][SEQ]} {rows[-1][CHAIN]}", experiment))


class FrozenSession(SqliteSession):
    """One look at a file beside which SQLite cannot make its `-shm`: it must not change in the meantime.

    So it is read as one that nobody writes (`immutable`), without locks and without its `-wal`, which must be
    empty. Each block opens it again, and what was read counts only if the file is as it was before.
    """

    def __init__(self, raw: sqlite3.Connection, path: str, patience: float) -> None:
        super().__init__(raw, path, patience)
        self._stamp = stamp(path)

    def prepare(self) -> None:
        if os.path.exists(self.place + "-wal") and os.path.getsize(self.place + "-wal"):
            raise StoreError(
                f"{self.place}-wal holds changes that SQLite can merge only where it may write; copy it and"
                f" {self.place} to a folder that you may write to, and read them there"
            )
        if steps_from(version_of(self), self.place):
            raise StoreError(
                f"{self.place} has no tables of this version of truebest and cannot be written; copy it to a"
                " folder that you may write to, where they can be created"
            )
        self.rows("PRAGMA cell_size_check = ON")

    def usable(self) -> bool:
        return False

    def commit(self) -> None:
        super().commit()
        if self._stamp != stamp(self.place):
            raise StoreError(f"{self.place} was changed while it was read; repeat the call")


class SqliteStore(SqlStore):
    """Logs in one file, which is created with the first experiment."""

    def __init__(self, url: str) -> None:
        try:
            self._path = os.path.abspath(url.removeprefix("sqlite:///"))
        except OSError:
            raise StoreError("the current folder cannot be found; change to one that exists") from None
        super().__init__(url, self._path)
        forks.stores.add(self)
        if self.exists():
            with forks.block(self._path):
                self._idle.append(self._connect())

    def exists(self) -> bool:
        return os.path.exists(self._path)

    def problem(self) -> str:
        with self._block(write=False) as session:
            found = session.rows("PRAGMA integrity_check(1)")[0][0]
        return "" if found == "ok" else f"{self._path} {ADVICE[sqlite3.SQLITE_CORRUPT]} ({found})"

    @contextmanager
    def _block(self, *, write: bool, patience: float | None = None) -> Iterator[Session]:
        with forks.block(self._path), super()._block(write=write, patience=patience) as session:
            yield session

    def _connect(self) -> Session:
        try:
            return self._open(SqliteSession, self._path)
        except StoreError as error:
            code = code_of(error.__cause__)
            if code not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) or not self.exists():
                raise
        return self._open(FrozenSession, f"file:{quote(os.fsencode(self._path))}?mode=ro&immutable=1")

    def _open(self, kind: type[SqliteSession], where: str) -> Session:
        try:
            raw = sqlite3.connect(
                where,
                timeout=self.patience,
                isolation_level=None,
                check_same_thread=False,
                uri=kind is FrozenSession,
            )
        except sqlite3.Error as error:
            raise StoreError(f"{self._path} {ADVICE[sqlite3.SQLITE_CANTOPEN]} ({error})") from error
        session = kind(raw, self._path, self.patience)
        try:
            session.prepare()
        except BaseException:
            session.close()
            raise
        return session


def version_of(session: SqliteSession) -> int:
    """The version of the file's tables; 0 for an empty file.

    Raises  StoreError if it belongs to another program
    """
    for _ in range(2):  # twice, for another process may make the tables between two looks
        application = session.rows("PRAGMA application_id")[0][0]
        if application == APPLICATION_ID:
            return int(session.rows("PRAGMA user_version")[0][0])
        if not application and not session.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
            return 0
    raise StoreError(
        f"{session.place} is a SQLite database of another program and was left as it is;"
        " give another file name"
    )


def migrate(session: SqliteSession) -> None:
    """Run the missing steps in one transaction; another process may have been quicker."""
    session.wait_patiently("BEGIN IMMEDIATE")
    for step in steps_from(version_of(session), session.place):
        for sql in step:
            session.run(sql.format(**TYPES))
    session.run(f"PRAGMA application_id = {APPLICATION_ID}")
    session.run(f"PRAGMA user_version = {VERSION}")
    session.commit()


def stamp(path: str) -> tuple[int, ...]:
    """What changes when somebody writes to a file or to its `-wal`."""
    found = []
    for file in (path, path + "-wal"):
        with suppress(OSError):
            status = os.stat(file)
            found += [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns]
    return tuple(found)


def code_of(error: BaseException | None) -> int:
    """SQLite's primary result code; 0 for what Python's module itself raises."""
    if isinstance(error, UnicodeDecodeError):
        return sqlite3.SQLITE_CORRUPT
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def identity(path: str) -> tuple[int, int] | None:
    """What tells a file from another one of the same name."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
