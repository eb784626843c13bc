"""The state of an experiment in rounds where only wins count: who was better, not by how much.

In which order the arms of a round are asked for is drawn at random, from the seed and the round: so an effect
of the place in a round (a cold cache, a machine that gets slower) is common to all arms. That an arm leaves
nothing behind for the next one that others would not is assumed. `kernels/wins.py` has the rule.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from ..designs.rounds import shuffled
from ..designs.wins import LOSS, Wins
from ..kernels import paired, round_claims, wins
from ..kernels._types import Array
from .findings import Findings
from .rounds import RoundsState, Score


class WinsState(RoundsState):
    """What follows from the log of rounds in which only wins count.

    near   the evidence within the tolerance, in the layout of `pairs`; zeros without a tolerance
    told   who has beaten whom after how many rounds, where there may be no winner, see `kernels.round_claims`
    """

    design: Wins
    of_the_log: ClassVar[tuple[str, ...]] = (*RoundsState.of_the_log, "near", "beats")

    def _limits(self) -> tuple[float, float]:
        """A win is 1, a loss -1; values themselves have no limits."""
        return 0.0, 1.0

    def _clear(self) -> None:
        super()._clear()
        self.near, self.told = np.zeros_like(self.pairs), round_claims.room(len(self.settings.arms))

    def _new_totals(self) -> None:
        """Values are not added up."""

    def copy(self) -> Self:
        twin = super().copy()
        twin.near, twin.told = self.near.copy(), self.told.copy()
        return twin

    def _scored(self) -> float | None:
        if self.design.failures == LOSS:
            return math.inf if self.settings.minimize else -math.inf
        return super()._scored()

    def _mapped(self, number: int, row: dict[int, Any]) -> tuple[Any, Any]:  # noqa: ARG002
        """The least and the most that values can be, larger being better."""
        K = len(self.settings.arms)
        low, high = np.zeros(K), np.zeros(K)
        for arm, value in row.items():
            if value is None:
                low[arm], high[arm] = -math.inf, math.inf
            else:
                low[arm] = high[arm] = -value if self.settings.minimize else value
        return low, high

    def _play(self, number: int, row: dict[int, Score]) -> int:
        own = (self.pairs, self.near, self.arms, self.told)
        return wins.play(self.params, *self._mapped(number, row), *own)

    def _verdict(self) -> int:
        return wins.verdict(self.params, self.pairs, self.near, self.arms, self.told)

    def _leading(self) -> int:
        if self.design.direct:
            return wins.foremost(self.pairs, self.arms, self.told)
        return super()._leading()

    @property
    def _judged(self) -> Array:
        return self.near if self.params[paired.RATIO] else self.pairs

    def findings(self, arm: int | None = None) -> Findings:
        """What the rule sees, and how often the leader has won and lost against each arm."""
        found, K = super().findings(arm), len(self.settings.arms)
        columns = [found.arm * K + i for i in range(K)] if found.arm >= 0 else []
        record = [(int(self.pairs[paired.UPS, c]), int(self.pairs[paired.DOWNS, c])) for c in columns]
        by = tuple(map(self._beaten_by, range(K))) if self.design.direct else ()
        return replace(found, wins=tuple(record), beaten=by)

    def _beaten_by(self, arm: int) -> int | None:
        """The arm that has beaten another one first."""
        rounds = self.beats[:, arm]
        return int(np.argmin(np.where(rounds > 0.0, rounds, math.inf))) if rounds.any() else None

    @property
    def _proven(self) -> Array:
        """The claims about pairs."""
        proven: Array = self.told[round_claims.HEADS :][: len(self.settings.arms)]
        return proven

    @property
    def beats(self) -> Array:
        """After how many rounds an arm, row b, has beaten another one; 0 before."""
        beats: Array = self._proven.copy()
        np.fill_diagonal(beats, 0.0)
        return beats

    def _turns(self, number: int, race: list[int]) -> list[int]:
        order = shuffled(len(self.settings.arms), "round", self.settings.seed, number).tolist()
        return [arm for arm in order if arm in race]

    def _item(self, number: int) -> int | None:
        return None if self.settings.items is None else super()._item(number)

    def to_dict(self) -> dict[str, Any]:
        """What the design keeps, as JSON can hold it."""
        near = [row.tolist() if row.any() else None for row in self.near]
        return {**super().to_dict(), "near": near, "beats": self.beats.ravel().tolist()}

    def restore(self, data: dict[str, Any]) -> None:
        super().restore(data)
        for row, kept in zip(self.near, data["near"], strict=True):
            row[:] = 0.0 if kept is None else kept
        proven = self._proven
        proven[:] = np.reshape(data["beats"], proven.shape)
        first = np.where(proven > 0.0, proven, math.inf).min(axis=0)
        np.fill_diagonal(proven, np.where(first < math.inf, first, 0.0))
