"""Work in threads that Ctrl-C can interrupt, and a warning when it seems to get nowhere."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

import numpy as np
import numpy.typing as npt

from .. import _door
from .engine import CANCEL, RUNS, SAMPLES

PACKAGE = __name__.partition(".")[0]
PATIENCE = 10.0  # seconds without the end of a run before a warning


def interruptible(
    tasks: Sequence[Callable[[], None]], signals: npt.NDArray[np.int64], endless: str | None
) -> bool:
    """Run tasks in threads of their own; Ctrl-C or an error cancels all, then returns False or raises.

    signals  (tasks, SIGNALS) of the engine
    endless  what is simulated, if its runs are not cut off; else None
    """
    watch = None if endless is None else _Watch(endless, signals)
    with ThreadPoolExecutor(len(tasks)) as pool:
        try:
            futures = [pool.submit(task) for task in tasks]
            pending: set[Future[None]] = set(futures)
            while pending:  # with a timeout, since a plain wait may keep Ctrl-C waiting
                done, pending = wait(pending, timeout=0.2, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
                if watch is not None and pending:
                    watch.look()
        except KeyboardInterrupt:
            signals[:, CANCEL] = 1
            return False
        except BaseException:
            signals[:, CANCEL] = 1
            raise
    return True


def num_threads(given: int | None) -> int:
    """As many as given, or one per available core."""
    if given is not None:
        return _door.whole("threads", given, 1, 4096, "leave it out to use every available core")
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Watch:
    """Warns once if no run ends for a while: some never will."""

    def __init__(self, what: str, signals: npt.NDArray[np.int64]) -> None:
        self.what, self.signals = what, signals
        self.runs, self.since, self.said = -1, 0.0, False

    def look(self) -> None:
        runs, now = int(self.signals[:, RUNS].sum()), time.monotonic()
        if runs != self.runs:
            self.runs, self.since = runs, now
        elif now - self.since >= PATIENCE and not self.said:
            self.said = True
            warnings.warn(
                f"no run of {self.what} has ended for {now - self.since:.0f} seconds, and the longest has "
                f"{self.signals[:, SAMPLES].max()} samples so far: it may never end; give max_samples to cut "
                f"runs off.",
                stacklevel=callers(),
            )


def callers() -> int:
    """How far above the caller of this function the first one is that does not belong to the package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        level, frame = level + 1, frame.f_back
    return level
