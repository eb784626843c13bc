"""`truebest simulate` from the outside."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import truebest as truebest_package
from e2e.test_solve_command import truebest
from support.commands import run

BASE = ("simulate", "--means", "0.9,0.5,0.45,0.4", "--runs", "50", "--seed", "1")


def test_json_is_a_list_of_objects() -> None:
    """At least the documented keys, numbers as numbers, and the same as from Python."""
    words = (*BASE, "--delta", "0.1,0.01", "--strategy", "ebs-d,tas-d,lucb++", "--format", "json")
    done = truebest(*words)
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(done.stdout)
    assert [(row["strategy"], row["delta"]) for row in rows][:3] == [
        ("ebs-d", 0.1),
        ("ebs-d", 0.01),
        ("tas-d", 0.1),
    ]
    keys = {"strategy", "delta", "runs", "mean_samples", "standard_error", "errors", "error_rate"}
    assert keys | {"censored", "seed"} <= set(rows[0])
    assert run(*words, "--threads", "1").out == done.stdout


def test_csv_and_table_and_file(tmp_path: Path) -> None:
    """One line per cell, on stdout or in a file."""
    ran = run(*BASE, "--strategy", "racing,uniform", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert [row["strategy"] for row in rows] == ["racing", "uniform"]
    table = run(*BASE, "--strategy", "racing,uniform")
    assert [line.split()[0] for line in table.out.splitlines()] == ["strategy", "racing", "uniform"]
    file = tmp_path / "out.csv"
    written = run(*BASE, "--strategy", "racing,uniform", "--format", "csv", "--output", str(file))
    assert (written.code, written.out) == (0, "")
    assert file.read_text() == ran.out


def test_ties_with_a_budget_are_counted_as_censored() -> None:
    """The table says that the mean is a lower bound, and stderr why."""
    ran = run("simulate", "--means", "1,1", "--max-samples", "50", "--strategy", "tas-d", "--runs", "20")
    assert ran.code == 0
    assert ">=" in ran.out
    assert "censored" in ran.err


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--means", "1,1"], "never end"),
        (["--means", "1"], "at least two arms"),
        (["--means", ""], "means"),
        (["--means", "1,x"], "'x'"),
        (["--means", "1,0", "--noise", ""], "noise must be one number of at least 0, or one per arm"),
        (["--means", "1,0", "--rewards", ""], "rewards must be one of"),
        (["--means", "1,0", "--runs", "0"], "runs"),
        (["--means", "1,0", "--runs", "many"], "'many'"),
        (["--means", "1,0", "--strategy", "ebs"], "did you mean 'ebs-d'"),
        (["--means", "1,0", "--delta", "0"], "strictly between"),
        (["--means", "1,0", "--sigma", "0"], "sigma"),
        (["--means", "1,0", "--stopping", "never"], "stopping must be one of"),
        (["--means", "1,0", "--rewards", "cauchy"], "rewards must be one of"),
        (["--means", "1,0", "--output", "missing/out.csv"], "missing/out.csv"),
        (["--means", "1,0", "--format", "xml"], "xml"),
        ([], "--means"),
    ],
)
def test_bad_input_is_one_line_and_code_2(words: list[str], part: str) -> None:
    """Nothing on stdout, one line on stderr."""
    ran = run("simulate", *words)
    assert (ran.code, ran.out) == (2, "")
    assert part in ran.err
    assert ran.err.count("\n") == 1


def test_a_question_is_simulated_by_options(tmp_path: Path) -> None:
    """The same runs as in Python, by the strategy and rule of a live gate; arms of data by their names."""
    few = ("--runs", "20", "--format", "json")
    arms = ("--means", "0.9,0.6", "--rewards", "bernoulli")
    gate = run("simulate", *arms, "--gate", "2", "--margin", "0", *few)
    assert gate.code == 0, gate
    assert "Asked: whether each other arm is better than 2." in gate.err
    question = truebest_package.Gate(1)
    want = truebest_package.simulate(None, [0.9, 0.6], rewards="bernoulli", question=question, runs=20)
    assert json.loads(gate.out) == json.loads(json.dumps(want.to_dict()))
    assert (want.cells[0].strategy, want.cells[0].stopping) == ("uniform", "tilt")
    file = tmp_path / "scores.csv"
    file.write_text("old,new\n" + "1,1\n0,1\n1,0\n1,1\n" * 30)
    of_file = ("simulate", "--data", str(file), "--items", "120")
    on_items = run(*of_file, "--gate", "old", "--margin", "0.3", *few)
    assert json.loads(on_items.out)[0]["errors"] == 0
    assert "Asked: whether each other arm is not worse than old by more than 0.3." in on_items.err
    assert "right answer" not in on_items.err
    file.write_text("agent\n" + "1\n1\n1\n0\n" * 30)
    alone = run(*of_file, "--at-least", "0.5", *few)
    assert json.loads(alone.out)[0]["errors"] == 0
    for words, part in (
        (["--gate", "3", "--margin", "0"], "baseline must be one of the arms 1, 2, got '3'"),
        (["--gate", "1", "--margin", "5%"], "must be known for sure"),
        (["--gate", "1", "--margin", "0", "--strategy", "tas-d"], "choose 'uniform'"),
    ):
        refused = run("simulate", *arms, *words)
        assert (refused.code, refused.out) == (2, "")
        assert part in refused.err
    assert "at least two arms, got 'agent'" in run(*of_file).err
