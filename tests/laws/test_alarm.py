"""The alarm: its formula, the supermartingale by integration and enumeration, and one answer for one state.

The statements are those of docs/proofs.md, "Sigma is checked".
"""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from truebest.kernels import alarm
from truebest.kernels._types import Array
from truebest.kernels.decision import advance, take
from truebest.kernels.layout import ALARM, MEANS, PULLS, SQUARES, WATCHED
from truebest.kernels.rules.room import ROOMS
from truebest.theory.mixture import Mixture
from truebest.theory.models import Gaussian

SIZES = ("0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9")


def begun(model: Gaussian, num_arms: int, alarmed: bool = True) -> tuple[Array, Array]:
    """Parameters of an experiment, and a state without values."""
    rule = Mixture()
    params, state = rule.parameters(model, num_arms, 0.05), rule.blank(model, num_arms)
    params[WATCHED], params[ALARM] = 1.0, alarmed
    return params, state


def taken(
    params: Array, state: Array, arms: list[int], values: list[float], checked: bool = False
) -> tuple[int, bool]:
    checks, ordered = np.full(len(arms), checked), np.zeros(len(arms), np.bool_)
    return advance(
        np.array(arms, np.int64),
        np.array(values, float),
        checks,
        ordered,
        params,
        state,
        np.zeros((ROOMS, state.shape[1])),
    )


@pytest.mark.parametrize("n", [2, 3, 18, 246, 10_000, 10_000_000])
@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0, 1.3, 4.0, 1e4, 1e200])
def test_the_evidence_is_the_formula(n: int, ratio: float) -> None:
    """log of the average over s of (1-s)^(N/2) exp(s T/2), with 60 digits."""
    with mp.workdps(60):
        total = mp.mpf(ratio * n)
        sizes = [mp.mpf(text) for text in SIZES]
        exponents = [mp.mpf(n) / 2 * mp.log(1 - s) + s * total / 2 for s in sizes]
        most = max(exponents)
        want = most + mp.log(sum(mp.exp(x - most) for x in exponents) / len(sizes))
    scale = max(1.0, abs(float(want)), n, ratio * n)
    assert alarm.evidence(float(n), ratio * n) == pytest.approx(float(want), abs=1e-13 * scale)


def test_the_sizes_are_those_of_the_proof() -> None:
    """Ten of them, and the error is a thousandth."""
    assert alarm.SIZES.tolist() == [float(text) for text in SIZES]
    assert alarm.SIZES.max() == alarm.LARGEST
    assert math.exp(alarm.ALARM_LEVEL) == pytest.approx(1000.0)


def factor(s: float, log_density: Callable[[float], float], reach: float) -> float:
    """sqrt(1-s) E exp(s X²/2)."""

    def weighed(x: float) -> float:
        return math.exp(0.5 * s * x * x + log_density(x))

    return math.sqrt(1.0 - s) * float(integrate.quad(weighed, -reach, reach, epsabs=1e-12)[0])


@pytest.mark.parametrize("s", alarm.SIZES)
def test_a_factor_has_mean_1_for_normal_values_and_less_for_sub_gaussian_ones(s: float) -> None:
    """Normal; uniform on [-1, 1]; and two values at a distance of 2, which Hoeffding gives the scale 1."""
    reach = 15.0 / math.sqrt(1.0 - s)
    assert factor(s, stats.norm.logpdf, reach) == pytest.approx(1.0, abs=1e-9)
    assert factor(s, lambda _: math.log(0.5), 1.0) < 1.0
    for p in np.linspace(0.01, 0.5, 50):
        mean = p * math.exp(2.0 * s * (1.0 - p) ** 2) + (1.0 - p) * math.exp(2.0 * s * p * p)
        assert math.sqrt(1.0 - s) * mean < 1.0
    assert factor(s, stats.norm(scale=1.02).logpdf, reach) > 1.0  # the negative control: sigma is too small


def average(n: int, total: float) -> float:
    return float(np.mean((1.0 - alarm.SIZES) ** (n / 2) * np.exp(0.5 * alarm.SIZES * total)))


@pytest.mark.parametrize("values", [(-1.0, 1.0), (-0.3, 1.7)])
def test_it_is_a_supermartingale_however_arms_are_chosen(values: tuple[float, float]) -> None:
    """All sequences of eleven values of two outcomes, where the next arm chases large deviations.

    With the true means the average over all continuations never exceeds the present value. What the alarm
    uses, with the observed means, is at most that on every path.
    """
    low, high = values
    rates = (high / (high - low), -low / (high - low))  # of low and high, so that the mean is 0
    params, blank = begun(Gaussian(1.0), 2)

    def visit(state: Array, about_truth: float, n: int) -> None:
        here = average(n, about_truth)
        assert math.exp(alarm.evidence(float(n), alarm.scaled_squares(state))) <= here * (1.0 + 1e-12)
        if n == 11:
            return
        arm = int(state[SQUARES, 1] >= state[SQUARES, 0])  # from what was seen
        assert sum(
            p * average(n + 1, about_truth + x * x) for x, p in zip(values, rates, strict=True)
        ) <= here * (1.0 + 1e-12)
        for x in values:
            later = state.copy()
            take(params, later, arm, 1.0, x)
            visit(later, about_truth + x * x, n + 1)

    visit(blank, 0.0, 0)


@given(
    st.integers(2, 100_000),
    st.floats(0.0, 6.0, allow_nan=False),
    st.floats(-1e-10, 1e-10),
)
def test_the_quick_look_changes_no_answer(n: int, ratio: float, rounding: float) -> None:
    """Whatever rounding left of the running total: the answer is that of the formula on the state."""
    _, state = begun(Gaussian(1.0), 3)
    state[PULLS], state[SQUARES] = n / 3, ratio * n / 3
    exact = alarm.scaled_squares(state)
    want = alarm.evidence(float(n), exact) > alarm.ALARM_LEVEL
    assert alarm.refutes(state, float(n), exact * (1.0 + rounding)) == want


@pytest.mark.parametrize("model", [Gaussian(1.0), Gaussian((3.0, 0.7, 1.1))])
def test_stretches_of_any_length_give_the_same(model: Gaussian) -> None:
    """Bit for bit, and at the same value; the scale of every arm is its own."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        arms = rng.integers(3, size=400).tolist()
        scale = 1.35 * model.unit * np.sqrt(model.variances(3))
        values = [float(rng.normal(7.0, scale[arm])) for arm in arms]
        ends = []
        for most in (1, 7, 400):
            params, state = begun(model, 3)
            at, refuted, done = -1, False, 0
            while done < 400 and not refuted:
                stretch = slice(done, done + int(rng.integers(1, most + 1)))
                at, refuted = taken(params, state, arms[stretch], values[stretch])
                done = done + at + 1 if refuted else stretch.stop
            ends.append((refuted, done, state.tolist()))
        assert ends[0] == ends[1] == ends[2]
        assert ends[0][0]


def test_the_observed_sum_is_what_was_told() -> None:
    """T from the running squares is T from the values, in units of each arm's own variance."""
    rng = np.random.default_rng(1)
    model = Gaussian((2.0, 5.0))
    params, state = begun(model, 2)
    given = [rng.normal(1e6, 2.0, 40), rng.normal(-3.0, 5.0, 25)]
    for arm, values in enumerate(given):
        taken(params, state, [arm] * len(values), values.tolist())
    want = sum(((x - x.mean()) ** 2).sum() / s**2 for x, s in zip(given, (2.0, 5.0), strict=True))
    assert alarm.scaled_squares(state) == pytest.approx(want, rel=1e-9)


def test_the_alarm_stands_before_the_decision() -> None:
    """With the same value the rule would decide and sigma is refuted: it is refuted."""
    arms, values = [0, 1, 0, 1], [0.0, 0.0, 0.0, 50.0]
    params, state = begun(Gaussian(1.0), 2, alarmed=False)
    assert taken(params, state, arms, values, checked=True) == (3, False)
    params, state = begun(Gaussian(1.0), 2)
    assert taken(params, state, arms, values, checked=True) == (3, True)
    assert state[MEANS, 1] == 25.0  # the value is in
    assert taken(*begun(Gaussian(1.0), 2), arms, values) == (3, True)  # also where the rule is not asked
    assert taken(*begun(Gaussian(40.0), 2), arms, values, checked=True) == (-1, False)


def test_few_values_refute_only_by_a_wide_margin() -> None:
    """Two values of one arm must be 6.93 sigma apart; one value of each of many arms says nothing."""
    for apart, want in ((6.92, (-1, False)), (6.94, (1, True))):
        assert taken(*begun(Gaussian(1.0), 2), [0, 0], [3.0, 3.0 + apart]) == want
    values = np.geomspace(1.0, 1e9, 50).tolist()
    assert taken(*begun(Gaussian(1.0), 50), list(range(50)), values) == (-1, False)
