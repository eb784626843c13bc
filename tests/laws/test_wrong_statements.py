"""Statements of the paper that are wrong as printed, each with its counter-example.

Proposition 15 without η <= 1 is in test_regularity, Algorithm 1 as printed in test_exploration.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

import truebest
from support.bandits import GAPS_1, MU_1


def test_lemma_28_fails_for_the_papers_own_bandit() -> None:
    """w_min >= Δ_min/(2K) would say 0.00972 >= 0.01 for μ⁽¹⁾."""
    w_min = truebest.optimal_weights(gaps=GAPS_1).weights.min()
    assert w_min < 0.1 / (2 * 5)
    assert w_min >= truebest.complexity_bounds(MU_1).min_weight_lower


def test_two_arms_need_eight_over_the_squared_gap() -> None:
    """Section 3.3 prints T = 8Δ² for K = 2; it is 8/Δ²."""
    time = truebest.characteristic_time([0.5, 0.0])
    assert time == 8 / 0.5**2
    assert time != 8 * 0.5**2


def test_newton_as_printed_underflows_for_tiny_gaps() -> None:
    """Squared gaps below 1e-154 underflow, so Algorithm 4 as printed divides by zero; scaled, it works."""
    gaps = 1e-170 * np.array(GAPS_1)
    assert (gaps**2 == 0).all()
    expected = truebest.optimal_weights(gaps=GAPS_1).weights
    for method in ("newton", "paper"):
        np.testing.assert_allclose(
            truebest.optimal_weights(gaps=gaps, method=method).weights, expected, rtol=1e-9
        )


def test_the_proof_of_theorem_14_fails_above_one_fifteenth() -> None:
    """Its last step needs (1+ε)/(1-3ε)² <= 1+10ε, which is false on (1/15, 1/7]."""

    def last_step(epsilon: float) -> bool:
        return (1 + epsilon) / (1 - 3 * epsilon) ** 2 <= 1 + 10 * epsilon

    assert last_step(0.06)
    assert not last_step(0.07)
    assert not last_step(1 / 7)


def test_the_biased_bandit_is_not_within_one_half_width() -> None:
    """Appendix D uses ||μ~ - μ|| <= L; μ at one end of an interval and μ~ at the other are 2L apart."""
    half = 0.05
    mu = np.array([0.9, 0.2, 0.1])
    centre = mu + half * np.array([1.0, 0.0, 0.0])  # μ is the lower end of the first interval
    biased = truebest.exploration_biased_weights(centre - half, centre + half).bandit
    distance = np.abs(biased - mu).max()
    assert half * 1.5 < distance <= 2 * half * (1 + 1e-12)


def test_sums_of_inverse_roots_exceed_the_root() -> None:
    """Appendix D uses Σ_{s<t} s^(-1/2) <= sqrt(t); the sum is near 2 sqrt(t)."""
    t = 10_000
    total = (1 / np.sqrt(np.arange(1, t))).sum()
    assert 1.9 * np.sqrt(t) < total <= 2 * np.sqrt(t)


def test_the_experiments_intervals_miss_at_the_first_sample() -> None:
    """K = 5, γ = 0.05: some interval misses its mean at N = 1 with probability 0.15, three times γ."""
    width = float(truebest.confidence_width(1, 0.05, 5, "experiments"))
    one = 2 * NormalDist().cdf(-width)
    assert round(1 - (1 - one) ** 5, 2) == 0.15


def test_the_practical_threshold_is_crossed_sooner_or_later() -> None:
    """The experiments' threshold lies in the lower class of the law of the iterated logarithm.

    A boundary β(t) of Z is crossed for ever larger t, almost surely, when ∫ sqrt(β) e^(-β) dt/t diverges
    (Erdős, Feller). In u = log t, over a hundredfold of u at a time: the parts of the practical
    threshold grow, those of a proven one vanish. So no proof can exist for it at all times, although the
    crossing of two equal arms is too rare to be seen in a simulation.
    """

    def parts(rule: truebest.StoppingRule) -> list[float]:
        values = []
        for decade in (2.0, 4.0, 6.0):
            log_u = np.linspace(decade, decade + 2.0, 20_001) * np.log(10.0)
            u = np.exp(log_u)
            level = rule.level(2, 0.1)
            grown = {"practical": np.log(1 + u), "kaufmann-koolen": 4 * np.log(4 + u - np.log(2.0))}
            beta = level + grown[rule.name]
            values.append(float(np.mean(np.sqrt(beta) * np.exp(-beta) * u)) * 2.0 * np.log(10.0))
        return values

    one, two, three = parts(truebest.Practical())
    assert one < two < three
    one, two, three = parts(truebest.KaufmannKoolen())
    assert three < 1e-3 * two < 1e-6 * one
