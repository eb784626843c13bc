"""A store in one SQLite file, for one machine: nothing to start, and several processes may use it.

The file is in WAL mode, so that readers and the writer do not wait for each other, with synchronous=FULL:
a commit returns when the disk has it. Beside `runs.db` lie SQLite's `runs.db-wal` and `runs.db-shm`, and
`runs.db-queue`, an empty file on which writers queue: SQLite alone lets a busy writer starve the others.
Not for network drives: SQLite's locks do not work there.
"""

from __future__ import annotations

import os
import queue as queue_module
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ...errors import StoreError
from ._rows import COLUMNS, Row
from ._sql import VERSION, Session, SqlStore, steps_from

if sys.platform != "win32":
    import fcntl

APPLICATION_ID = int.from_bytes(b"barm", "big")
# REAL would turn -0.0 into 0.0, so floats lie in columns without a type.
TYPES = {"id": "INTEGER PRIMARY KEY", "real": "", "clustered": " WITHOUT ROWID"}
FIND = "SELECT id, last FROM experiments WHERE name = ?"
INSERT = f"INSERT INTO events ({COLUMNS}, experiment) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
GROW = "UPDATE experiments SET last = ? WHERE id = ?"
RETRY = 0.0005  # seconds between two attempts to be the writer

# By SQLite's primary result code. Written so that each is a sentence after the file's name.
ADVICE = {
    sqlite3.SQLITE_NOTADB: "is not a SQLite database; give another file name, or move that file away",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore a backup, or save what is left with `sqlite3 FILE .recover`",
    sqlite3.SQLITE_READONLY: "cannot be written; make the file and its folder writable for you",
    sqlite3.SQLITE_PERM: "may not be used by you; make the file and its folder writable for you",
    sqlite3.SQLITE_FULL: "has no room to grow, so nothing was stored; free some space and repeat the call",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that its folder exists and is writable for you",
    sqlite3.SQLITE_IOERR: "could not be read or written by the operating system; check the disk, then repeat",
    sqlite3.SQLITE_BUSY: "is locked by another program; let that end, then repeat the call",
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

    def usable(self) -> bool:
        """Not after a fork, nor when the file was deleted or replaced."""
        return super().usable() and self.file == identity(self.place)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return super().rows(sql.replace("%s", "?"), values)

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        return super().run(sql.replace("%s", "?"), values)

    def begin(self, *, write: bool) -> None:
        if write:
            self.wait_patiently("BEGIN IMMEDIATE")
        else:
            self.run("BEGIN")

    def wait_patiently(self, sql: str) -> None:
        """Run a statement that needs the file alone, in turn with the other writers."""
        deadline = time.monotonic() + self.patience
        with queue(self.place + "-queue", self.patience / 2):
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

    def find(self, name: str, *, write: bool) -> tuple[int, int, Callable[[], float]] | None:  # noqa: ARG002
        rows = self.rows(FIND, (name,))
        if rows and not isinstance(rows[0][1], int):
            raise StoreError(f"{self.place} {ADVICE[sqlite3.SQLITE_CORRUPT]} (no number of lines)")
        return (rows[0][0], rows[0][1], time.time) if rows else None

    def insert(self, experiment: int, rows: Sequence[Row]) -> None:
        self._try(lambda: self.raw.executemany(INSERT, [(*row, experiment) for row in rows]))
        self.run(GROW, (rows[-1][5], experiment))


class SqliteStore(SqlStore):
    """Logs in one file, made when the first experiment is created."""

    def __init__(self, url: str) -> None:
        self._path = os.path.abspath(url.removeprefix("sqlite:///"))
        super().__init__(url, self._path)
        if self._exists():
            self._idle.append(self._connect())

    def _exists(self) -> bool:
        return os.path.exists(self._path)

    def _connect(self) -> Session:
        try:
            raw = sqlite3.connect(
                self._path, timeout=self.patience, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise StoreError(f"{self._path} {ADVICE[sqlite3.SQLITE_CANTOPEN]} ({error})") from error
        session = SqliteSession(raw, self._path, self.patience)
        try:
            prepare(session)
        except BaseException:
            session.close()
            raise
        return session


def prepare(session: SqliteSession) -> None:
    """Check whose file it is, bring its tables up to date, and make sure that commits are durable."""
    if steps_from(version_of(session), session.place):
        session.wait_patiently("PRAGMA journal_mode = WAL")
        migrate(session)
    session.rows("PRAGMA cell_size_check = ON")
    session.run("PRAGMA synchronous = FULL")
    found = session.rows("PRAGMA journal_mode")[0][0], session.rows("PRAGMA synchronous")[0][0]
    if found != ("wal", 2):
        raise StoreError(
            f"{session.place} cannot be made durable: SQLite has journal_mode={found[0]} and synchronous="
            f"{found[1]} where wal and 2 are needed; use a file on a local disk"
        )


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


def code_of(error: Exception) -> int:
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


@contextmanager
def queue(path: str, seconds: float) -> Iterator[None]:
    """Wait for the turn among the writers, in the order of arrival.

    A turn lasts only until its writer has SQLite's lock. It is a courtesy, which keeps a writer from being
    passed over again and again: without it, as on Windows, or after so many seconds when a process was
    stopped that had the turn, SQLite's locks are still safe.
    """
    file = open_queue(path)
    if file is None or sys.platform == "win32" or not take_turn(file, seconds):
        yield
        return
    try:
        yield
    finally:
        leave_turn(file)


def take_turn(file: int, seconds: float) -> bool:
    """Lock the file. After so many seconds it is False, and the file is closed when the lock comes after all.

    A lock in the order of arrival has no time limit of its own, so a thread waits for it.
    """
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    answer: queue_module.Queue[bool] = queue_module.Queue()
    wanted = threading.Lock()  # whoever takes it first decides: the thread keeps the turn, or gives it up

    def wait() -> None:
        fcntl.flock(file, fcntl.LOCK_EX)
        if wanted.acquire(blocking=False):
            answer.put(True)
        else:
            leave_turn(file)

    threading.Thread(target=wait, daemon=True).start()
    try:
        return answer.get(timeout=seconds)
    except queue_module.Empty:
        return not wanted.acquire(blocking=False) and answer.get()
    except BaseException:
        if not wanted.acquire(blocking=False):
            leave_turn(file)
        raise


def leave_turn(file: int) -> None:
    """Unlock, since a forked child may have the file open, too; and close."""
    fcntl.flock(file, fcntl.LOCK_UN)
    os.close(file)


def open_queue(path: str) -> int | None:
    """The file to queue on; None where it cannot be made: SQLite will say what is wrong."""
    try:
        return os.open(path, os.O_RDONLY | os.O_CREAT, 0o666)
    except OSError:
        return None
