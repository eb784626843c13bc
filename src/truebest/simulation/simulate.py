"""`simulate`: many runs on several threads, with progress, and an interruption that does not bias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from .. import __version__, _args
from .._signature import spelled_out
from ..errors import InvalidInputError
from ..strategies import Strategy
from .cluster import run_on_cluster
from .cuda import run_on_gpu
from .progress import Progress, Reporter
from .results import Simulation
from .runs import KEPT, RUNS, Collected, continued, room_for
from .threads import num_threads, run_on_threads
from .work import USUAL, Ways, make_works

DEVICES = ("cpu", "cuda")


@spelled_out(Ways.__annotations__, **USUAL)
def simulate(
    strategies: str | Strategy | Sequence[str | Strategy] | None = None,
    means: npt.ArrayLike | None = None,
    delta: float | Sequence[float] = 0.05,
    *,
    runs: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    first: int = 0,
    more: Simulation | None = None,
    device: str = "cpu",
    cluster: Any = None,
    keep: str = RUNS,
    progress: bool | Progress | None = None,
    **ways: Unpack[Ways],
) -> Simulation:
    """Run strategies many times on one bandit and report how many samples they take and how often they err.

    Parameters
    ----------
    strategies
        names, as `truebest simulate --help` lists them, with parameters in brackets, of which several
        separated by | are each simulated: "ebs-d(gamma=0.01|0.05)"; or "my_file.py:my_strategy"; or
        strategies. Left out for rounds on common items, see `items`, and where a question is asked
    means
        (K,); left out if rewards are values; or one such list for each of several bandits
    delta
        one risk or several; strategies that do not depend on it serve all from one trajectory
    runs, seed
        run i is a function of (seed, i) alone, and all strategies see the same rewards in it
    rewards
        "gaussian", "uniform" (mean ± noise), "beta" (in [0, 1], of standard deviation noise), or "bernoulli",
        "poisson", "exponential", which do not use noise; or, for each arm, values such as those of a pilot,
        from which rewards are drawn with replacement; on common items the values of all arms in the order of
        the items
    noise
        standard deviation or half-width of the rewards, one number or one per arm
    model
        what strategies and stopping rule assume of a reward, such as Gaussian(sigma) or Bernoulli()
    sigma
        short for model=Gaussian(sigma), one number or one per arm; by default the largest noise or standard
        deviation of the values, Bounded(0, 1) for Bernoulli and beta, Poisson() and Exponential() for these
    stopping
        name of a stopping rule, or a rule, also your own, see `stopping_rule`; by default "practical", and in
        rounds and where a question is asked the rule of a live experiment
    tolerance
        how far below the best a recommendation may be: then it is right, and a run may stop sooner
    question
        what is asked, by default which arm is best. Others are answered by sampling in turn, which is the
        strategy "uniform", and then a run answers 0 if its answer is right, 1 if it is wrong
    max_samples
        cut a run off there; it then counts at max_samples, and the mean is a lower bound. Unlike that of
        `identify`, the rule does not know of it; Tilt(budget=...) does. Rounds are cut off before they could
        exceed it; by default when the items are used up, or after 50,000
    items
        compare the arms in rounds, on common items: how many there are in a closed set, of which each is used
        at most once, in random order; or inf for an unlimited source. Rewards are then values, or "bernoulli"
        with means and a correlation
    correlation
        with means: of the rewards of the two best arms on one item
    compare
        "means", or "wins" if only who is better in a round counts
    failures
        what a value counts as that is NaN: "worst", a number, or "loss" by wins; "repeat" refuses it
    epochs
        how often each arm answers an item, of which the mean counts: rewards that are values have as many for
        each item, one after the other
    clusters
        the label of each item of a closed set: a round is then a cluster of items, all of which are answered
    weigh
        with clusters, what counts alike: "items" or "clusters"
    threads
        by default one per available core; the result does not depend on it
    first
        the number of the first run, so that a simulation can be done in parts and added up
    more
        an earlier simulation of the same call: do so many runs behind its last, and return all
    device
        "cpu", or "cuda" for a GPU, which gives the same runs; see the guide on simulation
    cluster
        a `dask.distributed.Client`, or the address of a scheduler: the same runs on its workers
    keep
        "runs": every run's samples and answer; "summary": counts, sums and a histogram, with which quantiles
        are right to 1 in 64, for more runs than fit into memory
    progress
        True or False, or a function of (done, total); by default a bar if stderr is a terminal

    Returns
    -------
    Simulation
        after Ctrl-C with the runs up to the first incomplete one, marked incomplete

    Raises
    ------
    InvalidInputError
    """
    several = _bandits_of(means)
    num_runs = _args.whole("runs", runs, 1, 10**9, "more runs give a smaller standard error")
    key = _args.seed(seed)
    begin = _args.whole("first", first, 0, 2**40, "runs are counted from 0")
    kept, on = _args.choice("keep", keep, KEPT), _args.choice("device", device, DEVICES)
    if cluster is not None and on == "cuda":
        raise InvalidInputError(
            f"give either device='cuda' or a cluster, got both, with cluster {cluster!r:.60}; a cluster "
            f"computes on processors."
        )
    found = make_works("simulate", strategies, [means] if several is None else several, delta, key, ways)
    settings = {"truebest": __version__, "keep": kept, **found.settings}
    if more is not None:
        begin, num_runs = continued(more, settings, key, begin, num_runs, several is not None)
    workers = num_threads(threads)
    names = dict.fromkeys(job.name for job in found.jobs[0])
    places = [None] if several is None else range(len(several))
    order = [(place, name, risk) for place in places for name in names for risk in found.deltas]
    with room_for(num_runs if kept == RUNS else 0, len(order)):
        work = [
            Collected(job, begin, num_runs, kept, place)
            for place, row in zip(places, found.jobs, strict=True)
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
        cells = {(one.bandit, one.job.name, cell.delta): cell for one in work for cell in one.cells()}
    return Simulation(tuple(cells[place] for place in order), settings)


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
