"""A queue of the writers of a SQLite file, in the order of arrival: a lock on a file beside it."""

from __future__ import annotations

import os
import queue as queue_module
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

try:
    import fcntl

    LOCKS = True
except ImportError:  # Windows
    LOCKS = False


@contextmanager
def queue(path: str, seconds: float) -> Iterator[None]:
    """Wait for the turn among the writers, in the order of arrival.

    A turn lasts only until its writer has SQLite's lock. It is a courtesy, which keeps a writer from being
    passed over again and again: without it, as on Windows, on a file system without such locks, or after so
    many seconds when a process was stopped that had the turn, SQLite's locks are still safe.
    """
    file = open_queue(path) if LOCKS else None
    if file is None or not take_turn(file, seconds):
        yield
        return
    try:
        yield
    finally:
        leave_turn(file)


def take_turn(file: int, seconds: float) -> bool:
    """Lock the file. False, with the file closed, where the system cannot; also False after so many seconds,
    and then the file is closed when the lock comes after all.

    A lock in the order of arrival has no time limit of its own, so a thread waits for it.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        pass  # somebody has it
    except OSError:
        os.close(file)
        return False
    answer: queue_module.Queue[bool] = queue_module.Queue()
    wanted = threading.Lock()  # whoever takes it first decides: the thread keeps the turn, or gives it up

    def wait() -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            os.close(file)
            answer.put(False)
            return
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
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_UN)
    os.close(file)


def open_queue(path: str) -> int | None:
    """The file to queue on; None where it cannot be made: SQLite will say what is wrong.

    Only those who may write the database may open it: whoever can open it can keep the others waiting.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        file = os.open(path + "-queue", flags, 0o600)
    except OSError:
        return None
    with suppress(OSError):
        writers = os.stat(path).st_mode & 0o222
        found = os.fstat(file)
        if found.st_uid == os.geteuid() and found.st_mode & 0o777 != writers | writers << 1:
            os.fchmod(file, writers | writers << 1)
    return file
