"""One transaction on an experiment: the state, and the lines that will be appended at its end."""

from __future__ import annotations

from . import events
from .events import Entry
from .state import State
from .store._base import Log


class Turn:
    """What a call that changes something works with."""

    def __init__(self, log: Log, state: State) -> None:
        self.log, self.state = log, state
        self.new: list[Entry] = []
        self._of_pull: dict[int, list[Entry]] = {}

    def record(self, entry: Entry) -> None:
        """Apply a line, and what follows from it."""
        self.state.apply(entry)
        self.new.append(entry)
        if entry.pull in self._of_pull:
            self._of_pull[entry.pull].append(entry)
        if self.state.crossed is not None:
            self._decide()

    def _decide(self) -> None:
        found = self.state.crossed
        assert found is not None
        named = {**found, "best": self.state.settings.arms[found["arm"]]}
        self.state.apply(Entry(events.DECIDED, arm=found["arm"], data=named))
        self.new.append(Entry(events.DECIDED, arm=found["arm"], data=named))

    def append(self) -> None:
        if self.new:
            last = self.log.append(self.new)[-1]
            self.state.seq, self.state.mark = last.seq, last.time

    def entries(self, pull: int) -> list[Entry]:
        """All lines of a pull, also those of this turn."""
        if pull not in self._of_pull:
            mine = [entry for entry in self.new if entry.pull == pull]
            self._of_pull[pull] = [*self.log.entries(pull=pull), *mine]
        return self._of_pull[pull]

    def present_value(self, pull: int) -> float | None:
        """The value of a pull as it stands: told, violating, or put in by hand."""
        value = None
        for entry in self.entries(pull):
            if entry.kind in (events.TOLD, events.VIOLATED, events.RETRACTED):
                value = entry.value
        return value
