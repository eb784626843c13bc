"""How an experiment got where it is: its status after more and more results, from a replay of its log.

For charts. The log is read once, from its first line, and then followed; every point is what `status` said,
or would have said, when the experiment had as many results. There are a few hundred points at most: when they
become too many, every second one is dropped, and from then on every second one is left out.
"""

from __future__ import annotations

from ..errors import StoreError
from .events import TOLD, Entry, Event, event_of
from .journal import stored_lines
from .settings import Settings
from .state import State
from .status import Status, status_of
from .store._base import Store

MOST_POINTS = 400
CHUNK = 5_000  # lines that are taken in at once


class Course:
    """Follows a log, for one thread.

    points   the status after some numbers of results, which grow from point to point
    edition  counts how often points that were there before have changed or gone
    seq      the last line of the log that was taken in
    """

    def __init__(self, store: Store, name: str, settings: Settings) -> None:
        self._store, self._name = store, name
        self._state = State(settings, steers=False, recall=self._recall)
        self._stride, self._results = 1, 0  # results between two points, and since the last
        self.points: list[Status] = []
        self.edition = 0

    @property
    def seq(self) -> int:
        """The last line of the log that was taken in."""
        return self._state.seq

    def advance(self) -> list[Event]:
        """Take in what was appended since, a few thousand lines at most; returns it, [] at the end.

        Raises  StoreError if the log cannot be read, or is another one than before
        """
        state = self._state
        with self._store.reading(self._name) as log:
            lines = log.entries(max(0, state.seq - 1), most=CHUNK)
        if state.seq:
            known = state.seq, state.mark, state.head
            if not lines or (lines[0].seq, lines[0].time, lines[0].chain) != known:
                raise StoreError(
                    f"experiment {self._name!r} was replaced by another one of that name; open it again."
                )
            lines = lines[1:]
        part: list[Entry] = []
        for line in lines:
            part.append(line)
            self._results += line.kind == TOLD
            if self._results >= self._stride:
                state.replay(part)
                self._mark()
                part = []
        state.replay(part)
        return [event_of(line, state.settings.arms) for line in lines]

    def _mark(self) -> None:
        """Add a point if more results count than at the last; if fewer do, drop what is beyond."""
        self._results = 0
        now = status_of(self._name, self._state)
        before = len(self.points)
        while self.points and self.points[-1].samples > now.samples:
            self.points.pop()
        self.edition += len(self.points) < before
        if now.samples > (self.points[-1].samples if self.points else 0):
            self.points.append(now)
        if len(self.points) > MOST_POINTS:
            last = self.points[-1]
            self.points = self.points[1::2]
            self._results = 0 if self.points[-1] is last else self._stride
            self._stride *= 2
            self.edition += 1

    def _recall(self, until: int) -> list[Entry]:
        return list(stored_lines(self._store, self._name, 0, until))
