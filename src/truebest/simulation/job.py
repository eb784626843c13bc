"""The runs of one strategy that share trajectories, as a specification: run i is a function of it and of i.

A `Job` has everything that the engine is told, checked and laid out; it holds no results. So any part of its
runs can be done anywhere, in any order, and by whoever holds the job: threads, a GPU, another machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._door import Array
from ..designs.independent import refuse_unmeant
from ..errors import InvalidInputError
from ..kernels import layout
from ..kernels.steps import RIGHT, Room, Source, Task
from ..strategies import Stopped, Strategy
from ..strategies._admit import kernel_of, raised_by
from ..theory.stopping import StoppingRule
from . import engine
from .problem import Problem
from .special import made_for_job

Indices = npt.NDArray[np.int64]


class Workspace(NamedTuple):
    """What one thread works in: room for one run, the pulls of its runs together, and its signals."""

    room: Room
    pulls: Array
    signals: Indices


class Part(NamedTuple):
    """Some consecutive runs.

    first    the number of the first
    samples  (runs, risks) how many samples each took
    arms     (runs, risks) the arm that each recommended; where it was cut off, -2 less the arm that led, or
             -1 where none is known
    pulls    (risks, K) the pulls of all of them together
    """

    first: int
    samples: Indices
    arms: Indices
    pulls: Array

    @property
    def runs(self) -> int:
        """How many runs."""
        return len(self.samples)


@dataclass
class Job:
    """The runs of one strategy on one bandit: at all risks, if they share trajectories, or at one."""

    strategy: Strategy
    problem: Problem
    deltas: tuple[float, ...]
    seed: int

    def __post_init__(self) -> None:
        refuse_unmeant(self.problem.question, self.strategy)
        K, rule = self.problem.num_arms, _rule(self.strategy, self.problem)
        self.deltas = tuple(sorted(self.deltas, reverse=True))
        model = self.problem.model.placed(self.problem.offset)
        self.levels = np.array([rule.asked_level(model, K, delta) for delta in self.deltas])
        head = rule.parameters(model, K, self.deltas[0], self.problem.tolerance)
        placed = self.strategy.placed(self.problem.offset)
        self.params = np.concatenate([head, placed.parameters(K, model.unit)])
        self.shown = self.params.copy()  # for a run that is recorded
        self.params[layout.DECIDES] = 1.0
        self.blank, self.truth = rule.blank(model, K), self.problem.means / model.unit
        self.select = kernel_of(self.strategy)

    def __reduce__(self) -> tuple[type[Job], tuple[object, ...]]:
        return Job, (self.strategy, self.problem, self.deltas, self.seed)  # for another process

    @property
    def name(self) -> str:
        """What tables call the strategy."""
        return self.strategy.name

    @property
    def rule_name(self) -> str:
        """What tables call the rule."""
        return self.problem.rule.name

    @property
    def num_arms(self) -> int:
        """How many arms."""
        return self.problem.num_arms

    @property
    def best(self) -> frozenset[int]:
        """The answers that are right: arms, or `RIGHT`."""
        return frozenset({RIGHT}) if self.problem.question.by_claims else self.problem.best

    @property
    def endless(self) -> str | None:
        """What may never end, for a warning; None where runs are cut off."""
        return None if np.isfinite(self.problem.max_samples) else self.strategy.name

    @property
    def task(self) -> Task:
        """What decides."""
        levels, params = constant(self.levels), constant(self.params)
        return Task(self.strategy.stops_itself, levels, float(self.problem.max_samples), params)

    @property
    def source(self) -> Source:
        """What runs begin with and draw from."""
        family, nature, pool = self.problem.source
        given = constant(nature), constant(pool), constant(self.blank), constant(self.truth)
        return Source(np.uint64(self.seed), family, *given)

    def room(self, signals: Indices | None = None) -> Workspace:
        """Room for one thread."""
        K, levels = self.problem.num_arms, len(self.deltas)
        room = Room(
            np.empty_like(self.blank),
            np.empty((self.strategy.memory_rows(K), K)),
            np.empty((K + 1, 2), dtype=np.uint64),
            np.empty(levels, dtype=np.int64),
            np.empty(levels, dtype=np.int64),
            np.empty((levels, K)),
        )
        own = np.zeros(engine.SIGNALS, dtype=np.int64) if signals is None else signals
        return Workspace(room, np.zeros((levels, K)), own)

    def table(self, runs: int) -> tuple[Indices, Indices]:
        """Room for what so many runs find: samples and arms."""
        shape = (runs, len(self.deltas))
        return np.zeros(shape, dtype=np.int64), np.full(shape, -1, dtype=np.int64)

    def part(self, first: int, runs: int, room: Workspace) -> Part:
        """So many runs from `first` on; fewer if the signals cancel it.

        Raises  InvalidInputError if the strategy chooses what is not an arm
        """
        room.pulls[:] = 0.0
        samples, arms = self.table(runs)
        status, done, action = self.simulate(first, room, samples, arms)
        if status == engine.BAD:
            raise bad_action(self.strategy, action, first + done, self.problem.num_arms)
        return Part(first, samples[:done], arms[:done], room.pulls.copy())

    def simulate(self, first: int, space: Workspace, samples: Indices, arms: Indices) -> tuple[int, int, int]:
        """As many runs from `first` on as there are rows in `samples`; see `engine.simulate_runs`."""
        loop, select = self.made_for(engine.simulate_runs)
        room, pulls, signals = space
        with self._calling():
            return loop(  # type: ignore[no-any-return]
                select, first, self.task, self.source, room, samples, arms, pulls, signals
            )

    def record(self, run: int, space: Workspace, record: Array) -> None:
        """One run step by step; see `engine.record_run`."""
        loop, select = self.made_for(engine.record_run)
        task = self.task._replace(params=constant(self.shown))
        with self._calling():
            loop(select, run, task, self.source, space.room, record)

    def made_for(self, loop: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """A loop of the engine and the strategy's kernel, compiled for this job."""
        return made_for_job(loop, self.select, self.params, self.problem.source[0])

    def prepare(self) -> None:
        """Compile what runs need, so that no run has to wait for it."""
        self.made_for(engine.simulate_runs)

    @contextmanager
    def _calling(self) -> Iterator[None]:
        # Uncompiled, the generator's arithmetic modulo 2**64 would warn.
        with np.errstate(all="ignore"), raised_by(self.strategy):
            yield


def constant(array: Array) -> Array:
    """A view of an array that cannot be written to, as kernels take it in a tuple."""
    view = array.view()
    view.flags.writeable = False
    return view


def _rule(strategy: Strategy, problem: Problem) -> StoppingRule:
    """The form in which the rule is asked for a strategy."""
    itself, open_only = strategy.stops_itself, strategy.open_only
    if problem.question.by_claims:
        return problem.rule.asking(problem.question.placed(problem.offset, 1.0))
    return problem.rule.applied(problem.num_arms, problem.tolerance, itself, open_only)


def make_jobs(strategy: Strategy, problem: Problem, seed: int) -> list[Job]:
    """One job, or one for each risk, where choices depend on the risk or arms are ruled out."""
    alone = strategy.uses_delta or _rule(strategy, problem).limits
    groups = [(delta,) for delta in problem.deltas] if alone else [problem.deltas]
    return [Job(strategy, problem, group, seed) for group in groups]


def bad_action(strategy: Strategy, action: int, run: int, num_arms: int) -> InvalidInputError:
    """The refusal of an invalid action, or of a stop without stops_itself."""
    if isinstance(strategy, Stopped):
        action = strategy.returned(action, num_arms)
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
