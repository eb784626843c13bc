"""Known scores: what docs/proofs.md proves of bets beside them, on the kernels, and written down again."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest

from support.paired import log_sum
from truebest.designs import Rounds
from truebest.designs.strata import Strata
from truebest.kernels import number, paired, round_claims, strata
from truebest.kernels._types import Array
from truebest.kernels.questions import FAILED, OPEN, PASSED
from truebest.questions import AtLeast

TABLE = np.array(  # of three arms; the last is known
    [[1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.5, 1.0], [0.5, 1.0, 0.0], [0.0, 0.25, 0.0], [0.75, 0.0, 0.25]]
)
HOW = ["one", "known", "spy", "liar"]


def strata_of(table: Array, known: int, how: str) -> Strata:
    """Strata that say nothing, by the known scores, by the true values of arm 0, and by these with lies."""
    scores, M = np.ascontiguousarray(table[:, known]), len(table)
    if how == "known":
        return Strata.of({known: scores})
    which = np.zeros(M, np.int64) if how == "one" else np.arange(M)
    truth = table[:, 0]
    guesses = {"one": np.array([0.5]), "spy": truth, "liar": 1.0 - truth}[how]
    return Strata({known: scores}, which, np.bincount(which).astype(float), np.asarray(guesses, float))


def begun(design: Rounds, K: int, delta: float = 0.2) -> tuple[Array, Array, Array]:
    return design.parameters(K, delta), *design.blank(K)


def rows_of(table: Array, design: Rounds) -> Array:
    assert design.strata is not None
    return np.ascontiguousarray(np.column_stack([table, design.strata.of_item]))


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("known", [1, 2])
def test_the_mean_of_the_evidence_is_at_most_one(how: str, known: int) -> None:
    """At the true difference, after every row, over all orders of the items, in both directions.

    For every strata: those of a spy, who tells the values to come, too; and so is that of the comparator's.
    """
    design = Rounds(len(TABLE), version=3, strata=strata_of(TABLE, known, how))
    rows, means = rows_of(TABLE, design), TABLE.mean(axis=0)
    sums: dict[tuple[int, int], Array] = {}
    best, compared = int(np.argmax(means)), np.zeros(len(TABLE))
    for order in itertools.permutations(range(len(TABLE))):
        params, pairs, arms = begun(design, 3)
        for n, m in enumerate(order[:-1]):
            paired.take_round(params, rows[m], rows[m], pairs, arms)
            for b, i in itertools.permutations(range(3), 2):
                found = paired.pair_evidence(params, pairs, arms, b, i, means[b] - means[i])
                sums.setdefault((b, i), np.zeros(len(TABLE)))[n] += math.exp(found)
            compared[n] += math.exp(paired.compared_evidence(params, arms, best))
    for one in [*sums.values(), compared]:
        assert (one / math.factorial(len(TABLE)) <= 1.0 + 1e-9).all()
    assert max(one[-2] for one in sums.values()) > 0.5 * math.factorial(len(TABLE))  # it is not empty


def test_a_known_arm_whose_scores_are_others_voids_that() -> None:
    """Counter-example: the values to come are those of the table, and the scores that were told lie below."""
    told = TABLE.copy()
    told[:3, 2] -= 0.75
    design = Rounds(len(TABLE), version=3, strata=strata_of(told, 2, "known"))
    rows, means, total = rows_of(told, design), TABLE.mean(axis=0), 0.0
    for order in itertools.permutations(range(len(TABLE))):
        params, pairs, arms = begun(design, 3)
        for m in order[:-1]:
            paired.take_round(params, rows[m], rows[m], pairs, arms)
        total += math.exp(min(paired.pair_evidence(params, pairs, arms, 0, 2, means[0] - means[2]), 50.0))
    assert total > 1.5 * math.factorial(len(TABLE))


def numbered(how: str, threshold: float) -> tuple[Rounds, Array, int]:
    """Rounds in which arm 0 and a known one are compared with a number; their rows, and how many orders."""
    two = np.ascontiguousarray(TABLE[:, [0, 2]])
    design = Rounds(len(two), version=3, strata=strata_of(two, 1, how), question=AtLeast(threshold))
    return design, rows_of(two, design), math.factorial(len(two))


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("above", [True, False])
def test_the_evidence_about_a_number_has_a_mean_of_one_at_most(how: str, above: bool) -> None:
    """At the true mean, after every row, over all orders: exactly 1 after the first, whatever is known.

    Known scores are no more than guesses there: wrong ones do not void it, and a spy's do not, either.
    """
    mean = float(TABLE[:, 0].mean())
    design, rows, orders = numbered(how, mean)
    sums = np.zeros(len(TABLE) - 1)
    for order in itertools.permutations(range(len(TABLE))):
        (params, pairs, arms), told = begun(design, 2), round_claims.room(2)
        for n, m in enumerate(order[:-1]):
            round_claims.take_cell(params, rows[m], rows[m], pairs, arms, told, 0)
            sums[n] += math.exp(number.evidence_of_rounds(params, arms, 0, mean, above))
    assert (sums <= (1.0 + 1e-9) * orders).all()
    assert sums[0] == pytest.approx(orders, rel=1e-9)


def test_a_budget_of_payoffs_that_is_exceeded_voids_that() -> None:
    """The negative control: c that sum to a fifth more, with a stratum for each item."""
    X, kappa = TABLE[:, 0], 0.5
    total = 0.0
    for order in itertools.permutations(range(len(X))):
        product, left = 1.0, X.sum()
        for n, m in enumerate(order[:-1]):
            rest = len(X) - n
            product *= kappa * (X[m] + 1.2 / kappa) / (1.0 + kappa * left / rest)
            left -= X[m]
        total += product
    assert total > 1.5 * math.factorial(len(X))


@pytest.mark.parametrize("threshold", [0.2, 0.375, 0.541666, 0.7])
def test_a_known_arm_is_above_or_below_a_number_by_its_sum(threshold: float) -> None:
    """From the first row on, at no risk; and between no numbers but its mean."""
    design, rows, _ = numbered("known", threshold)
    (params, pairs, arms), told = begun(design, 2, 1e-6), round_claims.room(2)
    mean = float(TABLE[:, 2].mean())
    assert params[paired.ROUND_PAIR_LEVEL] == pytest.approx(
        -math.log(1e-6)
    )  # of one arm: nothing else can be wrong
    round_claims.take_cells(params, rows[0], rows[0], pairs, arms, told, 0)
    round_claims.judge(params, pairs, arms, told)
    assert told[round_claims.ROUND_LABELS].tolist() == [OPEN, PASSED if mean >= threshold else FAILED]
    for lower in (True, False):
        assert number.end_of_rounds(params, arms, 1, lower, 3.0) == pytest.approx(mean)


@pytest.mark.parametrize("up", [True, False])
def test_payoffs_spend_the_budget(up: bool) -> None:
    """Over the items that are left they sum to it, and none is below the least: all that a proof needs."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        S = int(rng.integers(1, 9))
        counts, guesses = rng.integers(1, 9, S).astype(float), rng.random(S)
        params = np.concatenate([[S], counts, guesses, [math.nan]])
        arms = np.zeros((strata.seen_rows(S), 1))
        taken = np.floor(rng.random(S) * counts)
        taken[0] = min(taken[0], counts[0] - 1.0)
        sums = taken * rng.random(S)
        arms[strata.STRATA :, 0] = np.concatenate([taken, sums, sums])
        left = float((counts - taken).sum())
        budget = left * 10.0 ** rng.uniform(-3.0, 3.0)
        at = (params, 0, arms, 0, 0, up)
        c = np.array([strata.payoff(*at, s, budget, left) for s in range(S)])
        assert ((counts - taken) * c).sum() == pytest.approx(budget, rel=1e-11)
        assert (c >= strata.LEAST * budget / left).all()
        w = np.array([strata.awaited(*at[:-1], s, up) for s in range(S)])
        above = c > strata.LEAST * budget / left * (1.0 + 1e-9)
        if above.any():  # c + w is the same wherever c is above the least, and largest where it is not
            assert np.ptp((c + w)[above]) < 1e-9 * (1.0 + budget)
            assert ((c + w)[~above] >= (c + w)[above].min() - 1e-9 * (1.0 + budget)).all()


def literal(design: Rounds, rows: Array, d: float, sizes: Sequence[float], exact: bool) -> float:
    """Arm 0 against arm 1, which is known, with the α found by halving; all sums from the whole past."""
    assert design.strata is not None
    assert design.items is not None
    M, s, known = design.items, design.strata, design.strata.known[1]
    exponents = []
    for bet, weight in zip(sizes, paired.PRIOR / paired.PRIOR[: len(sizes)].sum(), strict=False):
        gained, spent = 0.0, []
        for n, (x, v, _) in enumerate(rows):
            left = M - n
            size = min(bet * M / left, max(bet, 0.97))
            past = rows[:n]
            counts = [s.counts[j] - (past[:, 2] == j).sum() for j in range(s.counts.size)]
            w = [
                (15.0 * s.guesses[j] + past[past[:, 2] == j, 0].sum()) / (15.0 + (past[:, 2] == j).sum())
                for j in range(s.counts.size)
            ]
            budget = left / size - (known.sum() - past[:, 1].sum())
            low, high = -1e6, 1e6
            for _ in range(200):
                middle = 0.5 * (low + high)
                total = sum(a * max(0.01 * budget / left, middle - b) for a, b in zip(counts, w, strict=True))
                low, high = (middle, high) if total < budget else (low, middle)
            c = max(0.01 * budget / left, low - w[int(rows[n, 2])])
            gained += math.log(size * (x + c))
            spent.append(size * (M * d - (past[:, 0] - past[:, 1]).sum()) / left)
            assert v == known[n]
        if not exact:
            spent = [max(math.fsum(spent) / len(rows), -max(bet, 0.97))] * len(rows)
        gone = [math.log1p(one) if one > -1.0 else -math.inf for one in spent]
        exponents.append(math.log(weight) + gained - sum(gone))
    return log_sum(exponents)


def test_the_kernel_is_the_rule_and_its_average_is_no_more_than_the_products() -> None:
    """To 1e-9 of what is written down above; and never above the exact product, by Jensen's inequality."""
    rng = np.random.default_rng(8)
    for M in (12, 40):
        old = (rng.random(M) < 0.6).astype(float)
        new = np.round(np.clip(old + rng.normal(0.2, 0.4, M), 0.0, 1.0), 2)
        design = Rounds(M, version=3, strata=Strata.of({1: old}, rng.random(M), 3))
        table = rows_of(np.column_stack([new, old]), design)
        params, pairs, arms = begun(design, 2)
        sizes = paired.LAMBDA[: int(params[paired.GROWING])].tolist()
        for n in range(M // 2):
            paired.take_round(params, table[n], table[n], pairs, arms)
        for d in (-0.2, 0.0, 0.15):
            found = paired.pair_evidence(params, pairs, arms, 0, 1, d)
            written = [literal(design, table[: M // 2], d, sizes, exact) for exact in (False, True)]
            assert found == pytest.approx(written[0], abs=1e-9)
            assert found <= written[1] + 1e-9


@pytest.mark.parametrize("how", HOW)
def test_the_evidence_falls_in_d_and_is_convex(how: str) -> None:
    """On the logarithmic scale, where the difference is possible and no factor is clipped."""
    rng = np.random.default_rng(5)
    table = (rng.random((60, 2)) < 0.6).astype(float)
    design = Rounds(60, version=3, strata=strata_of(table, 1, how))
    rows = rows_of(table, design)
    params, pairs, arms = begun(design, 2)
    for n in range(30):
        paired.take_round(params, rows[n], rows[n], pairs, arms)
    for b, i in ((0, 1), (1, 0)):
        found = [paired.pair_evidence(params, pairs, arms, b, i, d) for d in np.linspace(-0.2, 0.4, 61)]
        assert (np.diff(found) <= 1e-12).all()
        assert (np.diff(found, 2) >= -1e-9).all()


def test_two_known_arms_are_compared_by_their_sums() -> None:
    """Before any item is used but one: inf if b is ahead by more than d, else nothing is said."""
    table = np.array([[0.0, 1.0, 0.5], [1.0, 1.0, 0.25], [0.0, 1.0, 1.0], [1.0, 0.0, 0.25]])
    design = Rounds(4, version=3, strata=Strata.of({1: table[:, 1].copy(), 2: table[:, 2].copy()}))
    row = rows_of(table, design)[0]
    params, pairs, arms = begun(design, 3)
    paired.take_round(params, row, row, pairs, arms)
    assert paired.pair_evidence(params, pairs, arms, 1, 2, 0.2) == math.inf
    assert paired.pair_evidence(params, pairs, arms, 1, 2, 0.25) == 0.0
    assert paired.pair_evidence(params, pairs, arms, 2, 1, 0.0) == 0.0
    assert paired.lower_end(params, pairs, arms, 1, 2, 3.0) == 0.25


def test_what_the_items_left_cannot_change_is_certain() -> None:
    """As soon as the sum of what was seen exceeds the known total, whatever is to come."""
    old = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    new = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    design = Rounds(6, version=3, strata=Strata.of({1: old}))
    rows = rows_of(np.column_stack([new, old]), design)
    params, pairs, arms = begun(design, 2)
    for n in range(3):
        assert paired.pair_evidence(params, pairs, arms, 0, 1, 0.0) < math.inf
        paired.take_round(params, rows[n], rows[n], pairs, arms)
    assert paired.pair_evidence(params, pairs, arms, 0, 1, 0.0) == math.inf
    assert paired.pair_evidence(params, pairs, arms, 0, 1, 1 / 6) < math.inf
    assert paired.lower_end(params, pairs, arms, 0, 1, 50.0) == pytest.approx(1 / 6)
    assert paired.lower_end(params, pairs, arms, 1, 0, 50.0) == pytest.approx(-4 / 6)


def test_arms_that_take_rows_one_by_one_have_the_evidence_of_rounds() -> None:
    """To the last bit, also where an arm rests and catches up: the known one is never behind."""
    rng = np.random.default_rng(6)
    table = (rng.random((40, 3)) < 0.5).astype(float)
    design = Rounds(40, version=3, strata=strata_of(table, 2, "known"))
    rows, ahead = rows_of(table, design), (25, 11)
    params, pairs, arms = begun(design, 3)
    told = round_claims.room(3)
    for first, n in enumerate(ahead):
        told[round_claims.RESTS] = 1.0
        told[round_claims.RESTS, first] = 0.0
        for row in range(n):
            round_claims.take_cells(params, rows[row], rows[row], pairs, arms, told, row)
    assert arms[paired.ROUNDS].tolist() == [25.0, 11.0, 25.0]
    for a, n in enumerate(ahead):
        both = Rounds(40, version=3, strata=strata_of(table[:, [a, 2]], 1, "known"))
        two = begun(both, 2)
        for row in np.ascontiguousarray(rows_of(table[:, [a, 2]], both)[:n]):
            paired.take_round(two[0], row, row, *two[1:])
        for d in (-0.2, 0.0, 0.3):
            for b, i in ((0, 1), (1, 0)):
                where = {0: a, 1: 2}
                found = paired.pair_evidence(params, pairs, arms, where[b], where[i], d)
                assert found == paired.pair_evidence(*two, b, i, d)


def test_strata_come_from_scores_that_are_known() -> None:
    """One for each value, or eight parts of the ranking; times eight of the proxies' mean."""
    old = np.array([0.0, 1.0, 1.0, 0.0, 0.5])
    found = Strata.of({1: old})
    assert found.of_item.tolist() == [0, 2, 2, 0, 1]
    assert found.counts.tolist() == [2.0, 1.0, 2.0]
    assert found.guesses.tolist() == pytest.approx([0.25, 0.5, 0.75])
    many = Strata.of({1: np.linspace(0.0, 1.0, 80)}, np.tile([0.2, 0.8], 40), 4)
    assert many.counts.size == 16
    assert set(many.counts.tolist()) == {5.0}
    assert ((many.guesses > 0.0) & (many.guesses < 1.0)).all()
