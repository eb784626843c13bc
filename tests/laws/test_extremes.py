"""Extremes along four chains are those of a plain loop, to the bit, whatever the length."""

from __future__ import annotations

import numpy as np
import pytest

from bestarm.kernels import extremes
from bestarm.kernels.layout import MEANS, OUT, PULLS, ROWS
from bestarm.kernels.tracking import first_largest, furthest_behind, rarest


def plain(x: np.ndarray) -> np.ndarray:
    """Read-only, as the kernels take it."""
    x.flags.writeable = False
    return x


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 15, 16, 17, 18, 19, 20, 63, 500])
def test_in_any_order(size: int) -> None:
    """Also with infinities, equal entries and none that counts."""
    rng = np.random.default_rng(size)
    for trial in range(50):
        x = plain(np.round(rng.normal(size=size), 1))
        out = plain((rng.random(size) < (0.3, 1.0)[trial % 10 == 0]).astype(float))
        target, t = plain(rng.dirichlet(np.ones(size))), float(size)
        assert extremes.largest(x) == x.max()
        assert extremes.least_unless(x, out) == min(x[out == 0.0], default=np.inf)
        assert extremes.least_surplus(x, target, t) == (x - t * target).min()
        above = x[x > 0.0]
        assert extremes.least_above(x, 0.0) == (above.min() if above.size else np.inf, size - above.size)


@pytest.mark.parametrize("size", [15, 16, 17, 200])
def test_the_same_arm(size: int) -> None:
    """The first of those that tie, on both sides of where the chains begin."""
    rng = np.random.default_rng(size)
    for _ in range(50):
        state = np.zeros((ROWS, size))
        state[PULLS] = rng.integers(1, 4, size)
        state[MEANS] = np.round(rng.normal(size=size), 1)
        state[OUT] = rng.random(size) < 0.3
        plain(state)
        left = np.flatnonzero(state[OUT] == 0.0)
        assert rarest(state) == left[np.argmin(state[PULLS][left])]
        assert first_largest(state[MEANS]) == np.argmax(state[MEANS])
        target = plain(np.full(size, 1.0 / size))
        assert furthest_behind(state[PULLS], target, 1.0) == np.argmin(state[PULLS])
