"""The standard errors of a comparison are what repeating it would show."""

from __future__ import annotations

from functools import cache

import numpy as np

import truebest
from support.amounts import amount, once_more
from truebest.studies.comparison.statistics import Ratios

STRATEGIES = ("tas-d", "racing", "uniform")
BANDITS = ((0.0, 0.8), (0.0, 0.3, 0.9), (0.0, 0.0, 0.5, 1.0))
pytestmark = once_more
RUNS = amount(16_000, 40_000)


@cache
def many_runs() -> tuple[np.ndarray, ...]:
    """For each bandit (S, RUNS): the same rewards for all strategies."""
    found = [
        truebest.simulate(list(STRATEGIES), means, 0.1, runs=RUNS, seed=i, stopping="mixture", progress=False)
        for i, means in enumerate(BANDITS)
    ]
    return tuple(np.stack([cell.samples for cell in simulation]) for simulation in found)


def repeated(runs: int) -> list[Ratios]:
    """So many small comparisons as fit into the runs, each of its own runs."""
    return [Ratios.of(tuple(block[:, i : i + runs] for block in many_runs())) for i in range(0, RUNS, runs)]


def test_paired_errors_are_those_of_repetition() -> None:
    """The error of a difference to a reference, and that of a geometric mean, from 50 runs, 800 or 320 times.

    A standard deviation of 800 repetitions has an error of 2.5%, so 12% is five of them: false alarm 1e-6
    for each of six numbers. Negative control: without pairs, an error would be too large by more than that.
    """
    small = repeated(50)
    limit = 4.8 / np.sqrt(2.0 * len(small))
    differences = np.array([one.above(0)[0] for one in small])
    reported = np.sqrt(np.mean([one.above(0)[1] ** 2 for one in small], axis=0))
    assert np.all(reported[0] == 0.0)
    ratio = reported[1:] / differences.std(axis=0, ddof=1)[1:]
    assert np.all(np.abs(ratio - 1.0) < limit), ratio

    geometric = np.array([one.geometric[0] for one in small])
    errors = np.sqrt(np.mean([one.geometric[1] ** 2 for one in small], axis=0))
    spread = geometric.std(axis=0, ddof=1)
    assert abs(errors[2] / spread[2] - 1.0) < limit, errors / spread  # uniform is never the best: no choice

    relative = [block.std(axis=1) / block.mean(axis=1) / np.sqrt(50) for block in many_runs()]
    alone = np.array([np.hypot(x[1:], x[0]) for x in relative])
    unpaired = np.sqrt((alone**2).sum(axis=0)) / len(BANDITS)
    assert np.all(unpaired / differences.std(axis=0, ddof=1)[1:] > 1.0 + limit)


def test_bootstrapped_errors_of_quantiles_are_those_of_repetition() -> None:
    """From 400 runs, 100 or 40 times, for the strategy that is never the best.

    The standard deviation of 40 repetitions has an error of 11%, of 100 one of 7%; the bootstrap of a 95%
    quantile is itself off by some percent at 400 runs. 40% is beyond three such errors, or five: false alarm
    below 1e-3, or 1e-5.
    """
    small = repeated(400)
    tails = np.array([one.tails(0.95) for one in small])
    ratio = tails[:, 1, 2].mean() / tails[:, 0, 2].std(ddof=1)
    assert abs(ratio - 1.0) < 0.4, ratio
