"""Files appear whole or not at all, with the modes that the user's umask asks for."""

from __future__ import annotations

import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from truebest._files import write_whole

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes and devices are POSIX")


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """A link keeps its target, and what is no regular file stays what it is."""
    real = tmp_path / "real.csv"
    real.write_text("old")
    link = tmp_path / "link.csv"
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    write_whole("/dev/null", "gone")
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_the_umask_is_respected_and_never_changed(
    mask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new file has the mode that `open` would give it, and no thread sees another umask meanwhile."""
    before = os.umask(mask)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "umask", lambda _: pytest.fail("the umask is the whole process's"))
            write_whole(tmp_path / "new", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~mask


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    """Also with a name as long as names may be."""
    file = tmp_path / ("x" * 255)
    write_whole(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(file, "new \ud800")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_writers_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Whoever is last, the file is one of the texts, whole."""
    file = tmp_path / "shared"
    texts = [str(i) * 50_000 for i in range(8)]
    threads = [threading.Thread(target=write_whole, args=(file, text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.read_text() in texts
    assert list(tmp_path.iterdir()) == [file]


def test_the_disk_has_the_text_before_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First the whole text is synced, then it takes its name, then the folder is synced."""
    file, seen = tmp_path / "new", []
    sync, replace = os.fsync, os.replace

    def synced(handle: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        seen.append(("folder", file.exists()) if is_folder else ("file", os.fstat(handle).st_size))
        sync(handle)

    def replaced(old: Path, new: Path) -> None:
        seen.append(("name", Path(old).stat().st_size))
        replace(old, new)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    write_whole(file, "text" * 5000)
    assert seen == [("file", 20_000), ("name", 20_000), ("folder", True)]


def test_a_folder_that_cannot_be_opened_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows: the file is written all the same; but a disk that refuses the text is one."""
    opened = os.open

    def refuses_folders(path: Path, flags: int, *mode: int) -> int:
        if Path(path).is_dir():
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, *mode)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "open", refuses_folders)
    write_whole(tmp_path / "new", "text")
    assert (tmp_path / "new").read_text() == "text"
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "new", "longer text")
    assert (tmp_path / "new").read_text() == "text"
    assert list(tmp_path.iterdir()) == [tmp_path / "new"]
