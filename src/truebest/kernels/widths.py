"""Half-widths of confidence intervals for the mean of one arm, in units of σ."""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array
from .rules.mixture import MIXTURE_C

PAPER, EXPERIMENTS, NORMAL_MIXTURE = 0, 1, 2


@kernel("f8(i8, f8, f8)")
def half_width(code: int, level: float, n: float) -> float:
    """Half-width of an arm's confidence interval after n pulls, inf after none.

    level is log(K/γ) for every code; the constants inside the logarithm are added here.
    """
    if n == 0.0:
        return math.inf
    if code == PAPER:
        return 2.0 * math.sqrt((level + math.log(4.0) + math.log(n)) / n)  # (3)
    if code == EXPERIMENTS:
        return math.sqrt((level + math.log(n)) / n)
    c = MIXTURE_C
    return math.sqrt(2.0 * (level + 0.5 * math.log1p(n / c)) * (1.0 + c / n) / n)


@kernel("void(i8, f8, const(f8[::1]), f8[::1])")
def half_width_rows(code: int, level: float, pulls: Array, width: Array) -> None:
    """`half_width` for every entry."""
    for i in range(pulls.size):
        width[i] = half_width(code, level, pulls[i])
