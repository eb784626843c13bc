"""How many samples one strategy takes more than another, from the runs that both did on the same rewards.

Run i of every strategy sees the same rewards, so the numbers of samples of two strategies in it go up and
down together, and their difference varies less than either: its error is smaller than that of two separate
simulations.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _args
from ..errors import InvalidInputError
from .results import Cell, Indices

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Difference:
    """The samples of one cell less those of another, on average over the runs that both have.

    Attributes
    ----------
    first, second
        the two cells in words
    mean
        of samples of the first less samples of the second; NaN without common runs
    standard_error
        of that mean; NaN for fewer than two runs
    runs
        how many runs both have: after an interruption fewer than either
    censored
        in how many of them one or both were cut off, and counted at max_samples
    """

    first: str
    second: str
    mean: float
    standard_error: float
    runs: int
    censored: int

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """An interval for the expected difference, right for many runs (the mean is then nearly normal)."""
        from scipy.special import ndtri

        _args.probability(
            "confidence", confidence, "how often such intervals contain the true difference, 0.95 is common"
        )
        reach = float(ndtri(0.5 + 0.5 * confidence)) * self.standard_error
        return self.mean - reach, self.mean + reach

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with the interval at 95%."""
        low, high = self.interval()
        return {**asdict(self), "low": low, "high": high}

    def __str__(self) -> str:
        which = "fewer" if self.mean < 0.0 else "more"
        cut = f", {self.censored} cut off" if self.censored else ""
        return (
            f"{self.first} takes {abs(self.mean):.1f} ± {self.standard_error:.1f} {which} samples than "
            f"{self.second}, on the same rewards ({self.runs} runs{cut})"
        )


def paired_difference(first: Cell, second: Cell) -> Difference:
    """Of two cells on the same rewards.

    Raises  InvalidInputError if they are of different bandits, or one keeps a summary alone
    """
    for cell in (first, second):
        if cell.summary is not None:
            raise InvalidInputError(
                f"a difference is taken run by run, got {cell.title} of a simulation that keeps a summary; "
                f"simulate with keep='runs'."
            )
    if first.bandit != second.bandit:
        raise InvalidInputError(
            f"a difference is that of two strategies on the same rewards, got {first.title} and "
            f"{second.title}, which are of different bandits; name two cells of one bandit."
        )
    (a, cut_a), (b, cut_b) = _common(first, second), _common(second, first)
    more, runs = (a - b).astype(np.float64), a.size
    mean = float(more.mean()) if runs else float("nan")
    error = float(more.std(ddof=1) / np.sqrt(runs)) if runs > 1 else float("nan")
    return Difference(first.title, second.title, mean, error, runs, int((cut_a | cut_b).sum()))


def _common(cell: Cell, other: Cell) -> tuple[Indices, Flags]:
    """The samples of those runs of a cell that another has too, in order; and which were cut off."""
    kept = np.zeros(cell.runs, dtype=bool)
    begin = 0
    for seed, first, runs in cell.spans:
        for other_seed, other_first, other_runs in other.spans:
            if other_seed == seed:
                low, high = max(first, other_first), min(first + runs, other_first + other_runs)
                kept[begin + low - first : begin + max(high, low) - first] = True
        begin += runs
    return cell.samples[kept], cell.recommended[kept] < 0
