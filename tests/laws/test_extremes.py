"""Extremes along four chains are those of a plain loop, to the bit, whatever the length."""

from __future__ import annotations

import numpy as np
import pytest

from truebest.kernels import extremes
from truebest.kernels.layout import MEANS, OUT, PULLS, ROWS
from truebest.kernels.tracking import TIE, first_largest, furthest_behind, rarest, still_rarest
from truebest.kernels.weights import untied_squares


def plain(x: np.ndarray) -> np.ndarray:
    """Read-only, as the kernels take it."""
    x.flags.writeable = False
    return x


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 15, 16, 17, 18, 19, 20, 63, 64, 65, 500])
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
        assert extremes.least(x) == x.min()
        assert extremes.least(x[:0]) == np.inf
        for bound in (-9.0, -1.0, 0.0):
            below = np.flatnonzero(x - t * target <= bound)
            assert extremes.first_surplus(x, target, t, bound) == (below[0] if below.size else size)


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


@pytest.mark.parametrize("size", [2, 5, 40])
def test_the_rarest_arm_from_the_last(size: int) -> None:
    """Values come and are taken back, arms are ruled out: what is known of the last step is enough."""
    rng = np.random.default_rng(size)
    state = np.zeros((ROWS, size))
    state[PULLS] = 1.0
    arm, changed = rarest(state), 0
    for step in range(600):
        last = arm if rng.random() < 0.3 else int(rng.integers(size))
        state[PULLS, last] += -1.0 if rng.random() < 0.2 and state[PULLS, last] > 1.0 else 1.0
        if step % 100 == 99 and (state[OUT] == 0.0).sum() > 1:
            state[OUT, rng.integers(size)] = step
        before, arm = arm, still_rarest(state, last, arm)
        assert arm == rarest(state)
        changed += before != arm
    assert changed > 10
    assert still_rarest(state, -1, 0) == still_rarest(state, 0, -1) == rarest(state)


@pytest.mark.parametrize("size", [15, 16, 40])
def test_ties_with_the_best(size: int) -> None:
    """Arms within TIE share the weight; without any, gaps are squared in units of the smallest."""
    rng = np.random.default_rng(size)
    for best in (0, size // 2, size - 1):
        gaps = rng.uniform(0.1, 1.0, size)
        gaps[best] = 0.0
        x = gaps.copy()
        assert untied_squares(x, best)
        others = np.arange(size) != best
        np.testing.assert_allclose(x[others], (gaps[others] / gaps[others].min()) ** 2, rtol=1e-14)
        assert x[best] == np.inf
        gaps[(best + 3) % size], gaps[(best + 7) % size] = TIE, 2.0 * TIE
        assert not untied_squares(gaps, best)
        assert gaps[best] == gaps[(best + 3) % size] == 0.5
        assert gaps.sum() == 1.0
