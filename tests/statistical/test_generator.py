"""The generator: moments, tails to 6 σ, shape, and independence along streams and across them.

Seeds are fixed. Each statistic is a z-score with the bound 5 or an exact p-value with the bound 5.7e-7, the
same risk; no test looks at more than 600 of them, so none has a false-alarm probability above 4e-4. The same
functions are given numbers with a known defect, and must reject them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numba
import numpy as np
import pytest
from scipy import stats

from support.amounts import amount, once_more
from support.bandits import Array
from truebest.kernels import random as generator
from truebest.kernels.random import Words, next_word, normal, open_stream, reward, uniform

Loop = Callable[..., None]

SEED = 20_240_229
Z_LIMIT, P_LIMIT = 5.0, 5.7e-7  # P(|z| > 5) = 5.7e-7
LAGS = (1, 2, 3, 4, 5, 7, 8, 16, 31, 64, 255, 256, 1_000, 4_096)
TAIL, WIDEST = float(generator._ENDS[1]), float(generator._ENDS[0])
normal_tail = generator._normal_tail


def compiled(function: Loop) -> Loop:
    """Compile a loop of these tests."""
    loop: Loop = numba.njit()(function)
    return loop


@compiled
def fill_normals(seed: int, run: int, arm: int, out: Array) -> None:
    """The first normals of one stream."""
    stream = np.empty(2, dtype=np.uint64)
    open_stream(np.uint64(seed), np.uint64(run), np.uint64(arm), stream)
    for i in range(out.size):
        out[i] = normal(stream)


@compiled
def fill_uniforms(seed: int, run: int, arm: int, out: Array) -> None:
    """The first uniforms of one stream."""
    stream = np.empty(2, dtype=np.uint64)
    open_stream(np.uint64(seed), np.uint64(run), np.uint64(arm), stream)
    for i in range(out.size):
        out[i] = uniform(stream)


@compiled
def fill_first_normals(first: Words, step: Words, out: Array) -> None:
    """out[i, j] is normal number j of stream (seed, run, arm) = first + i step."""
    stream = np.empty(2, dtype=np.uint64)
    for i in range(out.shape[0]):
        key = first + np.uint64(i) * step
        open_stream(key[0], key[1], key[2], stream)
        for j in range(out.shape[1]):
            out[i, j] = normal(stream)


@compiled
def fill_rewards(seed: int, family: int, mean: float, noise: float, out: Array) -> None:
    """The first rewards of one arm."""
    stream = np.empty(2, dtype=np.uint64)
    open_stream(np.uint64(seed), np.uint64(0), np.uint64(0), stream)
    for i in range(out.size):
        out[i] = reward(family, mean, noise, stream)


@compiled
def count_tails(seed: int, num_streams: int, num_draws: int, scale: float, counts: Array) -> None:
    """counts[k-2]: how many of `scale` times a normal are below -k, and above k, for k = 2 to 6."""
    stream = np.empty(2, dtype=np.uint64)
    for run in range(num_streams):
        open_stream(np.uint64(seed), np.uint64(run), np.uint64(0), stream)
        for _ in range(num_draws):
            x = scale * normal(stream)
            if abs(x) > 2.0:
                side = 1 if x > 0.0 else 0
                for k in range(2, min(int(abs(x)), 6) + 1):
                    counts[k - 2, side] += 1.0


@compiled
def fill_tail(seed: int, out: Array) -> None:
    """Numbers beyond the last layer, from words as they get there: layer 0, right of the rectangle."""
    stream = np.empty(2, dtype=np.uint64)
    open_stream(np.uint64(seed), np.uint64(0), np.uint64(0), stream)
    inside = TAIL / WIDEST
    for i in range(out.size):
        place = inside + (1.0 - inside) * uniform(stream)
        out[i] = normal_tail(np.uint64(place * 2.0**53) << np.uint64(11))


@compiled
def fill_states(seeds: Words, runs: Words, arms: Words, out: Words) -> None:
    """State, increment and first word of the streams of all combinations."""
    i = 0
    for seed in seeds:
        for run in runs:
            for arm in arms:
                open_stream(seed, run, arm, out[i, :2])
                out[i, 2] = next_word(out[i, :2].copy())
                i += 1


def stream_of(fill: Loop, size: int, seed: int = SEED, run: int = 0, arm: int = 0) -> Array:
    """The first numbers of one stream."""
    out = np.empty(size)
    fill(seed, run, arm, out)
    return out


def words(*values: int) -> Words:
    """64-bit words."""
    return np.array(values, dtype=np.uint64)


def moment_scores(x: Array) -> Array:
    """z-scores of the first six moments of standard normals."""
    exact = np.array([0.0, 1.0, 0.0, 3.0, 0.0, 15.0])
    of_square = np.array([1.0, 3.0, 15.0, 105.0, 945.0, 10_395.0])
    power, means = np.ones_like(x), np.empty(6)
    for k in range(6):
        power = power * x
        means[k] = power.mean()
    scores: Array = (means - exact) / np.sqrt((of_square - exact**2) / x.size)
    return scores


def count_p_values(counts: Array, total: int, p: Array) -> Array:
    """Exact two-sided p-values of binomial counts."""
    below, above = stats.binom.cdf(counts, total, p), stats.binom.sf(counts - 1, total, p)
    values: Array = np.minimum(1.0, 2.0 * np.minimum(below, above))
    return values


def tail_p_values(num_streams: int, num_draws: int, scale: float) -> Array:
    """p-values of the numbers of draws beyond 2 to 6 σ on each side."""
    counts = np.zeros((5, 2))
    count_tails(SEED, num_streams, num_draws, scale, counts)
    return count_p_values(counts, num_streams * num_draws, stats.norm.sf(np.arange(2, 7))[:, None])


def beyond_p_values(x: Array) -> Array:
    """p-values of how many numbers of the tail are beyond 3.7, 3.8, ..., 6 σ."""
    ends = np.arange(3.7, 6.05, 0.1)
    counts = (x.size - np.searchsorted(np.sort(x), ends)).astype(np.float64)
    return count_p_values(counts, x.size, stats.norm.sf(ends) / stats.norm.sf(TAIL))


def shape_p_value(cell: Array, cells: int) -> float:
    """Two-sided p-value of the chi-square statistic; `cell` in [0, cells) should fall into each equally."""
    counts = np.bincount(cell.astype(np.int64), minlength=cells)
    statistic = stats.chisquare(counts).statistic
    return float(2 * min(stats.chi2.cdf(statistic, cells - 1), stats.chi2.sf(statistic, cells - 1)))


def uniform_p_values(u: Array) -> Array:
    """p-values of shape for the first bits, for later bits, and for pairs of neighbours in the sequence."""
    pairs = np.floor(u[::2] * 64) * 64 + np.floor(u[1::2] * 64)
    views = [np.floor(u * 4_096), np.floor(u * 2.0**20 % 1.0 * 4_096), pairs]
    return np.array([shape_p_value(view, 4_096) for view in views])


def correlation_scores(x: Array, y: Array) -> Array:
    """z-scores of the correlations of x, |x|, x² with y, |y|, y²."""
    left = np.stack([x, np.abs(x), x**2])
    right = np.stack([y, np.abs(y), y**2])
    scores: Array = np.corrcoef(left, right)[:3, 3:] * math.sqrt(x.size)
    return scores


def lag_scores(x: Array) -> Array:
    """z-scores of the correlations of a sequence with itself, later."""
    return np.array([correlation_scores(x[:-lag], x[lag:]) for lag in LAGS])


def repeated(states: Words) -> int:
    """How many streams share their state or their first word with another."""
    return sum(len(states) - np.unique(states[:, column]).size for column in (0, 2))


def test_moments() -> None:
    """The first six moments of 4 million normals are right. False alarm: 6 x 5.7e-7."""
    x = stream_of(fill_normals, 4_000_000)
    assert np.abs(moment_scores(x)).max() < Z_LIMIT
    assert np.abs(moment_scores(1.003 * x)).max() > Z_LIMIT  # negative controls
    assert np.abs(moment_scores(np.clip(x, -TAIL, TAIL))).max() > Z_LIMIT


@pytest.mark.slow
def test_tails_to_six_sigma() -> None:
    """P(x > k) and P(x < -k) for k = 2 to 6 in 2 x 10⁹ draws. False alarm: at most 10 x 5.7e-7."""
    assert tail_p_values(20_000, 100_000, 1.0).min() > P_LIMIT


@pytest.mark.slow
def test_tails_that_are_one_per_cent_too_wide_are_caught() -> None:
    """Negative control: the same test on a twentieth of the draws rejects a standard deviation of 1.01."""
    assert tail_p_values(1_000, 100_000, 1.01).min() < P_LIMIT


def test_the_part_beyond_the_last_layer() -> None:
    """20 million numbers beyond 3.65 σ, of which 150 beyond 6, follow the tail. False alarm: 24 x 5.7e-7."""
    x = np.empty(20_000_000)
    fill_tail(SEED, x)
    assert x.min() >= TAIL
    assert beyond_p_values(x).min() > P_LIMIT
    exponential = TAIL + np.random.default_rng(1).exponential(1 / TAIL, x.size // 100)
    assert beyond_p_values(exponential).min() < P_LIMIT  # negative control: what a forgotten rejection gives


def test_uniforms_have_the_right_shape() -> None:
    """Chi-square of leading bits, middle bits and pairs, 4 million draws. False alarm: 3 x 5.7e-7."""
    u = stream_of(fill_uniforms, 4_000_000)
    assert 0.0 <= u.min() < u.max() < 1.0
    assert uniform_p_values(u).min() > P_LIMIT
    weyl: Array = np.arange(float(u.size)) * 0.6180339887498949 % 1.0  # negative controls: no mix,
    assert uniform_p_values(weyl).min() < P_LIMIT
    assert uniform_p_values(u**1.02).min() < P_LIMIT  # and a slight skew


def test_normals_have_the_right_shape() -> None:
    """Chi-square of the normals' quantiles and Kolmogorov-Smirnov. False alarm: 4 x 5.7e-7."""
    x = stream_of(fill_normals, 4_000_000)
    assert uniform_p_values(stats.norm.cdf(x)).min() > P_LIMIT
    assert stats.kstest(x, "norm").pvalue > P_LIMIT
    assert uniform_p_values(stats.norm.cdf(x + 0.02)).min() < P_LIMIT  # negative controls
    assert stats.kstest(x + 0.005, "norm").pvalue < P_LIMIT


def test_a_stream_is_not_correlated_with_its_past() -> None:
    """x, |x| and x² at 14 lags in 4 streams of a million. False alarm: 504 x 5.7e-7 = 3e-4."""
    for run in range(4):
        assert np.abs(lag_scores(stream_of(fill_normals, 1_000_000, run=run))).max() < Z_LIMIT


def test_a_slight_dependence_on_the_past_is_caught() -> None:
    """Negative control: a correlation of 0.01 at lag 7, and one that shows in the squares alone."""
    x = stream_of(fill_normals, 1_000_000)
    assert np.abs(lag_scores((x + 0.01 * np.roll(x, 7)) / math.sqrt(1.0001))).max() > Z_LIMIT
    sizes = np.repeat(np.abs(x[::2]), 2)
    assert np.abs(lag_scores(np.copysign(sizes, stream_of(fill_normals, sizes.size, run=1)))).max() > Z_LIMIT


@pytest.mark.parametrize("axis", [0, 1, 2], ids=["seeds", "runs", "arms"])
def test_neighbouring_streams_are_independent(axis: int) -> None:
    """Streams that differ in one number, by 1 or up to 4096: no correlation, also with the next draw.

    The first two numbers of a million streams, and long stretches of neighbours. False alarm: at most
    (14 + 3) x 9 correlations, one chi-square and 6 moments, 160 x 5.7e-7 = 9e-5 for each axis.
    """
    step = np.eye(3, dtype=np.uint64)[axis]
    out = np.empty((1_000_000, 2))
    fill_first_normals(words(SEED, 0, 0), step, out)
    first, second = np.ascontiguousarray(out.T)
    assert np.abs(lag_scores(first)).max() < Z_LIMIT
    assert np.abs(correlation_scores(first[1:], second[:-1])).max() < Z_LIMIT
    assert np.abs(moment_scores(first)).max() < Z_LIMIT
    assert shape_p_value(np.floor(stats.norm.cdf(first) * 4_096), 4_096) > P_LIMIT
    long = np.empty((3, 1_000_000))
    fill_first_normals(words(SEED, 5, 1), step, long)
    for other in (1, 2):
        assert np.abs(correlation_scores(long[0], long[other])).max() < Z_LIMIT


def test_streams_at_a_simple_distance_do_not_overlap() -> None:
    """Negative control and its opposite: streams that are shifts of one another correlate, ours do not.

    Cross-correlation at every shift up to 200 between runs 0 and 1. False alarm: 401 x 5.7e-7 = 2e-4.
    """

    def largest(x: Array, y: Array) -> float:
        middle = x[200:-200]
        shifted = [y[200 + k : y.size - 200 + k] for k in range(-200, 201)]
        return max(abs(float(np.corrcoef(middle, s)[0, 1])) * math.sqrt(middle.size) for s in shifted)

    x, y = stream_of(fill_normals, 100_400), stream_of(fill_normals, 100_400, run=1)
    assert largest(x, y) < Z_LIMIT
    assert largest(x, np.roll(x, 137)) > Z_LIMIT


@once_more
def test_no_two_streams_share_a_state() -> None:
    """Up to a million combinations of seeds, runs and arms: all states, and all first words, are different.

    False alarm: 2 x (10⁶)²/2⁶⁵ = 5e-8. Increments are odd, as the period of 2⁶⁴ needs.
    """
    edges = [0, 1, 2, 2**32 - 1, 2**32, 2**63, 2**64 - 2, 2**64 - 1]
    seeds = words(*edges, *range(3, 95))
    arms = amount(25, 100)
    states = np.empty((10_000 * arms, 3), dtype=np.uint64)
    fill_states(seeds, np.arange(100, dtype=np.uint64), np.arange(arms, dtype=np.uint64), states)
    assert repeated(states) == 0
    assert (states[:, 1] % 2 == 1).all()
    naive = states.copy()  # negative control: a state that is the sum of seed, run and arm
    naive[:, 0] = np.add.outer(np.add.outer(seeds, seeds), seeds[:arms]).ravel()
    assert repeated(naive) > 0


def test_a_stream_is_a_function_of_seed_run_and_arm() -> None:
    """The same three numbers give the same sequence, a longer one begins with it, any other differs."""
    x = stream_of(fill_normals, 1_000, seed=3, run=4, arm=5)
    assert (stream_of(fill_normals, 1_000, seed=3, run=4, arm=5) == x).all()
    assert (stream_of(fill_normals, 5_000, seed=3, run=4, arm=5)[:1_000] == x).all()
    for other in [(4, 4, 5), (3, 5, 5), (3, 4, 6), (4, 3, 5), (3, 5, 4), (5, 4, 3)]:
        assert not np.isin(stream_of(fill_normals, 1_000, *other), x).any()


REWARDS = [
    (generator.GAUSSIAN, 0.7, 1.0, 1.0),
    (generator.GAUSSIAN, -2.0, 0.25, 0.25),
    (generator.BERNOULLI, 0.3, 1.0, math.sqrt(0.3 * 0.7)),
    (generator.BERNOULLI, 0.999, 0.0, math.sqrt(0.999 * 0.001)),
    (generator.UNIFORM, 0.5, 0.5, 0.5 / math.sqrt(3)),
    (generator.UNIFORM, -1.0, 3.0, math.sqrt(3)),
]


def reward_scores(x: Array, mean: float, deviation: float) -> Array:
    """z-scores of the mean and of the mean squared distance from the true mean."""
    squares = (x - mean) ** 2
    return np.array(
        [
            (x.mean() - mean) / deviation * math.sqrt(x.size),
            (squares.mean() - deviation**2) / squares.std() * math.sqrt(x.size),
        ]
    )


@pytest.mark.parametrize(("family", "mean", "noise", "deviation"), REWARDS)
def test_rewards_have_their_mean_and_spread(family: int, mean: float, noise: float, deviation: float) -> None:
    """Mean and standard deviation of a million rewards. False alarm: 12 x 5.7e-7 over all."""
    x = np.empty(1_000_000)
    fill_rewards(SEED, family, mean, noise, x)
    assert np.abs(reward_scores(x, mean, deviation)).max() < Z_LIMIT
    assert np.abs(reward_scores(x, mean + 0.01 * deviation, deviation)).max() > Z_LIMIT  # negative control
    if family == generator.BERNOULLI:
        assert set(np.unique(x)) == {0.0, 1.0}
    if family == generator.UNIFORM:
        assert mean - noise <= x.min() < mean - 0.999 * noise
        assert mean + 0.999 * noise < x.max() <= mean + noise


def test_sure_rewards_are_sure() -> None:
    """Bernoulli with mean 0 or 1, and rewards without noise, are constants."""
    x = np.empty(100_000)
    for family, mean in [(generator.BERNOULLI, 0.0), (generator.BERNOULLI, 1.0), (generator.GAUSSIAN, 0.3)]:
        fill_rewards(SEED, family, mean, 0.0, x)
        assert (x == mean).all()
