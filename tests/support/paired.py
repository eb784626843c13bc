"""The paired design written down literally: plain Python that keeps all rows and computes evidence anew.

Differences and their sums are fractions, so that comparisons are exact; bets and weights are computed with 40
digits. Nothing is shared with the kernels. `Literal` plays the rule of docs/proofs.md, "Rounds on common
items", row by row; `Played` drives the kernels in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import mpmath as mp
import numpy as np

from truebest.designs import Rounds
from truebest.kernels import paired as kernel
from truebest.kernels._types import Array

GO_ON, UNDECIDED = -1, -2
Row = Sequence[float | None] | Array  # None for a value that is missing


def _bets() -> tuple[list[float], list[float]]:
    """The sizes of the bets, and their weights."""
    with mp.workdps(40):
        eps = [mp.mpf(8) / 2**k for k in range(16)]
        weights = [mp.mpf(0)] * 16
        for j, w in enumerate(("2", "3", "4", "3", "2", "1", "0.5")):
            s = mp.mpf(8) / 4**j
            q = [e * mp.exp(-(e**2) / (2 * s**2)) for e in eps]
            weights = [
                p + mp.mpf(w) / mp.mpf("15.5") * one / sum(q) for p, one in zip(weights, q, strict=True)
            ]
        return [float(mp.tanh(e / 2)) for e in eps], [float(p) for p in weights]


BETS, WEIGHTS = _bets()


def log_sum(exponents: Sequence[float]) -> float:
    """log Σ exp."""
    top = max(exponents)
    return top if math.isinf(top) else top + math.log(math.fsum(math.exp(one - top) for one in exponents))


class Literal:
    """A race on common items.

    items  how many there are; None for an unlimited source
    share  the comparator's weight; None for the rule's own
    exact  the mean that is left to every row on its own, in place of their average
    peek   the forbidden thing: the comparator of a row is chosen when the row is known
    version  of the rule: in 1 bets on a closed set stay as they are, and none is left out
    """

    def __init__(
        self,
        num_arms: int,
        delta: float,
        items: int | None = None,
        tolerance: float = 0.0,
        share: float | None = None,
        wins: bool = False,
        exact: bool = False,
        peek: bool = False,
        version: int = 2,
    ) -> None:
        self.num_arms, self.delta, self.items, self.tolerance = num_arms, delta, items, Fraction(tolerance)
        rule = 0.0 if num_arms == 2 else 0.25 if tolerance else 0.75
        self.share = rule if share is None else share
        self.pair_level = math.log((num_arms - 1) / (1.0 - self.share)) - math.log(delta)
        self.wins, self.exact, self.peek = wins, exact, peek
        self.grows, kept = items is not None and version > 1, len(BETS)
        if items is not None and self.grows:
            kept = max(3, sum(bet >= math.sqrt(-2.0 * math.log(delta) / items) for bet in BETS))
        self.bets = [(bet, one / math.fsum(WEIGHTS[:kept])) for bet, one in zip(BETS, WEIGHTS, strict=True)][
            :kept
        ]
        self.rows: list[list[tuple[Fraction, Fraction]]] = []
        self.prefixes: dict[tuple[int, int], list[Fraction]] = {}
        self.out = [0] * num_arms
        self.comparators: list[list[int]] = [[] for _ in range(num_arms)]

    def race(self) -> list[int]:
        return [a for a in range(self.num_arms) if not self.out[a]]

    def length(self, *arms: int) -> int:
        """How many rows count for these arms."""
        return min(self.out[a] or len(self.rows) for a in arms)

    def difference(self, b: int, i: int, row: int) -> Fraction:
        d = self.rows[row][b][0] - self.rows[row][i][1]
        return Fraction((d > 0) - (d < 0)) if self.wins else d

    def sums(self, b: int, i: int, rows: int) -> Fraction:
        """The lead of b over i after so many rows; what was summed before is kept."""
        kept = self.prefixes.setdefault((b, i), [Fraction(0)])
        while len(kept) <= rows:
            kept.append(kept[-1] + self.difference(b, i, len(kept) - 1))
        return kept[rows]

    def size(self, bet: float, row: int) -> float:
        """λ_k,r."""
        if not self.grows or self.items is None:
            return bet
        return min(bet * self.items / (self.items - row), max(bet, 0.97))

    def average(self, differences: list[Fraction], means: list[Fraction]) -> float:
        """log Σ_k p_k Π (1 + λ_k,r D_r)/(1 + λ_k,r d_r), the products λ_k,r d_r averaged unless `exact`."""
        if not differences:
            return 0.0
        n, D, expected = len(means), [float(one) for one in differences], [float(one) for one in means]
        exponents = []
        for bet, weight in self.bets:
            sizes = [self.size(bet, row) for row in range(n)]
            gained = math.fsum(math.log1p(size * one) for size, one in zip(sizes, D, strict=True) if one)
            spent = [size * one for size, one in zip(sizes, expected, strict=True)]
            if not self.exact:
                spent = [max(math.fsum(spent) / n, -max(sizes))] * n
            exponents.append(math.log(weight) + gained - math.fsum(map(math.log1p, spent)))
        return log_sum(exponents)

    def pair(self, b: int, i: int, d: Fraction | float = 0) -> float:
        """Λ_b,i(d)."""
        n, d = self.length(b, i), Fraction(d)
        differences = [self.difference(b, i, row) for row in range(n)]
        if self.items is None:
            return self.average(differences, [d] * n)
        M, before, means = self.items, Fraction(0), []
        for s, one in enumerate(differences, 1):
            means.append((M * d - before) / (M - s + 1))
            before += one
        if M * d - before < -(M - n):
            return math.inf
        return self.average(differences, means)

    def compared(self, i: int) -> float:
        """log C_i."""
        n = len(self.comparators[i])
        differences = [self.difference(b, i, row) for row, b in enumerate(self.comparators[i])]
        means = [Fraction(0)] * n
        if self.items is not None:
            for row, b in enumerate(self.comparators[i]):
                means[row] = -self.sums(b, i, row) / (self.items - row)
        return self.average(differences, means)

    def evidence(self, i: int) -> float:
        """log E_i."""
        others = [b for b in range(self.num_arms) if b != i]
        weight = math.log((1.0 - self.share) / len(others))
        terms = [weight + self.pair(b, i) for b in others]
        return log_sum([*terms, math.log(self.share) + self.compared(i)] if self.share else terms)

    def leading(self) -> int:
        race, n = self.race(), len(self.rows)
        worst = {b: min((self.sums(b, i, n) for i in race if i != b), default=Fraction(0)) for b in race}
        return max(race, key=lambda b: (worst[b], -b))

    def take(self, row: Row, low: float = 0.0, high: float = 1.0) -> None:
        """Count a row in; `low` and `high` are what a missing value lies between."""
        race, before = self.race(), len(self.rows)
        filled = [(low, high) if x is None else (x, x) for x in row]
        self.rows.append([(Fraction(one), Fraction(two)) for one, two in filled])
        for i in race:
            others = [b for b in race if b != i]
            if others:
                seen = before + self.peek
                self.comparators[i].append(max(others, key=lambda b: (self.sums(b, i, seen), -b)))

    def step(self, row: Row, low: float = 0.0, high: float = 1.0) -> int:
        """Count a row in, rule out, and say what is declared."""
        self.take(row, low, high)
        race, n = self.race(), len(self.rows)
        gone = [i for i in race if self.evidence(i) > -math.log(self.delta)]
        kept = self.leading() if gone == race else -1
        for i in gone:
            self.out[i] = 0 if i == kept else n
        race, b = self.race(), self.leading()
        others = [i for i in race if i != b]
        if not others:
            return b
        if n == self.items:
            within = all(self.sums(b, i, n) >= -n * self.tolerance for i in others)
            return b if within else UNDECIDED
        if self.tolerance and all(self.pair(b, i, -self.tolerance) > self.pair_level for i in others):
            return b
        return GO_ON


class Played:
    """The kernels, driven row by row."""

    def __init__(
        self,
        num_arms: int,
        delta: float,
        items: int | None = None,
        tolerance: float = 0.0,
        share: float | None = None,
        wins: bool = False,
        version: int = 2,
    ) -> None:
        design = Rounds(items, version=version)
        self.params = design.parameters(num_arms, delta, tolerance)
        if share is not None:
            self.params[kernel.ROUND_SHARE] = share
            self.params[kernel.ROUND_PAIR_LEVEL] = math.log((num_arms - 1) / (1.0 - share)) - math.log(delta)
        self.params[kernel.WINS] = wins
        self.pairs, self.arms = design.blank(num_arms)

    @property
    def out(self) -> list[int]:
        return [int(n) for n in self.arms[kernel.OUT_AFTER]]

    def _ends(self, row: Row, low: float, high: float) -> tuple[Array, Array]:
        return (
            np.array([low if x is None else x for x in row], float),
            np.array([high if x is None else x for x in row], float),
        )

    def take(self, row: Row, low: float = 0.0, high: float = 1.0) -> None:
        kernel.take_round(self.params, *self._ends(row, low, high), self.pairs, self.arms)

    def step(self, row: Row, low: float = 0.0, high: float = 1.0) -> int:
        return kernel.play_round(self.params, *self._ends(row, low, high), self.pairs, self.arms)

    def pair(self, b: int, i: int, d: float = 0.0) -> float:
        return kernel.pair_evidence(self.params, self.pairs, self.arms, b, i, d)

    def evidence(self, i: int) -> float:
        return kernel.evidence(self.params, self.pairs, self.arms, i)

    def lower(self, b: int, i: int, level: float | None = None) -> float:
        level = float(self.params[kernel.ROUND_PAIR_LEVEL]) if level is None else level
        return kernel.lower_end(self.params, self.pairs, self.arms, b, i, level)

    def lead(self, b: int, i: int) -> float:
        return kernel.lead(self.pairs, self.arms, b, i)

    def compared(self, i: int) -> float:
        """log C_i."""
        return kernel.compared_evidence(self.params, self.arms, i)
