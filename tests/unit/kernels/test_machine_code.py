"""Machine code that is kept in files: damaged or cut, it is as if it were not there; and it is made once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from truebest.kernels import _cache

DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "a flipped bit": lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
    "a flipped bit of the checksum": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "a cut file": lambda data: data[: len(data) // 2],
    "an empty file": lambda _: b"",
    "zeros, as after a loss of power": lambda data: bytes(len(data)),
    "something appended": lambda data: data + b"\0",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_file_is_as_none(what: str, tmp_path: Path) -> None:
    """What was written is read back; what was damaged is not there."""
    data = os.urandom(1_000)
    _cache.save(str(tmp_path), "x", data)
    assert _cache.load(str(tmp_path), "x") == data
    (file,) = tmp_path.iterdir()
    file.write_bytes(DAMAGE[what](file.read_bytes()))
    assert _cache.load(str(tmp_path), "x") is None


HOLD = """
import sys, time
from truebest.kernels import _cache
with _cache.alone(sys.argv[1], "x"):
    print("alone", flush=True)
    sys.stdin.read()
"""
# Compiles a kernel, and says for how many it found machine code; words say when to save it, and the patience.
COMPILE = """
import sys, time
from truebest.kernels import _cache
from truebest.kernels.rules import ceilings
_cache.PATIENCE = float(sys.argv[2])
locks, save = _cache._locks, _cache.save
def tried(file):
    mine = locks(file)
    if not mine:
        print("waits", flush=True)
        time.sleep(0.1)
    return mine
def later(*given):
    print("made", flush=True)
    sys.stdin.read()
    save(*given)
_cache._locks = tried
if sys.argv[1] == "later":
    _cache.save = later
made = ceilings.relative_entropy.compiled()
print(sum(made.stats.cache_hits.values()), made(0.2, 0.5), flush=True)
"""


def started(code: str, *words: str, **environment: str) -> subprocess.Popen[str]:
    """A new process that runs the code on the words, with pipes to it."""
    command, own = [sys.executable, "-c", code, *words], {**os.environ, **environment}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=own)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


needs_locks = pytest.mark.skipif(not _cache.LOCKS, reason="there are no such locks on Windows")


@needs_locks
@pytest.mark.parametrize("end", ["leaves", "is killed"])
def test_others_wait_until_a_file_is_made(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or until the process has ended that makes it, whichever way; nothing is left behind."""
    waits, entered, locks = threading.Event(), threading.Event(), _cache._locks

    def tried(file: int) -> bool:
        mine = locks(file)
        if not mine:
            waits.set()
        return mine

    def enter() -> None:
        with _cache.alone(str(tmp_path), "x"):
            entered.set()

    monkeypatch.setattr(_cache, "_locks", tried)
    with started(HOLD, str(tmp_path)) as other:
        assert line(other) == "alone"
        thread = threading.Thread(target=enter)
        thread.start()
        assert waits.wait(600)
        assert not entered.is_set()
        if end == "is killed":
            other.kill()
        other.communicate()
        assert entered.wait(600)
        thread.join()
    assert list(tmp_path.iterdir()) == []


@needs_locks
def test_a_kernel_is_compiled_by_one_process_at_a_time(tmp_path: Path) -> None:
    """The second waits and finds what the first has made; out of patience, it makes the same itself."""
    cache = {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    with started(COMPILE, "later", "100", **cache) as first:
        assert line(first) == "made"  # and is not saved yet
        with started(COMPILE, "at once", "0", **cache) as hasty:
            assert line(hasty) == "waits"
            made = line(hasty)
        (file,) = tmp_path.rglob(f"*{_cache.SUFFIX}")
        file.unlink()
        with started(COMPILE, "at once", "1000", **cache) as second:
            assert line(second) == "waits"
            saved, _ = first.communicate(timeout=600)
            found, _ = second.communicate(timeout=600)
    assert made.startswith("0 ")
    assert saved == made + "\n"
    assert found.splitlines()[-1] == made.replace("0", "1", 1)


@pytest.mark.parametrize("folder", ["", "/dev/null", "/nowhere"])
def test_without_a_folder_no_process_waits(folder: str) -> None:
    """Nothing is kept there, so there is nothing to wait for."""
    with _cache.alone(folder, "x"), _cache.alone(folder, "x"):
        pass
