"""The alarm: values that vary more than sigma allows refute it, with an error of at most 1/1000.

For N values in all and T = Σ_a Σ (x - mean_a)²/σ_a², over the values x of every arm a, the average over s of

    (1 - s)^(N/2) exp(s T/2)

is at most the same with the true means in place of the observed ones; and that is a supermartingale which
begins at 1, whatever chooses the arms. So it ever exceeds 1000 with probability at most 1/1000 if sigma is
right. It surely does in the end if sigma is 1.3% too small. The proof is in docs/proofs.md.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel
from ._types import Array
from .layout import SQUARES, VARIANCES

ALARM_LEVEL = math.log(1000.0)
SIZES = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])  # the s above
LARGEST = 0.9
HALF_LOGS = 0.5 * np.log1p(-SIZES)
SLACK = 1.0 + 1e-9  # what rounding may take from a running total, and more


@kernel("f8(const(f8[:, ::1]))")
def scaled_squares(state: Array) -> float:
    """T: the squared deviations from the means of all arms, each in units of its own variance."""
    total = 0.0
    for a in range(state.shape[1]):
        total += state[SQUARES, a] / state[VARIANCES, a]
    return total


@kernel("f8(f8, f8)", apart=True)
def evidence(n: float, total: float) -> float:
    """The logarithm of the average, for n values with the sum of squares `total`."""
    most = -math.inf
    for k in range(SIZES.size):
        most = max(most, n * HALF_LOGS[k] + 0.5 * SIZES[k] * total)
    mass = 0.0
    for k in range(SIZES.size):
        mass += math.exp(n * HALF_LOGS[k] + 0.5 * SIZES[k] * total - most)
    return most + math.log(mass / SIZES.size)


@kernel("b1(const(f8[:, ::1]), f8, f8)")
def refutes(state: Array, n: float, about: float) -> bool:
    """Whether n values refute sigma; usually a subtraction answers.

    about  T, but for rounding: only where it suffices is T summed up anew, so that the answer depends on the
           state alone. As log(1-s) <= -s, no exponent is above 0.45 (T - n)
    """
    most = SLACK * about
    if 0.5 * LARGEST * (most - n) <= ALARM_LEVEL or evidence(n, most) <= ALARM_LEVEL:
        return False
    return evidence(n, scaled_squares(state)) > ALARM_LEVEL
