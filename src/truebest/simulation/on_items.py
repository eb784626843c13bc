"""What is given about rounds on common items, checked, and the runs that a design makes of it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from .._text import listed
from ..designs import Ordered, Rounds
from ..designs.independent import refuse_question
from ..designs.rounds import KNOWN_VERSION, MOST_ITEMS
from ..designs.strata import Strata
from ..designs.units import SINGLE, Units
from ..errors import InvalidInputError
from ..questions import BEST, Question, Winner, find_question
from ..theory.models import Bounded
from .problem import limit_of, make_deltas
from .rounds import ItemScores, RoundsJob
from .scores import AnyNumbers, Range, Scores, from_means, from_table, in_units
from .work import Given, Work, Works


def make_works(
    design: type[Rounds], given: Given, bandits: Sequence[npt.ArrayLike | None], seed: int
) -> Works:
    """The runs of a call on common items: of each bandit, one for each risk."""
    _refuse_others(design, given)
    deltas, tolerance = make_deltas(given.delta), _args.tolerance(given.ways["tolerance"])
    question = BEST if given.ways["question"] is None else find_question(given.ways["question"])
    within: Range | AnyNumbers = AnyNumbers(False, Ordered(positive=tolerance > 0.0))
    if design.averages:
        within = _range(given.ways["model"])
    elif given.ways["model"] is not None:
        raise InvalidInputError(
            f"compare='wins' counts who was better in each round, and needs no bounds, sigma or model, got "
            f"{_args.short(given.ways['model'])}; leave that out."
        )
    jobs: list[list[Work]] = []
    means: list[Any] = []
    for one in bandits:
        scores, closed = _scores(design, given, one, within, seed, question.fewest)
        num_arms = len(scores.arms)
        asked, failures = question.bound(num_arms), given.ways["failures"]
        made = design_for(design, closed, failures, asked, tolerance, num_arms, within, _units(scores))
        limit = limit_of(given.ways["max_samples"], num_arms)
        jobs.append([make_job(made, scores, within, risk, tolerance, seed, None, limit) for risk in deltas])
        means.append(scores.means.tolist())
    settings = {
        "deltas": list(deltas),
        "stopping": design.name,
        "tolerance": tolerance,
        "question": repr(question),
        "max_samples": given.ways["max_samples"],
        "models": [repr(within)],
        "means": means,
        "rewards": [_described(given)],
        "strategies": [repr(made)],
    }
    return Works(jobs, deltas, settings)


def design_for(
    design: type[Rounds],
    items: int | None,
    failures: str | float,
    question: Question,
    tolerance: float,
    num_arms: int,
    within: Range | AnyNumbers,
    units: Units,
    strata: Strata | None = None,
) -> Rounds:
    """The design that answers a question, asked of values that are mapped to [0, 1], or of who wins."""
    if design.averages:
        refuse_question(question, None, tolerance)
        question.check(num_arms, within.limits, within.minimize)
        zero, unit = within.origin
        own: dict[str, Any] = {"question": question.placed(zero, unit * units.stretch), "units": units}
        if strata is None:
            return design(items, failures, **own)
        return design(items, failures, **own, strata=strata, version=KNOWN_VERSION)
    if not question.by_claims:
        return design(items, failures)
    if not isinstance(question, Winner):
        raise InvalidInputError(
            f"{question} is asked of means, got compare='wins' too; leave one of them out."
        )
    if tolerance > 0.0:
        raise InvalidInputError(
            f"{question} knows no tolerance, got tolerance={tolerance:g}; leave one of them out."
        )
    return design(items, failures, direct=True)  # type: ignore[call-arg]


def make_job(
    design: Rounds,
    scores: Scores,
    within: Range | AnyNumbers,
    delta: float,
    tolerance: float,
    seed: int,
    max_rounds: int | None,
    max_samples: float = math.inf,
) -> RoundsJob:
    """The runs at one risk; refused if they would look for a winner where none can be."""
    assert scores.rounds is not None
    near = tolerance / (within.width * scores.rounds.units.stretch)
    ways = delta, near, seed, max_rounds, max_samples, within.origin
    job = RoundsJob(design, scores.rounds, *ways)
    if not job.best:
        raise InvalidInputError(
            "a table must have an arm that does not lose against any other one on most items, got none; a "
            "race among such arms finds no winner."
        )
    return job


def beside(
    scores: Scores, known: Sequence[str], proxies: Sequence[str], within: Range | AnyNumbers
) -> tuple[Scores, Strata | None]:
    """The scores of the arms, and the strata by those that are known, and by proxies, which are no arms."""
    rounds = scores.rounds
    if not known and not proxies:
        return scores, None
    if rounds is not None and rounds.units.clusters is not None:
        raise InvalidInputError(
            f"known needs rounds of one item each, got known {listed(known)} and clusters= too; leave one of "
            f"them out."
        )
    if rounds is None or rounds.again or isinstance(within, AnyNumbers) or len(rounds.low) != rounds.items:
        raise InvalidInputError(
            f"known scores need a table of means of a closed set of items, got known {listed(known)} without "
            f"one; give table=, and leave unlimited and compare out."
        )
    for name in (*known, *proxies):
        if name not in scores.arms or [*known, *proxies].count(name) > 1:
            raise InvalidInputError(
                f"known and proxies must be different columns of the table, {listed(scores.arms)[:200]}, got "
                f"{_args.short(name)}; name each once."
            )
    arms = [place for place, name in enumerate(scores.arms) if name not in proxies]
    if not known or len(arms) - len(known) < 1:
        raise InvalidInputError(
            f"known must be one or more of the arms, and not all of them, got {listed(known) or 'none'} of "
            f"{listed([scores.arms[place] for place in arms])}; the others are asked."
        )
    if (rounds.low != rounds.high)[:, [scores.arms.index(name) for name in known]].any():
        raise InvalidInputError(
            f"known arms must have a score on every item, got some that are missing for {listed(known)}; "
            f"fill them in the table."
        )
    kept = scores.of(arms)
    columns = {kept.arms.index(name): _column(rounds, scores.arms.index(name)) for name in known}
    means = [_column(rounds, scores.arms.index(name)) for name in proxies]
    return kept, Strata.of(columns, np.mean(means, axis=0) if means else None, len(means))


def _column(rounds: ItemScores, place: int) -> Array:
    """The scores of an arm; a missing one lies in the middle."""
    return np.asarray(0.5 * (rounds.low[:, place] + rounds.high[:, place]), np.float64)


def _refuse_others(design: type[Rounds], given: Given) -> None:
    """Refuse what belongs to independent samples."""
    for name, value in (("strategies", given.strategies), ("stopping", given.ways["stopping"])):
        if value is not None:
            raise InvalidInputError(
                f"{design.asked_by} compares all arms in the race in every round, by a rule of its own, got "
                f"{name} too; leave {name} out."
            )
    if given.ways["sigma"] is not None:
        raise InvalidInputError(
            f"{design.asked_by} needs values between known bounds, or none of which more is known than who "
            f"wins, got sigma={_args.short(given.ways['sigma'])}; leave sigma out."
        )


def _range(model: object) -> Range:
    """The bounds of values, by default those of scores."""
    if model is None:
        return Range(Bounded(0.0, 1.0), False)
    if not isinstance(model, Bounded):
        raise InvalidInputError(
            f"items= needs values between known bounds, got the model {_args.short(model)}; give "
            f"model=truebest.Bounded(0, 1), say, or compare='wins' if only who is better counts."
        )
    return Range(model, False)


def _scores(
    design: type[Rounds],
    given: Given,
    means: npt.ArrayLike | None,
    within: Range | AnyNumbers,
    seed: int,
    fewest: int,
) -> tuple[Scores, int | None]:
    """What rounds are simulated on, and how many items a closed set has."""
    unlimited = given.ways["items"] is None or given.ways["items"] == math.inf
    if isinstance(given.ways["rewards"], str):
        if given.ways["rewards"] != "bernoulli" or means is None or isinstance(within, AnyNumbers):
            raise InvalidInputError(
                f"rewards on common items must be values, those of each arm in the order of the items, or "
                f"'bernoulli' with means and a correlation for compare='means', got "
                f"{_args.short(given.ways['rewards'])} and means {_args.short(means)}; give one of both."
            )
        correlation = given.ways["correlation"] if np.size(means) > 1 else 0.0
        if correlation is None:
            raise InvalidInputError(
                "items= needs the correlation of rewards on one item, got none; give correlation=0.6, say, "
                "or values as rewards."
            )
        advice = "it is how many items there are, or inf for an unlimited source"
        items = None if unlimited else _args.whole("items", given.ways["items"], 1, MOST_ITEMS, advice)  # type: ignore[arg-type]
        how = given.ways["epochs"]
        made = from_means(means, correlation, items, within, seed, fewest, how)
        return in_units(made, how, given.ways["clusters"], given.ways["weigh"], within), items
    for name, value in (("means", means), ("correlation", given.ways["correlation"])):
        if value is not None:
            raise InvalidInputError(
                f"{name} must be left out where rewards are values on common items, which have their own, "
                f"got {_args.short(value)}; leave it out, or give rewards='bernoulli'."
            )
    columns = {str(a + 1): values for a, values in enumerate(given.ways["rewards"])}
    failing = design(failures=given.ways["failures"]).failures
    scores = from_table(columns, within, failing, unlimited, fewest)
    assert scores.rounds is not None
    values = scores.rounds.items
    ways = given.ways["epochs"], given.ways["clusters"], given.ways["weigh"]
    made = in_units(scores, *ways, within)
    epochs = _units(made).epochs
    if not unlimited and given.ways["items"] != values // epochs:
        each = f", {epochs} for each item" if epochs > 1 else ""
        raise InvalidInputError(
            f"items must be as many as each arm has values, {values}{each}, or inf to draw them with "
            f"replacement, got {_args.short(given.ways['items'])}; correct it."
        )
    assert made.rounds is not None
    return made, made.rounds.closed


def _units(scores: Scores) -> Units:
    """What a row is made of."""
    return SINGLE if scores.rounds is None else scores.rounds.units


def _described(given: Given) -> list[Any]:
    """The values that runs are made of, as plain numbers or their hash."""
    values = given.ways["rewards"]
    if not isinstance(values, str):
        columns = [np.asarray(column, np.float64) for column in values]
        values = hashlib.sha256(b"".join(column.tobytes() for column in columns)).hexdigest()
    items = (
        None if given.ways["items"] is None or given.ways["items"] == math.inf else int(given.ways["items"])
    )
    return [values, items, given.ways["correlation"], given.ways["failures"]]
