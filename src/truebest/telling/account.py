"""Where an experiment stands, as values that every surface takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from . import columns, words
from .answers import Answer, Best, Open, Suspended, Undecided, UsedUp, Within
from .plain import from_plain, to_plain
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
