"""Exploration-biased weights (Algorithm 1): those of the most demanding bandit in a box of intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from ..kernels import exploration as kernels
from .complexity import optimal_weights

METHODS = ("pareto", "paper")


@dataclass(frozen=True)
class ExplorationBiasedWeights:
    """Target weights of Exploration-Biased Sampling, and the bandit they are optimal for.

    Attributes
    ----------
    weights
        w(μ~), (..., K)
    bandit
        μ~, (..., K): the bandit in the box whose smallest weight is largest
    best
        (...): the best arm of μ~, -1 where all intervals have a common point and w is uniform
    """

    weights: Array
    bandit: Array
    best: npt.NDArray[np.int64]


def exploration_biased_weights(
    lower: npt.ArrayLike, upper: npt.ArrayLike, *, method: str = "pareto"
) -> ExplorationBiasedWeights:
    """Optimal weights of the bandit in a box whose smallest weight is largest (Algorithm 1).

    Differs from the paper: an arm whose upper end equals the largest lower end is a candidate too, and
    one whose smallest weight underflows to 0 may win; as printed, no candidate would be left.

    Parameters
    ----------
    lower
        (..., K), the lower ends of the intervals
    upper
        (..., K), the upper ends
    method
        "pareto" solves only the candidates that can win, "paper" every candidate as printed

    Returns
    -------
    ExplorationBiasedWeights(weights (..., K), bandit (..., K), best (...))

    Raises
    ------
    InvalidInputError
    """
    low, high = _args.box(lower, upper)
    every = _args.choice("method", method, METHODS) == "paper"
    flat_low, flat_high = _args.rows(low), _args.rows(high)
    w, mu = np.empty_like(flat_low), np.empty_like(flat_low)
    best = np.empty(flat_low.shape[0], dtype=np.int64)
    with np.errstate(all="ignore"):
        kernels.exploration_biased_weights_rows(flat_low, flat_high, every, w, mu, best)
    return ExplorationBiasedWeights(
        w.reshape(low.shape), mu.reshape(low.shape), best.reshape(low.shape[:-1])[()]
    )


@dataclass(frozen=True)
class ExplorationCandidate:
    """One bandit that Algorithm 1 tries (Figure 1).

    Attributes
    ----------
    arm
        the arm it puts on top
    bandit
        (K,)
    weights
        (K,)
    min_weight
        what Algorithm 1 compares
    pareto
        whether it is on the Pareto front, outside of which none can win
    """

    arm: int
    bandit: Array
    weights: Array
    min_weight: float
    pareto: bool


def exploration_candidates(lower: npt.ArrayLike, upper: npt.ArrayLike) -> list[Any]:
    """The bandits that Algorithm 1 compares, in the order of the arms (Figure 1).

    Parameters
    ----------
    lower
        (..., K), the lower ends of the intervals
    upper
        (..., K), the upper ends

    Returns
    -------
    for one box a list of ExplorationCandidate, empty when all intervals have a common point; for leading
    batch axes such lists, nested
    """
    low, high = _args.box(lower, upper)
    if low.ndim > 1:
        return [exploration_candidates(a, b) for a, b in zip(low, high, strict=True)]
    max_lower, min_upper = low.max(), high.min()
    if min_upper >= max_lower:
        return []
    level = np.maximum(low, min_upper)
    front = _front(low, high, max_lower, min_upper)
    candidates = []
    for arm in np.flatnonzero(high >= max_lower):
        bandit = level.copy()
        bandit[arm] = high[arm]
        weights = optimal_weights(bandit).weights
        candidates.append(
            ExplorationCandidate(int(arm), bandit, weights, float(weights.min()), int(arm) in front)
        )
    return candidates


def _front(low: Array, high: Array, max_lower: float, min_upper: float) -> set[int]:
    front: set[int] = set()
    arm = kernels.next_candidate(low, high, max_lower, min_upper, False, 0.0, -1)
    while arm >= 0:
        front.add(int(arm))
        arm = kernels.next_candidate(low, high, max_lower, min_upper, False, 0.0, arm)
    return front
