"""Theorem 5: its constants satisfy the conditions of its proof; Lemmas 24 and 26 behind it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import truebest
from support.bandits import MU_2, Array, gap_vectors


@settings(max_examples=30)
@pytest.mark.parametrize("version", ["printed", "corrected"])
@given(gaps=gap_vectors(max_arms=6, smallest=0.01), eta=st.floats(0.05, 1.0), gamma=st.floats(0.01, 0.5))
def test_delta_0_satisfies_the_conditions_of_the_proof(
    version: str, gaps: Array, eta: float, gamma: float
) -> None:
    """(C1) T log(1/δ) >= T_1(η/7), (C2) and (C3) of Appendix D hold at δ_0."""
    mu = 1.0 - gaps
    bound = truebest.non_asymptotic_bound(mu, gamma=gamma, eta=eta, version=version)
    level = float(bound.log_inverse_delta_0)
    inner = truebest.non_asymptotic_bound(mu, gamma=gamma, eta=eta / 7, version=version)
    rule = truebest.GK16(1.2, printed=version == "printed")
    log_r = rule.log_constant(gaps.size, level)
    assert bound.time * level >= inner.t_1
    assert level > 28 / eta * (np.log(8 * np.e * bound.time * 7 / eta) + 0.5 * log_r)
    assert level >= 8 * 7**3 / eta**3


@settings(max_examples=50)
@given(gaps=gap_vectors(max_arms=6, smallest=0.01), eta=st.floats(0.05, 1.0))
def test_t_0_and_t_1_do_what_the_proof_asks(gaps: Array, eta: float) -> None:
    """Corrected: from T_0 on 16 L(t)/Δ_min <= 1/7; from T_1 on both terms of Lemma 21 are at most η/2."""
    K, gamma = gaps.size, 0.05
    bound = truebest.non_asymptotic_bound(1.0 - gaps, gamma=gamma, eta=eta)
    d_min = gaps[1:].min()

    def half_length(t: float) -> float:
        return float(np.sqrt(8 * np.log(4 * t * K / gamma) / (t * bound.min_weight)))

    assert 16 * half_length(float(bound.t_0)) / d_min <= 1 / 7 * (1 + 1e-12)
    assert (K + bound.t_0) / (bound.t_1 * bound.min_weight) <= eta / 2
    assert 2 * 160 * half_length(float(bound.t_1)) / d_min <= eta / 2 * (1 + 1e-12)


@given(st.floats(1e-6, 1e3), st.floats(1e-3, 1e6))
def test_lemma_26(c_1: float, c_2: float) -> None:
    """x = (2/c₁) log(c₂e/c₁) satisfies c₁x >= log(c₂x), wherever that x is positive."""
    x = 2 / c_1 * np.log(c_2 * np.e / c_1)
    assume(x > 0)
    assert c_1 * x >= np.log(c_2 * x) - 1e-12


@settings(max_examples=50)
@given(st.floats(1.0, 30.0), st.floats(0.01, 0.5), st.floats(0.1, 1.0), st.floats(5.0, 40.0))
def test_lemma_24(time: float, w_min: float, c: float, log_inverse: float) -> None:
    """The sum over t > (1+C) ζ T log(1/δ) of t exp(-t w_min C²/(4T²)) is at most its closed bound."""
    time = max(time, 8.0)  # T >= 8/Δ_min² >= 8
    rate = w_min * c**2 / (4 * time**2)
    start = (1 + c) * time * log_inverse
    assume(60 / rate < 5_000_000)
    t = np.arange(np.floor(start) + 1, start + 60 / rate)
    total = (t * np.exp(-rate * t)).sum()
    bound = 32 * time**4 / w_min**2 * np.exp(-w_min * c**2 * log_inverse / (4 * time))
    assert total <= bound * (log_inverse / c**2 + 1 / c**4)


def test_bounds_claim_nothing_outside_the_theorem() -> None:
    """Above δ_0, and for t up to (1+η) T log(1/δ), the tail bound is 1 and the expectation inf."""
    bound = truebest.non_asymptotic_bound(MU_2)
    level = bound.log_inverse_delta_0
    assert bound.tail(1e30, level / 2) == 1.0
    assert bound.expectation(level / 2) == np.inf
    assert bound.tail(bound.time * level, level) == 1.0
    far = 1e3 * bound.time * level
    assert bound.tail(far, level) < 1e-6
    main = (1 + bound.eta) * bound.time * level
    assert main <= bound.expectation(level) < np.inf
    smaller = 1e6 * level
    assert bound.expectation(smaller) <= 2.01 * bound.time * smaller
