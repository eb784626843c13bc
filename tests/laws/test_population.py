"""Items like these: what is proven of the population that a closed set was drawn from."""

from __future__ import annotations

import math

import numpy as np
import pytest

from truebest.designs import Rounds
from truebest.experiment.population import Evidence
from truebest.kernels import paired
from truebest.kernels._types import Array

ROWS = 120


def evidence_by_counts(rows: int, d: float) -> Array:
    """The evidence that the mean is above d, of rows with D = ±1, by the numbers of +1 and of -1."""
    params, (pairs, arms) = Rounds().parameters(2, 0.5), Rounds().blank(2)
    found = np.full((rows + 1, rows + 1), -np.inf)
    for ups in range(rows + 1):
        for downs in range(rows + 1 - ups):
            pairs[paired.UPS, 1], pairs[paired.DOWNS, 1] = ups, downs
            arms[paired.ROUNDS] = arms[paired.SPAN] = ups + downs
            found[ups, downs] = paired.pair_evidence(params, pairs, arms, 0, 1, d)
    return found


def ever_wrong(p: float, level: float, rows: int = ROWS) -> float:
    """The exact probability that either end of the interval is ever on the wrong side, where P(D = 1) = p."""
    d = 2.0 * p - 1.0
    above, below = evidence_by_counts(rows, d), evidence_by_counts(rows, -d).T
    wrong = (above > level) | (below > level)
    alive = {0: 1.0}  # by the number of +1
    lost = 0.0
    for n in range(1, rows + 1):
        after: dict[int, float] = {}
        for ups, mass in alive.items():
            for step, chance in ((1, p), (0, 1.0 - p)):
                after[ups + step] = after.get(ups + step, 0.0) + mass * chance
        lost += sum(mass for ups, mass in after.items() if wrong[ups, n - ups])
        alive = {ups: mass for ups, mass in after.items() if not wrong[ups, n - ups]}
    return lost


@pytest.mark.parametrize("p", [0.5, 0.7, 0.95])
@pytest.mark.parametrize("delta", [0.05, 0.4])
def test_both_ends_hold_at_their_common_level(p: float, delta: float) -> None:
    """Exactly, over all sequences of rows: at log(2/delta) some end is ever wrong with at most delta."""
    assert ever_wrong(p, math.log(2.0 / delta)) <= delta


def test_two_ends_at_the_level_of_one_are_wrong_too_often() -> None:
    """The counter-example: at log(1/delta) each, some end is wrong with a probability above delta."""
    assert ever_wrong(0.5, math.log(1.0 / 0.4)) > 0.4


@pytest.mark.parametrize("num_arms", [2, 3, 5])
def test_the_ends_are_those_of_an_unlimited_source_at_the_level_of_all_pairs(num_arms: int) -> None:
    """No row is worth more for being among the last ones, and the level is that of all pairs."""
    rng, delta = np.random.default_rng(num_arms), 0.1
    rows = rng.random((40, num_arms)).round(2)
    design, unlimited = Rounds(40), Rounds()
    likes = Evidence(design, num_arms, delta)
    params, (pairs, arms) = unlimited.parameters(num_arms, delta), unlimited.blank(num_arms)
    for row in rows:
        likes.take(row, row, range(num_arms), np.zeros(num_arms))
        paired.take_round(params, row, row, pairs, arms)
    level = math.log(num_arms * (num_arms - 1) / delta)
    for b in range(num_arms):
        for i, lead in enumerate(likes.leads(b, 2.0)):
            if lead is not None:
                assert lead.low == 2.0 * paired.lower_end(params, pairs, arms, b, i, level)
                assert lead.high == -2.0 * paired.lower_end(params, pairs, arms, i, b, level)
                assert lead.estimate == pytest.approx(2.0 * (rows[:, b] - rows[:, i]).mean(), abs=1e-12)


def test_an_arm_that_is_fixed_beforehand_has_fewer_ends() -> None:
    """Two of every pair with it, in place of those of all pairs; the same for two arms."""
    rows = np.random.default_rng(3).random((60, 4))
    all_pairs, fixed = Evidence(Rounds(60), 4, 0.1), Evidence(Rounds(60), 4, 0.05, fixed=True)
    for row in rows:
        for one in (all_pairs, fixed):
            one.take(row, row, range(4), np.zeros(4))
    for here, there in zip(all_pairs.leads(1, 1.0), fixed.leads(1, 1.0), strict=True):
        if here is not None and there is not None:
            assert here.ends == pytest.approx(there.ends, abs=1e-9)


def test_pairs_of_an_arm_that_is_out_stay_as_they_are() -> None:
    """Whatever its values would have been afterwards."""
    rng = np.random.default_rng(1)
    rows, out = rng.random((30, 3)), np.zeros(3)
    likes, other = Evidence(Rounds(30), 3, 0.1), Evidence(Rounds(30), 3, 0.1)
    for n, row in enumerate(rows, 1):
        race = [0, 1, 2] if n <= 20 else [0, 1]
        out[2] = 20.0 if n > 20 else 0.0
        likes.take(row, row, race, out)
        changed = row if n <= 20 else np.array([*row[:2], 1.0 - row[2]])
        other.take(changed, changed, race, out)
        if n == 20:
            then = likes.leads(0, 1.0)[2]
    assert likes.leads(0, 1.0) == other.leads(0, 1.0)
    assert likes.leads(0, 1.0)[2] == then
    assert likes.rows() == 30
