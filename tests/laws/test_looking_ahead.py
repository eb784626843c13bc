"""A rule that searches may be asked first whether it is going to; so a GPU lets lanes search together."""

from __future__ import annotations

import numpy as np
import pytest

from truebest.kernels import best
from truebest.kernels.decision import take
from truebest.kernels.layout import LEVEL, OUT, SHARE
from truebest.kernels.tracking import leading_arm
from truebest.theory.models import Bounded, Gaussian, Model, Student
from truebest.theory.stopping import StoppingRule
from truebest.theory.student import StudentRule
from truebest.theory.tilt import Tilt

CASES: dict[str, tuple[StoppingRule, Model, int]] = {
    "comparators": (Tilt(1 / 400), Gaussian(1.0), 4),
    "comparators, after every sample": (Tilt(0.0), Gaussian(1.0), 4),
    "bounded": (Tilt(1 / 400), Bounded(-4.0, 4.0), 3),
    "a pair": (Tilt(1 / 400).form_for(2), Gaussian(1.0), 2),
    "variance unknown": (StudentRule(1 / 400), Student(), 3),
}


@pytest.mark.parametrize("case", list(CASES))
def test_to_look_ahead_changes_nothing(case: str) -> None:
    """The state and the answer afterwards are the same to the bit, and nothing is decided without a search.

    Both happen: looks that need a search, and looks that do not.
    """
    rule, model, K = CASES[case]
    rng = np.random.default_rng(len(case))
    params, state = rule.parameters(model, K, 0.01, 0.0, 0.0), rule.blank(model, K)
    assert (params[SHARE] > 0.0) == (case not in ("a pair", "variance unknown"))
    other, t, searches, looks, stops = state.copy(), 0.0, 0, 0, False
    while not stops and t < 4000.0:
        arm = int(rng.integers(K))
        if state[OUT, arm] > 0.0:
            continue
        t += 1.0
        value = min(max(rng.normal(-0.8 * arm), -4.0), 4.0)
        for each in (state, other):
            take(params, each, arm, 1.0, value)
        if t < 6 * K:
            continue
        leader, before = leading_arm(state), state.copy()
        ahead = best.searches_exceed(params, state, leader, params[LEVEL], t, True)
        stops, alone = (
            best.searches_exceed(params, each, leader, params[LEVEL], t, False) for each in (state, other)
        )
        assert stops == alone
        assert ahead or not stops
        np.testing.assert_array_equal(state, other)
        searches += ahead
        looks += not ahead and not np.array_equal(before, state)
    assert stops
    assert searches > 0
    assert looks > 0 or "every" in case
