"""`truebest create`, `ask`, `tell` and the others on a store: an experiment run from any language."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from e2e.test_solve_command import COMMAND, truebest
from support.commands import Ran, refused, run
from support.told import flat
from truebest import Experiment
from truebest._catalogue import DEFAULT_STRATEGY
from truebest.strategies import find_strategy, strategy_names

SEVERAL = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
ANY_TEXT = st.text(st.characters(), max_size=12)  # also control characters and halves of surrogate pairs


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A store in a folder of its own, known to all commands."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRUEBEST_STORE", "sqlite:///runs.db")
    return iter(["sqlite:///runs.db"])


def create(name: str = "x", *more: str) -> Ran:
    """Two arms in [0, 1]."""
    ran = run("create", name, "--arm", "short", "--arm", "long", "--bounds", "0,1", "--seed", "1", *more)
    assert ran.code == 0, ran.err
    return ran


def rows(*words: str) -> Any:
    """What a command prints as JSON."""
    ran = run(*words, "--format", "json")
    found = json.loads(ran.out)
    if words[0] == "ask":
        assert ran.code == {"": 0, "wait": 3, "suspended": 1}.get(found["reason"], 4), ran.err
        return found["pulls"]
    assert ran.code == 0, ran.err
    return flat(found) if words[0] == "status" else found


def log(name: str = "x") -> list[dict[str, Any]]:
    """What happened, in order."""
    events: list[dict[str, Any]] = rows("export", name)["events"]
    return events


def kinds(name: str = "x") -> list[str]:
    """The same, in a word each."""
    return [event["kind"] for event in log(name)]


def decide(name: str = "x") -> None:
    """Bring along so many values that the rule decides for long."""
    run("observe", name, "short", *["0"] * 40)
    ran = run("observe", name, "long", *["1"] * 40)
    assert ran.code == 0
    assert "decided: long is best" in ran.err


# -- the life of an experiment -------------------------------------------------------------------------


def test_from_the_first_ask_to_the_decision() -> None:
    """Ask and tell until ask has nothing more to give; then it says so, and the status has the decision."""
    create()
    value = {"short": "0", "long": "1"}
    asked = 0
    while pulls := rows("ask", "x", "-n", "8"):
        asked += len(pulls)
        assert rows("status", "x")["decision"] is None
        lines = "".join(f"{pull['id']},{value[pull['arm']]}\n" for pull in pulls)
        assert run("tell", "x", "--file", "-", stdin=lines).code == 0
        assert asked < 200
    none = '{\n  "reason": "decided",\n  "pulls": []\n}\n'
    for format, nothing in (("table", ""), ("json", none), ("csv", "id,arm,seed,deadline\n")):
        ran = run("ask", "x", "--format", format)
        assert (ran.code, ran.out) == (4, nothing)
        assert "nothing more to ask: long is best" in ran.err
    status = rows("status", "x")
    assert (status["decision"], status["leader"]) == ("long", "long")
    assert min(ends[0] for ends in status["intervals"].values()) > 0
    assert kinds()[-1] != "asked"
    assert "decided" in kinds()


def test_settings_that_are_left_out_are_those_of_the_store() -> None:
    """For a new experiment the defaults; for one that exists its own, and another one is refused."""
    words = ("create", "x", "--arm", "a", "--arm", "b")
    assert run(*words).code == 2
    assert "give one of --sigma" in run(*words).err
    assert run(*words, "--sigma", "2", "--delta", "0.1", "--minimize", "--order", "arrival").code == 0
    again = run(*words, "--format", "json")
    assert (again.code, "exists already" in again.err) == (0, True)
    found = json.loads(again.out)
    kept = ("sigma", "delta", "minimize", "order", "lease")
    assert [found[key] for key in kept] == [2.0, 0.1, True, "arrival", 3600.0]
    for other in (("--delta", "0.05"), ("--bounds", "0,1"), ("--sigma", "1"), ("--order", "ask")):
        ran = run(*words, *other)
        assert (ran.code, "exists with" in ran.err) == (2, True)


def test_gaussian_values_of_unknown_variances() -> None:
    """--model student: the rule and the promise that belong to it; no scale or other rule beside."""
    words = ("create", "x", "--arm", "a", "--arm", "b", "--seed", "1")
    for more, why in (
        (("--student", "--sigma", "1"), "got --sigma and --model; without a scale"),
        (("--student", "--bounds", "0,1"), "got --bounds and --model; without a scale"),
        (
            ("--student", "--stopping", "tilt"),
            "'tilt' cannot compute with the model Student(); choose 'student'",
        ),
        (
            ("--sigma", "1", "--stopping", "student"),
            "'student' cannot compute with the model Gaussian(sigma=1.0)",
        ),
    ):
        ran = run(*words, *more)
        assert (ran.code, why in ran.err) == (2, True), ran.err
    assert run(*words, "--student").code == 0
    assert "exists already" in run(*words, "--model", "student").err
    refused(run(*words, "--student", "--model", "poisson"), "--student is short for --model student")
    for arm, values in (("a", "5.1 5.3 4.9 5.2 5.05 4.8"), ("b", "1.2 0.4 0.8 1.1 0.2 0.6")):
        assert run("observe", "x", arm, *(3 * values.split())).code == 0
    status = rows("status", "x")
    assert (status["decision"], status["promise"]) == ("a", 0.05)
    assert status["assumes"].endswith("assuming independent Gaussian values of unknown variances")


def test_a_leader_is_never_called_a_decision() -> None:
    """The status says that there is no decision, and that the leader is a guess."""
    create()
    assert "decision   none yet\nleader     none" in run("status", "x").out
    run("ask", "x", "-n", "2")
    run("tell", "x", "1", "0.25")
    run("tell", "x", "2", "0.75")
    ran = run("status", "x")
    assert ran.code == 0
    assert ran.out.startswith(
        "decision   none yet\nleader     long (a guess, not a decision) is at most 0.948 below the best\n"
    )
    assert run("status", "x", "--exit-code").code == 3
    decide()
    ran = run("status", "x", "--exit-code")
    assert ran.code == 0
    assert ran.out.startswith("decision   long is best\n")
    assert "guess" not in ran.out


def test_every_format() -> None:
    """A table for people; JSON and CSV with the same values for programs."""
    first = create()
    assert first.out.splitlines()[0].split() == ["setting", "value"]
    assert rows("create", "x", "--arm", "short", "--arm", "long", "--bounds", "0,1")["bounds"] == [0, 1]
    run("ask", "x", "-n", "3")
    run("tell", "x", "1", "0.5")
    commands = (
        ["ask", "x"],
        ["tell", "x", "1", "0.5"],
        ["fail", "x", "2", "--reason", "lost"],
        ["observe", "x", "long", "0.1"],
        ["retract", "x", "1", "--reason", "typed wrongly", "--value", "0.25"],
        ["forecast", "x"],
        ["list"],
    )
    for words in commands:
        table, data = run(*words), rows(*words)
        comma = run(*words, "--format", "csv")
        assert (table.code, comma.code) == (0, 0)
        listed = list(csv.DictReader(io.StringIO(comma.out)))
        if words[0] == "forecast":
            assert [row["arm"] for row in listed] == list(data["pulls"])
        else:
            assert list(listed[0]) == list(data[0])
            assert next(iter(data[0])).replace("_", " ") in table.out.splitlines()[0]
    arms = list(csv.DictReader(io.StringIO(run("status", "x", "--format", "csv").out)))
    assert [row["arm"] for row in arms] == ["short", "long"]
    assert [row["samples"] for row in arms] == [str(n) for n in rows("status", "x")["pulls"].values()]


def test_telling_again_changes_nothing() -> None:
    """The first value counts; the same one again is known, another one is late; both are harmless."""
    create()
    run("ask", "x", "-n", "2")
    outcomes = [rows("tell", "x", "1", value)[0]["outcome"] for value in ("0.5", "0.5", "0.75", "0.75")]
    assert outcomes == ["told", "repeated", "late", "repeated"]
    assert rows("status", "x")["means"]["short"] == 0.5
    assert kinds() == ["created", "asked", "asked", "told", "late"]
    run("tell", "x", "2", "0.25")
    decide()
    assert rows("tell", "x", "2", "0")[0]["outcome"] == "late"
    assert rows("status", "x")["decision"] == "long"


def test_a_failed_pull_is_issued_again() -> None:
    """The same pull, with its seed, before any other; its failure is counted and told to the reader."""
    create()
    first = rows("ask", "x", "-n", "2")
    assert rows("fail", "x", "1", "--reason", "out of memory")[0]["outcome"] == "failed"
    again = rows("ask", "x")[0]
    assert [again[key] for key in ("id", "arm", "seed")] == [first[0][key] for key in ("id", "arm", "seed")]
    assert rows("tell", "x", "1", "0.5")[0]["outcome"] == "told"
    assert rows("fail", "x", "1", "--reason", "too late")[0]["outcome"] == "late"
    assert "gave no value" in run("status", "x").out
    assert "out of memory" in run("export", "x").out


def test_a_lapsed_pull_is_issued_again() -> None:
    """After its lease, and the first told value counts."""
    create("x", "--lease", "0.05")
    first = rows("ask", "x")[0]
    time.sleep(0.1)
    again = rows("ask", "x")[0]
    assert (again["id"], again["seed"]) == (first["id"], first["seed"])
    assert again["deadline"] > first["deadline"]
    assert "lapsed" in kinds()
    create("y", "--lease", "never")
    assert rows("ask", "y")[0]["deadline"] is None


def test_a_retraction_reopens_a_decision() -> None:
    """It is said, logged, and the rule decides again when it can."""
    create()
    decide()
    decided_on = rows("status", "x")["samples"]
    ran = run("retract", "x", str(decided_on), "--reason", "typed wrongly", "--value", "0")
    assert ran.code == 0
    assert "the experiment, which had found that long is best, was reopened" in ran.err
    assert "the promise is now: wrong with probability at most 10%: 5% for each of 2 readings" in ran.err
    assert kinds()[kinds().index("retracted") + 1] == "reopened"
    assert "values taken back or corrected that the decision could use" in run("status", "x").out
    assert rows("status", "x")["promise"] == rows("list")[0]["promise"] == 0.1


def test_without_a_proof_no_command_prints_a_percentage() -> None:
    """observe, ask, tell, status and retract, under the paper's own rule; with the default one they do."""
    for name, stopping, printed in (("x", "practical", False), ("y", "mixture", True)):
        create(name, "--stopping", stopping)
        assert run("ask", name, "-n", "2").code == 0
        run("observe", name, "short", *["0"] * 40)
        run("observe", name, "long", *["1"] * 39)
        ran = [run("tell", name, "1", "0"), run("tell", name, "2", "1")]
        ran += [run("ask", name), run("status", name)]
        ran.append(run("retract", name, "3", "--reason", "typed wrongly"))
        assert "is best" in ran[1].err
        assert [("%" in one.out + one.err) for one in ran[1:]] == [printed] * 4
        assert ("no guarantee" in ran[2].err) == (not printed)
        assert rows("list")[0]["promise"] is None


def test_a_value_outside_the_bounds_suspends() -> None:
    """It is recorded, nothing more is asked, and a correction lets the experiment go on."""
    create()
    run("ask", "x", "-n", "2")
    refused(run("tell", "x", "1", "7"), "outside the bounds [0, 1]", code=1)
    assert kinds()[-1] == "violated"
    refused(run("ask", "x"), "suspended", code=1)
    assert "SUSPENDED" in run("status", "x").out
    assert "%" not in run("status", "x").out
    assert rows("list")[0]["suspended"] is True
    assert rows("status", "x")["caveats"] == [
        {
            "code": "suspended",
            "effect": "voids",
            "sentence": "values outside the bounds, not corrected: 1 (short 1)",
        }
    ]
    refused(run("retract", "x", "1", "--reason", "typo", "--value", "8"), "within the bounds")
    assert run("retract", "x", "1", "--reason", "typo", "--value", "0.7").code == 0
    assert rows("ask", "x")[0]["id"] == 3


def test_values_that_vary_more_than_sigma_allows_suspend_for_good() -> None:
    """With the codes of a value outside the bounds, but beyond repair; tables show what was observed."""
    made = run("create", "x", "--arm", "short", "--arm", "long", "--sigma", "0.1", "--seed", "1")
    assert made.code == 0, made.err
    run("ask", "x", "-n", "4")
    assert [run("tell", "x", pull, "2.5").code for pull in ("1", "2")] == [0, 0]
    refused(run("tell", "x", "3", "4.5"), "more than sigma 0.1 allows: observed standard deviations", code=1)
    assert kinds()[-1] == "told"
    refused(run("ask", "x"), "model=truebest.Student()", code=1)
    shown = run("status", "x").out
    assert "SUSPENDED" in shown
    assert "%" not in shown
    assert [line.split()[-1] for line in shown.splitlines() if line.startswith("short ")] == ["1.41"]
    assert rows("status", "x")["deviations"] == {"short": pytest.approx(2.0**0.5), "long": None}
    assert rows("list")[0]["suspended"] is True
    assert [caveat["code"] for caveat in rows("status", "x")["caveats"]] == ["sigma-refuted"]
    assert run("retract", "x", "3", "--reason", "typo").code == 0
    refused(run("ask", "x"), "sigma 0.1", code=1)
    assert run("status", "x", "--exit-code").code == 3
    assert run("verify", "x").code == 0


def test_creating_again_changes_nothing() -> None:
    """With the same settings it is taken up, and the reader is told."""
    create()
    before = log()
    ran = create()
    assert "exists already" in ran.err
    assert log() == before


def test_minimize_and_negative_values() -> None:
    """A leading minus is a number; with --minimize the smallest mean leads."""
    run("create", "x", "--arm", "a", "--arm", "b", "--sigma", "1", "--minimize", "--seed", "1")
    run("ask", "x", "-n", "2")
    assert rows("tell", "x", "1", "-0.5")[0]["value"] == -0.5
    assert run("tell", "x", "-", stdin="2 -1e-1\n").code == 0
    assert run("observe", "x", "b", "-.25", "1").code == 0
    assert run("retract", "x", "2", "--reason", "typo", "--value", "-0.2").code == 0
    assert rows("status", "x")["leader"] == "a"


def test_files_and_standard_input(tmp_path: Path) -> None:
    """Commas or blanks, a header or none, a byte order mark, empty lines; in one commit."""
    create()
    run("ask", "x", "-n", "6")
    file = tmp_path / "told.csv"
    file.write_text("\ufeffpull,value\n1,0.5\n\n2, 0.25\n", encoding="utf-8")
    assert [row["pull"] for row in rows("tell", "x", "--file", str(file))] == [1, 2]
    assert run("tell", "x", "--file", "-", stdin="3 0.5\r\n4\t0.5\r\n").code == 0
    file.write_text("0.5 0.75\n1\n")
    assert rows("observe", "x", "long", "--file", str(file)) == [{"arm": "long", "observed": 3}]
    nothing = run("tell", "x", "--file", "-")
    assert (nothing.code, nothing.out) == (0, "")
    assert "nothing to tell" in nothing.err


def test_export_is_the_whole_history_with_the_settings() -> None:
    """JSON lines, one JSON document, CSV and a table have the same events; the first holds the settings."""
    create("päckchen 📦")
    decide("päckchen 📦")
    *lines, last = [json.loads(line) for line in run("export", "päckchen 📦").out.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert last["end"]["lines"] == len(lines)
    assert {line["experiment"] for line in lines} == {"päckchen 📦"}
    assert lines[0]["data"]["arms"] == ["short", "long"]
    document = json.loads(run("export", "päckchen 📦", "--format", "json").out)
    assert document["settings"]["seed"] == 1
    assert document["end"] == last["end"]
    assert [event["kind"] for event in document["events"]] == [line["kind"] for line in lines]
    table = list(csv.DictReader(io.StringIO(run("export", "päckchen 📦", "--format", "csv").out)))
    assert [row["value"] for row in table] == [
        "" if line["value"] is None else str(line["value"]) for line in lines
    ]
    assert json.loads(table[0]["data"])["delta"] == 0.05
    shown = run("export", "päckchen 📦", "--format", "table").out.splitlines()
    assert shown[0].split() == ["seq", "time", "kind", "pull", "arm", "value", "data"]
    assert [line.split()[0] for line in shown[1:]] == [str(line["seq"]) for line in lines]


def test_list_shows_all_experiments_of_a_store() -> None:
    """In the order of their creation, with decision, leader and samples; an empty store has none."""
    Path("runs.db").touch()
    empty = run("list", "--format", "csv")
    assert (empty.code, empty.out.count("\n")) == (0, 1)
    assert "no experiments yet" in empty.err
    create("one")
    create("two")
    decide("two")
    listed = rows("list")
    assert [(row["name"], row["decision"]) for row in listed] == [("one", None), ("two", "long")]
    assert listed[1]["samples"] > listed[0]["samples"] == 0


def test_list_of_a_file_that_does_not_exist() -> None:
    """It says so, with code 2, and makes none; a mistyped name is not an empty store."""
    for command in (["list"], ["list", "--format", "json"]):
        refused(run(*command), "there is no file")
    refused(run("list", "--store", "sqlite:///nowhere/runs.db"), "nowhere/runs.db")
    assert list(Path().iterdir()) == []


def test_forecast_before_and_after() -> None:
    """None before every arm has a result, a number then, nothing more once decided."""
    create()
    assert "no forecast" in run("forecast", "x").out
    run("observe", "x", "short", "0.2")
    run("observe", "x", "long", "0.9")
    found = rows("forecast", "x")
    assert found["samples"] == sum(found["pulls"].values()) > 0
    decide()
    assert "decided" in run("forecast", "x").out


# -- bad input -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["tell", "x", "1", "nan"], "finite number"),
        (["tell", "x", "1", "inf"], "finite number"),
        (["tell", "x", "1", "-inf"], "finite number"),
        (["tell", "x", "1", "1e300"], "finite number"),
        (["tell", "x", "1", "much"], "'much'"),
        (["tell", "x", "1", "1_0"], "'1_0'"),
        (["tell", "x", "99", "0.5"], "no pull 99"),
        (["tell", "x", "0", "0.5"], "a pull"),
        (["tell", "x", "1.5", "0.5"], "a pull"),
        (["tell", "x", "first", "0.5"], "'first'"),
        (["tell", "x", "1"], "a pull and its value"),
        (["tell", "x"], "a pull and its value"),
        (["tell", "x", "1", "0.5", "--file", "told.csv"], "both"),
        (["tell", "x", "--file", "missing.csv"], "missing.csv"),
        (["tell", "x", "1", "0.5", "--fromat", "json"], "--fromat"),
        (["tell", "missing", "1", "0.5"], "no experiment 'missing'"),
        (["fail", "x", "99", "--reason", "lost"], "no pull 99"),
        (["fail", "x", "1"], "--reason"),
        (["fail", "x", "1", "--reason", " "], "reason"),
        (["retract", "x", "99", "--reason", "typo"], "no pull 99"),
        (["retract", "x", "1", "--reason", "typo", "--value", "nan"], "finite number"),
        (["observe", "x", "longest", "0.5"], "no arm 'longest'"),
        (["observe", "x", "long", "0.5", "nan"], "finite number"),
        (["observe", "x", "long"], "no values"),
        (["ask", "x", "-n", "0"], "n must be"),
        (["ask", "x", "-n", "many"], "'many'"),
        (["ask", "x", "-n", "1000000000"], "n must be"),
        (["ask", "missing"], "no experiment 'missing'"),
        (["ask", "x", "--format", "xml"], "xml"),
        (["ask"], "NAME"),
        (
            ["create", "x", "--arm", "a", "--arm", "b", "--bounds", "0,1"],
            "compares short, long, got a, b; arms cannot be added",
        ),
        (["create", "x", "--arm", "short", "--arm", "long", "--bounds", "0,2"], "exists with"),
        (["create", "x", "--arm", "short", "--arm", "long", "--bounds", "0,1", "--seed", "2"], "seed"),
        (["create", "y", "--arm", "a", "--bounds", "0,1"], "at least two"),
        (["create", "y", "--arm", "a", "--arm", "a", "--bounds", "0,1"], "twice"),
        (["create", "y", "--arm", "a", "--arm", "", "--bounds", "0,1"], "name of an arm"),
        (["create", "y", "--arm", "a", "--arm", "b"], "got none"),
        (
            ["create", "y", "--arm", "a", "--arm", "b", "--bounds", "0,1", "--sigma", "1"],
            "got --sigma and --bounds",
        ),
        (["create", "y", "--arm", "a", "--arm", "b", "--bounds", "1,0"], "lo < hi"),
        (["create", "y", "--arm", "a", "--arm", "b", "--bounds", "0"], "bounds"),
        (["create", "y", "--arm", "a", "--arm", "b", "--bounds", "0,inf"], "bounds"),
        (["create", "y", "--arm", "a", "--arm", "b", "--sigma", "0"], "sigma"),
        (["create", "y", "--arm", "a", "--arm", "b", "--sigma", "1", "--delta", "1"], "strictly between"),
        (["create", "y", "--arm", "a", "--arm", "b", "--sigma", "1", "--strategy", "ebs"], "did you mean"),
        (["create", "y", "--arm", "a", "--arm", "b", "--sigma", "1", "--stopping", "never"], "stopping"),
        (["create", "y", "--arm", "a", "--arm", "b", "--sigma", "1", "--order", "value"], "order"),
        (["create", "y", "--arm", "a", "--arm", "b", "--sigma", "1", "--seed", "-1"], "seed"),
        (["create", "y", "--arm", "a", "--arm", "b", "--sigma", "1", "--lease", "0"], "lease"),
        (["create", "y", "--arm", "a", "--arm", "b", "--sigma", "1", "--lease", "1e308"], "write never"),
        (["create", "y"], "--arm"),
        (["create", "", "--arm", "a", "--arm", "b", "--sigma", "1"], "name of an experiment"),
        (["create", "a\x1b[31mb", "--arm", "a", "--arm", "b", "--sigma", "1"], "control characters"),
        (["create", "a\nb", "--arm", "a", "--arm", "b", "--sigma", "1"], "control characters"),
        (["create", "y", "--arm", "a\x07", "--arm", "b", "--sigma", "1"], "control characters"),
        (["status", "x", "--store", "runs.db"], "sqlite:///runs.db"),
        (["status", "x", "--store", "http://runs.db"], "sqlite:///"),
        (["status", "x", "--store", "memory:"], "memory:"),
        (["status", "x", "--store", ""], "TRUEBEST_STORE"),
        (["status", "x", "--store", "sqlite:///other.db"], "no experiment 'x'"),
        (["status", "x'; DROP TABLE events; --"], "no experiment"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_stored(words: list[str], part: str) -> None:
    """Code 2, nothing on stdout, no control character on stderr; the history is as it was."""
    create()
    run("ask", "x", "-n", "2")
    before = log()
    ran = run(*words)
    refused(ran, part)
    assert ran.err[:-1].isprintable()
    assert log() == before
    assert [row["name"] for row in rows("list")] == ["x"]
    assert not Path("other.db").exists()


@pytest.mark.parametrize(
    "lines",
    ["1,0.5\n2,nan\n", "1,0.5\n2\n", "1,0.5\n2,0.5,7\n", "1,0.5\ntwo,0.5\n", "1,0.5\n99,0.5\n", "1,,0.5\n"],
)
def test_one_bad_line_and_none_is_stored(lines: str) -> None:
    """Many results are one commit: all or nothing."""
    create()
    run("ask", "x", "-n", "2")
    refused(run("tell", "x", "--file", "-", stdin=lines), "")
    assert kinds() == ["created", "asked", "asked"]


@pytest.mark.parametrize("data", [b"\xff\xfe\x00\x01", b"\x00", b"1;0.5", b"[1, 0.5]"])
def test_a_file_that_is_something_else(data: bytes) -> None:
    """It is refused in one sentence."""
    create()
    run("ask", "x")
    refused(run("tell", "x", "--file", "-", stdin=data), "")


def test_no_store() -> None:
    """Without --store and TRUEBEST_STORE the answer says how to give one."""
    os.environ.pop("TRUEBEST_STORE")
    for words in (["status", "x"], ["list"], ["create", "x", "--arm", "a", "--arm", "b", "--sigma", "1"]):
        refused(run(*words), "--store sqlite:///runs.db")


def test_a_store_that_cannot_be_used_is_a_failure(tmp_path: Path) -> None:
    """Code 1 and one sentence: another program's file, a folder that is not there, a server that is not."""
    Path("letter.db").write_text("Dear reader, this is no database, and it should stay what it is. " * 9)
    before = Path("letter.db").read_bytes()
    refused(run("status", "x", "--store", "sqlite:///letter.db"), "not a SQLite database", code=1)
    assert Path("letter.db").read_bytes() == before
    words = ["create", "x", "--arm", "a", "--arm", "b", "--sigma", "1", "--store"]
    refused(run(*words, "sqlite:///missing/runs.db"), "missing", code=1)
    server = run("list", "--store", f"postgresql:///nothing?host={tmp_path}")
    refused(server, "", code=server.code)
    assert server.code in (1, 2)  # 2 where the driver is not installed


@pytest.mark.parametrize(
    "name",
    [
        "Robert'); DROP TABLE events;--",
        '"quoted"',
        "🦆 µ\u0301 汉字",
        " two  words ",
        "-",
        "%s ? :x",
        "a/b\\c",
    ],
)
def test_any_name_is_data(name: str) -> None:
    """SQL, quotes, emoji and blanks in the names of experiments and arms are kept as they are."""
    words = ["create", name, "--arm", name, "--arm", "other", "--bounds", "0,1", "--seed", "1"]
    assert run(*words).code == 0
    assert rows("ask", name)[0]["arm"] == name
    assert run("tell", name, "1", "0.5").code == 0
    assert rows("status", name)["means"][name] == 0.5
    assert run("status", name).code == 0
    assert [row["name"] for row in rows("list")] == [name]


def test_a_reason_reaches_no_terminal_as_control_codes() -> None:
    """It is kept letter for letter, and shown without escapes: C0, DEL, C1, line breaks, turned writing."""
    create()
    run("ask", "x")
    reason = "\x1b]0;title\x07\x1b[31mred\nline \u202e back \x9b31m and \x7f\u2028 gone"
    assert run("fail", "x", "1", "--reason", reason).code == 0
    for format in ("table", "json", "csv"):
        out = run("export", "x", "--format", format).out
        assert "title" in out
        assert out.replace("\n", "").isprintable()
    listed = csv.DictReader(io.StringIO(run("export", "x", "--format", "csv").out))
    assert json.loads(list(listed)[-1]["data"])["reason"] == reason
    assert all(line.isprintable() for line in run("export", "x").out.split("\n"))
    assert log()[-1]["data"]["reason"] == reason


NAMES = ("turned\u202eback", "👩\u200d👧", "no\u00a0break", "=1+1", "-2", "'tis")


def test_a_name_turns_no_table_around() -> None:
    """The direction of writing in a name is shown as ? to people; joined letters stay joined."""
    assert run("create", "x", *(w for name in NAMES for w in ("--arm", name)), "--sigma", "1").code == 0
    out = run("status", "x").out
    assert "\u202e" not in out
    for name in ("turned?back", *NAMES[1:]):
        assert name in out
    assert rows("status", "x")["arms"] == list(NAMES)


def test_programs_get_names_letter_for_letter() -> None:
    """In JSON, in JSON lines, and in CSV but for the apostrophe that keeps a spreadsheet from running it."""
    name = NAMES[0]
    assert run("create", name, *(w for arm in NAMES for w in ("--arm", arm)), "--sigma", "1").code == 0
    assert [row["arm"] for row in rows("ask", name, "-n", "6")] == list(NAMES)
    lines = [json.loads(line) for line in run("export", name).out.splitlines()][:-1]
    document = json.loads(run("export", name, "--format", "json").out)
    for events in (lines, document["events"]):
        assert [event["arm"] for event in events[1:]] == list(NAMES)
    assert {line["experiment"] for line in lines} == {document["name"]} == {name}
    for words in (["export", name], ["status", name], ["forecast", name]):
        listed = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").out)))
        cells = [row["arm"] for row in listed if row["arm"]]
        assert cells == [*NAMES[:3], "'=1+1", "'-2", "''tis"]
        assert {row.get("experiment", name) for row in listed} == {name}
    means = list(csv.DictReader(io.StringIO(run("list", "--format", "csv").out)))
    assert [row["name"] for row in means] == [name]


def test_csv_is_utf_8_in_a_pipe_and_harmless_on_a_terminal() -> None:
    """Whatever the locale can write; a terminal is shown no turned writing."""
    run("create", "x", "--arm", NAMES[0], "--arm", "漢", "--sigma", "1")
    command = [*COMMAND, "status", "x", "--format", "csv"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    piped = subprocess.run(command, capture_output=True, env=environment).stdout.decode("utf-8")
    assert [line.partition(",")[0] for line in piped.splitlines()] == ["arm", NAMES[0], "漢"]
    leader, follower = pty.openpty()
    subprocess.run(command, stdout=follower, check=True)
    os.close(follower)
    shown = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(leader, 65536):
            shown += chunk
    os.close(leader)
    assert [line.partition(",")[0] for line in shown.decode().splitlines()] == ["arm", "turned?back", "漢"]


# -- fuzz ----------------------------------------------------------------------------------------------


@SEVERAL
@given(
    pull=st.one_of(ANY_TEXT, st.integers(-3, 12).map(str), st.floats().map(str)),
    value=st.one_of(ANY_TEXT, st.floats().map(str), st.integers().map(str)),
    through_file=st.booleans(),
)
@example(pull="1", value="٣", through_file=False)
@example(pull="1" * 5000, value="0.5", through_file=False)
@example(pull="1", value="1e999999999", through_file=True)
@example(pull="--help", value="0.5", through_file=False)
def test_tell_survives_anything(pull: str, value: str, through_file: bool) -> None:
    """No traceback, code 0, 1 or 2, one sentence; after code 2 the history is as it was."""
    if not Path("runs.db").exists():
        create()
        run("ask", "x", "-n", "10")
    before = log()
    if through_file:
        ran = run("tell", "x", "--file", "-", stdin=f"{pull},{value}".encode("utf-8", "surrogatepass"))
    else:
        ran = run("tell", "x", pull, value)
    assert ran.code in (0, 1, 2)
    assert "please report it" not in ran.err
    assert "Traceback" not in ran.err
    assert all(line.isprintable() for line in ran.err.splitlines())
    after = log()
    assert after[: len(before)] == before
    if ran.code == 2:
        assert after == before
    if ran.code == 1:  # it lay outside the bounds
        assert after[-1]["kind"] == "violated"
        assert run("retract", "x", str(after[-1]["pull"]), "--reason", "fuzz").code == 0


COMMANDS = (
    "create",
    "ask",
    "tell",
    "fail",
    "retract",
    "observe",
    "status",
    "forecast",
    "list",
    "export",
)
SOME_WORDS = """
    x y 1 2 0.5 -1 -n --n --arm --bounds 0,1 --sigma --delta --store sqlite:///runs.db memory: --format json
    csv table --reason --value --file - --exit-code --minimize --order arrival --lease never --seed
    --strategy uniform racing --stopping practical --help --version -h --
"""
WORDS = st.one_of(st.sampled_from(SOME_WORDS.split()), ANY_TEXT)


@SEVERAL
@given(command=st.sampled_from(COMMANDS), words=st.lists(WORDS, max_size=8))
@example(command="create", words=["y", "--arm", "a", "--arm", "b", "--sigma", "1", "--lease", "1e300"])
@example(command="ask", words=["y"])
def test_commands_survive_anything(command: str, words: list[str]) -> None:
    """No traceback and a documented exit code, whatever the words are; the experiments stay readable."""
    if not Path("runs.db").exists():
        create()
        run("ask", "x", "-n", "3")
    ran = run(command, *words, stdin="1,0.5")
    assert ran.code in (0, 1, 2, 3, 130)
    assert "please report it" not in ran.err
    assert "Traceback" not in ran.err
    assert all(line.isprintable() for line in ran.err.splitlines())
    assert run("list").code == 0


# -- processes -----------------------------------------------------------------------------------------

DRIVER = """
import contextlib, io, json, sys
from truebest.cli import main

def rows(*words):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main([*words, "--format", "json"]) in (0, 4)
    return json.loads(out.getvalue())

found = {}
for strategy in sys.argv[1:]:
    arms = [word for arm in ("a", "b", "c") for word in ("--arm", arm)]
    rows("create", strategy, *arms, "--sigma", "1", "--seed", "7", "--strategy", strategy)
    asked = []
    while pulls := rows("ask", strategy, "-n", "5")["pulls"]:
        told = ""
        for pull in pulls:
            asked.append([pull["id"], pull["arm"], pull["seed"]])
            value = (pull["seed"] % 1000) / 500 + {"a": 0.2, "b": 0.0, "c": 1.7}[pull["arm"]]
            told += f"{pull['id']},{value!r}\\n"
        sys.stdin = io.TextIOWrapper(io.BytesIO(told.encode()))
        rows("tell", strategy, "-")
    status = rows("status", strategy)
    found[strategy] = [asked, status["standings"], status["best"], status["progress"]["statistic"]]
print(json.dumps(found))
"""


OF_EACH_KERNEL = list({find_strategy(name).select: name for name in strategy_names()}.values())


@pytest.mark.parametrize(
    "names", [[DEFAULT_STRATEGY], pytest.param(OF_EACH_KERNEL, marks=pytest.mark.slow)], ids=["one", "all"]
)
def test_commands_give_the_same_bits_compiled_and_uncompiled(names: list[str]) -> None:
    """A strategy of each kernel, to the decision: the same pulls, seeds and statistic."""
    found = []
    for jit in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, *names],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "TRUEBEST_JIT": jit, "TRUEBEST_STORE": f"sqlite:///jit{jit}.db"},
        )
        found.append(json.loads(done.stdout))
    assert found[0] == found[1]
    assert {decision for _, _, decision, _ in found[0].values()} == {"c"}


def test_processes_share_a_store() -> None:
    """What one process is told, the next one knows; --store and TRUEBEST_STORE mean the same."""
    words = ("--arm", "a", "--arm", "b", "--bounds", "0,1", "--seed", "1")
    assert truebest("create", "x", *words).returncode == 0
    asked = truebest("ask", "x", "--format", "csv", "--store", "sqlite:///runs.db")
    assert (asked.returncode, asked.stderr) == (0, "")
    told = truebest("tell", "x", "-", stdin="1,0.5\n")
    assert (told.returncode, told.stderr) == (0, "")
    assert rows("status", "x")["means"] == {"a": 0.5, "b": None}


def test_output_that_cannot_be_written_is_one_line_and_loses_nothing() -> None:
    """A full disk behind stdout: code 1; what was told before is stored."""
    create()
    run("ask", "x")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "tell", "x", "1", "0.5"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert rows("status", "x")["samples"] == 1
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*COMMAND, "export", "x"], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_the_help_names_the_default_strategy() -> None:
    """The one that an experiment has when none is given."""
    create()
    with Experiment.open("sqlite:///runs.db", "x") as experiment:
        assert experiment.settings.strategy_name == DEFAULT_STRATEGY
    for command in ("create", "identify"):
        words = run(command, "--help").out.replace("│", " ").split()
        assert f"default: {DEFAULT_STRATEGY}" in " ".join(words)


def test_help_of_every_command_has_an_example() -> None:
    """And needs no store."""
    os.environ.pop("TRUEBEST_STORE")
    for command in (*COMMANDS, "identify"):
        ran = run(command, "--help")
        assert ran.code == 0
        assert f"Example: truebest {command}" in ran.out


def test_stop_ends_an_experiment_by_hand() -> None:
    """For good: ask has nothing more, status says why, and a second stop says that it changed nothing."""
    create()
    run("ask", "x", "-n", "2")
    run("tell", "x", "1", "0.4")
    ran = run("stop", "x", "--reason", "good enough", "--format", "json")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out) == [{"outcome": "stopped", "leader": "short", "shortfall": 1.0, "samples": 1}]
    assert "nothing was changed: 'x' was stopped before" in run("stop", "x").err
    ran = run("ask", "x", "--format", "json")
    assert (ran.code, json.loads(ran.out)) == (4, {"reason": "stopped", "pulls": []})
    assert "stopped (good enough), undecided after 1 sample" in ran.err
    assert rows("status", "x")["stopped"] == "good enough"
    assert kinds()[-1] == "stopped"


def test_ask_says_in_json_that_it_is_suspended() -> None:
    """With the code of a failure, and the sentence on stderr."""
    create()
    run("ask", "x")
    run("tell", "x", "1", "7")
    ran = run("ask", "x", "--format", "json")
    assert (ran.code, json.loads(ran.out)) == (1, {"reason": "suspended", "pulls": []})
    assert "is suspended" in ran.err


def test_status_and_ask_say_what_the_decision_waits_for() -> None:
    """Which pull and who has it; renew and reclaim do what the sentence says."""
    create()
    assert run("ask", "x", "--worker", "gone").code == 0
    for _ in range(20):
        if not (pulls := rows("ask", "x", "-n", "4", "--worker", "here")):
            break
        for pull in pulls:
            run("tell", "x", str(pull["id"]), "0" if pull["arm"] == "short" else "1")
    assert "waits for pull 1 of arm 'short', which gone has had since" in run("ask", "x").err
    assert "pull 1 of arm 'short', which gone has had since" in run("status", "x").out
    assert rows("status", "x")["waits_for"]["worker"] == "gone"
    renewed = rows("renew", "x", "1", "2")
    assert [row["outcome"] for row in renewed] == ["renewed", "not pending"]
    refused(run("reclaim", "x", "--worker", "else"), "pending pulls are with gone")
    assert rows("reclaim", "x", "--worker", "gone") == [{"reclaimed": 1}]
    assert rows("ask", "x")[0]["id"] == 1
    run("tell", "x", "1", "0")
    assert rows("status", "x")["decision"] == "long"
    assert rows("status", "x")["waits_for"] is None
