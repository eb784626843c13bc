"""Values that were brought along by arm are judged once: an old sampler may have known the later group.

The file has all values of arm 0, then all of arm 1. They were sampled the other way round: the old sampler
first took 1e8 values of arm 1, then values of arm 0 until the rule, asked after some of those of arm 1, would
have declared it. The means are equal, so that either answer is right; but an arm 1 that is worse by nothing
that could be measured is declared as often, and the rule promises at most delta.
"""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from scipy import stats

from truebest.kernels.layout import MEANS, PULLS, TUNING
from truebest.kernels.rules import pair_exceeds
from truebest.theory.models import Gaussian
from truebest.theory.tilt import Tilt

DELTA, RUNS, MOST, SPACING = 0.05, 6000, 1e8, 32


@numba.njit(nogil=True)
def declared(params, state, looks, runs, bound):  # type: ignore[no-untyped-def]
    """In how many runs arm 1 is declared: with looks among its values, and with one at the end of all."""
    np.random.seed(26)
    among, once, size = 0, 0, looks.size
    for _ in range(runs):
        means = np.empty((2, size))
        for arm in range(2):
            total, before = 0.0, 0.0
            for i in range(size):
                total += np.random.normal() * math.sqrt(looks[i] - before)
                before = looks[i]
                means[arm, i] = total / before
        end, found = size - 1, False
        for i in range(size):
            for j in range(size):
                d = means[1, j] - means[0, i]
                # The likelihood ratio is never below the statistic: no search where it is too small.
                if d > 0.0 and 0.5 * d * d > bound * (1.0 / looks[i] + 1.0 / looks[j]):
                    state[PULLS, 0], state[PULLS, 1] = looks[i], looks[j]
                    state[MEANS, 0], state[MEANS, 1] = means[0, i], means[1, j]
                    if pair_exceeds(params, state, 1, 0, 0.0, bound):
                        end, found = i, True
                        break
            if found:
                break
        among += found
        state[PULLS, 0], state[PULLS, 1] = looks[end], looks[-1]
        state[MEANS, 0], state[MEANS, 1] = means[0, end], means[1, -1]
        once += pair_exceeds(params, state, 1, 0, 0.0, bound)
    return among, once


@pytest.mark.slow
def test_looks_that_never_were_are_wrong_too_often_and_one_look_is_not() -> None:
    """Above delta but for chance of 1e-3 with looks among the values; far below it with one."""
    rule, model = Tilt().form_for(2, 0.0, False, False), Gaussian(1.0)
    params, state = rule.parameters(model, 2, DELTA), rule.blank(model, 2)
    params[TUNING] = 0.0
    looks = np.unique(np.round(np.geomspace(1.0, MOST, int(math.log2(MOST) * SPACING) + 1)))
    among, once = declared(params, state, looks, RUNS, math.log(1.0 / DELTA))
    assert stats.binomtest(among, RUNS, DELTA, alternative="greater").pvalue < 1e-3
    assert once < stats.binom.ppf(1e-6, RUNS, DELTA)
