"""Newton on ψ = (Σ q²)^(-1/2), as docs/errata.md proves it: error, third-order step, evaluations."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from support.bandits import Array, gap_vectors
from truebest.kernels import weights as kernels

RATE = 1.5 * (3 - 2 * np.sqrt(2))  # 0.2574


def squared(gaps: Array) -> Array:
    """Squared gaps in units of the smallest, without the best arm; as the solver scales them."""
    ratio: Array = gaps[1:] / gaps[1:].min()
    return ratio**2


@st.composite
def many_arms(draw: st.DrawFn) -> Array:
    """Squared gaps, the smallest 1: a few of any size and up to 3000 equal ones."""
    few = squared(draw(gap_vectors(max_arms=8, smallest=1e-2)))
    return np.concatenate([few, np.full(draw(st.integers(0, 3000)), draw(st.floats(1.0, 1e4)))])


def sums(d: Array, r: float) -> tuple[float, float, float]:
    """Σ q², Σ q³, Σ q⁴ by NumPy."""
    q = 1.0 / (r * d - 1.0)
    return float(np.sum(q**2)), float(np.sum(q**3)), float(np.sum(q**4))


def root(d: Array) -> float:
    """The root of φ by bisection."""
    low, high = 2.0, 1.0 + np.sqrt(float(d.size))
    for _ in range(60):
        r = 0.5 * (low + high)
        low, high = (r, high) if sums(d, r)[0] > 1.0 else (low, r)
    return float(0.5 * (low + high))


def newton(s2: float, s3: float) -> float:
    """The relative step u."""
    return float(s2 * (np.sqrt(s2) - 1.0) / (s2 + s3))


@given(many_arms(), st.floats(0.0, 1.0))
def test_the_relative_error_is_squared(d: Array, part: float) -> None:
    """0 <= e' <= 0.2574 e² from any r between 2/Δ_min² and the root, and the step is at least the paper's."""
    end = root(d)
    r = 2.0 + part * (end - 2.0)
    s2, s3, _ = sums(d, r)
    error = 1.0 - r / end
    left = 1.0 - (1.0 - error) * (1.0 + newton(s2, s3))
    assert -1e-13 <= left <= RATE * error**2 + 1e-13
    assert newton(s2, s3) >= (s2 - 1.0) / (2.0 * (s2 + s3)) - 1e-13


def test_the_rate_is_nearly_reached() -> None:
    """One arm with q = 1 and very many tiny ones: in the limit e' = 0.2234 e² at e = 0.2226."""
    e = 0.2226
    rest = 1 / (1 - e) ** 2 - 1 / (1 + e) ** 2  # Σ q² of the tiny ones, whose q³ vanish
    left = 1 - (1 - e) * (1 + newton(1 + rest, 1.0))
    assert 0.2233 * e**2 < left < RATE * e**2


@given(many_arms(), st.floats(-0.01, 0.3))
def test_the_third_order_step(d: Array, v: float) -> None:
    """|u + c u² - v| is at most 0.601 v³ below the root, |v|³ slightly above it; u never exceeds v."""
    end = root(d)
    r = end / (1.0 + v)
    assume(r >= 2.0)
    s2, s3, s4 = sums(d, r)
    u = newton(s2, s3)
    c = 1.5 * (s4 - s3 * s3 / s2) / (s2 + s3)
    assert -1e-15 <= c <= RATE
    assert u <= v + 1e-13
    assert abs(u + c * u * u - v) <= (0.601 if v > 0 else 1.0) * abs(v) ** 3 + 1e-13
    if abs(u) < 1e-2:
        np.testing.assert_allclose(kernels.newton_step(s2, s3, s4), u + c * u * u, rtol=1e-9, atol=1e-15)


@given(many_arms())
def test_five_evaluations_are_enough_from_the_lower_bound(d: Array) -> None:
    """From the start (16)."""
    start = max(2.0, (1.0 + np.sqrt(float(d.size))) / float(d.mean()))
    found, evaluations = kernels.newton_root(d, start, 2.0)
    assert evaluations <= 5
    np.testing.assert_allclose(found, root(d), rtol=1e-13)


@given(many_arms(), st.floats(0.0, 10.0))
def test_six_evaluations_are_enough_from_any_warm_start(d: Array, factor: float) -> None:
    """From any start of at least 2/Δ_min², below the root or above."""
    found, evaluations = kernels.newton_root(d, 2.0 + factor * root(d), 2.0)
    assert evaluations <= 6
    np.testing.assert_allclose(found, root(d), rtol=1e-13)


def test_the_polynomial_in_the_proof() -> None:
    """(1+e)² - G²H = ¼ θ(1-θ) e³ P, at more points than the degree; and P >= 0 for θ <= 4/5."""
    theta, e = np.meshgrid(np.linspace(0.0, 1.0, 51), np.linspace(0.0, 1.0, 51))
    big_g = 1 + theta * e - 1.5 * theta * (1 - theta) * e**2
    big_h = 1 + (1 - theta) * (2 * e + e**2)
    p = 16 - 20 * theta + e * (12 - theta - 15 * theta**2)
    p -= 6 * e**2 * theta * (1 - theta) * (1 - 3 * theta) + 9 * e**3 * theta * (1 - theta) ** 2
    right = 0.25 * theta * (1 - theta) * e**3 * p
    np.testing.assert_allclose((1 + e) ** 2 - big_g**2 * big_h, right, atol=1e-13)
    assert (p[theta <= 0.8] >= -1e-12).all()
