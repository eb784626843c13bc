"""How often the alarm is false, and how soon it is right; seeds are fixed, one per cell.

The bound holds at all times at once and for any choice of arms, so the rate within some hundred samples lies
below it. The negative control is the same test on a sigma that is a fifth too small.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from truebest.kernels._types import Array
from truebest.kernels.decision import advance
from truebest.kernels.layout import ALARM, MEANS, SQUARES, WATCHED
from truebest.kernels.rules.room import ROOMS
from truebest.theory.mixture import Mixture
from truebest.theory.models import Gaussian

RUNS, BLOCK = 20_000, 8
MOST = int(stats.binom.isf(1e-6, RUNS, 1e-3))  # more alarms than this: false alarm below 1e-6
MEANS_OF_ARMS = np.array([0.0, 1.0, -3.0])


def alarm_at(rng: np.random.Generator, chase: str, ratio: float, most: int, block: int = BLOCK) -> int:
    """After how many samples sigma is refuted, 0 if not within `most`; values have `ratio` times its scale.

    chase  what chooses the arm of the next block of samples: the one that has varied the most so far, the
           one that leads, or chance; "turn" is one after another
    """
    rule, model = Mixture(), Gaussian(1.0)
    params, state = rule.parameters(model, 3, 0.05), rule.blank(model, 3)
    params[WATCHED], params[ALARM] = 1.0, 1.0
    unchecked = np.zeros(block, np.bool_)
    for done in range(0, most, block):
        if chase == "turn":
            arms = np.arange(done, done + block) % 3
        else:
            arms = np.full(block, _next(rng, chase, state))
        values = MEANS_OF_ARMS[arms] + ratio * rng.standard_normal(block)
        at, refuted = advance(
            arms, values, unchecked, unchecked, params, state, np.zeros((ROOMS, state.shape[1]))
        )
        if refuted:
            return done + at + 1
    return 0


def _next(rng: np.random.Generator, chase: str, state: Array) -> int:
    if chase == "chance":
        return int(rng.integers(3))
    return int(np.argmax(state[SQUARES if chase == "spread" else MEANS]))


@pytest.mark.parametrize(
    "chase", [*(pytest.param(c, marks=pytest.mark.slow) for c in ("spread", "leader")), "chance"]
)
def test_a_right_sigma_is_refuted_less_than_once_in_a_thousand(chase: str) -> None:
    """20,000 runs of 160 samples for each way to choose arms. False alarm: 1e-6 in each of 3 cells."""
    rng = np.random.default_rng(len(chase))
    assert sum(alarm_at(rng, chase, 1.0, 160) > 0 for _ in range(RUNS)) <= MOST


def test_a_sigma_that_is_a_fifth_too_small_would_be_noticed() -> None:
    """The negative control: a tenth of the runs, and already more alarms than all of them may have."""
    rng = np.random.default_rng(4)
    assert sum(alarm_at(rng, "chance", 1.25, 160) > 0 for _ in range(RUNS // 10)) > MOST


@pytest.mark.parametrize(("ratio", "samples"), [(2.0, 18), (1.5, 50), (1.2, 246)])
def test_three_arms_of_a_larger_scale_are_caught(ratio: float, samples: int) -> None:
    """After 18, 50 and 246 samples on average. False alarm: 2e-9 for each, five standard errors."""
    rng = np.random.default_rng(samples)
    found = [alarm_at(rng, "turn", ratio, 5000, 100) for _ in range(2000)]
    assert min(found) > 0  # all are
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - samples) < 5.0 * error + 0.5  # the figures are rounded


def test_half_of_the_true_scale_is_caught_within_160_samples() -> None:
    """All of 5000 runs, with the arms chosen by chance. False alarm: below 1e-6."""
    rng = np.random.default_rng(8)
    assert all(alarm_at(rng, "chance", 2.0, 160) > 0 for _ in range(5000))
