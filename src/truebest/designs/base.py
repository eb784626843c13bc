"""What all designs have: everything that depends on what one sample is, or where that is found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from decimal import ROUND_CEILING
from typing import Any, ClassVar, Protocol

from .._text import exactly, plural, rounded
from ..questions import Question
from ..theory.models import Model, Values
from ..theory.stopping import StoppingRule
from .units import Units

MEANS, WINS = COMPARED = "means", "wins"  # by which arms are compared


class Terms(Protocol):
    """What a design reads of an experiment's settings."""

    @property
    def arms(self) -> tuple[str, ...]: ...
    @property
    def delta(self) -> float: ...
    @property
    def values(self) -> Values: ...
    @property
    def model(self) -> Model: ...
    @property
    def stopping(self) -> StoppingRule | None: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def order(self) -> str: ...
    @property
    def items(self) -> Any: ...
    @property
    def known(self) -> Any: ...
    @property
    def failures(self) -> str | float: ...
    @property
    def minimize(self) -> bool: ...
    @property
    def direct(self) -> bool: ...
    @property
    def sampled(self) -> bool: ...
    @property
    def epochs(self) -> int: ...
    @property
    def weigh(self) -> str: ...
    @property
    def largest(self) -> int | None: ...
    @property
    def question(self) -> Question: ...
    @property
    def chosen(self) -> Any: ...


class Design(ABC):
    """What one sample is, and all that depends on it: one of `DESIGNS`.

    state        the module and the class, in `experiment`, of what follows from a log; loaded when needed,
                 since states import settings
    runs         the module and the function, in `simulation`, that makes its runs; loaded when needed, too
    only_asked   whether a value from before belongs to none of its samples
    steered      whether a strategy chooses the arms and a rule stops; otherwise the design does both
    averages     whether means are compared
    items        how many items there are in a closed set that the arms share; None for no such set
    failures     what counts in the place of a value that an arm does not give; "repeat" asks for it again
    """

    state: ClassVar[tuple[str, str]]
    runs: ClassVar[tuple[str, str]]
    only_asked: ClassVar[bool] = True
    steered: ClassVar[bool] = False
    averages: ClassVar[bool] = True
    items: int | None = None
    failures: str | float = "repeat"

    does: ClassVar[str] = "is better by"  # the leader, in the title of a column
    behind: ClassVar[str] = "behind by"  # another arm
    units: Units = Units()  # what a row is made of
    scale: ClassVar[str] = "difference of means, in the values' units"
    control_scale: ClassVar[str] = "better than the control"
    measures: ClassVar[str] = (
        "By how much the leader is better than each other option, in the values' own units"
    )

    @property
    def place(self) -> tuple[str, str]:
        """Where the state of an experiment is found."""
        return self.state

    # -- settings --------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def is_meant(cls, kept: Mapping[str, Any]) -> bool:
        """Whether settings, by field, are of this design."""

    @classmethod
    @abstractmethod
    def of(cls, settings: Terms) -> Design:
        """The design of these settings."""

    @classmethod
    def usual(cls, kept: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG003
        """Settings, by field, that follow from those that are given; refuses some beside each other."""
        return {}

    @abstractmethod
    def complete(self, settings: Terms, given: Collection[str]) -> StoppingRule | None:
        """The stopping rule, None for the design's own; refuses settings that it has no use for.

        given  the fields that were given, and did not take their default
        """

    def misfit(self, settings: Terms) -> str:
        """Why settings that were stored cannot be of this design; "" if they can."""
        if self.steered and settings.stopping is None:
            return "independent pulls need a strategy and a stopping rule"
        if not self.steered and settings.stopping is not None:
            return "rounds have a strategy and a rule of their own"
        modelled = isinstance(settings.values, Model)
        return "" if modelled == self.averages else "means need a model of the values, and wins have none"

    # -- words -----------------------------------------------------------------------------------------

    @abstractmethod
    def assumes(self, settings: Terms) -> str:
        """For which values the promise holds, and under which assumption."""

    def subject_words(self, settings: Terms) -> str:  # noqa: ARG002
        """What an answer about a closed set is about."""
        return ""

    @property
    def failure_words(self) -> str:
        """What became of values that were not given; "" if they were asked for again."""
        return ""

    def best_words(self, rival: str) -> str:  # noqa: ARG002
        """What the best arm is; the rival is the only other arm, or "each other arm"."""
        return "is best"

    def within_words(self, tolerance: float) -> str:
        """What an arm is that is good enough."""
        return f"is {self.near_words(tolerance)}"

    def near_words(self, tolerance: float) -> str:
        """The same in few words, for a headline."""
        return f"within {exactly(tolerance)} of the best"

    def shortfall_words(self, distance: float, side: str) -> str:
        """How far the leader can be from the best: above or below it."""
        return f"is at most {rounded(distance, ROUND_CEILING)} {side} the best"

    def spent_words(self, samples: int, rounds: int | None) -> str:  # noqa: ARG002
        """What it took."""
        return plural(samples, "sample")

    def lead_words(self, interval: str, won: int | None, lost: int | None) -> str:  # noqa: ARG002
        """By how much the leader is better than an arm."""
        return interval

    def which_words(self, side: str) -> str:
        """Which values are good: smaller or larger ones."""
        return f"A {side} mean is better."

    def sought_words(self, side: str) -> str:
        """What is looked for: the smallest or the largest."""
        return f"the {side} mean"

    @property
    def pull_fields(self) -> tuple[str, ...]:
        """What a pull has besides its id, arm, seed and deadline."""
        return ()

    @property
    def set_words(self) -> str:
        """How many items there are in the closed set."""
        return f"{self.items} items"

    @property
    def condition_words(self) -> str:
        """What must be true of the samples, as the end of a sentence."""
        return "the samples of an option are independent of each other and have the same mean throughout"
