"""Items like these: what is proven of the population that a closed set was drawn from."""

from __future__ import annotations

import math

import numpy as np
import pytest

from truebest.designs import Rounds
from truebest.experiment.population import Evidence
from truebest.kernels import number, paired
from truebest.kernels._types import Array
from truebest.questions import AtLeast, Gate

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


def number_evidence_by_counts(rows: int, theta: float, above: bool) -> Array:
    """The evidence that a mean is above a number, or below it, by the numbers of ones and of zeros."""
    design = Rounds(question=AtLeast(theta))
    params, (_, begun) = design.parameters(1, 0.5), design.blank(1)
    found = np.full((rows + 1, rows + 1), -np.inf)

    def take(arms: Array, value: float) -> None:
        row = np.array([value])
        number.take_value(params, row, row, arms, 0, math.inf)
        paired.take_row(params, arms, 0, math.inf)

    for ups in range(rows + 1):
        arms = begun.copy()
        for downs in range(rows + 1 - ups):
            found[ups, downs] = number.evidence_of_rounds(params, arms, 0, theta, above)
            take(arms, 0.0)
        take(begun, 1.0)
    return found


def ever_wrong(p: float, level: float, of_number: bool = False, rows: int = ROWS) -> float:
    """The exact probability that either end of the interval is ever on the wrong side, where P(D = 1) = p."""
    d = 2.0 * p - 1.0
    if of_number:
        above, below = (number_evidence_by_counts(rows, p, side) for side in (True, False))
    else:
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
@pytest.mark.parametrize("of_number", [False, True])
def test_both_ends_hold_at_their_common_level(p: float, delta: float, of_number: bool) -> None:
    """Exactly, over all sequences of rows: at log(2/delta) some end is ever wrong with at most delta.

    The ends of a difference, and those of the mean of an arm that is compared with a number.
    """
    assert ever_wrong(p, math.log(2.0 / delta), of_number) <= delta


@pytest.mark.parametrize("of_number", [False, True])
def test_two_ends_at_the_level_of_one_are_wrong_too_often(of_number: bool) -> None:
    """The counter-example: at log(1/delta) each, some end is wrong with a probability above delta."""
    assert ever_wrong(0.5, math.log(1.0 / 0.4), of_number) > 0.4


def test_ends_of_means_are_those_of_the_evidence_about_numbers() -> None:
    """At the level of both ends of every arm; whatever the number is that they are compared with."""
    rows, K, delta = np.random.default_rng(4).random((50, 3)), 3, 0.1
    design = Rounds(50, question=AtLeast(0.9))
    likes, unlimited = Evidence(design, K, delta), Rounds(question=AtLeast(0.2))
    params, (_, arms) = unlimited.parameters(K, delta), unlimited.blank(K)
    for row in rows:
        likes.take(row, row, range(K), np.zeros(K))
        for a in range(K):
            number.take_value(params, row, row, arms, a, math.inf)
            paired.take_row(params, arms, a, math.inf)
    for a, lead in enumerate(likes.means(-1.0, 2.0)):
        assert lead is not None
        assert lead.estimate == pytest.approx(2.0 * rows[:, a].mean() - 1.0)
        for end, lower in zip(lead.ends, (True, False), strict=True):
            at = 0.5 * (end + 1.0)
            assert number.evidence_of_rounds(params, arms, a, at, lower) >= math.log(2 * K / delta) - 1e-9
            inside = at + (1e-6 if lower else -1e-6)
            assert number.evidence_of_rounds(params, arms, a, inside, lower) < math.log(2 * K / delta)


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
    all_pairs, fixed = Evidence(Rounds(60), 4, 0.1), Evidence(Rounds(60, question=Gate(1)), 4, 0.05)
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
