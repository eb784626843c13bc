"""What holds for items like these: where those of a closed set are a random sample of all that could come.

Then rows are independent, and whatever is true of the difference of two arms on the first of them is evidence
about all items that could come, as with an unlimited source: bets on every row stay as they are, and the mean
of its difference is d, whatever came before. That evidence decides nothing here. Proven at log(K(K-1)/delta),
all ends of all pairs hold together, so it does not matter which arm leads; at log(2(K-1)/delta) all
ends of the pairs with an arm that is fixed beforehand, as the baseline of a gate is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from ..designs.rounds import Rounds
from ..kernels import paired, round_claims
from ..kernels._types import Array
from ..questions import PerArm
from ..telling.standings import Lead
from .settings import Settings
from .weighted import Weighted


def level(num_arms: int, delta: float, fixed: bool) -> float:
    """Of all ends together; `fixed` says that one arm is compared with the others whatever the data say."""
    return math.log((2.0 if fixed else num_arms) * (num_arms - 1.0)) - math.log(delta)


def likes_of(settings: Settings, design: Rounds) -> Evidence | Weighted | None:
    """The evidence about items like these before the first row; None where that is not asked."""
    K, fixed = len(settings.arms), isinstance(design.question, PerArm)
    if not settings.sampled:
        return None
    if settings.largest is None:
        return Evidence(design, K, settings.delta, fixed)
    return Weighted(design.units.sizes, settings.largest, K, level(K, settings.delta, fixed))


class Evidence:
    """Of every pair of arms, about items like these; bit for bit a function of the rows."""

    def __init__(self, design: Rounds, num_arms: int, delta: float, fixed: bool = False) -> None:
        unlimited = replace(design, items=None, strata=None)
        self._params = unlimited.parameters(num_arms, delta)
        self._level = level(num_arms, delta, fixed)
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
        self._arms[paired.OUT] = out
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
