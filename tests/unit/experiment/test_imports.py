"""An exported log comes back as it was; what is no such log, or leads elsewhere, leaves nothing behind."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.commands import refused, run
from truebest import Experiment, InvalidInputError
from truebest.experiment.store import open_store

RATES = {"a": 0.3, "b": 0.8}


def without_end(path: Path) -> list[dict[str, Any]]:
    """The lines as version 0.2 exported them, without a word on how many there are."""
    lines = [json.loads(line) for line in path.read_text().splitlines()][:-1]
    assert lines[0].pop("export") == 2
    return lines


@pytest.fixture
def exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A decided experiment with a failure and a correction in its log, as JSON lines."""
    monkeypatch.chdir(tmp_path)
    experiment = Experiment.create("sqlite:///old.db", "x", list(RATES), bounds=(0, 1), seed=5)
    first, second = experiment.ask(2)
    experiment.fail(first, "broken")
    experiment.tell(second, 0.25)
    experiment.retract(second, "typing error", 0.75)
    while pulls := experiment.ask(3):
        experiment.tell([(p, float(random.Random(p.seed).random() < RATES[p.arm])) for p in pulls])
    experiment.close()
    path = tmp_path / "x.jsonl"
    path.write_text(run("export", "x", "--store", "sqlite:///old.db").out)
    return path


@pytest.mark.parametrize("format", ["jsonl", "json"])
def test_an_exported_log_comes_back(exported: Path, format: str) -> None:
    """Every line with its time and value, and the same status, in another store and under another name."""
    ran = run("export", "x", "--store", "sqlite:///old.db", "--format", format)
    path = exported.with_name(f"again.{format}")
    path.write_text(ran.out)
    old = Experiment.open("sqlite:///old.db", "x")
    new = Experiment.import_log("sqlite:///new.db", path, f"y {format}")
    assert new.history() == old.history()
    assert {**new.status().to_dict(), "name": "x"} == old.status().to_dict()
    assert new.verify().sound
    assert Experiment.import_log("sqlite:///newer.db", path).name == "x"


def test_a_log_that_is_not_sound_is_refused(exported: Path) -> None:
    """A changed value, so that the decision does not follow; a missing line; what is no log at all."""
    lines = without_end(exported)
    told = [i for i, line in enumerate(lines) if line["kind"] == "told"]
    flipped = [dict(line) for line in lines]
    for i in told[-8:]:
        flipped[i]["value"] = 1.0 - flipped[i]["value"]
    texts = {
        "nothing was stored": flipped,
        "line 3 of the log cannot be read": lines[:2] + lines[3:],
        "must begin with a line of kind 'created'": lines[1:],
    }
    for words, changed in texts.items():
        exported.write_text("".join(json.dumps(line) + "\n" for line in changed))
        with pytest.raises(InvalidInputError, match=words):
            Experiment.import_log("sqlite:///new.db", exported)
    exported.write_text("arm,value\na,1\n")
    with pytest.raises(InvalidInputError, match="not an exported log"):
        Experiment.import_log("sqlite:///new.db", exported)
    assert open_store("sqlite:///new.db").names() == []


def test_the_command_imports_logs_and_values(exported: Path) -> None:
    """A log into a new experiment, values into one that exists; a name that is taken is refused."""
    store = ("--store", "sqlite:///new.db")
    ran = run("import", "y", str(exported), *store, "--format", "json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)[0]["decision"] == "b"
    refused(run("import", "y", str(exported), *store), "already; give another name")
    refused(
        run("import", "y", "nothing.jsonl", *store),
        "No such file or directory; give what `truebest export NAME` writes",
    )
    values = exported.with_name("values.csv")
    values.write_text("arm,value\na,0.5\nb,1\na,0.25\n")
    refused(run("import", "z", str(values), *store), "no experiment 'z'")
    assert run("create", "z", "--arm", "a", "--arm", "b", "--bounds", "0,1", *store).code == 0
    ran = run("import", "z", str(values), *store, "--format", "json")
    assert json.loads(ran.out) == [{"arm": "a", "observed": 2}, {"arm": "b", "observed": 1}]
    values.write_text("arm,value\na,0.5\nc,1\n")
    refused(run("import", "z", str(values), *store), "arms cannot be added midway")
    found = Experiment.open("sqlite:///new.db", "z")
    assert found.status().means == {"a": 0.375, "b": 1.0}
    assert [line.arm for line in found.history() if line.kind == "asked"] == ["a", "b", "a"]  # as they stood


def test_delete_asks_first(exported: Path) -> None:
    """Without a terminal it must be told; then the experiment is gone, and others stay."""
    store = ("--store", "sqlite:///old.db")
    run("import", "y", str(exported), *store)
    refused(run("delete", "x", *store), "give --yes")
    assert open_store("sqlite:///old.db").names() == ["x", "y"]
    assert run("delete", "x", "--yes", *store).code == 0
    refused(run("status", "x", *store), "no experiment 'x'")
    with Experiment.open("sqlite:///old.db", "y") as other:
        assert other.verify().sound
        other.delete()
    assert open_store("sqlite:///old.db").names() == []


def test_adding_an_arm_is_refused_with_the_recipe() -> None:
    """In create and in observe; other arms, or another order of them, are refused in other words."""
    store = open_store("memory:")
    experiment = Experiment.create(store, "x", ["a", "b"], bounds=(0, 1), about={"a": "./evaluate a"})
    recipe = "arms cannot be added midway, .* another name, .* observe, all of them, not chosen by value"
    with pytest.raises(InvalidInputError, match=f"compares a, b, got a, b, c; {recipe}"):
        Experiment.create(store, "x", ["a", "b", "c"])
    with pytest.raises(InvalidInputError, match=recipe):
        experiment.observe("c", [1.0])
    with pytest.raises(InvalidInputError, match="resume it with its own arms, in their order"):
        Experiment.create(store, "x", ["b", "a"])
    with pytest.raises(InvalidInputError, match=r"arm 'a' of experiment 'x' was './evaluate a' when"):
        Experiment.create(store, "x", ["a", "b"], about={"a": "./evaluate --fast a"})


def test_logs_of_version_0_1_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of those that 0.1 wrote, exported and imported: the same status, and a sound log with hashes."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(Path(__file__).parents[2] / "golden" / "version_0_1.db", "old.db")
    names = open_store("sqlite:///old.db").names()
    assert len(names) > 10
    for name in names:
        Path("log.jsonl").write_text(run("export", name, "--store", "sqlite:///old.db").out)
        old = Experiment.open("sqlite:///old.db", name)
        new = Experiment.import_log("sqlite:///new.db", "log.jsonl")
        assert new.status() == old.status()
        assert new.history() == old.history()
        assert new.verify().unhashed == 0
