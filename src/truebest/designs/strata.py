"""What is known of the items of a closed set before the first round: the scores of some arms, and of others.

Items are put into strata by what the known arms score on them, and by what models that do not take part (the
*proxies*) score on average. `kernels/strata.py` says what a bet on an arm that is asked makes of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .._args import Array
from ..kernels._types import Indices

BINS = 8  # of the average score of proxies, and of scores that have more values than that


@dataclass(frozen=True, eq=False)
class Strata:
    """Strata of items, from what is known of them; scores are mapped to [0, 1], larger being better.

    known    the scores of the known arms on every item, by the arm's number
    of_item  the stratum of every item
    counts   of each stratum, how many items it has
    guesses  of each stratum, the mean that an arm is guessed to have there
    """

    known: Mapping[int, Array]
    of_item: Indices
    counts: Array
    guesses: Array

    @classmethod
    def of(cls, known: Mapping[int, Array], proxies: Array | None = None, models: int = 0) -> Strata:
        """Put items into strata.

        proxies  the mean score of so many models on every item
        """
        own = np.mean(list(known.values()), axis=0)
        bins = binned(own)
        average = own
        if proxies is not None:
            bins = bins * BINS + binned(proxies)
            average = (models * proxies + len(known) * own) / (models + len(known))
        found, of_item = np.unique(bins, return_inverse=True)
        counts = np.bincount(of_item, minlength=found.size).astype(np.float64)
        means = np.bincount(of_item, average, found.size) / counts
        others = models + len(known)
        guesses = (others * means + average.mean()) / (others + 1.0)  # one model knows nothing of items
        return cls(known, of_item.astype(np.int64), counts, guesses)

    def told(self, num_arms: int) -> Array:
        """What the kernels are told, see `kernels.strata`."""
        totals = [math.fsum(self.known[a]) if a in self.known else math.nan for a in range(num_arms)]
        return np.concatenate([[self.counts.size], self.counts, self.guesses, totals])


def binned(scores: Array) -> Indices:
    """A number for every item: of its score, or where there are many, of its part of the ranking."""
    values, which = np.unique(scores, return_inverse=True)
    if values.size > BINS:
        cuts = np.quantile(scores, np.arange(1, BINS) / BINS)
        which = np.searchsorted(cuts, scores, side="right")
    found: Indices = which.astype(np.int64)
    return found
