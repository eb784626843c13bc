"""Values from which no arm can be ruled out are not looked at one by one: room.py in kernels/rules."""

from __future__ import annotations

import math

import numpy as np
import pytest

from truebest.kernels import decision
from truebest.kernels._types import Array, Indices
from truebest.kernels.layout import LEVEL, OUT, SHARE
from truebest.kernels.rules import room, tilt
from truebest.kernels.rules.comparator import leader_besides
from truebest.theory.models import Bounded
from truebest.theory.tilt import Tilt

UNIT = Bounded(0.0, 1.0)


def begun(num_arms: int, delta: float = 0.05) -> tuple[Array, Array]:
    rule = Tilt()
    return rule.parameters(UNIT, num_arms, delta, 0.0, 0.0), rule.blank(UNIT, num_arms)


def drawn(kind: str, K: int, n: int, rng: np.random.Generator) -> tuple[Indices, Array]:
    """Arms, and their values."""
    arms = rng.integers(K, size=n)
    means = 0.5 - 0.08 * arms
    if kind == "coins":
        return arms, (rng.random(n) < means).astype(float)
    if kind == "near an end":
        return arms, rng.beta(30.0 * (0.97 - 0.05 * arms), 30.0 * (0.03 + 0.05 * arms))
    return arms, rng.beta(4.0 * means, 4.0 * (1.0 - means))


@pytest.mark.parametrize("kind", ["coins", "between", "near an end"])
@pytest.mark.parametrize("K", [3, 5])
def test_a_value_multiplies_the_evidence_at_a_mean_by_no_more(kind: str, K: int) -> None:
    """f at a mean grows by log(X/m) at most, or by log((1 - X)/(1 - m)), or not at all."""
    params, state = begun(K)
    arms, values = drawn(kind, K, 300, np.random.default_rng(K))
    assert params[SHARE] > 0.0
    grown = 0
    for arm, x in zip(arms.tolist(), values.tolist(), strict=True):
        before = state.copy()
        decision.take(params, state, arm, 1.0, x)
        for i, m in ((i, m) for i in range(K) for m in (0.2, 0.5, 0.9)):
            b = leader_besides(before, i)
            was, now = (
                tilt.evidence(params, each, b, i, m, 0.0, params[SHARE])[0] for each in (before, state)
            )
            most = (1.0 - x) / (1.0 - m) if arm == i else x / m
            assert now <= was + math.log(max(most, 1.0)) + 1e-9
            grown += now > was + 0.9 * math.log(max(most, 1.0)) > was
    assert grown > 0  # so the bound is not idle


@pytest.mark.parametrize("kind", ["coins", "between", "near an end"])
@pytest.mark.parametrize("seed", range(4))
def test_many_values_at_once_decide_as_one_by_one(kind: str, seed: int) -> None:
    """The same state to the bit, the same value that decides; arms are ruled out on the way."""
    K, rng = 3 + seed, np.random.default_rng(seed)
    arms, values = drawn(kind, K, 1500, rng)
    checks, together = rng.random(arms.size) < 0.9, rng.random(arms.size) < 0.02
    params, at_once = begun(K)
    single, decides = at_once.copy(), -1
    for i in range(arms.size):
        one = slice(i, i + 1)
        rooms = np.zeros((room.ROOMS, K))
        found, _ = decision.advance(arms[one], values[one], checks[one], together[one], params, single, rooms)
        if found == 0:
            decides = i
            break
    rooms = np.zeros((room.ROOMS, K))
    assert decision.advance(arms, values, checks, together, params, at_once, rooms) == (decides, False)
    assert at_once.tobytes() == single.tobytes()
    assert (at_once[OUT] > 0.0).any()


def test_nearly_all_values_of_equal_arms_need_no_look() -> None:
    """And where the bound is so low that each may decide, all need one: the room is what is left below it."""
    rng, shares = np.random.default_rng(1), []
    for level in (20.0, -5.0):
        params, state = begun(4)
        params[LEVEL] = level
        rooms, calm = np.zeros((room.ROOMS, 4)), 0
        for x in rng.random(400).tolist():
            arm = int(rng.integers(4))
            decision.take(params, state, arm, 1.0, x)
            kept = rooms.copy()
            asked = room.stays(params, state, arm, x, rooms)
            calm += asked and np.array_equal(kept[room.MEAN], rooms[room.MEAN])
        shares.append(calm / 400)
    assert shares[0] > 0.8
    assert shares[1] == 0.0
