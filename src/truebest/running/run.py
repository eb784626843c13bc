"""What `identify` and `aidentify` share: budgets, pulls under way, and what becomes of their outcome."""

from __future__ import annotations

import inspect
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from .. import _args
from .._signature import callers
from ..designs import Design
from ..errors import ArmError, InvalidInputError, SuspendedError
from ..experiment.checks import check_budget, seconds
from ..experiment.experiment import Experiment
from ..experiment.items import Items
from ..experiment.pulls import Pull
from ..experiment.settings import Shared
from ..experiment.store import Store, open_store
from ..experiment.store._base import backoff
from ..experiment.values import check_value
from ..telling.account import Account
from ..telling.standings import per_arm
from .heart import Heart
from .result import Result
from .view import Progress, View, check_progress

Arm = Callable[..., Any]
OnError = str | Callable[[Pull, BaseException], float | None]
Callback = Callable[[Account], object]

POLICIES = ("raise", "retry")
BARREN = 10  # calls from the beginning, all of which failed, after which a run is given up
MOST_TRIES = 10  # of one pull, under on_error="retry", before the run is given up
FIRST_WAIT, LONGEST_WAIT = 0.1, 10.0  # seconds before a failed pull is repeated; doubled each time
POLL = 0.2  # seconds between looks at a store where others have the pulls that are needed
LOOK = 2.0  # seconds between looks at whether these others are gone


class Flight(NamedTuple):
    """A pull that is under way."""

    pull: Pull
    future: Any
    begun: float


class Run:
    """One call of `identify` or `aidentify`, but for the waiting."""

    def __init__(
        self,
        arms: Mapping[str, Arm] | Sequence[Arm],
        delta: float | None,
        width: int,
        asynchronous: bool = False,
        *,
        max_samples: int | None = None,
        timeout: float | None = None,
        pull_timeout: float | None = None,
        rng: int | np.random.Generator | None = None,
        on_error: OnError = "raise",
        store: str | Store = "memory:",
        name: str = "identify",
        worker: str | None = None,
        callbacks: Iterable[Callback] = (),
        progress: Progress = None,
        allow_failing: bool = False,
        **settings: Unpack[Shared],
    ) -> None:
        self.functions = named_functions(arms)
        self.items = None if settings.get("items") is None else Items(settings["items"])
        given = 0 if self.items is None else 1
        self.takes = {arm: _accepts(arm, one, asynchronous, given) for arm, one in self.functions.items()}
        self.begun = time.monotonic()
        self.timeout = None if timeout is None else seconds("timeout", timeout)
        self.pull_timeout = None if pull_timeout is None else seconds("pull_timeout", pull_timeout)
        self.max_samples = check_budget(max_samples, self.functions)
        self.on_error = on_error if callable(on_error) else _args.choice("on_error", on_error, POLICIES)
        self.allow_failing = allow_failing
        self.barren = dict.fromkeys(self.functions, 0)  # calls of arms that have not given a value yet
        self.callbacks = tuple(callbacks)
        check_progress(progress)
        self.width = width
        self.flights: dict[int, Flight] = {}
        self.failures: dict[int, list[str]] = {}  # per pull, what went wrong
        self.resting: dict[int, tuple[Pull, float]] = {}  # failed, and to be repeated at a time
        self.exhausted = False
        self._looked = self.begun
        if isinstance(rng, np.random.Generator):
            rng = int(rng.integers(2**53))
        if self.items is not None:
            settings["items"] = self.items
        place = open_store(store)
        kept = {"seed": rng, "max_samples": self.max_samples}
        self.experiment = Experiment.create(
            place, name, self.functions, delta, worker=worker, **kept, **settings
        )
        design = self._design()
        self.settles_failures = design.failures != "repeat"
        self.lasting = place.lasting
        self.heart = Heart(self.experiment, place.lasting)
        if self.max_samples is None and self.timeout is None and not design.items:
            _warn_of_ties(self.experiment)
        before = self.experiment.status()
        self.ended, self.resumed = "", before.samples  # how it ended, if it has
        self._look()
        if not self.ended:
            self.experiment.take_over()
        self.view = View(self.experiment, progress, self.max_samples)

    def _design(self) -> Design:
        """What one sample is; refused without the items that arms are called with."""
        settings = self.experiment.settings
        if settings.items is not None and self.items is None:
            raise InvalidInputError(
                f"experiment {self.experiment.name!r} compares arms on {settings.items}; give them again "
                f"(items=), so that the arms can be called with them."
            )
        return settings.design

    def goes_on(self) -> bool:
        """Whether there is something left to do."""
        if self.timeout is not None and time.monotonic() - self.begun >= self.timeout:
            return False
        return not self.ended and (bool(self.flights) or bool(self.resting) or not self.exhausted)

    def to_start(self) -> list[Pull]:
        """Pulls for the workers that are free."""
        free = self.width - len(self.flights) - len(self.resting)
        now = time.monotonic()
        if free > 0 and not self.ended:
            asked, self.exhausted = self.experiment.ask_within(free, self.max_samples)
            self._look()  # somebody else may have ended it
            for pull in asked:
                if pull.id not in self.flights:
                    tries = len(self.failures.get(pull.id, ()))
                    rest = backoff(tries, FIRST_WAIT, LONGEST_WAIT) if tries else 0.0
                    self.resting[pull.id] = pull, now + rest
                    self.heart.hold(pull.id)
        ready = [pull for pull, at in self.resting.values() if at <= now and not self.ended]
        for pull in ready:
            del self.resting[pull.id]
        return ready

    def idle(self) -> None:
        """Nothing can be started, and nothing is under way: others have what is needed, if they live."""
        now = time.monotonic()
        if now - self._looked >= LOOK:
            self._looked = now
            self.experiment.take_over(begins=False)

    def item(self, pull: Pull) -> tuple[Any, ...]:
        """What the arm is called with first: the item, where there are items."""
        return () if self.items is None else (self.items.of(pull, self.experiment.settings.seed),)

    def pause(self) -> float:
        """How long to wait when nothing is under way."""
        return max(0.0, min([POLL, *(at - time.monotonic() for _, at in self.resting.values())]))

    def arguments(self, pull: Pull) -> dict[str, Any]:
        """What the arm is called with, if it takes them: a generator of this pull's own, and the pull."""
        given: dict[str, Any] = {}
        if "rng" in self.takes[pull.arm]:
            given["rng"] = np.random.default_rng([self.experiment.settings.seed, pull.id])
        if "pull" in self.takes[pull.arm]:
            given["pull"] = pull
        return given

    def start(self, pull: Pull, future: Any) -> None:
        """A pull is under way."""
        self.flights[pull.id] = Flight(pull, future, time.monotonic())

    def futures(self) -> list[Any]:
        """Of all pulls that are under way."""
        return [flight.future for flight in self.flights.values()]

    def patience(self) -> float | None:
        """How long to wait for results before something else is due."""
        now = time.monotonic()
        due = [POLL] if self.view.shown else []
        due += [at - now for _, at in self.resting.values()]
        if self.timeout is not None:
            due.append(self.begun + self.timeout - now)
        if self.pull_timeout is not None:
            first = min(flight.begun for flight in self.flights.values())
            due.append(first + self.pull_timeout - now)
        return max(0.0, min(*due, threading.TIMEOUT_MAX)) if due else None

    def collect(self) -> None:
        """Tell what is there, and fail what took too long."""
        told: list[tuple[Pull, float]] = []
        problem: BaseException | None = None
        for flight in [f for f in self.flights.values() if f.future.done() or self._overdue(f)]:
            pull = self.flights.pop(flight.pull.id).pull
            self.heart.release(pull.id)
            try:
                value = self._outcome(pull, flight.future)
            except BaseException as error:  # raised below, when the others' values are safe
                problem = problem or error
                continue
            if value is not None:
                told.append((pull, value))
        if told:
            self._tell(told)
            self._look()
        if problem is not None:
            raise problem
        if told:
            said = [callback(self.experiment.status()) for callback in self.callbacks]
            if any(answer is False for answer in said):
                self.ended = self.ended or "callback"

    def _tell(self, told: list[tuple[Pull, float]]) -> None:
        try:
            self.experiment.tell(told)
        except SuspendedError as error:
            if self.lasting:
                raise
            raise SuspendedError(error.unstored) from None

    def result(self) -> Result:
        """What was found, and why the run ended."""
        now = self.experiment.status()
        if self.settles_failures and not self.allow_failing:
            self._refuse_all_failed(now)
        design = now.settings.design
        ended = self.ended or ("max_samples" if self.exhausted else "timeout")
        if ended == "max_samples" and design.items is not None and now.progress.rounds == design.items:
            ended = "items"
        return Result.of(
            now,
            ended=ended,
            seconds=time.monotonic() - self.begun,
            resumed=self.resumed,
            uniform=self.experiment.uniform_samples(),
        )

    def _look(self) -> None:
        """Whether the experiment is over, as far as this process knows."""
        self.ended = "decided" if self.experiment.decided else "stopped" if self.experiment.stopped else ""

    def _overdue(self, flight: Flight) -> bool:
        return self.pull_timeout is not None and time.monotonic() - flight.begun >= self.pull_timeout

    def _outcome(self, pull: Pull, future: Any) -> float | None:
        """The value of a pull, or what the policy makes of its failure."""
        if not future.done():
            future.cancel()
            return self._failed(pull, TimeoutError(f"no answer within {self.pull_timeout:g} s"))
        error = future.exception()
        if error is not None:
            if not isinstance(error, Exception):
                raise error
            return self._failed(pull, error)
        value = future.result()
        try:
            found = check_value(value, self.experiment.settings)
        except InvalidInputError as error:
            return self._failed(pull, ValueError(str(error).partition("; ")[0]))
        self.barren.pop(pull.arm, None)
        return found

    def _failed(self, pull: Pull, error: Exception) -> float | None:
        """None if the pull is to be repeated; the log counts it in any case."""
        reason = f"{type(error).__name__}: {error}"
        self.experiment.fail(pull, reason)
        shown = str(getattr(error, "shown", error))  # with what is not to be stored
        reason = f"{type(error).__name__}: {shown}" if shown else type(error).__name__
        if self.settles_failures:
            self._look()
            self._count_barren(pull, reason)
            return None
        reasons = self.failures.setdefault(pull.id, [])
        reasons.append(reason)
        if callable(self.on_error):
            value = self.on_error(pull, error)
            if value is not None:
                return check_value(value, self.experiment.settings)
        if self.on_error == "raise":
            raise ArmError(
                f"arm {pull.arm!r} failed in pull {pull.id} ({reason}); fix it, or give on_error='retry' to "
                f"repeat such a pull."
            ) from error
        if len(reasons) >= MOST_TRIES:
            same = f", with the same seed ({pull.seed}) and the same error each time: it is one failure"
            raise ArmError(
                f"arm {pull.arm!r} failed {MOST_TRIES} times in pull {pull.id} ({reason})"
                f"{same if len(set(reasons)) == 1 else ''}; dropping such a pull would bias the arm, so fix "
                f"the arm and run again."
            ) from error
        self._count_barren(pull, reason)
        return None

    def _count_barren(self, pull: Pull, reason: str) -> None:
        """Give up if an arm, or all of them, has failed from the beginning: what that finds is not meant."""
        if pull.arm in self.barren:
            self.barren[pull.arm] += 1
        count = self.barren.get(pull.arm, 0)
        if count >= BARREN and not self.allow_failing:
            raise ArmError(
                f"arm {pull.arm!r} failed in all of its first {count} calls, the last time with {reason}; "
                f"fix it, or allow_failing=True (--allow-failing) goes on."
            )
        tried = len(self.barren) == len(self.functions) and all(self.barren.values())
        if tried and sum(self.barren.values()) >= BARREN and not self.allow_failing:
            raise self._all_failed(sum(self.barren.values()), reason)

    def _refuse_all_failed(self, now: Account) -> None:
        """Refuse a result, perhaps of an earlier run, for which no call gave a value, or none of some arm."""
        if not any(one.failures for one in now.standings):
            return
        arm_of: dict[int | None, str | None] = {}
        told: set[str | None] = set()
        failed: dict[str | None, list[str]] = {}
        for event in self.experiment.events():
            if event.kind == "asked":
                arm_of[event.pull] = event.arm
            elif event.kind == "told":
                told.add(arm_of[event.pull])
            elif event.kind == "failed":
                failed.setdefault(arm_of[event.pull], []).append(str((event.data or {}).get("reason")))
        if failed and not told:
            raise self._all_failed(sum(map(len, failed.values())), list(failed.values())[-1][-1])
        for arm, reasons in failed.items():
            if self.ended == "decided" and arm not in told:
                raise ArmError(
                    f"arm {arm!r} failed in all of its {len(reasons)} calls, the last time with "
                    f"{reasons[-1]}; nothing is found by that, so fix it, or allow_failing=True "
                    f"(--allow-failing) goes on."
                )

    @staticmethod
    def _all_failed(count: int, reason: str) -> ArmError:
        return ArmError(
            f"all {count} calls failed, the last one with {reason}; nothing is found by that, so fix the "
            f"arms, or allow_failing=True (--allow-failing) goes on."
        )


def named_functions(arms: Mapping[str, Arm] | Sequence[Arm]) -> dict[str, Arm]:
    """Name -> function; functions in a list keep their own names."""
    given: object = arms
    if not isinstance(arms, Mapping):
        try:
            listed = list(arms)
        except TypeError:
            listed = []
        names = [getattr(function, "__name__", f"arm {i + 1}") for i, function in enumerate(listed)]
        if len(set(names)) < len(names) or "<lambda>" in names:
            names = [f"arm {i + 1}" for i in range(len(names))]
        arms = dict(zip(names, listed, strict=True))
    bad = [function for function in arms.values() if not callable(function)]
    if bad or not arms:
        raise InvalidInputError(
            f"arms must be functions by name, got {_args.short(bad[0] if bad else given)}; write "
            f"{{'old': run_old, 'new': run_new}}, with functions that return one value."
        )
    return dict(arms)


def _accepts(arm: str, function: Arm, asynchronous: bool, items: int) -> frozenset[str]:
    """Which of rng and pull an arm takes; refuse one that needs other arguments.

    items  how many arguments come before these: 1 where it is called with an item
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a builtin that does not say
        return frozenset()
    if inspect.iscoroutinefunction(function) and not asynchronous:
        raise InvalidInputError(f"arm {arm!r} is asynchronous; use `await truebest.aidentify(...)` for it.")
    takes = frozenset({"rng", "pull"} & set(signature.parameters))
    try:
        signature.bind(*[None] * items, **dict.fromkeys(takes))
    except TypeError as error:
        wanted = "of an item, and perhaps" if items else "without arguments, or"
        raise InvalidInputError(
            f"arm {arm!r} must be a function {wanted} of rng and pull: {error}; wrap it in a lambda."
        ) from None
    return takes


def _warn_of_ties(experiment: Experiment) -> None:
    strategy, K = experiment.settings.strategy, len(experiment.settings.arms)
    stalls = strategy is not None and strategy.evidence_left(K, experiment.settings.delta) is not None
    stall = f", and {strategy.name} may stop pulling an arm for good" if strategy and stalls else ""
    asked = per_arm(experiment.settings)
    line = "threshold" if asked is not None and asked.of_number else "margin"
    when = "tied best arms" if asked is None else f"an arm that is exactly at the {line}"
    warnings.warn(
        f"neither max_samples nor timeout is given: with {when} a run never ends{stall}; give one.",
        stacklevel=callers(),
    )
