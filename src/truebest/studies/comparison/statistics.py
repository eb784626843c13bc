"""Ratios of numbers of samples over many bandits, with the errors of strategies that share their rewards.

On bandit b, strategy s takes N_sbi samples in run i, m_sb on average. Its ratio is m_sb over the least of all
strategies. Tables show geometric means of these over the bandits. With the difference of mean logarithms of
two strategies, s and r, go two errors:

    runs     sqrt(Σ_b Var_i(N_sbi / m_sb - N_rbi / m_rb) / n) / B    of n runs each, the bandits given
    bandits  the standard deviation of log m_sb - log m_rb over b, by √B, as if bandits were drawn at random

The first is by the delta method on pairs of runs with the same rewards, so what both owe to luck cancels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..._args import Array

Samples = npt.NDArray[np.int64]
BOOTSTRAPS = 200


@dataclass(frozen=True, eq=False)
class Ratios:
    """Of the strategies on one suite at one risk.

    samples   for each bandit (S, n): how many each run of each strategy took
    means     (B, S) mean number of samples
    values    (B, S) means as multiples of the least on the bandit
    errors    (B, S) standard errors of these, the least taken as given
    """

    samples: tuple[Samples, ...]
    means: Array
    values: Array
    errors: Array

    @classmethod
    def of(cls, samples: tuple[Samples, ...]) -> Ratios:
        """From the runs; those at the same place share their rewards."""
        means = np.array([block.mean(axis=1) for block in samples])
        values = means / means.min(axis=1, keepdims=True)
        best = means.argmin(axis=1)
        variances = [log_variances(block, int(b)) for block, b in zip(samples, best, strict=True)]
        return cls(samples, means, values, values * np.sqrt(np.array(variances)))

    @property
    def geometric(self) -> tuple[Array, Array]:
        """(S,) geometric means of the ratios, and their standard errors over runs."""
        found = np.exp(np.log(self.values).mean(axis=0))
        relative = np.sqrt(((self.errors / self.values) ** 2).sum(axis=0)) / len(self.values)
        return found, found * relative

    @property
    def worst(self) -> tuple[Array, Array, npt.NDArray[np.int64]]:
        """(S,) the largest ratios, their standard errors, and the numbers of the bandits."""
        where = self.values.argmax(axis=0)
        columns = np.arange(self.values.shape[1])
        return self.values[where, columns], self.errors[where, columns], where

    def above(self, reference: int) -> tuple[Array, Array, Array]:
        """(S,) mean logarithms less those of one strategy; their errors over runs, and over bandits."""
        apart = np.log(self.means) - np.log(self.means[:, [reference]])
        variances = np.array([log_variances(block, reference) for block in self.samples])
        bandits = len(apart)
        over_runs = np.sqrt(variances.sum(axis=0)) / bandits
        spread = (
            apart.std(axis=0, ddof=1) / np.sqrt(bandits) if bandits > 1 else np.full_like(over_runs, np.nan)
        )
        return apart.mean(axis=0), over_runs, spread

    def tails(self, level: float) -> tuple[Array, Array]:
        """(S,) geometric means of the ratios of a quantile of the samples to the least, and their errors.

        The errors are of a paired bootstrap: in each of 200 repetitions the same runs of all strategies are
        drawn with replacement, from a fixed seed.
        """
        draw = np.random.default_rng(0)
        found, again = [], []
        for block in self.samples:
            runs = block.shape[1]
            chosen = draw.integers(0, runs, (BOOTSTRAPS, runs))
            quantiles = np.quantile(block[:, chosen], level, axis=-1).T  # (BOOTSTRAPS, S)
            again.append(_log_ratios(quantiles))
            found.append(_log_ratios(np.quantile(block, level, axis=-1)))
        middle = np.exp(np.mean(found, axis=0))
        spread = np.mean(again, axis=0).std(axis=0, ddof=1)
        return middle, middle * spread

    def within(self, factors: Array) -> Array:
        """(S, factors) the share of bandits on which a strategy takes at most so many times the least."""
        shares: Array = (self.values[:, :, None] <= factors).mean(axis=0)
        return shares


def log_variances(block: Samples, reference: int) -> Array:
    """(S,) the variances of log m_s - log m_r, by the delta method on pairs; NaN for a single run."""
    runs = block.shape[1]
    if runs < 2:
        return np.full(len(block), np.nan)
    relative = block / block.mean(axis=1, keepdims=True)
    variances: Array = (relative - relative[reference]).var(axis=1, ddof=1) / runs
    return variances


def _log_ratios(x: Array) -> Array:
    ratios: Array = np.log(x) - np.log(x).min(axis=-1, keepdims=True)
    return ratios
