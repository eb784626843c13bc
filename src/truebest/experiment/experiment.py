"""`Experiment`: ask, tell and the rest, on a store; many processes may work on one experiment.

Every call that changes something is one transaction: read what others have appended, decide, append, make
durable, and only then answer. What is answered cannot be lost. `journal.py` says how.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Self, TypeVar, Unpack, overload

import numpy as np

from .. import __version__, _door
from .._signature import spelled_out
from ..errors import InvalidInputError, SuspendedError
from ..strategies import Strategy
from . import events
from .events import Entry
from .imports import import_log
from .leases import expired, worker_name
from .names import check_name
from .pulls import Pull, Pulls, pull_seed
from .settings import DECLARED, NO_NEW_ARMS, Given, Request, Settings, read_settings
from .state import State
from .status import suspension
from .store import open_store
from .store._base import Store
from .tending import Tending
from .turn import Turn
from .values import check_reason, check_value, from_before, listed_pairs

Answer = TypeVar("Answer")

MOST_PULLS = 100_000  # in one call of ask
AT_ONCE = 0.05  # seconds of choosing after which what is chosen is committed, so that others get their turn
_HOW_MANY = "it is how many pulls to issue at once"


class Experiment(Tending):
    """A running identification. Create one with `create`, or resume one with `open`."""

    def __init__(self, store: Store, name: str, settings: Settings, worker: str | None = None) -> None:
        super().__init__(store, name, settings, worker)
        self._index = {arm: i for i, arm in enumerate(settings.arms)}

    @classmethod
    @spelled_out(Given.__annotations__, lease=DECLARED["lease"].default)
    def create(
        cls,
        store: str | Store,
        name: str,
        arms: Iterable[str],
        delta: float | None = None,
        *,
        worker: str | None = None,
        **settings: Unpack[Given],
    ) -> Self:
        """A new experiment; or the existing one of that name, if nothing given differs from its settings.

        For what is left out, a new experiment takes the defaults below, an existing one its stored settings.
        store     "memory:", "sqlite:///file.db", "postgresql://...", or a store
        arms      the names of the options
        delta     the accepted probability of a wrong answer; default 0.05
        sigma     the known standard deviation (sub-Gaussian scale) of one value, or arm -> sigma; or else
        bounds    (lo, hi) that every value respects; or else
        model     what is assumed of a value, such as truebest.Gaussian((1.0, 2.0)), one scale per arm, or
                  truebest.Student(), Gaussian values of unknown variances
        strategy  how to choose the next arm, by name or as an object; default "ebs-open-need"
        stopping  when to stop; default "tilt", which is proven; "student" for Student(), and
                  "kaufmann-koolen" for Poisson() and Exponential()
        tolerance how far below the best the answer may be, in the values' units; default 0
        minimize  whether the smallest mean is the best; default False
        order     "ask": results count in the order of asking; "arrival": as they come, if you know that
                  durations do not depend on values
        items     compare all arms on the same items, in rounds: how many there are, or a list or file of
                  them, each used once at most, in random order; inf for an unlimited source. `pull.item` says
                  which; needs bounds, and chooses strategy and rule itself
        failures  with items, what counts if an arm gives no value: "repeat" (default) asks again, a number is
                  its value, "worst" takes the worst for whatever is claimed; "loss", the default with wins
        compare   "means" (default); "wins": in rounds, with or without items, only who was better counts, and
                  no bounds are needed. Best is who wins against each other arm in more than half of the
                  rounds that are not ties; a tolerance of 0.05 lets it be 1.05 times the best value
        direct    with wins: also find out whether any arm is best at all, where preferences may be circular
        seed      the same seed and results give the same asks; default a new seed
        lease     seconds after which an unanswered pull is issued again, None or inf for never; default 3600;
                  an existing experiment keeps its own
        about     arm -> what it is (a command, a commit); stored, and refused if it differs later
        control   an arm that the others are compared with: `status` says which are better; it decides nothing
        worker    the name of this worker, kept with its pulls; default the host and the process
        Raises    InvalidInputError, StoreError
        """
        check_name("the name of an experiment", name)
        worker_name(worker)
        place = open_store(store)
        request = Request.of(arms, delta, **settings)
        if request.enough or name not in place.names():
            made = request.complete()
            if place.create(name, Entry(events.CREATED, data={**made.to_record(), "truebest": __version__})):
                return cls(place, name, made, worker)
        return cls(place, name, request.resumed(name, _stored_record(place, name)), worker)

    @classmethod
    def open(
        cls, store: str | Store, name: str, *, strategy: Strategy | None = None, worker: str | None = None
    ) -> Self:
        """An existing experiment; a strategy of your own must be passed again.

        worker  the name of this worker, kept with its pulls; default the host and the process
        Raises  InvalidInputError if there is none, StoreError
        """
        place = open_store(store)
        check_name("the name of an experiment", name)
        return cls(place, name, read_settings(_stored_record(place, name), strategy), worker)

    @classmethod
    def import_log(cls, store: str | Store, file: str | os.PathLike[str], name: str | None = None) -> Self:
        """A new experiment from an exported log: all of its lines in one transaction, or nothing.

        Every setting and line passes the checks that it passed when it was made. An export of version 0.1 or
        0.2 does not say where it ends, so it cannot be seen whether the last lines of such a file were lost.

        file    as `truebest export` writes it, as JSON lines or as one JSON document
        name    of the new experiment; default its old one
        Raises  InvalidInputError if that is not such a file, if it was cut off or changed, if its decision
                does not follow from its lines, or if there is an experiment of that name
        """
        place = open_store(store)
        return cls.open(place, import_log(place, file, name).name)

    # -- ask and tell ----------------------------------------------------------------------------------

    def ask(self, n: int = 1) -> Pulls:
        """The next pulls: first those that failed or lapsed, then what the strategy chooses.

        Fewer than n, or none, when the experiment is decided or was stopped, when the results so far will
        decide as soon as an earlier pull is settled, or when a strategy that stops by itself must see a
        pending result first: then `reason` says "decided", "stopped" or "wait".
        Raises  SuspendedError after a value outside the bounds, or when the values have refuted sigma
        """
        return self.ask_within(n, None)[0]

    def ask_within(self, n: int, max_samples: int | None) -> tuple[Pulls, bool]:
        """`ask` under a budget: no pull beyond number max_samples is issued; None means no budget.

        Returns  the pulls, and whether the budget is spent: every pull is settled, and there is no decision
        """
        count = _door.whole("n", n, 1, MOST_PULLS, _HOW_MANY)
        most = 2**53
        if max_samples is not None:
            most = _door.whole("max_samples", max_samples, 0, 2**53, "it is how many pulls to issue in total")
        issued: list[Pull] = []
        more, spent, reason = True, False, ""
        while more and len(issued) < count:
            wanted = count - len(issued)
            work = partial(self._ask, count=wanted, most=most)
            new, more, spent = self._journal.transact(work, wanted)
            issued, reason = issued + new, new.reason
        return Pulls(issued, reason), spent

    def ask_for(self, wanted: Iterable[tuple[str, int]]) -> list[Pulls]:
        """`ask` on behalf of several workers, in one commit if it is quick; raises what `ask` does.

        wanted   pairs of a worker's name and how many pulls it wants
        Returns  the pulls of each pair, in the order of the pairs
        """
        pairs = [(worker_name(name), _door.whole("n", n, 1, MOST_PULLS, _HOW_MANY)) for name, n in wanted]
        found, left = [Pulls() for _ in pairs], list(range(len(pairs)))

        def work(turn: Turn) -> dict[int, tuple[Pulls, bool, bool]]:
            begun = time.monotonic()
            done: dict[int, tuple[Pulls, bool, bool]] = {}
            for i in left:
                if done and time.monotonic() - begun > AT_ONCE:
                    break
                done[i] = self._ask(turn, pairs[i][1] - len(found[i]), 2**53, pairs[i][0])
            return done

        while left:
            size = sum(pairs[i][1] - len(found[i]) for i in left)
            for i, (new, more, _) in self._journal.transact(work, size).items():
                found[i] = Pulls([*found[i], *new], new.reason)
                if not more or len(found[i]) == pairs[i][1]:
                    left.remove(i)
        return found

    def _ask(self, turn: Turn, count: int, most: int, worker: str | None = None) -> tuple[Pulls, bool, bool]:
        """Some of the pulls, whether there may be more of them, and whether there will never be."""
        state = turn.state
        turn.decide()  # a strategy that stops by itself may hear of results from a client without it
        if state.over:
            return Pulls([], _why_none(state)), False, False
        if state.suspended:
            raise SuspendedError(f"experiment {self.name!r} is suspended: {suspension(state)}.")
        deadline = None if self.lease is None else turn.now + self.lease
        held = {"deadline": deadline, "worker": worker or self.worker}
        for pull in expired(state.open, turn.now, self.settings.lease, turn.renewed):
            turn.record(Entry(events.LAPSED, pull, state.open[pull].arm))
        issued = []
        for pull in state.to_issue()[:count]:
            turn.record(Entry(events.ASKED, pull, state.open[pull].arm, data=held))
            issued.append(self._pull(state, pull, deadline))
        wanted = 0 if state.enough() else count
        begun, more = time.monotonic(), False
        while len(issued) < wanted and state.decision is None and state.next_pull <= most:
            if issued and time.monotonic() - begun > AT_ONCE:
                more = True
                break
            chosen = state.next()
            if chosen is None:
                break
            (arm, said), pull = chosen, state.next_pull
            turn.record(Entry(events.ASKED, pull, arm, data={**held, **said}))
            issued.append(self._pull(state, pull, deadline))
        spent = (state.next_pull > most or state.used_up) and not state.waits
        return Pulls(issued, _why_none(state)), more, spent

    @overload
    def tell(self, pull: int | Pull, value: float) -> str: ...
    @overload
    def tell(self, pull: Iterable[tuple[int | Pull, float]]) -> list[str]: ...
    def tell(self, pull: Any, value: Any = None) -> str | list[str]:
        """Record the value of a pull; or a list of (pull, value), in one commit.

        Returns  per pull: "told" if it counts, "repeated" if it was told before, "late" if it was already
                 settled with another value, which is logged but not counted
        Raises   SuspendedError for a value outside the bounds, after recording it (and all others), and for
                 one with which the values refute sigma;
                 InvalidInputError for what is not a finite number or not a pull, with nothing stored
        """
        single = value is not None or isinstance(pull, int | np.integer | Pull)
        pairs = [(pull, value)] if single else listed_pairs(pull)
        checked = [(self._number(p), check_value(v, self.settings)) for p, v in pairs]

        def work(turn: Turn) -> list[str]:
            return [self._tell(turn, p, v) for p, v in checked]

        kinds = self._commit(work, len(checked))
        return kinds[0] if single else kinds

    @overload
    def observe(self, arm: str, value: float | Iterable[float]) -> None: ...
    @overload
    def observe(self, arm: Mapping[str, float | Iterable[float]] | Iterable[tuple[str, float]]) -> None: ...
    def observe(self, arm: Any, value: Any = None) -> None:
        """Add values that existed before, in one commit; they must not have been chosen by value.

        arm     (arm, value) pairs in the order in which they were sampled, which are judged one after the
                other; or its name, and then its values; or name -> values. Values by arm are judged when
                all are in: those of one earlier experiment belong in one call
        Raises  as `tell`
        """
        if self.settings.design.only_asked:
            raise InvalidInputError(
                f"experiment {self.name!r} compares arms on common items, and a value from before belongs to "
                f"none of its rounds; ask for pulls and tell what you know of their items."
            )
        values = [(self._arm(name), v, said) for name, v, said in from_before(arm, value, self.settings)]

        def work(turn: Turn) -> None:
            for index, number, said in values:
                pull = turn.state.next_pull
                turn.record(Entry(events.ASKED, pull, index, data=said))
                self._tell(turn, pull, number)

        self._commit(work, len(values))

    def fail(self, pull: int | Pull, reason: str) -> str:
        """Report that a pull gave no value; it will be issued again first.

        Returns  "failed", or "late" if the pull was already settled
        """
        number, why = self._number(pull), check_reason(reason)

        def work(turn: Turn) -> str:
            item = turn.state.open.get(number)
            arm = self._arm_of(turn, number)
            kind = events.FAILED if item is not None and number not in turn.state.violated else events.LATE
            turn.record(Entry(kind, number, arm, data={"reason": why}))
            return kind

        return self._journal.transact(work)

    def retract(self, pull: int | Pull, reason: str, value: float | None = None) -> None:
        """Take a pull's value back, or put the right one in its place, for a clerical error.

        Whether to do so must be decided without regard to values and arms. After a decision the experiment is
        reopened, and the rule decides again. If the decision could already use the value, this begins another
        reading of the data, and every reading adds delta to the promised probability of a wrong answer.
        Raises  SuspendedError if the values, as they are then, refute sigma, after recording it
        """
        number, why = self._number(pull), check_reason(reason)
        new = None if value is None else check_value(value, self.settings)
        if new is not None and not self.settings.allows(new):
            raise InvalidInputError(
                f"the right value must be {self.settings.model.demand}, got {new:g}; nothing was changed."
            )

        def work(turn: Turn) -> None:
            arm = self._arm_of(turn, number)
            data = {"reason": why, "was": turn.present_value(number)}
            decided = turn.state.decision is not None
            turn.record(Entry(events.RETRACTED, number, arm, new, data))
            if decided:
                turn.record(Entry(events.REOPENED))

        self._commit(work, 1)

    # -- the rest ---------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the store's connections."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Experiment({self._store.place!r}, {self.name!r}, {len(self.settings.arms)} arms)"

    # -- inside ----------------------------------------------------------------------------------------

    def _pull(self, state: State, number: int, deadline: float | None) -> Pull:
        arm, seed = self.settings.arms[state.open[number].arm], pull_seed(self.settings.seed, number)
        return Pull(number, arm, seed, deadline, *state.place(number))

    def _tell(self, turn: Turn, pull: int, value: float) -> str:
        arm = self._arm_of(turn, pull)
        state, inside = turn.state, self.settings.allows(value)
        unsettled = pull in state.open and pull not in state.violated
        if unsettled and (inside or not state.over):
            kind = events.TOLD if inside else events.VIOLATED
            turn.record(Entry(kind, pull, arm, value))
            return kind
        # Settled before; or outside the bounds after the end, which is final and cannot be suspended.
        if any(value == entry.value for entry in turn.entries(pull)):
            return "repeated"
        turn.record(Entry(events.LATE, pull, arm, value))
        return events.LATE

    def _arm_of(self, turn: Turn, pull: int) -> int:
        item = turn.state.open.get(pull)
        if item is not None:
            return item.arm
        if not 1 <= pull < turn.state.next_pull:
            raise InvalidInputError(
                f"there is no pull {pull} in experiment {self.name!r}, which has issued "
                f"{turn.state.next_pull - 1}; give the id of a pull that ask issued."
            )
        return next(entry.arm for entry in turn.entries(pull) if entry.arm is not None)

    def _arm(self, arm: str) -> int:
        if not isinstance(arm, str) or arm not in self._index:
            shown = ", ".join(repr(name) for name in self.settings.arms[:8])
            raise InvalidInputError(
                f"there is no arm {_door.short(arm)} in experiment {self.name!r}; its arms are {shown}"
                f"{' ...' if len(self._index) > 8 else ''}, and {NO_NEW_ARMS}."
            )
        return self._index[arm]

    def _commit(self, work: Callable[[Turn], Answer], size: int) -> Answer:
        """Do what `work` records, then raise if that has suspended the experiment."""
        answer, suspends = self._journal.transact(lambda turn: (work(turn), turn.suspends), size or 1)
        if suspends:
            with self._journal.reading() as state:
                raise SuspendedError(
                    f"experiment {self.name!r} is suspended: {suspension(state)}; what was told is recorded."
                )
        return answer


def _why_none(state: State) -> str:
    """Why nothing is issued, if nothing is."""
    if state.over:
        return "decided" if state.decision is not None else "stopped"
    return "used up" if state.used_up and not state.waits else "wait"


def _stored_record(store: Store, name: str) -> dict[str, Any]:
    with store.reading(name) as log:
        return dict(log.first().data or {})
