"""`identify` and `aidentify`: pull the arms, stop as soon as the answer is certain enough, return it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future
from functools import partial
from typing import Any, Unpack

import numpy as np

from .. import _args
from .._signature import spelled_out
from ..errors import InvalidInputError
from ..experiment.settings import Shared
from ..experiment.store import Store
from .result import Result
from .run import Arm, Callback, OnError, Run
from .view import Progress

MOST_WORKERS = 10_000


class Options(Shared, total=False):
    """What `identify` and `aidentify` take besides the arms, delta and workers; see `identify`."""

    max_samples: int | None
    timeout: float | None
    pull_timeout: float | None
    rng: int | np.random.Generator | None
    on_error: OnError
    store: str | Store
    name: str
    worker: str | None
    callbacks: Iterable[Callback]
    progress: Progress
    allow_failing: bool


_shown = spelled_out(Options.__annotations__, like=Run)


@_shown
def identify(
    arms: Mapping[str, Arm] | Sequence[Arm],
    delta: float | None = None,
    *,
    workers: int | Executor = 1,
    **options: Unpack[Options],
) -> Result:
    """Find the best of several noisy options, wrong with probability at most delta.

    Parameters
    ----------
    arms
        name -> function that returns one value; a function with an argument `rng` gets a generator of its own
        for every pull, one with an argument `pull` the `Pull` itself
    delta
        the accepted probability of a wrong answer; default 0.05
    sigma
        the known standard deviation (sub-Gaussian scale) of one value, or arm -> sigma; or else
    bounds
        (lo, hi) that every value respects; or else
    model
        what is assumed of a value, such as truebest.Gaussian((1.0, 2.0)), one scale per arm, or
        truebest.Student(), Gaussian values of unknown variances
    strategy, stopping, tolerance, minimize, order, question, control
        as in `Experiment.create`
    items
        compare all arms on the same items; an arm is then called with an item first. A closed set, of which
        each item is used at most once, in random order: a list, the path of a file with one per line, or a
        number; or an unlimited source: a function draw(rng) -> item
    known, proxies
        with items, the scores of arms that are not asked, such as {"old": scores}, and of other models, as in
        `Experiment.create`
    failures
        with items, what counts if an arm gives no value: "repeat" (default) is as `on_error` says, a number
        is its value, "worst" takes the worst for whatever is claimed; with wins "loss"
    sampled
        whether the items of a closed set are a random sample: also say what holds for items like these
    cluster
        a key of the items, or a function of an item: those of a cluster belong together
    weigh, largest
        with clusters, what counts alike, and the size of the largest, as in `Experiment.create`
    epochs
        with items, how often each arm answers an item: its value there is the mean of the answers
    compare
        "means"; or "wins", for values without bounds: the best arm wins against each other one in more than
        half of the rounds that are not ties; tolerance 0.05 allows 1.05 times the best
    direct
        with wins: also find out whether any arm is best, where preferences may be circular
    max_samples
        give up after so many samples in total; `tilt` takes fewer if it knows of that from the beginning. A
        stored run may be resumed with another number
    timeout
        give up after so many seconds
    pull_timeout
        seconds after which one pull counts as failed
    workers
        how many pulls at a time, each in a thread; or an executor of concurrent.futures
    rng
        a seed or a generator: makes the run reproducible
    on_error
        when an arm raises or returns no finite number: "raise" stops, "retry" repeats the same pull after a
        pause, longer each time; a function of (pull, error) may return a value, or None to repeat the pull
    allow_failing
        whether to go on where an arm fails in all of its first ten calls, or in all until the decision;
        without it that is an ArmError with the last failure
    store, name
        where to keep the run; the same call with the same store and name resumes it, and settings that are
        then left out (delta to control, about) are those of the stored run
    worker
        the name of this worker, kept with its pulls; default the host and the process
    about
        arm -> what it is, kept with the run: another text for an arm is refused later
    callbacks
        functions of the `Account`, called when results are in: after each one, with one worker; one that
        returns False ends the run
    progress
        show the live view; by default on a terminal and in a notebook; "lines" for a line on stderr every ten
        seconds

    Returns
    -------
    Result
        its `best` is None if a budget ran out first, a callback or a stop ended the run, or there is no
        winner

    Raises
    ------
    InvalidInputError
    StoreError
    ArmError
    SuspendedError
    """
    _args.known_arguments("identify", options, tuple(Options.__annotations__))
    limited = options.get("timeout") is not None or options.get("pull_timeout") is not None
    submit, width = _workers(workers, limited)
    run = Run(arms, delta, width, **options)
    try:
        with run.heart, run.view as view:
            while run.goes_on():
                for pull in run.to_start():
                    given = run.arguments(pull)
                    run.start(pull, submit(run.functions[pull.arm], *run.item(pull), **given))
                if run.flights:
                    concurrent.futures.wait(run.futures(), run.patience(), FIRST_COMPLETED)
                elif run.goes_on():
                    run.idle()
                    time.sleep(run.pause())
                run.collect()
                view.update()
    finally:
        for future in run.futures():
            future.cancel()  # what has not begun never will
    return run.result()


@_shown
async def aidentify(
    arms: Mapping[str, Arm] | Sequence[Arm],
    delta: float | None = None,
    *,
    workers: int = 1,
    **options: Unpack[Options],
) -> Result:
    """`identify` for asynchronous arms: `workers` of them are awaited at a time; the options are the same."""
    _args.known_arguments("aidentify", options, tuple(Options.__annotations__))
    width = _args.whole("workers", workers, 1, MOST_WORKERS, "it is how many pulls are awaited at a time")
    run = Run(arms, delta, width, True, **options)
    try:
        with run.heart, run.view as view:
            while run.goes_on():
                for pull in run.to_start():
                    awaited = _awaited(run.functions[pull.arm], run.item(pull), run.arguments(pull))
                    run.start(pull, asyncio.ensure_future(awaited))
                if run.flights:
                    await asyncio.wait(run.futures(), timeout=run.patience(), return_when=FIRST_COMPLETED)
                elif run.goes_on():
                    run.idle()
                    await asyncio.sleep(run.pause())
                run.collect()
                view.update()
    finally:
        for task in run.futures():
            task.cancel()
        await asyncio.gather(*run.futures(), return_exceptions=True)
    return run.result()


async def _awaited(function: Arm, item: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
    value = function(*item, **arguments)
    return await value if inspect.isawaitable(value) else value


def _workers(workers: int | Executor, threads: bool) -> tuple[Callable[..., Future[Any]], int]:
    """How to start a pull, and how many at a time."""
    if isinstance(workers, Executor):
        return partial(_by_executor, workers), getattr(workers, "_max_workers", None) or os.cpu_count() or 1
    advice = "it is how many pulls run at a time; or give an executor of concurrent.futures"
    width = _args.whole("workers", workers, 1, MOST_WORKERS, advice)
    return (_in_a_thread if threads or width > 1 else _at_once), width


def _by_executor(workers: Executor, function: Arm, *item: Any, **arguments: Any) -> Future[Any]:
    try:
        return workers.submit(function, *item, **arguments)
    except BrokenExecutor as error:  # an earlier pull took its process along
        future: Future[Any] = Future()
        future.set_exception(error)
        return future
    except RuntimeError as error:
        raise InvalidInputError(
            f"workers must be an executor that takes work, got one that does not ({error}); open another."
        ) from None


def _at_once(function: Arm, *item: Any, **arguments: Any) -> Future[Any]:
    future: Future[Any] = Future()
    try:
        future.set_result(function(*item, **arguments))
    except Exception as error:
        future.set_exception(error)
    return future


def _in_a_thread(function: Arm, *item: Any, **arguments: Any) -> Future[Any]:
    """A thread that may be left behind: one that hangs must not keep the program from ending."""
    future: Future[Any] = Future()

    def work() -> None:
        try:
            value, error = function(*item, **arguments), None
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
