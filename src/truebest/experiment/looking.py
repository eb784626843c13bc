"""What can be read of an experiment: where it stands, how long it will take, and its log."""

from __future__ import annotations

from collections.abc import Iterator

from .. import _door
from .course import Course
from .events import Event, event_of
from .forecast import Forecast, forecast, uniform_samples
from .journal import Journal
from .leases import Hold, worker_name
from .settings import Settings
from .state import State
from .status import Status, status_of
from .store._base import Store
from .verification import Verification, verify


class Looking:
    """The part of an `Experiment` that changes nothing."""

    def __init__(self, store: Store, name: str, settings: Settings, worker: str | None = None) -> None:
        self.name, self.settings = name, settings
        self.lease = settings.lease  # of the pulls that are issued here
        self._store = store
        self._worker = None if worker is None else worker_name(worker)
        self._journal = Journal(store, name, settings)

    @property
    def worker(self) -> str:
        """The name of this worker, which is kept with its pulls."""
        return self._worker or worker_name(None)

    @property
    def decided(self) -> bool:
        """Whether this process knows of a decision; `status` asks the store."""
        known = self._journal.known
        return known is not None and known.decision is not None

    @property
    def stopped(self) -> bool:
        """Whether this process knows that somebody stopped it; `status` asks the store."""
        known = self._journal.known
        return known is not None and known.stopped is not None

    def status(self) -> Status:
        """Where the experiment stands."""
        with self._journal.reading() as state:
            return status_of(self.name, state, self._hold(state))

    def _hold(self, state: State) -> Hold | None:
        """What the decision waits for."""
        pull = state.hole
        if pull is None:
            return None
        item = state.open[pull]
        since, renewed = self._journal.lease_of(pull)
        until = item.deadline if renewed is None or item.deadline is None else max(renewed, item.deadline)
        return Hold(pull, self.settings.arms[item.arm], item.worker, since, until, item.out)

    def forecast(self) -> Forecast:
        """How many more samples, and of which arms, if the estimated means are the true ones."""
        with self._journal.reading() as state:
            now = state.copy()  # it may take seconds, and nobody is to wait for it
        return forecast(now)

    def uniform_samples(self) -> int | None:
        """How many samples uniform sampling would take in total, if the estimated means are the true ones.

        None before every arm has a result, where the leading arms are too close, and for two arms, where
        every strategy is uniform.
        """
        with self._journal.reading() as state:
            now = state.copy()
        return uniform_samples(now) if len(now.settings.arms) > 2 else None

    def history(self, after: int = 0) -> list[Event]:
        """The log, from its first line or from the one after line `after`."""
        return list(self.events(after))

    def events(self, after: int = 0) -> Iterator[Event]:
        """`history` one event at a time, for a log that is too long to hold in memory."""
        line = _door.whole("after", after, 0, 2**53, "it is the seq of an event")
        for entry in self._journal.lines(line):
            yield event_of(entry, self.settings.arms)

    def course(self) -> Course:
        """How it got where it is, for charts: follows the log from its first line, see `Course`."""
        return Course(self._store, self.name, self.settings)

    def verify(self) -> Verification:
        """Read the whole log, check every line against its hash, and check whether the decision follows."""
        return verify(self._store, self.name, self.settings.strategy)
