"""Whether Numba can be loaded, and what is said while it is waited for."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module

ENABLED = os.environ.get("TRUEBEST_JIT") != "0"
AT_ONCE = os.environ.get("TRUEBEST_JIT") == "1"
FOR_ALL = os.environ.get("TRUEBEST_JIT") == "all"
PATIENCE = 2.0  # seconds


@cache
def available() -> bool:
    """Whether Numba can be loaded; it is said once if it cannot."""
    if not ENABLED:
        return False
    try:
        import_module("numba")
    except Exception as error:  # none for this Python, or one for another NumPy
        _say(f"everything runs uncompiled, which is slower: Numba cannot be loaded ({error})")
        return False
    return True


@contextmanager
def waiting() -> Iterator[None]:
    """Say so once if what is done here takes longer than PATIENCE."""
    timer = threading.Timer(PATIENCE, _say_compiling)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@cache
def _say_compiling() -> None:
    _say("compiling for this machine, 3 to 10 seconds for each strategy, once; see truebest warm-up")


def _say(text: str) -> None:
    if sys.stderr is not None:
        print(f"truebest: {text}", file=sys.stderr, flush=True)
