"""Rounds in which arms rest: a pair counts the rows that both of its arms have, however they came to them."""

from __future__ import annotations

import numpy as np
import pytest

from truebest import BestArm, Gate
from truebest.designs.rounds import Rounds
from truebest.kernels import paired, questions, round_claims
from truebest.kernels._types import Array
from truebest.kernels.questions import FAILED, OPEN, PASSED

PAIRS = BestArm(pairs=True)


def alone(design: Rounds, rows: Array, b: int, i: int, n: int) -> Array:
    """What a pair would keep of its first n rows, played as whole rounds by these two arms."""
    params, (pairs, arms) = design.parameters(2, 0.1), design.blank(2)
    for row in np.ascontiguousarray(rows[:n, [b, i]]):
        paired.take_round(params, row, row, pairs, arms)
    return pairs[:, 1]


@pytest.mark.parametrize("design", [Rounds(40), Rounds(40, version=1), Rounds(None)])
def test_a_pair_counts_its_first_rows(design: Rounds) -> None:
    """To the last bit, in whatever order arms take their rows, and so does its evidence."""
    rng, K = np.random.default_rng(4), 4
    rows = rng.random((40, K))
    params, (pairs, arms) = design.parameters(K, 0.1), design.blank(K)
    told = round_claims.room(K)
    for _ in range(110):
        a = int(rng.choice(K, p=[0.4, 0.3, 0.2, 0.1]))
        n = int(arms[paired.ROUNDS, a])
        if n < len(rows):
            round_claims.take_cell(params, rows[n], rows[n], pairs, arms, told, a)
    taken = arms[paired.ROUNDS].astype(int)
    assert len(set(taken)) == K
    two, both = design.blank(2)
    for b in range(K):
        assert told[round_claims.STANDING, b] == pytest.approx(rows[: taken[b], b].mean(), rel=1e-12)
        for i in range(K):
            n = min(taken[b], taken[i])
            if b != i:
                assert np.array_equal(pairs[:, b * K + i], alone(design, rows, b, i, n))
                two[:], both[:] = 0.0, 0.0
                for row in np.ascontiguousarray(rows[:n, [b, i]]):
                    paired.take_round(design.parameters(2, 0.1), row, row, two, both)
                for d in (-0.1, 0.0, 0.1):
                    found = paired.pair_evidence(params, pairs, arms, b, i, d)
                    assert found == paired.pair_evidence(params, two, both, 0, 1, d)


def test_those_that_are_behind_take_rows_first() -> None:
    """Of the arms that neither rest nor are out; none is behind where there are none."""
    params, arms, told = Rounds(9).parameters(4, 0.1), Rounds(9).blank(4)[1], round_claims.room(4)
    arms[paired.ROUNDS] = [3, 2, 5, 1]
    arms[paired.OUT_AFTER, 3], told[round_claims.RESTS, 1] = 2.0, 2.0
    assert round_claims.next_row(arms, told) == 3
    assert [round_claims.takes(params, arms, told, 3, a) for a in range(4)] == [True, False, False, False]
    told[round_claims.RESTS, 1] = 0.0
    assert round_claims.next_row(arms, told) == 2
    told[round_claims.RESTS] = 1.0
    assert round_claims.next_row(arms, told) == -1


@pytest.mark.parametrize("margin", [0.25, 0.0, -0.25])
def test_a_gate_is_never_undecided_when_a_set_is_used_up(margin: float) -> None:
    """It passes if it is ahead by -margin at least, if that is below 0, else by more; and fails if not."""
    for ahead in (-2, -1, 0, 1, 2):
        rows = np.full((4, 2), 0.25)
        rows[:2, 1 if ahead > 0 else 0] += 0.5 * abs(ahead)  # arm 1 is ahead by ahead/4
        design = Rounds(4, question=Gate(0, margin))
        params, (pairs, arms) = design.parameters(2, 0.1), design.blank(2)
        told = round_claims.room(2)
        for row in rows:
            for a in range(2):
                round_claims.take_cell(params, row, row, pairs, arms, told, a)
            round_claims.judge(params, pairs, arms, told)
        passes = ahead / 4 >= -margin if margin > 0.0 else ahead / 4 > -margin
        assert told[round_claims.ROUND_LABELS].tolist() == [PASSED, PASSED if passes else FAILED]


@pytest.mark.parametrize("d", [0.0, -0.0, 0.25, -0.25])
def test_sums_of_a_set_that_is_used_up_say_it(d: float) -> None:
    """A claim holds if b is ahead by more than d, and a weak one, with a minus, if it is by exactly d."""
    for ahead in (-2, -1, 0, 1, 2):
        design, rows = Rounds(4, question=PAIRS), np.full((4, 2), 0.25)
        rows[:2, 0 if ahead > 0 else 1] += 0.5 * abs(ahead)  # means that differ by ahead/4
        params, (pairs, arms) = design.parameters(2, 0.1), design.blank(2)
        for row in rows:
            paired.take_round(params, row, row, pairs, arms)
        shown = round_claims.is_shown(params, pairs, arms, 0, 1, d, params[paired.ROUND_PAIR_LEVEL])
        assert shown == (ahead / 4 > d or (str(d)[0] == "-" and ahead / 4 == d))


@pytest.mark.parametrize("margin", [0.0, 0.25, -0.25])
def test_one_of_two_opposite_claims_is_weak(margin: float) -> None:
    """So exactly one of them holds whatever the means are; at 0, that the new arm is not better."""
    ask, proven = np.array(Gate(1, margin).told()), np.zeros((4, 2))
    passes, fails = (questions.margin(ask, proven, np.full(2, OPEN), b, 1 - b) for b in (0, 1))
    assert passes == -fails == -margin
    assert (questions.is_weak(passes), questions.is_weak(fails)) == (margin > 0.0, margin <= 0.0)
