"""What is kept of runs whose number is too large to keep each: counts, exact sums, and a histogram.

Sums are whole numbers without rounding, so two halves add up to the whole in any order. The histogram has a
bin for each number of samples below 128, and 64 bins from each power of two to the next above it: a
quantile is right to 1 in 64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..kernels.layout import NO_ARM, UNFINISHED

Indices = npt.NDArray[np.int64]

FINE = 64  # bins from a power of two to the next
BITS = 6


@dataclass(frozen=True, eq=False)
class Summary:
    """Of runs at one risk.

    answers  (K + 1,) how many runs recommended each arm, and last how many were cut off
    leaders  (K,) how many of those that were cut off each arm led
    total    of all samples; squares of their squares
    bins     how many runs fall into each bin, see `bin_of`
    """

    answers: Indices
    total: int
    squares: int
    bins: Indices
    leaders: Indices

    @classmethod
    def empty(cls, num_arms: int) -> Summary:
        """The summary of no runs."""
        nothing = np.zeros(0, dtype=np.int64)
        answers = answer_counts(nothing, num_arms)
        return cls(answers, 0, 0, nothing, answers[:-1])

    @classmethod
    def of(cls, samples: Indices, arms: Indices, num_arms: int) -> Summary:
        """Of these runs: their samples, and their arms as in `Part`."""
        bins = np.bincount(bin_of(samples)) if samples.size else np.zeros(0, dtype=np.int64)
        total, squares = int(samples.sum()), _sum_of_squares(samples)
        leaders = answer_counts(cut_off_leaders(arms), num_arms)[:-1]
        return cls(answer_counts(arms, num_arms), total, squares, bins.astype(np.int64), leaders)

    def __add__(self, other: Summary) -> Summary:
        longer, shorter = sorted((self.bins, other.bins), key=len, reverse=True)
        bins = longer.copy()
        bins[: shorter.size] += shorter
        total, squares = self.total + other.total, self.squares + other.squares
        leaders = self.leaders + other.leaders
        return Summary(self.answers + other.answers, total, squares, bins, leaders)

    @property
    def runs(self) -> int:
        """How many."""
        return int(self.answers.sum())

    @property
    def mean(self) -> float:
        """The mean number of samples."""
        return self.total / self.runs if self.runs else math.nan

    @property
    def standard_error(self) -> float:
        """The standard error of the mean."""
        n = self.runs
        if n < 2:
            return math.nan
        return math.sqrt((n * self.squares - self.total**2) / (n * n * (n - 1)))

    def quantile(self, level: float) -> float:
        """Of the samples, to 1 in 64, between the bins of the runs of the two nearest ranks."""
        if not self.runs:
            return math.nan
        rank, counts = level * (self.runs - 1), np.cumsum(self.bins)
        ends = (math.floor(rank), math.ceil(rank))
        low, high = (middle_of(int(np.searchsorted(counts, end, side="right"))) for end in ends)
        return low + (rank - ends[0]) * (high - low)

    def to_dict(self) -> dict[str, Any]:
        """For a file."""
        return {
            "answers": self.answers.tolist(),
            "total": self.total,
            "squares": self.squares,
            "bins": self.bins.tolist(),
            "leaders": self.leaders.tolist(),
        }

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> Summary:
        """From a file."""
        answers, bins = (np.array(row[key], dtype=np.int64) for key in ("answers", "bins"))
        leaders = np.array(row.get("leaders", [0] * (answers.size - 1)), dtype=np.int64)  # once not kept
        return cls(answers, int(row["total"]), int(row["squares"]), bins, leaders)


def answer_counts(arms: Indices, num_arms: int) -> Indices:
    """(K + 1,) how often each arm is among some, and last how often none is.

    A single arm counts as two: the answer to a question is right, or wrong.
    """
    num_arms = max(num_arms, 2)
    return np.bincount(np.where(arms < 0, num_arms, arms), minlength=num_arms + 1).astype(np.int64)


def cut_off_leaders(arms: Indices) -> Indices:
    """Of arms as in `Part`: which led where a run was cut off, NO_ARM where it was not or none is known."""
    return np.maximum(UNFINISHED - arms, NO_ARM)


def exact_interval(errors: int, runs: int, confidence: float = 0.95) -> tuple[float, float]:
    """The exact (Clopper-Pearson) interval for a rate of which so many of so many runs are a sample."""
    from scipy.special import betaincinv

    tail = (1.0 - confidence) / 2.0
    low = float(betaincinv(errors, runs - errors + 1, tail)) if errors > 0 else 0.0
    high = float(betaincinv(errors + 1, runs - errors, 1.0 - tail)) if errors < runs else 1.0
    return low, high


def _sum_of_squares(samples: Indices) -> int:
    """Exact: squares are summed in halves, none of which overflows."""
    usual = samples < 2**32
    squares = samples[usual].astype(np.uint64) ** 2
    high, low = int((squares >> np.uint64(32)).sum()), int((squares & np.uint64(2**32 - 1)).sum())
    large: list[int] = samples[~usual].tolist()
    return (high << 32) + low + sum(x * x for x in large)


def bin_of(samples: Indices) -> Indices:
    """The bin of each number: itself below 128, then the upper seven bits and their place."""
    _, exponent = np.frexp(samples.astype(np.float64))
    shift: Indices = np.maximum(exponent.astype(np.int64) - (BITS + 1), 0)
    found: Indices = shift * FINE + (samples >> shift)
    return found


def middle_of(place: int) -> float:
    """The middle of the numbers in a bin."""
    shift = max(place // FINE - 1, 0)
    low = (place - shift * FINE) << shift
    return low + 0.5 * ((1 << shift) - 1)
