"""Counts, sums and means of rewards, exact under a large common offset."""

from __future__ import annotations

from ._jit import kernel
from ._types import Array
from .weights import two_sum

FARTHEST = 2.0**43  # from 0, in units of sigma: up to here a double holds a value to a thousandth of sigma


def round_offset(value: float, sigma: float) -> float:
    """A round number near a value, 0 near 0: subtracting it costs no bits, and keeps small gaps."""
    unit = 1024.0 * sigma
    return unit * round(value / unit)


@kernel("void(i8, f8, f8[::1], f8[::1], f8[::1], f8[::1])")
def observe(arm: int, value: float, pulls: Array, sums: Array, lost: Array, means: Array) -> None:
    """Add one reward of an arm; `lost` carries what rounding took from `sums`."""
    pulls[arm] += 1.0
    sums[arm], error = two_sum(sums[arm], value)
    lost[arm] += error
    means[arm] = (sums[arm] + lost[arm]) / pulls[arm]
