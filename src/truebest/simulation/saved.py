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
from .._former_name import FORMER_NAME
from ..errors import InvalidInputError
from .results import Cell, Indices, Simulation
from .summary import Summary

KIND, VERSION = "truebest simulation", 1
KINDS = (KIND, f"{FORMER_NAME} simulation")  # those that are read


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

    Raises  InvalidInputError if the file is missing, damaged, something else, or of a later version
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
    return {
        "strategy": cell.strategy,
        "delta": cell.delta,
        "stopping": cell.stopping,
        "samples": _packed(cell.samples),
        "recommended": _packed(cell.recommended),
        "leaders": _packed(cell.leaders),
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
    samples, recommended = _unpacked(row["samples"]), _unpacked(row["recommended"])
    cell = Cell(
        row["strategy"],
        row["delta"],
        row["stopping"],
        samples,
        recommended,
        np.array(row["mean_pulls"], dtype=np.float64),
        frozenset(row["best"]),
        row["seed"],
        row["complete"],
        row["bandit"],
        spans,
        None if row["summary"] is None else Summary.from_dict(row["summary"]),
        _unpacked(row["leaders"]) if "leaders" in row else np.full_like(recommended, -1),  # once not kept
    )
    if cell.runs != sum(runs for _, _, runs in spans):
        raise ValueError(f"{cell.runs} runs in spans of {sum(runs for _, _, runs in spans)}")
    if not samples.shape == recommended.shape == cell.leaders.shape:
        sizes = f"{recommended.size} answers and {cell.leaders.size} leaders"
        raise ValueError(f"{samples.size} runs with {sizes}")
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
