"""Lemmas 11 to 13: what moving arms does to the weights and to the time."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import truebest
from support.bandits import Array, gap_vectors


@given(gap_vectors(min_arms=3), st.integers(1, 11), st.floats(1e-3, 1.0))
def test_moving_one_suboptimal_arm_away(gaps: Array, arm: int, step: float) -> None:
    """Lemma 11: its weight falls, all other suboptimal weights rise, the time falls."""
    arm = 1 + arm % (gaps.size - 1)
    moved = gaps.copy()
    moved[arm] *= 1.0 + step
    before, after = truebest.optimal_weights(gaps=gaps), truebest.optimal_weights(gaps=moved)
    others = np.ones(gaps.size, dtype=bool)
    others[[0, arm]] = False
    # Strict in exact arithmetic; a change below rounding shows as equality.
    assert after.weights[arm] < before.weights[arm]
    assert (after.weights[others] >= before.weights[others] * (1 - 1e-13)).all()
    assert after.time <= before.time * (1 + 1e-13)
    if before.weights[arm] > 1e-3:
        assert (after.weights[others] > before.weights[others]).all()
        assert after.time < before.time


@given(gap_vectors(min_arms=3), st.floats(1e-3, 1.0))
def test_raising_the_best_arm(gaps: Array, step: float) -> None:
    """Lemma 12: w_min does not fall, and rises when the gaps are not all equal."""
    raised = np.where(gaps > 0, gaps + step, 0.0)
    before = truebest.optimal_weights(gaps=gaps).weights.min()
    after = truebest.optimal_weights(gaps=raised).weights.min()
    assert after >= before * (1 - 1e-13)
    if gaps[1:].max() > 1.01 * gaps[1:].min():
        assert after > before


@given(gap_vectors(min_arms=3), st.floats(0.01, 0.99))
def test_raising_the_worst_arms(gaps: Array, level: float) -> None:
    """Lemma 13: bringing all arms below a level up to it does not lower w_min."""
    largest = gaps.max()
    new = largest * level
    assume(new > gaps[1:].min() * (1 + 1e-9) or gaps.size > 3)
    raised = np.minimum(gaps, new)
    before = truebest.optimal_weights(gaps=gaps).weights.min()
    assert truebest.optimal_weights(gaps=raised).weights.min() >= before * (1 - 1e-13)
