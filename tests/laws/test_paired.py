"""Rounds on common items: every statement of docs/proofs.md about them.

Small tables are played in all orders, and small distributions over all outcomes, so that means and
probabilities are exact. `support.paired.Literal` is the rule in plain Python with fractions.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest

from support.paired import GO_ON, WEIGHTS, Literal, Played, Row
from truebest.kernels import paired as kernel

Table = Sequence[Row]
Outcomes = Sequence[tuple[float, Row]]  # what a row is, with which probability
ROUNDING = 1e-12
FAILING = 0.9  # the level of intervals is the one at which a family of ends may fail this often

# Rows of three arms. Arm 0 is a best one in all of them.
TABLES: dict[str, Table] = {
    "coins, tied": [(1, 1, 0), (0, 1, 1), (1, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
    "coins, one ahead": [(1, 0, 0), (1, 0, 1), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)],
    "opposites": [(1, 0, 0), (1, 0, 0), (1, 0, 0), (0, 1, 1), (0, 1, 1), (0, 1, 1)],
    "one item decides": [(1, 0, 0), (0, 0, 0), (1, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1)],
    "a clear case": [(1, 0, 0), (1, 0, 0), (1, 1, 0), (1, 0, 0), (1, 0, 1), (1, 0, 0)],
    "real": [
        (0.9, 0.2, 0.4), (0.1, 0.7, 0.3), (0.8, 0.75, 0.1), (0.3, 0.1, 0.9), (0.5, 0.6, 0.55),
        (0.4, 0.5, 0.2),
    ],
    "real, tied": [
        (0.75, 0, 0.5), (0, 0.75, 0.25), (0.5, 0.25, 0), (0.25, 0.5, 1), (1, 0.5, 0.25),
        (0.125, 0.625, 0.625),
    ],
    "skewed": [
        (1, 0.25, 0.25), (0.125, 0.25, 0.25), (0.125, 0.25, 0.25), (0.125, 0.25, 0.25), (0, 0.25, 0.25),
        (0.25, 0.25, 0.25),
    ],
    "common item": [
        (0.1, 0, 0.05), (0.3, 0.25, 0.3), (0.5, 0.5, 0.45), (0.7, 0.7, 0.6), (0.8, 0.75, 0.9), (1, 0.9, 0.8),
    ],
}  # fmt: skip
# Unlimited items: dependence within a row, arm 0 a best one.
LAWS: dict[str, Outcomes] = {
    "tied": [(0.25, (1, 0, 0)), (0.25, (0, 1, 0)), (0.25, (0, 0, 1)), (0.25, (1, 1, 1))],
    "real, tied": [(0.25, (0.5, 1, 0)), (0.5, (0.5, 0, 0.5)), (0.25, (0.5, 1, 1))],
    "ahead": [(0.5, (1, 0, 0.25)), (0.25, (0.25, 1, 0)), (0.25, (0, 0.25, 0.875))],
    "skewed": [(0.0625, (1, 0.25, 0)), (0.75, (0.1875, 0.25, 0.25)), (0.1875, (0.25, 0.0625, 0.25))],
}


def means(rows: Table) -> list[float]:
    """The mean of every arm over a table."""
    return [math.fsum(float(row[a] or 0.0) for row in rows) / len(rows) for a in range(len(rows[0]))]


def averages(law: Outcomes) -> list[float]:
    """The mean of every arm under a distribution of rows."""
    return [math.fsum(p * float(row[a] or 0.0) for p, row in law) for a in range(len(law[0][1]))]


class Path(Played):
    """A race that remembers whether a lower end, an upper end or a late tolerance was ever wrong."""

    low_failed = high_failed = late_failed = False


Visit = tuple[float, int, Path, int]


def visited(races: Path, rows: Table) -> Iterator[Visit]:
    """All orders of a table: probability, length, race, what is declared; decided races stay as they are."""

    def go(one: Path, rest: tuple[int, ...], p: float, n: int, found: int) -> Iterator[Visit]:
        for k in rest:
            after, now = one, found
            if found == GO_ON:
                after = copy.deepcopy(one)
                now = after.step(rows[k])
            yield p / len(rest), n + 1, after, now
            yield from go(after, tuple(i for i in rest if i != k), p / len(rest), n + 1, now)

    yield from go(races, tuple(range(len(rows))), 1.0, 0, GO_ON)


def drawn(races: Path, law: Outcomes, length: int) -> Iterator[Visit]:
    """All outcomes of independent rows, as `visited`."""

    def go(one: Path, p: float, n: int, found: int) -> Iterator[Visit]:
        for chance, row in law if n < length else ():
            after, now = one, found
            if found == GO_ON:
                after = copy.deepcopy(one)
                now = after.step(row)
            yield p * chance, n + 1, after, now
            yield from go(after, p * chance, n + 1, now)

    yield from go(races, 1.0, 0, GO_ON)


class Tally:
    """Means and probabilities over all paths, for a best arm 0."""

    def __init__(self, length: int, mu: Sequence[float]) -> None:
        assert mu[0] == max(mu)
        self.length, self.mu = length, mu
        self.evidence, self.z = np.zeros(length + 1), np.zeros(length + 1)
        self.compared, self.pairs = np.zeros(length + 1), np.zeros((length + 1, len(mu)))
        self.dropped = self.low_fails = self.high_fails = 0.0

    def add(self, p: float, n: int, race: Path) -> None:
        """Statistics after n rows, which a path has with probability p."""
        others = range(1, len(self.mu))
        share = float(race.params[kernel.ROUND_SHARE])
        pairs = [math.exp(race.pair(b, 0, self.mu[b] - self.mu[0])) for b in others]
        compared = math.exp(race.compared(0)) if share else 0.0
        self.evidence[n] += p * math.exp(race.evidence(0))
        self.z[n] += p * (share * compared + (1.0 - share) * math.fsum(pairs) / len(pairs))
        self.compared[n] += p * compared
        self.pairs[n, 1:] += p * np.array(pairs)
        gaps, level = {b: self.mu[b] - self.mu[0] for b in others}, math.log(len(others) / FAILING)
        race.low_failed |= any(race.lower(b, 0, level) > gaps[b] + ROUNDING for b in others)
        race.high_failed |= any(race.lower(0, b, level) > -gaps[b] + ROUNDING for b in others)
        if n == self.length:
            self.dropped += p * (race.out[0] > 0)
            self.low_fails += p * race.low_failed
            self.high_fails += p * race.high_failed


@pytest.mark.parametrize("delta", [0.6, 0.2])
@pytest.mark.parametrize("name", list(LAWS))
def test_unlimited_items_keep_the_best_arm(name: str, delta: float) -> None:
    """Theorem 7 over all outcomes: pairs have mean 1 at the truth, the comparator at most 1; errors within δ.

    δ = 0.6 so that arms are dropped, and pairs frozen, within a few rows.
    """
    mu = averages(LAWS[name])
    tally, dropped = Tally(5, mu), 0
    for p, n, race, _ in drawn(Path(3, delta), LAWS[name], 5):
        tally.add(p, n, race)
        dropped += any(race.out)
    assert tally.pairs[1:, 1:] == pytest.approx(1.0, abs=1e-9)
    assert max(tally.compared) <= 1.0 + ROUNDING
    assert max(tally.z) <= 1.0 + ROUNDING
    assert max(tally.evidence) <= max(tally.z) + ROUNDING
    assert tally.dropped <= delta
    assert tally.low_fails <= FAILING
    assert tally.high_fails <= FAILING
    assert dropped or delta < 0.5
    if name.endswith("tied"):
        assert tally.z[1:] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("name", ["coins, tied", "real"])
def test_bets_that_see_the_row_are_no_bets(name: str) -> None:
    """A counter-example: bets may grow with the number of rows, not where the row's D is positive."""
    rows, total = TABLES[name], 0.0
    for order in itertools.permutations(rows):
        product, lead = 1.0, 0.0
        for n, (b, i, _) in enumerate(order):
            bet = 0.25 * (1.0 + float((b or 0.0) > (i or 0.0)))
            product *= (1.0 + bet * ((b or 0.0) - (i or 0.0))) / (1.0 + bet * (gap(rows) - lead) / (6 - n))
            lead += (b or 0.0) - (i or 0.0)
        total += product / 720
    assert total > 1.1


def gap(rows: Table) -> float:
    """By how much arm 0 is ahead of arm 1 on all rows together."""
    return 6 * (means(rows)[0] - means(rows)[1])


def test_a_comparator_that_is_chosen_late_is_no_bet() -> None:
    """A counter-example: if it may depend on the row, the mean is above 1."""
    total = 0.0
    for outcome in itertools.product(LAWS["tied"], repeat=3):
        literal = Literal(3, 0.01, peek=True)
        for _, row in outcome:
            literal.take(row)
        total += math.prod(p for p, _ in outcome) * math.exp(literal.compared(0))
    assert total > 1.15


@pytest.mark.parametrize("delta", [0.6, 0.2])
@pytest.mark.parametrize("name", list(TABLES))
def test_a_closed_set_keeps_the_best_arm(name: str, delta: float) -> None:
    """Theorems 8 and 9 over all 720 orders: at every n the mean is at most 1; errors within δ."""
    tally = Tally(6, means(TABLES[name]))
    for p, n, race, found in visited(Path(3, delta, items=6), TABLES[name]):
        tally.add(p, n, race)
        assert not math.isinf(race.evidence(0))  # what is true is not impossible
        assert race.out[0] < 6  # nor is it refuted by the last item
        if n == 6 and not race.out[0]:
            assert tally.mu[found] == pytest.approx(max(tally.mu), abs=ROUNDING)
    assert max(tally.z) <= 1.0 + ROUNDING
    assert max(tally.evidence) <= max(tally.z) + ROUNDING
    assert tally.dropped <= delta
    assert tally.low_fails <= FAILING
    assert tally.high_fails <= FAILING


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", ["coins, tied", "real", "skewed"])
def test_every_row_on_its_own_has_mean_one(name: str, version: int) -> None:
    """Theorem 8 with the exact sums: pairs are martingales at the truth, over all orders of five items."""
    rows = TABLES[name][:5]
    total = np.zeros((6, 3))
    mu = [sum(Fraction(row[a] or 0) for row in rows) / 5 for a in range(3)]
    for order in itertools.permutations(range(5)):
        literal = Literal(3, 1e-9, items=5, exact=True, version=version)
        for n, k in enumerate(order, 1):
            literal.take(rows[k])
            total[n, 1:] += [math.exp(literal.pair(b, 0, mu[b] - mu[0])) / 120 for b in (1, 2)]
    assert total[1:, 1:] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("version", [1, 2])
def test_the_average_loses_next_to_nothing(version: int) -> None:
    """Theorem 9: never above the exact sums; little is lost where it matters; ends move by 0.001."""
    rng, matters = np.random.default_rng(4), (-math.inf if version == 1 else 2.0, 7.0)
    for coins in (True, False):
        M, level = 200, math.log(20 / 0.25)
        race = Played(3, 0.05, items=M, version=version)
        exact = Literal(3, 0.05, items=M, exact=True, version=version)
        x = rng.random((M, 1)) + rng.normal([0.05, 0.0, -0.05], 0.1, (M, 3))
        x = (x > 0.5).astype(float) if coins else np.clip(x, 0.0, 1.0)
        for n, row in enumerate(x, 1):
            race.take(row)
            exact.take(row)
            if n in (1, 60, 120, 180):
                for i in range(3):
                    most = exact.evidence(i)
                    assert race.evidence(i) <= most + 1e-9
                    assert race.evidence(i) >= most - 0.05 or not matters[0] < most < matters[1]
                end = race.lower(0, 1, level)
                assert exact.pair(0, 1, end - 1e-9) > level or end == pytest.approx(race.lower(0, 1, 1e9))
                assert exact.pair(0, 1, end + 0.001) <= level


def filled(row: Row, values: Iterator[float]) -> list[float]:
    """A row with its gaps filled."""
    return [next(values) if x is None else float(x) for x in row]


def test_missing_values_only_take_evidence_away() -> None:
    """Theorem 10: at most what every filling gives, for pairs at every d; decided only if all agree."""
    rng, ends = np.random.default_rng(8), {True: 0, False: 0}
    for _ in range(30):
        rows: list[list[float | None]] = [[float(x) for x in rng.integers(0, 3, 3) / 2] for _ in range(6)]
        for k, a in zip(rng.integers(0, 6, 3), rng.integers(0, 3, 3), strict=True):
            rows[k][a] = None
        gaps = sum(x is None for row in rows for x in row)
        race, found, sure = Played(3, 1e-9, items=6), GO_ON, [True] * 3
        for row in rows:
            found = race.step(row)
            if found != GO_ON:
                break
        for values in itertools.product((0.0, 0.5, 1.0), repeat=gaps):
            numbers, full = iter(values), Played(3, 1e-9, items=6)
            known = [filled(row, numbers) for row in rows]
            for one in known[: int(max(race.arms[kernel.ROUNDS]))]:
                full.take(one)
            if not any(race.out):
                for b, i in itertools.permutations(range(3), 2):
                    d = float(rng.uniform(-0.3, 0.3))
                    assert race.pair(b, i, d) <= full.pair(b, i, d) + 1e-9
                    assert race.lower(b, i, 1.0) <= full.lower(b, i, 1.0) + 1e-9
            mu = means(known)
            sure = [one and mu[a] >= max(mu) - ROUNDING for a, one in enumerate(sure)]
        assert found != GO_ON
        assert sure[found] if found >= 0 else not any(sure)
        ends[found >= 0] += 1
    assert min(ends.values()) >= 5


@pytest.mark.parametrize("name", ["coins, tied", "opposites", "real, tied"])
def test_a_closed_set_with_gaps_keeps_the_best_arm(name: str) -> None:
    """Theorem 10 over all orders: some values of each arm are missing, also such as would speak for it."""
    rows = [
        [None if (k, a) in ((0, 0), (1, 2), (3, 1), (4, 0)) else x for a, x in enumerate(row)]
        for k, row in enumerate(TABLES[name])
    ]
    tally = Tally(6, means(TABLES[name]))
    for p, n, race, _ in visited(Path(3, 0.6, items=6), rows):
        tally.add(p, n, race)
    assert max(tally.evidence) <= max(tally.z) + ROUNDING <= 1.0 + 2 * ROUNDING
    assert tally.dropped <= 0.6


@pytest.mark.parametrize("name", ["coins, one ahead", "real", "skewed"])
def test_a_tolerance_may_be_chosen_late(name: str) -> None:
    """Theorem 7 (c): the arm and the tolerance are whatever would be declared and wrong, at any time."""
    mu, wrong = means(TABLES[name]), 0.0
    for p, n, race, _ in visited(Path(3, 0.9, items=6, tolerance=1e-9), TABLES[name]):
        left = [a for a in range(3) if not race.out[a]]
        for b in left:
            short = max((-race.lower(b, i) for i in left if i != b), default=0.0)
            race.late_failed |= short < mu[0] - mu[b] - ROUNDING
        wrong += p * race.late_failed if n == 6 else 0.0
    assert 0.0 < wrong <= 0.9


def test_rows_may_not_be_skipped() -> None:
    """Two items, D = 1 on one and -1 on the other: bet on the second only if the first, skipped, was -1."""
    in_order, skipping = [], []
    for first in (1.0, -1.0):
        race = Played(2, 1e-9, items=2)
        race.take((max(first, 0.0), max(-first, 0.0)))
        in_order.append(math.exp(race.pair(0, 1)))
        race = Played(2, 1e-9, items=2)
        if first == -1.0:
            race.take((1.0, 0.0))
        skipping.append(math.exp(race.pair(0, 1)))
    assert sum(in_order) / 2 == pytest.approx(1.0)
    bet = math.fsum(p * one for one, p in Literal(2, 1e-9, items=2).bets)
    assert sum(skipping) / 2 == pytest.approx(1.0 + bet / 2)


def test_wins_keep_an_arm_that_beats_each_other() -> None:
    """Theorem 11: arm 0 wins against each in half of the rounds, yet has the worst mean."""
    rows: Table = [(2.0, 1.0, 1.5), (2.0, 1.0, 0.0), (-50.0, 1.0, 0.0), (-70.0, 0.0, 1.0)]
    for closed in (False, True):
        tally = Tally(4, [0.0, 0.0, 0.0])
        path, law = Path(3, 0.6, items=4 if closed else None, wins=True), [(0.25, row) for row in rows]
        for p, n, race, _ in visited(path, rows) if closed else drawn(path, law, 4):
            tally.add(p, n, race)
        assert max(tally.z) <= 1.0 + ROUNDING
        assert closed or tally.z[1:] == pytest.approx(1.0, abs=1e-9)
        assert tally.dropped <= 0.6


def first_wins(delta: float, length: int) -> list[int]:
    """How many of n discordant pairs an arm must win for the other to be out, n = 1 ... length."""
    state, wins, found = np.zeros((kernel.PAIR_ROWS, 1)), 0, []
    for n in range(1, length + 1):
        state[:2, 0] = wins, n - wins
        while wins <= n and kernel.log_average(state, 0, float(n), 0.0) <= -math.log(delta):
            wins += 1
            state[:2, 0] = wins, n - wins
        found.append(wins)
    return found


def discordant(P: float, needed: list[int], both: bool) -> tuple[float, float]:
    """The mean number of discordant pairs up to the win, and the probability that it never comes.

    both  the race ends, too, when the other arm has won
    """
    alive, least, mean, lost = np.ones(1), 0, 0.0, 0.0  # the probability of `least` wins, one more ...
    for n, wins in enumerate(needed, 1):
        mean += float(alive.sum())
        alive = np.append((1.0 - P) * alive, 0.0) + np.append(0.0, P * alive)
        alive = alive[: max(wins - least, 0)]
        while alive.size and (alive[0] < 1e-18 or (both and n - least >= wins)):
            lost += float(alive[0])
            alive, least = alive[1:], least + 1
        if alive.sum() < 1e-12:
            break
    return mean, lost


def test_two_arms_by_dynamic_programming() -> None:
    """How many items on which two arms differ it takes, exactly; and how often one of two equals is out."""
    needed = first_wins(0.05, 6000)
    expected = {0.6: 215.0, 0.7: 54.2, 0.8: 23.6, 0.9: 12.5, 0.97: 8.3, 1.0: 7.0}
    for P, rounds in expected.items():
        digits = 0 if rounds > 100.0 else 1
        assert round(discordant(P, needed, both=False)[0], digits) == rounds
        mean, lost = discordant(P, needed, both=True)
        assert mean <= rounds + 0.05
        assert lost <= 0.05
    assert discordant(0.5, needed, both=True)[1] == pytest.approx(0.0327, abs=5e-3)
    assert sum(WEIGHTS) == pytest.approx(1.0)
    assert pytest.approx(WEIGHTS, rel=1e-14) == kernel.PRIOR
