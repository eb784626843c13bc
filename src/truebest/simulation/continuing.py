"""What was simulated, in plain values, and how a simulation continues an earlier one of the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import __version__
from ..errors import InvalidInputError
from .gathering import Gathered
from .job import Job
from .pooling import refuse_others
from .problem import Problem
from .results import Simulation


def bandits_of(means: npt.ArrayLike | None) -> list[npt.ArrayLike] | None:
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


def describe(jobs: Sequence[Sequence[Job]], problems: Sequence[Problem], keep: str) -> dict[str, Any]:
    """All that a run depends on but its number and the seed; plain values, for a file and for comparison."""
    one = problems[0]
    return {
        "truebest": __version__,
        "keep": keep,
        "deltas": list(one.deltas),
        "stopping": repr(one.rule),
        "tolerance": one.tolerance,
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


def continued(
    more: Simulation, settings: Mapping[str, Any], seed: int, first: int, runs: int, several: bool
) -> tuple[int, int]:
    """Where the runs of an earlier simulation begin, and how many there are to be in the end.

    several  whether the means are those of several bandits, if only of one in a list
    Raises   InvalidInputError if it is of something else, or its runs are not one seed's in a row
    """
    if not isinstance(more, Simulation):
        raise InvalidInputError(
            f"more must be a Simulation, got {more!r:.60}; give what simulate or load_simulation returned."
        )
    refuse_others(more.settings, settings)
    if any((cell.bandit is not None) != several for cell in more.cells):
        raise InvalidInputError(
            f"more must have its means in the form of this call, got {'one bandit' if several else 'a list'} "
            f"in more and {'a list' if several else 'one bandit'} here; give both the same."
        )
    spans = [span for cell in more.cells for span in cell.spans]
    starts = {(span[0], span[1]) for span in spans}
    if len(starts) != 1 or starts != {(seed, spans[0][1])}:
        raise InvalidInputError(
            f"more must have the runs of seed {seed} in a row, got runs that begin at (seed, first) "
            f"{sorted(starts)}; give the same seed, and add others up with +."
        )
    if first not in (0, spans[0][1]):
        raise InvalidInputError(
            f"first must be left out with more, or be its first run, {spans[0][1]}, got {first}; runs are "
            f"added behind the last."
        )
    return spans[0][1], max(cell.runs for cell in more.cells) + runs


def gathered(
    job: Job, first: int, runs: int, keep: str, more: Simulation | None, bandit: int | None
) -> Gathered[Job]:
    """The work of one job: all runs, or those that an earlier simulation lacks."""
    if more is None:
        return Gathered(job, first, runs, keep)
    before = [
        cell
        for delta in job.deltas
        for cell in more.cells
        if (cell.strategy, cell.delta, cell.bandit) == (job.strategy.name, delta, bandit)
    ]
    done = before[0].runs
    return Gathered(job, first + done, runs - done, keep, before)
