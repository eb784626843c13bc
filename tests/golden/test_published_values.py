"""Numbers with an origin: 40-digit arithmetic, the paper's table, and solutions made here with mpmath."""

from __future__ import annotations

import numpy as np
import pytest

import truebest
from support.bandits import GAPS_1, GAPS_2, MU_1, MU_2, exact_solution, extended_weights

# Computed with 40 digits, independently of this code.
GOLDEN = {
    GAPS_1: (
        200.21486612266009,
        839.85502090393792,
        [0.476784352392555, 0.475762100813451, 0.0280142713990492, 0.00971963769747197, 0.00971963769747197],
    ),
    GAPS_2: (
        14.436793287909396,
        76.993818685653568,
        [0.375011748588577, 0.286293222053141, 0.194968220464592, 0.143726808893691],
    ),
}


@pytest.mark.parametrize("gaps", GOLDEN)
@pytest.mark.parametrize("method", ["newton", "paper"])
def test_forty_digit_values(gaps: tuple[float, ...], method: str) -> None:
    """r, T and w of the paper's two bandits, to the last digit (to 1e-10 by the printed algorithm)."""
    ratio, time, weights = GOLDEN[gaps]
    found = truebest.optimal_weights(gaps=gaps, method=method)
    tolerance = 1e-14 if method == "newton" else 1e-10
    np.testing.assert_allclose(found.ratio, ratio, rtol=tolerance)
    np.testing.assert_allclose(found.time, time, rtol=tolerance)
    np.testing.assert_allclose(found.weights, weights, rtol=max(tolerance, 2e-15))


def test_weights_in_the_captions() -> None:
    """The paper prints w of both bandits to three digits (Table 1 and Figure 2)."""
    assert np.round(truebest.optimal_weights(MU_1).weights, 3).tolist() == [0.477, 0.476, 0.028, 0.010, 0.010]
    assert np.round(truebest.optimal_weights(MU_2).weights, 3).tolist() == [0.375, 0.286, 0.195, 0.144]


@pytest.mark.parametrize(
    ("means", "delta", "published"),
    [(MU_1, 0.1, 1476), (MU_1, 0.01, 3782), (MU_1, 1e-5, 9669), (MU_2, 0.1, 135), (MU_2, 0.01, 347)],
)
def test_lower_bounds_of_table_1(means: tuple[float, ...], delta: float, published: int) -> None:
    """The column T kl(δ, 1-δ) of Table 1."""
    assert round(float(truebest.lower_bound(means, delta))) == published


@pytest.mark.parametrize("seed", range(25))
def test_against_a_high_precision_solve(seed: int) -> None:
    """Random gaps over many orders of magnitude, against bisection with 60 digits."""
    rng = np.random.default_rng(seed)
    num_arms = int(rng.integers(2, 40))
    spread = rng.choice([1.0, 10.0, 100.0])
    gaps = np.concatenate([[0.0], 10.0 ** rng.uniform(-spread, 0.0, num_arms - 1)])
    weights, time, ratio = exact_solution(gaps)
    found = truebest.optimal_weights(gaps=gaps)
    np.testing.assert_allclose(found.weights, [float(w) for w in weights], rtol=1e-14)
    np.testing.assert_allclose(found.time, float(time), rtol=1e-14)
    np.testing.assert_allclose(found.ratio, float(ratio), rtol=1e-14)


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e-150, 1.0, 1e75, 1e149])
def test_any_unit_gives_the_same_weights(unit: float) -> None:
    """Gaps from 1e-300 to 1e150: exact weights and log T; T and r are inf beyond double range."""
    found = truebest.optimal_weights(gaps=unit * np.array(GAPS_1))
    np.testing.assert_allclose(found.weights, GOLDEN[GAPS_1][2], rtol=1e-14)
    expected = np.log(839.85502090393792) - 2 * np.log(unit)
    np.testing.assert_allclose(found.log_time, expected, rtol=1e-14)
    in_range = abs(expected) < 700
    if in_range:
        np.testing.assert_allclose(found.time, 839.85502090393792 / unit**2, rtol=1e-14)
    else:
        assert found.time == (np.inf if unit < 1 else 0.0)


def test_gaps_five_hundred_orders_of_magnitude_apart() -> None:
    """With a gap of 1e150 beside two of 1e-300 the far arm's weight underflows and the rest is exact."""
    found = truebest.optimal_weights(gaps=[0.0, 1e-300, 1e-300, 1e150])
    s = np.sqrt(2.0)
    np.testing.assert_allclose(
        found.weights, [1 / (1 + s), 1 / (s * (1 + s)), 1 / (s * (1 + s)), 0.0], rtol=1e-15
    )
    assert found.time == np.inf
    np.testing.assert_allclose(found.log_time, np.log(2 * (1 + s) ** 2) + 600 * np.log(10.0), rtol=1e-14)


@pytest.mark.parametrize("kind", ["two values", "uniform", "heavy"])
@pytest.mark.parametrize("num_arms", [3_000, 1_000_000, pytest.param(10_000_000, marks=pytest.mark.slow)])
def test_many_arms_to_thirteen_digits(kind: str, num_arms: int) -> None:
    """Relative error of every weight below 1e-13 up to ten million arms; 80-bit sums as reference."""
    if np.finfo(np.longdouble).nmant < 63:
        pytest.skip("this platform has no extended precision to compare with")
    rng = np.random.default_rng(num_arms)
    gaps = np.empty(num_arms)
    if kind == "two values":  # equal terms: rounding errors that all point the same way
        gaps[:] = np.where(np.arange(num_arms) % 3 == 0, 0.1, 0.7)
    elif kind == "uniform":
        gaps[:] = rng.uniform(0.2, 1.0, num_arms)
    else:
        gaps[:] = np.exp(-rng.exponential(3.0, num_arms))
    gaps[0] = 0.0
    found = truebest.optimal_weights(gaps=gaps).weights
    exact = extended_weights(gaps)
    assert float(np.max(np.abs(found - exact) / exact)) < 1e-13


def test_equal_gaps_and_two_arms_are_closed_forms() -> None:
    """Equal gaps D: w_b = 1/(1+s), r = (1+s)/D², T = 2(1+s)²/D²; two arms: half each, T = 8/D²."""
    for num_arms in (2, 3, 5, 10, 100_000):
        s = np.sqrt(num_arms - 1.0)
        gap = 0.25
        found = truebest.optimal_weights(gaps=[0.0] + [gap] * (num_arms - 1))
        assert found.weights[0] == 1 / (1 + s)
        assert (found.weights[1:] == 1 / (s * (1 + s))).all()
        assert found.ratio == (1 + s) / gap**2
        np.testing.assert_allclose(found.time, 2 * (1 + s) ** 2 / gap**2, rtol=1e-15)
    two = truebest.optimal_weights([0.5, 0.0])
    assert two.weights.tolist() == [0.5, 0.5]
    assert two.time == 8 / 0.5**2


def test_constants_of_the_thresholds() -> None:
    """log R of GK16 for K = 2, 5, 10 and three α, with δ for one; C_G of Kaufmann & Koolen."""
    from truebest.theory.constants import calibration

    published = {1.1: (26.1, 67.4, 143.9), 1.2: (22.3, 59.1, 128.5), float(np.e / 2): (19.4, 52.9, 117.1)}
    for alpha, values in published.items():
        rule = truebest.GK16(alpha, printed=True)
        assert [round(rule.log_constant(K, 0.0), 1) for K in (2, 5, 10)] == list(values)
    assert round(truebest.GK16(1.2).log_constant(5, -np.log(0.05)), 2) == 59.41
    assert round(truebest.GK16(1.2, printed=True).log_constant(5, -np.log(0.05)), 2) == 59.14
    c_g = [1.416904, 2.507095, 6.757320, 11.954646, 52.588880]
    np.testing.assert_allclose([calibration(x) for x in (0.0, 1.0, 5.0, 10.0, 50.0)], c_g, atol=5e-7)


def test_the_constant_of_gk16_solves_its_equation() -> None:
    """R equals its defining sum, summed directly term by term to where the rest is negligible."""
    num_arms, alpha, log_inverse = 3, 2.0, np.log(20.0)
    level = truebest.GK16(alpha).log_constant(num_arms, log_inverse)
    t = np.arange(2.0, 4e6)
    log_squared = np.log(level + alpha * np.log(t) + log_inverse) * 2
    terms = num_arms + 1 + num_arms * (log_squared + np.log(np.log(t)) - np.log(num_arms)) - alpha * np.log(t)
    direct = np.log(np.exp(terms).sum())
    assert direct < level < direct + 2e-2


def test_theorem_5_cannot_be_exercised() -> None:
    """log(1/δ_0) of the second bandit is about 1e11 as printed: far beyond anything that can be simulated."""
    printed = truebest.non_asymptotic_bound(MU_2, version="printed")
    assert 3e10 < printed.log_inverse_delta_0 < 3e11
    assert truebest.non_asymptotic_bound(MU_2).log_inverse_delta_0 > 16 * printed.log_inverse_delta_0
