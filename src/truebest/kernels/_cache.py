"""Folders of machine code in the user's cache: made, found again, and removed when nobody uses them.

A folder is named after a hash of everything that its machine code was made from, so that no change can
make it stale, and holds a marker. Only a folder with such a name and with the marker is ever removed: a
user may keep something else by the name of truebest in the same place.

A file begins with a checksum of the rest: damaged machine code would end the process without a word.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

try:
    import fcntl

    LOCKS = True
except ImportError:  # Windows
    LOCKS = False

DIGITS = 16
MARKER = "CACHEDIR.TAG"
SUFFIX, PARTIAL, LOCK = ".code", ".part", ".lock"
PATIENCE = 60.0  # seconds for which others are waited for that make the same file
TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# Machine code of truebest; it may be removed.\n"


def find(name: str) -> str:
    """The folder of that name, if it was made before; "" if not, or if it cannot be written to."""
    with contextlib.suppress(OSError):
        folder = _home() / name
        if is_ours(folder) and os.access(folder, os.W_OK):
            os.utime(folder)
            return str(folder)
    return ""


def make(name: str) -> str:
    """The folder of that name, made if need be; "" where none can be written."""
    if not find(name):
        with contextlib.suppress(OSError):
            folder = _home() / name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / MARKER).write_text(TAG)
            forget_old(folder.parent)
    return find(name)


def save(folder: str, name: str, data: bytes) -> None:
    """Write a file, which is there whole or not at all; OSError where that fails."""
    handle, path = tempfile.mkstemp(prefix=f"{name}.", suffix=PARTIAL, dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        os.replace(path, Path(folder, name + SUFFIX))
    except BaseException:
        os.unlink(path)
        raise


def load(folder: str, name: str) -> bytes | None:
    """What a file has; None if it is not there, or not as it was written."""
    with contextlib.suppress(OSError):
        content = Path(folder, name + SUFFIX).read_bytes() if folder else b""
        checksum, data = content[:32], content[32:]
        return data if checksum == hashlib.sha256(data).digest() else None
    return None


@contextlib.contextmanager
def alone(folder: str, name: str) -> Iterator[None]:
    """While a file is made: others that want to make the same one wait until then, and find it.

    It saves time, and nothing else depends on it. Where there are no such locks, as on Windows and in some
    file systems, or after PATIENCE when a process was stopped, each makes the file. A process that ends,
    whichever way, lets go.
    """
    path = Path(folder, name + LOCK)
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600) if folder and LOCKS else None
    except OSError:
        file = None
    if file is None:
        yield
        return
    mine, end = False, time.monotonic() + PATIENCE
    try:
        while not (mine := _locks(file)) and time.monotonic() < end:
            time.sleep(0.02)
        yield
    finally:
        with contextlib.suppress(OSError):
            if mine:
                path.unlink()  # who waits for it finds what was made
                fcntl.flock(file, fcntl.LOCK_UN)  # a forked child may have it open, too
        os.close(file)


def _locks(file: int) -> bool:
    """Lock it, unless another has it; True, too, where that cannot be."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def is_ours(folder: Path) -> bool:
    """Whether truebest made a folder, by its name and its marker."""
    if not re.fullmatch(f"[0-9a-f]{{{DIGITS}}}", folder.name) or folder.is_symlink():
        return False
    try:
        return (folder / MARKER).read_text() == TAG
    except (OSError, ValueError):
        return False


def forget_old(home: Path, days: float = 30.0) -> None:
    """Remove the machine code that nobody has used for a month."""
    for folder in home.iterdir():
        with contextlib.suppress(OSError):
            if is_ours(folder) and time.time() - folder.stat().st_mtime > days * 86400:
                shutil.rmtree(folder, ignore_errors=True)


def _home() -> Path:
    """Where the folders are; NUMBA_CACHE_DIR and XDG_CACHE_HOME count on every system, if absolute."""
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        given = os.environ.get(name, "")
        if os.path.isabs(given):
            return Path(given) / "truebest"
    usual = Path(import_module("platformdirs").user_cache_dir("truebest", appauthor=False))
    if not usual.is_absolute():  # many versions take a relative XDG_CACHE_HOME as it is
        usual = Path(os.path.expanduser("~/.cache/truebest"))
    if not usual.is_absolute():
        raise FileNotFoundError("this user has no home")
    return usual
