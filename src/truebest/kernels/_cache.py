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
from importlib import import_module
from pathlib import Path

DIGITS = 16
MARKER = "CACHEDIR.TAG"
SUFFIX, UNFINISHED = ".code", ".part"
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
    handle, path = tempfile.mkstemp(prefix=f"{name}.", suffix=UNFINISHED, dir=folder)
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
