"""`plan`: how many calls a decision would take, on common items and with independent samples.

The paired design is simulated round by round on the scores that are given; independent samples are drawn from
the same scores by `simulate`, with the strategy and the rule of a live experiment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _door
from .._catalogue import DEFAULT_RULE, DEFAULT_STRATEGY
from ..theory.models import Bounded
from .job import Part
from .planned import Plan
from .progress import Progress, Reporter
from .rounds import paired_runs
from .runs import RUNS, Collected, room_for
from .scores import Columns, ItemScores, Range, Scores, make_range, make_scores, observed_correlation
from .simulate import simulate
from .special import compiled
from .threads import num_threads, run_on_threads

PAIRED = "paired"  # the name of the design, which is both strategy and rule
LONG = 50_000  # rounds after which a run is cut off, unless the items are used up before


def plan(
    table: Columns | None = None,
    delta: float = 0.05,
    *,
    means: npt.ArrayLike | None = None,
    correlation: float | None = None,
    items: int | None = None,
    pilot: Columns | Sequence[npt.ArrayLike] | None = None,
    unlimited: bool = False,
    bounds: tuple[float, float] = (0.0, 1.0),
    minimize: bool = False,
    tolerance: float = 0.0,
    failures: str | float = "repeat",
    runs: int = 1000,
    seed: int = 0,
    max_rounds: int | None = None,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Plan:
    """Simulate decisions on scores like those you expect: how many calls they take, and how often they err.

    Give one of these three:
    table        scores with a row for each item and a column for each arm, such as those of an earlier
                 evaluation; or the columns by name, {"old": [...], "new": [...]}
    means        rates of success of the arms, guessed
    pilot        values of each arm that do not belong together, for independent samples alone

    delta        accepted probability of a wrong answer
    correlation  with means: of the scores of the two best arms on one item; left out, only independent
                 samples are planned
    items        with a correlation: how many items the set has; left out, their source is unlimited
    unlimited    with a table: items are drawn from it with replacement, as from an unlimited source; without,
                 it is a closed set, each item of which is used once, in random order
    bounds       (lo, hi), which all scores respect
    minimize     the smallest mean is the best
    tolerance    how far below the best an answer may be
    failures     what a cell of the table counts as that is NaN: "worst", whatever is worst for the claim, or
                 a score; "repeat" refuses it. Independent samples leave out what is "worst"
    runs, seed   run i is a function of (seed, i) alone
    max_rounds   where a run is cut off; by default after 50,000 rounds, and a closed set when it is used up.
                 Independent samples are cut off at as many for each arm
    threads      by default one per available core; the result does not depend on it
    progress     as for `simulate`, for one design after the other
    Returns      Plan; after Ctrl-C with the runs up to the first incomplete one, marked incomplete
    Raises       InvalidInputError
    """
    terms = _terms(delta, tolerance, runs, seed, max_rounds, threads)
    within = make_range(bounds, minimize)
    scores = make_scores(table, means, pilot, correlation, items, unlimited, failures, within, terms.seed)
    return _simulated(scores, within, terms, progress)


class Terms(NamedTuple):
    """What holds for both designs, checked; `max_rounds` None for the default."""

    delta: float
    tolerance: float
    runs: int
    seed: int
    max_rounds: int | None
    threads: int


def _terms(
    delta: float, tolerance: float, runs: int, seed: int, max_rounds: int | None, threads: int | None
) -> Terms:
    more = "more runs give a smaller standard error"
    same = "any number will do, and the same one gives the same result"
    limit = max_rounds
    if limit is not None:
        limit = _door.whole("max_rounds", limit, 1, 10**9, "it is where a run is cut off")
    return Terms(
        _door.delta(delta),
        _door.tolerance(tolerance),
        _door.whole("runs", runs, 1, 10**9, more),
        _door.whole("seed", seed, 0, 2**64 - 1, same),
        limit,
        num_threads(threads),
    )


def _simulated(scores: Scores, within: Range, terms: Terms, progress: bool | Progress | None) -> Plan:
    """Both designs, one after the other; the second only if the first was not interrupted."""
    rounds, limit = scores.rounds, terms.max_rounds
    closed = rounds.closed if rounds is not None else None
    paired = independent = None
    with room_for(terms.runs, 2):
        if rounds is not None:
            job = PairedJob(rounds, terms._replace(tolerance=terms.tolerance / within.width))
            work = Collected(job, 0, terms.runs, RUNS)
            with Reporter(progress, terms.runs) as reporter:
                run_on_threads([work], terms.threads, reporter)
            (paired,) = work.cells()
        if paired is None or paired.complete:
            independent = simulate(
                DEFAULT_STRATEGY,
                delta=terms.delta,
                runs=terms.runs,
                seed=terms.seed,
                model=Bounded(0.0, 1.0),
                stopping=DEFAULT_RULE,
                tolerance=terms.tolerance / within.width,
                max_samples=(limit or max(LONG, closed or 0)) * len(scores.arms),
                threads=terms.threads,
                progress=progress,
                **scores.rewards,
            ).cells[0]
    return Plan(
        scores.arms,
        tuple(scores.means.tolist()),
        terms.delta,
        terms.tolerance,
        within.minimize,
        closed,
        observed_correlation(rounds) if rounds is not None else None,
        paired,
        independent,
    )


class PairedJob:
    """Runs of the paired design, as `runs.Work`: run i is a function of the seed and of i."""

    name = rule_name = PAIRED
    endless = None

    def __init__(self, rounds: ItemScores, terms: Terms) -> None:
        """Here the tolerance is that for values in [0, 1]."""
        self.rounds, self.seed, self.deltas = rounds, terms.seed, (terms.delta,)
        self.max_rounds = terms.max_rounds or rounds.closed or LONG
        if rounds.closed is not None:
            self.max_rounds = min(self.max_rounds, rounds.closed)
        self.num_arms = rounds.low.shape[1]
        self.best = rounds.best(terms.tolerance)
        self.params = rounds.design.parameters(self.num_arms, terms.delta, terms.tolerance)

    def room(self, signals: npt.NDArray[np.int64]) -> tuple[Any, ...]:
        """Room for one thread, and its signals."""
        r = self.rounds
        space = np.empty(r.closed or 0, np.int64), np.empty(2, np.uint64)
        return *r.design.blank(self.num_arms), *space, signals

    def prepare(self) -> None:
        """Compile what runs need, so that no run has to wait for it."""
        compiled(paired_runs)

    def part(self, first: int, runs: int, room: tuple[Any, ...]) -> Part:
        """So many runs from `first` on; fewer if the signals cancel it."""
        r, (*space, signals) = self.rounds, room
        nature = (np.uint64(self.seed), r.low, r.high, r.items, r.again, self.max_rounds, self.params)
        calls, found = np.zeros((runs, 1), np.int64), np.full((runs, 1), -1, np.int64)
        pulls = np.zeros((1, self.num_arms))
        answers: tuple[Any, ...] = (calls.reshape(runs), found.reshape(runs), pulls[0], signals)
        with np.errstate(all="ignore"):  # uncompiled, arithmetic modulo 2**64 would warn
            _, done = compiled(paired_runs)(first, *nature, *space, *answers)
        return Part(first, calls[:done], np.maximum(found[:done], -1), pulls)  # any other is no answer
