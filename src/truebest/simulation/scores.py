"""Scores to plan with: a table of items and arms, the values of a pilot, or a model of items.

Whatever is given becomes values in [0, 1] of which the larger is the better, in two forms: *rounds*, a table
whose rows are items, for the paired design; and *rewards*, the values of each arm by itself, for independent
samples.

The model: an item has a difficulty that all arms share, and arm a succeeds on it where
θ_a + s z + e_a > 0, with z standard normal, one for the item, and e_a standard logistic, one for each arm.
In a set of items exactly the share of successes that was given is taken: those with the largest s z + e_a.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from .._text import exactly
from ..designs import Ordered
from ..designs.rounds import MOST_ITEMS
from ..designs.units import ITEMS, Units, check_epochs, check_weigh
from ..designs.wins import LOSS
from ..errors import InvalidInputError
from ..theory.models import Bounded
from .rounds import ItemScores, fill_uniform

Columns = npt.ArrayLike | Mapping[str, npt.ArrayLike]

POPULATION = 100_000  # items that stand for an unlimited source; and as many, at least, in all sets together
MOST_SETS = 50
WIDEST = 100.0  # s: beyond it all but equal
NODES = 1000  # of the distribution of z, where s is looked for


@dataclass(frozen=True)
class Scores:
    """What is planned with: the arms' names, their means as they were given, and both forms.

    rounds   None where nothing is known of values on common items
    rewards  arguments of `simulate`
    """

    arms: tuple[str, ...]
    means: Array
    rounds: ItemScores | None
    rewards: dict[str, Any]

    def of(self, places: Sequence[int]) -> Scores:
        """Of some arms alone, of a table."""
        assert self.rounds is not None
        low, high = (np.ascontiguousarray(one[:, places]) for one in (self.rounds.low, self.rounds.high))
        rewards = [self.rewards["rewards"][place] for place in places]
        arms, means = tuple(self.arms[place] for place in places), self.means[list(places)]
        return Scores(arms, means, replace(self.rounds, low=low, high=high), {"rewards": rewards})


@dataclass(frozen=True)
class Range:
    """The bounds of scores, and which of them is the better one."""

    bounds: Bounded
    minimize: bool

    @property
    def width(self) -> float:
        """The distance of the bounds."""
        return self.bounds.hi - self.bounds.lo

    @property
    def limits(self) -> tuple[float, float]:
        """Between which all scores lie."""
        return self.bounds.lo, self.bounds.hi

    @property
    def origin(self) -> tuple[float, float]:
        """The worse bound, and the way from it to the better one: what is mapped to 0 and 1."""
        return (self.bounds.hi, -self.width) if self.minimize else (self.bounds.lo, self.width)

    @property
    def least(self) -> str:
        """What a failure may count as."""
        return f"{self.bounds.lo:g}"

    @property
    def ends(self) -> tuple[float, float]:
        """The worst and the best value, as they are mapped."""
        return 0.0, 1.0

    def mapped(self, values: Array) -> Array:
        """As parts of the distance from the worse bound."""
        parts = (values - self.bounds.lo) / self.width
        return np.clip(1.0 - parts if self.minimize else parts, 0.0, 1.0)

    def check(self, values: Array, where: str) -> None:
        """Refuse what lies outside; NaN does not."""
        outside = (values < self.bounds.lo) | (values > self.bounds.hi)
        if outside.any():
            raise InvalidInputError(
                f"scores must lie in [{', '.join(map(exactly, self.limits))}], got "
                f"{exactly(values[outside][0])} {where}; correct it, or give the bounds that all scores "
                f"respect."
            )


@dataclass(frozen=True)
class AnyNumbers:
    """Numbers without bounds, of which only the order counts."""

    minimize: bool
    values: Ordered
    width, least, ends = 1.0, "'loss'", (-math.inf, math.inf)
    limits, origin = None, (0.0, 1.0)

    def mapped(self, values: Array) -> Array:
        """So that larger is better."""
        return -values if self.minimize else values

    def check(self, values: Array, where: str) -> None:
        """Refuse what is not allowed; NaN is."""
        wrong = [value for value in values[~np.isnan(values)].tolist() if not self.values.allows(value)]
        if wrong:
            raise InvalidInputError(
                f"scores must be {self.values.demand} where a tolerance is a factor, got {wrong[0]:g} "
                f"{where}; correct it, or leave the tolerance out."
            )


def make_range(bounds: tuple[float, float], minimize: bool) -> Range:
    """The bounds of scores, checked."""
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"bounds must be (lo, hi) with lo < hi, got {_args.short(bounds)}; every score must lie between "
            f"them, such as (0, 1)."
        ) from None
    return Range(Bounded(low, high), bool(minimize))


def make_scores(
    table: Columns | None,
    means: npt.ArrayLike | None,
    pilot: Columns | Sequence[npt.ArrayLike] | None,
    correlation: float | None,
    items: int | None,
    unlimited: bool,
    failures: str | float,
    within: Range | AnyNumbers,
    seed: int,
    fewest: int = 2,
    epochs: int | None = None,
) -> Scores:
    """Check what `plan` is given about scores: one of a table, means and a pilot, and what belongs to it."""
    places = {"table": table, "means": means, "pilot": pilot}
    given = [name for name, value in places.items() if value is not None]
    if len(given) != 1:
        raise InvalidInputError(
            f"give one of table, means and pilot, got {' and '.join(given) or 'none'}; a table of scores, if "
            f"you have one, says the most."
        )
    for name, value in (("correlation", correlation), ("items", items)):
        if value is not None and means is None:
            raise InvalidInputError(
                f"{name} belongs to means, got {name} {_args.short(value)} with a {given[0]}, which says "
                f"that itself; leave it out."
            )
    if unlimited and table is None:
        raise InvalidInputError(
            f"unlimited belongs to a table, got it with {given[0]}; with means and a correlation leave out "
            f"items."
        )
    if failures != "repeat" and table is None:
        raise InvalidInputError(
            f"failures belong to a table, got {_args.short(failures)} with {given[0]}, where nothing is "
            f"missing; leave it out."
        )
    if table is not None:
        return from_table(table, within, failures, unlimited, fewest)
    if isinstance(within, AnyNumbers):
        raise InvalidInputError(
            f"compare='wins' is planned with a table, whose rows are rounds, got {given[0]}; give table=."
        )
    if means is not None:
        return from_means(means, correlation, items, within, seed, fewest, epochs)
    assert pilot is not None
    return from_pilot(pilot, within, fewest)


def in_units(
    scores: Scores,
    epochs: int | None,
    clusters: Sequence[Any] | None,
    weigh: str | None,
    within: Range | AnyNumbers,
) -> Scores:
    """The same in rows of several answers: of the epochs that follow each other, and of clusters of items."""
    epochs, rounds = check_epochs(1 if epochs is None else epochs), scores.rounds
    if weigh is not None and clusters is None:
        raise InvalidInputError(
            f"weigh says what counts alike in clusters, got weigh={_args.short(weigh)} alone; give "
            f"clusters=, or leave it out."
        )
    if epochs == 1 and clusters is None:
        return scores
    if rounds is None or isinstance(within, AnyNumbers):
        raise InvalidInputError(
            "epochs= and clusters= make rounds of several answers to common items, of which means are "
            "compared; they do not go with independent samples or wins; leave them out."
        )
    items, rest = divmod(rounds.items, epochs)
    if rest:
        raise InvalidInputError(
            f"epochs={epochs} needs so many answers to each item, one after the other, got {rounds.items} "
            f"rows; correct it."
        )
    labels = None if clusters is None else _labels(clusters, items, rounds)
    units = Units(epochs, labels, check_weigh(ITEMS if weigh is None else weigh))
    made = replace(rounds, items=items if labels is None else len(units.sizes), units=units)
    made = replace(made, low=_by_row(rounds.low, made), high=_by_row(rounds.high, made))
    if units.weigh == ITEMS:
        return replace(scores, rounds=made)
    zero, unit = within.origin
    return replace(scores, rounds=made, means=zero + unit * (0.5 * (made.low + made.high)).mean(axis=0))


def _labels(clusters: Sequence[Any], items: int, rounds: ItemScores) -> tuple[int, ...]:
    """The number of each item's cluster, in the order in which they first appear."""
    given = [] if isinstance(clusters, str) or not hasattr(clusters, "__len__") else list(clusters)
    if len(given) != items or rounds.again or len(rounds.low) != rounds.items:
        raise InvalidInputError(
            f"clusters must have the label of each item of a closed set of scores, {items} of them, got "
            f"{_args.short(clusters)}; give a list like ['a', 'a', 'b'], and leave out unlimited and means."
        )
    try:
        numbers = {label: number for number, label in enumerate(dict.fromkeys(given))}
    except TypeError:
        strange = next(one for one in given if not isinstance(one, Hashable))
        raise InvalidInputError(
            f"clusters must have a text, a number or another plain value as the label of each item, got "
            f"{_args.short(strange)}; give a name or a number for each cluster."
        ) from None
    return tuple(numbers[label] for label in given)


def _by_row(answers: Array, made: ItemScores) -> Array:
    """The value of each arm in each row: the mean of its answers, or as the units weigh them."""
    units, arms = made.units, answers.shape[1]
    items = answers.reshape(-1, units.epochs, arms).sum(axis=1)
    if units.clusters is None:
        return np.asarray(items / units.epochs, np.float64)
    totals = np.zeros((made.items, arms))
    np.add.at(totals, list(units.clusters), items)
    counted = units.epochs * units.largest if units.weigh == ITEMS else made.answers[:, None]
    return np.asarray(np.minimum(totals / counted, 1.0), np.float64)


def from_table(
    table: Columns, within: Range | AnyNumbers, failures: str | float, unlimited: bool, fewest: int = 2
) -> Scores:
    """A table of scores: a row for each item and a column for each arm, or the columns by name."""
    columns = _columns("table", table, fewest)
    sizes = {name: values.size for name, values in columns.items()}
    if len(set(sizes.values())) > 1:
        raise InvalidInputError(
            f"a table must have a score of every arm on every item, got {_args.short(sizes)} scores; give "
            f"columns of one length, or pilot= for values that do not belong together."
        )
    items = _args.whole("items", next(iter(sizes.values())), 1, MOST_ITEMS, "they are the table's rows")
    given = np.stack(list(columns.values()), axis=1)
    for name, values in columns.items():
        within.check(values, f"for {name!r}")
    missing = np.isnan(given)
    if missing.any():
        given = _filled(given, missing, list(columns), within, failures)
    scores = within.mapped(given)
    low = high = scores
    if np.isnan(scores).any():
        low, high = (np.where(np.isnan(scores), end, scores) for end in within.ends)
    known = [column[~np.isnan(column)] for column in scores.T]
    means = [_mean(column[np.isfinite(column)]) for column in given.T]
    rounds = ItemScores(np.ascontiguousarray(low), np.ascontiguousarray(high), items, unlimited)
    return Scores(tuple(columns), np.array(means), rounds, {"rewards": known})


def _filled(
    given: Array,
    missing: npt.NDArray[np.bool_],
    names: list[str],
    within: Range | AnyNumbers,
    failures: str | float,
) -> Array:
    """The table with what a failure counts as; NaN where that is the worst case."""
    if failures == "repeat":
        item, arm = (int(i) for i in np.argwhere(missing)[0])
        raise InvalidInputError(
            f"a table must have a score in every cell, got {int(missing.sum())} without, the first for "
            f"{names[arm]!r} on item {item + 1}; fill them, or say what they count as: failures='worst', or "
            f"a score such as failures={within.least}."
        )
    if isinstance(failures, str):
        if missing.all(axis=0).any():
            name = names[int(np.argmax(missing.all(axis=0)))]
            raise InvalidInputError(
                f"every arm must have at least one score, got none for {name!r}; add one, or leave it out."
            )
        worst = math.inf if within.minimize else -math.inf
        return np.where(missing, worst, given) if failures == LOSS else given
    within.check(np.array([failures]), "for failures")
    return np.where(missing, failures, given)


def from_pilot(pilot: Columns | Sequence[npt.ArrayLike], within: Range, fewest: int = 2) -> Scores:
    """Values of each arm that do not belong together."""
    columns = _columns("pilot", pilot, fewest)
    for name, values in columns.items():
        if not values.size or np.isnan(values).any():
            raise InvalidInputError(
                f"a pilot must have one or more values of every arm, got "
                f"{'NaN' if values.size else 'none'} for {name!r}; add some, or leave it out."
            )
        within.check(values, f"for {name!r}")
    means = np.array([_mean(values) for values in columns.values()])
    return Scores(tuple(columns), means, None, {"rewards": [within.mapped(v) for v in columns.values()]})


def from_means(
    means: npt.ArrayLike,
    correlation: float | None,
    items: int | None,
    within: Range,
    seed: int,
    fewest: int = 2,
    epochs: int | None = None,
) -> Scores:
    """Successes of the given rates: independent ones, or on common items with a correlation.

    The answers of an arm to one item have no more in common than those of different arms: its difficulty.
    """
    rates = _args.per_arm("means", means, fewest)
    inside = (rates > 0.0) & (rates < 1.0)
    if rates.ndim != 1 or not inside.all() or (within.bounds.lo, within.bounds.hi) != (0.0, 1.0):
        raise InvalidInputError(
            f"means must be rates of success strictly between 0 and 1, one for each arm, with the bounds "
            f"(0, 1), got {_args.short(rates.tolist())} and ({within.bounds.lo:g}, {within.bounds.hi:g}); "
            f"for other scores give a table of some."
        )
    names = tuple(str(a + 1) for a in range(rates.size))
    upward = within.mapped(rates)
    if rates.size == 1 and (correlation is not None or items is not None):
        correlation = 0.0  # with no other arm
    if correlation is None:
        if items is not None:
            raise InvalidInputError(
                f"a set of items needs the correlation of scores on one item, got items {items!r} alone; "
                f"give correlation=0.6, say, or a table of scores."
            )
        return Scores(names, rates, None, {"means": upward, "rewards": "bernoulli"})
    wanted, each = _args.scalar("correlation", correlation), check_epochs(1 if epochs is None else epochs)
    size = POPULATION
    if items is not None:
        size = _args.whole("items", items, 1, MOST_ITEMS, "leave it out for an unlimited source")
    sets = 1 if items is None else min(max(POPULATION // size, 1), MOST_SETS)
    spread = spread_for(upward, wanted) if rates.size > 1 else 0.0
    table = np.concatenate([make_items(upward, spread, size, seed, which, each) for which in range(sets)])
    found = table.mean(axis=0)
    rounds = ItemScores(table, table, size * each, items is None)
    shown = 1.0 - found if within.minimize else found
    return Scores(names, shown, rounds, {"rewards": list(np.ascontiguousarray(table.T))})


def make_items(rates: Array, spread: float, items: int, seed: int, which: int, epochs: int = 1) -> Array:
    """A set of items, (items * epochs, K) of 0 and 1, with these rates of success as nearly as can be."""
    from scipy.special import logit, ndtri

    drawn = np.empty((items, epochs * rates.size + 1))
    with np.errstate(all="ignore"):  # uncompiled, arithmetic modulo 2**64 would warn
        fill_uniform(np.uint64(seed), np.uint64(which), np.empty(2, np.uint64), drawn)
    drawn += 2.0**-54  # so that none is 0 or 1
    ease = (spread * ndtri(drawn[:, :1]) + logit(drawn[:, 1:])).reshape(-1, rates.size)
    table = np.zeros(ease.shape)
    for a, rate in enumerate(rates):
        table[np.argsort(-ease[:, a], kind="stable")[: round(rate * len(table))], a] = 1.0
    return table


def spread_for(rates: Array, correlation: float) -> float:
    """The s with which the scores of the two best arms have this correlation."""
    most = model_correlation(rates, WIDEST)
    if not 0.0 <= correlation <= most:
        raise InvalidInputError(
            f"correlation must lie between 0 and {math.floor(1000 * most) / 1000:g}, which is the most for "
            f"the two best of these means, got {correlation:g}; 0.3 to 0.8 is common."
        )
    low, high = 0.0, WIDEST
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if model_correlation(rates, middle) < correlation else (low, middle)
    return high if correlation > 0.0 else 0.0


def model_correlation(rates: Array, spread: float) -> float:
    """The correlation of successes of the two best arms on a random item."""
    from scipy.special import expit, ndtri

    z = spread * ndtri((np.arange(NODES) + 0.5) / NODES)
    m = np.sort(rates)[-2:, None]
    low = np.full((2, 1), z[0] - 40.0)
    high = -low
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = expit(middle + z).mean(axis=1, keepdims=True) < m
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    p = expit(low + z)
    variances = m * (1.0 - m)
    return float(((p[0] * p[1]).mean() - m[0] * m[1])[0] / np.sqrt(variances[0] * variances[1])[0])


def observed_correlation(rounds: ItemScores) -> float:
    """Of the scores of the two best arms, where both are known; NaN if one of them is constant."""
    if rounds.low.shape[1] < 2:
        return math.nan
    first, second = np.argsort(-rounds.low.mean(axis=0), kind="stable")[:2]
    known = (rounds.low == rounds.high)[:, [first, second]].all(axis=1)
    x, y = rounds.low[known, first], rounds.low[known, second]
    if x.size < 2 or x.min() == x.max() or y.min() == y.max():
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])


def _columns(what: str, given: Any, fewest: int) -> dict[str, Array]:
    """The scores of each arm, by name."""
    if isinstance(given, Mapping):
        columns = {str(name): _args.numbers(what, values) for name, values in given.items()}
    elif what == "pilot":
        parts = list(given) if isinstance(given, list | tuple | np.ndarray) else []
        columns = {str(a + 1): _args.numbers(what, values) for a, values in enumerate(parts)}
    else:
        array = _args.numbers(what, given)
        flat = array.ndim != 2
        columns = {} if flat else {str(a + 1): column for a, column in enumerate(array.T)}
    if len(columns) < fewest or any(values.ndim != 1 for values in columns.values()):
        rows = "a row for each item with a score for each arm" if what == "table" else "values for each arm"
        raise InvalidInputError(
            f"{what} must have {rows}, of at least two arms, got {_args.short(given)}; give for example "
            f"{{'old': [1, 0, 1], 'new': [1, 1, 1]}}."
        )
    return columns


def _mean(values: Array) -> float:
    """Correctly rounded, so that equal sums are equal."""
    return math.fsum(values.tolist()) / values.size
