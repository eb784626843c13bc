"""Simulations saved, loaded, continued and added up, and many bandits in one call."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truebest
from support.refusals import refused_in_one_sentence
from truebest.simulation.runs import pooled_cells

MEANS = (0.9, 0.5, 0.1)


def simulate(runs: int = 60, **options: Any) -> truebest.Simulation:
    """Two strategies at two risks; racing has runs of its own for each risk."""
    options = {"seed": 4, "max_samples": 300} | options
    return truebest.simulate(["tas-d", "racing"], MEANS, [0.3, 0.05], runs=runs, **options)


def same(one: truebest.Simulation, other: truebest.Simulation) -> bool:
    """To the bit: runs, pulls, spans, settings."""
    assert len(one) == len(other)
    return one.settings == other.settings and all(
        np.array_equal(a.samples, b.samples)
        and np.array_equal(a.recommended, b.recommended)
        and np.array_equal(a.mean_pulls, b.mean_pulls)
        and (a.spans, a.complete, a.to_dict()) == (b.spans, b.complete, b.to_dict())
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("keep", ["runs", "summary"])
def test_parts_add_up_to_the_whole(keep: str, tmp_path: Path) -> None:
    """Continued, or added up in any order, saved and loaded in between: what one call gives."""
    whole = simulate(60, keep=keep)
    start = simulate(25, keep=keep)
    start.save(tmp_path / "start.json")
    loaded = truebest.load_simulation(tmp_path / "start.json")
    assert same(start, loaded)
    assert same(simulate(35, keep=keep, more=loaded), whole)
    middle, end = simulate(20, keep=keep, first=25), simulate(15, keep=keep, first=45)
    assert same(end + start + middle, whole)
    assert not same(start + middle, whole)


def test_runs_of_another_seed_are_other_runs() -> None:
    """They can be added, and are then named."""
    both = simulate(10) + simulate(10, seed=5)
    assert both.cells[0].runs == 20
    assert both.cells[0].spans == ((4, 0, 10), (5, 0, 10))


def test_what_is_not_the_same_is_refused(tmp_path: Path) -> None:
    """Other settings, shared runs, other files: one sentence each."""
    found = simulate(10)
    refused_in_one_sentence("got run 5 of seed 4", lambda: found + simulate(10, first=5))
    refused_in_one_sentence("max_samples", lambda: found + simulate(10, max_samples=301))
    refused_in_one_sentence("keep", lambda: simulate(5, keep="summary", more=found))
    refused_in_one_sentence("seed", lambda: simulate(5, seed=9, more=found))
    refused_in_one_sentence("more must be a Simulation", lambda: simulate(5, more=3))
    with pytest.raises(TypeError):
        found + 3  # type: ignore[operator]
    file = tmp_path / "x.json"
    refused_in_one_sentence("cannot be read", lambda: truebest.load_simulation(file))
    file.write_text("[1]")
    refused_in_one_sentence("something else", lambda: truebest.load_simulation(file))
    found.save(file)
    body = json.loads(file.read_text())
    file.write_text(json.dumps(body | {"version": 99}))
    refused_in_one_sentence("version 99", lambda: truebest.load_simulation(file))
    body["cells"][0]["samples"] = body["cells"][1]["samples"][:-8]
    file.write_text(json.dumps(body))
    refused_in_one_sentence("damaged", lambda: truebest.load_simulation(file))


def test_a_continuation_has_the_form_of_what_it_continues() -> None:
    """One bandit is not a list of one, and `first` is where the earlier runs begin, if it is given."""
    part = truebest.simulate("uniform", MEANS, 0.3, runs=5, seed=4, first=20)

    def call(means: object, **options: object) -> truebest.Simulation:
        return truebest.simulate("uniform", means, 0.3, runs=3, seed=4, more=part, **options)  # type: ignore[arg-type]

    refused_in_one_sentence("one bandit in more and a list here", lambda: call([MEANS]))
    refused_in_one_sentence("first must be left out with more", lambda: call(MEANS, first=5))
    assert same(call(MEANS, first=20), call(MEANS))
    assert call(MEANS).cells[0].spans == ((4, 20, 8),)


def test_a_span_without_runs_hides_none() -> None:
    """Runs that are in both are found, whatever lies between them."""
    none = replace(simulate(1).cells[0], samples=np.zeros(0, np.int64), recommended=np.zeros(0, np.int64))
    none = replace(none, mean_pulls=np.zeros(3), spans=((4, 50, 0),))
    later, whole = simulate(40, first=60).cells[0], simulate(100).cells[0]
    pooled = pooled_cells(none, later)
    assert pooled.spans == ((4, 60, 40),)
    refused_in_one_sentence("must have different runs", lambda: pooled_cells(pooled, whole))
    assert pooled_cells(none, none).spans == ((4, 50, 0),)


EMPTY = base64.b64encode(zlib.compress(b"")).decode()
DAMAGES: dict[str, tuple[str, Any]] = {
    "no version": ("something else", lambda body: body.pop("version")),
    "version 0": ("something else", lambda body: body.update(version=0)),
    "a version as text": ("something else", lambda body: body.update(version="1")),
    "a later version": ("use a later truebest", lambda body: body.update(version=2)),
    "no settings": ("damaged", lambda body: body.update(settings=None)),
    "no cells": ("damaged", lambda body: body.update(cells={})),
    "endless spans": ("damaged", lambda body: body["cells"][0].update(spans=[[4, 0, float("inf")]])),
    "few answers": ("damaged", lambda body: body["cells"][0].update(recommended=EMPTY)),
    "no risk": ("damaged", lambda body: body["cells"][0].update(delta="x")),
    "another best": ("damaged", lambda body: body["cells"][0].update(best="x")),
    "nested pulls": ("damaged", lambda body: body["cells"][0].update(mean_pulls=[[1.0, 2.0, 3.0]])),
}


@pytest.mark.parametrize("damage", list(DAMAGES))
def test_a_damaged_file_is_refused(damage: str, tmp_path: Path) -> None:
    """In one sentence, whatever is wrong with it."""
    file = tmp_path / "found.json"
    simulate(5).save(file)
    body = json.loads(file.read_text())
    said, change = DAMAGES[damage]
    change(body)
    file.write_text(json.dumps(body))
    refused_in_one_sentence(said, lambda: truebest.load_simulation(file))


def test_bad_paths_are_sentences(tmp_path: Path) -> None:
    """What is no path, what cannot be written, and nesting without end."""
    found, deep = simulate(3), tmp_path / "deep.json"
    deep.write_text("[" * 100_000)
    refused_in_one_sentence("something else", lambda: truebest.load_simulation(deep))
    for path in (None, 5, b"x", ["x"], "a\0b"):
        refused_in_one_sentence("name of a file", lambda path=path: truebest.load_simulation(path))  # type: ignore[misc]
    refused_in_one_sentence("can be written", lambda: found.save(tmp_path))
    refused_in_one_sentence("can be written", lambda: found.save(tmp_path / "none" / "x.json"))


def test_many_bandits_in_one_call() -> None:
    """Each is what a call of its own gives; also of different numbers of arms."""
    bandits = [[0.9, 0.5, 0.1], [0.9, 0.2], [1.5, 0.1, 0.0, 0.0]]
    found = truebest.simulate(["tas-d", "racing"], bandits, [0.3, 0.1], runs=20, seed=2)
    assert len(found) == 12
    for i, means in enumerate(bandits):
        alone = truebest.simulate(["tas-d", "racing"], means, [0.3, 0.1], runs=20, seed=2)
        for cell in alone:
            twin = found[cell.strategy, cell.delta, i]
            assert twin.samples.tolist() == cell.samples.tolist()
            assert twin.to_dict() == {"bandit": i} | cell.to_dict()
    assert "bandit" in str(found)
    refused_in_one_sentence("the key must name one cell", lambda: found["tas-d", 0.3])
    mixed: Any = [[0.9, 0.5], 0.1]
    refused_in_one_sentence("several bandits", lambda: truebest.simulate("tas-d", mixed))


INTERRUPTED = """
import os, signal, sys, truebest
calls = []
def stop(done, total):
    if done >= 40 and not calls:
        calls.append(done)
        os.kill(os.getpid(), signal.SIGINT)
options = {"seed": 4, "max_samples": 20_000}
found = truebest.simulate(["tas-d", "uniform"], (0.5, 0.49), [0.3, 0.05], runs=300, progress=stop, **options)
assert not found.complete
found.save(sys.argv[1])
"""


def test_an_interrupted_simulation_is_resumed(tmp_path: Path) -> None:
    """After Ctrl-C, saved and loaded: with the missing runs it equals an uninterrupted one."""
    file = os.fspath(tmp_path / "kept.json")
    command = [sys.executable, "-c", INTERRUPTED, file]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    kept = truebest.load_simulation(file)
    largest = max(cell.runs for cell in kept)
    assert min(cell.runs for cell in kept) < 300
    options: dict[str, Any] = {"seed": 4, "max_samples": 20_000}
    both = ["tas-d", "uniform"]
    whole = truebest.simulate(both, (0.5, 0.49), [0.3, 0.05], runs=largest + 3, **options)
    resumed = truebest.simulate(both, (0.5, 0.49), [0.3, 0.05], runs=3, more=kept, **options)
    assert same(resumed, whole)
    assert resumed.complete
