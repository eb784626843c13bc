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
    """Do all runs; False if interrupted."""
    pool = _Pool(work, workers, reporter)
    endless = next((one.job.endless for one in work if one.job.endless), None)
    return interruptible([partial(pool.work, thread) for thread in range(workers)], pool.signals, endless)


class _Pool:
    def __init__(self, work: Sequence[Gathered[Any]], workers: int, reporter: Reporter) -> None:
        self.all, self.reporter = work, reporter
        self.signals = np.zeros((workers, engine.SIGNALS), dtype=np.int64)
        self.lock = threading.Lock()

    def work(self, thread: int) -> None:
        """One thread: the jobs in their order, of each the next runs."""
        signals = self.signals[thread]
        for one in self.all:
            room = one.job.room(signals)
            while not signals[engine.CANCEL]:
                with self.lock:
                    first, size = one.give(one.chunk)
                if size <= 0:
                    break
                start = time.perf_counter()
                try:
                    part = one.job.part(first, size, room)
                except BaseException:
                    self.signals[:, engine.CANCEL] = 1
                    raise
                taken = time.perf_counter() - start
                with self.lock:
                    one.add(part)
                    wanted = int(size * CHUNK_SECONDS / max(taken, 1e-6)) + 1
                    one.chunk = max(1, min(wanted, 2 * one.chunk, 1 + one.wanted // 16))
                    self.reporter.add(part.runs)
