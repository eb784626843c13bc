"""Theorem 14 and Proposition 15: how far w, T and g can move; Lemmas 17 and 18 behind the latter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import truebest
from support.bandits import MU_1, Array, gap_vectors


def perturbed(gaps: Array, epsilon: float, seed: int) -> Array:
    """Squared gaps times factors in [1-ε, 1+ε]: a random mixture of the extremes and the inside."""
    rng = np.random.default_rng(seed)
    inside = rng.uniform(1 - epsilon, 1 + epsilon, gaps.size)
    ends = rng.choice([1 - epsilon, 1 + epsilon], gaps.size)
    return gaps * np.sqrt(np.where(rng.random(gaps.size) < 0.7, ends, inside))


@pytest.mark.parametrize(("version", "largest"), [("printed", 1 / 7), ("sharper", 0.999)])
@given(data=st.data())
def test_regularity_bounds_hold(version: str, largest: float, data: st.DataObject) -> None:
    """Theorem 14 as printed for ε <= 1/7, and the sharper bounds for every ε < 1."""
    gaps = data.draw(gap_vectors(min_arms=3))
    epsilon = data.draw(st.floats(0.0, largest))
    other = perturbed(gaps, epsilon, data.draw(st.integers(0, 2**32 - 1)))
    bounds = truebest.regularity_bounds(epsilon, version=version)
    one, two = truebest.optimal_weights(gaps=gaps), truebest.optimal_weights(gaps=other)
    slack = 1 + 1e-11
    assert bounds.time_lower / slack <= two.time / one.time <= bounds.time_upper * slack
    change = two.weights / one.weights
    assert (bounds.weight_lower - 1e-11 <= change).all()
    assert (change <= bounds.weight_upper * slack).all()


@given(st.floats(1e-6, 1 / 7))
def test_sharper_bounds_are_sharper(epsilon: float) -> None:
    """Inside the printed range the new bounds lie strictly within the printed ones."""
    ours, printed = (
        truebest.regularity_bounds(epsilon),
        truebest.regularity_bounds(epsilon, version="printed"),
    )
    assert printed.time_lower < ours.time_lower
    assert ours.time_upper < printed.time_upper
    assert printed.weight_lower < ours.weight_lower
    assert ours.weight_upper < printed.weight_upper


@given(gap_vectors(min_arms=2), st.floats(0.0, 0.999), st.integers(0, 2**32 - 1))
def test_the_weight_of_the_best_arm_moves_less(gaps: Array, epsilon: float, seed: int) -> None:
    """w'_1/w_1 lies within ((1+ε)/(1-ε))^(±1)."""
    one = truebest.optimal_weights(gaps=gaps).weights[0]
    two = truebest.optimal_weights(gaps=perturbed(gaps, epsilon, seed)).weights[0]
    factor = (1 + epsilon) / (1 - epsilon)
    assert 1 / factor * (1 - 1e-11) <= two / one <= factor * (1 + 1e-11)


@given(gap_vectors(min_arms=3), st.integers(0, 2**32 - 1))
def test_the_derivatives_behind_the_exponent(gaps: Array, seed: int) -> None:
    """d log w = Σ ν h + q Σ π h - (1+q) h (Σ ν h - Σ π h for the best arm) when d log Δ² = h."""
    h = np.random.default_rng(seed).uniform(0.0, 1.0, gaps.size - 1)
    q = 1.0 / (truebest.optimal_weights(gaps=gaps).ratio * gaps[1:] ** 2 - 1.0)
    nu, pi = (q + q**2) / (1 + q.sum()), (q**2 + q**3) / (1 + (q**3).sum())
    expected = np.append((nu - pi) @ h, nu @ h + q * (pi @ h) - (1 + q) * h)
    step = 1e-5
    ends = [
        truebest.optimal_weights(gaps=np.append(0.0, gaps[1:] * np.exp(x * h / 2))) for x in (-step, step)
    ]
    found = (np.log(ends[1].weights) - np.log(ends[0].weights)) / (2 * step)
    np.testing.assert_allclose(found, expected, atol=1e-7)
    assert (1 - nu + q * (1 - pi)).max() < 1.403


def test_the_exponent_bounds_its_maximum() -> None:
    """x(y²+y³)/(1+x³+y³) < 0.403 on the unit circle, by cells; an exponent of 1.40297 would be too small."""
    angle = np.linspace(0.0, np.pi / 2, 200_001)
    x, y = np.sin(angle), np.cos(angle)
    top = x[1:] * (y[:-1] ** 2 + y[:-1] ** 3) / (1 + x[:-1] ** 3 + y[1:] ** 3)
    assert top.max() < 0.403
    inside = x * (y**2 + y**3) / (1 + x**3 + y**3)
    assert inside.max() > 0.40297
    # One arm with q = x, one with nearly y, 1e30 arms with a tiny share of Σ q²: C is that near.
    best, tiny = float(x[inside.argmax()]), 1e-6
    q, s_1 = np.array([best, np.sqrt(1 - best**2 - tiny**2)]), tiny * 1e15
    nu = (best + best**2) / (1 + q.sum() + s_1)
    pi = (best**2 + best**3) / (1 + (q**3).sum())
    assert 1 - nu + best * (1 - pi) > 1.40297


def test_the_time_bounds_are_attained() -> None:
    """Scaling all squared gaps by 1 ± ε moves T by exactly 1/(1 ± ε): no sharper bound exists."""
    gaps = np.array([0.0, 0.1, 0.3, 0.5])
    bounds = truebest.regularity_bounds(0.3)
    time = truebest.characteristic_time(gaps=gaps)
    for factor, bound in ((1.3, bounds.time_lower), (0.7, bounds.time_upper)):
        moved = truebest.characteristic_time(gaps=gaps * np.sqrt(factor))
        np.testing.assert_allclose(moved / time, bound, rtol=1e-13)


@given(gap_vectors(min_arms=2), st.floats(0.0, 0.5), st.integers(0, 2**32 - 1))
def test_moving_the_means_moves_g_by_half_as_much(gaps: Array, size: float, seed: int) -> None:
    """Lemma 17: g(μ', v) >= g(μ, v) - ε/2 for means in [0, 1] and optimal v."""
    rng = np.random.default_rng(seed)
    mu = 1.0 - gaps
    other = np.clip(mu + rng.uniform(-size, size, mu.size), 0.0, 1.0)
    v = truebest.optimal_weights(mu).weights
    epsilon = np.abs(mu - other).max()
    assert truebest.evidence_rate(other, v) >= truebest.evidence_rate(mu, v) - epsilon / 2 - 1e-15


@given(gap_vectors(min_arms=2), st.floats(0.0, 1.0), st.integers(0, 2**32 - 1))
def test_moving_the_weights_moves_g_by_a_factor(gaps: Array, eta: float, seed: int) -> None:
    """Lemma 18: g(μ, v) >= (1-η)²/(1+η) g(μ, u) when v is within a factor 1 ± η of u."""
    rng = np.random.default_rng(seed)
    u = rng.dirichlet(np.ones(gaps.size))
    v = u * rng.uniform(1 - eta, 1 + eta, gaps.size)
    v /= v.sum()
    assume((u > 0).all())
    reach = float((np.abs(u - v) / u).max())
    assume(reach <= 1.0)
    factor = (1 - reach) ** 2 / (1 + reach)
    assert truebest.evidence_rate(-gaps, v) >= factor * truebest.evidence_rate(-gaps, u) * (1 - 1e-12)


@given(gap_vectors(min_arms=2), st.floats(0.0, 0.3), st.floats(0.0, 1.0), st.integers(0, 2**32 - 1))
def test_control_of_g(gaps: Array, size: float, spread: float, seed: int) -> None:
    """Proposition 15, for η <= 1."""
    rng = np.random.default_rng(seed)
    mu = 1.0 - gaps
    other = np.clip(mu + rng.uniform(-size, size, mu.size), 0.0, 1.0)
    w = truebest.optimal_weights(mu).weights
    v = w * rng.uniform(1 - spread, 1 + spread, mu.size)
    v /= v.sum()
    epsilon, eta = float(np.abs(mu - other).max()), float((np.abs(w - v) / w).max())
    assume(eta <= 1.0)
    bound = (1 - eta) ** 2 / (1 + eta) * (float(truebest.evidence_rate(mu, w)) - epsilon / 2)
    assert truebest.evidence_rate(other, v) >= bound - 1e-15


@given(gap_vectors(min_arms=2), st.floats(0.0, 0.3), st.integers(0, 2**32 - 1))
def test_corrected_control_of_g(gaps: Array, size: float, seed: int) -> None:
    """Proposition 15 for every η, with max(1-η, 0) in place of 1-η, and Lemma 17 for every v."""
    rng = np.random.default_rng(seed)
    mu = 1.0 - gaps
    other = np.clip(mu + rng.uniform(-size, size, mu.size), 0.0, 1.0)
    w, v = truebest.optimal_weights(mu).weights, rng.dirichlet(np.ones(mu.size))
    epsilon, eta = float(np.abs(mu - other).max()), float((np.abs(w - v) / w).max())
    bound = max(1 - eta, 0.0) ** 2 / (1 + eta) * (float(truebest.evidence_rate(mu, w)) - epsilon / 2)
    assert truebest.evidence_rate(other, v) >= bound - 1e-15
    assert truebest.evidence_rate(other, v) >= truebest.evidence_rate(mu, v) - epsilon / 2 - 1e-15


def test_control_of_g_fails_for_large_eta() -> None:
    """Proposition 15 without η <= 1: μ⁽¹⁾ with w_4 multiplied by 4.2 has η = 3.07 and breaks it."""
    w = truebest.optimal_weights(MU_1).weights
    v = w.copy()
    v[3] *= 4.2
    v /= v.sum()
    eta = float((np.abs(w - v) / w).max())
    assert round(eta, 2) == 3.07
    claimed = (1 - eta) ** 2 / (1 + eta) * float(truebest.evidence_rate(MU_1, w))
    assert truebest.evidence_rate(MU_1, v) < claimed
