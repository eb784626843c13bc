"""Other processes for tests: a piece of code in a new interpreter."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

PRELUDE = """
import os, sys, time
from truebest.errors import TruebestError, InvalidInputError, StoreError
from truebest.experiment.events import TOLD, Entry
from truebest.experiment.store import open_store
"""


def start(code: str, *words: str) -> subprocess.Popen[str]:
    """A new Python process that runs the code on the words, with pipes to it."""
    command = [sys.executable, "-W", "error", "-c", PRELUDE + code, *words]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen[str], seconds: float = 600.0) -> str:
    """What the process printed; it must end well, and be silent on stderr."""
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == 0, err
    assert err == "", err
    return out


def run(code: str, *words: str) -> str:
    """Start a process and wait for what it prints."""
    return finish(start(code, *words))


def run_python(code: str, **environment: str) -> str:
    """What some code prints, with more in its environment and nothing before it."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=600, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be noticed does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def children(pid: int) -> list[int]:
    """The processes that any thread of a process has started and that still run."""
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread has ended meanwhile
            found += map(int, file.read_text().split())
    return found
