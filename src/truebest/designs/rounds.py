"""Rounds on common items: a sample is an arm's value on the item that all arms in the race are evaluated on.

Values on one item go up and down together, and their differences vary far less than the values themselves. In
which order items are taken follows from the experiment's seed alone; `kernels/paired.py` has the rule.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .. import _args
from .._args import Array
from .._former_name import FORMER_NAME
from .._text import exactly, listed, plural
from ..errors import InvalidInputError
from ..kernels import paired
from ..kernels._types import Indices
from ..kernels.number import NUMBER_ROWS
from ..kernels.strata import seen_rows
from ..questions import BEST, Question
from .base import WINS, Design, Terms
from .independent import refuse_direct, refuse_known, refuse_question, refuse_sampled, refuse_weights
from .strata import Strata
from .units import ITEMS, Units

MOST_ITEMS = 10**7
MOST_ARMS = 200  # every pair of arms has sums of its own
WORST = "worst"
VERSION = 2  # of the rule; every earlier one is known, too
KNOWN_VERSION = 3  # the version where the scores of some arms are known
LEAST_BETS = 3  # that are never left out


@dataclass(frozen=True)
class Rounds(Design):
    """A value of every arm in the race on one item.

    items     how many there are, if they are a closed set of which each is used once, in random order; None
              for an unlimited source, from which every round draws an item of its own
    failures  what becomes of a value that an arm does not give: "repeat" asks for it again; "worst" takes
              what is worst for whatever is claimed; a number is the value that counts in its place
    question  what is asked
    units     what a row is made of
    version   of the rule: from 2 on bets on a closed set grow, and the smallest ones are left out
    strata    of a closed set, where the scores of some arms are known
    """

    items: int | None = None
    failures: str | float = "repeat"
    version: int = field(default=VERSION, kw_only=True)
    question: Question = field(default=BEST, kw_only=True)
    units: Units = field(default=Units(), kw_only=True)
    strata: Strata | None = field(default=None, kw_only=True)

    name: ClassVar[str] = "paired"  # what tables of simulations call it
    state = "rounds", "RoundsState"
    runs = "on_items", "make_works"
    words_for_failures: ClassVar[dict[str, str]] = {"repeat": "", WORST: ", taken at their worst"}
    asked_by: ClassVar[str] = "items="  # the argument that asks for this design

    def __post_init__(self) -> None:
        if self.items is not None:
            object.__setattr__(self, "items", _args.whole("items", self.items, 1, MOST_ITEMS, _ADVICE))
        if not isinstance(self.failures, str):
            object.__setattr__(self, "failures", _args.scalar("failures", self.failures))
        elif self.failures not in self.words_for_failures:
            raise InvalidInputError(
                f"failures must be 'repeat', 'worst' or the value that a failure counts as, or 'loss' "
                f"if arms are compared by wins, got {_args.short(self.failures)}; 'repeat' asks for the "
                f"same value again."
            )

    @property
    def pull_fields(self) -> tuple[str, ...]:
        return ("round", "item") if self.units.epochs == 1 else ("round", "item", "epoch")

    @property
    def place(self) -> tuple[str, str]:
        """Where its state is found; if another question is asked, that of rounds in which arms may rest."""
        return ("cells", "CellsState") if self.question.by_claims and self.averages else self.state

    # -- settings --------------------------------------------------------------------------------------

    @classmethod
    def is_meant(cls, kept: Mapping[str, Any]) -> bool:
        return kept.get("items") is not None and kept.get("compare") != WINS

    @classmethod
    def of(cls, settings: Terms) -> Rounds:
        version, question, limits = settings.items.rule_version, settings.question, settings.values.limits
        units = Units(settings.epochs, settings.items.clusters, settings.weigh)
        if limits is not None and math.isfinite(limits[1] - limits[0]):  # as values are mapped
            low, high = limits
            zero, unit = (high, low - high) if settings.minimize else (low, high - low)
            question = question.placed(zero, unit * units.stretch)
        rows = settings.items.size if units.clusters is None else len(units.sizes)
        own: dict[str, Any] = {"version": version, "question": question, "units": units}
        return cls(rows, settings.failures, strata=_strata_of(settings), **own)

    def misfit(self, settings: Terms) -> str:
        unlimited = self.averages and settings.values.limits is None
        largest, units = settings.largest, self.units
        bounds = largest is not None and (units.clusters is None or largest < units.largest)
        return (
            super().misfit(settings)
            or "rounds need values between bounds" * unlimited
            or "largest must bound the size of every cluster" * bounds
        )

    def complete(self, settings: Terms, given: Collection[str]) -> None:
        """Refuse what means over common items have no use for, or cannot be computed with."""
        refuse_direct(settings)
        refuse_question(settings.question, None, settings.tolerance)
        if self.items is None:
            refuse_sampled(settings)
        self._refuse_clusters(settings)
        self._refuse_others(settings, given)
        limits = settings.values.limits
        if limits is None or not math.isfinite(limits[1] - limits[0]):
            raise InvalidInputError(
                "items= needs bounds=(lo, hi) that every value respects, such as (0, 1) for a score, got "
                "values without bounds; give bounds, or compare='wins' if only who is better counts."
            )
        if settings.known is not None:
            self._refuse_known(settings)
        self._refuse_the_rest(settings)

    def _refuse_known(self, settings: Terms) -> None:
        """Refuse known scores that are not those of every item of a closed set, or not as values are."""
        known = settings.known
        if self.items is None:
            refuse_known(settings)
        if known.size != settings.items.size:
            raise InvalidInputError(
                f"known must have a score on every item, {settings.items.size} of them, got {known}; give "
                f"one number per item."
            )
        for arm, scores in known.scores.items():
            for number, score in enumerate(scores, 1):
                if not settings.values.allows(score):
                    raise InvalidInputError(
                        f"known {arm!r} must have scores {settings.values.demand}, got {exactly(score)} on "
                        f"item {number}; correct it, or give the bounds that all scores respect."
                    )

    def _refuse_clusters(self, settings: Terms) -> None:
        """Refuse what clusters leave open, and what needs some."""
        largest, units = settings.largest, self.units
        if units.clusters is None:
            refuse_weights(settings)
            return
        if settings.sampled and settings.question.of_number and units.weigh == ITEMS:
            raise InvalidInputError(
                f"sampled=True beside {settings.question} needs clusters that count alike, got "
                f"weigh='items'; say weigh='clusters', or leave sampled out."
            )
        needs = settings.sampled and units.weigh == ITEMS
        if needs and largest is None:
            raise InvalidInputError(
                "sampled=True needs largest= where each item of a cluster counts alike, as a cluster that "
                "was not drawn could have so many items that it outweighs all others; say how many items any "
                "cluster can have, or weigh='clusters'."
            )
        if largest is not None and not needs:
            raise InvalidInputError(
                f"largest={largest} bounds clusters that were not drawn, and needs sampled=True and "
                f"weigh='items'; leave it out."
            )
        if largest is not None and largest < units.largest:
            raise InvalidInputError(
                f"largest must be at least the size of the largest cluster here, {units.largest}, got "
                f"{largest}; it is the most items that any cluster can have."
            )

    def _refuse_others(self, settings: Terms, given: Collection[str]) -> None:
        """Refuse a strategy and a rule beside the design's own."""
        extra = [name for field, name in _OWN.items() if field in given]
        if extra:
            raise InvalidInputError(
                f"{self.asked_by} compares all arms in the race in every round, by a rule of its own, got "
                f"{extra[0]}= too; leave {extra[0]} out."
            )
        if settings.order != "ask":
            raise InvalidInputError(
                f"{self.asked_by} takes values in the order of rounds, got order='arrival'; leave order out."
            )

    def _refuse_the_rest(self, settings: Terms) -> None:
        """Refuse a value for failures that could not be told, and too many arms."""
        how = self.failures
        if not isinstance(how, str) and not (settings.values.allows(how) and abs(how) < 1e300):
            raise InvalidInputError(
                f"failures must be 'repeat', 'worst', or a value {settings.values.demand}, got "
                f"{exactly(how)}; it counts in the place of a value that an arm does not give."
            )
        self.parameters(len(settings.arms), settings.delta)

    # -- words -----------------------------------------------------------------------------------------

    def assumes(self, settings: Terms) -> str:
        """For which values the promise holds."""
        assert settings.values.limits is not None
        between = f"[{', '.join(map(exactly, settings.values.limits))}]"
        if self.items is None:
            of_all = "the same for all arms of a round"
            return f"assuming values in {between} on items drawn at random, {of_all}"
        order = f"{self.units.unit}s in random order"
        return f"{self.subject_words(settings)}, assuming values in {between} and {order}"

    def subject_words(self, settings: Terms) -> str:
        """What an answer about a closed set is about."""
        what = "this item" if settings.items.size == 1 else f"these {self.set_words}"
        known = settings.known
        beside = "" if known is None else f" and the scores of {listed(known.arms)} as they were given"
        return f"for these answers to {what}{beside}"

    @property
    def failure_words(self) -> str:
        how = self.failures
        return self.words_for_failures[how] if isinstance(how, str) else f", counted as {exactly(how)}"

    def spent_words(self, samples: int, rounds: int | None) -> str:
        of_all = "" if self.items is None else f" of {self.items}"
        unit = self.units.unit if (self.items or rounds) == 1 else f"{self.units.unit}s"
        return f"{plural(samples, 'sample')} on {rounds}{of_all} {unit}{self.units.epochs_words}"

    @property
    def set_words(self) -> str:
        """How many items there are in the closed set, and what of them counts alike."""
        if self.units.clusters is None:
            return super().set_words
        clusters = plural(len(self.units.sizes), "cluster")
        return f"{sum(self.units.sizes)} items in {clusters}, each {self.units.weigh[:-1]} counting alike"

    @property
    def condition_words(self) -> str:
        unit = self.units.unit
        order = f"in the order in which {unit}s were drawn"
        return f"all options of a round are measured on the same {unit}, {order}"

    # -- mathematics -----------------------------------------------------------------------------------

    @staticmethod
    def best(low: Array, high: Array, tolerance: float) -> frozenset[int]:
        """The arms that are not surely below the best of a table of items by more than the tolerance."""
        least, most = low.mean(axis=0), high.mean(axis=0)
        rivals = [np.delete(least, a).max() for a in range(least.size)]
        return frozenset(np.flatnonzero(most >= np.array(rivals) - tolerance - paired.EVEN).tolist())

    def right_answers(self, low: Array, high: Array, tolerance: float) -> frozenset[int]:
        """The arms that a simulated run may rightly declare."""
        return self.best(low, high, tolerance)

    def share(self, num_arms: int, tolerance: float) -> float:
        """The weight of the comparator, which is a best arm's; claims and a tolerance rest on pairs."""
        return 0.0 if num_arms < 3 or self.question.by_claims else 0.25 if tolerance > 0.0 else 0.75

    def parameters(self, num_arms: int, delta: float, tolerance: float = 0.0) -> Array:
        """What the kernels are told; the tolerance for values in [0, 1].

        A wrong statement about the best of means needs one of K - 1 fixed pairs; about anything else, one of
        as many as the question says.
        Raises  InvalidInputError for too many arms
        """
        if num_arms > MOST_ARMS:
            raise InvalidInputError(
                f"at most {MOST_ARMS} arms can share items, got {num_arms}; every pair of arms is compared, "
                f"so choose among parts of them first."
            )
        share = self.share(num_arms, tolerance)
        params = np.zeros(paired.PARAMS)
        params[paired.ROUND_LEVEL] = -math.log(delta)
        params[paired.ROUND_PAIR_LEVEL] = math.log(max(num_arms - 1.0, 1.0) / (1.0 - share)) - math.log(delta)
        params[paired.ROUND_SHARE], params[paired.ROUND_TOLERANCE] = share, tolerance
        params[paired.ITEMS] = math.inf if self.items is None else self.items
        if self.question.by_claims:
            params[paired.ROUND_QUESTION : paired.PARAMS] = self.question.told()
            level = math.log(self.question.false_claims(self.judged(num_arms))) - math.log(delta)
            params[paired.ROUND_LEVEL] = params[paired.ROUND_PAIR_LEVEL] = level
        self._leave_out_bets(params)
        return params if self.strata is None else np.concatenate([params, self.strata.told(num_arms)])

    def judged(self, num_arms: int) -> int:
        """Of how many arms something wrong could be said: not of one that is known beside a number."""
        known = () if self.strata is None or not self.question.of_number else self.strata.known
        return num_arms - len(known)

    @property
    def bets_grow(self) -> bool:
        """Whether bets grow as the items are used up."""
        return self.items is not None and self.version >= 2

    def _leave_out_bets(self, params: Array) -> None:
        """Where bets grow, keep those that can reach the level before all M items are used up.

        A bet that is best for a lead has evidence of M λ²/2 at most by then, so less than the level if it is
        below √(2 level/M). That is why the rule is as it is; the promise holds for any bets.
        """
        if self.bets_grow:
            least = math.sqrt(2.0 * params[paired.ROUND_LEVEL] / params[paired.ITEMS])
            params[paired.GROWING] = bets = max(LEAST_BETS, int(np.count_nonzero(least <= paired.LAMBDA)))
            params[paired.KEPT] = math.log(paired.PRIOR[:bets].sum())

    def blank(self, num_arms: int) -> tuple[Array, Array]:
        """Pairs and arms before the first round."""
        of_pairs = paired.GROWN_PAIR_ROWS if self.bets_grow else paired.PAIR_ROWS
        of_arms = paired.GROWN_ARM_ROWS if self.bets_grow else paired.ARM_ROWS
        if self.strata is not None:
            of_arms += seen_rows(self.strata.counts.size)
        of_arms += NUMBER_ROWS if self.question.of_number else 0
        return np.zeros((of_pairs, num_arms**2)), np.zeros((of_arms, num_arms))


def rounds_needed(params: Array, pairs: Array, arms: Array, leader: int, race: list[int]) -> list[float]:
    """How many rounds each arm will have had in the end, if differences go on as they did.

    The evidence of the best bet on the leader against arm i grows by its rate in every round; mixtures fall
    short of it by about 1.4 nats. What is left of a closed set shortens the way.
    """
    level = params[paired.ROUND_LEVEL] + 1.4 - math.log(params[paired.ROUND_SHARE] or 1.0)
    needed, items = [float(n) for n in arms[paired.ROUNDS]], float(params[paired.ITEMS])
    for i in race:
        if i != leader:
            rate = paired.best_rate(params, pairs, arms, leader, i)
            tau = level / rate if rate > 0.0 else math.inf
            needed[i] = max(tau / (1.0 + tau / items) if tau < math.inf else items, max(arms[paired.ROUNDS]))
    needed[leader] = max(n for i, n in enumerate(needed) if i != leader)
    return needed


def _strata_of(settings: Terms) -> Strata | None:
    """The strata of what is known; None if that is nothing, or not as it must be."""
    known, limits = settings.known, settings.values.limits
    if known is None or known.size != settings.items.size or limits is None:
        return None
    low, high = limits
    zero, unit = (high, low - high) if settings.minimize else (low, high - low)
    units = Units(1, settings.items.clusters, settings.weigh)

    def mapped(scores: tuple[float, ...]) -> Array:
        return units.rows(np.clip((np.array(scores) - zero) / unit, 0.0, 1.0))

    columns = {settings.arms.index(arm): mapped(scores) for arm, scores in known.scores.items()}
    means = None if known.means is None else mapped(known.means)
    return Strata.of(columns, means, known.models)


_ADVICE = "it is how many items there are, each of which is used at most once"
_OWN = {"chosen": "strategy", "stopping": "stopping"}  # fields of what the design has itself, and their names


def shuffled(count: int, *key: int | str) -> Indices:
    """0 ... count-1 in an order that looks random and follows from the key, on every machine and for ever.

    Numerics: sorted by 64 bits of SHAKE-128 each; two of a million are equal with probability 3e-8.
    """
    text = "/".join(map(str, (FORMER_NAME, *key)))  # for ever: stored experiments continue in this order
    words = np.frombuffer(hashlib.shake_128(text.encode()).digest(8 * count), np.dtype("<u8"))
    order: Indices = np.argsort(words, kind="stable").astype(np.int64)
    return order
