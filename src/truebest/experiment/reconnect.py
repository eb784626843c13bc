"""Go on after a lost connection: try again, after longer and longer pauses, for a stated time.

A server that is restarted, or a network that fails for some seconds, must not end a worker that has run for
days. The call is repeated as a whole; `journal.py` sees to it that nothing is written twice.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

from ..errors import LostConnectionError
from .store._base import Store

Answer = TypeVar("Answer")

FIRST, LONGEST = 0.1, 5.0  # seconds of the first pause, and of the longest
_log = logging.getLogger("truebest")
_random = random.Random()  # its own, as arms may use the common one with a seed


def backoff(attempt: int, first: float, longest: float) -> float:
    """The pause before attempt 1, 2, ...: doubled each time, and half of it more or less by chance."""
    return float(min(longest, first * 2.0 ** min(attempt - 1, 60)) * _random.uniform(0.5, 1.5))


def patiently(store: Store, call: Callable[[], Answer]) -> Answer:
    """What a call on a store returns; while the connection is lost, it is repeated for a stated time."""
    begun, attempt = time.monotonic(), 0
    while True:
        try:
            answer = call()
        except LostConnectionError as error:
            attempt += 1
            begun = begun if attempt > 1 else time.monotonic()
            pause = backoff(attempt, FIRST, LONGEST)
            if time.monotonic() + pause > begun + store.reconnect:
                raise
            if attempt == 1:
                _log.warning("%s; trying again for %g s", error, store.reconnect)
            time.sleep(pause)
            continue
        if attempt:
            _log.warning("%s is back after %.1f s", store.place, time.monotonic() - begun)
        return answer
