"""Track-and-Stop on 0/1 rewards against the table that Garivier & Kaufmann (2016) print.

Two bandits, delta = 0.1, the threshold log((log t + 1)/delta), 3000 runs there. The paper prints no errors;
the standard deviation of our runs stands for theirs. A false alarm has a probability of 1e-4 in each test.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import truebest

THEIR_RUNS = 3000
TOO_FAR = 3.9  # standard errors of a difference: two-sided 1e-4
HARD, EASY = (0.5, 0.45, 0.43, 0.4), (0.3, 0.21, 0.2, 0.19, 0.18)
SAMPLES = {HARD: 4052, EASY: 1406}
WEIGHTS = {HARD: (0.417, 0.390, 0.136, 0.057), EASY: (0.336, 0.251, 0.177, 0.132, 0.104)}
OUR_RUNS = {HARD: 400, EASY: 1200}
Means = tuple[float, ...]


def distance(strategy: str, means: Means, seed: int) -> float:
    """Between our mean number of samples and the published one, in standard errors."""
    found = truebest.simulate(
        strategy,
        means,
        0.1,
        runs=OUR_RUNS[means],
        seed=seed,
        rewards="bernoulli",
        model=truebest.Bernoulli(),
        stopping="practical",
        progress=False,
    )
    samples = found.cells[0].samples
    error = samples.std(ddof=1) * math.sqrt(1.0 / samples.size + 1.0 / THEIR_RUNS)
    return float((samples.mean() - SAMPLES[means]) / error)


@pytest.mark.parametrize("means", SAMPLES)
def test_the_optimal_weights_are_the_published_ones(means: Means) -> None:
    """Their weights have three digits."""
    weights = truebest.optimal_weights(means, model=truebest.Bernoulli()).weights
    assert np.abs(weights - WEIGHTS[means]).max() < 6e-4


@pytest.mark.slow
@pytest.mark.parametrize("means", SAMPLES)
def test_track_and_stop_takes_as_many_samples_as_published(means: Means) -> None:
    """D-tracking, as in the paper; 10% on EASY and 16% on HARD would be noticed every other time."""
    assert abs(distance("tas-d", means, seed=len(means))) < TOO_FAR


@pytest.mark.slow
def test_the_other_tracking_would_be_noticed() -> None:
    """C-tracking takes a quarter more: the test above can fail."""
    assert distance("tas-c", EASY, seed=7) > TOO_FAR
