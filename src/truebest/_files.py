"""Write a file so that it is there whole or not at all, also after a loss of power."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Replace a file, or make it; a link keeps its target, and a device or a pipe is written to.

    The text goes into a new file beside it first, which takes its name once the disk has it; when this
    returns, the disk has the name, too. The mode of that file is left to the kernel, which alone can apply
    the umask without changing it for the other threads.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8")
        return
    draft = target.with_name(f".truebest-{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Let the disk have the names in a folder, where a folder can be opened: not on Windows."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
