"""The runs of one strategy that share trajectories, as a specification: run i is a function of it and of i.

A `Job` has everything that the engine is told, checked and laid out; it holds no results. So any part of its
runs can be done anywhere, in any order, and by whoever holds the job: threads, a GPU, another machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from .._catalogue import IN_TURN
from ..designs import Design
from ..designs.independent import refuse_unmeant
from ..errors import InvalidInputError
from ..kernels import layout
from ..kernels._numba import FOR_ALL
from ..kernels._specialise import NONE_KNOWN
from ..kernels.steps import RIGHT, Room, Source, Task
from ..questions import Question
from ..strategies import Stopped, Strategy, find_strategies, stopped_by
from ..strategies._admit import kernel_of, raised_by
from ..theory.stopping import StoppingRule
from . import engine
from .problem import Problem, make_problem
from .runs import room_for_steps
from .special import compiled, constant, known_of
from .work import Given, Indices, Part, Steps, Work, Works


class Workspace(NamedTuple):
    """What one thread works in: room for one run, the pulls of its runs together, and its signals."""

    room: Room
    pulls: Array
    signals: Indices


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
        self.params[layout.UNSHOWN] = 1.0
        self.blank, self.truth = rule.blank(model, K), self.problem.means / model.unit
        self.select = kernel_of(self.strategy)
        self.name, self.rule_name, self.num_arms = self.strategy.name, self.problem.rule.name, K
        self.names_arms = not self.problem.question.by_claims
        self.best = self.problem.best if self.names_arms else frozenset({RIGHT})
        self.endless = None if np.isfinite(self.problem.max_samples) else self.name

    def __reduce__(self) -> tuple[type[Job], tuple[object, ...]]:
        return Job, (self.strategy, self.problem, self.deltas, self.seed)  # for another process

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
        return np.zeros(shape, dtype=np.int64), np.full(shape, layout.NO_ARM, dtype=np.int64)

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

    def steps(self, run: int, room: Workspace, known: Part, judged: bool) -> Steps:
        """One run step by step; see `engine.record_run`."""
        K, unit, offset = self.num_arms, self.problem.model.unit, self.problem.offset
        rows = 2 + self.strategy.memory_rows(K)
        record = room_for_steps(int(known.samples[0, 0]) - K + 1, engine.HEAD + rows * K)
        loop, select = self.made_for(engine.record_run)
        task = self.task._replace(params=constant(self.shown if judged else self.params))
        with self._calling():
            loop(select, run, task, self.source, room.room, record, judged)
        pulls, mu, *memory = np.moveaxis(record[:, engine.HEAD :].reshape(-1, rows, K), 1, 0)
        own = dict(zip(self.strategy.rows, memory, strict=False))
        lower, upper = (own[end] * unit + offset if end in own else None for end in ("lower", "upper"))
        time, arm = (record[:, place].astype(np.int64) for place in (engine.TIME, engine.ARM))
        arm[-1] = -1
        shown = record[:, engine.STATISTIC], record[:, engine.THRESHOLD]
        return Steps(time, arm, pulls, mu * unit + offset, *shown, own.get("target"), lower, upper)

    def made_for(self, loop: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """A loop of the engine and the strategy's kernel, compiled for this job."""
        known = NONE_KNOWN if FOR_ALL else known_of(self.params, self.problem.source[0])
        return compiled(loop, known), compiled(self.select, known)

    def prepare(self) -> None:
        """Compile what runs need, so that no run has to wait for it."""
        self.made_for(engine.simulate_runs)

    @contextmanager
    def _calling(self) -> Iterator[None]:
        # Uncompiled, the generator's arithmetic modulo 2**64 would warn.
        with np.errstate(all="ignore"), raised_by(self.strategy):
            yield


def _rule(strategy: Strategy, problem: Problem) -> StoppingRule:
    """The form in which the rule is asked for a strategy."""
    itself, open_only = strategy.stops_itself, strategy.open_only
    if problem.question.by_claims:
        return problem.rule.asking(problem.question.placed(problem.offset, 1.0))
    return problem.rule.form_for(problem.num_arms, problem.tolerance, itself, open_only)


def make_works(
    design: type[Design],  # noqa: ARG001
    given: Given,
    bandits: Sequence[npt.ArrayLike | None],
    seed: int,
) -> Works:
    """The runs of a call on independent samples: of each bandit, those of each strategy."""
    _refuse_shared(given)
    ways = given.ways
    model = ways["rewards"], ways["noise"], ways["sigma"], ways["model"], ways["stopping"]
    more = ways["max_samples"], ways["tolerance"], ways["question"]
    problems = [make_problem(means, given.delta, *model, *more) for means in bandits]
    given_ones = _usual(problems[0].question) if given.strategies is None else given.strategies
    chosen = [stopped_by(problems[0].rule, one) for one in distinct_strategies(given_ones)]
    for problem in problems:
        for one in chosen:
            refuse_stalling(one, problem)
    jobs = [[job for one in chosen for job in make_jobs(one, problem, seed)] for problem in problems]
    rows: list[list[Work]] = [[*row] for row in jobs]
    return Works(rows, problems[0].deltas, _described(jobs, problems))


def _refuse_shared(given: Given) -> None:
    """Refuse what belongs to rounds on common items."""
    for name, value, usual in (
        ("correlation", given.ways["correlation"], None),
        ("failures", given.ways["failures"], "repeat"),
        *((name, given.ways[name], None) for name in ("epochs", "clusters", "weigh")),
    ):
        if value != usual:
            raise InvalidInputError(
                f"{name} belongs to rounds on common items, got {name}={_args.short(value)} for independent "
                f"samples; give items=, too, or leave it out."
            )


def _usual(question: Question) -> str:
    """The strategy where none is given: there is one for all questions but that for the best arm."""
    if not question.by_claims:
        raise InvalidInputError(
            "strategies must be given for independent samples, got none; give one or more, such as 'tas-d', "
            "or items= for rounds on common items, which need none."
        )
    return IN_TURN


def distinct_strategies(given: str | Strategy | Sequence[str | Strategy] | None) -> list[Strategy]:
    """One or more different strategies, by their names or themselves; InvalidInputError for anything else."""
    items = list(given) if isinstance(given, list | tuple) else [given]
    chosen = [one for item in items for one in find_strategies(item)]  # type: ignore[arg-type]
    names = [one.name for one in chosen]
    if not chosen or len(set(names)) != len(names):
        raise InvalidInputError(
            f"strategies must be one or more different ones, got {names}; give each once, and different "
            f"names to your own."
        )
    return chosen


def _described(jobs: Sequence[Sequence[Job]], problems: Sequence[Problem]) -> dict[str, Any]:
    """All that a run depends on but its number, the seed and the version."""
    one = problems[0]
    return {
        "deltas": list(one.deltas),
        "stopping": repr(one.rule),
        "tolerance": one.tolerance,
        "question": repr(one.question),
        "max_samples": one.max_samples if np.isfinite(one.max_samples) else None,
        "models": [repr(problem.model) for problem in problems],
        "means": [(problem.means + problem.offset).tolist() for problem in problems],
        "rewards": [_rewards(problem) for problem in problems],
        "strategies": [
            [job.strategy.name, f"{job.select.__module__}.{job.select.__name__}", job.shown.tolist()]
            for job in jobs[0]
        ],
    }


def _rewards(problem: Problem) -> list[Any]:
    family, nature, pool = problem.source
    return [family, problem.offset, nature.tolist(), hashlib.sha256(pool.tobytes()).hexdigest()]


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
