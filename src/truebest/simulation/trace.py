"""`trace`: one run step by step, for pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any, TypeVar, Unpack

import numpy as np
import numpy.typing as npt

from .. import _args, _html
from .._args import Array
from .._signature import spelled_out
from .._text import aligned
from ..strategies import Strategy, find_strategy
from . import engine
from .pictures import picture, picture_in_html
from .threads import interruptible
from .work import USUAL, Ways, Work, make_works

Found = TypeVar("Found")


@dataclass(frozen=True, repr=False, eq=False)
class Trace:
    """One run; row i of every array is the moment before sample number time[i] + 1.

    Attributes
    ----------
    time
        (n,) samples so far, from K to the end; a row for each sample, or for each round
    arm
        (n,) the arm chosen next, -1 in the last row, and where a round has several
    pulls
        (n, K)
    means
        (n, K) empirical means, -inf of an arm that is ruled out
    statistic
        (n,) of the stopping rule
    threshold
        (n,); inf for a rule of your own, which need not have one
    target
        (n, K) target weights, or None for a strategy without; a forced step targets one arm
    lower, upper
        (n, K) ends of the strategy's intervals, or None; in the last row, where nothing is chosen any more,
        these and the target are still those of the choice before
    recommended
        the arm recommended in the end, None if the run was cut off, or something else is asked
    right
        whether the answer was right, None if the run was cut off
    """

    strategy: str
    delta: float
    time: npt.NDArray[np.int64]
    arm: npt.NDArray[np.int64]
    pulls: Array
    means: Array
    statistic: Array
    threshold: Array
    target: Array | None
    lower: Array | None
    upper: Array | None
    recommended: int | None
    right: bool | None

    @property
    def samples(self) -> int:
        """How many samples the run took."""
        return int(self.time[-1])

    @property
    def sentence(self) -> str:
        """How the run ended."""
        ended = "is cut off" if self.right is None else f"answers {'rightly' if self.right else 'wrongly'}"
        ended = ended if self.recommended is None else f"recommends arm {self.recommended}"
        return f"{self.strategy} at delta {self.delta:g} {ended} after {self.samples} samples"

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows for a person: how every arm stood in the end."""
        rows = [
            [
                str(a),
                f"{n:.0f}",
                f"{n / self.samples:.1%}",
                f"{mean:.6g}" if np.isfinite(mean) else "ruled out",
            ]
            for a, (n, mean) in enumerate(zip(self.pulls[-1], self.means[-1], strict=True))
        ]
        return ["arm", "pulls", "share", "mean"], rows

    def __repr__(self) -> str:
        return f"<Trace: {self.sentence}>"

    def __str__(self) -> str:
        return "\n".join([self.sentence, *aligned(*self.table())])

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.sentence)}</p>{_html.table(*self.table())}{picture_in_html(self)}"

    def plot(self) -> Any:
        """Statistic, means and intervals, targets and pulls over time: a Matplotlib figure."""
        return picture(self)


def total_variation(weights: Array) -> float:
    """½ Σ|change| of (n, K) shares from row to row: how many times the whole weight is moved about."""
    return float(np.abs(np.diff(weights, axis=0)).sum() / 2.0)


@spelled_out(Ways.__annotations__, **USUAL)
def trace(
    strategy: str | Strategy | None = None,
    means: npt.ArrayLike | None = None,
    delta: float = 0.05,
    *,
    run: int = 0,
    seed: int = 0,
    **ways: Unpack[Ways],
) -> Trace:
    """Run number `run` of a simulation, step by step; the same run as `simulate` counts.

    Parameters
    ----------
    strategy, means, delta, seed
        as in `simulate`, with one strategy or none, one bandit and one risk
    run
        its number in the simulation, from 0
    rewards, noise, sigma, model, stopping, tolerance, question, max_samples
        as in `simulate`
    items, correlation, compare, failures, epochs, clusters, weigh
        as in `simulate`

    Returns
    -------
    Trace

    Raises
    ------
    InvalidInputError
    """
    return traced(True, strategy, means, delta, run, seed, ways)


def traced(
    judged: bool,
    strategy: str | Strategy | None,
    means: npt.ArrayLike | None,
    delta: float,
    run: int,
    seed: int,
    ways: Ways,
) -> Trace:
    """`trace`; or without the statistic, which is then NaN: a search for it may take most of the time."""
    number = _args.whole("run", run, 0, 2**40, "runs are counted from 0")
    key = _args.seed(seed)
    chosen = None if strategy is None else find_strategy(strategy, files=True)
    found = make_works("trace", chosen, [means], _args.delta(delta), key, ways)
    (job,) = found.jobs[0]
    job.prepare()
    alone = _alone(job, lambda room: job.part(number, 1, room))  # how long is it?
    steps = _alone(job, lambda room: job.steps(number, room, alone, judged))
    last = int(alone.arms[0, 0])
    recommended = None if last < 0 or not job.names_arms else last
    return Trace(job.name, found.deltas[0], *steps, recommended, None if last < 0 else last in job.best)


def _alone(job: Work, task: Callable[[Any], Found]) -> Found:
    """What a task finds in a thread of its own; Ctrl-C ends it."""
    signals = np.zeros((1, engine.SIGNALS), dtype=np.int64)
    found: list[Found] = []
    if not interruptible([lambda: found.append(task(job.room(signals[0])))], signals, job.endless):
        raise KeyboardInterrupt
    return found[0]
