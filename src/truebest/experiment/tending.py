"""What keeps an experiment going, or ends it by hand: renew leases, take pulls back, stop, delete."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .. import _door
from ..errors import InvalidInputError
from . import events
from .events import Entry
from .leases import is_gone, refuse_unknown
from .looking import Looking
from .pulls import Pull, pull_seed
from .status import Status, status_of
from .turn import Turn
from .values import check_reason


class Tending(Looking):
    """The part of an `Experiment` that needs no values."""

    def renew(self, pull: int | Pull | Iterable[int | Pull]) -> int:
        """Say that a pull, or each of several, is still being evaluated: its lease begins anew.

        For pulls that take longer than a lease; call it a few times within one. `identify` does so by itself.
        Returns  how many of them are still pending, and were renewed; the others were settled, or lapsed
        """
        pulls = pull if isinstance(pull, Iterable) else [pull]
        numbers = [self._number(one) for one in pulls]
        with self._journal.reading() as state:
            held = [n for n in numbers if n in state.open and state.open[n].out and n not in state.violated]
        if held and self.lease is not None:
            self._journal.renew(held, self.lease)
        return len(held)

    def reclaim(self, worker: str | None = None) -> int:
        """Let pending pulls lapse now, so that they are issued again first; returns how many.

        For workers that died. If one lives after all, a pull is evaluated twice, and the first value counts.
        worker  only the pulls of the worker of that name; by default all
        """

        def work(turn: Turn) -> int:
            if worker is not None:
                refuse_unknown(worker, turn.state.open, self.name)
            return _take_back(turn, lambda name: worker is None or name == worker)

        return self._journal.transact(work)

    def take_over(self, *, begins: bool = True) -> int:
        """`reclaim` the pulls of workers that surely work no more; returns how many.

        These are processes of this host that have ended. Other workers have until their leases end.
        begins  whether this worker has just begun: then pulls under its own name are from an earlier one, and
                those without a name are from version 0.1, which took over everything
        """
        earlier = (None, self.worker) if begins else ()
        return self._journal.transact(
            lambda turn: _take_back(turn, lambda name: name in earlier or is_gone(name))
        )

    def delete(self) -> None:
        """Delete the experiment and its log from the store, for good."""
        self._store.delete(self.name)

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

    def _number(self, pull: int | Pull) -> int:
        if isinstance(pull, Pull):
            if pull.seed != pull_seed(self.settings.seed, pull.id):
                raise InvalidInputError(
                    f"pull {pull.id} belongs to another experiment, not to {self.name!r}; tell it there."
                )
            return pull.id
        return _door.whole("a pull", pull, 1, 2**53, "give the id of a pull that ask issued")


def _take_back(turn: Turn, whose: Callable[[str | None], bool]) -> int:
    """Let the pending pulls of some workers lapse; returns how many."""
    out = [pull for pull, item in turn.state.open.items() if item.out and whose(item.worker)]
    out = [pull for pull in out if pull not in turn.state.violated]
    for pull in out:
        turn.record(Entry(events.LAPSED, pull, turn.state.open[pull].arm, data={"reclaimed": True}))
    return len(out)
