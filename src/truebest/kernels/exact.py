"""Sums and products with their rounding errors, and offsets that cost no bits."""

from __future__ import annotations

from ._jit import kernel

FARTHEST = 2.0**43  # from 0, in units of sigma: up to here a double holds a value to a thousandth of sigma
SPLIT = 2.0**27 + 1.0  # halves a double (Veltkamp)


@kernel("UniTuple(f8, 2)(f8, f8)")
def two_sum(a: float, b: float) -> tuple[float, float]:
    """The rounded sum and its exact rounding error (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@kernel("UniTuple(f8, 2)(f8, f8)")
def two_product(a: float, b: float) -> tuple[float, float]:
    """The rounded product and its exact rounding error (Dekker), for factors and products below 2^996."""
    p = a * b
    x, y = SPLIT * a, SPLIT * b
    a1, b1 = x - (x - a), y - (y - b)  # the upper 26 bits of each
    a2, b2 = a - a1, b - b1
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def round_offset(value: float, sigma: float) -> float:
    """A round number near a value, 0 near 0: subtracting it costs no bits, and keeps small gaps."""
    unit = 1024.0 * sigma
    return unit * round(value / unit)
