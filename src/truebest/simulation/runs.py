"""Runs of a simulation: as they come in, put together with others, continued, and in a file.

Parts of a job's runs come in, in any order; what counts is the longest prefix without a gap: the runs that
happen to finish first are the short ones, so an interrupted simulation that kept whatever was there would be
biased. What was done in pieces equals what was done at once.

A *span* is (seed, the number of the first run, how many). Runs are kept in the order of their spans, and
spans that meet become one.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from .._args import Array
from .._files import write_whole
from .._former_name import FORMER_NAME
from ..errors import InvalidInputError
from .results import Cell, Simulation
from .summary import Summary, cut_off_leaders
from .work import Indices, Part, Work

RUNS, SUMMARY = "runs", "summary"
KEPT = (RUNS, SUMMARY)
KIND, VERSION = "truebest simulation", 1  # of a file
KINDS = (KIND, f"{FORMER_NAME} simulation")  # those that are read
Span = tuple[int, int, int]
PER_RUN = 32  # bytes for a run at one risk: its samples and its arm, as they are made and in the result
PER_NUMBER = 16  # bytes for a number of a record: as it is made, and in the units of the rewards
CONTAINER = Path("/sys/fs/cgroup/memory.max")
_OF_RUNS = ("samples", "recommended", "leaders")  # the columns of a cell with a number for each run


Spec = TypeVar("Spec", bound=Work)


class Collected(Generic[Spec]):
    """What the runs first, first+1, ... of a job found; they are given out here, and their parts handed in.

    wanted  how many runs
    keep    "runs": every run's samples and arm; "summary": counts, sums and a histogram
    bandit  the number of the bandit, None where there is only one
    before  cells of earlier runs, one for each risk, which these continue
    """

    def __init__(
        self,
        job: Spec,
        first: int,
        wanted: int,
        keep: str = RUNS,
        bandit: int | None = None,
        before: Sequence[Cell] = (),
    ) -> None:
        self.job, self.first, self.wanted, self.keep = job, first, wanted, keep
        self.bandit, self.before = bandit, before
        self.runs, self.given, self.chunk = 0, 0, 1
        self._waiting: dict[int, Part] = {}
        self._parts: list[Part] = []
        self._pulls: Array = np.zeros((len(job.deltas), job.num_arms))
        self._summaries = [Summary.empty(job.num_arms) for _ in job.deltas]

    def continuing(self, more: Simulation) -> Collected[Spec]:
        """The same without the runs that an earlier simulation has, which these are put to."""
        before = [
            cell
            for delta in self.job.deltas
            for cell in more.cells
            if (cell.strategy, cell.delta, cell.bandit) == (self.job.name, delta, self.bandit)
        ]
        done = before[0].runs
        return Collected(self.job, self.first + done, self.wanted - done, self.keep, self.bandit, before)

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

    def cells(self) -> list[Cell]:
        """One for each risk, in the order of the job; with the runs that it continues."""
        found = [self._cell(j, delta) for j, delta in enumerate(self.job.deltas)]
        if not self.before:
            return found
        whole = [pooled_cells(old, new) for old, new in zip(self.before, found, strict=True)]
        return [replace(cell, complete=new.complete) for cell, new in zip(whole, found, strict=True)]

    def _cell(self, j: int, delta: float) -> Cell:
        job, arms = self.job, self._column("arms", j)
        return Cell(
            job.name,
            delta,
            job.rule_name,
            self._column("samples", j),
            np.maximum(arms, -1),
            self._pulls[j] / max(self.runs, 1),
            job.best,
            job.seed,
            self.runs == self.wanted,
            self.bandit,
            ((job.seed, self.first, self.runs),),
            None if self.keep == RUNS else self._summaries[j],
            cut_off_leaders(arms),
        )

    def _column(self, name: str, j: int) -> Indices:
        """One of the risks of all parts that were kept."""
        columns = [getattr(part, name)[:, j] for part in self._parts]
        return np.concatenate(columns) if columns else np.zeros(0, dtype=np.int64)


# -- put together --------------------------------------------------------------------------------------


def pooled(one: Simulation, other: Simulation) -> Simulation:
    """All runs of both; InvalidInputError unless they are of the same cells, and different runs."""
    refuse_others(one.settings, other.settings)
    if len(one) != len(other):  # made by hand, or of another version
        raise InvalidInputError(
            f"simulations must have the same cells to be pooled, got {len(one)} and {len(other)}; pool those "
            f"of the same call."
        )
    cells = tuple(pooled_cells(a, b) for a, b in zip(one, other, strict=True))
    return Simulation(cells, one.settings)


def refuse_others(one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """Refuse runs of something else: other arms, strategies, risks, rules, or another version's."""
    for key in sorted({*one, *other}):
        if one.get(key) != other.get(key):
            a, b = (f"{kept.get(key)!r:.60}" for kept in (one, other))
            raise InvalidInputError(
                f"simulations must be of the same cells to be pooled, got {key} {a} and {b}; pool those of "
                f"the same call with other runs."
            )


def pooled_cells(one: Cell, other: Cell) -> Cell:
    """One cell of two; InvalidInputError if they share runs, or one of them keeps a summary alone."""
    if (one.summary is None) != (other.summary is None):
        raise InvalidInputError(
            "simulations to be pooled must keep the same, got one with runs and one with a summary; give "
            "both the same keep."
        )
    pieces = sorted([*_pieces(one), *_pieces(other)], key=itemgetter(0))
    spans = [span for span, _ in pieces if span[2] > 0] or [pieces[0][0]]
    for before, after in pairwise(spans):
        if before[0] == after[0] and before[1] + before[2] > after[1]:
            raise InvalidInputError(
                f"simulations to be pooled must have different runs, got run {after[1]} of seed {after[0]} "
                f"in both; give another seed, or first= a number behind the last run."
            )
    pulls = np.rint(one.mean_pulls * one.runs) + np.rint(other.mean_pulls * other.runs)  # whole numbers
    columns: dict[str, Any] = {
        name: np.concatenate([found[name] for _, found in pieces]) for name in _OF_RUNS
    }
    return replace(
        one,
        **columns,
        mean_pulls=pulls / max(one.runs + other.runs, 1),
        seed=spans[0][0],
        complete=one.complete and other.complete,
        spans=_merged(spans),
        summary=one.summary and other.summary and one.summary + other.summary,
    )


def _pieces(cell: Cell) -> Iterator[tuple[Span, dict[str, Indices]]]:
    """Each span, with what is kept of its runs: nothing beside a summary."""
    begin = 0
    for span in cell.spans:
        where = slice(begin, begin + span[2])
        yield span, {name: getattr(cell, name)[where] for name in _OF_RUNS}
        begin += span[2]


def _merged(spans: list[Span]) -> tuple[Span, ...]:
    """Spans in order, those that meet as one."""
    found = [spans[0]]
    for seed, first, runs in spans[1:]:
        last = found[-1]
        if last[0] == seed and last[1] + last[2] == first:
            found[-1] = (seed, last[1], last[2] + runs)
        else:
            found.append((seed, first, runs))
    return tuple(found)


def continued(
    more: Simulation, settings: Mapping[str, Any], seed: int, first: int, runs: int, several: bool
) -> tuple[int, int]:
    """Where the runs of an earlier simulation begin, and how many there are to be in the end.

    several  whether the means are those of several bandits, if only of one in a list
    Raises   InvalidInputError if it is of something else, or its runs are not one seed's in a row
    """
    if not isinstance(more, Simulation):
        raise InvalidInputError(
            f"more must be a Simulation, got {more!r:.60}; give what simulate or load_simulation returned."
        )
    refuse_others(more.settings, settings)
    if any((cell.bandit is not None) != several for cell in more.cells):
        raise InvalidInputError(
            f"more must have its means in the form of this call, got {'one bandit' if several else 'a list'} "
            f"in more and {'a list' if several else 'one bandit'} here; give both the same."
        )
    spans = [span for cell in more.cells for span in cell.spans]
    starts = {(span[0], span[1]) for span in spans}
    if len(starts) != 1 or starts != {(seed, spans[0][1])}:
        raise InvalidInputError(
            f"more must have the runs of seed {seed} in a row, got runs that begin at (seed, first) "
            f"{sorted(starts)}; give the same seed, and add others up with +."
        )
    if first not in (0, spans[0][1]):
        raise InvalidInputError(
            f"first must be left out with more, or be its first run, {spans[0][1]}, got {first}; runs are "
            f"added behind the last."
        )
    return spans[0][1], max(cell.runs for cell in more.cells) + runs


# -- in a file -----------------------------------------------------------------------------------------


def save_simulation(simulation: Simulation, path: str | os.PathLike[str]) -> None:
    """Into a file, whole or not at all; InvalidInputError where none can be written."""
    cells = [to_row(cell) for cell in simulation.cells]
    body = {"file": KIND, "version": VERSION, "settings": dict(simulation.settings), "cells": cells}
    try:
        write_whole(_checked(path), json.dumps(body) + "\n")
    except OSError as error:
        raise InvalidInputError(
            f"path must be a file that can be written, got {os.fspath(path)!r} ({error}); give another."
        ) from None


def load_simulation(path: str | os.PathLike[str]) -> Simulation:
    """A simulation that `Simulation.save` wrote.

    Raises
    ------
    InvalidInputError
        if the file is missing, damaged, something else, or of a later version
    """
    try:
        text = Path(_checked(path)).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise InvalidInputError(
            f"path must be a file that Simulation.save wrote, got {os.fspath(path)!r}, which cannot be read "
            f"({error}); give another."
        ) from None
    try:
        body = json.loads(text)
        version = body["version"]
        if body["file"] not in KINDS or type(version) is not int or version < 1:
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidInputError(
            f"path must be a file that Simulation.save wrote, got {os.fspath(path)!r}, which is something "
            f"else, or damaged; give another."
        ) from None
    if version > VERSION:
        raise InvalidInputError(
            f"{os.fspath(path)!r} has version {version}, and this truebest reads version {VERSION}; "
            f"use a later truebest."
        )
    try:
        if not isinstance(body["settings"], dict) or not isinstance(body["cells"], list) or not body["cells"]:
            raise ValueError("no settings, or no cells")
        return Simulation(tuple(from_row(row) for row in body["cells"]), body["settings"])
    except (KeyError, TypeError, ValueError, OverflowError, zlib.error, binascii.Error) as error:
        raise InvalidInputError(
            f"{os.fspath(path)!r} is damaged ({type(error).__name__}: {error}); simulate again."
        ) from None


def _checked(path: object) -> str | os.PathLike[str]:
    """A path that may be that of a file."""
    if not isinstance(path, str | os.PathLike) or "\0" in os.fspath(path):
        raise InvalidInputError(f"path must be the name of a file, got {path!r:.60}; give a text or a Path.")
    return path


def to_row(cell: Cell) -> dict[str, Any]:
    """Plain values, for a file."""
    row = {one.name: getattr(cell, one.name) for one in fields(cell)}
    return {
        **row,
        **{name: _packed(row[name]) for name in _OF_RUNS},
        "mean_pulls": cell.mean_pulls.tolist(),
        "best": sorted(cell.best),
        "spans": [list(span) for span in cell.spans],
        "summary": None if cell.summary is None else cell.summary.to_dict(),
    }


def from_row(row: dict[str, Any]) -> Cell:
    """The cell again; KeyError, TypeError or ValueError, also of zlib and binascii, if it is damaged."""
    spans = tuple((int(seed), int(first), int(runs)) for seed, first, runs in row["spans"])
    columns = {name: _unpacked(row[name]) for name in _OF_RUNS if name in row}
    columns.setdefault("leaders", np.full_like(columns["recommended"], -1))  # once not kept
    cell = Cell(
        **{name: row[name] for name in ("strategy", "delta", "stopping", "seed", "complete", "bandit")},
        samples=columns["samples"],
        recommended=columns["recommended"],
        leaders=columns["leaders"],
        mean_pulls=np.array(row["mean_pulls"], dtype=np.float64),
        best=frozenset(row["best"]),
        spans=spans,
        summary=None if row["summary"] is None else Summary.from_dict(row["summary"]),
    )
    if cell.runs != sum(runs for _, _, runs in spans):
        raise ValueError(f"{cell.runs} runs in spans of {sum(runs for _, _, runs in spans)}")
    if not cell.samples.shape == cell.recommended.shape == cell.leaders.shape:
        sizes = f"{cell.recommended.size} answers and {cell.leaders.size} leaders"
        raise ValueError(f"{cell.samples.size} runs with {sizes}")
    if not 0.0 < cell.delta < 1.0 or not cell.best <= set(range(cell.mean_pulls.size)):
        raise ValueError(f"delta {cell.delta!r}, best arms {sorted(cell.best)!r}")
    if cell.mean_pulls.ndim != 1:
        raise ValueError(f"pulls of shape {cell.mean_pulls.shape}")
    return cell


def _packed(numbers: Indices) -> str:
    whole = np.ascontiguousarray(numbers, dtype="<i8")
    return base64.b64encode(zlib.compress(whole.tobytes(), 6)).decode()


def _unpacked(text: str) -> Indices:
    return np.frombuffer(zlib.decompress(base64.b64decode(text, validate=True)), dtype="<i8").astype(np.int64)


# -- how much memory they take: more than there is is refused before the work, not in its middle ----------


@contextmanager
def room_for(runs: int, cells: int) -> Iterator[None]:
    """Refuse a simulation of so many cells that does not fit, or that turns out not to fit inside the block.

    Raises  InvalidInputError
    """
    if runs * cells * PER_RUN > total_memory():
        raise _too_many(runs, cells)
    try:
        yield
    except MemoryError:
        raise _too_many(runs, cells) from None


def room_for_steps(steps: int, numbers: int) -> Array:
    """Room for a run that is recorded, with so many numbers for each step; InvalidInputError without it."""
    needed = steps * numbers * PER_NUMBER
    try:
        if needed > total_memory():
            raise MemoryError
        return np.empty((steps, numbers))
    except MemoryError:
        raise InvalidInputError(
            f"a trace must fit into memory, got a run of {steps} steps, which take {needed / 2**30:.1f} GiB; "
            f"cut it off with a smaller max_samples, or simulate it without its steps."
        ) from None


def total_memory() -> float:
    """Bytes that the machine, or the container, has in total; inf where that is not known."""
    sizes = [float("inf")]
    with suppress(AttributeError, ValueError, OSError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(ValueError, OSError):
        sizes.append(float(CONTAINER.read_text()))  # "max" without a limit
    return min(sizes)


def _too_many(runs: int, cells: int) -> InvalidInputError:
    return InvalidInputError(
        f"runs must fit into memory, got {runs}, which for {cells} strategies and risks take "
        f"{runs * cells * PER_RUN / 2**30:.1f} GiB; give fewer: the error "
        f"falls only with the square root of their number."
    )
