"""How often rounds on common items err on arms that can hardly be told apart; seeds are fixed, one per cell.

The negative control is the same rule at a quarter of its level, which errs more often than delta.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from truebest.designs import Rounds
from truebest.kernels.paired import ROUND_LEVEL
from truebest.simulation.progress import Reporter
from truebest.simulation.rounds import ItemScores, RoundsJob
from truebest.simulation.runs import Collected
from truebest.simulation.scores import make_items
from truebest.simulation.threads import run_on_threads

DELTA, RUNS = 0.1, 600
MOST = int(stats.binom.isf(1e-6, RUNS, DELTA))  # more errors than this: false alarm below 1e-6


class Nearly(NamedTuple):
    """K arms on items of the model, of which the first succeeds on one item more than the others."""

    num_arms: int
    items: int
    unlimited: bool
    numbers: bool = False


CASES = [Nearly(2, 400, False), Nearly(6, 400, False), Nearly(3, 1000, True), Nearly(4, 300, False, True)]


def table(case: Nearly) -> npt.NDArray[np.float64]:
    rates = np.full(case.num_arms, 0.6)
    rates[0] += 1.0 / case.items
    found = make_items(rates, 3.0, case.items, 17, 0)
    return 0.3 + 0.4 * found if case.numbers else found


def errors(case: Nearly, seed: int, part: float = 1.0) -> int:
    """Wrong answers in so many runs; `part` of the level."""
    values = table(case)
    longest = 10_000 if case.unlimited else None
    scores = ItemScores(values, values, case.items, case.unlimited)
    job = RoundsJob(Rounds(scores.closed), scores, DELTA, 0.0, seed, longest)
    assert job.params[ROUND_LEVEL] == -math.log(DELTA)
    job.params[ROUND_LEVEL] *= part
    work = Collected(job, 0, RUNS, "runs")
    with Reporter(False, RUNS) as reporter:
        assert run_on_threads([work], 1, reporter)
    return work.cells()[0].errors


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rounds_err_less_often_than_delta(case: Nearly) -> None:
    """Closed sets and an unlimited source, successes and numbers. False alarm: 1e-6 in each cell."""
    assert errors(case, 100 + CASES.index(case)) <= MOST


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_quarter_of_the_level_errs_more_often(case: Nearly) -> None:
    """The negative control: the same test would notice."""
    assert errors(case, 200 + CASES.index(case), part=1 / 4) > MOST
