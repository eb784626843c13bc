"""`simulate`: many runs on several threads, with progress, and an interruption that does not bias."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _door
from .._door import Array
from ..errors import InvalidInputError
from ..strategies import Strategy, find_strategy
from ..strategies._admit import kernel_of, raised_by
from ..theory.models import Model
from ..theory.stopping import StoppingRule
from . import engine
from .memory import room_for
from .problem import Problem, make_problem
from .progress import Progress, Reporter
from .results import Cell, Simulation
from .threads import interruptible

Indices = npt.NDArray[np.int64]

CHUNK_SECONDS = 0.05  # how long a thread works before it reports; the next chunk is sized by the last


class Room(NamedTuple):
    """What one thread works in: space for one run, the pulls of its runs together, and its signals."""

    state: Array
    memory: Array
    streams: npt.NDArray[np.uint64]
    ended: Array
    pulls: Array
    signals: Indices


def simulate(
    strategies: str | Strategy | Sequence[str | Strategy],
    means: npt.ArrayLike | None = None,
    delta: float | Sequence[float] = 0.05,
    *,
    runs: int = 1000,
    seed: int = 0,
    rewards: str | Sequence[npt.ArrayLike] = "gaussian",
    noise: npt.ArrayLike = 1.0,
    sigma: float | Sequence[float] | None = None,
    model: Model | None = None,
    stopping: str | StoppingRule = "practical",
    tolerance: float = 0.0,
    max_samples: int | None = None,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Simulation:
    """Run strategies many times on one bandit and report how many samples they take and how often they err.

    strategies   names, as `bestarm simulate --help` lists them, or strategies
    means        (K,); left out if rewards are values
    delta        one risk or several; strategies that do not depend on it serve all from one trajectory
    runs, seed   run i is a function of (seed, i) alone, and all strategies see the same rewards in it
    rewards      "gaussian", "uniform" (mean ± noise), "beta" (in [0, 1], of standard deviation noise), or
                 "bernoulli", "poisson", "exponential", which do not use noise; or, for each arm, values such
                 as those of a pilot, from which rewards are drawn with replacement
    noise        standard deviation or half-width of the rewards, one number or one per arm
    model        what strategies and stopping rule assume of a reward, such as Gaussian(sigma) or Bernoulli()
    sigma        short for model=Gaussian(sigma), one number or one per arm; by default the largest noise or
                 standard deviation of the values, Bounded(0, 1) for Bernoulli and beta, Poisson() and
                 Exponential() for these
    stopping     name of a stopping rule, or a rule
    tolerance    how far below the best a recommendation may be: then it is right, and a run may stop sooner
    max_samples  cut a run off there; it then counts at max_samples, and the mean is a lower bound
    threads      by default one per available core; the result does not depend on it
    progress     True or False, or a function of (done, total); by default a bar if stderr is a terminal
    Returns      Simulation; after Ctrl-C with the runs up to the first incomplete one, marked incomplete
    Raises       InvalidInputError
    """
    problem = make_problem(means, delta, rewards, noise, sigma, model, stopping, max_samples, tolerance)
    chosen = _strategies(strategies)
    for one in chosen:
        refuse_stalling(one, problem)
    num_runs = _door.whole("runs", runs, 1, 10**9, "more runs give a smaller standard error")
    key = _door.whole(
        "seed", seed, 0, 2**64 - 1, "any number will do, and the same one gives the same result"
    )
    workers = _threads(threads)
    with room_for(num_runs, len(chosen) * len(problem.deltas)):
        jobs = [job for one in chosen for job in _jobs(one, problem, num_runs, key)]
        with Reporter(progress, sum(job.num_runs for job in jobs)) as reporter:
            for job in jobs:
                if not job.run(workers, reporter):
                    break
        cells = {(id(job.strategy), delta): cell for job in jobs for delta, cell in job.cells()}
    return Simulation(tuple(cells[id(one), delta] for one in chosen for delta in problem.deltas))


@dataclass
class Job:
    """The runs of one strategy that share trajectories: all risks, or one."""

    strategy: Strategy
    problem: Problem
    deltas: tuple[float, ...]
    num_runs: int
    seed: int
    samples: Indices = field(init=False)
    recommended: Indices = field(init=False)
    chunks: list[tuple[int, int, Array]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        K = self.problem.num_arms
        rule = self.problem.rule.applied(K, self.problem.tolerance, self.strategy.stops_itself)
        self.deltas = tuple(sorted(self.deltas, reverse=True))
        model = self.problem.model.placed(self.problem.offset)
        self.levels = np.array([rule.level_for(model, K, delta) for delta in self.deltas])
        head = rule.parameters(model, K, self.deltas[0], self.problem.tolerance)
        placed = self.strategy.placed(self.problem.offset)
        self.params = np.concatenate([head, placed.parameters(K, model.unit)])
        self.blank = rule.blank(model, K)
        self.samples = np.zeros((self.num_runs, len(self.deltas)), dtype=np.int64)
        self.recommended = np.full((self.num_runs, len(self.deltas)), -1, dtype=np.int64)
        self.select = kernel_of(self.strategy)
        self.signals = np.zeros((1, engine.SIGNALS), dtype=np.int64)
        self.lock = threading.Lock()
        self.next_run, self.chunk = 0, 1

    def run(self, workers: int, reporter: Reporter) -> bool:
        """Do all runs; False if interrupted."""
        self.signals = np.zeros((workers, engine.SIGNALS), dtype=np.int64)
        return self.interruptible([partial(self._work, thread, reporter) for thread in range(workers)])

    def interruptible(self, tasks: Sequence[Callable[[], None]]) -> bool:
        """Run tasks, one per row of the signals, each in a thread; False if interrupted."""
        limited = np.isfinite(self.problem.max_samples)
        return interruptible(tasks, self.signals, None if limited else self.strategy.name)

    def room(self, thread: int = 0) -> Room:
        """Room for one of the threads."""
        K = self.problem.num_arms
        return Room(
            np.empty_like(self.blank),
            np.empty((len(self.strategy.rows), K)),
            np.empty((K + 1, 2), dtype=np.uint64),
            np.empty((len(self.deltas), K)),
            np.zeros((len(self.deltas), K)),
            self.signals[thread],
        )

    def simulate(self, first: int, room: Room, samples: Indices, arms: Indices) -> tuple[int, int, int]:
        """As many runs from `first` on as there are rows in `samples`; see `engine.simulate_runs`."""
        arguments = *self._arguments(first, room, samples, arms), room.pulls, room.signals
        with self._calling():
            return engine.simulate_runs(*arguments)

    def record(self, run: int, room: Room, record: Array) -> None:
        """One run step by step; see `engine.record_run`."""
        arguments = *self._arguments(run, room, self.samples, self.recommended), record
        with self._calling():
            engine.record_run(*arguments)

    def _arguments(self, run: int, room: Room, samples: Indices, arms: Indices) -> tuple[Any, ...]:
        """What both loops of the engine begin with."""
        p, key = self.problem, np.uint64(self.seed)
        nature = (run, key, *p.source)
        assumed = (self.levels, p.max_samples, self.params, self.blank)
        space = (room.state, room.memory, room.streams, samples, arms, room.ended)
        return (self.select, self.strategy.stops_itself, *nature, *assumed, *space)

    @contextmanager
    def _calling(self) -> Iterator[None]:
        # Uncompiled, the generator's arithmetic modulo 2**64 would warn.
        with np.errstate(all="ignore"), raised_by(self.strategy):
            yield

    def _work(self, thread: int, reporter: Reporter) -> None:
        """One thread: take the next runs, until there are none."""
        room = self.room(thread)
        while True:
            with self.lock:
                first = self.next_run
                size = min(self.chunk, self.num_runs - first)
                self.next_run += size
            if size <= 0 or room.signals[engine.CANCEL]:
                return
            room = room._replace(pulls=np.zeros_like(room.pulls))
            part = slice(first, first + size)
            start = time.perf_counter()
            status, done, action = self.simulate(first, room, self.samples[part], self.recommended[part])
            taken = time.perf_counter() - start
            if status == engine.BAD:
                self.signals[:, engine.CANCEL] = 1
                raise bad_action(self.strategy, action, first + done, self.problem.num_arms)
            with self.lock:
                self.chunks.append((first, done, room.pulls))
                wanted = int(size * CHUNK_SECONDS / max(taken, 1e-6)) + 1
                self.chunk = max(1, min(wanted, 2 * self.chunk, 1 + self.num_runs // 16))
                reporter.add(done)

    def cells(self) -> list[tuple[float, Cell]]:
        """What the complete runs found, up to the first run that is missing."""
        K = self.problem.num_arms
        runs, pulls = 0, np.zeros((len(self.deltas), K))
        for first, done, part in sorted(self.chunks, key=lambda chunk: chunk[0]):
            if first != runs:
                break
            runs += done
            pulls += part
        return [
            (
                delta,
                Cell(
                    self.strategy.name,
                    delta,
                    self.problem.rule.name,
                    self.samples[:runs, j].copy(),
                    self.recommended[:runs, j].copy(),
                    pulls[j] / max(runs, 1),
                    self.problem.best,
                    self.seed,
                    runs == self.num_runs,
                ),
            )
            for j, delta in enumerate(self.deltas)
        ]


def _jobs(strategy: Strategy, problem: Problem, runs: int, seed: int) -> list[Job]:
    rule = problem.rule.applied(problem.num_arms, problem.tolerance, strategy.stops_itself)
    alone = strategy.uses_delta or rule.eliminates
    groups = [(delta,) for delta in problem.deltas] if alone else [problem.deltas]
    return [Job(strategy, problem, group, runs, seed) for group in groups]


def bad_action(strategy: Strategy, action: int, run: int, num_arms: int) -> InvalidInputError:
    """The refusal of an invalid action, or of a stop without stops_itself."""
    if num_arms <= action < 2 * num_arms:
        return InvalidInputError(
            f"the strategy {strategy.name!r} stopped in run {run}, which is allowed only with "
            f"stops_itself=True, in place of the stopping rule; set that, or return an arm."
        )
    return InvalidInputError(
        f"the strategy {strategy.name!r} returned {action} in run {run}; it must return an arm from 0 to "
        f"{num_arms - 1}, ~arm to skip the check for stopping, or {num_arms} + arm to stop."
    )


def refuse_stalling(strategy: Strategy, problem: Problem) -> None:
    """Refuse what may run for ever: an arm is left alone with too little evidence for a growing threshold."""
    largest = max(problem.deltas)
    evidence = strategy.evidence_left(problem.num_arms, largest)
    if evidence is None or np.isfinite(problem.max_samples):
        return
    if not problem.rule.met_for_long(evidence, problem.num_arms, largest):
        raise InvalidInputError(
            f"{strategy.name} may stop pulling an arm for good while the threshold of "
            f"{problem.rule.name} keeps growing, so at delta {largest:g} a run may never end; give "
            f"max_samples."
        )


def _strategies(given: str | Strategy | Sequence[str | Strategy]) -> list[Strategy]:
    items = list(given) if isinstance(given, list | tuple) else [given]
    chosen = [find_strategy(item) for item in items]  # type: ignore[arg-type]
    names = [one.name for one in chosen]
    if not chosen or len(set(names)) != len(names):
        raise InvalidInputError(
            f"strategies must be one or more different ones, got {names}; give each once, and different "
            f"names to your own."
        )
    return chosen


def _threads(given: int | None) -> int:
    if given is not None:
        return _door.whole("threads", given, 1, 4096, "leave it out to use every available core")
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
