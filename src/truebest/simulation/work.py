"""What is simulated, under any design: the call as it was given, and the runs that a design makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol, TypedDict

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from ..designs import COMPARED, MEANS, kind_of
from ..questions import Question
from ..strategies import Strategy
from ..theory.models import Model
from ..theory.stopping import StoppingRule

Indices = npt.NDArray[np.int64]


class Part(NamedTuple):
    """Some consecutive runs.

    first    the number of the first
    samples  (runs, risks) how many samples each took
    arms     (runs, risks) the arm that each recommended; where it was cut off, UNFINISHED less the arm that
             led, or NO_ARM where none is known
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
        """The seed of the rewards."""

    @property
    def endless(self) -> str | None:
        """What may never end, for a warning; None where runs are cut off."""

    def prepare(self) -> None:
        """Compile what runs need, so that no run has to wait for it."""

    def room(self, signals: Indices | None = None) -> Any:
        """Room for one thread."""

    def part(self, first: int, runs: int, room: Any) -> Part:
        """So many runs from `first` on; fewer if the signals cancel it."""

    def steps(self, run: int, room: Any, known: Part, judged: bool) -> Steps:
        """One run step by step, of which the part is known; unless `judged`, the statistic may be NaN."""


class Ways(TypedDict, total=False):
    """What `simulate` and `trace` take besides strategies, means and delta; see `simulate`."""

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
    epochs: int | None
    clusters: Sequence[Any] | None
    weigh: str | None


USUAL: Ways = {
    "rewards": "gaussian",
    "noise": 1.0,
    "tolerance": 0.0,
    "compare": MEANS,
    "failures": "repeat",
}  # what is not given, and not None


class Given(NamedTuple):
    """What is given about runs, unchecked, with defaults for what is not."""

    strategies: str | Strategy | Sequence[str | Strategy] | None
    delta: float | Sequence[float]
    ways: Ways


class Works(NamedTuple):
    """What a design makes of a call.

    jobs      of each bandit; all bandits have the same strategies, or none, and the same risks
    deltas    the risks as they were given
    settings  all that a run depends on but its number, the seed and the version: plain values
    """

    jobs: list[list[Work]]
    deltas: tuple[float, ...]
    settings: dict[str, Any]


def make_works(
    function: str,
    strategies: str | Strategy | Sequence[str | Strategy] | None,
    bandits: Sequence[npt.ArrayLike | None],
    delta: float | Sequence[float],
    seed: int,
    ways: Ways,
) -> Works:
    """The runs of a call of that function, of which each bandit has these means.

    Raises  InvalidInputError for what cannot be simulated
    """
    _args.known_arguments(function, ways, tuple(Ways.__annotations__))
    whole: Ways = {**dict.fromkeys(Ways.__annotations__), **USUAL, **ways}  # type: ignore[typeddict-item]
    _args.choice("compare", whole["compare"], COMPARED)
    design = kind_of(whole)
    module, name = design.runs
    make = getattr(import_module(f".{module}", __package__), name)
    found: Works = make(design, Given(strategies, delta, whole), bandits, seed)
    return found
