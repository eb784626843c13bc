"""What holds for items like these: where those of a closed set are a random sample of all that could come.

Then rows are independent, and whatever is true of the difference of two arms on the first of them is evidence
about all items that could come, as with an unlimited source: bets on every row stay as they are, and the mean
of its difference is d, whatever came before. That evidence decides nothing here. Proven at log(K(K-1)/delta),
all ends of all pairs hold together, so it does not matter which arm leads; at log(2(K-1)/delta) all
ends of the pairs with an arm that is fixed beforehand, as the baseline of a gate is. Where arms are compared
with a number, both ends of the mean of each hold together at log(2K/delta).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ..designs.rounds import Rounds
from ..kernels import number, paired, round_claims
from ..kernels._types import Array
from ..questions import BEST, PerArm, Question
from ..telling.standings import Lead
from .settings import Settings

HALVINGS = 50  # of a search for an end of an interval
_BETS, _WEIGHTS = paired.LAMBDA[:, None], np.log(paired.PRIOR)


def level(num_arms: int, delta: float, asked: Question = BEST) -> float:
    """Of all ends together: of all pairs, or of what each arm is compared with, whatever the data say."""
    ends = 2 * asked.verdicts(num_arms) if isinstance(asked, PerArm) else num_arms * (num_arms - 1)
    return math.log(ends) - math.log(delta)


def likes_of(settings: Settings, design: Rounds) -> Evidence | Weighted | None:
    """The evidence about items like these before the first row; None where that is not asked."""
    K = len(settings.arms)
    if not settings.sampled:
        return None
    if settings.largest is None:
        return Evidence(design, K, settings.delta)
    return Weighted(design.units.sizes, settings.largest, K, level(K, settings.delta, design.question))


class Evidence:
    """Of every pair of arms, or of every arm, about items like these; bit for bit a function of the rows."""

    def __init__(self, design: Rounds, num_arms: int, delta: float) -> None:
        unlimited = replace(design, items=None, strata=None)
        self._params = unlimited.parameters(num_arms, delta)
        self._level = level(num_arms, delta, design.question)
        self._pairs, self._arms = unlimited.blank(num_arms)
        self._sums = np.zeros((2, num_arms))  # of which nothing is asked

    def copy(self) -> Evidence:
        """A copy, which may go its own way."""
        twin = copy(self)
        twin._pairs, twin._arms, twin._sums = self._pairs.copy(), self._arms.copy(), self._sums.copy()
        return twin

    def take(
        self,
        low: Array,
        high: Array,
        arms: Iterable[int],
        out: Array,
        cluster: int | None = None,  # noqa: ARG002
    ) -> None:
        """Let arms take their next row, which they do together.

        low, high  the row, as `round_claims.take_cell` is told it
        out        after how many rows each arm was ruled out, 0 before that: then its pairs stay as they are
        """
        self._arms[paired.OUT_AFTER] = out
        for arm in arms:
            round_claims.take_cell(self._params, low, high, self._pairs, self._arms, self._sums, arm)

    def leads(self, arm: int, width: float) -> tuple[Lead | None, ...]:
        """By how much an arm is better than each other one on average, and between which ends that lies."""
        K, seen = self._arms.shape[1], (self._params, self._pairs, self._arms)
        found: list[Lead | None] = []
        for i in range(K):
            n = float(min(self._arms[paired.ROUNDS, [arm, i]]))
            estimate = width * paired.lead(*seen[1:], arm, i) / n if n > 0.0 else None
            low = width * paired.lower_end(*seen, arm, i, self._level)
            high = -width * paired.lower_end(*seen, i, arm, self._level)
            found.append(None if i == arm else Lead(estimate, low, high))
        return tuple(found)

    def means(self, least: float, width: float) -> tuple[Lead | None, ...]:
        """The mean of each arm, where each is compared with a number, and between which ends it lies."""
        first, found = self._arms.shape[0] - number.NUMBER_ROWS, list[Lead | None]()
        for a, n in enumerate(self._arms[paired.ROUNDS].tolist()):
            total = 0.5 * float(self._arms[[first + number.LOW_TOTAL, first + number.HIGH_TOTAL], a].sum())
            low, high = (
                least + width * number.end_of_rounds(self._params, self._arms, a, lower, self._level)
                for lower in (True, False)
            )
            found.append(Lead(least + width * total / n if n else None, low, high))
        return tuple(found)

    def rows(self) -> int:
        """How many rows there were."""
        return int(paired.rounds_taken(self._arms))

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it; a row of zeros as None."""
        return {
            name: [row.tolist() if row.any() else None for row in array]
            for name, array in (("pairs", self._pairs), ("arms", self._arms))
        }

    def restore(self, data: dict[str, Any]) -> None:
        """What `to_dict` gave, bit for bit."""
        for array, rows in ((self._pairs, data["pairs"]), (self._arms, data["arms"])):
            for row, kept in zip(array, rows, strict=True):
                row[:] = 0.0 if kept is None else kept


def log_evidence(leads: Array, weights: Array, d: float) -> float:
    """The evidence against a mean of at most d, which it does not increase with.

    leads    of every row, by how much b is better, times the weight of the row
    weights  the size of its cluster, divided by that of the largest there can be
    """
    bets = np.log1p(_BETS * ((leads - weights * d) / (1.0 + abs(d)))).sum(axis=1)
    return float(np.logaddexp.reduce(_WEIGHTS + bets))


class Weighted:
    """The same for clusters of which each item counts alike, and which differ in size.

    A cluster of n items, on which arm b is better than arm i by D on average, counts n. If b is better by d
    on the items of all clusters that could come, n (D - d) has the mean 0, and n (D - d)/(m (1 + |d|)) lies
    in [-1, 1] where no cluster has more than m items. So 1 + λ times that is a positive factor of mean 1, for
    every bet λ. Here rows must be kept, for no sum of them says what other d would have given.

    Kept are, of every row and arm, what it is worth at least and at most, times the weight of the row; the
    weight of every row; and how many rows each arm has taken. A pair counts those that both have.
    """

    def __init__(self, sizes: Sequence[int], largest: int, num_arms: int, level: float) -> None:
        self._sizes, self._largest, self._level = sizes, largest, level
        self._scale = max(sizes) / largest  # rows are told as parts of the largest cluster here
        self._low, self._high = np.zeros((0, num_arms)), np.zeros((0, num_arms))
        self._weights = np.zeros(0)
        self._taken = [0] * num_arms

    def copy(self) -> Self:
        """The same, which may go its own way: arrays are replaced, not changed."""
        return copy(self)

    def take(
        self,
        low: Array,
        high: Array,
        arms: Iterable[int],
        out: Array,  # noqa: ARG002
        cluster: int | None,
    ) -> None:
        """Let arms take their next row, which they do together; of this cluster."""
        assert cluster is not None
        weight, scale = self._sizes[cluster] / self._largest, self._scale
        lows, highs, weights = self._low.copy(), self._high.copy(), self._weights
        taken = self._taken.copy()
        for arm in arms:
            if taken[arm] == len(weights):
                weights = np.append(weights, weight)
                lows, highs = (np.vstack([one, np.zeros(len(taken))]) for one in (lows, highs))
            lows[taken[arm], arm], highs[taken[arm], arm] = scale * low[arm], scale * high[arm]
            taken[arm] += 1
        self._low, self._high, self._weights, self._taken = lows, highs, weights, taken

    def leads(self, arm: int, width: float) -> tuple[Lead | None, ...]:
        """By how much an arm is better than each other one on average, and between which ends that lies."""
        return tuple(None if i == arm else self._lead(arm, i, width) for i in range(len(self._taken)))

    def rows(self) -> int:
        """How many rows there were."""
        return len(self._weights)

    def _lead(self, b: int, i: int, width: float) -> Lead:
        n = min(self._taken[b], self._taken[i])
        total = float(self._weights[:n].sum())
        ahead = float((self._low[:n, b] - self._high[:n, i]).sum())
        estimate = width * ahead / total if n else None
        return Lead(estimate, width * self._lower_end(b, i, n), -width * self._lower_end(i, b, n))

    def _lower_end(self, b: int, i: int, n: int) -> float:
        """The smallest d that the evidence leaves possible, from below."""
        rows, weights = self._low[:n, b] - self._high[:n, i], self._weights[:n]
        low, high = -1.0, 1.0
        if n == 0 or log_evidence(rows, weights, low) <= self._level:
            return low
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if log_evidence(rows, weights, middle) > self._level:
                low = middle
            else:
                high = middle
        return low

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "low": self._low.tolist(),
            "high": self._high.tolist(),
            "weights": self._weights.tolist(),
            "taken": list(self._taken),
        }

    def restore(self, data: dict[str, Any]) -> None:
        """What `to_dict` gave, bit for bit."""
        K = len(self._taken)
        self._low, self._high = np.reshape(data["low"], (-1, K)), np.reshape(data["high"], (-1, K))
        self._weights, self._taken = np.array(data["weights"], np.float64), list(data["taken"])
