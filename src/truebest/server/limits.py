"""How much one address may ask for."""

from __future__ import annotations

import time
from collections import OrderedDict

MOST_ADDRESSES = 10_000


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
