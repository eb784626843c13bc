"""A simulation in one file: what was simulated, by which version, and what each run found.

The file is JSON; the runs are in it as compressed 64-bit whole numbers.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from .._files import write_whole
from ..errors import InvalidInputError
from .results import Cell, Indices, Simulation
from .summary import Summary

KIND, VERSION = "bestarm simulation", 1


def save_simulation(simulation: Simulation, path: str | os.PathLike[str]) -> None:
    """Into a file, whole or not at all."""
    cells = [to_row(cell) for cell in simulation.cells]
    body = {"file": KIND, "version": VERSION, "settings": dict(simulation.settings), "cells": cells}
    write_whole(path, json.dumps(body) + "\n")


def load_simulation(path: str | os.PathLike[str]) -> Simulation:
    """A simulation that `Simulation.save` wrote.

    Raises  InvalidInputError if the file is missing, damaged, something else, or of a later version
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise InvalidInputError(
            f"path must be a file that Simulation.save wrote, got {os.fspath(path)!r}, which cannot be read "
            f"({error}); give another."
        ) from None
    try:
        body = json.loads(text)
        if body["file"] != KIND:
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise InvalidInputError(
            f"path must be a file that Simulation.save wrote, got {os.fspath(path)!r}, which is something "
            f"else, or damaged; give another."
        ) from None
    if body["version"] != VERSION:
        raise InvalidInputError(
            f"{os.fspath(path)!r} has version {body['version']}, and this bestarm reads version {VERSION}; "
            f"use a later bestarm."
        )
    try:
        return Simulation(tuple(from_row(row) for row in body["cells"]), body["settings"])
    except (KeyError, TypeError, ValueError, zlib.error, binascii.Error) as error:
        raise InvalidInputError(
            f"{os.fspath(path)!r} is damaged ({type(error).__name__}: {error}); simulate again."
        ) from None


def to_row(cell: Cell) -> dict[str, Any]:
    """Plain values, for a file."""
    return {
        "strategy": cell.strategy,
        "delta": cell.delta,
        "stopping": cell.stopping,
        "samples": _packed(cell.samples),
        "recommended": _packed(cell.recommended),
        "mean_pulls": cell.mean_pulls.tolist(),
        "best": sorted(cell.best),
        "seed": cell.seed,
        "complete": cell.complete,
        "bandit": cell.bandit,
        "spans": [list(span) for span in cell.spans],
        "summary": None if cell.summary is None else cell.summary.to_dict(),
    }


def from_row(row: dict[str, Any]) -> Cell:
    """The cell again; KeyError, TypeError or ValueError, also of zlib and binascii, if it is damaged."""
    spans = tuple((int(seed), int(first), int(runs)) for seed, first, runs in row["spans"])
    cell = Cell(
        row["strategy"],
        row["delta"],
        row["stopping"],
        _unpacked(row["samples"]),
        _unpacked(row["recommended"]),
        np.array(row["mean_pulls"], dtype=np.float64),
        frozenset(row["best"]),
        row["seed"],
        row["complete"],
        row["bandit"],
        spans,
        None if row["summary"] is None else Summary.from_dict(row["summary"]),
    )
    if cell.runs != sum(runs for _, _, runs in spans):
        raise ValueError(f"{cell.runs} runs in spans of {sum(runs for _, _, runs in spans)}")
    return cell


def _packed(numbers: Indices) -> str:
    whole = np.ascontiguousarray(numbers, dtype="<i8")
    return base64.b64encode(zlib.compress(whole.tobytes(), 6)).decode()


def _unpacked(text: str) -> Indices:
    return np.frombuffer(zlib.decompress(base64.b64decode(text, validate=True)), dtype="<i8").astype(np.int64)
