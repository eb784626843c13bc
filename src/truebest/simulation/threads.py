"""Runs on threads: each thread takes the next ones, until there are none.

Ctrl-C interrupts them, and there is a warning when they seem to get nowhere.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _args
from .._signature import callers
from .engine import CANCEL, RUNS, SAMPLES, SIGNALS
from .progress import Reporter
from .runs import Collected

CHUNK_SECONDS = 0.05  # how long a thread works before it reports; the next chunk is sized by the last
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
        return _args.whole("threads", given, 1, 4096, "leave it out to use every available core")
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
        longest = int(self.signals[:, SAMPLES].max())
        if runs != self.runs or longest == 0:  # without a sample, it is still being compiled
            self.runs, self.since = runs, now
        elif now - self.since >= PATIENCE and not self.said:
            self.said = True
            warnings.warn(
                f"no run of {self.what} has ended for {now - self.since:.0f} seconds, and the longest has "
                f"{longest} samples so far: it may never end; give max_samples to cut runs off.",
                stacklevel=callers(),
            )


def run_on_threads(work: Sequence[Collected[Any]], workers: int, reporter: Reporter) -> bool:
    """Do all runs; False if interrupted. Where runs fail, the error is that of the first of them."""
    for one in work:
        one.job.prepare()
    pool = _Pool(work, workers, reporter)
    endless = next((one.job.endless for one in work if one.job.endless), None)
    tasks = [partial(pool.work, thread) for thread in range(workers)]
    complete = interruptible(tasks, pool.signals, endless)
    if pool.errors:
        raise pool.errors[min(pool.errors)]
    return complete


class _Pool:
    """The work that all threads share.

    doing   what each thread does: (the place of the job, the first run); None if it does nothing
    errors  what failed; nothing behind it is begun, and what came before it goes on, for it may fail, too
    """

    def __init__(self, work: Sequence[Collected[Any]], workers: int, reporter: Reporter) -> None:
        self.all, self.reporter = work, reporter
        self.signals = np.zeros((workers, SIGNALS), dtype=np.int64)
        self.lock = threading.Lock()
        self.doing: list[tuple[int, int] | None] = [None] * workers
        self.errors: dict[tuple[int, int], Exception] = {}

    def work(self, thread: int) -> None:
        """One thread: the jobs in their order, of each the next runs."""
        for place, one in enumerate(self.all):
            room = one.job.room(self.signals[thread])
            while (given := self._next(thread, place)) is not None:
                start = time.perf_counter()
                try:
                    part = one.job.part(*given, room)
                except Exception as error:
                    self._failed(place, given[0], error)
                    return
                taken = time.perf_counter() - start
                with self.lock:
                    self.doing[thread] = None
                    one.add(part)
                    wanted = int(given[1] * CHUNK_SECONDS / max(taken, 1e-6)) + 1
                    one.chunk = max(1, min(wanted, 2 * one.chunk, 1 + one.wanted // 16))
                    self.reporter.add(part.runs)

    def _next(self, thread: int, place: int) -> tuple[int, int] | None:
        """The next runs of a job, see `Collected.give`; None if there are none, or no more are wanted."""
        with self.lock:
            if self.errors or self.signals[thread, CANCEL]:
                return None
            first, runs = self.all[place].give(self.all[place].chunk)
            if runs <= 0:
                return None
            self.doing[thread] = (place, first)
            return first, runs

    def _failed(self, place: int, first: int, error: Exception) -> None:
        """Keep the error, and cancel what lies behind it."""
        with self.lock:
            self.errors[place, first] = error
            for thread, doing in enumerate(self.doing):
                if doing is not None and doing > (place, first):
                    self.signals[thread, CANCEL] = 1
