"""Who waits for a long log is told how far it is read."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Literal

import pytest

from truebest import Experiment, identify
from truebest.cli import main
from truebest.experiment import journal, reading, waiting
from truebest.experiment.store import open_store

LINES = 41


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A store with an experiment `x` of so many lines, without a snapshot."""
    url = f"sqlite:///{tmp_path}/runs.db"
    experiment = Experiment.create("memory:", "x", ["a", "b", "c"], bounds=(0, 1), seed=1, lease=None)
    for _ in range(LINES // 2):
        experiment.tell(experiment.ask()[0], 0.5)
    first, *rest = experiment._journal.lines()
    open_store(url).create("x", first, rest)
    return url


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a few lines counts as long."""
    monkeypatch.setattr(waiting, "AFTER", 0.0)
    monkeypatch.setattr(waiting, "EVERY", 0.0)
    for module in (reading, journal):
        monkeypatch.setattr(module, "CHUNK", 20)


COMMANDS = {"verify": "verifying the log", **dict.fromkeys(("export", "status", "report"), "reading the log")}


def run(command: str, url: str, folder: Path) -> None:
    file = ["--output", str(folder / "x.html")] if command == "report" else []
    assert main([command, "x", "--store", url, *file]) == 0


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_how_far_it_is(
    url: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On stderr, a line for each piece of the log but the last."""
    run(command, url, tmp_path)
    said = capsys.readouterr().err.splitlines()[:2]
    assert said[0] == f"truebest: {COMMANDS[command]}: 20 of {LINES} lines"
    assert said[1] in [f"truebest: {COMMANDS[command]}: {line} of {LINES} lines" for line in (39, 40)]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_is_quick_says_nothing(
    url: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before two seconds have passed."""
    run(command, url, tmp_path)
    assert "lines" not in capsys.readouterr().err


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("progress", ["lines", False])
def test_a_decision_says_how_far_its_proof_is(
    progress: Literal["lines", False], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where progress is shown, and only there."""
    rng = random.Random(1)
    arms = {"a": lambda: 0.6 * rng.random(), "b": lambda: 1.0 - 0.6 * rng.random()}
    store = f"sqlite:///{tmp_path}/a.db"
    found = identify(arms, bounds=(0, 1), rng=1, store=store, progress=progress, timeout=600)
    assert found.best == "b"
    said = "truebest: replaying the log before the decision: 20 of" in capsys.readouterr().err
    assert said is bool(progress)
