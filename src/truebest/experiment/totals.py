"""What the arms of a closed set score in total, in the decimals that were written: 100 times 0.07 is 7.

When all items are used up, sums and the tolerance are compared as numbers, not as evidence. Binary floating
point has neither 0.07 nor 0.1, and 100 * 0.07 is above 7 there; so a number means the shortest decimal that
gives it, which is how it is written in a log.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import Any

from ..designs.units import Several
from ..kernels.paired import UNDECIDED
from .settings import Settings

# More digits than a sum of doubles has, weighted by the size of a cluster.
_EXACT = Context(prec=5000, traps=[Inexact])


def exact(number: float) -> Decimal:
    """The number as it is written."""
    return Decimal(repr(float(number)))


class Totals:
    """The least and the most that each arm has, which differ by what is missing; larger is better.

    A known score may be a mean of several answers, 2/3 as it were: all values are counted so many times that
    every sum is a decimal.
    """

    def __init__(self, settings: Settings) -> None:
        assert settings.values.limits is not None
        ends = [self._signed(settings, end) for end in settings.values.limits]
        self._settings, self._ends = settings, (min(ends), max(ends))
        self.sums = [(Decimal(0), Decimal(0))] * len(settings.arms)
        known = {} if settings.known is None else settings.known.exact
        self._times = math.lcm(*{score.denominator for scores in known.values() for score in scores})

    @staticmethod
    def _signed(settings: Settings, value: float) -> Decimal:
        return -exact(value) if settings.minimize else exact(value)

    def copy(self) -> Totals:
        """A copy, which may go its own way."""
        twin = copy.copy(self)
        twin.sums = self.sums.copy()
        return twin

    def add(self, row: Mapping[int, float | Fraction | Several | None], weight: int = 1) -> None:
        """Count a round in, each answer so many times."""
        often = weight * self._times
        for arm, value in row.items():
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, Fraction):
                    whole = Decimal(int(one * often))
                    counted: Iterable[Decimal] = (-whole if self._settings.minimize else whole,) * 2
                else:
                    ends = self._ends if one is None else (self._signed(self._settings, one),) * 2
                    counted = [_EXACT.multiply(end, Decimal(often)) for end in ends] if often > 1 else ends
                low, high = counted
                least, most = self.sums[arm]
                self.sums[arm] = _EXACT.add(least, low), _EXACT.add(most, high)

    @property
    def _count(self) -> int:
        """How many answers of an arm the total is of."""
        items = self._settings.items
        assert items is not None
        assert items.size is not None
        return self._settings.design.units.count(items.size) * self._times

    def lead(self, b: int, i: int) -> Decimal:
        """By how much b is ahead of i in total, at least."""
        return _EXACT.subtract(self.sums[b][0], self.sums[i][1])

    def mean_lead(self, b: int, i: int) -> float:
        """The same on average, positive exactly if b is ahead."""
        return float(self.lead(b, i) / self._count)

    def mean(self, arm: int) -> tuple[float, float]:
        """The least and the most that the mean of an arm is, larger is better."""
        least, most = self.sums[arm]
        return float(least / self._count), float(most / self._count)

    def beyond(self, arm: int, base: int, mark: float | Fraction) -> tuple[Fraction, Fraction]:
        """By how much the mean of an arm, or its lead, is above a mark in total, at least and at most.

        base  the arm over which it leads; -1 for the mean itself
        """
        other = (Decimal(0), Decimal(0)) if base < 0 else self.sums[base]
        at = (mark if isinstance(mark, Fraction) else Fraction(exact(mark))) * self._count
        least, most = (
            Fraction(_EXACT.subtract(own, given)) - at
            for own, given in zip(self.sums[arm], reversed(other), strict=True)
        )
        return least, most

    def leading(self, race: Iterable[int]) -> int:
        """The arm whose worst lead over the others is largest; the first of several."""
        arms = list(race)
        worst = {b: min((self.lead(b, i) for i in arms if i != b), default=Decimal(0)) for b in arms}
        return max(arms, key=lambda b: (worst[b], -b))

    def verdict(self, race: Iterable[int]) -> int:
        """The arm ahead, if it is the best or within the tolerance, whatever is missing; else UNDECIDED."""
        arms = list(race)
        b = self.leading(arms)
        within = _EXACT.multiply(exact(self._settings.tolerance), Decimal(-self._count))
        return b if all(self.lead(b, i) >= within for i in arms if i != b) else UNDECIDED

    def tied(self, leader: int, race: Iterable[int]) -> tuple[int, ...]:
        """The arms that have exactly as much as the leader, and the leader; empty if it is alone."""
        even = [i for i in race if i == leader or self.lead(leader, i) == 0 == self.lead(i, leader)]
        return tuple(even) if len(even) > 1 else ()

    def to_list(self) -> list[list[str]]:
        """What must be kept, as JSON can hold it."""
        return [[str(least), str(most)] for least, most in self.sums]

    def restore(self, kept: Any) -> None:
        """What `to_list` gave."""
        self.sums = [(Decimal(least), Decimal(most)) for least, most in kept]
