"""CPU time of a call: the least of several, since a shared machine only ever adds."""

from __future__ import annotations

import time
from collections.abc import Callable


def cpu_seconds(call: Callable[[], object], repeats: int = 9, at_least: float = 0.01) -> float:
    """The least CPU time of one call, each measurement long enough for the clock."""
    call()
    start = time.process_time()
    call()
    once = max(time.process_time() - start, 1e-9)
    loops = max(1, int(at_least / once))
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(loops):
            call()
        best = min(best, (time.process_time() - start) / loops)
    return best


def show(header: list[str], rows: list[list[str]], title: str) -> None:
    """A table in plain text."""
    from truebest.cli._output import print_table

    print_table(header, rows, title)
    print()


def duration(seconds: float) -> str:
    """Seconds with a unit that fits."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
