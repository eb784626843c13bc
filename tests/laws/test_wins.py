"""Laws of rounds in which only wins count, and of the confidence sequence for a median ratio."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truebest.designs import Wins
from truebest.kernels import paired, wins
from truebest.kernels.round_claims import HEADS
from truebest.theory.ratios import Ratio, median_ratio, wins_needed


class Table:
    """Rounds played by the kernels; values are larger the better."""

    def __init__(self, K: int, delta: float = 0.1, tolerance: float = 0.0, **design: Any) -> None:
        made = Wins(**design)
        self.params, (self.pairs, self.arms) = made.parameters(K, delta, tolerance), made.blank(K)
        self.near, self.told = np.zeros_like(self.pairs), np.zeros((HEADS + K, K))
        self.beats = self.told[HEADS:]

    def play(self, row: Any) -> int:
        values = np.array(row, float)
        return wins.play(self.params, values, values, self.pairs, self.near, self.arms, self.told)

    def evidence(self, i: int) -> float:
        return paired.evidence(self.params, self.pairs, self.arms, i)

    def near_evidence(self, b: int, i: int) -> float:
        return paired.pair_evidence(self.params, self.near, self.arms, b, i, 0.0)

    def pair(self, b: int, i: int) -> float:
        return paired.pair_evidence(self.params, self.pairs, self.arms, b, i, 0.0)


@pytest.mark.parametrize("K", [2, 3])
def test_the_evidence_against_an_arm_that_ties_for_the_best_has_mean_one_at_most(K: int) -> None:
    """Every order of the arms is equally likely in a round: all sequences of up to five or four rounds."""
    rows = list(itertools.permutations(range(K)))
    for n in range(1, 6 if K == 2 else 5):
        total = 0.0
        for sequence in itertools.product(rows, repeat=n):
            table = Table(K, delta=1e-9)
            for row in sequence:
                table.play(row)
            total += math.exp(table.evidence(0))
        mean = total / len(rows) ** n
        assert mean <= 1.0 + 1e-12
        if K == 2:
            assert mean == pytest.approx(1.0, abs=1e-12)


def test_a_win_more_would_be_noticed() -> None:
    """The negative control: an arm that loses in four of six orders has evidence above one on average."""
    rows = [(0, 1), (0, 1), (0, 1), (0, 1), (1, 0), (1, 0)]
    total = 0.0
    for sequence in itertools.product(rows, repeat=4):
        table = Table(2, delta=1e-9)
        for row in sequence:
            table.play(row)
        total += math.exp(table.evidence(0))
    assert total / 6**4 > 1.1


tables = st.integers(2, 4).flatmap(
    lambda K: st.lists(st.lists(st.integers(1, 6), min_size=K, max_size=K), min_size=1, max_size=30)
)


@given(tables, st.booleans())
@settings(max_examples=60, deadline=None)
def test_only_the_order_within_a_round_counts(rows: list[list[int]], direct: bool) -> None:
    """Any increasing function of a round's values, another one each round, changes nothing, to the bit."""
    one, other = (Table(len(rows[0]), 0.3, direct=direct) for _ in range(2))
    for number, row in enumerate(rows):
        found = one.play(row)
        assert other.play([math.exp(x) * 10.0**number - 5.0 for x in row]) == found
        assert np.array_equal(one.pairs, other.pairs)
        assert np.array_equal(one.arms, other.arms)
        assert np.array_equal(one.beats, other.beats)


@given(tables, st.floats(0.01, 3.0), st.floats(0.01, 3.0))
@settings(max_examples=60, deadline=None)
def test_a_larger_tolerance_has_more_evidence(rows: list[list[int]], rho: float, more: float) -> None:
    """Within a factor is implied by better, and by within a smaller factor; in both signs of values."""
    K = len(rows[0])
    for sign in (1.0, -1.0):
        small, large = Table(K, 1e-9, rho), Table(K, 1e-9, rho + more)
        for row in rows:
            small.play([sign * x for x in row])
            large.play([sign * x for x in row])
        for b, i in itertools.permutations(range(K), 2):
            assert small.pair(b, i) <= small.near_evidence(b, i) + 1e-12
            assert small.near_evidence(b, i) <= large.near_evidence(b, i) + 1e-12


@given(tables)
@settings(max_examples=80, deadline=None)
def test_who_is_beaten_stays_so_and_who_is_out_is_not_needed(rows: list[list[int]]) -> None:
    """Direct, at a low level, so that much happens: arms leave when every unbeaten arm has beaten them."""
    K = len(rows[0])
    table = Table(K, 0.9, direct=True)
    before = table.beats.copy()
    for row in rows:
        found = table.play(row)
        beats = table.beats.reshape(K, K) > 0.0
        assert (table.beats[before > 0.0] == before[before > 0.0]).all()
        before = table.beats.copy()
        unbeaten = [a for a in range(K) if not beats[:, a].any()]
        for i in range(K):
            out = table.arms[paired.OUT_AFTER, i] > 0.0
            assert out == (i not in unbeaten and all(beats[b, i] for b in unbeaten))
        if found >= 0:
            assert unbeaten == [found]
            assert all(beats[found, i] for i in range(K) if i != found)
            return
        assert (found == paired.NO_WINNER) == (not unbeaten)
        if not unbeaten:
            return


@given(tables, st.data())
@settings(max_examples=80, deadline=None)
def test_a_used_up_set_says_who_wins_against_all(rows: list[list[int]], data: Any) -> None:
    """Direct, with a delta so small that only what is certain is said: the sums over the set, exactly."""
    K, order = len(rows[0]), data.draw(st.permutations(rows))
    table = Table(K, 1e-300, items=len(rows), direct=True)
    found = next(found for found in map(table.play, order) if found != paired.GO_ON)
    values = np.array(rows)
    leads = np.sign(values[:, :, None] - values[:, None, :]).sum(axis=0)
    best = [b for b in range(K) if (leads[b] >= 0).all()]
    assert found in best if best else found == paired.NO_WINNER


def test_the_rounds_that_a_clear_case_takes() -> None:
    """An arm that always wins: 7 rounds at delta 0.05 and 10 at 0.01, for two arms."""
    for delta, rounds in ((0.05, 7), (0.01, 10)):
        table = Table(2, delta)
        assert [table.play([2.0, 1.0]) for _ in range(rounds)] == [paired.GO_ON] * (rounds - 1) + [0]


# -- the median ratio ---------------------------------------------------------------------------------------


@given(st.integers(1, 400), st.floats(1.0, 8.0))
@settings(max_examples=40, deadline=None)
def test_the_wins_needed_are_the_least(rounds: int, level: float) -> None:
    """By trying them all."""
    bets = np.zeros((paired.BET_ROWS, 1))
    enough = []
    for won in range(rounds + 1):
        bets[paired.UPS, 0], bets[paired.DOWNS, 0] = won, rounds - won
        if paired.log_average(bets, 0, float(rounds), 0.0) > level:
            enough.append(won)
    assert wins_needed(rounds, level) == min(enough, default=None)


ratios = st.lists(st.floats(0.1, 10.0), min_size=1, max_size=60)


@given(ratios)
@settings(max_examples=40, deadline=None)
def test_the_ratio_of_the_other_to_the_one_is_the_inverse(values: list[float]) -> None:
    """Ends swap places; a common factor of a round changes nothing."""
    x, y = np.array(values), np.ones(len(values))
    one, other = median_ratio(x, y, 3.0), median_ratio(y, x, 3.0)
    assert one.low == pytest.approx(1.0 / other.high if other.high < math.inf else 0.0)
    assert one.high == pytest.approx(1.0 / other.low if other.low > 0.0 else math.inf)
    assert one.low <= one.estimate <= one.high
    common = 2.0 ** np.arange(len(values))
    assert median_ratio(common * x, common * y, 3.0) == one


def test_a_failure_lies_beyond_every_ratio_and_two_leave_it_open() -> None:
    """inf over a time is inf; inf over inf may be anything, so it widens both ends."""
    x, y = np.array([2.0] * 5 + [math.inf] * 25), np.ones(30)
    assert median_ratio(x, y, 3.0) == Ratio(math.inf, math.inf, math.inf)
    y[5:] = math.inf
    assert median_ratio(x, y, 3.0) == Ratio(2.0, 0.0, math.inf)
    assert median_ratio([], [], 3.0)[1:] == (0.0, math.inf)
    assert median_ratio([3.0], [1.0], 3.0) == Ratio(3.0, 0.0, math.inf)
    assert math.isnan(median_ratio([math.inf], [math.inf], 0.0).estimate)
