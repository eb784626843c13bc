"""The heartbeat of a run: as long as it lives, the leases of the pulls that it has are renewed.

Others then need not guess whether a pull is slow or lost: it lapses when its worker has been silent.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from types import TracebackType

from ..errors import TruebestError
from ..experiment.experiment import Experiment
from ..experiment.leases import BEATS, own_lease


class Heart:
    """Renews leases in a thread of its own; use as a context manager.

    A store that nobody else can see needs no heartbeat, and its pulls no lease.
    """

    def __init__(self, experiment: Experiment, lasting: bool) -> None:
        beats = lasting and experiment.lease is not None
        experiment.lease = own_lease(experiment.lease) if beats else None
        self._experiment = experiment
        self._pulls: set[int] = set()
        self._lock, self._over = threading.Lock(), threading.Event()
        self._thread = None
        if experiment.lease is not None:
            every = experiment.lease / BEATS
            self._thread = threading.Thread(target=self._beat, args=(every,), daemon=True)

    def hold(self, pull: int) -> None:
        """A pull is being evaluated."""
        with self._lock:
            self._pulls.add(pull)

    def release(self, pull: int) -> None:
        """It no longer is."""
        with self._lock:
            self._pulls.discard(pull)

    def _beat(self, every: float) -> None:
        while not self._over.wait(every):
            with self._lock:
                pulls = sorted(self._pulls)
            if pulls:
                with suppress(TruebestError):  # the next beat may do better; the run will hear of it itself
                    self._experiment.renew(pulls)

    def __enter__(self) -> Heart:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
