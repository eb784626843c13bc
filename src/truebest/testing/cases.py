"""What a strategy is tried on: simulated runs, runs that are driven by hand, and live experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._args import Array
from ..experiment.experiment import Experiment
from ..experiment.store import open_store
from ..kernels.decision import take
from ..kernels.layout import arm_of
from ..kernels.random import GAUSSIAN, Words, open_stream, reward
from ..kernels.tracking import leading_arm
from ..simulation.job import Job
from ..simulation.problem import make_problem
from ..simulation.results import Cell
from ..simulation.simulate import simulate
from ..simulation.trace import Trace, trace
from ..strategies import Strategy


@dataclass(frozen=True)
class Case:
    """A strategy and the bandit that it is tried on; rewards have a standard deviation of 1."""

    strategy: Strategy
    means: tuple[float, ...]
    delta: float
    runs: int
    seed: int
    max_samples: int
    invariant: bool
    symmetric: bool = True

    def simulate(self, runs: int, threads: int = 1, delta: float | None = None, scale: float = 1.0) -> Cell:
        """Runs on the bandit; with `scale`, rewards and sigma in another unit."""
        means, risk = [mean * scale for mean in self.means], self.delta if delta is None else delta
        options = {"runs": runs, "seed": self.seed, "threads": threads, "max_samples": self.max_samples}
        return simulate(self.strategy, means, risk, noise=scale, progress=False, **options).cells[0]  # type: ignore[arg-type]

    def trace(self, run: int) -> Trace:
        """One run step by step."""
        return trace(
            self.strategy, self.means, self.delta, run=run, seed=self.seed, max_samples=self.max_samples
        )

    def job(self, means: Sequence[float], max_samples: int) -> Job:
        """Runs that are driven by hand."""
        problem = make_problem(means, [self.delta], "gaussian", 1.0, None, None, "practical", max_samples)
        return Job(self.strategy, problem, problem.deltas, self.seed)


class Step(NamedTuple):
    """A choice, and what it was made from; the arrays are those of the run."""

    t: float
    last: int
    leader: int
    memory: Array
    random: Words
    action: int


def steps(
    job: Job,
    state: Array,
    memory: Array,
    random: Words,
    pull: Callable[[int], float],
    most: int,
) -> Iterator[Step]:
    """A run without a stopping rule, driven by the kernel itself; state and memory go on after each step."""
    K, last = state.shape[1], -1
    for t in range(K, most):
        leader, before, words = leading_arm(state), memory.copy(), random.copy()
        action = int(job.select(float(t), last, leader, state, job.params, memory, random))
        yield Step(float(t), last, leader, before, words, action)
        if action >= K:
            return
        last = arm_of(action, K)
        take(job.params, state, last, 1.0, pull(last))


class Live:
    """A live experiment in memory, with the rewards that the engine would draw in run 0."""

    def __init__(self, case: Case, seed: int, stopping: str) -> None:
        self.case, self.store = case, open_store("memory:")
        self.arms = [f"arm {a}" for a in range(len(case.means))]
        self.experiment = Experiment.create(
            self.store,
            "twin",
            self.arms,
            case.delta,
            sigma=1.0,
            strategy=case.strategy,
            stopping=stopping,
            seed=seed,
        )
        self.asked: list[int] = []
        self.streams = np.zeros((len(self.arms), 2), np.uint64)
        for a, stream in enumerate(self.streams):
            open_stream(np.uint64(seed), np.uint64(0), np.uint64(a), stream)

    def go(self, most: int, batch: int = 1, reopen: int = 0) -> None:
        """Ask and tell; with `reopen`, by a new Experiment every so many turns."""
        turns = 0
        while len(self.asked) < most and (pulls := self.experiment.ask(batch)):
            for pull in pulls:
                arm = self.arms.index(pull.arm)
                self.asked.append(arm)
                value = reward(GAUSSIAN, self.case.means[arm], 1.0, self.streams[arm])
                self.experiment.tell(pull, float(value))
            turns += 1
            if reopen and turns % reopen == 0:
                self.experiment = Experiment.open(self.store, "twin", strategy=self.case.strategy)
