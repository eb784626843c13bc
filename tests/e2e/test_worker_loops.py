"""The loops of the guide, in bash and for Node, end decided, although a pull was lost; and exit codes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.test_solve_command import truebest
from support.commands import run
from support.system import require
from truebest import Experiment
from truebest.cli import CODES

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "live.md").read_text()
EVALUATE = """#!/bin/sh
case $1 in long) echo 1 ;; *) echo 0 ;; esac
"""


def block(language: str) -> str:
    """The only block of the guide in that language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    return str(found)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a store, an experiment that waits for a lost pull, and something to measure with."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRUEBEST_STORE", "sqlite:///runs.db")
    folder = os.path.dirname(sys.executable)
    monkeypatch.setenv("PATH", folder + os.pathsep + os.environ["PATH"])
    (tmp_path / "evaluate").write_text(EVALUATE)
    (tmp_path / "evaluate").chmod(0o755)
    words = ("--arm", "short", "--arm", "long", "--bounds", "0,1", "--delta", "0.4", "--seed", "1")
    assert run("create", "prompts", *words).code == 0
    assert run("ask", "prompts").code == 0  # and nobody will answer
    return tmp_path


@pytest.mark.parametrize(
    ("language", "package", "program"),
    [("bash", "bash", "bash"), pytest.param("js", "nodejs", "node", marks=pytest.mark.slow)],
)
def test_the_loops_of_the_guide_end_decided(place: Path, language: str, package: str, program: str) -> None:
    """They wait for the lost pull, ask again until it is issued again, and leave a decision."""
    script = place / f"worker.{language}"
    script.write_text(block(language))
    said: list[str] = []
    with subprocess.Popen(
        [require(package)[program], str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdout is not None
        assert worker.stderr is not None
        for line in worker.stderr:
            if "nothing to ask for now" in line and not said:
                assert run("reclaim", "prompts").code == 0  # as the end of its lease would do
                said.append(line)
        out = worker.stdout.read()
    assert worker.returncode == 0
    assert said  # it did have to wait
    assert "long" in out
    status = run("status", "prompts")
    assert "decision   long" in status.out
    assert "pulls that were interrupted: 1" in status.out


def test_a_suspended_experiment_ends_the_loop_with_a_failure(place: Path) -> None:
    """The negative control: such a loop does not look decided."""
    (place / "evaluate").write_text("#!/bin/sh\necho 7\n")
    done = subprocess.run(["bash", "-c", block("bash")], capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    assert "is suspended" in done.stderr


def test_exit_codes_stand_in_one_place() -> None:
    """The guide and the help say what the table of the code says."""
    table = re.search(r"### Exit codes\n(.*?)\n### ", GUIDE, re.DOTALL)
    assert table is not None
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", table.group(1), re.MULTILINE)
    assert {int(code): words for code, words in rows} == CODES
    shown = " ".join(re.sub(r"[│]", " ", truebest("--help").stdout).split())
    assert all(f"{code} {words}" in shown for code, words in CODES.items())


def test_the_loop_in_python_ends_decided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the guide has it, on an experiment that waits for a lost pull."""
    monkeypatch.chdir(tmp_path)
    (code,) = [
        text for text in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL) if "experiment.ask(4)" in text
    ]
    with Experiment.create(
        "sqlite:///runs.db", "prompts", ["short", "long", "cot"], 0.05, bounds=(0, 1), seed=1, lease=3.0
    ) as experiment:
        (lost,) = experiment.ask()
        exec(compile(code, "guide", "exec"), {"__name__": "__main__"})
        assert experiment.status().best == "cot"
        assert [e.kind for e in experiment.history() if e.pull == lost.id][:3] == ["asked", "lapsed", "asked"]
