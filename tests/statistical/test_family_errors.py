"""How often Kaufmann and Koolen's rule errs on successes of nearly equal rates; seeds are fixed.

The bound holds at all times and for all strategies, and its constants are generous, so the rate is near 0.
The negative control is the practical rule at a quarter of its level, which errs more often than delta.
"""

from __future__ import annotations

from dataclasses import dataclass

import mpmath
import pytest
from scipy import stats

import truebest
from truebest.theory.constants import family_calibration

DELTA, RUNS = 0.1, 400
MOST = int(stats.binom.isf(1e-6, RUNS, DELTA))  # more errors than this: false alarm below 1e-6


@dataclass(frozen=True)
class Loose(truebest.Practical):
    """A quarter of the level."""

    def level(self, num_arms: int, delta: float) -> float:
        return 0.25 * super().level(num_arms, delta)


def errors(rule: truebest.StoppingRule, mean: float, strategy: str, model: truebest.Model) -> int:
    found = truebest.simulate(
        strategy,
        [mean, mean - 1e-7],
        DELTA,
        rewards="bernoulli",
        model=model,
        stopping=rule,
        max_samples=3000,
        runs=RUNS,
        seed=len(strategy),
    )
    return found.cells[0].errors


@pytest.mark.parametrize("strategy", ["uniform", "tas-d", "racing"])
@pytest.mark.parametrize("mean", [0.05, 0.5])
def test_the_rule_errs_less_often_than_delta(mean: float, strategy: str) -> None:
    """Up to 3000 samples. False alarm: 1e-6 in each of 6 cells."""
    assert errors(truebest.KaufmannKoolen(), mean, strategy, truebest.Bernoulli()) <= MOST


@pytest.mark.parametrize("mean", [0.05, 0.5])
def test_a_lower_threshold_errs_more_often(mean: float) -> None:
    """The negative control: the same test would notice."""
    assert errors(Loose(), mean, "uniform", truebest.Bernoulli()) > MOST


def test_the_threshold_is_the_published_one() -> None:
    """T by Lambert's W, whose branch -1 inverts h; on both of its pieces."""

    def inverse(y: mpmath.mpf) -> mpmath.mpf:
        return -mpmath.lambertw(-mpmath.exp(-y), -1).real

    for x in (0.01, 0.3, 1.0, 3.0, 10.0, 200.0):
        y = (inverse(mpmath.mpf(1 + x)) + mpmath.log(2 * mpmath.zeta(2))) / 2
        log_z = mpmath.log(mpmath.mpf(3) / 2)
        want = 3 * (y - mpmath.log(log_z))
        if y >= 1 / log_z + mpmath.log(log_z):
            want = 2 * mpmath.exp(1 / inverse(y)) * inverse(y)
        assert family_calibration(x) == pytest.approx(float(want), rel=1e-12)
    rule = truebest.KaufmannKoolen()
    value = rule.threshold(100, 3, 0.05, model=truebest.Poisson())
    want = 2 * family_calibration(float(mpmath.log(40) / 2)) + 6 * mpmath.log(1 + mpmath.log(50))
    assert value == pytest.approx(float(want), rel=1e-12)
    assert value > rule.threshold(100, 3, 0.05)
