"""Elimination by the tilt rule: the comparator as it is written, its supermartingale, and what is shown.

The statements are those of docs/proofs.md. `Literal` counts and sums in plain Python, with 40 digits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from support.tilts import mixed, sizes, weights
from truebest import simulate
from truebest.kernels import best, tracking
from truebest.kernels._types import Array
from truebest.kernels.decision import take
from truebest.kernels.layout import LEVEL, MEANS, OUT, SETTLED, SHARE
from truebest.kernels.rules import ceilings, comparator, tilt
from truebest.theory.models import Bounded, Gaussian, Model
from truebest.theory.tilt import Tilt

UNIT = Bounded(0.0, 1.0)
C = 0.75
History = list[tuple[int, float]]


class Literal:
    """The values of an experiment, and those that count against each arm, as the rule is written down."""

    def __init__(self, num_arms: int, scales: list[float] | None = None) -> None:
        self.values: list[list[float]] = [[] for _ in range(num_arms)]
        self.against: list[History] = [[] for _ in range(num_arms)]
        self.scales = scales  # None for values in [0, 1]

    def mean(self, a: int) -> float:
        n, total = len(self.values[a]), math.fsum(self.values[a])
        if self.scales is None:
            return (total + 0.5) / (n + 1)
        return total / n / (2 * max(self.scales)) if n else -math.inf

    def height(self, a: int, o: int) -> float:
        spread = 0.0
        if not self.values[a] or not self.values[o] or self.mean(a) <= self.mean(o):
            return 0.0
        for arm in (a, o):
            x = np.array(self.values[arm])
            unit = 1.0 if self.scales is None else 2 * max(self.scales)
            prior = 0.25 if self.scales is None else 0.25 * (self.scales[arm] / max(self.scales)) ** 2
            spread += (((x - x.mean()) ** 2).sum() / unit**2 + prior) / (x.size + 1) / x.size
        return (self.mean(a) - self.mean(o)) ** 2 / (2 * spread)

    def counts(self, a: int, i: int) -> bool:
        """Whether a value of arm a would count against arm i."""
        order = sorted(range(len(self.values)), key=lambda arm: -self.mean(arm))
        others = [arm for arm in order if arm != i]
        if a == i or others[0] != a:
            return False
        if len(others) == 1:
            return True
        tau = math.log(len(self.values) - 1) / 2
        return self.height(a, i) >= tau or self.height(a, others[1]) >= tau

    def add(self, a: int, value: float) -> None:
        counted = [i for i in range(len(self.values)) if self.counts(a, i)]
        for i in counted:
            self.against[i].append((a, value))
        self.values[a].append(value)

    def evidence(self, b: int, i: int, m: float, e: float) -> float:
        """log E_i(m, e), with the pair term of arm b alone."""
        with mp.workdps(40):
            x, y, unit = mp.mpf(m) - mp.mpf(e), mp.mpf(m), 1.0 if self.scales is None else max(self.scales)
            up = [self._tilts([(b, v) for v in self.values[b]], x, 1, unit)]
            up.append(self._tilts(self.against[i], x, 1, unit))
            down = self._tilts([(i, v) for v in self.values[i]], y, -1, unit)
            rest = (1 - mp.mpf(C)) / (len(self.values) - 1)
            ups = [rest * mp.exp(p) + C * mp.exp(c) for p, c in zip(*up, strict=True)]
            matrix = weights(len(self.values))
            matrix = [*matrix[:-1], [(rest + C) * w for w in matrix[-1]]]
            return float(mixed(matrix, ups, [mp.exp(one) for one in down]))

    def _tilts(self, values: History, x: mp.mpf, sign: int, unit: float) -> list[mp.mpf]:
        """The logarithm of the product of every tilt."""
        found = []
        for eps in sizes():
            total = mp.mpf(0)
            for arm, value in values:
                if self.scales is None:
                    v, z = (mp.mpf(value), x) if sign > 0 else (1 - mp.mpf(value), 1 - x)
                    total += mp.log((1 + mp.expm1(eps) * v) / (1 + mp.expm1(eps) * z))
                else:
                    total += sign * eps * (mp.mpf(value) - x * unit) / (2 * mp.mpf(self.scales[arm]))
                    total -= eps**2 / 8
            found.append(total)
        return found


def begun(model: Model, num_arms: int, delta: float = 0.05, offset: float = 0.0) -> tuple[Array, Array]:
    rule = Tilt()
    return rule.parameters(model, num_arms, delta, 0.0, offset), rule.blank(model, num_arms)


CASES: dict[str, tuple[Model, list[float] | None, Callable[[np.random.Generator, int], float]]] = {
    "coins": (UNIT, None, lambda rng, a: float(rng.random() < 0.6 - 0.1 * a)),
    "between": (UNIT, None, lambda rng, a: float(rng.beta(6 - a, 4))),
    "mixed": (UNIT, None, lambda rng, a: float(rng.integers(0, 5) / 4 if a else rng.beta(8, 2))),
    "gaussian": (Gaussian(2.0), [2.0] * 4, lambda rng, a: float(rng.normal(-a, 2.0))),
    "unequal": (
        Gaussian((2.0, 1.0, 0.5, 2.0)),
        [2.0, 1.0, 0.5, 2.0],
        lambda rng, a: float(rng.normal(-a, 1.0)),
    ),
}


@pytest.mark.parametrize("kind", list(CASES))
def test_the_evidence_is_as_written(kind: str) -> None:
    """What is counted, and the statistic, against a literal computation with 40 digits."""
    model, scales, draw = CASES[kind]
    rng = np.random.default_rng(len(kind))
    literal = Literal(4, scales)
    params, state = begun(model, 4)
    compared = 0
    for n in range(120):
        arm = n if n < 4 else int(rng.integers(0, 4))
        value = draw(rng, arm)
        literal.add(arm, value)
        take(params, state, arm, 1.0, value)
        row = tilt.comparator_row(params)
        assert state[row + tilt.COUNT].tolist() == [len(one) for one in literal.against]
        if n % 24 == 23:
            for i in range(4):
                b, m = comparator.leader_besides(state, i), float(rng.uniform(0.3, 0.7))
                found, _, _ = tilt.evidence(params, state, b, i, m, 0.0, C)
                assert found == pytest.approx(literal.evidence(b, i, m, 0.0), rel=1e-11, abs=1e-11)
                compared += len(literal.against[i])
    assert compared > 100


@pytest.mark.parametrize("kind", ["gaussian", "unequal"])
def test_an_offset_changes_nothing(kind: str) -> None:
    """Values a million higher, with an offset there: the same statistic."""
    model, _, draw = CASES[kind]
    found = []
    for offset in (0.0, 2.0**20):
        rng = np.random.default_rng(5)
        params, state = begun(model, 4, offset=offset)
        for n in range(200):
            arm = n % 4
            take(params, state, arm, 1.0, offset + round(draw(rng, arm) * 2**20) / 2**20)
        found.append([comparator.standing(params, state, i, math.inf) for i in range(4)])
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    params[4] = 0.0  # as if the offset had moved back: the comparators follow
    for arm in range(4):
        comparator.centre_comparator(params, state, arm)
    moved = state[tilt.comparator_row(params) + tilt.C_MEAN] - 2.0**20 / model.unit
    assert np.abs(moved).max() < 10.0


def chosen(history: History) -> int:
    """Some arm, as it may follow from the past: in turn at first, then the leader, or by the sum."""
    if len(history) < 3:
        return len(history)
    sums = [sum(v for a, v in history if a == arm) for arm in range(3)]
    return int(np.argmax(sums)) if len(history) % 2 else int(sum(sums) + len(history)) % 3


def expected(means: tuple[float, ...], peeking: bool = False) -> float:
    """E Z after nine adaptive samples of three arms, for the last arm, over all 2^9 outcomes.

    peeking  the forbidden thing: a value counts only if it is a success
    """
    total, last = 0.0, 2
    best = max(means[:last])
    for outcome in itertools.product((0.0, 1.0), repeat=9):
        history: History = []
        probability = 1.0
        params, state = begun(UNIT, 3, 1e-9)
        for value in outcome:
            arm = chosen(history)
            probability *= means[arm] if value else 1.0 - means[arm]
            history.append((arm, value))
            if peeking:
                params[SHARE] = 0.0
                take(params, state, arm, 1.0, value)
                params[SHARE] = C
                if value and arm != last:
                    comparator.count(params, state, last, *comparator.weighed(params, state, arm, value))
            else:
                take(params, state, arm, 1.0, value)
        z = 0.0
        for b in range(last):
            d = means[b] - means[last]
            z += (1.0 - C) / 2.0 * math.exp(tilt.evidence(params, state, b, last, means[last], d, 0.0)[0])
        d = best - means[last]
        mixed = math.exp(tilt.evidence(params, state, 0, last, means[last], d, C)[0])
        pair = math.exp(tilt.evidence(params, state, 0, last, means[last], d, 0.0)[0])
        total += probability * (z + mixed - (1.0 - C) / 2.0 * pair)
    return total


def test_the_mean_of_the_supermartingale() -> None:
    """1 for equal arms, at most 1 else; above 1 where it depends on the value whether it counts."""
    assert expected((0.5, 0.5, 0.5)) == pytest.approx(1.0, abs=1e-12)
    assert expected((0.2, 0.2, 0.2)) == pytest.approx(1.0, abs=1e-12)
    assert expected((0.3, 0.6, 0.6)) <= 1.0 + 1e-12
    assert expected((0.5, 0.5, 0.5), peeking=True) > 1.05


@pytest.mark.parametrize("kind", list(CASES))
def test_an_arm_is_out_exactly_when_its_evidence_exceeds_the_level(kind: str) -> None:
    """Its evidence is kept as it was then, and its mean is -inf."""
    model, _, draw = CASES[kind]
    rng = np.random.default_rng(10 + len(kind))
    params, state = begun(model, 4)
    out = 0
    for n in range(400):
        arm = n % 4
        if state[OUT, arm]:
            continue
        take(params, state, arm, 1.0, draw(rng, arm))
        if n % 20 == 19:
            evidence = [comparator.standing(params, state, i, math.inf) for i in range(4)]
            leader = tracking.leading_arm(state)
            least = min(one for i, one in enumerate(evidence) if i != leader)
            assert comparator.least_standing(params, state, leader) == least  # to the bit
            exceed = [one > params[LEVEL] for one in evidence]
            before = state[OUT].copy()
            comparator.eliminate(params, state, 0.0, False)
            for i in range(4):
                assert (state[OUT, i] > 0.0) == (before[i] > 0.0 or exceed[i])
                if state[OUT, i] > 0.0 and before[i] == 0.0:
                    assert state[MEANS, i] == -math.inf
                    assert state[SETTLED, i] == evidence[i]  # to the end, though the decision needs less
                    out += 1
    assert out > 0


def test_the_minimum_is_certified() -> None:
    """Below the statistic on a grid of means, and within rounding of its least value; so is the ceiling."""
    for kind in ("coins", "between"):
        model, _, draw = CASES[kind]
        rng = np.random.default_rng(3)
        params, state = begun(model, 4)
        for n in range(160):
            take(params, state, n % 4, 1.0, draw(rng, n % 4))
        for i in range(4):
            b = comparator.leader_besides(state, i)
            least = comparator.evidence_against(params, state, b, i, -math.inf, math.inf)
            grid = [tilt.evidence(params, state, b, i, m, 0.0, C)[0] for m in np.linspace(0.0, 1.0, 2001)]
            assert min(grid) - 1e-3 <= least <= min(grid) + 1e-9
            for level in (least - 1.0, least - 1e-9, least + 1e-9, least + 1.0):  # CLOSE is nearer
                found = comparator.evidence_against(params, state, b, i, level, level)
                assert (found > level) == (least > level)
            assert ceilings.ceiling(params, state, b, i, 0.0, C) >= least - 1e-9


def test_the_last_arm_is_declared_and_stays() -> None:
    """One is always left, whatever the level; the rule stops with it."""
    params, state = begun(UNIT, 3)
    rng = np.random.default_rng(1)
    for n in range(600):
        if not state[OUT, n % 3]:
            take(params, state, n % 3, 1.0, float(rng.random() < (0.9, 0.5, 0.1)[n % 3]))
    assert best.stops(params, state, 0.0)
    assert (state[OUT] > 0.0).tolist() == [False, True, True]
    params[LEVEL] = -100.0
    assert comparator.eliminate(params, state, 0.0, False)
    assert state[OUT, 0] == 0.0
    z, beta = best.verdict(params, state)
    assert z > beta


SPACED: dict[str, tuple[list[float], dict[str, Any]]] = {
    "coins": ([0.8, 0.6, 0.5, 0.4], {"rewards": "bernoulli", "model": UNIT}),
    "between": ([0.7, 0.6, 0.5, 0.4], {"rewards": "beta", "noise": 0.15, "model": UNIT}),
    "gaussian": ([1.5, 0.7, 0.5, 0.0], {}),
}


@pytest.mark.parametrize("kind", list(SPACED))
def test_looks_that_are_put_off_cost_few_samples(kind: str) -> None:
    """At most 2% more than with a look after every sample; far apart, they cost more than that."""
    means, given = SPACED[kind]
    options = {"runs": 150, "seed": 3, "max_samples": 5000, "progress": False, **given}
    always, spaced, rarely = (
        simulate("tas-d", means, 0.05, stopping=Tilt(spacing), **options).cells[0].mean_samples
        for spacing in (0.0, 1 / 400, 0.1)
    )
    assert spaced <= 1.02 * always
    assert rarely > 1.02 * always
