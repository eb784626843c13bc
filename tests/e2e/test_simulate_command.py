"""`truebest simulate` from the outside."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from e2e.test_solve_command import truebest
from support.commands import run

BASE = ("simulate", "--means", "0.9,0.5,0.45,0.4", "--runs", "50", "--seed", "1")


def test_json_is_a_list_of_objects() -> None:
    """At least the documented keys, numbers as numbers, and the same as from Python."""
    run = truebest(*BASE, "--delta", "0.1,0.01", "--strategy", "ebs-d,tas-d,lucb++", "--format", "json")
    assert (run.returncode, run.stderr) == (0, "")
    rows = json.loads(run.stdout)
    assert [(row["strategy"], row["delta"]) for row in rows][:3] == [
        ("ebs-d", 0.1),
        ("ebs-d", 0.01),
        ("tas-d", 0.1),
    ]
    keys = {"strategy", "delta", "runs", "mean_samples", "standard_error", "errors", "error_rate"}
    assert keys | {"censored", "seed"} <= set(rows[0])
    again = truebest(
        *BASE, "--delta", "0.1,0.01", "--strategy", "ebs-d,tas-d,lucb++", "--format", "json", "--threads", "1"
    )
    assert again.stdout == run.stdout


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
