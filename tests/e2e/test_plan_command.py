"""`truebest plan` from the outside."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import truebest
from support.commands import refused, run
from truebest._catalogue import DEFAULT_STRATEGY

OLD, NEW = [1, 0, 0, 1, 0] * 10, [1, 1, 0, 1, 1] * 10
LINES = "".join(f"{a},{b}\n" for a, b in zip(OLD, NEW, strict=True))
QUICK = ("--runs", "40", "--seed", "3")


def write(folder: Path, text: str) -> str:
    file = folder / "scores.csv"
    file.write_text(text)
    return str(file)


def planned(**options: Any) -> Any:
    return truebest.plan(runs=40, seed=3, progress=False, **options).to_dict()


def test_the_command_is_plan(tmp_path: Path) -> None:
    """The same numbers as from Python; a column of labels is left out, and stderr tells of the scores."""
    file = write(tmp_path, "item," + "old,new\n" + "".join(f"q{line}\n" for line in labelled()))
    ran = run("plan", "--table", file, *QUICK, "--format", "json")
    assert (ran.code, json.loads(ran.out)) == (0, planned(table={"old": OLD, "new": NEW}))
    assert "arm new, of mean 0.8, is the best of 2 in these scores, then arm old, of mean 0.4;" in ran.err
    assert "the correlation of both is 0.41." in ran.err
    table = run("plan", "--table", "-", *QUICK, stdin="old,new\n" + LINES)
    assert [line.split()[0] for line in table.out.splitlines()] == [
        "design",
        "paired",
        "independent",
        "everything",
    ]


def labelled() -> list[str]:
    return [f"{i},{line}" for i, line in enumerate(LINES.splitlines())]


def test_options(tmp_path: Path) -> None:
    """Each reaches the function under its name."""
    words = ("--delta", "0.1", "--tolerance", "0.1", "--minimize", "--bounds", "0,2", "--max-rounds", "30")
    options: dict[str, Any] = {"tolerance": 0.1, "minimize": True, "bounds": (0, 2), "max_rounds": 30}
    file = write(tmp_path, "old,new\n" + LINES + "1,\n")
    ran = run(
        "plan", "--table", file, "--unlimited", "--failures", "worst", *words, *QUICK, "--format", "json"
    )
    table = {"old": [*OLD, 1], "new": [*NEW, float("nan")]}
    assert json.loads(ran.out) == planned(table=table, delta=0.1, unlimited=True, failures="worst", **options)
    model = run(
        "plan", "--means", "0.8,0.7", "--correlation", "0.4", "--items", "80", *QUICK, "--format", "json"
    )
    assert json.loads(model.out) == planned(means=[0.8, 0.7], correlation=0.4, items=80)
    pilot = run("plan", "--pilot", file, *QUICK, "--format", "json")
    assert json.loads(pilot.out) == planned(pilot={"old": [*OLD, 1], "new": NEW})
    assert run("plan", "--table", file, "--failures", "0.5", *QUICK).code == 0


def test_csv_and_file(tmp_path: Path) -> None:
    """One line per design, on stdout or in a file."""
    file, out = write(tmp_path, "old,new\n" + LINES), tmp_path / "out.csv"
    ran = run("plan", "--table", file, *QUICK, "--format", "csv")
    assert [row["strategy"] for row in csv.DictReader(io.StringIO(ran.out))] == ["paired", DEFAULT_STRATEGY]
    written = run("plan", "--table", file, *QUICK, "--format", "csv", "--output", str(out))
    assert (written.code, written.out, out.read_text()) == (0, "", ran.out)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "got an empty file"),
        ("old,new\n", "got a header alone"),
        ("old\n1\n", "at least two arms, got 'old'"),
        ("item,old\n1,1\n", "at least two arms, got 'old'"),
        ("old,new\n1,\n", "got 1 without, the first for 'new' on item 1"),
        ("old,new\n1,0\n1\n", "got 1 without, the first for 'new' on item 2"),
        ("old,new\n1,x\n", "line 2 of the data must have a finite number for 'new', got 'x'"),
        ("old,new\n1,0,1\n", "line 2 of the data must have at most 2 cells"),
        ("old,new\n1,7\n", "scores must lie in [0, 1], got 7 for 'new'"),
    ],
)
def test_a_broken_table_is_refused_in_one_line(text: str, part: str, tmp_path: Path) -> None:
    """With the line or the item, and what to do."""
    refused(run("plan", "--table", write(tmp_path, text), *QUICK), part)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([], "give one of table, means and pilot, got none"),
        (["--means", "0.8,0.7", "--items", "50"], "needs the correlation"),
        (["--means", "0.8,0.7", "--correlation", "x"], "'x'"),
        (["--means", "0.8,0.7", "--correlation", "1"], "correlation must lie between"),
        (["--means", "0.8,0.7", "--bounds", "0"], "bounds must be (lo, hi)"),
        (["--means", "0.8,0.7", "--failures", "bad"], "'bad'"),
        (["--means", "0.8,0.7", "--failures", "worst"], "failures belong to a table"),
        (["--means", "0.8,0.7", "--runs", "0"], "runs"),
        (["--table", "missing.csv"], "cannot read 'missing.csv'"),
        (["--means", "0.8,0.7", "--output", "missing/out.csv"], "missing/out.csv"),
    ],
)
def test_bad_options_are_refused_in_one_line(words: list[str], part: str) -> None:
    """Code 2, nothing on stdout."""
    refused(run("plan", *words), part)


INTERRUPTED = """
import os, signal, sys
from truebest.__main__ import main
from truebest.simulation.progress import Reporter
add = Reporter.add

def add_and_interrupt(self, runs):
    add(self, runs)
    Reporter.add = add
    os.kill(os.getpid(), signal.SIGINT)

Reporter.add = add_and_interrupt
sys.exit(main())
"""


def test_an_interrupted_plan_prints_what_it_has() -> None:
    """Ctrl-C when the first runs are complete: exit code 130, the table of these, no traceback."""
    words = "plan --means 0.5,0.499 --correlation 0.5 --runs 1000000 --threads 1"
    command = [sys.executable, "-c", INTERRUPTED, *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 130, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["design", "paired"]
    assert "Traceback" not in done.stderr
    assert "Interrupted" in done.stderr


def test_a_question_is_planned_by_options() -> None:
    """A gate between named columns, or arms that are counted from 1; a threshold of a single one."""
    gate = run(
        "plan", "--means", "0.9,0.6", "--gate", "2", "--margin", "0", "--runs", "20", "--format", "json"
    )
    assert gate.code == 0, gate
    assert "Asked: whether each other arm is better than 2." in gate.err
    assert "the means are 0.9 of 1, 0.6 of 2" in gate.err
    assert "best of" not in gate.err
    want = truebest.plan(means=[0.9, 0.6], question=truebest.Gate("2"), runs=20)
    assert json.loads(gate.out) == json.loads(json.dumps(want.to_dict()))
    alone = run("plan", "--means", "0.95", "--at-least", "0.7", "--runs", "20")
    assert alone.code == 0, alone
    assert "arm 1, of mean 0.95, is the only one in these scores." in alone.err
    assert "Asked: whether the mean of each arm is at least 0.7." in alone.err
    refused(
        run("plan", "--means", "0.9,0.6", "--gate", "3", "--margin", "0"),
        "baseline must be one of the arms 1, 2, got '3'",
    )


def test_answers_and_clusters_are_planned_by_options(tmp_path: Path) -> None:
    """As in Python; a file has a label for each item, one per line."""
    table, labels = tmp_path / "table.csv", tmp_path / "labels.txt"
    table.write_text("old,new\n" + "1,1\n0,1\n1,0\n0,1\n" * 30)
    labels.write_text("".join(f"text {i // 4}\n" for i in range(120)))
    scores = {"old": [1, 0, 1, 0] * 30, "new": [1, 1, 0, 1] * 30}
    words = ("plan", "--table", str(table), "--runs", "20", "--format", "json")
    for more, given in (
        (("--epochs", "4"), {"epochs": 4}),
        (
            ("--clusters", str(labels), "--weigh", "clusters"),
            {"clusters": [i // 4 for i in range(120)], "weigh": "clusters"},
        ),
    ):
        ran, want = run(*words, *more), truebest.plan(scores, runs=20, **given)
        assert json.loads(ran.out) == json.loads(json.dumps(want.to_dict()))
    refused(run(*words, "--clusters", str(table)), "must have the label of each item of a closed set")
    refused(run(*words, "--clusters", "nosuch"), "cannot read 'nosuch'")
