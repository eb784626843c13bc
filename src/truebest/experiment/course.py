"""How an experiment got where it is: its account after more and more results, for charts.

`Course` reads a log once, from its first line: every point is what `status` said, or would have said, when
the experiment had as many results. Who follows the experiment from there on adds what `status` says then. A
point takes milliseconds, so there are a few hundred at most: when they become too many, every second one is
dropped, and from then on they are twice as far apart.
"""

from __future__ import annotations

from ..errors import StoreError
from ..telling.account import Account
from .accounts import account_of
from .events import TOLD, Entry, Event, event_of
from .reading import stored_lines
from .settings import Settings
from .state import new_state
from .store._base import Store, patiently
from .stretches import replay

MOST_POINTS = 400
AT_ONCE, LEAST_AT_ONCE = 500, 4  # points of one step: the former over K, as a point costs about K
CHUNK = 5_000  # lines that are taken in at once


class Points:
    """Accounts after numbers of results that grow from point to point.

    edition  counts how often points that were there before have gone
    spacing  by how many results they are apart at least
    """

    def __init__(self) -> None:
        self.all: list[Account] = []
        self.edition, self.spacing = 0, 1

    def reach(self, now: Account) -> float:
        """How many spacings it is beyond the last point."""
        return (now.samples - (self.all[-1].samples if self.all else 0)) / self.spacing

    def add(self, now: Account) -> None:
        """Add a point if it is far enough from the last; if results were taken back, drop what is beyond."""
        before = len(self.all)
        while self.all and self.all[-1].samples > now.samples:
            self.all.pop()
        self.edition += len(self.all) < before
        if self.reach(now) >= 1:
            self.all.append(now)
        if len(self.all) > MOST_POINTS:
            self.all = self.all[1::2]
            self.spacing *= 2
            self.edition += 1


class Course:
    """Reads a log, for one thread.

    points  what there is to draw so far
    seq     the last line of the log that was taken in
    last    the last line that the log had then
    """

    def __init__(self, store: Store, name: str, settings: Settings) -> None:
        self._store, self._name = store, name
        self._state = new_state(settings, chooses=False, recall=self._recall)
        self.points, self.last = Points(), 0

    @property
    def seq(self) -> int:
        """The last line of the log that was taken in."""
        return self._state.seq

    def advance(self) -> list[Event]:
        """Take in what was appended since, a few thousand lines at most; returns it, [] at the end.

        Raises  StoreError if the log cannot be read, or is another one than before
        """
        state = self._state

        def read() -> tuple[list[Entry], int]:
            with self._store.reading(self._name) as log:
                return log.entries(max(0, state.seq - 1), most=CHUNK), log.last

        lines, self.last = patiently(self._store, read)
        if state.seq:
            known = state.seq, state.mark, state.head
            if not lines or (lines[0].seq, lines[0].time, lines[0].chain) != known:
                raise StoreError(
                    f"experiment {self._name!r} was replaced by another one of that name; open it again."
                )
            lines = lines[1:]
        while self.last - state.seq > 4 * MOST_POINTS * self.points.spacing:  # two lines or so for a result
            self.points.spacing *= 2
        self._replay(lines)
        return [event_of(line, state.settings.arms) for line in lines]

    def _replay(self, lines: list[Entry]) -> None:
        """Take in lines, and add points on the way."""
        most = max(LEAST_AT_ONCE, AT_ONCE // len(self._state.settings.arms))
        spacing = max(self.points.spacing, sum(line.kind == TOLD for line in lines) // most)
        part: list[Entry] = []
        results = 0
        for line in lines:
            part.append(line)
            results += line.kind == TOLD
            if results >= spacing:
                replay(self._state, part)
                part = []
                if not self._state.partial:
                    self.points.add(account_of(self._name, self._state))
                    results = 0
        replay(self._state, part)
        if results:
            self.points.add(account_of(self._name, self._state))

    def _recall(self, until: int) -> list[Entry]:
        return list(stored_lines(self._store, self._name, 0, until))
