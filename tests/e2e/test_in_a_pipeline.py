"""`truebest identify` as a check in a script: exit codes, progress without a terminal, formats."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import truebest
from support.commands import Ran, instead, refused, run
from truebest.running import view


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two commands: new is always right, old never."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRUEBEST_STORE", raising=False)


def identify(*more: str) -> Ran:
    """A choice between the two."""
    arms = ("--arm", "old=echo 0", "--arm", "new=echo 1")
    return run("identify", *arms, *instead(["--bounds", "0,1", "--max-samples", "100"], *more))


def test_the_exit_code_is_the_answer() -> None:
    """0 if the expected arm is the best, 5 if another is, 3 if the budget ran out; else a refusal."""
    assert identify("--expect", "new").code == 0
    assert identify("--expect", "old").code == 5
    assert identify("--expect", "new", "--max-samples", "3").code == 3
    assert identify().code == 0
    refused(identify("--expect", "newer"), "--expect must name one of the arms old, new, got 'newer'")
    assert identify("--expect", "new", "--tolerance", "0.9").code in (0, 5)


def test_formats() -> None:
    """Markdown for a comment, JSON for a program."""
    ran = identify("--format", "markdown")
    lines = ran.out.splitlines()
    assert lines[0].startswith("new is best; wrong with probability at most 5%")
    assert lines[2].startswith("| arm | samples | mean |")
    assert lines[3].startswith("| --- | ---: |")
    assert [line.split(" | ")[0] for line in lines[4:6]] == ["| new", "| old"]
    assert lines[7].startswith("Besides the decision, each end of an interval holds by itself")
    assert json.loads(identify("--format", "json").out)["best"] == "new"


def test_markdown_shows_names_as_they_are() -> None:
    """Bars, stars and tags do not become markup."""
    result = truebest.identify({"a|b": lambda: 1.0, "<b>*x*": lambda: 0.0}, bounds=(0, 1), max_samples=100)
    table = result.to_markdown().splitlines()[2:6]
    assert len({line.count(" | ") for line in table}) == 1
    assert "| a\\|b |" in table[2]
    assert "\\<b\\>\\*x\\*" in table[3]


def test_a_line_every_ten_seconds_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """None in a run that is shorter; --quiet silences them."""
    assert identify().err == ""
    monkeypatch.setattr(view._Lines, "every", 0.3)
    slow = ("--arm", "third=sleep 0.2; echo 0", "--shell")
    lines = [line for line in identify(*slow).err.splitlines() if "elapsed" in line]
    assert len(lines) >= 2
    assert lines[0].startswith("undecided after") or "no result yet" in lines[0]
    assert "elapsed" not in identify(*slow, "--quiet").err


def test_a_callback_may_end_a_run() -> None:
    """By returning False; anything else, None too, lets it go on, and a decision is a decision."""
    arms = {"a": lambda: 0.5, "b": lambda: 0.5}
    seen: list[int] = []

    def enough(status: truebest.Account) -> object:
        seen.append(status.samples)
        return False if status.samples >= 7 else None

    result = truebest.identify(arms, bounds=(0, 1), max_samples=100, callbacks=[enough, lambda status: 0])
    assert (result.best, result.ended, result.samples) == (None, "callback", 7)
    assert seen == [1, 2, 3, 4, 5, 6, 7]
    assert "; a callback ended the run" in str(result)
    clear = {"a": lambda: 0.0, "b": lambda: 1.0}
    last = truebest.identify(
        clear, bounds=(0, 1), max_samples=100, callbacks=[lambda status: status.best is None]
    )
    assert (last.best, last.ended) == ("b", "decided")


def test_progress_takes_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In Python, too; any other text is refused."""
    monkeypatch.setattr(view._Lines, "every", 0.05)

    def slow() -> float:
        time.sleep(0.01)
        return 0.5

    truebest.identify({"a": slow, "b": slow}, bounds=(0, 1), max_samples=30, progress="lines")
    assert "elapsed" in capsys.readouterr().err
    with pytest.raises(truebest.InvalidInputError, match="True, False or 'lines'"):
        truebest.identify({"a": slow, "b": slow}, bounds=(0, 1), progress="often")  # type: ignore[arg-type]
