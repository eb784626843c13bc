"""Runs of the same cell, put together: which runs a cell has, and the cell of two that share none.

A *span* is (seed, the number of the first run, how many). Runs are kept in the order of their spans, and
spans that meet become one, so that what was done in pieces equals what was done at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InvalidInputError
from .results import Cell, Indices, Simulation

Span = tuple[int, int, int]


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
    every = sorted([*one.spans, *other.spans])
    spans = [span for span in every if span[2] > 0] or every[:1]
    for before, after in pairwise(spans):
        if before[0] == after[0] and before[1] + before[2] > after[1]:
            raise InvalidInputError(
                f"simulations to be pooled must have different runs, got run {after[1]} of seed {after[0]} "
                f"in both; give another seed, or first= a number behind the last run."
            )
    runs = one.runs + other.runs
    pulls = np.rint(one.mean_pulls * one.runs) + np.rint(other.mean_pulls * other.runs)  # whole numbers
    samples, recommended, leaders = (
        _in_order([*_pieces(one, name), *_pieces(other, name)])
        for name in ("samples", "recommended", "leaders")
    )
    summary = None
    if one.summary is not None and other.summary is not None:
        summary = one.summary + other.summary
    return replace(
        one,
        samples=samples,
        recommended=recommended,
        leaders=leaders,
        mean_pulls=pulls / max(runs, 1),
        seed=spans[0][0],
        complete=one.complete and other.complete,
        spans=_merged(spans),
        summary=summary,
    )


def _pieces(cell: Cell, name: str) -> list[tuple[Span, Indices]]:
    """The runs of each span."""
    if cell.summary is not None:
        return []
    ends = np.cumsum([span[2] for span in cell.spans])[:-1]
    return list(zip(cell.spans, np.split(getattr(cell, name), ends), strict=True))


def _in_order(pieces: list[tuple[Span, Indices]]) -> Indices:
    parts = [part for _, part in sorted(pieces, key=lambda piece: piece[0])]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


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
