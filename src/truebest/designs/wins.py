"""Rounds in which only wins count: who was better on the item of a round, not by how much."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from .._text import exactly, factor, plural, rounded
from ..errors import InvalidInputError
from ..kernels import paired
from ..questions import BEST, Question, Winner
from ..theory.models import Values
from .base import WINS, Terms
from .independent import refuse_epochs, refuse_known, refuse_sampled
from .rounds import Rounds

LOSS = "loss"  # a failure counts as one
ROUNDED = 1e-14  # by what part of itself a value may miss the tolerance and count as within it


@dataclass(frozen=True)
class Ordered(Values):
    """Values that are compared, never averaged: times without bounds, preferences; infinite ones among them.

    positive  whether they must be at least 0, which a tolerance that is a factor needs
    """

    positive: bool = False
    needs_origin = True

    @property
    def words(self) -> str:
        return "values of which only the order counts"

    @property
    def limits(self) -> tuple[float, float] | None:
        return (0.0, math.inf) if self.positive else None

    @property
    def demand(self) -> str:
        return "at least 0" if self.positive else "a number"

    def check(self, number: float, given: object) -> None:
        """Refuse what cannot be compared."""
        if math.isnan(number):
            raise InvalidInputError(
                f"a value must be a number that can be compared, got {_args.short(given)}; if the pull gave "
                f"none, say so with fail; nothing was stored."
            )


@dataclass(frozen=True)
class Wins(Rounds):
    """Who is better, in a round of every arm in the race; without items, in rounds that share a moment.

    failures  what `Rounds` knows, or "loss"
    direct    whether it may be found that no arm wins against all others
    """

    direct: bool = False
    question: Question = field(init=False)

    name, averages = WINS, False
    state = "wins", "WinsState"
    words_for_failures: ClassVar[dict[str, str]] = {
        **Rounds.words_for_failures,
        LOSS: ", counted as losses",
    }
    asked_by = "compare='wins'"
    does, behind = "wins - loses", "against it the leader"
    control_scale = "likelier to win a round against the control than to lose it"
    scale = "how likely it is to win a round, less to lose it"
    measures = (
        "How much likelier the leader is to win a round against each other option than to lose it: 1 if it "
        "always wins, 0 if it wins as often as it loses, -1 if it always loses"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "question", Winner() if self.direct else BEST)

    @classmethod
    def is_meant(cls, kept: Mapping[str, Any]) -> bool:
        return kept.get("compare") == WINS

    @classmethod
    def of(cls, settings: Terms) -> Wins:
        items, failures, direct = settings.items, settings.failures, settings.direct
        if items is None:
            return cls(None, failures, direct)
        return cls(items.size, failures, direct, version=items.rule_version)

    @classmethod
    def usual(cls, kept: Mapping[str, Any]) -> dict[str, Any]:
        """Settings, by field, that follow from those that are given; refuses a scale of values."""
        if "values" in kept:
            raise InvalidInputError(
                f"compare='wins' counts who was better in each round, and needs no bounds, sigma or model, "
                f"got {_args.short(kept['values'])}; leave that out."
            )
        return {"values": Ordered(positive=kept.get("tolerance", 0.0) > 0.0), "failures": LOSS}

    def complete(self, settings: Terms, given: Collection[str]) -> None:
        """Refuse what rounds by wins have no use for."""
        refuse_known(settings, ", and leave compare out")
        if settings.question.by_claims:
            raise InvalidInputError(
                f"{settings.question} is asked of means, got compare='wins' too; leave question out, or say "
                f"direct=True to find out whether any arm wins against all others."
            )
        if self.direct and settings.tolerance:
            raise InvalidInputError(
                f"direct=True finds who wins against whom, and knows no tolerance, got tolerance="
                f"{exactly(settings.tolerance)}; leave one of them out."
            )
        refuse_sampled(settings)
        refuse_epochs(settings)
        self._refuse_others(settings, given)
        self._refuse_the_rest(settings)

    def assumes(self, settings: Terms) -> str:
        rounds = "assuming independent rounds"
        if self.items is not None:
            rounds = f"for these answers to these {self.items} items, assuming items in random order"
        exists = self.direct or len(settings.arms) == 2
        return rounds if exists else f"{rounds} and that some arm wins against each other one"

    def best_words(self, rival: str) -> str:
        """What the best arm does."""
        return f"wins against {rival} in more than half of all {self._rounds} that are not ties"

    def within_words(self, tolerance: float) -> str:
        return f"{super().within_words(tolerance)} in more than half of all {self._rounds}"

    def near_words(self, tolerance: float) -> str:
        """The same in few words."""
        return f"within {factor(tolerance)} times the best"

    def shortfall_words(self, distance: float, side: str) -> str:  # noqa: ARG002
        """How the leader fares against the best."""
        share = rounded(50.0 * (1.0 - distance), ROUND_FLOOR)
        return f"wins at least {share}% of rounds against the best, ties counting half"

    def spent_words(self, samples: int, rounds: int | None) -> str:
        if self.items is None:
            return f"{plural(samples, 'sample')} in {plural(rounds or 0, 'round')}"
        return super().spent_words(samples, rounds)

    def lead_words(self, interval: str, won: int | None, lost: int | None) -> str:  # noqa: ARG002
        """How often the leader has won and lost."""
        return f"{won} - {lost}"

    def which_words(self, side: str) -> str:
        """Which values are good, and what of them counts."""
        return f"The {side} value wins a round; only who wins counts, not by how much, and not the mean."

    def sought_words(self, side: str) -> str:
        """What is looked for."""
        return f"the {side} value in most rounds"

    @property
    def condition_words(self) -> str:
        if self.items is not None:
            return super().condition_words
        return "all options of a round are measured under the same conditions, that rounds are independent"

    @property
    def _rounds(self) -> str:
        return "rounds" if self.items is None else f"{self.items} items"

    # -- mathematics -----------------------------------------------------------------------------------

    @staticmethod
    def best(low: Array, high: Array, tolerance: float) -> frozenset[int]:
        """The arms that do not surely lose against another one, or are within the tolerance of it."""
        return frozenset(np.flatnonzero(~_losing(high, low, tolerance).any(axis=1)).tolist())

    def right_answers(self, low: Array, high: Array, tolerance: float) -> frozenset[int]:
        """The arms that a run may rightly declare; -1 among them if it may find that none wins."""
        right = self.best(low, high, tolerance)
        return right if not self.direct or (~_losing(low, high, 0.0).any(axis=1)).any() else right | {-1}

    def parameters(self, num_arms: int, delta: float, tolerance: float = 0.0) -> Array:
        """What the kernels are told; the tolerance as a part of the best.

        Raises  InvalidInputError for too many arms
        """
        params = super().parameters(num_arms, delta, tolerance)
        params[paired.WINS], params[paired.ROUND_TOLERANCE] = 1.0, 0.0
        params[paired.RATIO] = 1.0 + tolerance if tolerance > 0.0 else 0.0
        params[paired.ROUNDING] = ROUNDED
        return params


def _losing(mine: Array, theirs: Array, tolerance: float) -> npt.NDArray[np.bool_]:
    """In row b, against whom arm b loses on most items with these values of its own, and those of others."""
    rivals = np.where(theirs < 0.0, theirs * (1.0 + tolerance), theirs / (1.0 + tolerance))
    apart = ROUNDED * (tolerance > 0.0) * np.abs(np.where(np.isfinite(rivals), rivals, 0.0))
    ahead = np.array([(one > rivals + apart).sum(axis=0) for one in mine.T[:, :, None]])
    behind = np.array([(one < rivals - apart).sum(axis=0) for one in mine.T[:, :, None]])
    loses: npt.NDArray[np.bool_] = (behind > ahead) & ~np.eye(len(ahead), dtype=bool)
    return loses
