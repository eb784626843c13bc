"""Other processes for tests: a piece of code in a new interpreter."""

from __future__ import annotations

import os
import subprocess
import sys

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
