"""Parts of a job's runs come in, in any order; what counts is the longest prefix without a gap.

The runs that happen to finish first are the short ones, so an interrupted simulation that kept whatever was
there would be biased.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from .._door import Array
from .job import Indices, Part
from .pooling import pooled_cells
from .results import Cell
from .summary import Summary, cut_off_leaders

RUNS, SUMMARY = "runs", "summary"
KEPT = (RUNS, SUMMARY)


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
        """The arms that are right answers."""

    @property
    def seed(self) -> int:
        """Of the rewards."""

    @property
    def endless(self) -> str | None:
        """What may never end, for a warning; None where runs are cut off."""

    def room(self, signals: Indices) -> Any:
        """Room for one thread."""

    def part(self, first: int, runs: int, room: Any) -> Part:
        """So many runs from `first` on; fewer if the signals cancel it."""


Spec = TypeVar("Spec", bound=Work)


class Gathered(Generic[Spec]):
    """What the runs first, first+1, ... of a job found; they are given out here, and their parts handed in.

    wanted  how many runs
    before  cells of earlier runs, one for each risk, which these continue
    keep    "runs": every run's samples and arm; "summary": counts, sums and a histogram
    """

    def __init__(self, job: Spec, first: int, wanted: int, keep: str, before: Sequence[Cell] = ()) -> None:
        self.job, self.first, self.wanted, self.keep, self.before = job, first, wanted, keep, before
        self.runs, self.given, self.chunk = 0, 0, 1
        self._waiting: dict[int, Part] = {}
        self._parts: list[Part] = []
        shape = len(job.deltas), job.num_arms
        self._pulls: Array = np.zeros(shape)
        self._summaries = [Summary.empty(job.num_arms) for _ in job.deltas]

    def give(self, most: int) -> tuple[int, int]:
        """The next runs to do: the number of the first, and how many; none if all are given out."""
        size = min(most, self.wanted - self.given)
        self.given += size
        return self.first + self.given - size, size

    def add(self, part: Part) -> None:
        """Take in a part, and all that waited for it."""
        self._waiting[part.first] = part
        while (found := self._waiting.pop(self.first + self.runs, None)) is not None:
            self.runs += found.runs
            self._pulls += found.pulls
            if self.keep == RUNS:
                self._parts.append(found)
            else:
                self._summaries = [
                    one + Summary.of(found.samples[:, j], found.arms[:, j], self.job.num_arms)
                    for j, one in enumerate(self._summaries)
                ]

    def cells(self, bandit: int | None) -> list[Cell]:
        """One for each risk, in the order of the job; with the runs that it continues."""
        found = self._new_cells(bandit)
        if not self.before:
            return found
        whole = [pooled_cells(old, new) for old, new in zip(self.before, found, strict=True)]
        return [replace(cell, complete=new.complete) for cell, new in zip(whole, found, strict=True)]

    def _new_cells(self, bandit: int | None) -> list[Cell]:
        job = self.job
        return [
            Cell(
                job.name,
                delta,
                job.rule_name,
                self._column("samples", j),
                np.maximum(self._column("arms", j), -1),
                self._pulls[j] / max(self.runs, 1),
                job.best,
                job.seed,
                self.runs == self.wanted,
                bandit,
                ((job.seed, self.first, self.runs),),
                None if self.keep == RUNS else self._summaries[j],
                cut_off_leaders(self._column("arms", j)),
            )
            for j, delta in enumerate(job.deltas)
        ]

    def _column(self, name: str, j: int) -> Indices:
        """One of the risks of all parts that were kept."""
        columns = [getattr(part, name)[:, j] for part in self._parts]
        return np.concatenate(columns) if columns else np.zeros(0, dtype=np.int64)
