"""The items that arms are compared on: a closed set, or an unlimited source.

    a number           so many items, known by their index, 0, 1, ...
    a list             the items themselves; a table of pandas is a list of its rows
    a path             one item a line: JSON lines, a JSON list, CSV with a header, or text
    a function, inf    an unlimited source: draw(rng) -> item, or the workers draw it themselves

An experiment keeps how many there are and a hash of them, so that a set that has changed is noticed.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import _args
from .._text import plural
from ..designs.rounds import KNOWN_VERSION, MOST_ITEMS, VERSION
from ..errors import InvalidInputError, StoreError
from .pulls import Pull, pull_seed

_WHAT = "a number of items, a list of them, a file with one per line, or a function of rng that draws one"
_ITEM_KEY = 0x2545F4914F6C  # so that the seed of an item is that of no pull


class ItemSet(NamedTuple):
    """What is stored of the items.

    size          how many, None for an unlimited source
    digest        a hash of them, "" if it is unknown
    rule_version  of the rule for rounds by which they are judged; stored as "version"
    clusters      of each item the number of its cluster, from 0 on; None if they are not in clusters
    """

    size: int | None
    digest: str = ""
    rule_version: int = VERSION
    clusters: tuple[int, ...] | None = None

    def agrees(self, other: ItemSet) -> bool:
        """Whether these may be the items that are given; how they cluster may be left out."""
        same = self.digest == other.digest or not (self.digest and other.digest)
        return self.size == other.size and same and other.clusters in (None, self.clusters)

    def __str__(self) -> str:
        if self.size is None:
            return "an unlimited source of items"
        clusters = "" if self.clusters is None else f" in {plural(max(self.clusters) + 1, 'cluster')}"
        return f"{self.size} items{clusters}" + (f" with the hash {self.digest[:8]}" if self.digest else "")


class Items:
    """Items as they were given, see the module; `set` is what is stored of them."""

    set: ItemSet

    def __init__(self, given: Any) -> None:
        self._values: list[Any] | None = None
        self._draw: Callable[..., Any] | None = None
        self._drawn: dict[int, Any] = {}
        if isinstance(given, Items):
            self._values, self._draw, self.set = given._values, given._draw, given.set
        elif isinstance(given, ItemSet):
            self.set = given
        elif callable(given):
            self._draw, self.set = given, ItemSet(None)
        elif isinstance(given, float) and given == math.inf:
            self.set = ItemSet(None)
        elif isinstance(given, int | np.integer) and not isinstance(given, bool):
            self.set = ItemSet(
                _args.whole("items", int(given), 1, MOST_ITEMS, "it is how many items there are")
            )
        else:
            self._values = _listed(given)
            self.set = ItemSet(len(self._values), _digest(self._values))

    @property
    def numbered(self) -> bool:
        """Whether an item of a closed set is known by its number alone."""
        return self._values is None and self._draw is None

    def listed(self) -> list[Any]:
        """The items of a closed set in their order, by their index if nothing else is known of them."""
        return self._values if self._values is not None else list(range(self.set.size or 0))

    def clustered(self, key: str | Callable[[Any], Any]) -> tuple[int, ...]:
        """Of each item the number of its cluster, in the order in which they first appear."""
        if self._values is None:
            raise InvalidInputError(
                "cluster= needs the items themselves, as a list or a file, to see which belong together, got "
                f"{self.set}; give the list, or leave cluster out."
            )
        numbers: dict[str, int] = {}
        return tuple(
            numbers.setdefault(_label(key, item, number), len(numbers))
            for number, item in enumerate(self._values, 1)
        )

    def of(self, pull: Pull, seed: int) -> Any:
        """The item of a pull, of an experiment with that seed: the same for all arms of a round."""
        if self._values is not None:
            assert pull.item is not None
            return self._values[pull.item]
        if self._draw is None:
            return pull.item
        assert pull.round is not None
        if pull.round not in self._drawn:
            if len(self._drawn) > 10_000:
                self._drawn.clear()
            self._drawn[pull.round] = self._drawn_by(self._draw, pull.round, seed)
        return self._drawn[pull.round]

    @staticmethod
    def _drawn_by(draw: Callable[..., Any], number: int, seed: int) -> Any:
        try:
            return draw(np.random.default_rng([seed, number]))
        except (StopIteration, IndexError) as error:
            raise InvalidInputError(
                f"the source of items ran out in round {number} ({type(error).__name__}: {error}); a "
                f"function must draw items for ever, at random, with repeats; for a closed set give a list."
            ) from error


def check_items(given: Any, cluster: Any = None) -> ItemSet | None:
    """What is stored of the items; None for none."""
    if given is None:
        if cluster is not None:
            raise InvalidInputError(
                f"cluster={_args.short(cluster)} says how items belong together; give items=."
            )
        return None
    items = Items(given)
    return items.set if cluster is None else items.set._replace(clusters=items.clustered(cluster))


def items_record(items: ItemSet | None) -> dict[str, Any] | None:
    """As it is stored."""
    if items is None:
        return None
    record = {"size": items.size, "digest": items.digest, "version": items.rule_version}
    return record if items.clusters is None else {**record, "clusters": items.clusters}


def recall_items(record: dict[str, Any] | None) -> ItemSet | None:
    """As it was stored."""
    if record is None:
        return None
    if record["version"] not in range(1, KNOWN_VERSION + 1):
        raise StoreError(
            f"the experiment was created with version {record['version']} of the rule for rounds, and this "
            f"truebest knows 1 to {KNOWN_VERSION}; resume it with the truebest that created it, or a newer "
            "one"
        )
    clusters = record.get("clusters")
    found = ItemSet(record["size"], record["digest"], record["version"], clusters and tuple(clusters))
    if found.clusters is not None and not _are_clusters(found.clusters, found.size):
        raise TypeError("clusters must number the items' clusters in the order in which they first appear")
    return found


def _are_clusters(clusters: tuple[Any, ...], size: int | None) -> bool:
    """Whether it is a number for each item, from 0 on, in the order in which they first appear."""
    most = -1
    for one in clusters:
        if type(one) is not int or not 0 <= one <= most + 1:
            return False
        most = max(most, one)
    return len(clusters) == size


def _label(key: str | Callable[[Any], Any], item: Any, number: int) -> str:
    """What an item has in common with those of its cluster, as a text."""
    if callable(key):
        label = key(item)
    elif not isinstance(key, str) or not isinstance(item, Mapping) or key not in item:
        raise InvalidInputError(
            f"cluster must be a key that every item has, or a function of an item, got {_args.short(key)}, "
            f"and item {number} is {_args.short(item)}; correct it, or give another key."
        )
    else:
        label = item[key]
    try:
        return json.dumps(label, sort_keys=True)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"cluster must give a text, a number or another plain value for every item, got "
            f"{_args.short(label)} for item {number}; give a name or a number for each cluster."
        ) from None


def item_seed(seed: int, number: int) -> int:
    """The seed of a round's item, where the source is unlimited: 31 bits, another for every round."""
    return pull_seed(seed ^ _ITEM_KEY, number)


def _listed(given: Any) -> list[Any]:
    where = ""
    if isinstance(given, str | os.PathLike):
        values, where = _read(Path(given)), f" in {str(given)!r}"
    elif hasattr(given, "to_dict") and hasattr(given, "columns"):
        values = given.to_dict("records")
    elif isinstance(given, Iterable) and not isinstance(given, bytes | dict):
        values = list(given)
    else:
        raise InvalidInputError(f"items must be {_WHAT}, got {_args.short(given)}; give one of these.")
    if not 1 <= len(values) <= MOST_ITEMS:
        found = len(values) or "none"
        raise InvalidInputError(
            f"there must be 1 to {MOST_ITEMS} items, got {found}{where}; give at least one."
        )
    return values


def _read(path: Path) -> list[Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInputError(
            f"cannot read the items from {str(path)!r}: {reason}; name a file with one item per line, or "
            f"give how many there are."
        ) from None
    kind = path.suffix.lower()
    lines = text.splitlines()
    if kind == ".json":
        values = _parsed(path, 1, text)
        if not isinstance(values, list):
            raise InvalidInputError(
                f"{str(path)!r} must hold a JSON list of items, got {_args.short(values)}; put them in [ ]."
            )
        return values
    if kind in (".jsonl", ".ndjson"):
        return [_parsed(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if kind in (".csv", ".tsv"):
        return list(csv.DictReader(lines, delimiter="\t" if kind == ".tsv" else ","))
    return [line for line in lines if line.strip()]


def _parsed(path: Path, number: int, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidInputError(
            f"line {number} of {str(path)!r} is not valid JSON ({error}); give one JSON value per line."
        ) from None


def _digest(values: list[Any]) -> str:
    """A hash of the items in their order, "" if some are no plain values; refuses two that are equal."""
    try:
        texts = [json.dumps(value, sort_keys=True) for value in values]
    except (TypeError, ValueError):
        return ""
    seen: dict[str, int] = {}
    for number, text in enumerate(texts, 1):
        if text in seen:
            raise InvalidInputError(
                f"items must differ, but numbers {seen[text]} and {number} are equal: {_args.short(text)}; "
                f"remove one, or number them if it is to count twice."
            )
        seen[text] = number
    return hashlib.blake2b("\n".join(texts).encode(), digest_size=16).hexdigest()
