"""What keeps an experiment going, or ends it by hand: take pulls back, stop."""

from __future__ import annotations

from . import events
from .events import Entry
from .looking import Looking
from .status import Status, status_of
from .turn import Turn
from .values import check_reason


class Tending(Looking):
    """The part of an `Experiment` that needs no values."""

    def reclaim(self) -> int:
        """Let every pending pull lapse now, so that it is issued again first; returns how many.

        For a process that takes over from one that died. If the other one lives after all, a pull is
        evaluated twice, and the first value counts.
        """

        def work(turn: Turn) -> int:
            out = [pull for pull, item in turn.state.open.items() if item.out]
            out = [pull for pull in out if pull not in turn.state.violated]
            for pull in out:
                arm = turn.state.open[pull].arm
                turn.record(Entry(events.LAPSED, pull, arm, data={"reclaimed": True}))
            return len(out)

        return self._journal.transact(work)

    def stop(self, reason: str = "no reason given") -> Status:
        """End the experiment undecided, for good: no pull is issued and no result counts any more.

        The leader, and how far below the best it can be at most, are recorded. An experiment that is decided,
        or was stopped before, stays as it is.
        Returns  the status, in which `decision` or `stopped` is set
        """
        why = check_reason(reason)

        def work(turn: Turn) -> None:
            turn.decide()
            if turn.state.over:
                return
            now = status_of(self.name, turn.state)
            found = {"leader": now.leader, "shortfall": now.shortfall, "samples": now.samples}
            turn.record(Entry(events.STOPPED, data={"reason": why, **found}))

        self._journal.transact(work)
        return self.status()
