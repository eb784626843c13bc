"""How many times larger: a confidence sequence for the median of a ratio, by its order statistics.

In each round X and Y are measured. For a number c, the rounds with X > c Y are wins of X; if c is the median
θ of X/Y, these are half of all rounds at most, but for chance. So if w wins of n are more than a fair coin
gives, by the evidence of `kernels/paired.py` at a level L, then θ is not below the (n-w+1)-th smallest ratio;
and likewise from above. Both ends hold at all n at once with probability at least 1 - 2 exp(-L), whatever the
distributions, ties included; what is common to a round may drift from round to round if it is a factor. Where
X and Y are a factor common to the round times independent noise of one shape, θ is the ratio of the medians.
For a ratio of means nothing holds without bounds or moments.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..kernels import paired


class Ratio(NamedTuple):
    """The median of a ratio: an estimate, and an interval that holds at all times at once."""

    estimate: float
    low: float
    high: float


def level_of_all_pairs(num_arms: int, delta: float) -> float:
    """At which, but for probability delta, both ends of the intervals of all pairs hold together."""
    return math.log(num_arms * (num_arms - 1.0) / delta)


def wins_needed(rounds: int, level: float) -> int | None:
    """The least number of wins in so many rounds whose evidence exceeds a level; None if all are too few."""
    bets = np.zeros((paired.BET_ROWS, 1))

    def evidence(wins: int) -> float:
        bets[paired.UPS, 0], bets[paired.DOWNS, 0] = wins, rounds - wins
        return paired.log_average(bets, 0, float(rounds), 0.0)

    if evidence(rounds) <= level:
        return None
    low, high = rounds // 2, rounds  # evidence grows with the wins, and half of them are no evidence
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if evidence(middle) > level else (middle, high)
    return high


def median_ratio(upper: npt.ArrayLike, lower: npt.ArrayLike, level: float) -> Ratio:
    """The median of upper/lower, from positive values of the same rounds.

    upper, lower  (n,) values of a round each; inf for one that is longer than any other
    level         L: each end is wrong with probability exp(-L) at most
    Returns       Ratio; its ends are 0 and inf as long as there are too few rounds
    """
    x, y = np.asarray(upper, np.float64), np.asarray(lower, np.float64)
    if x.size == 0:
        return Ratio(math.nan, 0.0, math.inf)
    with np.errstate(all="ignore"):
        ratios = x / y
    unknown = np.isnan(ratios)  # inf/inf and 0/0 may be anything
    lows, highs = np.where(unknown, 0.0, ratios), np.where(unknown, np.inf, ratios)
    estimate = float(np.median(ratios[~unknown])) if not unknown.all() else math.nan
    wins = wins_needed(x.size, level)
    if wins is None:
        return Ratio(estimate, 0.0, math.inf)
    return Ratio(estimate, float(np.sort(lows)[x.size - wins]), float(np.sort(highs)[wins - 1]))
