"""`identify` and `aidentify`: pull the arms, stop as soon as the answer is certain enough, return it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from ..errors import ArmError, InvalidInputError
from ..strategies import Strategy
from ..theory import _door
from ..theory.stopping import StoppingRule
from .experiment import Experiment, Pull
from .result import Result
from .settings import DEFAULT_STRATEGY, seconds
from .status import Status
from .store._base import Store
from .view import View, check_progress

Arm = Callable[..., Any]
OnError = str | Callable[[Pull, BaseException], float | None]
Callback = Callable[[Status], object]

POLICIES = ("raise", "retry")
MOST_WORKERS = 10_000
MOST_TRIES = 10  # of one pull, under on_error="retry", before the run is given up
LEASE = 86_400.0  # a run takes the pulls of a dead one back by itself; this is for other workers
POLL = 0.2  # seconds between looks at a store where others have the pulls that are needed


class Options(TypedDict, total=False):
    """What `aidentify` takes beside the arms, delta and workers; `identify` explains it."""

    sigma: float | None
    bounds: tuple[float, float] | None
    strategy: str | Strategy
    stopping: str | StoppingRule
    minimize: bool
    max_samples: int | None
    timeout: float | None
    pull_timeout: float | None
    rng: int | np.random.Generator | None
    on_error: OnError
    store: str | Store
    name: str
    about: Mapping[str, str] | None
    order: str
    callbacks: Iterable[Callback]
    progress: bool | None


def identify(
    arms: Mapping[str, Arm] | Sequence[Arm],
    delta: float = 0.05,
    *,
    sigma: float | None = None,
    bounds: tuple[float, float] | None = None,
    strategy: str | Strategy = DEFAULT_STRATEGY,
    stopping: str | StoppingRule = "mixture",
    minimize: bool = False,
    max_samples: int | None = None,
    timeout: float | None = None,
    pull_timeout: float | None = None,
    workers: int | Executor = 1,
    rng: int | np.random.Generator | None = None,
    on_error: OnError = "raise",
    store: str | Store = "memory:",
    name: str = "identify",
    about: Mapping[str, str] | None = None,
    order: str = "ask",
    callbacks: Iterable[Callback] = (),
    progress: bool | None = None,
) -> Result:
    """Find the best of several noisy options, wrong with probability at most delta.

    arms          name -> function that returns one value; a function with an argument `rng` is given a
                  generator of its own for every pull, one with an argument `pull` the `Pull` itself
    delta         the accepted probability of a wrong answer
    sigma         the known standard deviation (sub-Gaussian scale) of one value; or else
    bounds        (lo, hi) that every value respects
    strategy, stopping, minimize, order   as in `Experiment.create`
    max_samples   give up after so many samples, in all
    timeout       give up after so many seconds
    pull_timeout  seconds after which one pull counts as failed
    workers       how many pulls at a time, each in a thread; or an executor of concurrent.futures
    rng           a seed or a generator: makes the run reproducible
    on_error      when an arm raises or returns no finite number: "raise" stops, "retry" repeats the same
                  pull, a function of (pull, error) may return a value, or None to repeat the pull
    store, name   where to keep the run; the same call with the same store and name takes it up again
    about         arm -> what it is, kept with the run: another text for an arm is refused later
    callbacks     functions of the `Status`, called when results are in: after each one, with one worker
    progress      show the live view; by default on a terminal and in a notebook
    Returns       Result; its `best` is None if a budget ran out first
    Raises        InvalidInputError, StoreError, ArmError, SuspendedError
    """
    submit, width = _workers(workers, timeout is not None or pull_timeout is not None)
    run = _Run(
        arms,
        delta,
        width,
        sigma=sigma,
        bounds=bounds,
        strategy=strategy,
        stopping=stopping,
        minimize=minimize,
        max_samples=max_samples,
        timeout=timeout,
        pull_timeout=pull_timeout,
        rng=rng,
        on_error=on_error,
        store=store,
        name=name,
        about=about,
        order=order,
        callbacks=callbacks,
        progress=progress,
    )
    try:
        with run.view as view:
            while run.goes_on():
                for pull in run.to_start():
                    run.start(pull, submit(run.functions[pull.arm], **run.arguments(pull)))
                if run.flights:
                    concurrent.futures.wait(run.futures(), run.patience(), FIRST_COMPLETED)
                elif run.goes_on():
                    time.sleep(POLL)
                run.collect()
                view.update()
    finally:
        for future in run.futures():
            future.cancel()  # what has not begun never will
    return run.result()


async def aidentify(
    arms: Mapping[str, Arm] | Sequence[Arm],
    delta: float = 0.05,
    *,
    workers: int = 1,
    **options: Unpack[Options],
) -> Result:
    """`identify` for asynchronous arms: `workers` of them are awaited at a time; the options are the same."""
    width = _door.whole("workers", workers, 1, MOST_WORKERS, "it is how many pulls are awaited at a time")
    run = _Run(arms, delta, width, True, **options)
    try:
        with run.view as view:
            while run.goes_on():
                for pull in run.to_start():
                    run.start(
                        pull, asyncio.ensure_future(_awaited(run.functions[pull.arm], run.arguments(pull)))
                    )
                if run.flights:
                    await asyncio.wait(run.futures(), timeout=run.patience(), return_when=FIRST_COMPLETED)
                elif run.goes_on():
                    await asyncio.sleep(POLL)
                run.collect()
                view.update()
    finally:
        for task in run.futures():
            task.cancel()
        await asyncio.gather(*run.futures(), return_exceptions=True)
    return run.result()


async def _awaited(function: Arm, arguments: dict[str, Any]) -> Any:
    value = function(**arguments)
    return await value if inspect.isawaitable(value) else value


class _Flight(NamedTuple):
    """A pull that is under way."""

    pull: Pull
    future: Any
    begun: float


class _Run:
    """What the two loops share: the budgets, the pulls that are running, what becomes of their outcome."""

    def __init__(
        self,
        arms: Mapping[str, Arm] | Sequence[Arm],
        delta: float,
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
        callbacks: Iterable[Callback] = (),
        progress: bool | None = None,
        **settings: Any,
    ) -> None:
        self.functions = _functions(arms)
        self.takes = {arm: _accepts(arm, function, asynchronous) for arm, function in self.functions.items()}
        self.begun = time.monotonic()
        self.timeout = None if timeout is None else seconds("timeout", timeout)
        self.pull_timeout = None if pull_timeout is None else seconds("pull_timeout", pull_timeout)
        self.max_samples = None
        if max_samples is not None:
            advice = "it is how many samples a run may take, at least one per arm"
            self.max_samples = _door.whole("max_samples", max_samples, len(self.functions), 2**53, advice)
        self.on_error = on_error if callable(on_error) else _door.choice("on_error", on_error, POLICIES)
        self.callbacks = tuple(callbacks)
        check_progress(progress)
        self.width = width
        self.flights: dict[int, _Flight] = {}
        self.tries: dict[int, int] = {}
        self.exhausted = False
        if isinstance(rng, np.random.Generator):
            rng = int(rng.integers(2**53))
        self.experiment = Experiment.create(
            store, name, self.functions, delta, seed=rng, lease=LEASE, **settings
        )
        if self.max_samples is None and self.timeout is None:
            _warn_of_ties(self.experiment)
        before = self.experiment.status()
        self.decided, self.resumed = before.decision is not None, before.samples
        if not self.decided:
            self.experiment.reclaim()
        self.view = View(self.experiment, progress, self.max_samples)

    def goes_on(self) -> bool:
        """Whether there is something left to do."""
        if self.timeout is not None and time.monotonic() - self.begun >= self.timeout:
            return False
        return not self.decided and (bool(self.flights) or not self.exhausted)

    def to_start(self) -> list[Pull]:
        """Pulls for the workers that are free."""
        free = self.width - len(self.flights)
        if free <= 0 or self.decided:
            return []
        pulls, self.exhausted = self.experiment._ask_within(free, self.max_samples)
        self.decided = self.experiment.decided  # perhaps by somebody else
        return [pull for pull in pulls if pull.id not in self.flights]

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
        self.flights[pull.id] = _Flight(pull, future, time.monotonic())

    def futures(self) -> list[Any]:
        """Of all pulls that are under way."""
        return [flight.future for flight in self.flights.values()]

    def patience(self) -> float | None:
        """How long to wait for results before something else is due."""
        now = time.monotonic()
        due = [POLL] if self.view.shown else []
        if self.timeout is not None:
            due.append(self.begun + self.timeout - now)
        if self.pull_timeout is not None:
            first = min(flight.begun for flight in self.flights.values())
            due.append(first + self.pull_timeout - now)
        return max(0.0, min(due)) if due else None

    def collect(self) -> None:
        """Tell what is there, and fail what took too long."""
        told: list[tuple[Pull, float]] = []
        problem: BaseException | None = None
        for flight in [f for f in self.flights.values() if f.future.done() or self._overdue(f)]:
            pull = self.flights.pop(flight.pull.id).pull
            try:
                value = self._outcome(pull, flight.future)
            except BaseException as error:  # raised below, when the others' values are safe
                problem = problem or error
                continue
            if value is not None:
                told.append((pull, value))
        if told:
            self.experiment.tell(told)
            self.decided = self.experiment.decided
        if problem is not None:
            raise problem
        if told:
            for callback in self.callbacks:
                callback(self.experiment.status())

    def result(self) -> Result:
        """What was found, and why the run ended."""
        ended = "decided" if self.decided else "max_samples" if self.exhausted else "timeout"
        return self.experiment._result(ended, time.monotonic() - self.begun, self.resumed)

    def _overdue(self, flight: _Flight) -> bool:
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
            return self.experiment._check_value(value)
        except InvalidInputError:
            return self._failed(pull, ValueError(f"it returned {_door.short(value)}, no finite number"))

    def _failed(self, pull: Pull, error: Exception) -> float | None:
        """None if the pull is to be repeated; the log counts it in any case."""
        reason = f"{type(error).__name__}: {error}"
        self.experiment.fail(pull, reason)
        self.tries[pull.id] = self.tries.get(pull.id, 0) + 1
        if callable(self.on_error):
            value = self.on_error(pull, error)
            if value is not None:
                return self.experiment._check_value(value)
        if self.on_error == "raise":
            raise ArmError(
                f"arm {pull.arm!r} failed in pull {pull.id} ({reason}); mend it, or give on_error='retry' to "
                f"repeat such a pull."
            ) from error
        if self.tries[pull.id] >= MOST_TRIES:
            raise ArmError(
                f"arm {pull.arm!r} failed {MOST_TRIES} times in pull {pull.id} ({reason}); dropping such a "
                f"pull would bias the arm, so mend the arm and run again."
            ) from error
        return None


def _functions(arms: Mapping[str, Arm] | Sequence[Arm]) -> dict[str, Arm]:
    """Name -> function; functions in a list go by their own names."""
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
            f"arms must be functions by name, got {_door.short(bad[0] if bad else arms)}; write "
            f"{{'old': run_old, 'new': run_new}}, with functions that return one value."
        )
    return dict(arms)


def _accepts(arm: str, function: Arm, asynchronous: bool) -> frozenset[str]:
    """Which of rng and pull an arm takes; refuse one that needs other arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a builtin that does not say
        return frozenset()
    if inspect.iscoroutinefunction(function) and not asynchronous:
        raise InvalidInputError(f"arm {arm!r} is asynchronous; use `await bestarm.aidentify(...)` for it.")
    takes = frozenset({"rng", "pull"} & set(signature.parameters))
    try:
        signature.bind(**dict.fromkeys(takes))
    except TypeError as error:
        raise InvalidInputError(
            f"arm {arm!r} must be a function without arguments, or of rng and pull: {error}; wrap it in a "
            f"lambda."
        ) from None
    return takes


def _workers(workers: int | Executor, threads: bool) -> tuple[Callable[..., Future[Any]], int]:
    """How to start a pull, and how many at a time."""
    if isinstance(workers, Executor):
        return workers.submit, getattr(workers, "_max_workers", None) or os.cpu_count() or 1
    advice = "it is how many pulls run at a time; or give an executor of concurrent.futures"
    width = _door.whole("workers", workers, 1, MOST_WORKERS, advice)
    return (_in_a_thread if threads or width > 1 else _at_once), width


def _at_once(function: Arm, **arguments: Any) -> Future[Any]:
    future: Future[Any] = Future()
    try:
        future.set_result(function(**arguments))
    except Exception as error:
        future.set_exception(error)
    return future


def _in_a_thread(function: Arm, **arguments: Any) -> Future[Any]:
    """A thread that may be left behind: one that hangs must not keep the program from ending."""
    future: Future[Any] = Future()

    def work() -> None:
        try:
            value, error = function(**arguments), None
        except BaseException as problem:  # an arm that exits must end the run, not leave it waiting
            value, error = None, problem
        if not future.set_running_or_notify_cancel():
            return  # nobody waits any more
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return future


def _warn_of_ties(experiment: Experiment) -> None:
    strategy = experiment.settings.strategy
    stall = (
        f", and {strategy.name} may leave an arm alone for good" if strategy and strategy.may_stall else ""
    )
    warnings.warn(
        f"neither max_samples nor timeout is given: tied best arms never stop{stall}; give one.",
        stacklevel=4,
    )
