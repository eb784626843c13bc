"""`race`: which of several functions is the fastest? Rounds in random order, until the answer is proven.

Times have no bounds and no known scale, so the arms of an experiment with `compare="wins"` race: in every
round each one that may still be the fastest is measured once, one after the other, and who was faster counts.
"""

from __future__ import annotations

import math
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, Unpack

import numpy as np

from .. import _args
from .._signature import spelled_out
from ..errors import ArmError, InvalidInputError
from ..experiment.checks import seconds
from ..experiment.experiment import Experiment
from ..experiment.pulls import Pull
from .result import Result
from .run import named_functions
from .standings import Lap, Race
from .view import View

Measure = Callable[[], Lap]
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
LEAST = 0.02  # seconds that a measurement takes at least, if the number of calls is chosen
NUMBERS = (1, 2, 5)  # times powers of ten, as timeit has it
MOST_ROUNDS = 10**9
_REMEDY = "fix it, or let failures count as losses (ignore_failure=True, --ignore-failure)"


class OutOfTimeError(Exception):
    """Raised by what measures when the race has no time left for it."""


class Options(TypedDict, total=False):
    """What `race` takes besides the functions, delta and how they are called; see there."""

    warmup: int
    measure: str
    tolerance: float | None
    handicap: Mapping[str, float] | None
    max_rounds: int | None
    timeout: float | None
    ignore_failure: bool
    direct: bool
    rng: int | np.random.Generator | None
    progress: bool | None


class RaceRun:
    """One race of whatever can be measured.

    measures  name -> function that measures once; it may raise `OutOfTimeError`
    numbers   how many calls a measurement has, where functions race
    """

    def __init__(
        self,
        measures: Mapping[str, Measure],
        delta: float | None = None,
        numbers: dict[str, int] | None = None,
        *,
        warmup: int = 1,
        measure: str = "wall",
        tolerance: float | None = None,
        handicap: Mapping[str, float] | None = None,
        max_rounds: int | None = None,
        timeout: float | None = None,
        ignore_failure: bool = False,
        direct: bool = False,
        rng: int | np.random.Generator | None = None,
        progress: bool | None = None,
    ) -> None:
        self.measures, self.numbers = dict(measures), numbers
        self.warmup = _args.whole("warmup", warmup, 0, 10**6, "it is how many runs of each do not count")
        self.measure = _args.choice("measure", measure, tuple(CLOCKS))
        self.factors = _factors(handicap, tuple(measures))
        self.timeout = None if timeout is None else seconds("timeout", timeout)
        self.max_rounds = MOST_ROUNDS
        if max_rounds is not None:
            advice = "it is how many rounds there may be"
            self.max_rounds = _args.whole("max_rounds", max_rounds, 1, MOST_ROUNDS, advice)
        self.ignore_failure, self.direct, self.progress = ignore_failure, direct, progress
        if isinstance(rng, np.random.Generator):
            rng = int(rng.integers(2**53))
        self.experiment = Experiment.create(
            *("memory:", "race", measures, delta),
            compare="wins",
            direct=direct,
            minimize=True,
            tolerance=tolerance,
            seed=rng,
            lease=None,
        )
        self.laps: dict[str, list[Lap]] = {name: [] for name in measures}
        self.begun = time.monotonic()

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return math.inf if self.timeout is None else self.begun + self.timeout - time.monotonic()

    def run(self) -> Race:
        """Measure round after round, to the end."""
        self.begun = time.monotonic()
        with View(self.experiment, self.progress, None) as view:
            try:
                self._warm_up()
                ended = self._measure_rounds(view)
            except OutOfTimeError:
                ended = "timeout"
        taken = time.monotonic() - self.begun
        result = Result.of(self.experiment.status(), ended=ended, seconds=taken, resumed=0)
        laps = {name: tuple(each) for name, each in self.laps.items()}
        return Race(result, laps, self.measure, self.direct, self.numbers, self.factors)

    def _warm_up(self) -> None:
        for name, measure in self.measures.items():
            for _ in range(self.warmup):
                lap = measure()
                if lap.failed and not (self.ignore_failure or lap.late):
                    raise ArmError(f"{name!r} failed in its warm-up: {lap.failed}; {_REMEDY}.")

    def _measure_rounds(self, view: View) -> str:
        """Why it ended."""
        while not self.experiment.decided:
            pull = self.experiment.ask()[0]
            if (pull.round or 0) > self.max_rounds:
                return "max_rounds"
            if self.left <= 0.0:
                return "timeout"
            self._take(pull, self.measures[pull.arm]())
            view.update()
        return "decided"

    def _take(self, pull: Pull, lap: Lap) -> None:
        self.laps[pull.arm].append(lap)
        if not lap.failed:
            self.experiment.tell(pull, self.factors[pull.arm] * getattr(lap, self.measure))
        elif self.ignore_failure or lap.late:
            self.experiment.fail(pull, lap.failed)
        else:
            raise ArmError(f"{pull.arm!r} failed in round {pull.round}: {lap.failed}; {_REMEDY}.")


@spelled_out(Options.__annotations__, like=RaceRun)
def race(
    functions: Mapping[str, Callable[[], Any]] | Sequence[Callable[[], Any]],
    delta: float | None = None,
    *,
    number: int | str = "auto",
    **options: Unpack[Options],
) -> Race:
    """Find the fastest of several functions, wrong with probability at most delta.

    Fastest means faster than each other one in more than half of all rounds: not the smallest mean. Times may
    have any distribution and drift from round to round, with a tolerance by a common factor; it is assumed
    that no function slows down the next one more than others would.

    Parameters
    ----------
    functions
        name -> function without arguments; what it returns is not used
    delta
        the accepted probability of a wrong answer; default 0.05
    number
        calls per measurement: "auto" takes so many that a measurement lasts 20 ms or more
    warmup
        measurements of each function before the race that do not count
    measure
        "wall", time by the clock; or "cpu", time of the processor
    handicap
        name -> factor by which its times count longer: with {"old": 1.1} another one that wins is faster than
        1.1 times old, and where old wins the other one is slower than that
    tolerance
        0.05: what takes at most 1.05 times as long as the fastest is good enough
    max_rounds
        give up after so many rounds
    timeout
        give up after so many seconds; a call that is under way is not interrupted
    direct
        also find out that there is no fastest one, if who beats whom goes round in a circle
    ignore_failure
        a function that raises loses the round; otherwise it ends the race
    rng
        a seed or a generator, for the order within the rounds
    progress
        show the live view; by default on a terminal and in a notebook

    Returns
    -------
    Race
        its `best` is None if a budget ran out first, or there is none

    Raises
    ------
    InvalidInputError
    ArmError
    """
    _args.known_arguments("race", options, tuple(Options.__annotations__))
    named = named_functions(functions)
    clock = CLOCKS[_args.choice("measure", options.get("measure", "wall"), tuple(CLOCKS))]
    calls = None
    if not isinstance(number, str):
        calls = _args.whole("number", number, 1, 10**12, "it is how many calls a measurement has")
    elif number != "auto":
        raise InvalidInputError(
            f"number must be 'auto' or how many calls a measurement has, got {number!r}; leave it out."
        )
    timers = {name: timeit.Timer(one, timer=clock) for name, one in named.items()}
    numbers: dict[str, int] = {}
    for name, timer in timers.items():
        try:
            numbers[name] = calls or _number(timer)
        except Exception as error:
            raise ArmError(f"{name!r} failed before the race ({_said(error)}); fix it.") from error
    measures = {name: _timed(timer, numbers[name], clock) for name, timer in timers.items()}
    return RaceRun(measures, delta, numbers, **options).run()


def _factors(handicap: Mapping[str, float] | None, names: tuple[str, ...]) -> dict[str, float]:
    factors = dict.fromkeys(names, 1.0)
    for name, given in (handicap or {}).items():
        if name not in factors:
            raise InvalidInputError(
                f"handicap has no competitor {_args.short(name)}; name one of {', '.join(names[:8])}."
            )
        factors[name] = _args.scalar("handicap", given)
        if not 0.0 < factors[name] < 1e6:
            raise InvalidInputError(
                f"a handicap must be a positive factor, got {given:g}; with 1.1 a time counts 1.1 times."
            )
    return factors


def _number(timer: timeit.Timer) -> int:
    """How many calls take LEAST seconds."""
    size = 1
    while True:
        for part in NUMBERS:
            if timer.timeit(size * part) >= LEAST:
                return size * part
        size *= 10


def _timed(timer: timeit.Timer, number: int, clock: Callable[[], float]) -> Measure:
    """Time one call, from so many of them, without garbage collection, as timeit does."""

    def measured() -> Lap:
        try:
            took = timer.timeit(number) / number
        except Exception as error:
            return Lap(math.nan, failed=_said(error))
        return Lap(took) if clock is CLOCKS["wall"] else Lap(math.nan, user=took)

    return measured


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
