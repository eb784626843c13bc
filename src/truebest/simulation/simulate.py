"""`simulate`: many runs on several threads, with progress, and an interruption that does not bias."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import __version__, _door
from ..errors import InvalidInputError
from ..questions import Question
from ..strategies import Strategy, find_strategies, stopped_by
from ..theory.models import Model
from ..theory.stopping import StoppingRule
from .cluster import run_on_cluster
from .cuda import run_on_gpu
from .job import Job, make_jobs, refuse_stalling
from .problem import Problem, make_problem
from .progress import Progress, Reporter
from .results import Simulation
from .runs import KEPT, RUNS, Collected, continued, room_for
from .threads import num_threads, run_on_threads

DEVICES = ("cpu", "cuda")


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
    question: Question | None = None,
    max_samples: int | None = None,
    threads: int | None = None,
    first: int = 0,
    more: Simulation | None = None,
    device: str = "cpu",
    cluster: Any = None,
    keep: str = RUNS,
    progress: bool | Progress | None = None,
) -> Simulation:
    """Run strategies many times on one bandit and report how many samples they take and how often they err.

    strategies   names, as `truebest simulate --help` lists them, with parameters in brackets, of which
                 several separated by | are each simulated: "ebs-d(gamma=0.01|0.05)"; or
                 "my_file.py:my_strategy"; or strategies
    means        (K,); left out if rewards are values; or one such list for each of several bandits
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
    stopping     name of a stopping rule, or a rule, also your own, see `stopping_rule`
    tolerance    how far below the best a recommendation may be: then it is right, and a run may stop sooner
    question     what is asked, by default which arm is best. Others are answered by sampling in turn, with
                 the strategy "uniform", and then a run answers 0 if its answer is right, 1 if it is wrong
    max_samples  cut a run off there; it then counts at max_samples, and the mean is a lower bound
    threads      by default one per available core; the result does not depend on it
    first        the number of the first run, so that a simulation can be done in parts and added up
    more         an earlier simulation of the same call: do so many runs behind its last, and return all
    device       "cpu", or "cuda" for a GPU, which gives the same runs; see the guide on simulation
    cluster      a `dask.distributed.Client`, or the address of a scheduler: the same runs on its workers
    keep         "runs": every run's samples and answer; "summary": counts, sums and a histogram, with which
                 quantiles are right to 1 in 64, for more runs than fit into memory
    progress     True or False, or a function of (done, total); by default a bar if stderr is a terminal
    Returns      Simulation; after Ctrl-C with the runs up to the first incomplete one, marked incomplete
    Raises       InvalidInputError
    """
    bandits = _bandits_of(means)
    given: list[npt.ArrayLike | None] = [*bandits] if bandits else [means]
    problems = [
        make_problem(one, delta, rewards, noise, sigma, model, stopping, max_samples, tolerance, question)
        for one in given
    ]
    chosen = [stopped_by(problems[0].rule, one) for one in distinct_strategies(strategies)]
    for problem in problems:
        for one in chosen:
            refuse_stalling(one, problem)
    num_runs = _door.whole("runs", runs, 1, 10**9, "more runs give a smaller standard error")
    key = _door.whole(
        "seed", seed, 0, 2**64 - 1, "any number will do, and the same one gives the same result"
    )
    begin = _door.whole("first", first, 0, 2**40, "runs are counted from 0")
    kept, on = _door.choice("keep", keep, KEPT), _door.choice("device", device, DEVICES)
    if cluster is not None and on == "cuda":
        raise InvalidInputError(
            f"give either device='cuda' or a cluster, got both, with cluster {cluster!r:.60}; a cluster "
            f"computes on processors."
        )
    jobs = [[job for one in chosen for job in make_jobs(one, problem, key)] for problem in problems]
    settings = _describe(jobs, problems, kept)
    if more is not None:
        begin, num_runs = continued(more, settings, key, begin, num_runs, bandits is not None)
    workers = num_threads(threads)
    with room_for(num_runs if kept == RUNS else 0, len(problems) * len(chosen) * len(problems[0].deltas)):
        work = [
            Collected(job, begin, num_runs, kept, i if bandits else None)
            for i, row in enumerate(jobs)
            for job in row
        ]
        if more is not None:
            work = [one.continuing(more) for one in work]
        with Reporter(progress, sum(one.wanted for one in work)) as reporter:
            if cluster is not None:
                run_on_cluster(work, cluster, reporter)
            elif on == "cuda":
                run_on_gpu(work, reporter)
            else:
                run_on_threads(work, workers, reporter)
        cells = {(one.bandit, id(one.job.strategy), cell.delta): cell for one in work for cell in one.cells()}
    order = [
        (i if bandits else None, id(one), risk)
        for i, p in enumerate(problems)
        for one in chosen
        for risk in p.deltas
    ]
    return Simulation(tuple(cells[place] for place in order), settings)


def distinct_strategies(given: str | Strategy | Sequence[str | Strategy]) -> list[Strategy]:
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


def _bandits_of(means: npt.ArrayLike | None) -> list[npt.ArrayLike] | None:
    """The means of each bandit where several are given, else None."""
    if not isinstance(means, list | tuple | np.ndarray) or not len(means):
        return None
    nested = [isinstance(one, list | tuple) or np.ndim(one) > 0 for one in means]
    if not any(nested):
        return None
    if not all(nested):
        raise InvalidInputError(
            f"means must be numbers, or a list of numbers for each of several bandits, got {means!r:.60}; "
            f"write [[0.9, 0.8], [0.9, 0.5]], say."
        )
    return list(means)


def _describe(jobs: Sequence[Sequence[Job]], problems: Sequence[Problem], keep: str) -> dict[str, Any]:
    """All that a run depends on but its number and the seed; plain values, for a file and for comparison."""
    one = problems[0]
    return {
        "truebest": __version__,
        "keep": keep,
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
