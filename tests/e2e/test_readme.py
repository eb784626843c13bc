"""Every command and block of the README runs, prints what it shows, and says what other pages say."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from docs.images import decision, page

import truebest
from support.commands import run
from support.system import require
from truebest.studies.paper.table1 import precise_table

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
GUIDES = ROOT / "docs" / "guides"
WITH_OUTPUT = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL)
INDENTED = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
COMMANDS = re.findall(r"^    (\S.*?)(?: +#.*)?$", INDENTED, re.MULTILINE)
WAYS = re.findall(r"^\| [^|]*\| (`[^|]+`) \|$", README, re.MULTILINE)
PYTHON = [words.strip("`") for words in WAYS if words.startswith("`truebest.")]
SCORE = "import os, sys; print(int(sys.argv[1] == 'new' or int(os.environ['TRUEBEST_ITEM']) % 2))"
SHELL = [re.findall(r"`(.*?)`", words) for words in WAYS if words.startswith("`truebest ")]


def printed(code: str) -> tuple[str, dict[str, Any]]:
    """What a block prints, and the names that it leaves."""
    out, names = io.StringIO(), {"__name__": "__main__"}
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), names)
    return out.getvalue(), names


@pytest.mark.parametrize(("code", "output"), WITH_OUTPUT)
def test_a_block_prints_what_is_shown_below_it(code: str, output: str) -> None:
    """Word for word."""
    assert printed(code)[0].splitlines() == output.splitlines()


def test_every_block_and_command_is_known_here() -> None:
    """Two blocks of Python with their outputs, the first of eight lines; and no command without a test."""
    assert README.count("```") == 4 * len(WITH_OUTPUT) == 8
    assert sum(bool(line.strip()) for line in WITH_OUTPUT[0][0].splitlines()) <= 8
    assert [command.split()[:2] for command in COMMANDS] == [
        ["pip", "install"],
        ["pip", "install"],
        ["truebest", "identify"],  # these three: test_serve_guide.py
        ["truebest", "identify"],
        ["truebest", "serve"],
        ["make", "run"],
        ["make", "test"],
    ]
    assert (len(PYTHON), len(SHELL)) == (2, 4)
    assert len(README.splitlines()) <= 120


def test_what_is_installed_is_this_package(tmp_path: Path) -> None:
    """By its name on PyPI, with extras that exist; and from a clone, with its page, into an empty folder."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert COMMANDS[0] == f"pip install {project['name']}"
    assert COMMANDS[1] == "pip install ."
    extras = re.findall(rf"pip install '{project['name']}\[(\w+)\]'", README)
    assert extras
    assert set(extras) <= set(project["optional-dependencies"])
    words = [sys.executable, "-m", *shlex.split(COMMANDS[1]), "--no-deps", "--target", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT)
    if "No matching distribution found for hatchling" in done.stderr:
        pytest.skip("there is no index from which pip could get hatchling")
    assert done.returncode == 0, done.stderr
    code = "import truebest; print(truebest.__file__, truebest.__version__)"
    found = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
    )
    assert found.stdout.split() == [str(tmp_path / "truebest" / "__init__.py"), truebest.__version__]
    assert (tmp_path / "truebest" / "server" / "static" / "index.html").exists()


@pytest.mark.parametrize(
    ("command", "last"), [("make run", "truebest reproduce"), ("make test", "-m pytest -n auto")]
)
def test_make_does_all_the_set_up(tmp_path: Path, command: str, last: str) -> None:
    """In a new clone it makes `.venv`, installs the package there, and then does what it is for."""
    assert command in COMMANDS
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    words = [*shlex.split(command), "--dry-run"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path, env=clean)
    places = [done.stdout.find(part) for part in ("-m venv .venv", "pip install", last)]
    assert -1 < places[0] < places[1] < places[2], done.stdout


def test_each_way_to_use_it_from_python_decides() -> None:
    """The first on the arms and items of the first block, the second on arms that are called with nothing."""
    names = printed(WITH_OUTPUT[0][0])[1]
    rng = np.random.default_rng(1)
    samples = {"a": lambda: float(rng.random() < 0.2), "b": lambda: float(rng.random() < 0.9)}
    results = [eval(PYTHON[0], names), eval(PYTHON[1], {**names, "arms": samples})]
    assert [result.best for result in results] == ["step by step", "b"]
    assert all(result.promise.bound == 0.05 for result in results)


@pytest.mark.parametrize("commands", SHELL, ids=lambda commands: commands[0].split()[1])
def test_each_way_to_use_it_from_a_shell_works(
    commands: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With numbers to sort, a test set and its program, and a store in the variable that the README names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests.jsonl").write_text("".join(f'{{"id": {n}}}\n' for n in range(300)))
    (tmp_path / "score").write_text(f"#!{sys.executable}\n{SCORE}")
    (tmp_path / "score").chmod(0o755)
    variable, store = re.findall(r"in the variable `(\w+)`, for example `(\S+)`", README)[0]
    monkeypatch.setenv(variable, store)
    numbers = np.random.default_rng(1).integers(0, 10**9, 30_000)
    (tmp_path / "numbers").write_text("\n".join(map(str, numbers)) + "\n")
    for command in commands:
        ran = run(*shlex.split(command)[1:])
        assert ran.code == 0, ran
    if len(commands) == 3:
        assert truebest.Experiment.open(store, "prompts").status().samples == 1
    else:
        assert ran.out.count("\n") >= 3


def test_the_one_line_is_the_same_everywhere() -> None:
    """On PyPI, in `--help`, in the citation and in the package's own docstring as in the README."""
    line = re.findall(r"^\*\*(.*?)\*\*", README, re.MULTILINE)[0]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = " ".join((ROOT / "CITATION.cff").read_text().split())
    assert project["description"] == line
    assert line in citation
    assert (truebest.__doc__ or "").startswith(line)
    assert line in re.sub(r"\s+", " ", run("--help").out)


def test_its_numbers_are_those_of_the_guides() -> None:
    """Why: how often looking goes wrong, what real results cost; the paper's table; the time of a step."""
    live = " ".join((GUIDES / "live.md").read_text().split())
    assert "95% interval excludes zero, declares a winner in 52% of all runs" in live
    assert "`tilt` at delta = 0.05 does so in 3%" in live
    assert "in 52% of runs; truebest does so in 3%" in README
    guide = (GUIDES / "test-sets.md").read_text()
    table = re.findall(r"^\| (?:AlpacaEval|GSM8K|CRUX).* items \|.*$", guide, re.MULTILINE)
    shares = np.array([[int(share) for share in re.findall(r"\| \.(\d\d)\b", row)] for row in table])
    assert shares.shape == (3, 6)
    said = {
        "random": rf"took {shares[:, :2].min()}% to {shares[:, :2].max()}% of the calls",
        "neighbours": rf"took {shares[:, 2:4].min()}% to {shares[:, 2:4].max()}% of the calls",
        "tolerance": rf"with a tolerance of 0.02, {shares[:, 4:].min()}% to {shares[:, 4:].max()}%",
    }
    assert {kind: words for kind, words in said.items() if words not in README} == {}
    kept = {(round(cell.mean_samples), cell.published) for cell in precise_table()}
    shown = {tuple(map(int, pair)) for pair in re.findall(r"(\d+) / (\d+) (?=\|)", README)}
    assert len(shown) == 8
    assert shown <= kept
    (step,) = re.findall(r"five arms takes (\d+) ns", README)
    assert f"| EBS, D-tracking | {step} |" in (ROOT / "docs" / "speed.md").read_text()


def test_the_recording_is_what_its_script_draws() -> None:
    """To the byte, and it ends with what the first block prints."""
    drawn = decision.picture()
    assert drawn == decision.FILE.read_text(), "run `python -m docs.images.decision` and look at the picture"
    end = drawn[drawn.rindex("<g ") :]
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", end)).strip()
    assert words == re.sub(r"\s+", " ", WITH_OUTPUT[0][1]).strip()


@pytest.mark.slow
def test_the_recording_moves_in_a_browser(tmp_path: Path) -> None:
    """Chromium shows other moments one after the other, and no error."""
    from support.devtools import browser

    require("chromium")
    with browser(tmp_path) as tab:
        tab.open(decision.FILE.as_uri())
        at = "Number(getComputedStyle(document.querySelector('#m{}')).opacity)"
        for moment in (0, 1, len(decision.MOMENTS)):
            tab.until(f"{at.format(moment)} === 1")
        assert tab.problems == []


@pytest.mark.slow
def test_the_picture_of_the_page_shows_what_the_page_says(tmp_path: Path) -> None:
    """The kept one is of the size that its script takes, and its words are those of the page as it is now."""
    require("chromium")
    page.take(tmp_path / "serve.png")
    images = [matplotlib.image.imread(file) for file in (page.FILE, tmp_path / "serve.png")]
    assert images[0].shape[:2] == images[1].shape[:2] == (page.HEIGHT, page.WIDTH)
    kept, now = page.words(page.FILE), page.words(tmp_path / "serve.png")
    assert kept == now, "run `python -m docs.images.page` and look at the picture"
