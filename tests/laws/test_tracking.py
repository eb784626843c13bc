"""Tracking and exploration on every path: Lemma 25, the corrected Lemma 3, and where they fail as printed."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import truebest
from support.bandits import MU_1, Array, gap_vectors

DELTA = 1e-6  # small, so that the paths are long


def largest_deviation(path: truebest.Trace, target: Array) -> float:
    """max over a and t of |N_a(t) - Σ_{s<t} target_a(s)|; rows of `target` from time K, 1/K before.

    Up to time K the deviation is below 1. The last row is the moment of the stop and has no target.
    """
    sums = 1.0 + np.cumsum(target[:-1], axis=0)
    return float(np.abs(path.pulls[1:] - sums).max(initial=0.0))


def targets(path: truebest.Trace) -> Array:
    """The target weights of a path whose strategy has some."""
    assert path.target is not None
    return path.target


@st.composite
def paths(draw: st.DrawFn, widths: tuple[str, ...], max_samples: int) -> tuple[truebest.Trace, float]:
    """A path of EBS with C-tracking and its γ: any gaps, with tied arms or not, noisy or not."""
    gaps = draw(gap_vectors(max_arms=8, smallest=0.05)) * draw(st.sampled_from([1.0, 3.0]))
    if draw(st.booleans()):
        gaps = np.append(gaps, draw(st.sampled_from(gaps.tolist())))
    gamma = draw(st.sampled_from([0.01, 0.1, 0.5, 0.99]))
    path = truebest.trace(
        truebest.EBS(tracking="C", gamma=gamma, width=draw(st.sampled_from(widths))),
        -gaps,
        DELTA,
        seed=draw(st.integers(0, 2**64 - 1)),
        noise=draw(st.sampled_from([0.0, 0.1, 1.0, 2.0])),
        sigma=1.0,
        max_samples=max_samples,
    )
    return path, gamma


@given(paths(("paper", "experiments", "mixture"), max_samples=3_000))
def test_ebs_stays_within_k_minus_one_of_its_target(drawn: tuple[truebest.Trace, float]) -> None:
    """Lemma 25: |N_a(t) - Σ_{s<t} w_a(s)| <= K-1 for every arm, at every time, on every path."""
    path, _ = drawn
    target = targets(path)
    np.testing.assert_allclose(target[:-1].sum(axis=1), 1.0, rtol=1e-12)
    assert largest_deviation(path, target) <= path.pulls.shape[1] - 1 + 1e-6


@given(paths(("paper", "experiments", "mixture"), max_samples=3_000))
def test_ebs_is_never_a_whole_pull_ahead(drawn: tuple[truebest.Trace, float]) -> None:
    """Lemma 25, sharper: N_a(t) - Σ_{s<t} w_a(s) lies between -(K-1)²/K and (K-1)/K."""
    path, _ = drawn
    num_arms = path.pulls.shape[1]
    ahead = path.pulls[1:] - (1.0 + np.cumsum(targets(path)[:-1], axis=0))
    assert ahead.max(initial=0.0) <= (num_arms - 1) / num_arms + 1e-6
    assert ahead.min(initial=0.0) >= -((num_arms - 1) ** 2) / num_arms - 1e-6


def test_ebs_stays_within_k_minus_one_on_long_ties() -> None:
    """Lemma 25 on 200000 steps with two best arms: errors do not build up."""
    for noise in (0.0, 1.0):
        path = truebest.trace(
            truebest.EBS(tracking="C"),
            (1.0, 1.0, 0.5, 0.0),
            1e-12,
            noise=noise,
            sigma=1.0,
            max_samples=200_000,
        )
        assert path.samples == 200_000
        assert largest_deviation(path, targets(path)) <= 3.0


def test_track_and_stop_strays_from_its_target() -> None:
    """Lemma 25 fails for Track-and-Stop with C-tracking: forced steps add pulls and no target.

    The trace marks a forced step by a target of 1 for the forced arm. The sums that the strategy tracks leave
    these rows out, and so does the first count; the second takes them as targets. Neither stays near
    K-1 = 4: on these paths they pass 36 and 59, and 60 and 59.
    """
    for run in (0, 10):
        path = truebest.trace("tas-c", MU_1, DELTA, run=run)
        target = targets(path)
        forced = (target == 1.0).any(axis=1)
        assert 100 < forced.sum() < 0.01 * path.samples
        assert largest_deviation(path, np.where(forced[:, None], 0.0, target)) > 36
        assert largest_deviation(path, target) > 59


def test_d_tracking_strays_from_its_target() -> None:
    """Negative control: with D-tracking, which does not look at the sums, the same bound is broken."""
    path = truebest.trace(truebest.EBS(tracking="D"), MU_1, DELTA)
    assert largest_deviation(path, targets(path)) > 100


def largest_biased_gap(path: truebest.Trace) -> float:
    """A bound D on the gaps of the biased bandit: max UB - min UB where intervals are separate, else 0."""
    assert path.lower is not None
    assert path.upper is not None
    lower, upper = path.lower[:-1], path.upper[:-1]
    separate = lower.max(axis=1) > upper.min(axis=1)
    return float(np.ptp(upper, axis=1)[separate].max(initial=0.0))


def corrected_rate(time: Array, num_arms: int, gamma: float, gap: float) -> Array:
    """(4/(K D²)) (log²(4Kt/γ) - log²(4K s0/γ)) + s0/K - K, and before s0 what uniform sampling gives.

    s0 is the first s with 8 log(4Ks/γ) <= s D². Up to there the target is uniform, or else its smallest
    weight, at least 8 log(4Ks/γ)/(K s D²), would exceed 1/K.
    """
    s = np.arange(1.0, time[-1] + 1.0)
    reached = 8.0 * np.log(4 * num_arms * s / gamma) <= s * gap**2
    uniform = time / num_arms - num_arms
    if not reached.any():
        return uniform
    s0 = float(s[reached.argmax()])
    growth = np.log(4 * num_arms * time / gamma) ** 2 - np.log(4 * num_arms * s0 / gamma) ** 2
    later = 4.0 / (num_arms * gap**2) * growth + s0 / num_arms - num_arms
    rate: Array = np.where(time < s0, uniform, later)
    return rate


def slack(path: truebest.Trace, rate: Array) -> Array:
    """How far the arm pulled least is above a rate, at each time."""
    fewest: Array = path.pulls.min(axis=1)
    return fewest - rate


@given(paths(("paper",), max_samples=5_000))
def test_the_corrected_exploration_rate_holds(drawn: tuple[truebest.Trace, float]) -> None:
    """Lemma 3, corrected: with the intervals of (3) no arm falls below a rate of log²(t), on any path."""
    path, gamma = drawn
    time = path.time.astype(float)
    rate = corrected_rate(time, path.pulls.shape[1], gamma, largest_biased_gap(path))
    assert (slack(path, rate) >= 0.0).all()


def near_tie(width: str, max_samples: int) -> truebest.Trace:
    """The path of μ = (1, 1, 0) without noise, γ = 0.1."""
    strategy = truebest.EBS(tracking="C", gamma=0.1, width=width)
    return truebest.trace(strategy, (1.0, 1.0, 0.0), noise=0.0, sigma=1.0, max_samples=max_samples)


def test_the_corrected_rate_is_of_the_right_order() -> None:
    """On μ = (1, 1, 0) the arm pulled least stays between one and five times the corrected rate."""
    path = near_tie("paper", 300_000)
    rate = corrected_rate(path.time.astype(float), 3, 0.1, largest_biased_gap(path))
    assert (slack(path, rate) >= 0.0).all()
    assert rate[-1] < path.pulls[-1].min() < 5.0 * rate[-1]


def test_the_corrected_rate_needs_the_intervals_of_the_paper() -> None:
    """Negative control: the narrower intervals of the experiments break the same bound."""
    path = near_tie("experiments", 30_000)
    rate = corrected_rate(path.time.astype(float), 3, 0.1, largest_biased_gap(path))
    assert (slack(path, rate) < -3.0).any()


def test_the_printed_exploration_rate_fails() -> None:
    """Lemma 3 as printed, N_a(t) >= (2/K) sqrt(t) - K, is broken on μ = (1, 1, 0) from t of about 1.9e5."""
    path = near_tie("experiments", 400_000)
    assert path.recommended is None
    broken = slack(path, (2 / 3) * np.sqrt(path.time) - 3) < 0
    assert 1.8e5 < path.time[broken.argmax()] < 2.0e5
    assert broken[-1]
    assert slack(path, (2 / 3) * np.sqrt(path.time) - 3)[-1] < -50
