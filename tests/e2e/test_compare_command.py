"""`truebest compare` from the outside."""

from __future__ import annotations

import csv
import inspect
import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import truebest
from support.browser import visit
from support.commands import instead, refused, run
from truebest.cli.compare import compare as compare_command

BASE = (
    "compare",
    "--suite",
    "paper",
    "--strategy",
    "ebs-open-need,tas-d,racing",
    "--runs",
    "5",
    "--seed",
    "1",
)
QUICK = (*BASE, "--stability-runs", "0")


def test_tables_for_people() -> None:
    """The standings, by kind of bandit, shares and losses; on demand every bandit; remarks on stderr."""
    ran = run(*BASE, "--stability-runs", "1", "--per-bandit")
    assert ran.code == 0
    parts = ran.out.split("\n\n")
    assert [part.split("\n")[0].split()[0] for part in parts[:3]] == ["strategy", "Geometric", "Share"]
    assert "targets move" in parts[0]
    assert "loses by more than two standard errors on" in parts[3]
    assert parts[-1].startswith("Fewest samples on every bandit")
    assert [line.split()[0] for line in parts[-1].splitlines()[2:]] == ["mu1", "mu2", "mu3", "mu4"]
    assert "4 bandits, 5 runs of each strategy on the same rewards, stopped by mixture" in ran.err


def test_defaults_are_those_of_python() -> None:
    """What the command takes if nothing is given, help shows, without loading what it would run."""
    given = inspect.signature(compare_command).parameters
    python = inspect.signature(truebest.compare).parameters
    for name in ("delta", "runs", "seed", "max_samples", "stability_runs"):
        assert float(given[name].default) == python[name].default, name
    assert given["stopping"].default == python["stopping"].default
    suite = truebest.load_suite(given["suite"].default.split(","))
    assert suite == truebest.load_suite(python["suite"].default)
    assert len(suite) == 70


def test_json_csv_and_files(tmp_path: Path) -> None:
    """JSON has everything, CSV a line for each bandit and strategy; the page and the picture are written."""
    ran = run(*QUICK, "--delta", "0.1,0.01", "--format", "json", "--resume", str(tmp_path / "parts.json"))
    found = json.loads(ran.out)
    assert {row["strategy"] for row in found["standings"]} == {"ebs-open-need", "tas-d", "racing"}
    assert [row["delta"] for row in found["standings"]] == [0.1] * 3 + [0.01] * 3
    assert found["settings"]["suite"] == ["paper"]
    files = {name: str(tmp_path / name) for name in ("out.csv", "page.html", "profile.png")}
    again = run(
        *(*QUICK, "--delta", "0.1,0.01", "--format", "csv", "--resume", str(tmp_path / "parts.json")),
        *("--output", files["out.csv"], "--html", files["page.html"], "--plot", files["profile.png"]),
    )
    assert (again.code, again.out) == (0, "")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    assert [float(row["ratio"]) for row in rows] == [row["ratio"] for row in found["bandits"]]
    assert (tmp_path / "profile.png").read_bytes().startswith(b"\x89PNG")
    assert "takes the fewest samples" in (tmp_path / "page.html").read_text()
    assert f"the page is in {files['page.html']}" in again.err


def test_the_page_asks_the_network_for_nothing(tmp_path: Path) -> None:
    """In a browser: no request but for the page itself, and no complaint on the console."""
    file = tmp_path / "page.html"
    assert run(*QUICK, "--html", str(file)).code == 0
    seen = visit(file, tmp_path)
    assert seen.requests == []
    assert seen.console == []


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    """The code is 130, stderr says how to go on, and the file has finished parts."""
    file = tmp_path / "parts.json"
    words = instead(QUICK, "--runs", "2000", "--resume", str(file))
    command = [sys.executable, "-m", "truebest", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not file.exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert f"finished parts are in {file}; the same command goes on from there" in err
    assert "Traceback" not in err
    finished = json.loads(file.read_text())["finished"]
    assert next(iter(finished)).startswith("ebs-open-need on mu1 [")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--suite", "papers"], "suite must be one of"),
        (["--suite", "no.json"], "cannot read the suite"),
        (["--strategy", "tas"], "strategy must be one of"),
        (["--runs", "many"], "runs must be a whole number"),
        (["--reference", "bc"], "reference must be one of"),
        (["--html", "/nowhere/page.html"], "cannot write to"),
        (["--plot", "profile.txt"], "a picture must be a file that ends in"),
        (["--delta", "0"], "delta must lie strictly between 0 and 1"),
        (["--stopping", "soon"], "soon"),
    ],
)
def test_bad_input(words: list[str], part: str) -> None:
    """One line on stderr, and code 2."""
    refused(run(*instead(QUICK, *words)), part)
