"""How much one address may ask for, and how often the server may say so."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict

MOST_ADDRESSES = 10_000
PAUSE = 60.0  # seconds between two lines of the same kind
_log = logging.getLogger("truebest")


class Rate:
    """So many requests a second per address, and somewhat more at once.

    rate   a second
    burst  at once
    """

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # address -> how many, when

    def wait(self, address: str, now: float | None = None) -> float:
        """Count a request; how many seconds it is too early, 0 if it may be answered."""
        now = time.monotonic() if now is None else now
        left, then = self._left.pop(address, (self.burst, now))
        left = min(self.burst, left + self.rate * (now - then))
        late = left >= 1.0
        self._left[address] = (left - 1.0 if late else left, now)
        if len(self._left) > MOST_ADDRESSES:
            self._left.popitem(last=False)
        return 0.0 if late else (1.0 - left) / self.rate


class Seldom:
    """Says something at most once per minute, however often it happens."""

    def __init__(self) -> None:
        self._count, self._due = 0, 0.0

    def say(self, words: str) -> None:
        """Count it, and say it if it was not said lately."""
        self._count += 1
        now = time.monotonic()
        if now >= self._due:
            self._due = now + PAUSE
            _log.warning("%s (%d so far)", words, self._count)
