"""Other ways to the optimal weights, for comparison: nested bisection and a root finder on φ."""

from __future__ import annotations

import numba
import numpy as np
from scipy.optimize import brentq

from truebest.kernels._types import Array


@numba.njit("f8(f8[::1], f8)", nogil=True, error_model="numpy", fastmath={"reassoc"})
def floor_pass(d: Array, r: float) -> float:
    """What one evaluation cannot go under: one vectorised loop over the squared gaps."""
    s = 0.0
    for a in range(d.size):
        q = 1.0 / (r * d[a] - 1.0)
        s += q * q
    return s


@numba.njit("f8(f8[::1])", nogil=True, error_model="numpy")
def nested_bisection(d: Array) -> float:
    """r as the public Track-and-Stop codes find it: a bisection over y, inside it one for every arm.

    x_a(y) solves ½ d_a x/(1+x) = y, and Σ x_a(y)² = 1 at the optimum; r is d-free: r = 1/(2y).
    """
    smallest = np.inf
    for a in range(d.size):
        smallest = min(smallest, d[a])
    low, high = 0.0, 0.5 * smallest
    while high - low > 1e-11 * smallest:
        y = 0.5 * (low + high)
        total = 0.0
        for a in range(d.size):
            if d[a] < np.inf:
                left, right = 0.0, 1.0
                while 0.5 * d[a] * right / (1.0 + right) < y:
                    right *= 2.0
                while right - left > 1e-11 * right:
                    x = 0.5 * (left + right)
                    if 0.5 * d[a] * x / (1.0 + x) < y:
                        left = x
                    else:
                        right = x
                total += left * left
        if total > 1.0:
            high = y
        else:
            low = y
    return 1.0 / (low + high)


def brent(d: Array) -> float:
    """r by scipy.optimize.brentq on φ, with NumPy sums."""
    others = d[np.isfinite(d)]
    smallest = float(others.min())
    upper = (1.0 + np.sqrt(others.size)) / smallest

    def phi(r: float) -> float:
        return float((1.0 / (r * others - 1.0) ** 2).sum() - 1.0)

    low, high = 2.0 / smallest * (1 - 1e-12), upper * (1 + 1e-12)
    return float(brentq(phi, low, high, xtol=1e-14 * upper, rtol=1e-14))
