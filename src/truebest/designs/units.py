"""What a row is made of: an item, or a cluster of items, that every arm answers once or several times.

A row's value lies in [0, 1], as every answer does. Where each item counts alike, a cluster's value is the sum
over its items, divided by the size of the largest cluster: all means are then those of the items, times one
and the same number, so that whatever holds of rows holds of items.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .. import _args
from .._args import Array
from .._text import plural

MOST_EPOCHS = 1000
ITEMS, CLUSTERS = WEIGHED = "items", "clusters"  # what counts alike
Several = tuple[float | None, ...]  # the answers of an arm in a row; None for one that will not come


@dataclass(frozen=True)
class Units:
    """What a row is, and an arm's value there.

    epochs    how often each arm answers an item, fixed beforehand; each answer is a sample
    clusters  of each item of a closed set, the number of its cluster, from 0 on; None for rows of one item
    weigh     with clusters, what counts alike: "items" or "clusters"
    """

    epochs: int = 1
    clusters: tuple[int, ...] | None = None
    weigh: str = ITEMS

    @property
    def single(self) -> bool:
        """Whether an arm has one answer per row."""
        return self.epochs == 1 and self.clusters is None

    @property
    def unit(self) -> str:
        """What a row is."""
        return "item" if self.clusters is None else "cluster"

    @property
    def words(self) -> str:
        """What is drawn at random, what counts alike, and how often an item is answered."""
        alike = "" if self.clusters is None else f", each {self.weigh[:-1]} counting alike"
        return self.unit + alike + self.epochs_words

    @property
    def epochs_words(self) -> str:
        """How often an item is answered, if not once."""
        return f", {plural(self.epochs, 'epoch')} each" if self.epochs > 1 else ""

    @cached_property
    def members(self) -> tuple[tuple[int, ...], ...]:
        """The items of each cluster, in their order."""
        found: list[list[int]] = [[] for _ in range(max(self.clusters or (), default=-1) + 1)]
        for item, cluster in enumerate(self.clusters or ()):
            found[cluster].append(item)
        return tuple(map(tuple, found))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many items each cluster has."""
        return tuple(map(len, self.members))

    @cached_property
    def largest(self) -> int:
        """How many items the largest cluster has."""
        return max(self.sizes, default=1)

    @cached_property
    def multiple(self) -> int:
        """The least number that the size of every cluster divides."""
        return math.lcm(*set(self.sizes))

    @property
    def stretch(self) -> float:
        """What a mean of rows is multiplied by to be one of items."""
        if self.clusters is None or self.weigh == CLUSTERS:
            return 1.0
        return len(self.sizes) * self.largest / sum(self.sizes)

    @property
    def each(self) -> float:
        """How many answers of an arm a row has on average."""
        return (
            float(self.epochs) if self.clusters is None else self.epochs * sum(self.sizes) / len(self.sizes)
        )

    def answers(self, cluster: int | None) -> int:
        """How many answers of an arm a row has."""
        return self.epochs * (1 if self.clusters is None or cluster is None else self.sizes[cluster])

    def answers_of(self, order: Iterable[int]) -> list[int]:
        """The same of the first rows, from none to all, where clusters come in this order."""
        return [0, *itertools.accumulate(map(self.answers, order))]

    def part(self, cluster: int | None, item: int | None, epoch: int | None) -> int:
        """Which of the answers of a row it is; LookupError or ValueError if it is none of them."""
        place = 0 if self.clusters is None or cluster is None else self.members[cluster].index(item or 0)
        return place * self.epochs + (epoch or 1) - 1

    def answer(self, cluster: int | None, part: int) -> tuple[int | None, int | None]:
        """The item of an answer of a row, and which answer to it; without clusters the row's own item."""
        item = (
            cluster
            if self.clusters is None or cluster is None
            else self.members[cluster][part // self.epochs]
        )
        return item, part % self.epochs + 1 if self.epochs > 1 else None

    def value(self, answers: Sequence[float], cluster: int | None) -> float:
        """An arm's value in a row."""
        alike = self.clusters is not None and self.weigh == ITEMS
        return math.fsum(answers) / (self.epochs * self.largest if alike else self.answers(cluster))

    def rows(self, scores: Array) -> Array:
        """The value of every row, in the order of clusters, where each answer to an item is its score."""
        if self.clusters is None:
            return scores
        sums = np.bincount(self.clusters, scores)
        return sums / (self.largest if self.weigh == ITEMS else np.array(self.sizes, np.float64))

    def alike(self, scores: Array) -> Array:
        """The scores of all that counts alike: of items, or of clusters."""
        return self.rows(scores) if self.clusters is not None and self.weigh == CLUSTERS else scores

    def shown(self, answers: Several) -> list[Several]:
        """The answers of an arm in a row, by what is shown the mean of: the items, or the cluster."""
        if self.clusters is None or self.weigh == CLUSTERS:
            return [answers]
        return [answers[i : i + self.epochs] for i in range(0, len(answers), self.epochs)]

    def shown_of(self, rows: int, answers: int) -> int:
        """How many of these there are of an arm that has so many answers, all of so many rows."""
        return rows if self.clusters is None or self.weigh == CLUSTERS else answers // self.epochs

    def known(self, scores: Sequence[float], row: int) -> Several:
        """The answers in a row of an arm whose every answer is the score of its item."""
        items = (row,) if self.clusters is None else self.members[row]
        return tuple(scores[item] for item in items for _ in range(self.epochs))

    def weight(self, cluster: int | None) -> int:
        """How often an answer of a row counts in a total."""
        if self.clusters is None or cluster is None or self.weigh == ITEMS:
            return 1
        return self.multiple // self.sizes[cluster]

    def count(self, items: int) -> int:
        """How many answers of an arm a total is of, each counted that often; of so many items."""
        if self.clusters is None or self.weigh == ITEMS:
            return items * self.epochs
        return len(self.sizes) * self.multiple * self.epochs


SINGLE = Units()


def check_epochs(given: Any) -> int:
    """How often each arm answers an item."""
    advice = "it is how often each arm answers an item, and is fixed beforehand"
    return _args.whole("epochs", given, 1, MOST_EPOCHS, advice)


def check_weigh(given: Any) -> str:
    """What counts alike."""
    return _args.choice("weigh", given, WEIGHED)


def check_largest(given: Any) -> int | None:
    """The most items that a cluster can have, None if that is not known."""
    if given is None:
        return None
    advice = "it is the most items that any cluster can have, also one that was not drawn"
    return _args.whole("largest", given, 1, 10**7, advice)
