"""`Experiment`: ask, tell and the rest, on a store; many processes may work on one experiment.

Every call that changes something is one transaction: read what others have appended, decide, append, make
durable, and only then answer. What is answered cannot be lost. `journal.py` says how.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Self, TypeVar, Unpack, overload

import numpy as np

from .. import __version__, _args
from .._signature import spelled_out
from ..errors import InvalidInputError, SuspendedError
from ..strategies import Strategy
from ..telling.account import Account
from ..telling.standings import Hold
from . import events
from .accounts import account_of, misfit, suspension
from .course import Course
from .events import Entry, Event, event_of
from .forecast import Forecast, forecast
from .imports import import_log
from .journal import Journal, Turn
from .known import Known, recall_known, with_stored
from .leases import expired, is_gone, refuse_unknown, worker_name
from .names import check_name
from .pulls import Pull, Pulls, pull_seed
from .settings import DECLARED, NO_NEW_ARMS, Given, Request, Settings, read_settings
from .shown import Shown
from .state import State
from .store import open_store
from .store._base import Store
from .values import check_reason, check_value, from_before, listed_pairs
from .verification import Verification, verify

Answer = TypeVar("Answer")

MOST_PULLS = 100_000  # in one call of ask
AT_ONCE = 0.05  # seconds of choosing after which what is chosen is committed, so that others get their turn
_HOW_MANY = "it is how many pulls to issue at once"


class Experiment(Shown):
    """A running identification. Create one with `create`, or resume one with `open`."""

    def __init__(self, store: Store, name: str, settings: Settings, worker: str | None = None) -> None:
        self.name, self.settings = name, settings
        self.lease = settings.lease  # of the pulls that are issued here
        self._store = store
        self._worker = None if worker is None else worker_name(worker)
        self._journal = Journal(store, name, settings)
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

        Parameters
        ----------
        store
            "memory:", "sqlite:///file.db", "postgresql://...", or a store
        name
            of the experiment, in that store
        arms
            the names of the options
        delta
            the accepted probability of a wrong answer; default 0.05
        sigma
            the known standard deviation (sub-Gaussian scale) of one value, or arm -> sigma; or else
        bounds
            (lo, hi) that every value respects; or else
        model
            what is assumed of a value, such as truebest.Gaussian((1.0, 2.0)), one scale per arm, or
            truebest.Student(), Gaussian values of unknown variances
        strategy
            how to choose the next arm, by name or as an object; default "ebs-open-need"
        stopping
            when to stop; default "tilt", which is proven; "student" for Student(), and "kaufmann-koolen" for
            Poisson() and Exponential()
        tolerance
            how far below the best the answer may be, in the values' units; default 0
        minimize
            whether the smallest mean is the best; default False
        order
            "ask": results count in the order of asking; "arrival": as they come, if you know that durations
            do not depend on values
        items
            compare all arms on the same items, in rounds: how many there are, or a list or file of them, each
            used at most once, in random order; inf for an unlimited source. `pull.item` says which; needs
            bounds, and chooses strategy and rule itself
        known
            with items: arm -> its score on every item, a list in the order of the items, item -> score, a
            file with an id and a score per line, or another experiment on the same items that has an arm of
            this name, by itself or by its name in the store; of its arm new as "prev:new". Such an arm is not
            asked: the others are compared with these scores, which are stored, and take fewer calls for it
        proxies
            with known: rows of stored scores of other models on the same items, None where one is missing.
            The better they predict, the fewer calls; they never make an answer wrong
        failures
            with items, what counts if an arm gives no value: "repeat" (default) asks again, a number is its
            value, "worst" takes the worst for whatever is claimed; "loss", the default with wins
        compare
            "means" (default); "wins": in rounds, with or without items, only who was better counts, and no
            bounds are needed. The best arm wins against each other one in more than half of the rounds that
            are not ties; a tolerance of 0.05 lets it be 1.05 times the best value
        direct
            with wins: also find out whether any arm is best at all, where preferences may be circular
        question
            what is asked; default which arm is best, truebest.BestArm(). BestArm(pairs=True) compares pairs
            of arms alone, sampling in turn those that are not ruled out
        sampled
            whether the items of a closed set are a random sample of all that could come, not chosen by hand,
            nor used to make an arm: then it is also said, in a line of its own, what holds for items like
            these; default False
        cluster
            items that belong together, as the questions about one text do: a key of the items, or a function
            of an item. A round is then a cluster, and the cluster is what counts as one
        weigh
            with clusters, what counts alike: "items" (default), so that the mean is that of all items, or
            "clusters", so that it is the mean of the means of clusters
        largest
            with clusters, sampled and weigh="items": the most items that any cluster can have
        epochs
            with items, how often each arm answers an item, each time with another seed: its value there is
            the mean of these answers, and a round counts when all are in; default 1
        seed
            the same seed and results give the same asks; default a new seed
        lease
            seconds after which an unanswered pull is issued again, None or inf for never; default 3600; an
            existing experiment keeps its own
        max_samples
            how many samples there will be at most, as far as you know: `tilt` then needs fewer of them. It
            limits nothing here, and a wrong number costs samples, never the promise; an existing experiment
            keeps its own
        about
            arm -> what it is (a command, a commit); stored, and refused if it differs later
        control
            an arm that the others are compared with: `status` says which are better; it decides nothing
        worker
            the name of this worker, kept with its pulls; default the host and the process

        Raises
        ------
        InvalidInputError
        StoreError
        """
        check_name("the name of an experiment", name)
        worker_name(worker)
        place = open_store(store)
        arms = list(arms) if isinstance(arms, Iterator) else arms
        known: Any = settings.get("known")
        proxies = settings.get("proxies")
        if known is None and proxies is None:
            known = _kept_known(place, name, arms)
        else:
            known = with_stored(known, proxies, lambda _: place.names(), partial(cls.open, place), name)
        request = Request.of(arms, delta, **{**settings, "known": known})
        if request.enough or name not in place.names():
            made = request.complete()
            if place.create(name, Entry(events.CREATED, data={**made.to_record(), "truebest": __version__})):
                return cls(place, name, made, worker)
        return cls(place, name, request.resumed(name, _stored_record(place, name)), worker)

    @classmethod
    def open(
        cls, store: str | Store, name: str, *, strategy: Strategy | None = None, worker: str | None = None
    ) -> Self:
        """An existing experiment.

        Parameters
        ----------
        store, name
            as in `create`
        strategy
            your own, if it was created with one
        worker
            the name of this worker, kept with its pulls; default the host and the process

        Raises
        ------
        InvalidInputError
            if there is none
        StoreError
        """
        place = open_store(store)
        check_name("the name of an experiment", name)
        return cls(place, name, read_settings(_stored_record(place, name), strategy), worker)

    @classmethod
    def import_log(cls, store: str | Store, file: str | os.PathLike[str], name: str | None = None) -> Self:
        """A new experiment from an exported log: all of its lines in one transaction, or nothing.

        Every setting and line passes the checks that it passed when it was made. An export of version 0.1 or
        0.2 does not say where it ends, so it cannot be seen whether the last lines of such a file were lost.

        Parameters
        ----------
        store
            as in `create`
        file
            as `truebest export` writes it, as JSON lines or as one JSON document
        name
            of the new experiment; default its old one

        Raises
        ------
        InvalidInputError
            if that is not such a file, if it was cut off or changed, if its decision does not follow from its
            lines, or if there is an experiment of that name
        """
        place = open_store(store)
        return cls.open(place, import_log(place, file, name).name)

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
        """Whether this process knows that it was stopped; `status` asks the store."""
        known = self._journal.known
        return known is not None and known.stopped is not None

    # -- ask and tell ----------------------------------------------------------------------------------

    def ask(self, n: int = 1) -> Pulls:
        """The next pulls: first those that failed or lapsed, then what the strategy chooses.

        Fewer than n, or none, when the experiment is decided or was stopped, when the results so far will
        decide as soon as an earlier pull is settled, or when a strategy that stops by itself must see a
        pending result first: then `reason` says "decided", "stopped" or "wait".

        Raises
        ------
        SuspendedError
            after a value outside the bounds, or when the values have refuted sigma
        """
        return self.ask_within(n, None)[0]

    def ask_within(self, n: int, max_samples: int | None) -> tuple[Pulls, bool]:
        """`ask` under a budget: no pull beyond number max_samples is issued; None means no budget.

        Returns
        -------
        the pulls, and whether the budget is spent: every pull is settled, and there is no decision
        """
        count = _args.whole("n", n, 1, MOST_PULLS, _HOW_MANY)
        most = 2**53
        if max_samples is not None:
            most = _args.whole("max_samples", max_samples, 0, 2**53, "it is how many pulls to issue in total")
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

        Parameters
        ----------
        wanted
            pairs of a worker's name and how many pulls it wants

        Returns
        -------
        the pulls of each pair, in the order of the pairs
        """
        pairs = [(worker_name(name), _args.whole("n", n, 1, MOST_PULLS, _HOW_MANY)) for name, n in wanted]
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

        Returns
        -------
        per pull: "told" if it counts, "repeated" if it was told before, "late" if it was already settled with
        another value, which is logged but not counted

        Raises
        ------
        SuspendedError
            for a value outside the bounds, after recording it (and all others), and for one with which the
            values refute sigma
        InvalidInputError
            for what is not a finite number or not a pull, with nothing stored
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

        Parameters
        ----------
        arm
            (arm, value) pairs in the order in which they were sampled, which are judged one after the other;
            or its name, and then its values; or name -> values. Values by arm are judged when all are in:
            those of one earlier experiment belong in one call
        value
            the values of one arm, where it is given by name

        Raises
        ------
        InvalidInputError, StoreError, SuspendedError
            as `tell`
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

        Returns
        -------
        "failed", or "late" if the pull was already settled
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

        Whether to do so must be decided without regard to values and arms, and how long pulls take must not
        depend on these, either. After a decision the experiment is reopened, and the rule decides again. If
        the decision could already use the value, this begins another reading of the data, and every reading
        adds delta to the promised probability of a wrong answer.

        Raises
        ------
        SuspendedError
            if the values, as they are then, refute sigma, after recording it
        """
        number, why = self._number(pull), check_reason(reason)
        new = None if value is None else check_value(value, self.settings)
        if new is not None and not self.settings.allows(new):
            raise InvalidInputError(
                f"the right value must be {self.settings.values.demand}, got {new:g}; nothing was changed."
            )

        def work(turn: Turn) -> None:
            arm = self._arm_of(turn, number)
            data = {"reason": why, "was": turn.present_value(number)}
            decided = turn.state.decision is not None
            turn.record(Entry(events.RETRACTED, number, arm, new, data))
            if decided:
                turn.record(Entry(events.REOPENED))

        self._commit(work, 1)

    # -- keep it going, or end it by hand -----------------------------------------------------------

    def renew(self, pull: int | Pull | Iterable[int | Pull]) -> int:
        """Say that a pull, or each of several, is still being evaluated: its lease begins anew.

        For pulls that take longer than a lease; call it a few times within one. `identify` does so by itself.

        Returns
        -------
        how many of them are still pending, and were renewed; the others were settled, or lapsed
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

        Parameters
        ----------
        worker
            only the pulls of the worker of that name; by default all
        """

        def work(turn: Turn) -> int:
            if worker is not None:
                refuse_unknown(worker, turn.state.open, self.name)
            return _take_back(turn, lambda name: worker is None or name == worker)

        return self._journal.transact(work)

    def take_over(self, *, begins: bool = True) -> int:
        """`reclaim` the pulls of workers that surely work no more; returns how many.

        These are processes of this host that have ended. Other workers have until their leases end.

        Parameters
        ----------
        begins
            whether this worker has just begun: then pulls under its own name are from an earlier one, and
            those without a name are from version 0.1, which took over everything
        """
        earlier = (None, self.worker) if begins else ()
        return self._journal.transact(
            lambda turn: _take_back(turn, lambda name: name in earlier or is_gone(name))
        )

    def delete(self) -> None:
        """Delete the experiment and its log from the store, for good."""
        self._store.delete(self.name)

    def stop(self, reason: str = "no reason given") -> Account:
        """End the experiment undecided, for good: no pull is issued and no result counts any more.

        The leader, and how far below the best it can be at most, are recorded. An experiment that is decided,
        or was stopped before, stays as it is.

        Returns
        -------
        where it stands: decided, or stopped
        """
        why = check_reason(reason)

        def work(turn: Turn) -> None:
            turn.decide()
            if turn.state.over:
                return
            now = account_of(self.name, turn.state)
            found = {"leader": now.leader, "shortfall": now.shortfall, "samples": now.samples}
            turn.record(Entry(events.STOPPED, data={"reason": why, **found}))

        self._journal.transact(work)
        return self.status()

    def close(self) -> None:
        """Close the store's connections."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Experiment({self._store.place!r}, {self.name!r}, {len(self.settings.arms)} arms)"

    # -- look ---------------------------------------------------------------------------------------

    def status(self) -> Account:
        """Where the experiment stands."""
        with self._journal.reading() as state:
            return account_of(self.name, state, self._hold(state))

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
        return now.uniform_samples() if len(now.settings.arms) > 2 else None

    def events(self, after: int = 0) -> Iterator[Event]:
        """`history` one event at a time, for a log that is too long to hold in memory."""
        line = _args.whole("after", after, 0, 2**53, "it is the seq of an event")
        for entry in self._journal.lines(line):
            yield event_of(entry, self.settings.arms)

    def course(self) -> Course:
        """How it got where it is, for charts: follows the log from its first line, see `Course`."""
        return Course(self._store, self.name, self.settings)

    def verify(self) -> Verification:
        """Read the whole log, check every line against its hash, and check whether the decision follows."""
        return verify(self._store, self.name, self.settings.strategy)

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
                f"there is no arm {_args.short(arm)} in experiment {self.name!r}; its arms are {shown}"
                f"{' ...' if len(self._index) > 8 else ''}, and {NO_NEW_ARMS}."
            )
        return self._index[arm]

    def _commit(self, work: Callable[[Turn], Answer], size: int) -> Answer:
        """Do what `work` records, then raise if that has suspended the experiment."""
        answer, suspends = self._journal.transact(lambda turn: (work(turn), turn.suspends), size or 1)
        if suspends:
            with self._journal.reading() as state:
                error = SuspendedError(
                    f"experiment {self.name!r} is suspended: {suspension(state)}; what was told is recorded."
                )
                what, right = misfit(state)
                error.unstored = f"{what}; correct the arm, or run again with {right}."
            raise error
        return answer

    def _hold(self, state: State) -> Hold | None:
        """What the decision waits for."""
        pull = state.awaited
        if pull is None:
            return None
        item = state.open[pull]
        since, renewed = self._journal.lease_of(pull)
        until = item.deadline if renewed is None or item.deadline is None else max(renewed, item.deadline)
        return Hold(pull, self.settings.arms[item.arm], item.worker, since, until, item.out)

    def _number(self, pull: int | Pull) -> int:
        if isinstance(pull, Pull):
            if pull.seed != pull_seed(self.settings.seed, pull.id):
                raise InvalidInputError(
                    f"pull {pull.id} belongs to another experiment, not to {self.name!r}; tell it there."
                )
            return pull.id
        return _args.whole("a pull", pull, 1, 2**53, "give the id of a pull that ask issued")


def _take_back(turn: Turn, whose: Callable[[str | None], bool]) -> int:
    """Let the pending pulls of some workers lapse; returns how many."""
    out = [pull for pull, item in turn.state.open.items() if item.out and whose(item.worker)]
    out = [pull for pull in out if pull not in turn.state.violated]
    for pull in out:
        turn.record(Entry(events.LAPSED, pull, turn.state.open[pull].arm, data={"reclaimed": True}))
    return len(out)


def _why_none(state: State) -> str:
    """Why nothing is issued, if nothing is."""
    if state.over:
        return "decided" if state.decision is not None else "stopped"
    return "used up" if state.used_up and not state.waits else "wait"


def _kept_known(store: Store, name: str, arms: Any) -> Known | None:
    """The scores that a stored experiment keeps of arms that are not among those that are given."""
    try:
        known = recall_known(_stored_record(store, name).get("known"))
        return None if known is None or any(arm in known.arms for arm in arms) else known
    except (InvalidInputError, LookupError, TypeError, ValueError, AttributeError):
        return None  # there is none; or it cannot be read, which is said when it is resumed


def _stored_record(store: Store, name: str) -> dict[str, Any]:
    with store.reading(name) as log:
        return dict(log.first().data or {})
