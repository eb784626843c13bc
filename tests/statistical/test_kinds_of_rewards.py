"""Every kind of rewards has the distribution that it is named after, from one step of its stream a draw.

Seeds are fixed. Each statistic is a z-score with the bound 5 or a p-value with the bound 5.7e-7, the same
risk, and there are at most 100 in this file: the false-alarm probability of all together is below 6e-5. The
same functions are given a distribution that is slightly wrong, and must reject it.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest
from scipy import stats

from support.bandits import Array
from truebest.kernels import random as generator
from truebest.kernels.random import BETA, EXPONENTIAL, POISSON, SAMPLED, next_word, open_stream, pull, reward

SEED, SIZE = 20_240_301, 1_000_000
Z_LIMIT, P_LIMIT = 5.0, 5.7e-7  # P(|z| > 5) = 5.7e-7

BETAS = [
    (0.62, 0.1),
    (0.3, 0.2),
    (0.5, 0.49),
    (0.01, 0.09),
    (0.999, 0.001),
    (1e-6, 1e-6),
    (0.5, math.sqrt(1 / 12)),
]
COUNTS = [0.01, 1.0, 9.999, 10.0, 15.0, 30.0, 1e3, 1e6]


@numba.njit()  # type: ignore[untyped-decorator,unused-ignore]
def fill(seed: int, family: int, mean: float, noise: float, out: Array) -> None:
    """The first rewards of one arm."""
    stream = np.empty(2, dtype=np.uint64)
    open_stream(np.uint64(seed), np.uint64(0), np.uint64(0), stream)
    for i in range(out.size):
        out[i] = reward(family, mean, noise, stream)


@numba.njit()  # type: ignore[untyped-decorator,unused-ignore]
def fill_from(seed: int, nature: Array, pool: Array, arm: int, out: Array) -> None:
    """The first rewards that are drawn from the values of an arm."""
    stream = np.empty(2, dtype=np.uint64)
    open_stream(np.uint64(seed), np.uint64(0), np.uint64(arm), stream)
    for i in range(out.size):
        out[i] = pull(SAMPLED, nature, pool, arm, stream)


def rewards(family: int, mean: float, noise: float = 0.0) -> Array:
    out = np.empty(SIZE)
    fill(SEED, family, mean, noise, out)
    return out


def mean_and_spread(x: Array, mean: float, deviation: float) -> float:
    """The larger z-score of mean and variance."""
    squares = (x - mean) ** 2
    scores = [
        (x.mean() - mean) / deviation,
        (squares.mean() - deviation**2) / squares.std(),
    ]
    return float(np.abs(scores).max() * math.sqrt(x.size))


def shape(x: Array, law: Any) -> float:
    """The p-value of the chi-square statistic: how many are up to each quantile, also far out.

    Edges where a double no longer tells a number from 0 or 1 are left out.
    """
    levels = np.array([1e-4, 1e-3, *np.arange(1, 64) / 64, 1 - 1e-3, 1 - 1e-4])
    edges = np.unique(law.ppf(levels))
    told = (law.cdf(0.0) > 0.0) | (edges > 1.0) | (np.minimum(edges, 1.0 - edges) > 1e-12)
    edges = edges[told]
    expected = np.diff(law.cdf(edges), prepend=0.0, append=1.0) * x.size
    found = np.bincount(np.searchsorted(edges, x), minlength=edges.size + 1)
    return float(stats.chi2.sf(((found - expected) ** 2 / expected).sum(), edges.size))


def beta_law(mean: float, deviation: float) -> Any:
    total = mean * (1.0 - mean) / deviation**2 - 1.0
    return stats.beta(mean * total, (1.0 - mean) * total)


@pytest.mark.parametrize(("mean", "noise"), BETAS)
def test_beta_rewards(mean: float, noise: float) -> None:
    """Mean, variance and shape, with shapes from 1e-3 to 1e3. False alarm: 3 x 5.7e-7 each."""
    x = rewards(BETA, mean, noise)
    assert 0.0 <= x.min() < x.max() <= 1.0
    assert mean_and_spread(x, mean, noise) < Z_LIMIT
    assert shape(x, beta_law(mean, noise)) > P_LIMIT
    assert mean_and_spread(x, mean + 0.01 * noise, noise) > Z_LIMIT  # negative controls: a wrong mean,
    assert shape(x, beta_law(mean, 0.98 * noise)) < P_LIMIT  # a wrong deviation


def test_beta_rewards_of_a_tiny_deviation_are_normal() -> None:
    """Shapes of 1e11, where SciPy's own distribution is wrong in the third digit. False alarm: 3 x 5.7e-7."""
    x = rewards(BETA, 0.5, 1e-6)
    assert mean_and_spread(x, 0.5, 1e-6) < Z_LIMIT
    assert stats.kstest((x - 0.5) / 1e-6, "norm").pvalue > P_LIMIT
    assert stats.kstest((x - 0.5) / 0.98e-6, "norm").pvalue < P_LIMIT  # negative control


@pytest.mark.parametrize(("mean", "noise"), [(0.3, 0.0), (0.3, 1e-200), (1e-300, 1e-160), (5e-324, 1e-170)])
def test_beta_rewards_at_the_end_of_the_range(mean: float, noise: float) -> None:
    """Neither NaN nor an error: without a deviation the mean, else what is possible, compiled or not."""
    x = rewards(BETA, mean, noise)
    assert ((x >= 0.0) & (x <= 1.0)).all()
    assert abs(x.mean() - mean) < 1e-9
    plain = getattr(generator._beta, "py_func", generator._beta)
    with np.errstate(all="ignore"):
        assert 0.0 <= plain(mean, noise, np.uint64(12_345)) <= 1.0


@pytest.mark.parametrize("mean", COUNTS)
def test_poisson_rewards(mean: float) -> None:
    """Mean, variance and shape, by inversion and by PTRS. False alarm: 3 x 5.7e-7 each."""
    x = rewards(POISSON, mean)
    assert (x == np.floor(x)).all()
    assert x.min() >= 0.0
    assert mean_and_spread(x, mean, math.sqrt(mean)) < Z_LIMIT
    assert shape(x, stats.poisson(mean)) > P_LIMIT
    wrong = mean + 0.02 * math.sqrt(mean)
    assert shape(x, stats.poisson(wrong)) < P_LIMIT  # negative control


def test_large_poisson_rewards_are_normal() -> None:
    """Counts of 1e12, the most that is taken. False alarm: 3 x 5.7e-7."""
    x = rewards(POISSON, 1e12)
    assert mean_and_spread(x, 1e12, 1e6) < Z_LIMIT
    assert stats.kstest((x - 1e12) / 1e6, "norm").pvalue > P_LIMIT


def test_poisson_rewards_of_mean_zero() -> None:
    """All are 0."""
    assert not rewards(POISSON, 0.0).any()


def test_the_probabilities_of_counts() -> None:
    """The series agrees with SciPy to 1e-10, where it begins and far out."""
    for mean in (10.0, 16.0, 40.0, 1e4):
        k = np.unique(np.round(mean + np.sqrt(mean) * np.arange(-3.1, 8.0, 0.5)))
        want = stats.poisson(mean).logpmf(k)
        np.testing.assert_allclose([generator._log_poisson(j, mean) for j in k], want, rtol=0, atol=1e-10)


@pytest.mark.parametrize("mean", [1e-6, 1.0, 1e9])
def test_exponential_rewards(mean: float) -> None:
    """Mean, variance and shape. False alarm: 4 x 5.7e-7 each."""
    x = rewards(EXPONENTIAL, mean)
    assert x.min() >= 0.0
    assert mean_and_spread(x, mean, mean) < Z_LIMIT
    assert shape(x / mean + 2.0, stats.expon(loc=2.0)) > P_LIMIT
    assert shape(1.01 * x / mean + 2.0, stats.expon(loc=2.0)) < P_LIMIT  # negative control
    assert stats.kstest(x / mean, "expon").pvalue > P_LIMIT


def test_drawing_with_replacement() -> None:
    """Every value of an arm is as likely as any other, and none is another arm's. False alarm: 2 x 5.7e-7."""
    sizes = np.array([7.0, 1000.0, 1.0])
    nature = np.array([np.cumsum(sizes) - sizes, sizes])
    pool = np.arange(sizes.sum())
    for arm in range(3):
        out = np.empty(SIZE)
        fill_from(SEED, nature, pool, arm, out)
        place = (out - nature[0, arm]).astype(np.int64)
        assert 0 <= place.min() <= place.max() < sizes[arm]
        counts = np.bincount(place, minlength=int(sizes[arm]))
        if arm < 2:
            assert stats.chisquare(counts).pvalue > P_LIMIT
            place[: SIZE // 50] = 0  # negative control
            assert stats.chisquare(np.bincount(place)).pvalue < P_LIMIT


@pytest.mark.parametrize("family", range(SAMPLED + 1))
def test_a_draw_takes_one_step_of_its_stream(family: int) -> None:
    """Whatever is drawn, also by many rejections: so the n-th reward is a function of (seed, run, arm, n)."""
    nature, pool = np.array([[0.6], [0.3]]), np.array([1.0])
    if family == POISSON:
        nature[0] = 12.0
    if family == SAMPLED:
        nature[:, 0] = 0.0, 1.0
    stream, other = np.zeros(2, np.uint64), np.zeros(2, np.uint64)
    for one in (stream, other):
        open_stream(np.uint64(1), np.uint64(2), np.uint64(3), one)
    for _ in range(1000):
        pull(family, nature, pool, 0, stream)
        next_word(other)
        assert (stream == other).all()
