"""`--known` in a script: what is called, what is printed, what a killed run keeps, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from e2e.test_solve_command import COMMAND
from support.commands import Ran, refused, run

STORE = "sqlite:///runs.db"
ITEMS = 60
OLD = [float(i % 3 == 0) for i in range(ITEMS)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Items with ids, stored scores of the old one in another order, and new ones that note their calls."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRUEBEST_STORE", raising=False)
    lines = [json.dumps({"id": f"q{i}", "text": "x" * i}) for i in range(ITEMS)]
    (tmp_path / "items.jsonl").write_text("\n".join(lines))
    stored = [json.dumps({"id": f"q{i}", "score": x}) for i, x in reversed(list(enumerate(OLD)))]
    (tmp_path / "old.jsonl").write_text("\n".join(stored))
    columns = "\n".join(f"q{i},{x},{1 - x}" for i, x in enumerate(OLD))
    (tmp_path / "others.csv").write_text(f"id,m1,m2\n{columns}\n")
    for name, text in (
        ("new", "echo $TRUEBEST_ITEM >> calls; echo $(( TRUEBEST_ITEM % 3 == 0 || TRUEBEST_ITEM % 4 == 1 ))"),
        ("slow", "echo $TRUEBEST_ITEM >> calls; sleep 0.05; echo $(( TRUEBEST_ITEM % 3 == 0 ))"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)


def identify(*more: str, arm: str = "new") -> Ran:
    words = ["identify", "--items", "items.jsonl", "--bounds", "0,1", "--arm", f"new=./{arm}", "--seed", "5"]
    return run(*words, *more)


def calls() -> list[str]:
    return Path("calls").read_text().split()


def test_only_the_new_one_is_called() -> None:
    """And the old one is shown as known, in a table; --expect knows it."""
    found = identify("--known", "old=old.jsonl", "--quiet", "--expect", "new")
    assert found.code == 0
    count = len(calls())
    assert f"; {count} samples on {count} of 60 items, with old known" in found.out
    assert "and the scores of old as they were given" in found.out
    assert "known" in next(line for line in found.out.splitlines() if line.startswith("old")).split()
    beside = identify("--known", "old=old.jsonl", "--proxies", "others.csv", "--quiet", "--expect", "old")
    assert beside.code == 5


def test_a_gate_is_asked_against_stored_scores() -> None:
    """In one line, with the exit codes of any gate; the margin may be a part of what is known."""
    words = [
        "gate",
        "--known",
        "old=old.jsonl",
        "--candidate",
        "new=./new",
        "--items",
        "items.jsonl",
        "--quiet",
    ]
    found = run(*words, "--margin", "5%")
    assert found.code == 0
    assert found.out.startswith("new is not worse than old by more than 0.0166")
    assert len(calls()) < ITEMS
    assert run(*words, "--at-least", "0.3").code == 5
    refused(run(*words[:1], *words[3:], "--margin", "0.1"), "give one baseline, by --baseline")


def test_the_scores_of_a_run_in_the_store_are_known() -> None:
    """By the name of the run, if it is of these items; without --store there is none."""
    Path("old").write_text("#!/bin/sh\necho $(( TRUEBEST_ITEM % 3 == 0 ))\n")
    Path("old").chmod(0o755)
    both = ["--arm", "old=./old", "--arm", "same=./old", "--items", "12", "--store", STORE, "--quiet"]
    assert run("identify", *both, "--bounds", "0,1", "--name", "before").code == 0
    words = ["gate", "--known", "old=before", "--candidate", "new=./new", "--items", "12", "--margin", "0.1"]
    found = run(*words, "--store", STORE, "--quiet")
    assert found.code == 0
    assert "and the scores of old as they were given" in found.out
    assert len(calls()) <= 12
    refused(run(*words, "--quiet"), "cannot read the scores from 'before': No such file or directory; ")
    refused(
        run(*words[:6], "items.jsonl", "--margin", "0.1", "--store", STORE, "--name", "other"),
        "must be scores on the same items, 60 items with the hash",
    )


def test_a_number_is_asked_beside_stored_scores() -> None:
    """Of both, of which one is known; and what is at most a number."""
    words = ["check", "--known", "old=old.jsonl", "--arm", "new=./new", "--items", "items.jsonl", "--quiet"]
    found = run(*words, "--at-least", "0.4", "--format", "json")
    assert found.code == 0  # it is no news that the old one fails
    assert json.loads(found.out)["answer"] == {"kind": "verdicts", "passed": ["new"], "failed": ["old"]}
    assert json.loads(found.out)["name"] == "check"
    assert len(calls()) < ITEMS
    small = run(*words, "--at-most", "0.9")
    assert small.code == 0
    assert small.out.startswith("the means of new, old are at most 0.9; wrong")
    refused(run(*words), "check compares means with one number, got none; give either --at-least 0.9")
    refused(run(*words, "--at-most", "1"), "--at-most 1 needs a number that is at least 0, and below 1")
    refused(
        run(*words, "--at-most", "0.5", "--at-least", "0.5"), "compares means with one number, got two; give"
    )


def test_a_killed_run_goes_on_and_other_scores_are_refused() -> None:
    """Nothing that was told is lost; the same command resumes it, one with changed scores does not."""
    words = [
        "--known",
        "old=old.jsonl",
        "--proxies",
        "others.csv",
        "--store",
        STORE,
        "--name",
        "r",
        "--quiet",
    ]
    start = [
        "identify",
        "--items",
        "items.jsonl",
        "--bounds",
        "0,1",
        "--arm",
        "new=./slow",
        "--seed",
        "5",
        *words,
    ]
    with subprocess.Popen([*COMMAND, *start], start_new_session=True, stdout=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60.0
        while not (Path("calls").exists() and len(calls()) >= 6) and time.monotonic() < end:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    before = json.loads(run("status", "r", "--store", STORE, "--format", "json").out)
    assert 0 < before["progress"]["samples"] < ITEMS
    kept = Path("old.jsonl").read_text()
    Path("old.jsonl").write_text(kept.replace('"score": 1.0', '"score": 0.5', 1))
    changed = identify(*words, arm="slow")
    refused(changed, "experiment 'r' was created with scores of old on 60 items, beside those of 2 proxies")
    assert "give a new experiment another name" in changed.err
    Path("old.jsonl").write_text(kept)
    after = identify(*words, arm="slow")
    assert after.code == 0
    assert f"is best, tied with {'old' if after.out.startswith('new') else 'new'} on all 60" in after.out
    assert len(set(calls())) == ITEMS
    assert json.loads(run("verify", "r", "--store", STORE, "--format", "json").out)["sound"]


def test_what_is_wrong_is_said_in_a_sentence() -> None:
    """Before anything is called."""
    refused(identify("--known", "old.jsonl"), "must be NAME=FILE")
    refused(identify("--known", "old=old.jsonl", "--known", "old=old.jsonl"), "a second time")
    Path("short.jsonl").write_text('{"id": "q1", "score": 1}\n')
    refused(identify("--known", "old=short.jsonl"), "got 59 without a score, the first 'q0'")
    Path("bad.jsonl").write_text("no number\n")
    refused(identify("--known", "old=bad.jsonl"), "line 1 of 'bad.jsonl' must be a number or a record")
    assert not Path("calls").exists()


def test_a_harness_asks_for_the_others_alone() -> None:
    """`create` and `ask`: no pull is of the known arm, and `create` shows a hash and not all scores."""
    made = run(
        *("create", "x", "--items", "3", "--bounds", "0,1", "--arm", "new", "--store", STORE),
        *("--known", "old=scores.txt"),
    )
    assert made.code == 2
    Path("scores.txt").write_text("0\n1\n1\n")
    made = run(
        *("create", "x", "--items", "3", "--bounds", "0,1", "--arm", "new", "--store", STORE),
        *("--known", "old=scores.txt"),
    )
    assert made.code == 0
    assert "scores of old on 3 items, with the hash" in made.out
    asked = json.loads(run("ask", "x", "-n", "9", "--store", STORE, "--format", "json").out)
    assert [pull["arm"] for pull in (asked["pulls"] if isinstance(asked, dict) else asked)] == ["new"] * 3


def test_a_plan_is_shown_in_time() -> None:
    """Of the calls of the new one, and of everything."""
    rows = "\n".join(f"{x},{float(i % 3 == 0 or i % 4 == 1)}" for i, x in enumerate(OLD))
    Path("scores.csv").write_text(f"old,new\n{rows}\n")
    found = run("plan", "--table", "scores.csv", "--known", "old", "--seconds-per-call", "60", "--runs", "20")
    assert found.code == 0
    header, *lines = [line.split() for line in found.out.splitlines() if line.strip()]
    assert header[:3] == ["design", "calls", "time"]
    assert [line[0] for line in lines] == ["paired", "everything"]
    assert lines[1][1:4] == ["60", "60", "min"]
