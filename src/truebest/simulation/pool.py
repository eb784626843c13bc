"""All jobs of a simulation in one pool of threads: each takes the next runs, until there are none."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from . import engine
from .gathering import Gathered
from .progress import Reporter
from .threads import interruptible

CHUNK_SECONDS = 0.05  # how long a thread works before it reports; the next chunk is sized by the last


def run_on_threads(work: Sequence[Gathered[Any]], workers: int, reporter: Reporter) -> bool:
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

    def __init__(self, work: Sequence[Gathered[Any]], workers: int, reporter: Reporter) -> None:
        self.all, self.reporter = work, reporter
        self.signals = np.zeros((workers, engine.SIGNALS), dtype=np.int64)
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
        """The next runs of a job, see `Gathered.give`; None if there are none, or no more are wanted."""
        with self.lock:
            if self.errors or self.signals[thread, engine.CANCEL]:
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
                    self.signals[thread, engine.CANCEL] = 1
