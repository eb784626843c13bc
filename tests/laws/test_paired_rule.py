"""The kernels of rounds on common items: as the rule is written, and the identities that they keep.

`support.paired.Literal` is the rule in plain Python with fractions; the theorems are in `test_paired.py`.
"""

from __future__ import annotations

import copy
import itertools
import math

import numpy as np
import pytest

from support.paired import BETS, GO_ON, UNDECIDED, WEIGHTS, Literal, Played, Row, log_sum
from truebest.kernels import paired as kernel


@pytest.mark.parametrize(("items", "version"), [(None, 2), (28, 1), (28, 2)])
@pytest.mark.parametrize("kind", ["coins", "eighths", "real"])
def test_the_rule_is_as_written(kind: str, items: int | None, version: int) -> None:
    """What is declared, when arms are dropped, and the evidence, against plain Python; with gaps."""
    rng = np.random.default_rng(len(kind) + bool(items))
    decided = 0
    for run in range(9):
        K, delta = 2 + run % 4, (0.5, 0.2, 0.05)[run % 3]
        tolerance, wins, base = 0.125 * (run % 3 == 2), run == 7, rng.random(K)
        literal = Literal(K, delta, items, tolerance, wins=wins, version=version)
        race = Played(K, delta, items, tolerance, wins=wins, version=version)
        for n in range(28):
            x = 0.4 * rng.random(K) + 0.6 * base
            x = (rng.random(K) < base).astype(float) if kind == "coins" else x
            x = np.round(8.0 * x) / 8.0 if kind == "eighths" else x
            row = [None if run % 2 and rng.random() < 0.1 else float(one) for one in x]
            found = literal.step(row)
            assert race.step(row) == found
            assert race.out == literal.out
            if n % 9 == 8 or found != GO_ON:
                for i in range(K):
                    assert race.evidence(i) == pytest.approx(literal.evidence(i), rel=1e-10, abs=1e-10)
                    pairs = [race.pair(b, i) for b in range(K) if b != i]  # never far behind the best of them
                    behind = literal.pair_level - race.params[kernel.ROUND_LEVEL]
                    assert race.evidence(i) >= max(pairs) - behind - 1e-9
                d = float(rng.uniform(-0.5, 0.5))
                assert race.pair(0, 1, d) == pytest.approx(literal.pair(0, 1, d), rel=1e-10, abs=1e-10)
            if found != GO_ON:
                break
        decided += found >= 0 and n < 27
    assert decided >= 3


def test_certain_is_strict() -> None:
    """A lead of as many items as are left may end in a tie: five times ahead, then five times behind."""
    rows = [(0.0, 1.0)] * 5 + [(1.0, 0.0)] * 5
    race = Played(2, 1e-9, items=10)
    assert [race.step(row) for row in rows] == [GO_ON] * 9 + [0]
    assert race.lead(0, 1) == 0.0
    race = Played(2, 1e-9, items=10)
    assert [race.step(row) for row in [(0.0, 1.0)] * 6] == [GO_ON] * 5 + [1]
    assert race.out == [6, 0]


@pytest.mark.parametrize("items", [None, 150])
def test_ends_of_intervals_are_certified_and_agree_with_the_decision(items: int | None) -> None:
    """Below an end the evidence is above the level, beyond it not; a tolerance is met from there on."""
    rng = np.random.default_rng(12)
    for coins in (True, False):
        race = Played(3, 0.05, items=items)
        for n in range(1, 101):
            x = rng.random() + np.array([0.1, 0.0, -0.1]) + rng.normal(0, 0.2, 3)
            race.take((x > 0.5).astype(float) if coins else np.clip(x, 0.0, 1.0))
            if n % 20 and n > 2:
                continue
            level = float(race.params[kernel.ROUND_PAIR_LEVEL])
            for b, i in itertools.permutations(range(3), 2):
                end = race.lower(b, i)
                possible = -1.0 if items is None else (race.lead(b, i) - (items - n)) / items
                assert end == possible or race.pair(b, i, end) > level
                for d in np.linspace(possible, 1.0, 41):
                    if d < end - 1e-12:
                        assert race.pair(b, i, d) > level
                    elif d > end + 1e-12 and (items is None or d * items < race.lead(b, i) + items - n):
                        assert race.pair(b, i, d) <= level
            b = kernel.leading(race.pairs, race.arms)
            worst = min(race.lower(b, i) for i in range(3) if i != b)
            for tolerance, met in ((-worst + 1e-8, worst > -1.0), (-worst - 1e-8, False)):
                race.params[kernel.ROUND_TOLERANCE] = tolerance
                if tolerance > 0.0:
                    assert (kernel.declared(race.params, race.pairs, race.arms) == b) == met


def test_counts_and_products_are_the_same() -> None:
    """0/1 values are counted, others multiplied: values next to 0 and 1 give the same evidence."""
    rng, nearly = np.random.default_rng(2), 1.0 - 2.0**-45
    for items in (None, 300):  # of a closed set version 2 multiplies all
        counted, multiplied = (Played(3, 0.05, items=items, version=1) for _ in range(2))
        for _ in range(200):
            row = (rng.random(3) < [0.6, 0.5, 0.5]).astype(float)
            counted.take(row)
            multiplied.take(nearly * row)
        assert counted.pairs[kernel.FACTORS :, :].any(axis=1).sum() < 4  # the sums of D alone
        for i in range(3):
            assert counted.evidence(i) == pytest.approx(multiplied.evidence(i), abs=1e-7)


def test_the_order_of_arms_matters_only_where_comparators_are_tied() -> None:
    """Pairs do not know it. Before the first row all are tied: arms 0 and 1 are then the comparators."""
    rng = np.random.default_rng(6)
    rows = rng.random((200, 5)) * 0.3 + [0.3, 0.45, 0.35, 0.5, 0.4]
    for items in (None, 200):
        for share, order in ((0.0, [3, 0, 4, 1, 2]), (0.75, [0, 1, 4, 2, 3])):
            one, other = Played(5, 0.05, items, share=share), Played(5, 0.05, items, share=share)
            for row in rows:
                found, again = one.step(row), other.step(row[order])
                assert (found if found < 0 else order.index(found)) == again
                assert [one.out[a] for a in order] == other.out
                for i in range(5):
                    assert other.evidence(i) == pytest.approx(one.evidence(order[i]), abs=1e-10)
                if found != GO_ON:
                    break
            assert found == 3


def test_the_smallest_mean_is_found_alike() -> None:
    """1 - x in place of x exchanges the arms of a pair, to the last bit where 1 - x is exact."""
    rng = np.random.default_rng(9)
    for items in (None, 100):
        one, other = Played(3, 0.05, items=items), Played(3, 0.05, items=items)
        for _ in range(60):
            row = rng.integers(0, 1025, 3) / 1024
            one.take(row)
            other.take(1.0 - row)
        for b, i in itertools.permutations(range(3), 2):
            assert one.pair(b, i) == other.pair(i, b)
            assert one.lower(b, i) == other.lower(i, b)


def test_ties_leave_the_evidence_as_it_is() -> None:
    """To the last bit for unlimited items; a set that is used up in ties declares the first."""
    rng = np.random.default_rng(1)
    race = Played(4, 0.05)
    for _ in range(30):
        race.take(rng.random(4))
    before = [race.evidence(i) for i in range(4)]
    for x in (0.0, 0.3, 1.0):
        race.take([x] * 4)
    assert [race.evidence(i) for i in range(4)] == before
    closed = Played(3, 0.05, items=50)
    assert [closed.step([x, x, x]) for x in rng.random(50)] == [GO_ON] * 49 + [0]
    assert closed.out == [0, 0, 0]


@pytest.mark.parametrize("tolerance", [0.0, 0.03125, 0.0625])
def test_a_used_up_set_is_compared_exactly(tolerance: float) -> None:
    """Sums decide, the first of several; a gap leaves it open, unless it is within the tolerance."""
    rows = [(0.25, 0.5, 0.5), (0.5, 0.25, 0.125), (0.0, 0.25, 0.375)]
    race = Played(3, 0.01, 3, tolerance)
    assert [race.step(row) for row in rows][-1] == 1
    race = Played(3, 0.01, 3, tolerance)
    gaps: list[Row] = [(0.25, 0.5, 0.5), (0.5, 0.25, None), (0.0, 0.25, 0.375)]
    assert [race.step(row) for row in gaps][-1] == (UNDECIDED if 3 * tolerance < 0.125 else 2)


def test_one_arm_is_always_left() -> None:
    """If all would be dropped at once, the one whose worst lead is largest stays."""
    for level in (-100.0, -0.1):
        race = Played(3, 0.05)
        race.take((0.5, 0.75, 0.5))
        race.params[kernel.ROUND_LEVEL] = level - 100.0
        assert kernel.rule_out(race.params, race.pairs, race.arms) == 1
        assert race.out == [1, 0, 1]
        assert kernel.declared(race.params, race.pairs, race.arms) == 1


def test_a_dropped_arm_is_frozen() -> None:
    """Whatever it gives from then on, and whatever others give, its pairs and their intervals stay."""
    rng = np.random.default_rng(3)
    race = Played(4, 0.2, items=400)
    while not any(race.out):
        race.step((rng.random(4) < [0.7, 0.65, 0.6, 0.2]).astype(float))
    gone = race.out.index(max(race.out))
    before = [(race.pair(b, gone), race.lower(b, gone), race.lower(gone, b)) for b in range(4) if b != gone]
    twin = copy.deepcopy(race)
    for _ in range(40):
        row = (rng.random(4) < 0.6).astype(float)
        race.take(row)
        row[gone] = 1.0 - row[gone]
        twin.take(row)
    assert before == [
        (race.pair(b, gone), race.lower(b, gone), race.lower(gone, b)) for b in range(4) if b != gone
    ]
    assert (race.pairs == twin.pairs).all()
    assert (race.arms == twin.arms).all()


def test_sums_of_differences_do_not_drift() -> None:
    """After 5000 rows the lead is the correctly rounded sum, and the evidence that of the exact sums."""
    rng = np.random.default_rng(13)
    rows = np.clip(rng.random((5000, 1)) + rng.normal([0.01, 0.0], 0.2, (5000, 2)), 0.0, 1.0)
    race = Played(2, 1e-9)
    for row in rows:
        race.take(row)
    D = (rows[:, 0] - rows[:, 1]).tolist()
    assert race.lead(0, 1) == math.fsum(D)
    for d in (0.0, -0.02):
        each = [math.fsum(math.log1p(bet * one) for one in D) - 5000 * math.log1p(bet * d) for bet in BETS]
        exact = log_sum([math.log(p) + one for p, one in zip(WEIGHTS, each, strict=True)])
        assert race.pair(0, 1, d) == pytest.approx(exact, abs=1e-11)
