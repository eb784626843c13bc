"""Scores that are known before an experiment begins: of arms that are not asked, and of models beside them.

Scores are one number per item: a list in the order of the items; item -> score; the path of a file with an
id and a score per line; or another experiment on the same items that has an arm of that name, by itself or
by its name in the store, "prev", or an arm of another name, "prev:new" or (experiment, "new"). An
item that is a record is known by its `id`, any other one by itself, and one that is but a number by that.
The scores are stored with the experiment, with a hash of them.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .. import _args
from .._text import listed, plural
from ..designs.units import Units
from ..errors import InvalidInputError
from .events import ASKED, FAILED, RETRACTED, TOLD, Event
from .items import Items, ItemSet
from .names import check_name

ID, SCORE = "id", "score"  # columns of a file
_LISTED = (
    "one number per item in the order of the items, item -> number, a file with an id and a score per line, "
    "or an experiment of the store on these items"
)
_ADVICE = f"give {_LISTED}"


@dataclass(frozen=True)
class Known:
    """What is known of the items.

    scores  of every known arm, in the values' units
    exact   the same of arms of which some scores are means of several answers that are not decimals, as 2/3
    means   the mean score of the models beside them, the proxies; None without any
    models  how many these are
    digest  a hash of all that
    """

    scores: Mapping[str, tuple[float, ...]]
    means: tuple[float, ...] | None
    models: int
    digest: str
    exact: Mapping[str, tuple[Fraction, ...]] = field(default_factory=dict)

    @property
    def arms(self) -> tuple[str, ...]:
        """Whose scores are known."""
        return tuple(self.scores)

    @property
    def size(self) -> int:
        """How many items there are."""
        return len(next(iter(self.scores.values())))

    def summary(self, units: Units) -> dict[str, tuple[float, float | None]]:
        """The mean score of every known arm, and the standard deviation, of all that counts alike."""
        found = {}
        for arm, scores in self.scores.items():
            one = units.alike(np.array(scores))
            mean = math.fsum(one) / one.size
            found[arm] = mean, float(np.std(one, ddof=1)) if one.size > 1 else None
        return found

    def mean(self, arm: str, units: Units) -> Fraction | None:
        """The mean score of a known arm, exactly, of all that counts alike; None for any other arm."""
        if arm not in self.scores:
            return None
        scores = self.exact.get(arm) or map(_written, self.scores[arm])
        weights = map(units.weight, units.clusters or [None] * self.size)
        return sum(map(operator.mul, weights, scores), Fraction(0)) / units.count(self.size)

    def agrees(self, other: Known | None) -> bool:
        """Whether both are the same scores."""
        return other is not None and self.digest == other.digest

    def __str__(self) -> str:
        beside = f", beside those of {plural(self.models, 'proxy' if self.models == 1 else 'proxie')}"
        scores = f"scores of {', '.join(self.arms)} on {plural(self.size, 'item')}"
        return f"{scores}{beside if self.models else ''}, with the hash {self.digest[:8]}"


def check_known(given: Any, proxies: Any = None) -> Known | None:
    """What is kept of both, if it was not found before."""
    return find_known(given, proxies, None)


def find_known(given: Any, proxies: Any, items: Any) -> Known | None:
    """Scores as they were given, for items as they were given, None if they are not; checked."""
    if isinstance(given, Known) or (given is None and proxies is None):
        return given
    if not isinstance(given, Mapping) or not given:
        what = "proxies beside no known arm" if given is None else _args.short(given)
        raise InvalidInputError(
            f"known must be the scores of one or more arms that are not asked, by the arm's name, got "
            f"{what}; give for example known={{'old': scores}}."
        )
    ids = _Ids(items)
    names = {check_name("the name of an arm", arm): one for arm, one in given.items()}
    found = {
        arm: ids.scores(f"known {arm!r}", one) if source is None else _scores_in(*source, arm, ids)
        for arm, one in names.items()
        for source in (_source(arm, one),)
    }
    scores = {arm: tuple(map(float, one)) for arm, one in found.items()}
    exact = {arm: tuple(Fraction(x) for x in one) for arm, one in found.items() if not _are_doubles(one)}
    for arm, one in scores.items():
        wrong = [number for number, score in enumerate(one, 1) if not math.isfinite(score)]
        if wrong:
            raise InvalidInputError(
                f"known {arm!r} must have a finite score on every item, got {one[wrong[0] - 1]:g} on item "
                f"{wrong[0]} and {plural(len(wrong), 'such score')} in all; score these, or ask the arm."
            )
    rows = [] if proxies is None else _rows(proxies, ids)
    sizes = {len(one) for one in (*scores.values(), *rows)}
    if len(sizes) > 1:
        raise InvalidInputError(
            f"known scores must be of the same items, got {' and '.join(map(str, sorted(sizes)))} of them; "
            f"give one number per item for each."
        )
    means = _means(rows)
    return Known(scores, means, len(rows), _digest(scores, means, len(rows), exact), exact)


def _written(score: float) -> Fraction:
    """A score as it is written."""
    return Fraction(repr(score))


def _are_doubles(scores: Sequence[float | Fraction]) -> bool:
    """Whether doubles, as they are written, are these scores."""
    return all(not isinstance(one, Fraction) or _written(float(one)) == one for one in scores)


def known_record(known: Known | None) -> dict[str, Any] | None:
    """As it is stored."""
    if known is None:
        return None
    scores = {arm: list(one) for arm, one in known.scores.items()}
    means = None if known.means is None else list(known.means)
    record = {"scores": scores, "means": means, "models": known.models, "digest": known.digest}
    return record | ({"exact": _texts(known.exact)} if known.exact else {})


def _texts(exact: Mapping[str, Sequence[Fraction]]) -> dict[str, list[str]]:
    """As JSON can hold them."""
    return {arm: list(map(str, one)) for arm, one in exact.items()}


def recall_known(record: dict[str, Any] | None) -> Known | None:
    """As it was stored."""
    if record is None:
        return None
    scores = {arm: tuple(map(float, one)) for arm, one in record["scores"].items()}
    means = None if record["means"] is None else tuple(map(float, record["means"]))
    exact = {arm: tuple(map(Fraction, one)) for arm, one in record.get("exact", {}).items()}
    if record["digest"] != _digest(scores, means, record["models"], exact) or any(
        scores[arm] != tuple(map(float, one)) for arm, one in exact.items()
    ):
        raise ValueError("the scores are not those of the hash beside them")
    return Known(scores, means, record["models"], record["digest"], exact)


# -- other experiments -----------------------------------------------------------------------------------


@runtime_checkable
class Stored(Protocol):
    """An experiment, here or behind a server."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> Any: ...

    def events(self) -> Iterable[Event]: ...


def with_stored(
    given: Any,
    proxies: Any,
    names: Callable[[str], Iterable[str]],
    opened: Callable[[str], Stored],
    own: str,
) -> Any:
    """Known scores as they were given, with an experiment for its name; a file of that name comes first.

    names  those that contain a text, of the experiments that there are
    own    the one that is created, or resumed: it keeps its scores, also when their source is gone
    """
    if not isinstance(given, Mapping):
        return given
    found = {arm: _looked_up(arm, one, names, opened, own) for arm, one in given.items()}
    kept = [one for arm, one in found.items() if one is not given[arm] and getattr(one, "name", "") == own]
    if proxies is None and kept and len(kept) == len(found):
        known: Known | None = kept[0].settings.known
        if known is not None and set(known.arms) == set(found):
            return known
    return found


def _looked_up(
    arm: Any, one: Any, names: Callable[[str], Iterable[str]], opened: Callable[[str], Stored], own: str
) -> Any:
    """What one of them names."""
    if not isinstance(one, str | os.PathLike) or Path(one).is_file():
        return one
    text = os.fspath(one)
    if text in names(text):
        return opened(text)
    name, colon, theirs = text.rpartition(":")
    if colon and name in names(name):
        return opened(name), theirs
    if own in names(own):
        resumed = opened(own)
        if resumed.settings.known is not None and arm in resumed.settings.known.arms:
            return resumed
    return one


def _source(arm: str, given: Any) -> tuple[Stored, str] | None:
    """The experiment that has the scores of a known arm, and the name of the arm there; None for others."""
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Stored):
        return given[0], str(given[1])
    return (given, arm) if isinstance(given, Stored) else None


def _scores_in(experiment: Stored, theirs: str, arm: str, ids: _Ids) -> Sequence[float | Fraction]:
    """What an arm of an experiment, which has a name there, scores on each item of its closed set."""
    own, what = experiment.settings, f"the experiment {experiment.name!r}"
    if own.items is None or own.items.size is None:
        raise InvalidInputError(
            f"known {arm!r} must be scores on a closed set of items, got {what} on "
            f"{own.items or 'independent pulls'}; give one that has items=, a list, a file or a number."
        )
    if ids.set is not None and not ids.are(own.items):
        raise InvalidInputError(
            f"known {arm!r} must be scores on the same items, {ids.set}, got {what} on {own.items}; items "
            f"are the same if their hash is, or if all are known by their numbers alone, so score these "
            f"items, or give the scores themselves."
        )
    if theirs not in own.arms:
        raise InvalidInputError(
            f"known {arm!r} must be an arm of {what}, whose arms are {listed(own.arms)[:200]}, got "
            f"{theirs!r:.60}; say which one, like '{experiment.name}:{own.arms[0]}'."
        )
    if own.known is not None and theirs in own.known.scores:
        found: Sequence[float | Fraction] = own.known.exact.get(theirs) or own.known.scores[theirs]
        return found
    answers = _answers(experiment, theirs)
    missing = [place for place in range(own.items.size) if len(answers.get(place, ())) < own.epochs]
    if missing:
        first = (list(ids.places) or range(own.items.size))[missing[0]]
        raise InvalidInputError(
            f"known {arm!r} must have a score on each of the {own.items.size} items, got {what}, in which "
            f"{len(missing)} have none, the first {first!r:.60}; a run ends as soon as it is decided, so "
            f"score the rest and give them all, or ask the arm."
        )
    if own.epochs == 1:
        return tuple(answers[place][0] for place in range(own.items.size))
    return tuple(sum(map(_written, answers[place])) / Fraction(own.epochs) for place in range(own.items.size))


def _answers(experiment: Stored, arm: str) -> dict[int, list[float]]:
    """The values of an arm on each item, as they count: without those that were taken back."""
    items: dict[int, int] = {}
    values: dict[int, float | None] = {}
    for event in experiment.events():
        if event.arm != arm or event.pull is None:
            continue
        if event.kind == ASKED and event.data and event.data.get("item") is not None:
            items[event.pull] = event.data["item"]
        elif event.kind in (TOLD, RETRACTED):
            values[event.pull] = event.value
        elif event.kind == FAILED and not isinstance(experiment.settings.failures, str):
            values[event.pull] = experiment.settings.failures
    found: dict[int, list[float]] = {}
    for pull, value in values.items():
        if value is not None:
            found.setdefault(items[pull], []).append(value)
    return found


# -- by item ---------------------------------------------------------------------------------------------


class _Ids:
    """By what the items of a set are known."""

    def __init__(self, items: Any) -> None:
        self.set: ItemSet | None = None
        self.size: int | None = None
        self._numbered = False
        self._places: Callable[[], dict[str, int]] = dict
        if items is not None:
            own = Items(items)
            self.set, self.size, self._numbered = own.set, own.set.size, own.numbered
            self._places = lambda: {_name_of(item): place for place, item in enumerate(own.listed())}

    def are(self, others: ItemSet) -> bool:
        """Whether these are surely the items of another experiment."""
        assert self.set is not None
        same = self.size == others.size and self.set.digest == others.digest
        return same and (self.set.digest != "" or self._numbered)

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each item is."""
        return self._places()

    def scores(self, what: str, given: Any) -> tuple[float, ...]:
        """One number per item in the order of the items, nan for one that is missing; refuses others."""
        if isinstance(given, str | os.PathLike):
            given = read_scores(Path(given))
        if not isinstance(given, Mapping):
            return self._in_order(what, given)
        if not self.places:
            raise InvalidInputError(
                f"{what} has scores by item, and there are no items to find them by; give items=, too, or "
                f"one number per item in their order."
            )
        names = {_name_of(item): score for item, score in given.items()}
        strange = [name for name in names if name not in self.places]
        missing = [name for name in self.places if name not in names]
        if strange or missing:
            which = f"{len(missing)} without a score, the first {missing[0]!r:.60}" if missing else ""
            other = (
                f"{plural(len(strange), 'score')} of other items, the first {strange[0]!r:.60}"
                if strange
                else ""
            )
            raise InvalidInputError(
                f"{what} must have a score on each of the {len(self.places)} items and on no other, got "
                f"{' and '.join(filter(None, (which, other)))}; score what is missing, and remove the rest."
            )
        return self._in_order(what, [names[name] for name in self.places])

    def _in_order(self, what: str, given: Any) -> tuple[float, ...]:
        try:
            values = tuple(math.nan if one is None else float(one) for one in given)
        except (TypeError, ValueError):
            raise InvalidInputError(
                f"{what} must be {_LISTED}, got {_args.short(given)}; give one of these."
            ) from None
        if not values or (self.size is not None and len(values) != self.size):
            wanted = "one or more" if self.size is None else str(self.size)
            raise InvalidInputError(
                f"{what} must have one score per item, {wanted} of them, got {len(values)}; {_ADVICE}."
            )
        return values


def _name_of(item: Any) -> str:
    """What an item is known by."""
    found = item.get(ID, item) if isinstance(item, Mapping) else item
    return found if isinstance(found, str) else json.dumps(found, sort_keys=True, default=str)


def _rows(proxies: Any, ids: _Ids) -> list[tuple[float, ...]]:
    """The scores of models, one after the other."""
    if isinstance(proxies, str | os.PathLike):
        proxies = read_table(Path(proxies))
    given = list(proxies.values()) if isinstance(proxies, Mapping) else proxies
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InvalidInputError(
            f"proxies must be rows of stored scores, one row per model, got {_args.short(proxies)}; give a "
            f"list of lists, or a file with a column per model."
        )
    return [ids.scores(f"row {number} of proxies", row) for number, row in enumerate(given, 1)]


def _means(rows: Sequence[tuple[float, ...]]) -> tuple[float, ...] | None:
    """The mean score of models on every item; where none has one, the mean of all items."""
    if not rows:
        return None
    table = np.array(rows)
    if np.isinf(table).any() or np.isnan(table).all():
        raise InvalidInputError(
            "proxies must have finite scores, got inf or none at all; leave out what is not known."
        )
    known = ~np.isnan(table)
    counts, sums = known.sum(axis=0), np.where(known, table, 0.0).sum(axis=0)
    whole = float(sums.sum() / counts.sum())
    return tuple(np.where(counts > 0, sums / np.maximum(counts, 1), whole).tolist())


def _digest(
    scores: Mapping[str, Sequence[float]],
    means: Sequence[float] | None,
    models: int,
    exact: Mapping[str, Sequence[Fraction]],
) -> str:
    """A hash of all scores, of which none is rounded, and of what is made of the proxies'."""
    more = [_texts(exact)] if exact else []
    text = json.dumps([list(scores), [*map(list, scores.values())], means, models, *more])
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


# -- files ---------------------------------------------------------------------------------------------


def read_scores(path: Path) -> dict[str, float] | list[float]:
    """The scores in a file: JSON lines or CSV with an id and a score, or one number per line in order."""
    records = _records(path)
    if all(not isinstance(one, Mapping) for _, one in records):
        return [_number(path, line, one) for line, one in records]
    found: dict[str, float] = {}
    lines: dict[str, int] = {}
    for line, one in records:
        if not isinstance(one, Mapping) or one.get(ID) is None or one.get(SCORE) is None:
            raise InvalidInputError(
                f"line {line} of {str(path)!r} must have an {ID} and a {SCORE}, got {_args.short(one)}; "
                f'write it like {{"{ID}": "case 1", "{SCORE}": 1}}.'
            )
        name = _name_of(one)
        if name in found:
            raise InvalidInputError(
                f"lines {lines[name]} and {line} of {str(path)!r} are both scores of the item {name!r:.60}; "
                f"remove one of them."
            )
        found[name], lines[name] = _number(path, line, one[SCORE]), line
    return found


def read_table(path: Path) -> list[Any]:
    """The scores of models in a file: a line per item, with a column per model and perhaps one of ids."""
    records = _records(path)
    models: dict[str, None] = {}
    for line, one in records:
        if not isinstance(one, Mapping):
            raise InvalidInputError(
                f"line {line} of {str(path)!r} must have a score per model, by name, got {_args.short(one)}; "
                f"give CSV with a header, or JSON lines."
            )
        models |= dict.fromkeys(str(name) for name in one if name != ID)
    found = []
    for model in models:
        column = [
            (one.get(ID), math.nan if one.get(model) in (None, "") else _number(path, line, one[model]))
            for line, one in records
        ]
        by_id = all(name is not None for name, _ in column)
        found.append(
            {_name_of(name): score for name, score in column} if by_id else [score for _, score in column]
        )
    return found


def _records(path: Path) -> list[tuple[int, Any]]:
    """What a file has on each line, and the number of the line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInputError(
            f"cannot read the scores from {str(path)!r}: {reason}; name a file with an id and a score per "
            f"line, or one number per line in the order of the items, or an experiment of the store on them."
        ) from None
    if path.suffix.lower() in (".csv", ".tsv"):
        reader = csv.DictReader(lines, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
        return [(reader.line_num, row) for row in reader]
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append((number, json.loads(line)))
            except ValueError:
                raise InvalidInputError(
                    f"line {number} of {str(path)!r} must be a number or a record in JSON, got "
                    f"{_args.short(line)}; {_ADVICE}."
                ) from None
    return found


def _number(path: Path, line: int, given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"line {line} of {str(path)!r} must have a number as its {SCORE}, got {_args.short(given)}; "
            f"correct it."
        ) from None
