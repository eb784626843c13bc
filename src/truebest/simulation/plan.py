"""`plan`: how many calls a decision would take, on common items and with independent samples.

The paired design is simulated round by round on the scores that are given; independent samples are drawn from
the same scores by `simulate`, with the strategy and the rule of a live experiment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy.typing as npt

from .. import _args
from .._catalogue import DEFAULT_RULE, DEFAULT_STRATEGY
from ..designs import COMPARED, MEANS, Ordered, Rounds, kind_of
from ..designs.strata import Strata
from ..designs.units import SINGLE
from ..errors import InvalidInputError
from ..questions import BEST, Question, find_question
from ..theory.models import Bounded
from ..theory.stopping import find_rule
from .on_items import beside, design_for, make_job
from .planned import Plan, Price
from .progress import Progress, Reporter
from .rounds import LONG
from .runs import RUNS, Collected, room_for
from .scores import (
    AnyNumbers,
    Columns,
    Range,
    Scores,
    in_units,
    make_range,
    make_scores,
    observed_correlation,
)
from .simulate import simulate
from .threads import num_threads, run_on_threads


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
    compare: str = MEANS,
    question: Question | None = None,
    epochs: int = 1,
    clusters: Sequence[Any] | None = None,
    weigh: str | None = None,
    known: Sequence[str] = (),
    proxies: Sequence[str] = (),
    seconds_per_call: float | None = None,
    cost_per_call: float | None = None,
    runs: int = 1000,
    seed: int = 0,
    max_rounds: int | None = None,
    max_samples: int | None = None,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Plan:
    """Simulate decisions on scores like those you expect: how many calls they take, and how often they err.

    Give one of these three:

    Parameters
    ----------
    table
        scores with a row for each item and a column for each arm, such as those of an earlier evaluation; or
        the columns by name, {"old": [...], "new": [...]}
    means
        rates of success of the arms, guessed
    pilot
        values of each arm that do not belong together, for independent samples alone
    delta
        accepted probability of a wrong answer
    correlation
        with means: of the scores of the two best arms on one item; left out, only independent samples are
        planned
    items
        with a correlation: how many items the set has; left out, their source is unlimited
    unlimited
        with a table: items are drawn from it with replacement, as from an unlimited source; without, it is a
        closed set, each item of which is used once, in random order
    bounds
        (lo, hi), which all scores respect
    minimize
        the smallest mean is the best
    tolerance
        how far below the best an answer may be
    failures
        what a cell of the table counts as that is NaN: "worst", whatever is worst for the claim, or a score;
        "repeat" refuses it. Independent samples leave out what is "worst"
    compare
        "means", or "wins" if only who is better on an item counts, of a table of any numbers: then a failure
        may be a "loss", the tolerance is a part of the best, and only rounds are planned
    question
        what is asked, by default which arm is best; see `simulate`
    epochs
        how often each arm answers an item, of which the mean counts: a table has as many rows for each item,
        one after the other; with means, what answers to one item have in common is its difficulty
    clusters
        with a table of a closed set: the label of each item's cluster, such as the text that it is about; a
        round is then a cluster, and rounds alone are planned
    weigh
        with clusters, what counts alike: "items" or "clusters"
    known
        with a table of a closed set: the names of arms whose scores will be known, which take no calls; then
        rounds alone are planned
    proxies
        with known: the names of columns that are no arms, but scores of other models
    seconds_per_call, cost_per_call
        what one call takes: times and costs are shown beside calls
    runs, seed
        run i is a function of (seed, i) alone
    max_rounds
        where a run is cut off; by default after 50,000 rounds, and a closed set when it is used up.
        Independent samples are cut off at as many for each arm
    max_samples
        the budget of independent samples, as of `identify`
    threads
        by default one per available core; the result does not depend on it
    progress
        as for `simulate`, for one design after the other

    Returns
    -------
    Plan
        after Ctrl-C with the runs up to the first incomplete one, marked incomplete

    Raises
    ------
    InvalidInputError
    """
    terms = _terms(delta, tolerance, question, runs, seed, max_rounds, max_samples, threads)
    price = Price(_positive("seconds_per_call", seconds_per_call), _positive("cost_per_call", cost_per_call))
    design = kind_of({"items": True, "compare": _args.choice("compare", compare, COMPARED)})
    assert issubclass(design, Rounds)
    within: Range | AnyNumbers = AnyNumbers(bool(minimize), Ordered(positive=terms.tolerance > 0.0))
    if design.averages:
        within = make_range(bounds, minimize)
    failing = design(failures=failures).failures
    fewest = terms.question.fewest
    scores = make_scores(
        table, means, pilot, correlation, items, unlimited, failing, within, terms.seed, fewest, epochs
    )
    scores = in_units(scores, epochs, clusters, weigh, within)
    scores, strata = beside(scores, _names("known", known), _names("proxies", proxies), within)
    return replace(_simulated(design, scores, within, terms, strata, progress), price=price)


def _positive(name: str, given: float | None) -> float | None:
    """What a call takes."""
    number = None if given is None else _args.scalar(name, given)
    if number is not None and not 0.0 < number < math.inf:
        raise InvalidInputError(
            f"{name} must be positive and finite, got {number:g}; it is what one call takes."
        )
    return number


def _names(what: str, given: Sequence[str]) -> list[str]:
    """Names of columns, or one of them."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise InvalidInputError(
            f"{what} must be names of columns of the table, got {_args.short(given)}; give a list of them."
        )
    return list(names)


class Terms(NamedTuple):
    """What holds for both designs, checked; `max_rounds` None for the default."""

    delta: float
    tolerance: float
    question: Question
    runs: int
    seed: int
    max_rounds: int | None
    max_samples: int | None
    threads: int


def _terms(
    delta: float,
    tolerance: float,
    question: Question | None,
    runs: int,
    seed: int,
    max_rounds: int | None,
    max_samples: int | None,
    threads: int | None,
) -> Terms:
    more = "more runs give a smaller standard error"
    limit = max_rounds
    if limit is not None:
        limit = _args.whole("max_rounds", limit, 1, 10**9, "it is where a run is cut off")
    if max_samples is not None:
        max_samples = _args.whole("max_samples", max_samples, 2, 2**53, "it is where a run is cut off")
    return Terms(
        _args.delta(delta),
        _args.tolerance(tolerance),
        BEST if question is None else find_question(question),
        _args.whole("runs", runs, 1, 10**9, more),
        _args.seed(seed),
        limit,
        max_samples,
        num_threads(threads),
    )


def _simulated(
    design: type[Rounds],
    scores: Scores,
    within: Range | AnyNumbers,
    terms: Terms,
    strata: Strata | None,
    progress: bool | Progress | None,
) -> Plan:
    """Both designs, one after the other; the second only if the first was not interrupted.

    Where scores are known, it is not planned.
    """
    rounds, limit = scores.rounds, terms.max_rounds
    known = () if strata is None else tuple(scores.arms[a] for a in strata.known)
    means = {name: float(scores.means[scores.arms.index(name)]) for name in known}
    question = terms.question.bound(scores.arms, means.get)
    closed, units = (None, SINGLE) if rounds is None else (rounds.closed, rounds.units)
    many = len(scores.arms)
    made = design_for(design, closed, "repeat", question, terms.tolerance, many, within, units, strata)
    paired = independent = None
    with room_for(terms.runs, 2):
        if rounds is not None:
            job = make_job(made, scores, within, terms.delta, terms.tolerance, terms.seed, limit)
            work = Collected(job, 0, terms.runs, RUNS)
            with Reporter(progress, terms.runs) as reporter:
                run_on_threads([work], terms.threads, reporter)
            (paired,) = work.cells()
        alone = bool(known) or units.clusters is not None or not design.averages
        if not alone and (paired is None or paired.complete):
            independent = simulate(
                None if terms.question.by_claims else DEFAULT_STRATEGY,
                delta=terms.delta,
                runs=terms.runs,
                seed=terms.seed,
                model=Bounded(0.0, 1.0),
                stopping=find_rule(DEFAULT_RULE).for_simulation().prepared_for(terms.max_samples),
                tolerance=terms.tolerance / within.width,
                question=made.question,
                max_samples=terms.max_samples or (limit or max(LONG, closed or 0)) * len(scores.arms),
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
        closed if units.clusters is None else len(units.clusters),
        observed_correlation(rounds) if rounds is not None and design.averages else None,
        paired,
        independent,
        known,
        units.epochs,
        units.words,
    )
