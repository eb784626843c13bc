"""What is simulated, under any design: the call as it was given, and the runs that a design makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from .. import _door
from .._door import Array
from ..designs import COMPARED, kind_of
from ..questions import Question
from ..strategies import Strategy
from ..theory.models import Model
from ..theory.stopping import StoppingRule

Indices = npt.NDArray[np.int64]


class Part(NamedTuple):
    """Some consecutive runs.

    first    the number of the first
    samples  (runs, risks) how many samples each took
    arms     (runs, risks) the arm that each recommended; where it was cut off, -2 less the arm that led, or
             -1 where none is known
    pulls    (risks, K) the pulls of all of them together
    """

    first: int
    samples: Indices
    arms: Indices
    pulls: Array

    @property
    def runs(self) -> int:
        """How many runs."""
        return len(self.samples)


class Steps(NamedTuple):
    """One run step by step, as in `Trace`."""

    time: Indices
    arm: Indices
    pulls: Array
    means: Array
    statistic: Array
    threshold: Array
    target: Array | None = None
    lower: Array | None = None
    upper: Array | None = None


class Work(Protocol):
    """Runs as a specification, such as a `Job`: run i is a function of it and of i."""

    @property
    def name(self) -> str:
        """What tables call the strategy."""

    @property
    def rule_name(self) -> str:
        """What tables call the rule."""

    @property
    def deltas(self) -> tuple[float, ...]:
        """The risks, whose runs share trajectories."""

    @property
    def num_arms(self) -> int:
        """How many arms."""

    @property
    def best(self) -> frozenset[int]:
        """The answers that are right: arms, or `RIGHT` if runs answer that."""

    @property
    def names_arms(self) -> bool:
        """Whether runs answer with an arm, as opposed to `RIGHT` or `WRONG`."""

    @property
    def seed(self) -> int:
        """Of the rewards."""

    @property
    def endless(self) -> str | None:
        """What may never end, for a warning; None where runs are cut off."""

    def prepare(self) -> None:
        """Compile what runs need, so that no run has to wait for it."""

    def room(self, signals: Indices | None = None) -> Any:
        """Room for one thread."""

    def part(self, first: int, runs: int, room: Any) -> Part:
        """So many runs from `first` on; fewer if the signals cancel it."""

    def steps(self, run: int, room: Any, known: Part) -> Steps:
        """One run step by step, of which the part is known."""


class Given(NamedTuple):
    """What `simulate` and `trace` are given about runs, as it is given; None for a default."""

    strategies: str | Strategy | Sequence[str | Strategy] | None
    delta: float | Sequence[float]
    rewards: str | Sequence[npt.ArrayLike]
    noise: npt.ArrayLike
    sigma: float | Sequence[float] | None
    model: Model | None
    stopping: str | StoppingRule | None
    tolerance: float
    question: Question | None
    max_samples: int | None
    items: float | None
    correlation: float | None
    compare: str
    failures: str | float


class Works(NamedTuple):
    """What a design makes of a call.

    jobs      of each bandit; all bandits have the same strategies, or none, and the same risks
    deltas    the risks as they were given
    settings  all that a run depends on but its number, the seed and the version: plain values
    """

    jobs: list[list[Work]]
    deltas: tuple[float, ...]
    settings: dict[str, Any]


def make_works(given: Given, bandits: Sequence[npt.ArrayLike | None], seed: int) -> Works:
    """The runs of a call, of which each bandit has these means; InvalidInputError for what cannot be."""
    compared = _door.choice("compare", given.compare, COMPARED)
    design = kind_of({"items": given.items, "compare": compared})
    module, name = design.runs
    found: Works = getattr(import_module(f".{module}", __package__), name)(design, given, bandits, seed)
    return found
