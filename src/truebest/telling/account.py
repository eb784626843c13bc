"""Where an experiment stands, as values that every surface takes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Self, get_args, get_origin, get_type_hints

from . import columns, words
from .answers import Answer, Best, Open, Suspended, Undecided, UsedUp, Within
from .standings import Population, Progress, Promise, Setup, Standing, per_arm


@dataclass(frozen=True)
class Account:
    """What is known of an experiment at one moment, about the results that the decision may use so far.

    Attributes
    ----------
    settings
        what it was created with
    answer
        what was found (`Best`, `Within`, `Tied`, `NoWinner`, `Verdicts`), or why nothing was (`Undecided`,
        `UsedUp`, `Stopped`, `Suspended`)
    standings
        a `Standing` per arm, in the order of the arms; account["name"] is one of them
    population
        what holds for items like these, apart from the answer; None unless that is asked
    """

    name: str
    settings: Setup
    answer: Answer
    standings: tuple[Standing, ...]
    promise: Promise
    progress: Progress
    population: Population | None = None

    def __getitem__(self, arm: str) -> Standing:
        return self.standings[self.settings.arms.index(arm)]

    @property
    def decided(self) -> bool:
        """Whether what was asked is answered: such as which arm is best, or that none is."""
        return not isinstance(self.answer, Open)

    @property
    def over(self) -> bool:
        """Whether it is decided, or was stopped."""
        return not isinstance(self.answer, Undecided | UsedUp | Suspended)

    @property
    def best(self) -> str | None:
        """The arm that was found to be the best; never a guess."""
        return self.answer.arm if isinstance(self.answer, Best) else None

    @property
    def leader(self) -> str | None:
        """The best arm, or the one that looks best so far."""
        return self.answer.leader if isinstance(self.answer, Open) else self.best

    @property
    def centre(self) -> str | None:
        """The arm that the others are compared with: the leader, or the one that the question names."""
        asked, arms = per_arm(self.settings), self.settings.arms
        if asked is None:
            return self.leader
        return arms[asked.reference(arms)] if asked.reference(arms) >= 0 else None

    @property
    def shortfall(self) -> float | None:
        """How far below the best the leader can be, at most; None if nothing is proven."""
        if isinstance(self.answer, Open):
            return self.answer.within
        if self.promise.bound is None or self.best is None:
            return None
        return self.answer.tolerance if isinstance(self.answer, Within) else 0.0

    @property
    def samples(self) -> int:
        """How many results the decision is, or will be, based on."""
        return self.progress.samples

    @property
    def pulls(self) -> dict[str, int]:
        """The same per arm."""
        return {one.arm: one.samples for one in self.standings}

    @property
    def means(self) -> dict[str, float | None]:
        """The observed mean per arm; None without values."""
        return {one.arm: one.mean for one in self.standings}

    @property
    def sentence(self) -> str:
        """Where the experiment stands, in one sentence."""
        return words.sentence(self)

    def __str__(self) -> str:
        return self.sentence

    def table(self, between: bool = False) -> tuple[list[str], list[list[str]]]:
        """Header and rows for a person: the leader first, then the others by mean.

        Parameters
        ----------
        between
            whether to show where the means lie, too
        """
        return columns.table(self, between)

    def to_markdown(self) -> str:
        """The sentence and the table, as Markdown."""
        return columns.as_markdown(self)

    def to_frame(self) -> Any:
        """A pandas DataFrame, one row per arm; needs pandas."""
        return columns.as_frame(self)

    def _repr_html_(self) -> str:
        return columns.as_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON can hold them; an infinite end of an interval is None."""
        said = {"best": self.best, "decided": self.decided, "sentence": self.sentence}
        return {**said, **to_plain(self)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], settings: Setup) -> Self:
        """The inverse; what it does not know is left out.

        Parameters
        ----------
        record
            as `to_dict` gives it
        settings
            of the experiment, whose record is in it
        """
        found: Self = from_plain(cls, {**record, "settings": settings})
        return found


# -- records as JSON holds them: infinity, which it does not have, is None ----------------------------------


def to_plain(value: Any) -> Any:
    """Plain values: an object for a record, with its `kind` for an answer."""
    if hasattr(value, "to_record"):
        return value.to_record()
    if is_dataclass(value):
        found = {one.name: to_plain(getattr(value, one.name)) for one in fields(value)}
        return {"kind": _kind(type(value)), **found} if isinstance(value, Answer) else found
    if hasattr(value, "_asdict"):
        return {name: to_plain(one) for name, one in value._asdict().items()}
    if isinstance(value, tuple):
        return [to_plain(one) for one in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def from_plain(hint: Any, value: Any) -> Any:
    """The inverse, for what a type hint says; what it does not know of is left out."""
    if isinstance(hint, UnionType):
        options = [one for one in get_args(hint) if one is not type(None)]
        if value is None:
            return None
        kind = value.get("kind") if isinstance(value, dict) else None
        return from_plain(next((one for one in options if _kind(one) == kind), options[0]), value)
    if get_origin(hint) is tuple:
        inner = get_args(hint)
        each = inner[:1] * len(value) if inner[-1] is ... else inner
        return tuple(from_plain(one, part) for one, part in zip(each, value, strict=True))
    if isinstance(value, dict):
        hints, kept = _hints(hint), {}
        for name in hints.keys() & value.keys():
            if value[name] is not None or isinstance(hints[name], UnionType):
                kept[name] = from_plain(hints[name], value[name])
        return hint(**kept)
    return hint(value) if isinstance(hint, type) and issubclass(hint, Enum) else value


@cache
def _hints(record: type) -> dict[str, Any]:
    return get_type_hints(record)


def _kind(answer: Any) -> str:
    """Undecided is "undecided", NoWinner "no_winner"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", getattr(answer, "__name__", "")).lower()
