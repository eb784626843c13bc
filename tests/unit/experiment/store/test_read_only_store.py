"""A SQLite file that may not be written can be read, and no changes to it are passed over."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.test_solve_command import COMMAND
from support.commands import Ran, refused, run
from truebest.errors import StoreError
from truebest.experiment.experiment import Experiment
from truebest.experiment.store import _sql, open_store, sqlite

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="permissions are POSIX")
LOOKING = [["status", "x"], ["list"], ["export", "x"], ["forecast", "x"]]


def fill(path: Path) -> None:
    """An experiment with a few results, in a file that was closed in order."""
    with Experiment.create(f"sqlite:///{path}", "x", ["a", "b"], bounds=(0, 1), seed=1) as experiment:
        for pull in experiment.ask(6):
            experiment.tell(pull, 0.5 + 0.1 * (pull.arm == "b"))
    assert [file.name for file in path.parent.iterdir() if file.suffix != ".db-queue"] == [path.name]


@contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """The folder and its files may be read only; root, who may do everything, becomes nobody for a while."""
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)
        for file in folder.iterdir():
            file.chmod(0o644)


@pytest.fixture
def path() -> Iterator[Path]:
    """A file with an experiment, where others may look at it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        fill(folder / "runs.db")
        yield folder / "runs.db"


def looks(path: Path) -> list[Ran]:
    """What all commands that only look print."""
    return [run(*words, "--store", f"sqlite:///{path}") for words in LOOKING]


def test_everything_can_be_looked_at(path: Path) -> None:
    """Where neither the file nor its folder may be written, all commands print what they print elsewhere."""
    before = looks(path)
    assert all((ran.code, ran.err) == (0, "") for ran in before)
    with unwritable(path.parent):
        assert looks(path) == before
        refused(run("ask", "x", "--store", f"sqlite:///{path}"), "cannot be written", code=1)
        refused(
            run("observe", "x", "a", "1", "--store", f"sqlite:///{path}"), "that you may write to", code=1
        )
    assert run("ask", "x", "--store", f"sqlite:///{path}").code == 0


def test_a_store_that_is_kept_open_sees_the_file_as_it_is_now(path: Path) -> None:
    """A read after the file was replaced reads the new one."""
    with unwritable(path.parent):
        experiment = Experiment.open(f"sqlite:///{path}", "x")
        assert experiment.status().samples == 6
    with Experiment.open(f"sqlite:///{path}", "x") as writer:
        writer.tell(writer.ask()[0], 0.5)
    with unwritable(path.parent):
        assert experiment.status().samples == 7
    experiment.close()


def test_changes_that_cannot_be_merged_are_not_passed_over(path: Path) -> None:
    """A crash left changes in runs.db-wal: old data is not shown as if it were all."""
    writer = Experiment.open(f"sqlite:///{path}", "x")
    writer.tell(writer.ask()[0], 0.5)
    copy = path.parent / "crashed"
    copy.mkdir()
    for end in ("", "-wal"):
        shutil.copy(f"{path}{end}", copy / f"copy.db{end}")
    writer.close()
    with unwritable(copy):
        for ran in looks(copy / "copy.db"):
            refused(ran, "copy.db-wal holds changes", code=1)
    fresh = path.parent / "fresh"
    shutil.copytree(copy, fresh)
    assert (
        json.loads(run("status", "x", "--format", "json", "--store", f"sqlite:///{fresh}/copy.db").out)[
            "progress"
        ]["samples"]
        == 7
    )


def test_a_file_that_changes_while_it_is_read_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else may write what we may not: what was read may be half of the old and half of the new."""
    store = open_store(f"sqlite:///{path}")
    store.close()
    with unwritable(path.parent):
        store = open_store(f"sqlite:///{path}")
        block = store.reading("x")
        assert block.__enter__().entries()
        monkeypatch.setattr(sqlite, "stamp", lambda _: ())
        with pytest.raises(StoreError, match="changed while it was read; repeat the call"):
            block.__exit__(None, None, None)
        monkeypatch.undo()
        assert store.names() == ["x"]
        store.close()


def test_old_tables_that_cannot_be_brought_up_to_date(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence that says what to do: reading them needs a copy."""
    monkeypatch.setattr(_sql, "STEPS", (*_sql.STEPS, ("CREATE TABLE more (x BIGINT)",)))
    monkeypatch.setattr(_sql, "VERSION", _sql.VERSION + 1)
    with (
        unwritable(path.parent),
        pytest.raises(StoreError, match="copy it to a folder that you may write to"),
    ):
        open_store(f"sqlite:///{path}")


def test_a_file_that_may_not_be_read_is_one_sentence(path: Path) -> None:
    """Neither the first attempt nor the second one helps."""
    with unwritable(path.parent):
        if os.getuid() == 0:
            os.seteuid(0)
            path.chmod(0o000)
            os.seteuid(65534)
        else:
            path.chmod(0o000)
        with pytest.raises(StoreError, match="cannot be opened"):
            open_store(f"sqlite:///{path}")


MOUNTED = """
mount -t tmpfs tmpfs "$1" && cp -r "$2"/. "$1" && mount -o remount,ro "$1" || exit 77
shift 2
exec "$@"
"""


def test_a_read_only_mount(path: Path, tmp_path: Path) -> None:
    """Where not even root may write: the same lines, and a sentence for whoever wants to change something."""
    (tmp_path / "mount").mkdir()
    mounted = ["unshare", "--mount", "sh", "-c", MOUNTED, "sh", str(tmp_path / "mount"), str(path.parent)]
    if shutil.which("unshare") is None or subprocess.run([*mounted, "true"], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here; the other tests take the permission away")
    store = ["--store", f"sqlite:///{tmp_path}/mount/runs.db"]
    log = subprocess.run([*mounted, *COMMAND, "export", "x", *store], capture_output=True, text=True)
    assert (log.returncode, log.stderr) == (0, "")
    assert log.stdout == run("export", "x", "--store", f"sqlite:///{path}").out
    ask = subprocess.run([*mounted, *COMMAND, "ask", "x", *store], capture_output=True, text=True)
    assert (ask.returncode, ask.stdout) == (1, "")
    assert "cannot be written" in ask.stderr
    assert ask.stderr.count("\n") == 1


def test_the_file_is_not_touched(path: Path) -> None:
    """Not a byte of it, and nothing beside it."""
    before = path.read_bytes(), sorted(path.parent.iterdir())
    with unwritable(path.parent):
        looks(path)
    assert (path.read_bytes(), sorted(path.parent.iterdir())) == before
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
    connection.close()
