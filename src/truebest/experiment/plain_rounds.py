"""Plain lines of rounds, taken in one after the other: see `stretches`.

Whether a line can follow depends on the rounds that the lines before it have completed. So a round is judged
as soon as its last value comes, as it is line by line.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from .events import Entry
from .state import State
from .stretches import NOTHING, Plain, take_plain

PLAIN = 1e100  # a value that is larger takes a closer look
Cell = tuple[int, ...]  # a round and an arm; and which of several answers


class PlainRounds(State):
    """What `RoundsState` says of rounds, and how plain lines are taken in."""

    first: int
    asked: dict[Cell, int]
    cells: dict[int, Cell]
    _racing: list[int]

    @abstractmethod
    def _race(self) -> list[int]:
        """The arms that are not ruled out."""

    @abstractmethod
    def _cell(self, arm: int, data: dict[str, Any]) -> Cell:
        """What the log says of a pull."""

    @abstractmethod
    def _place(self, cell: Cell) -> tuple[int, int | None, int | None]:
        """The round of a cell, its item, and which answer to it."""

    @abstractmethod
    def _put(self, cell: Cell, value: float | None) -> None:
        """An answer is in, or will not come."""

    @abstractmethod
    def _is_there(self, number: int, arm: int) -> bool:
        """Whether an arm has its value in a round, or is known to have none."""

    def take_plain(self, entries: Sequence[Entry]) -> Plain:
        """Take in the lines of a log up to one that is not plain."""
        if self.over or self.suspended or self.due is not None:
            return NOTHING
        self._racing = self._race()
        return take_plain(self, entries, self._is_plain, self)

    def _is_plain(self, value: float) -> bool:
        return abs(value) < PLAIN and self.settings.allows(value)

    def note_plain(self, pull: int, arm: int, data: dict[str, Any]) -> bool:
        """Note where a new pull is, as `_begin` does, if it may be there."""
        try:
            cell = self._cell(arm, data)
            free = cell[0] >= self.first and cell not in self.asked and self.is_within_reach(cell[0])
            if not free or self._place(cell) != (data["round"], data.get("item"), data.get("epoch")):
                return False
        except (LookupError, TypeError, ValueError, OverflowError):
            return False
        self.asked[cell], self.cells[pull] = pull, cell
        return True

    def settle_plain(self, pull: int, value: float) -> bool:
        """Take in a value as `_settle` does; the rule is asked where that may complete something."""
        cell = self.cells.get(pull)
        if cell is not None:
            self._put(cell, value)
            if self._may_complete(cell[0]):
                self._judge_new()
                self._racing = self._race()
        return self.due is not None

    def _may_complete(self, number: int) -> bool:
        """Whether a value in a round may be the last one that a round lacked."""
        return number == self.first and all(self._is_there(number, arm) for arm in self._racing)
