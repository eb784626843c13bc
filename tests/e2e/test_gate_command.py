"""`truebest gate` in a script: one sentence, an exit code, and all that `truebest identify` does besides."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import truebest
from e2e.test_solve_command import COMMAND
from support.commands import Ran, instead, refused, run
from truebest.experiment.overview import overview
from truebest.experiment.store import open_store
from truebest.server.views import summary

STORE = "sqlite:///runs.db"
LATELY = "echo $(( TRUEBEST_SEED / 16 % 10 < {} ))"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that succeed in so many of ten calls, or on so many of 60 items."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRUEBEST_STORE", raising=False)
    (tmp_path / "items.txt").write_text("".join(f"question {i}\n" for i in range(60)))
    for tenths in (2, 8, 9):
        script(tmp_path / f"s{tenths}", LATELY.format(tenths))
    for sixtieths in (39, 40, 42):
        script(tmp_path / f"i{sixtieths}", f"echo $(( TRUEBEST_ITEM < {sixtieths} ))")


def script(file: Path, text: str) -> None:
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def gate(old: str, *new: str, more: str = "") -> Ran:
    """With several candidates, each under the name of its script."""
    candidates = [word for name in new for word in ("--candidate", f"{name}=./{name}")]
    budget = ["--max-samples", "3000", "--seed", "5"]
    return run("gate", "--baseline", f"old=./{old}", *candidates, *instead(budget, *more.split()))


def test_the_exit_code_is_the_verdict() -> None:
    """0 passed, 5 failed, 3 undecided; of several, 0 only if all pass."""
    passed = gate("s8", "s9", more="--margin 0.1")
    assert passed.code == 0
    assert passed.out.startswith(
        "s9 is not worse than old by more than 0.1; wrong with probability at most 5%, assuming independent "
        "values in [0, 1]; "
    )
    failed = gate("s8", "s2", more="--margin 0.1 --quiet")
    assert (failed.code, failed.err) == (5, "")
    assert failed.out.startswith("s2 is worse than old by more than 0.1; wrong with")
    both = gate("s8", "s9", "s2", more="--margin 0.15 --quiet")
    assert both.code == 5
    assert both.out.startswith(
        "s9 is not worse than old by more than 0.15; s2 is worse than old by more than"
    )
    undecided = gate("s8", "s9", more="--margin 0 --max-samples 20")
    assert undecided.code == 3
    assert undecided.out.startswith(
        "undecided after 20 samples; s9 is worse than old by 0.2 so far (better by -"
    )
    assert "give a larger --max-samples" in undecided.err


def test_on_items_the_margin_is_kept_exactly() -> None:
    """Of 60 items three fewer: not worse by more than 0.05, and worse by more than a bit less."""
    exact = "--items items.txt --delta 1e-30 --quiet"
    equal = gate("i42", "i39", more=f"--margin 0.05 {exact}")
    assert (equal.code, equal.out.splitlines()[0].split("; ")[-1]) == (0, "120 samples on 60 of 60 items")
    assert gate("i42", "i39", more=f"--margin 0.0499999999999 {exact}").code == 5
    assert gate("i42", "i40", more=f"--margin 0.033 {exact}").code == 5
    assert gate("i40", "i40", more=f"--margin 0 {exact}").code == 5
    assert gate("i40", "i42", more=f"--margin 0 {exact}").code == 0
    assert gate("i40", "i42", more=f"--at-least 0.03 {exact}").code == 0
    assert gate("i40", "i42", more=f"--at-least 0.034 {exact}").code == 5
    assert gate("i42", "i40", more=f"--margin 0 --minimize {exact}").code == 0


def test_formats() -> None:
    """JSON says who passed, CSV has a verdict per arm, Markdown is for a comment."""
    found = json.loads(gate("s8", "s9", "s2", more="--margin 0.15 --format json").out)
    assert found["answer"] == {"kind": "verdicts", "passed": ["s9"], "failed": ["s2"]}
    assert (found["best"], found["decided"]) == (None, True)
    rows = gate("s8", "s9", "s2", more="--margin 0.15 --format csv").out.splitlines()
    assert [row.split(",")[1] for row in rows] == ["role", "baseline", "passed", "failed"]
    text = gate("s8", "s9", more="--margin 0.15 --format markdown").out
    assert "| arm | verdict | samples | mean |" in text
    assert "better than old by |" in text


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("", "give --margin, by how much a new one may be worse, such as --margin 0.02; --margin 0 asks"),
        ("--margin 1", "truebest: margin must be smaller than the distance between the bounds, 1, got 1"),
        (
            "--margin -1",
            "--at-least, or minus the margin, must be smaller than the distance between the bounds, 1, got 1",
        ),
        (
            "--at-least 2",
            "--at-least, or minus the margin, must be smaller than the distance between the bounds, 1, got 2",
        ),
        (
            "--margin 0.1 --baseline x=./s2",
            "give one baseline, by --baseline with its command or by --known with its",
        ),
        ("--margin much", "margin must be a number in the values' units, or a part of"),
        ("--margin 5%", "--margin 5% is a part of the baseline's mean, which must be known for sure"),
        ("--margin 0.1 --at-least 0.1", "got 0.1 and 0.1"),
        ("--at-least 0", "must be positive, got 0"),
        ("--margin 0.1 --stopping gk16", "cannot answer"),
        ("--margin 0.1 --baseline s9=./s8", "the names of the arms must differ"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(more: str, words: str) -> None:
    if "--baseline s9" in more:
        ran = run("gate", "--baseline", "s9=./s8", "--candidate", "s9=./s9", "--margin", "0.1")
    else:
        ran = gate("s8", "s9", more=more)
    refused(ran, words)


def test_a_run_in_a_store_is_resumed_and_keeps_its_question() -> None:
    """The same command goes on; another margin is refused, and what is decided costs nothing."""
    asked = f"--margin 0.1 --store {STORE}"
    begun = gate("s8", "s9", more=f"{asked} --max-samples 40")
    assert begun.code == 3
    refused(
        gate("s8", "s9", more=f"--margin 0.2 --store {STORE}"),
        "exists with question Gate (not worse than old by more than 0.1), got Gate (not worse than old by "
        "more than 0.2); resume it with the same question, or give a new experiment another name.",
    )
    ended = gate("s8", "s9", more=asked)
    assert ended.code == 0
    again = gate("s8", "s9", more=f"{asked} --quiet")
    assert again.code == 0
    assert "already decided, so nothing was run" in again.out
    assert run("status", "gate", "--store", STORE, "--exit-code").code == 0
    listed = run("list", "--store", STORE, "--format", "json")
    assert json.loads(listed.out)[0]["decision"] == "s9 is not worse than old by more than 0.1"
    checked = run("verify", "gate", "--store", STORE)
    assert checked.code == 0
    assert "s9 passed (follows from the log)" in checked.out


def test_bounds_that_are_left_out_are_those_of_the_store() -> None:
    """Only a new run takes values to lie in [0, 1]; in Python, too."""
    words = shlex.split("gate --baseline old='echo 8' --candidate new='echo 7' --margin 2 --items 200")
    kept = ("--store", "sqlite:///tens.db", "--quiet")
    assert run(*words, *kept, "--bounds", "0,10", "--max-samples", "6").code == 3
    assert run(*words, *kept, "--max-samples", "12").code == 3
    refused(run(*words), "smaller than the distance between the bounds, 1, got 2")
    store = open_store("sqlite:///tens.db")
    asked: dict[str, Any] = {"margin": 2, "items": 200, "store": store, "name": "python", "max_samples": 6}
    asked["bounds"] = (0, 10)
    for _ in range(2):
        truebest.gate(lambda _: 8.0, lambda _: 7.0, **asked)
        asked.pop("bounds", None)
        assert truebest.Experiment.open(store, "python").settings.values == truebest.Bounded(0.0, 10.0)


def test_every_look_at_a_gate(tmp_path: Path) -> None:
    """Status, forecast, report and picture of one that is open, and of one that is decided."""
    asked = f"--margin 0.1 --store {STORE} --quiet"
    for budget in (40, 3000):
        gate("s8", "s9", more=f"{asked} --max-samples {budget}")
        shown = run("status", "gate", "--store", STORE)
        assert ("open       s9" in shown.out) == (budget == 40)
        assert ("passed     s9" in shown.out) == (budget == 3000)
        assert run("forecast", "gate", "--store", STORE).code == 0
        report = run("report", "gate", "--store", STORE, "--output", "report.html")
        assert report.code == 0
        page = (tmp_path / "report.html").read_text()
        assert "where an option begins to pass" in page
        assert "<h2>What is asked?" not in page
        assert run("plot", "gate", "--store", STORE, "--output", "picture.png").code == 0


def test_a_question_by_options_of_identify_and_create() -> None:
    """--gate names the baseline; without it a margin means nothing, and no best arm can be expected."""
    arms = ["--arm", "old=./s8", "--arm", "new=./s9", "--bounds", "0,1", "--seed", "5", "--quiet"]
    ran = run("identify", *arms, "--gate", "old", "--margin", "0.1", "--max-samples", "3000")
    assert (ran.code, ran.out.partition(";")[0]) == (0, "new is not worse than old by more than 0.1")
    refused(
        run("identify", *arms, "--margin", "0.1"), "--margin makes no question; ask --gate with --margin or"
    )
    refused(
        run("identify", *arms, "--gate", "0", "--margin", "0"),
        "baseline must be one of the arms old, new, got '0'",
    )
    refused(
        run("identify", *arms, "--gate", "old", "--margin", "0", "--expect", "new"),
        "--expect names the best arm, and",
    )
    refused(
        run("identify", *arms, "--gate", "old", "--margin", "0", "--strategy", "tas-d"), "choose 'uniform'"
    )
    refused(
        run("identify", *arms, "--gate", "old", "--margin", "0", "--tolerance", "0.1"), "knows no tolerance"
    )
    refused(
        run("identify", *arms, "--gate", "old"), "give --margin, by how much a new one may be worse, such"
    )
    new = f"create g --store {STORE} --arm old --arm new --bounds 0,1 --gate old".split()
    refused(run(*new), "give --margin, by how much a new one may be worse, such as --margin 0.02; --margin 0")
    assert run(*new, "--margin", "0").code == 0
    refused(
        run(*f"create w --store {STORE} --arm old --arm new --compare wins --gate old --margin 0".split()),
        "is asked of means, got --compare wins too",
    )


def test_check_asks_whether_a_mean_is_at_least_a_number() -> None:
    """One arm or several, of calls or of items; in other bounds; the exit code is the verdict."""
    words = ["check", "--arm", "agent=./s9", "--max-samples", "3000", "--seed", "5", "--quiet"]
    passed = run(*words, "--at-least", "0.7")
    assert passed.code == 0
    assert passed.out.startswith(
        "the mean of agent is at least 0.7; wrong with probability at most 5%, assuming independent values "
        "in [0, 1]; "
    )
    both = run(*words, "--arm", "bad=./s2", "--at-least", "0.7")
    assert both.code == 5
    assert both.out.startswith("the mean of agent is at least 0.7; the mean of bad is below 0.7; wrong with")
    undecided = run(*instead(words, "--at-least", "0.88", "--max-samples", "20"))
    assert undecided.code == 3
    assert undecided.out.startswith("undecided after 20 samples; the mean of agent is ")
    table = undecided.out.splitlines()[2].split()
    assert table == ["arm", "verdict", "samples", "mean", "mean", "between", "sd"]
    found = json.loads(run(*words, "--at-least", "0.7", "--format", "json").out)
    assert found["answer"] == {"kind": "verdicts", "passed": ["agent"], "failed": []}
    assert found["standings"][0]["between"][0] >= 0.7
    exact = ["check", "--arm", "agent=./i42", "--items", "items.txt", "--delta", "1e-30", "--quiet"]
    assert run(*exact, "--at-least", "0.7").code == 0
    assert run(*exact, "--at-least", "0.701").code == 5
    ten = ["check", "--arm", "agent=echo 10", "--bounds", "0,10", "--quiet", "--max-samples", "300"]
    assert run(*ten, "--at-least", "9").out.startswith("the mean of agent is at least 9; ")
    refused(
        run(*words, "--at-least", "1.5"),
        "--at-least 1.5 needs a number that is above 0, and at most 1, as values are; it is what the mean of",
    )
    refused(run(*words, "--at-least", "most"), "--at-least must be one real number, got 'most'")


def test_a_control_names_the_arms_that_are_better() -> None:
    """By an option of identify, with the list alone that counts, too."""
    arms = ["--arm", "old=./s2", "--arm", "new=./s9", "--arm", "same=./s2", "--bounds", "0,1", "--seed", "5"]
    words = ["identify", *arms, "--quiet", "--max-samples", "4000", "--against", "old", "--margin", "0.3"]
    for more in ((), ("--only", "better")):
        ran = run(*words, *more)
        assert ran.code == 5
        assert ran.out.startswith("new is better than old by more than 0.3; same is not better than old by")
    refused(run(*words, "--only", "worse"), "only must be")
    refused(
        run(*words, "--gate", "old"), "make no question; ask --gate with --margin or --at-least, --against"
    )
    refused(run(*words, "--only", "better", "--student"), "give one of --sigma")


def test_a_pipe_that_is_closed_and_an_interrupt() -> None:
    """The verdict is the exit code all the same; after Ctrl-C one line, and the results are stored."""
    words = ["gate", "--baseline", "old=./s8", "--candidate", "s9=./s9", "--margin", "0.1", "--store", STORE]
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(600) == 0
    script(Path("slow"), "sleep 0.2; echo 1")
    words = [*words[:3], "--candidate", "slow=./slow", "--margin", "0.1", "--store", STORE, "--name", "slow"]
    how = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "start_new_session": True}
    with subprocess.Popen([*COMMAND, *words], text=True, **how) as process:  # type: ignore[call-overload]
        while (
            '"slow"' not in run("list", "--store", STORE, "--format", "json").out and process.poll() is None
        ):
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        err = process.communicate(timeout=600)[1]
    assert process.returncode == 130
    assert "the same command resumes the run" in err
    assert "Traceback" not in err


def test_an_answer_from_all_items_is_certain() -> None:
    """On the sums of all items nothing is left to chance; that of fewer items, or of others, is."""
    exact = ["--items", "items.txt", "--margin", "0", "--quiet"]
    same = run("gate", "--baseline", "old=./i40", "--candidate", "new=./i40", *exact, "--store", STORE)
    assert summary(overview(open_store(STORE), "gate"))["facts"][-1] == "certain"
    assert same.out.splitlines()[0] == (
        "new is not better than old; certain, since all items were used, for these answers to these 60 "
        "items; 120 samples on 60 of 60 items"
    )
    assert "probability" not in same.out
    early = run("gate", "--baseline", "old=./i42", "--candidate", "new=./s2", *exact)
    assert "wrong with probability at most 5%" in early.out
    alone = ["check", "--arm", "agent=./i42", "--items", "items.txt", "--quiet", "--format", "json"]
    for least, certain in (("0.7", True), ("0.2", False)):
        found = json.loads(run(*alone, "--at-least", least).out)
        assert found["promise"]["certain"] == certain
        assert found["promise"]["bound"] == 0.05


def test_what_is_wrong_is_said_in_the_words_of_the_command() -> None:
    """Items that are not there, a value outside the bounds, a format, and an option given twice."""
    words = ["check", "--arm", "agent=./s9", "--at-least", "0.7", "--max-samples", "30"]
    Path("empty.txt").write_text("")
    refused(
        run(*words, "--items", "nosuch"), "name a file with one item per line, or give how many there are"
    )
    refused(run(*words, "--items", "empty.txt"), "there must be 1 to 10000000 items, got none in 'empty.txt'")
    refused(run(*words, "--format", "xml"), "Invalid value for '--format': 'xml' is not one of 'table',")
    refused(
        run(*words, "--at-least", "0.8"), "--at-least may be given once, got it 2 times; leave the others"
    )
    assert run(*words, "--quiet", "--quiet").code in (0, 3, 5)
    outside = ["check", "--arm", "agent=echo 1.0000001", "--at-least", "0.7", "--max-samples", "30"]
    alone = run(*outside)
    assert (alone.code, alone.out) == (1, "")
    assert alone.err == (
        "truebest: pull 1 of arm 'agent' gave 1.0000001, outside the bounds [0, 1]; correct the arm, or run "
        "again with the right bounds.\n"
    )
    assert "retract the pull with the right value" in run(*outside, "--store", STORE).err


def test_each_command_stores_under_its_own_name() -> None:
    """A gate, a check and a best arm in one store are three experiments."""
    how = ["--max-samples", "3000", "--seed", "5", "--store", STORE, "--quiet"]
    assert run("gate", "--baseline", "a=./s8", "--candidate", "b=./s9", "--margin", "0.1", *how).code == 0
    assert run("check", "--arm", "a=./s8", "--at-least", "0.5", *how).code == 0
    assert run("identify", "--arm", "a=./s2", "--arm", "b=./s9", "--bounds", "0,1", *how).code == 0
    listed = json.loads(run("list", "--store", STORE, "--format", "json").out)
    assert sorted(one["name"] for one in listed) == ["check", "gate", "identify"]
