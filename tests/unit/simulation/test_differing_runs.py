"""The comparison of runs on two devices: what it lets pass, and what it does not."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import truebest
from support.same_runs import assert_same, differences

MEANS = (0.9, 0.5, 0.4)


def test_a_threshold_that_is_met_to_the_last_bits() -> None:
    """A risk at which the statistic nearly is the threshold: with a little less of it the run ends elsewhere.

    That is found, is near the threshold, and is let pass once in 100,000 runs, but not once in five.
    """
    path = truebest.trace("tas-d", MEANS, 0.1, run=3, seed=7)
    near = float(0.1 * math.exp(path.threshold[-1] - path.statistic[-1]))
    one, other = (
        truebest.simulate("tas-d", MEANS, near * (1.0 + e), runs=5, seed=7).cells[0] for e in (1e-12, -1e-12)
    )
    found = differences("tas-d", MEANS, one, other)
    assert [(difference.run, difference.samples) for difference in found] == [(3, path.samples)]
    assert found[0].other > path.samples
    assert found[0].distance < 1e-11
    assert differences("tas-d", MEANS, other, one)[0].distance < 1e-11
    assert_same(found, 100_000)
    with pytest.raises(AssertionError, match="1 of 5 differ"):
        assert_same(found, 5)


@pytest.mark.parametrize("which", ["samples", "recommended"])
def test_a_difference_that_nothing_explains(which: str) -> None:
    """One sample more or another answer, far from the threshold, is refused however many runs there are."""
    cell = truebest.simulate("tas-d", MEANS, 0.1, runs=20, seed=7).cells[0]
    assert differences("tas-d", MEANS, cell, cell) == []
    changed = getattr(cell, which).copy()
    changed[11] += 1
    found = differences("tas-d", MEANS, cell, replace(cell, **{which: changed}))
    assert [difference.run for difference in found] == [11]
    with pytest.raises(AssertionError, match=r"not near the threshold.*run=11"):
        assert_same(found, 10**9)
