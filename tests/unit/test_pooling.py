"""Simulations saved, loaded, continued and added up, and many bandits in one call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bestarm
from support.refusals import refused_in_one_sentence

MEANS = (0.9, 0.5, 0.1)


def simulate(runs: int = 60, **options: Any) -> bestarm.Simulation:
    """Two strategies at two risks; racing has runs of its own for each risk."""
    options = {"seed": 4, "max_samples": 300} | options
    return bestarm.simulate(["tas-d", "racing"], MEANS, [0.3, 0.05], runs=runs, **options)


def same(one: bestarm.Simulation, other: bestarm.Simulation) -> bool:
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
    loaded = bestarm.load_simulation(tmp_path / "start.json")
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
    refused_in_one_sentence("cannot be read", lambda: bestarm.load_simulation(file))
    file.write_text("[1]")
    refused_in_one_sentence("something else", lambda: bestarm.load_simulation(file))
    found.save(file)
    body = json.loads(file.read_text())
    file.write_text(json.dumps(body | {"version": 99}))
    refused_in_one_sentence("version 99", lambda: bestarm.load_simulation(file))
    body["cells"][0]["samples"] = body["cells"][1]["samples"][:-8]
    file.write_text(json.dumps(body))
    refused_in_one_sentence("damaged", lambda: bestarm.load_simulation(file))


def test_many_bandits_in_one_call() -> None:
    """Each is what a call of its own gives; also of different numbers of arms."""
    bandits = [[0.9, 0.5, 0.1], [0.9, 0.2], [1.5, 0.1, 0.0, 0.0]]
    found = bestarm.simulate(["tas-d", "racing"], bandits, [0.3, 0.1], runs=20, seed=2)
    assert len(found) == 12
    for i, means in enumerate(bandits):
        alone = bestarm.simulate(["tas-d", "racing"], means, [0.3, 0.1], runs=20, seed=2)
        for cell in alone:
            twin = found[cell.strategy, cell.delta, i]
            assert twin.samples.tolist() == cell.samples.tolist()
            assert twin.to_dict() == {"bandit": i} | cell.to_dict()
    assert "bandit" in str(found)
    refused_in_one_sentence("the key must name one cell", lambda: found["tas-d", 0.3])
    mixed: Any = [[0.9, 0.5], 0.1]
    refused_in_one_sentence("several bandits", lambda: bestarm.simulate("tas-d", mixed))


INTERRUPTED = """
import os, signal, sys, bestarm
calls = []
def stop(done, total):
    if done >= 40 and not calls:
        calls.append(done)
        os.kill(os.getpid(), signal.SIGINT)
options = {"seed": 4, "max_samples": 20_000}
found = bestarm.simulate(["tas-d", "uniform"], (0.5, 0.49), [0.3, 0.05], runs=300, progress=stop, **options)
assert not found.complete
found.save(sys.argv[1])
"""


def test_an_interrupted_simulation_is_resumed(tmp_path: Path) -> None:
    """After Ctrl-C, saved and loaded: with the missing runs it equals an uninterrupted one."""
    file = os.fspath(tmp_path / "kept.json")
    command = [sys.executable, "-c", INTERRUPTED, file]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    kept = bestarm.load_simulation(file)
    largest = max(cell.runs for cell in kept)
    assert min(cell.runs for cell in kept) < 300
    options: dict[str, Any] = {"seed": 4, "max_samples": 20_000}
    both = ["tas-d", "uniform"]
    whole = bestarm.simulate(both, (0.5, 0.49), [0.3, 0.05], runs=largest + 3, **options)
    resumed = bestarm.simulate(both, (0.5, 0.49), [0.3, 0.05], runs=3, more=kept, **options)
    assert same(resumed, whole)
    assert resumed.complete
