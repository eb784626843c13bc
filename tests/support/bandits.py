"""Bandits for property tests, and slow independent solutions to compare with."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

Array = npt.NDArray[np.float64]

MU_1 = (0.9, 0.8, 0.6, 0.4, 0.4)
MU_2 = (0.9, 0.5, 0.45, 0.4)
MU_3 = (0.9, 0.8, 0.75, 0.7)
MU_4 = (0.9, 0.8, 0.7, 0.6)
GAPS_1 = (0.0, 0.1, 0.3, 0.5, 0.5)
GAPS_2 = (0.0, 0.4, 0.45, 0.5)


def gap_vectors(min_arms: int = 2, max_arms: int = 12, smallest: float = 1e-3) -> st.SearchStrategy[Array]:
    """Gaps in [smallest, 1] with a zero in front; small ones as likely as large ones."""
    gap = st.floats(np.log(smallest), 0.0).map(lambda x: float(np.exp(x)))
    gaps = st.lists(gap, min_size=min_arms - 1, max_size=max_arms - 1)
    return gaps.map(lambda g: np.array([0.0, *g]))


def boxes(min_arms: int = 2, max_arms: int = 8) -> st.SearchStrategy[tuple[Array, Array]]:
    """Lower and upper ends in [0, 1], no interval degenerate."""
    ends = st.tuples(st.floats(0.0, 1.0), st.floats(1e-3, 1.0))
    intervals = st.lists(ends, min_size=min_arms, max_size=max_arms)
    return intervals.map(
        lambda pairs: (
            np.array([low for low, _ in pairs]),
            np.array([low + width * max(1.0 - low, 1e-3) for low, width in pairs]),
        )
    )


def exact_solution(gaps: npt.ArrayLike, digits: int = 60) -> tuple[list[Any], Any, Any]:
    """w, T and r by bisection in high-precision arithmetic, from the definition of φ alone."""
    with mpmath.workdps(digits):
        d = [mpmath.mpf(float(x)) ** 2 for x in np.asarray(gaps)]
        best = min(range(len(d)), key=lambda a: d[a])
        others = [a for a in range(len(d)) if a != best]
        low = 1 / min(d[a] for a in others)
        high = 2 * (1 + mpmath.sqrt(len(others))) * low
        for _ in range(int(4 * digits)):
            r = (low + high) / 2
            phi = sum(1 / (r * d[a] - 1) ** 2 for a in others) - 1 if r > low else mpmath.inf
            low, high = (r, high) if phi > 0 else (low, r)
        w_best = 1 / (1 + sum(1 / (r * d[a] - 1) for a in others))
        w = [w_best if a == best else w_best / (r * d[a] - 1) for a in range(len(d))]
        return w, 2 * r / w_best, r


def extended_weights(gaps: Array) -> npt.NDArray[np.longdouble]:
    """The weights in 80-bit arithmetic by Newton on φ, for many arms; the best arm must be the first."""
    d = (gaps[1:].astype(np.longdouble) / gaps[1:].min()) ** 2
    r = max(np.longdouble(2), (1 + np.sqrt(np.longdouble(d.size))) / d.mean())
    for _ in range(200):
        q = 1 / (r * d - 1)
        step = (np.sum(q**2) - 1) / (2 * np.sum(d * q**3))
        r += step
        if abs(step) < 1e-18 * r:
            break
    q = 1 / (r * d - 1)
    w_best = 1 / (1 + np.sum(q))
    return np.concatenate([[w_best], w_best * q])
