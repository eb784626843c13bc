"""What is kept of very many runs: counts, exact sums, a histogram."""

from __future__ import annotations

import numpy as np
import pytest

import truebest
from truebest.simulation.summary import Summary, bin_of, middle_of


def test_sums_are_exact_and_add_up() -> None:
    """Also where a square does not fit into 64 bits; two halves are the whole, in any order."""
    samples = np.array([1, 127, 128, 2**31, 2**40 + 1, 2**53], dtype=np.int64)
    arms = np.array([0, 1, -1, 0, 1, 1])
    whole = Summary.of(samples, arms, 2)
    assert whole.total == sum(samples.tolist())
    assert whole.squares == sum(x * x for x in samples.tolist())
    assert whole.answers.tolist() == [2, 3, 1]
    halves = Summary.of(samples[3:], arms[3:], 2) + Summary.of(samples[:3], arms[:3], 2)
    assert (halves.total, halves.squares) == (whole.total, whole.squares)
    assert halves.bins.tolist() == whole.bins.tolist()
    assert Summary.empty(2).runs == 0
    assert np.isnan(Summary.empty(2).mean)


def test_bins_are_in_order_and_fine() -> None:
    """Every number is within 1 in 64 of the middle of its bin, exactly it below 128."""
    numbers = np.unique(np.r_[np.arange(3000), 2 ** np.arange(53), 2 ** np.arange(1, 53) - 1]).astype(
        np.int64
    )
    bins = bin_of(numbers)
    assert (np.diff(bins) >= 0).all()
    for number, place in zip(numbers.tolist(), bins.tolist(), strict=True):
        assert abs(middle_of(place) - number) <= (number / 64 if number >= 128 else 0)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_summary_has_the_estimates_of_the_runs(threads: int) -> None:
    """Mean, standard error, errors, censored, pulls; quantiles to 1 in 64."""
    options = {"runs": 500, "seed": 3, "max_samples": 60}
    full = truebest.simulate(["uniform", "tas-d"], (0.9, 0.5, 0.1), [0.3, 0.1], **options)  # type: ignore[arg-type]
    short = truebest.simulate(
        ["uniform", "tas-d"], (0.9, 0.5, 0.1), [0.3, 0.1], keep="summary", threads=threads, **options  # type: ignore[arg-type]
    )  # fmt: skip
    for cell, twin in zip(full, short, strict=True):
        assert (cell.runs, cell.errors, cell.censored) == (twin.runs, twin.errors, twin.censored)
        assert cell.wrong_leaders == twin.wrong_leaders
        assert cell.mean_samples == twin.mean_samples
        assert cell.standard_error == pytest.approx(twin.standard_error, rel=1e-12)
        assert cell.mean_pulls.tolist() == twin.mean_pulls.tolist()
        assert cell.error_interval() == twin.error_interval()
        for level, value in cell.quantiles().items():
            assert twin.quantiles()[level] == pytest.approx(value, rel=1 / 32)
        assert twin.samples.size == twin.recommended.size == 0
    assert repr(short)
    assert full.cells[0].errors > 0
    assert full.cells[0].censored > 0
