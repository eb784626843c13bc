"""Other processes for tests: a piece of code in a new interpreter."""

from __future__ import annotations

import subprocess
import sys

PRELUDE = """
import os, sys, time
from bestarm.errors import BestarmError, InvalidInputError, StoreError
from bestarm.experiment.events import TOLD, Entry
from bestarm.experiment.store import open_store
"""


def start(code: str, *words: str) -> subprocess.Popen[str]:
    """A new Python process that runs the code on the words, with pipes to it."""
    command = [sys.executable, "-W", "error", "-c", PRELUDE + code, *words]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen[str], seconds: float = 60.0) -> str:
    """What the process printed; it must end well, and be silent on stderr."""
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == 0, err
    assert err == "", err
    return out


def run(code: str, *words: str) -> str:
    """Start a process and wait for what it prints."""
    return finish(start(code, *words))
