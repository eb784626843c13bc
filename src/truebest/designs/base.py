"""What all designs have: everything that depends on what one sample is, or where that is found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Protocol

from ..questions import Question
from ..theory.models import Model, Values
from ..theory.stopping import StoppingRule

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
    def failures(self) -> str | float: ...
    @property
    def direct(self) -> bool: ...
    @property
    def question(self) -> Question: ...
    @property
    def chosen(self) -> Any: ...


class Design(ABC):
    """What one sample is, and all that depends on it: one of `DESIGNS`.

    state        the module and the class, in `experiment`, of what follows from a log; loaded when needed,
                 since states import settings
    pull_fields  what a pull has besides its id, arm, seed and deadline
    only_asked   whether a value from before belongs to none of its samples
    steered      whether a strategy chooses the arms and a rule stops; otherwise the design does both
    items        how many items there are in a closed set that the arms share; None for no such set
    failures     what counts in the place of a value that an arm does not give; "repeat" asks for it again
    """

    state: ClassVar[tuple[str, str]]
    pull_fields: ClassVar[tuple[str, ...]] = ()
    only_asked: ClassVar[bool] = True
    steered: ClassVar[bool] = False
    items: int | None = None
    failures: str | float = "repeat"

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

    # -- words -----------------------------------------------------------------------------------------

    @abstractmethod
    def assumes(self, settings: Terms) -> str:
        """For which values the promise holds."""

    @property
    def failure_words(self) -> str:
        """What became of values that were not given; "" if they were asked for again."""
        return ""
