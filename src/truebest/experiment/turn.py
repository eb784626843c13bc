"""One attempt to change an experiment: a copy of its state, and the lines that are to be appended."""

from __future__ import annotations

from collections.abc import Callable

from . import events
from .events import Entry
from .state import State
from .store._base import Log


class Turn:
    """What a call that changes something works with; nothing of it is kept unless it is committed.

    state     the state with the new lines; the call's own
    now       the time by the store's clock
    lines_of  reads the stored lines of a pull
    renewed   reads until when the leases of pulls were renewed
    """

    def __init__(
        self,
        state: State,
        now: float,
        lines_of: Callable[[int], list[Entry]],
        renewed: Callable[[], dict[int, float]],
    ) -> None:
        self.state, self.now, self.renewed = state, now, renewed
        self.new: list[Entry] = []
        self._base, self._refuted = state.seq, state.refuted
        self._lines_of = lines_of
        self._of_pull: dict[int, list[Entry]] = {}

    def record(self, entry: Entry) -> None:
        """Apply a line, and what follows from it."""
        self.state.apply(entry)
        self.new.append(entry)
        if entry.pull in self._of_pull:
            self._of_pull[entry.pull].append(entry)
        self.decide()

    def decide(self) -> None:
        """Record the decision that is due, if there is one."""
        found = self.state.crossed
        if found is None:
            return
        arm = found.arm if found.arm >= 0 else None
        settings = self.state.settings
        decided = Entry(events.DECIDED, arm=arm, data=found.to_record(settings.arms, settings.question))
        self.state.apply(decided)
        self.new.append(decided)

    @property
    def suspends(self) -> bool:
        """Whether its lines suspend the experiment: a value outside the bounds, or the end of sigma."""
        violated = any(entry.kind == events.VIOLATED for entry in self.new)
        return violated or (self._refuted is None and self.state.refuted is not None)

    def append(self, log: Log) -> None:
        """Write the new lines behind the last one, which must be the one that the state began with."""
        last = log.append(self.new)[-1]
        self.state.seq, self.state.mark, self.state.head = last.seq, last.time, last.chain
        self.state.fresh = ()

    def entries(self, pull: int) -> list[Entry]:
        """All lines of a pull, including those of this turn."""
        if pull not in self._of_pull:
            mine = [entry for entry in self.new if entry.pull == pull]
            stored = [entry for entry in self._lines_of(pull) if entry.seq <= self._base]
            self._of_pull[pull] = [*stored, *mine]
        return self._of_pull[pull]

    def present_value(self, pull: int) -> float | None:
        """The value of a pull as it stands: told, violating, or put in by hand."""
        value = None
        for entry in self.entries(pull):
            if entry.kind in (events.TOLD, events.VIOLATED, events.RETRACTED):
                value = entry.value
        return value
