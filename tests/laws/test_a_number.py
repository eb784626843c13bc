"""An arm against a number, under every rule that can be asked: what the evidence is, and where it ends.

The statements are Theorem 19 and those behind it in docs/proofs.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import truebest
from truebest import AtLeast, Bounded, Exponential, Gaussian, Poisson
from truebest.kernels import number, rules
from truebest.kernels._types import Array
from truebest.kernels.decision import take
from truebest.kernels.layout import LEVEL, MEANS, OFFSET, PULLS, SQUARES, UNIT
from truebest.kernels.rules import student
from truebest.theory.constants import calibration, family_calibration
from truebest.theory.models import Model, Student
from truebest.theory.stopping import StoppingRule, find_rule

DELTA = 0.1
CASES: list[tuple[str, Model]] = [
    ("tilt", Bounded(0.0, 1.0)),
    ("tilt", Gaussian(2.0)),
    ("mixture", Bounded(-2.0, 6.0)),
    ("mixture", Gaussian(2.0)),
    ("kaufmann-koolen", Gaussian(2.0)),
    ("kaufmann-koolen", Poisson()),
    ("kaufmann-koolen", Exponential()),
    ("student", Student()),
]


def told(rule: StoppingRule, model: Model, values: Array, theta: float, offset: float = 0.0) -> Any:
    """Parameters, the state after values of one arm, and the number in the model's units."""
    params, state = rule.parameters(model, 1, DELTA, offset=offset), rule.blank(model, 1)
    for value in values:
        take(params, state, 0, 1.0, float(value))
    return params, state, (theta - offset) / params[UNIT]


def drawn(model: Model, size: int, seed: int = 1) -> Array:
    """Values that the model allows."""
    rng = np.random.default_rng(seed)
    if isinstance(model, Poisson):
        return rng.poisson(3.0, size).astype(float)
    if isinstance(model, Exponential):
        return rng.exponential(2.0, size)
    low, high = model.limits or (1.0, 4.0)
    return low + (high - low) * rng.random(size)


def asked(name: str, theta: float) -> StoppingRule:
    """A rule that is asked for a number."""
    return find_rule(name).asking(AtLeast(theta))


@pytest.mark.parametrize(("name", "model"), CASES)
def test_every_arm_has_one_wrong_verdict_about_a_number(name: str, model: Model) -> None:
    """So the level is that of a union over the arms, each by itself: also under Student's rule."""
    for arms in (1, 7):
        params = asked(name, 0.5).parameters(model, arms, DELTA)
        least, want = math.log(arms / DELTA), math.log(arms / DELTA)
        if name == "kaufmann-koolen":
            want = (calibration if isinstance(model, Gaussian) else family_calibration)(least)
        assert params[LEVEL] == rules.threshold(params, 1e6) == pytest.approx(want)


@pytest.mark.parametrize("n", [2, 30, 900])
def test_the_evidence_of_the_mixture_has_a_mean_of_one_at_the_number(n: int) -> None:
    """It is the likelihood ratio, averaged over a normal prior of the mean, which both sides share.

    The negative control: where the mean is above the number, its mean is more than 1.
    """
    rule, c = asked("mixture", 0.0), truebest.Mixture().c

    def found(mean: float) -> float:
        params, state = rule.parameters(Gaussian(), 1, DELTA), rule.blank(Gaussian(), 1)
        state[PULLS, 0], state[MEANS, 0] = float(n), mean
        return float(number.evidence(params, state, 0, 0.0, mean > 0.0))

    for mean in (0.05, 0.5, -0.7):
        prior = stats.norm(0.0, 1.0 / math.sqrt(c))
        ratio, _ = integrate.quad(
            lambda m, x=mean, law=prior: math.exp(n * (m * x - m * m / 2.0)) * law.pdf(m),
            -3.0,
            3.0,
            limit=400,
            points=(0.0, mean),
        )
        assert found(mean) == pytest.approx(math.log(ratio), abs=1e-6)

    def average(truth: float) -> float:
        law = stats.norm(truth, 1.0 / math.sqrt(n))
        ends = 12.0 * math.sqrt((1.0 + n / c) / n)
        parts = [(truth - ends, 0.0), (0.0, truth + ends)]
        return math.fsum(
            integrate.quad(lambda x: math.exp(found(x) + law.logpdf(x)), *part, limit=400)[0]
            for part in parts
        )

    assert average(0.0) == pytest.approx(1.0, abs=1e-4)
    assert average(0.1) > 1.001


def test_the_evidence_of_student_is_that_of_one_arm() -> None:
    """At any distance from 0, to the last bits; nothing while the values show no variance."""
    values = np.random.default_rng(3).normal(0.4, 2.0, 25)
    for far in (0.0, 1e6, -1e9):
        shifted = values + far
        params, state, theta = told(asked("student", far), Student(), shifted, far)
        n, spread = state[PULLS, 0], state[SQUARES, 0] / state[PULLS, 0] * params[UNIT] ** 2
        lead = math.fsum(shifted - far) / n
        for above in (True, False):
            want = 0.0
            if (lead > 0.0) == above:
                want, _ = student.arm_evidence(n, student.place(abs(lead), spread), False)
            found = number.evidence(params, state, 0, theta, above)
            assert found == pytest.approx(want, rel=1e-6, abs=1e-9)
    params, state, theta = told(asked("student", 0.0), Student(), np.full(40, 7.0), 0.0)
    assert number.evidence(params, state, 0, theta, True) == 0.0
    assert number.end(params, state, 0, True, 3.0) == -math.inf


def test_the_evidence_of_kaufmann_and_koolen_is_that_of_one_arm() -> None:
    """N d(mean, θ), less what its threshold grows by with the pulls of this arm alone."""
    gaussian, family = 2.0 * math.log(4.0 + math.log(50.0)), 3.0 * math.log(1.0 + math.log(50.0))
    distances: list[tuple[Model, Callable[[float, float], float], float]] = [
        (Gaussian(2.0), lambda m, x: (m - x) ** 2 / 8.0, gaussian),
        (Poisson(), lambda m, x: x - m + m * math.log(m / x), family),
        (Exponential(), lambda m, x: m / x - 1.0 - math.log(m / x), family),
    ]
    for model, d, growth in distances:
        values = drawn(model, 50)
        for theta in (0.7, 2.9, 9.0):
            params, state, at = told(asked("kaufmann-koolen", theta), model, values, theta)
            want = 50.0 * d(float(values.mean()), theta) - growth
            for above in (True, False):
                found = number.evidence(params, state, 0, at, above)
                side = (values.mean() > theta) == above
                assert found == pytest.approx(want if side else 0.0, rel=1e-9)


@pytest.mark.parametrize(("name", "model"), CASES)
@pytest.mark.parametrize("size", [1, 2, 40])
def test_an_interval_of_a_mean_ends_where_the_evidence_is_at_the_level(
    name: str, model: Model, size: int
) -> None:
    """Numbers beyond an end have more evidence, those within it have not; where none has, there is no end."""
    for level in (0.5, 4.0):
        rule, values = asked(name, 1.0), drawn(model, size)
        params, state, _ = told(rule, model, values, 1.0)
        for lower in (True, False):
            end = number.end(params, state, 0, lower, level)
            limit = (model.limits or (-math.inf, math.inf))[0 if lower else 1]
            out = end * params[UNIT] + params[OFFSET]
            if out == limit:
                spot = end if math.isfinite(end) else math.copysign(1e40, end)
                assert number.evidence(params, state, 0, spot, lower) <= level
                continue
            inside = end + 1e-9 * (state[MEANS, 0] - end)
            assert number.evidence(params, state, 0, end, lower) > level
            assert number.evidence(params, state, 0, inside, lower) <= level * (1.0 + 1e-6)
            assert (end < state[MEANS, 0]) == lower


@pytest.mark.parametrize("name", ["practical", "gk16"])
def test_rules_without_a_proof_for_one_arm_are_refused(name: str) -> None:
    """By name, with another one to choose."""
    with pytest.raises(truebest.InvalidInputError, match=f"'{name}' cannot answer AtLeast.*such as 'tilt'"):
        find_rule(name).asking(AtLeast(0.5))
