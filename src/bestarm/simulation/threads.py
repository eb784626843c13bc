"""Work in threads that Ctrl-C can interrupt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

import numpy as np
import numpy.typing as npt

from .engine import CANCEL


def interruptible(tasks: Sequence[Callable[[], None]], signals: npt.NDArray[np.int64]) -> bool:
    """Run tasks in threads of their own; Ctrl-C or an error cancels all, then returns False or raises.

    signals  (tasks, SIGNALS) of the engine
    """
    with ThreadPoolExecutor(len(tasks)) as pool:
        try:
            futures = [pool.submit(task) for task in tasks]
            pending: set[Future[None]] = set(futures)
            while pending:  # with a timeout, since a plain wait may keep Ctrl-C waiting
                done, pending = wait(pending, timeout=0.2, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
        except KeyboardInterrupt:
            signals[:, CANCEL] = 1
            return False
        except BaseException:
            signals[:, CANCEL] = 1
            raise
    return True
