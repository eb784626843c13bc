"""`truebest identify` on real commands: what it runs, what it shows, how it ends and how it resumes."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from e2e.test_solve_command import COMMAND
from support.commands import Ran, refused, run
from support.processes import alive, children
from support.told import flat
from truebest.cli import _commands, _guard
from truebest.cli._commands import CommandArm, CommandError, Commands
from truebest.experiment.experiment import Experiment
from truebest.experiment.pulls import Pull

STORE = "sqlite:///runs.db"
PULL = Pull(7, "a", 123)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with two noisy commands: their values are a function of the seed alone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRUEBEST_STORE", raising=False)
    script(tmp_path / "good", "echo $(( TRUEBEST_SEED / 16 % 10 < 9 ))")
    script(tmp_path / "bad", "echo noise >&2; echo header; echo $(( TRUEBEST_SEED / 16 % 10 < 2 )); echo")
    return iter([tmp_path])


def script(file: Path, text: str) -> None:
    """A shell script that can be run."""
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def words(good: str = "./good", bad: str = "./bad", *more: str) -> list[str]:
    """The arms and their bounds."""
    return ["identify", "--arm", f"good={good}", "--arm", f"bad={bad}", "--bounds", "0,1", *more]


def identify(*more: str, good: str = "./good", bad: str = "./bad") -> Ran:
    """Run it to its end, with a budget."""
    return run(*words(good, bad, "--max-samples", "2000", "--seed", "5", *more))


def result(ran: Ran) -> Any:
    """What it found, without how long it took."""
    found = json.loads(ran.out)
    del found["seconds"]
    return flat(found)


def numbers(files: str) -> list[int]:
    """What scripts have written down about the processes that they are and have started."""
    return [int(word) for file in Path().glob(files) for word in file.read_text().split()]


def wait_for(condition: Callable[[], object], seconds: float = 600.0) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def start(*more: str, **options: Any) -> subprocess.Popen[str]:
    """In a process of its own."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*COMMAND, *more], **(pipes | options))


# -- what it finds -------------------------------------------------------------------------------------


def test_it_finds_the_better_command() -> None:
    """A sentence and a table on stdout, code 0; JSON says the same, and CSV has the arms."""
    ran = identify()
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("good is best; wrong with probability at most 5%")
    assert [line.split()[0] for line in ran.out.splitlines()[2:5]] == ["arm", "good", "bad"]
    found = result(identify("--format", "json"))
    assert (found["best"], found["ended"]) == ("good", "decided")
    assert f"{found['samples']} samples" in ran.out
    rows = list(csv.DictReader(io.StringIO(identify("--format", "csv").out)))
    assert [(row["arm"], row["role"]) for row in rows] == [("good", "best"), ("bad", "ruled out")]
    assert {row["arm"]: int(row["samples"]) for row in rows} == found["pulls"]
    assert {row["arm"]: float(row["mean"]) for row in rows} == found["means"]
    assert [float(rows[1][end]) for end in ("lead_at_least", "lead_at_most")] == found["intervals"]["bad"]


def test_several_workers_and_other_rules() -> None:
    """Workers, a strategy, --minimize, --sigma and --order are heard."""
    assert result(identify("--workers", "4", "--format", "json"))["best"] == "good"
    assert result(identify("--minimize", "--strategy", "uniform", "--format", "json"))["best"] == "bad"
    ran = run(
        *["identify", "--arm", "a=echo 3", "--arm", "b=echo -2", "--sigma", "1", "--order", "arrival"],
        *["--stopping", "practical", "--max-samples", "100", "--format", "json", "--delta", "0.1"],
    )
    assert result(ran)["best"] == "a"
    assert result(ran)["means"] == {"a": 3.0, "b": -2.0}


def test_without_a_budget_one_line_says_that_ties_never_stop() -> None:
    """With one there is silence, and with --quiet too."""
    ran = run(*words())
    assert ran.code == 0
    assert ran.err.count("\n") == 1
    assert "neither --max-samples nor --timeout is given: with tied best arms a run never ends" in ran.err
    assert run(*words("./good", "./bad", "--quiet")).err == ""


def test_a_budget_that_ran_out_is_code_3() -> None:
    """The result names a leader and no best; a line says how to go on."""
    ran = run(*words("./good", "./bad", "--max-samples", "4", "--format", "json"))
    assert ran.code == 3
    assert (result(ran)["best"], result(ran)["ended"], result(ran)["samples"]) == (None, "max_samples", 4)
    assert "larger --max-samples" in ran.err
    ran = run(*words("sleep 50", "sleep 50", "--timeout", "0.2", "--store", STORE))
    assert ran.code == 3
    assert ran.out.startswith("no result yet; the time ran out")
    assert "the same command resumes the run" in ran.err


def test_more_samples_are_no_help_once_every_item_is_used_up() -> None:
    """An item without a value keeps a tie open, and what is said then is not --max-samples."""
    script(Path("one"), '[ "$TRUEBEST_ITEM" != 2 ] && echo 1')
    ran = run(*words("./one", "./one", "--items", "4", "--failures", "worst", "--allow-failing"))
    assert ran.code == 3
    assert "the items are used up" in ran.out
    assert "values are missing; with those, or on more items" in ran.err
    assert "--max-samples" not in ran.err


# -- what it runs --------------------------------------------------------------------------------------


def test_a_command_is_told_its_arm_its_pull_and_a_seed() -> None:
    """Each pull has a seed of its own, which is the one in the log of pulls."""
    script(Path("spy"), 'echo "$TRUEBEST_ARM $TRUEBEST_PULL $TRUEBEST_SEED" >> seen; echo 0.5')
    run(*words("./spy", "./spy", "--max-samples", "6", "--store", STORE, "--seed", "5"))
    seen = [line.split() for line in Path("seen").read_text().splitlines()]
    twin = Experiment.create("memory:", "twin", ["good", "bad"], bounds=(0, 1), seed=5)
    assert len({seed for _, _, seed in seen}) == 6
    for arm, pull, seed in seen:
        asked = twin.ask()[0]
        assert (arm, pull, seed) == (asked.arm, str(asked.id), str(asked.seed))
        twin.tell(asked, 0.5)


def test_no_shell_unless_asked_for() -> None:
    """Without --shell, signs of the shell are words; with it they act."""
    out = "$((1)); echo 1"
    refused(run(*words("./good", f"echo {out}", "--max-samples", "9")), repr(out), code=1)
    assert run(*words("./good", f"echo {out}", "--max-samples", "9", "--shell")).code == 3
    ran = run(*words("./good", "sh -c 'echo \"0.5\"'", "--max-samples", "9"))
    assert ran.code == 3


def test_a_command_has_no_input() -> None:
    """It cannot wait for the user's terminal."""
    assert run(*words("cat", "./bad", "--max-samples", "9")).code == 1


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("sh -c 'echo it broke >&2; exit 3'", "it ended with exit code 3; its stderr ends with: it broke;"),
        ("sh -c 'kill -9 $$'", "it was killed by SIGKILL"),
        ("echo 0.5 seconds", "its last line must be a number, got '0.5 seconds'"),
        ("echo 1_0", "must be a number"),
        ("echo ٣", "must be a number"),
        ("true", "it printed nothing"),
        ("echo nan", "it printed nan, which is not a finite number"),
        ("echo -inf", "it printed -inf"),
        ("echo 1e300", "1e+300"),
        ("./gone", "it cannot be started: No such file or directory"),
    ],
)
def test_a_command_without_a_number_stops_the_run(command: str, part: str) -> None:
    """Arm, pull, reason, the end of its stderr, and what to do; code 1; the failure is in the log."""
    script(Path("gone"), "exit")
    ran = run(*words("sh -c 'rm -f gone; echo 1'", command, "--max-samples", "9", "--store", STORE))
    refused(ran, part, code=1)
    assert "arm 'bad' failed in pull 2: " in ran.err
    assert "--on-error retry" in ran.err
    with Experiment.open(STORE, "identify") as experiment:
        assert [event.kind for event in experiment.history()][-1] == "failed"


def test_retry_repeats_the_same_pull() -> None:
    """A command that fails now and then gets there, with remarks and caveats; the same run otherwise."""
    script(
        Path("flaky"), "[ -e broke-$TRUEBEST_PULL ] || { touch broke-$TRUEBEST_PULL; exit 1; }; exec ./bad"
    )
    ran = identify("--on-error", "retry", "--format", "json", bad="./flaky")
    smooth = result(identify("--format", "json"))
    found = result(ran)
    assert ran.code == 0
    assert {key: found[key] for key in ("samples", "means")} == {
        key: smooth[key] for key in ("samples", "means")
    }
    assert found["caveats"][0]["code"] == "failed"
    assert "gave no value" in found["caveats"][0]["sentence"]
    assert ran.err.count("the pull is repeated") == 3
    assert ran.err.count("\n") == 3
    assert "counted but not shown" in ran.err


def test_retry_gives_up_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pull that fails ten times ends the run: to drop it would bias the arm."""
    monkeypatch.setattr("truebest.running.run.LONGEST_WAIT", 0.01)
    ran = identify("--on-error", "retry", "--quiet", bad="false")
    refused(ran, "failed 10 times in pull 2", code=1)


def test_a_value_outside_the_bounds_ends_the_run() -> None:
    """Code 1 and a sentence; the value is in the log."""
    refused(identify(good="echo 7"), "outside the bounds [0, 1]", code=1)


def test_a_hanging_command_is_killed_with_all_that_it_started() -> None:
    """--pull-timeout ends the whole process group, also what ignores a polite request."""
    script(Path("hang"), "trap '' TERM; sleep 1000 & echo $$ $! > pids; echo waiting >&2; wait")
    ran = identify("--pull-timeout", "0.5", bad="./hang")
    refused(ran, "no answer within 0.5 s, so it was stopped; its stderr ends with: waiting", code=1)
    pids = [int(word) for word in Path("pids").read_text().split()]
    wait_for(lambda: not any(map(alive, pids)))


def test_what_a_command_leaves_in_the_background_ends_with_it() -> None:
    """Its number counts as soon as it has ended, though something still holds its output open.

    That is killed; what has left the process group lives on.
    """
    free = "setsid sh -c 'echo $$ >> free; touch out-$TRUEBEST_PULL; exec sleep 1000' &"
    wait = "while [ ! -e out-$TRUEBEST_PULL ]; do sleep 0.01; done"
    script(Path("leave"), f"sleep 1000 & echo $! >> pids; {free} {wait}; echo 1")
    try:
        assert run(*words("./leave", "./bad", "--max-samples", "4")).code == 3
        left = [int(word) for word in Path("pids").read_text().split()]
        assert left
        wait_for(lambda: not any(map(alive, left)))
        assert all(alive(int(word)) for word in Path("free").read_text().split())
    finally:
        for pid in map(int, Path("free").read_text().split()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_control_codes_reach_no_terminal() -> None:
    """Escapes around a number are ignored; in messages they are removed, whatever the command prints."""
    script(Path("red"), r"printf '\033]0;title\007\033[31m0.5\033[0m\r\n'; printf '\033[2Jx' >&2")
    ran = run(*words("./red", "./bad", "--max-samples", "4", "--format", "json"))
    assert result(ran)["means"]["good"] == 0.5
    assert "\x1b" not in ran.out + ran.err
    script(Path("red"), r"printf '\033[31mred\033[0m \001\233\b' >&2; printf '\033[5mwords\a\n'; exit $1")
    for command in ("./red 0", "./red 1"):
        ran = identify(good=command)
        refused(ran, "red", code=1)
        assert ran.err[:-1].isprintable()


def test_of_huge_output_only_the_end_is_kept() -> None:
    """Hundreds of megabytes on both streams need no memory and hide no number."""
    flood = 'sh -c "head -c 200000000 /dev/zero | tee /dev/stderr; echo; echo 0.25"'
    arm = CommandArm("a", flood, Commands(), False, None)
    assert arm(pull=PULL) == 0.25
    with pytest.raises(CommandError, match="must be a number"):
        CommandArm("a", "sh -c \"head -c 200000 /dev/zero | tr '\\\\0' 1\"", Commands(), False, None)(
            pull=PULL
        )
    tail = _commands.Tail(open("/dev/zero", "rb", buffering=0))  # noqa: SIM115
    for _ in range(10):
        assert tail.read()
    tail.close()
    assert len(tail._kept) == _commands.TAIL


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(out=st.binary(max_size=40), err=st.binary(max_size=40), code=st.sampled_from([0, 0, 0, 1]))
def test_whatever_a_command_prints_is_a_number_or_a_clean_message(out: bytes, err: bytes, code: int) -> None:
    """Arbitrary bytes on both streams: a finite number, or a CommandError of printable characters."""
    Path("out").write_bytes(out)
    Path("err").write_bytes(err)
    arm = CommandArm("a", f"cat out; cat err >&2; exit {code}", Commands(), True, None)
    value, message = 0.0, ""
    try:
        value = arm(pull=PULL)
    except CommandError as error:
        message = str(error)
    assert abs(value) < float("inf")
    assert message or code == 0
    assert message.isprintable()


# -- bad input -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "part"),
    [
        (["--arm", "good=./good", "--bounds", "0,1"], "at least two"),
        (["--arm", "good", "--arm", "bad=./bad", "--bounds", "0,1"], "NAME=COMMAND"),
        (["--arm", "=./good", "--arm", "bad=./bad", "--bounds", "0,1"], "NAME=COMMAND"),
        (["--arm", "good=", "--arm", "bad=./bad", "--bounds", "0,1"], "NAME=COMMAND"),
        (["--arm", "good=./good", "--arm", "good=./bad", "--bounds", "0,1"], "twice"),
        (
            ["--arm", "good=./nothing", "--arm", "bad=./bad", "--bounds", "0,1"],
            "cannot be found: './nothing'",
        ),
        (["--arm", "good=./plain", "--arm", "bad=./bad", "--bounds", "0,1"], "may not be executed"),
        (["--arm", "good=echo 'x", "--arm", "bad=./bad", "--bounds", "0,1"], "quotes"),
        (["--arm", "go\nod=./good", "--arm", "bad=./bad", "--bounds", "0,1"], "control characters"),
        (["--arm", "good=plain", "--arm", "bad=./bad", "--bounds", "0,1"], "write './plain'"),
        (["--arm", "good=./good", "now", "--arm", "bad=./bad", "now", "--bounds", "0,1"], "needs quotes"),
        (["--bounds", "0,1"], "--arm"),
        (words()[1:5], "got none"),
        ([*words()[1:], "--sigma", "1"], "got --sigma and --bounds"),
        ([*words()[1:], "--workers", "0"], "workers"),
        ([*words()[1:], "--max-samples", "1"], "max-samples"),
        ([*words()[1:], "--max-samples", "x"], "'x'"),
        ([*words()[1:], "--timeout", "0"], "timeout"),
        ([*words()[1:], "--timeout", "1e308"], "timeout must be positive and at most 3.2e+09 seconds"),
        (
            [*words()[1:], "--pull-timeout", "1e10"],
            "pull-timeout must be positive and at most 3.2e+09",
        ),
        ([*words()[1:], "--pull-timeout", "-1"], "pull-timeout"),
        ([*words()[1:], "--pull-timeout", "nan"], "pull-timeout"),
        ([*words()[1:], "--on-error", "drop"], "drop"),
        ([*words()[1:], "--format", "xml"], "xml"),
        ([*words()[1:], "--name", "x"], "needs a store"),
        ([*words()[1:], "--store", "runs.db"], "sqlite:///runs.db"),
        ([*words()[1:], "--seed", "0.5"], "seed"),
        ([*words()[1:], "--delta", "2"], "strictly between"),
        ([*words()[1:], "--strategy", "best"], "strategy must be"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_run(more: list[str], part: str) -> None:
    """Code 2; no store appears."""
    Path("plain").write_text("no program")
    refused(run("identify", *more), part)
    assert not Path("runs.db").exists()


SOME_WORDS = """
    --arm good=./good bad=./bad third=true --bounds 0,1 -1,1 --sigma 1 --delta 0.1 --strategy uniform
    --stopping practical --minimize --order arrival --seed --workers 3 --on-error retry raise --shell --quiet
    --no-progress --format json table --store sqlite:///runs.db --name x --pull-timeout --help --
"""


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(more=st.lists(st.one_of(st.sampled_from(SOME_WORDS.split()), st.text(max_size=5)), max_size=6))
def test_any_command_line_ends_in_order(more: list[str]) -> None:
    """No traceback and a documented exit code, whatever the words are."""
    begin = ["--arm", "good=./good", "--arm", "bad=./bad", "--bounds", "0,1", "--max-samples", "3"]
    for line in (["identify", *begin, *more], ["identify", *more, "--max-samples", "2"]):
        ran = run(*line)
        assert ran.code in (0, 1, 2, 3)
        assert "please report it" not in ran.err
        assert "Traceback" not in ran.err
        assert all(part.isprintable() for part in ran.err.splitlines())


def test_a_resume_with_other_settings_is_refused() -> None:
    """Other arms, another risk: code 2, and the run is as it was."""
    identify("--store", STORE)
    with Experiment.open(STORE, "identify") as experiment:
        before = experiment.history()
    refused(identify("--store", STORE, "--delta", "0.1"), "delta")
    refused(run(*words(), "--arm", "third=./bad", "--store", STORE, "--quiet"), "arms")
    with Experiment.open(STORE, "identify") as experiment:
        assert experiment.history() == before


# -- ends and resumes ----------------------------------------------------------------------------------


def test_a_decided_run_is_answered_without_running_anything() -> None:
    """The same command again prints the same result, says so, and changes nothing in the store."""
    first = identify("--store", STORE, "--workers", "3", "--format", "json")
    again = identify("--store", STORE, "--format", "json")
    assert again.code == 0
    kept = ("best", "samples", "means", "intervals", "promise", "caveats")
    assert [result(again)[key] for key in kept] == [result(first)[key] for key in kept]
    assert "was already decided, so nothing was run; give another --name" in again.err
    assert result(again)["resumed"] == result(first)["samples"]


def test_settings_that_are_left_out_are_those_of_the_stored_run() -> None:
    """Bounds are needed once; under a name that the store does not have they are missed."""
    identify("--store", STORE)
    arms = ("--arm", "good=./good", "--arm", "bad=./bad", "--max-samples", "2000")
    again = run("identify", *arms, "--store", STORE)
    assert (again.code, "already decided" in again.err) == (0, True)
    for more in (("--store", STORE, "--name", "new"), ()):
        ran = run("identify", *arms, *more)
        assert (ran.code, "give one of --sigma" in ran.err) == (2, True)


def test_another_command_under_an_old_name_is_refused() -> None:
    """It would be answered with what the old one gave."""
    identify("--store", STORE)
    other = identify("--store", STORE, good="./bad")
    assert other.code == 2
    assert "arm 'good' of experiment 'identify' was './good [" in other.err
    assert "]' when it was created, got './bad [" in other.err


def test_an_answer_that_nobody_reads_to_its_end_is_one() -> None:
    """Whoever read has gone: the exit code says what was found, and nothing is on stderr."""
    for expected, code in (("good", 0), ("bad", 5)):
        reader, writer = os.pipe()
        os.close(reader)
        given = words(
            "./good", "./bad", "--seed", "5", "--max-samples", "500", "--quiet", "--expect", expected
        )
        done = subprocess.run([*COMMAND, *given], stdout=writer, stderr=subprocess.PIPE, text=True)
        os.close(writer)
        assert (done.returncode, done.stderr) == (code, "")


def test_a_larger_budget_goes_on() -> None:
    """In two halves the run is the same as in one, and the second says where it was taken up.

    By a rule that does not prepare for a budget; `tilt` stays prepared for the first one.
    """
    rule = ("--stopping", "mixture")
    whole = result(identify("--format", "json", *rule))
    first = words("./good", "./bad", "--max-samples", "7", "--seed", "5", "--store", STORE, *rule)
    assert run(*first).code == 3
    ran = identify("--store", STORE, "--format", "json")
    halves = result(ran)
    assert "resumed at 7 samples" in ran.err
    assert halves.pop("resumed") == 7
    assert whole.pop("resumed") == 0
    assert (whole.pop("max_samples"), halves.pop("max_samples")) == (2000, 7)
    for one in (whole, halves):
        for key in ("name", "settings", "about"):  # what is stored also says what the arms are
            del one[key]
    assert halves == whole


def told(name: str) -> int:
    """How many results a store has, while another process writes to it."""
    if not Path("runs.db").exists():
        return 0
    try:
        with Experiment.open(STORE, name) as experiment:
            return sum(event.kind == "told" for event in experiment.history())
    except ValueError:  # not created yet
        return 0


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_broken_off_run_resumes_to_the_same_result(signal_number: signal.Signals) -> None:
    """Killed, interrupted or ended from outside: the same command goes on to what would have come anyway."""
    script(Path("slow"), "sleep 0.02; exec ./good")
    options = ["--max-samples", "2000", "--seed", "5", "--store", STORE, "--name", "run"]
    process = start(*words("./slow", "./bad", *options))
    wait_for(lambda: told("run") >= 5)
    process.send_signal(signal_number)
    out, err = process.communicate(timeout=600)
    assert out == ""
    if signal_number != signal.SIGKILL:
        assert process.returncode == 128 + signal_number
        lines = err.splitlines()
        by = "ended by SIGTERM" if signal_number == signal.SIGTERM else "interrupted"
        assert lines[-1] == f"truebest: {by}"
        assert lines[-2] == "truebest: every result so far is stored; the same command resumes the run."
    before = told("run")
    resumed = run(*words("./slow", "./bad", *options, "--format", "json"))
    assert resumed.code == 0
    assert before < told("run")
    whole = result(identify("--format", "json"))
    kept = ("best", "samples", "pulls", "means", "intervals", "statistic")
    assert [result(resumed)[key] for key in kept] == [whole[key] for key in kept]


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (signal.SIGINT, "interrupted"),
        (signal.SIGTERM, "ended by SIGTERM"),
        (signal.SIGHUP, "ended by SIGHUP"),
    ],
)
def test_an_interrupt_leaves_no_command_running(number: signal.Signals, said: str) -> None:
    """The commands and what they started are gone; without a store, a line says what is missing."""
    script(Path("hang"), "sleep 1000 & echo $$ $! > pids-$TRUEBEST_PULL; wait")
    process = start(*words("./hang", "./hang", "--workers", "2", "--timeout", "100"))
    wait_for(lambda: len(numbers("pids-*")) == 4)
    pids = numbers("pids-*")
    assert all(map(alive, pids))
    process.send_signal(number)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 128 + number
    assert "with --store sqlite:///runs.db the same command could resume the run" in err
    assert err.splitlines()[-1] == f"truebest: {said}"
    wait_for(lambda: not any(map(alive, pids)))


def test_a_killed_run_leaves_no_command_running() -> None:
    """SIGKILL, which nobody can handle: a guard ends the commands and what they started, and goes itself."""
    script(Path("hang"), "trap '' TERM HUP; sleep 1000 & echo $$ $! > pids-$TRUEBEST_PULL; wait")
    process = start(*words("./hang", "./hang", "--workers", "2", "--timeout", "100"))
    wait_for(lambda: len(numbers("pids-*")) == 4)
    guards = [pid for pid in children(process.pid) if pid not in numbers("pids-*")]
    pids = [*numbers("pids-*"), *guards]
    try:
        assert len(guards) == 1
        assert all(map(alive, pids))
        process.kill()
        process.communicate(timeout=600)
        wait_for(lambda: not any(map(alive, pids)), 20.0)
    finally:
        for pid in filter(alive, pids):
            os.kill(pid, signal.SIGKILL)


def test_a_run_without_a_guard_is_as_good_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be started, or is killed: the result is the same."""
    whole = result(identify("--format", "json"))
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert result(identify("--format", "json")) == whole
    monkeypatch.setattr(sys, "executable", shutil.which("true"))
    assert result(identify("--format", "json")) == whole


def test_the_guard_forgets_what_has_ended() -> None:
    """Only groups that were started and have not ended are killed; others may have their number by then."""
    script(Path("hang"), "echo $$ >> pids; exec sleep 1000")
    first, second = (subprocess.Popen("./hang", start_new_session=True) for _ in range(2))
    try:
        notes = f"+{first.pid}\n+{second.pid}\n-{first.pid}\n-{second.pid}0\n+{2**22 - 1}\n"
        subprocess.run([sys.executable, "-I", "-S", _guard.__file__], input=notes, text=True, check=True)
        assert second.wait(600) == -signal.SIGKILL
        assert first.poll() is None
    finally:
        for process in (first, second):
            process.kill()
            process.wait()


def test_what_a_killed_command_had_started_is_killed_too() -> None:
    """The command dies of a signal, by whosever hand: its group goes with it."""
    script(Path("hang"), "sleep 1000 & echo $! > pids; kill -KILL $$")
    refused(identify(bad="./hang"), "it was killed by SIGKILL", code=1)
    wait_for(lambda: not any(map(alive, numbers("pids"))), 20.0)


def test_commands_that_use_the_compiler_are_not_kept_from_it() -> None:
    """What is set for a quick start of this command is not handed on to the arms."""
    script(Path("spy"), 'echo "${TRUEBEST_JIT-unset}" >> seen; echo 0.5')
    environment = {key: value for key, value in os.environ.items() if key != "TRUEBEST_JIT"}
    process = start(*words("./spy", "./spy", "--max-samples", "2"), env=environment)
    process.communicate(timeout=600)
    assert process.returncode == 3
    assert set(Path("seen").read_text().split()) == {"unset"}


def test_commands_do_not_inherit_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its URL may hold a password, which is none of their business; other variables are handed on."""
    monkeypatch.setenv("TRUEBEST_STORE", STORE)
    monkeypatch.setenv("ANOTHER", "kept")
    script(Path("spy"), 'echo "${TRUEBEST_STORE-unset} $ANOTHER" >> seen; echo 0.5')
    environments: list[dict[str, str]] = []
    real: Any = subprocess.Popen

    def popen(*arguments: Any, env: dict[str, str], **options: Any) -> Any:
        environments.append(env)
        return real(*arguments, env=env, **options)

    monkeypatch.setattr(subprocess, "Popen", popen)
    assert run(*words("./spy", "./spy", "--max-samples", "2")).code == 3
    assert set(Path("seen").read_text().splitlines()) == {"unset kept"}
    assert len(environments) == 3  # the guard's, too
    assert not any("TRUEBEST_STORE" in names for names in environments)
    assert told("identify") == 2


def test_closed_streams() -> None:
    """A reader that went away leaves the answer its code; a full disk is code 1 and one line."""
    reader, writer = os.pipe()
    os.close(reader)
    process = start(*words("./good", "./bad", "--max-samples", "4", "--quiet"), stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=600)
    assert (process.returncode, err) == (3, "")
    with open("/dev/full", "w") as full:
        process = start(*words("./good", "./bad", "--max-samples", "4", "--quiet"), stdout=full)
        _, err = process.communicate(timeout=600)
    assert process.returncode == 1
    assert err.count("\n") == 1
    line = '"$0" -m truebest "$@" 2>&-'
    process = subprocess.Popen(
        ["sh", "-c", line, sys.executable, *words("./good", "./bad", "--max-samples", "4")],
        stdout=subprocess.PIPE,
        text=True,
    )
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 3
    assert out.startswith("undecided after 4 samples")


def test_the_live_view_on_a_terminal() -> None:
    """It shows the arms, and of what the commands print nothing; the result follows it."""
    script(Path("loud"), r"printf '\033[31mSECRET\n' >&2; echo SECRET; sleep 0.1; echo 0.5")
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    process = start(
        *words("./loud", "./loud", "--max-samples", "8"), stdout=follower, stderr=follower, env=environment
    )
    os.close(follower)
    output = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(leader, 65536):
            output += chunk
    os.close(leader)
    assert process.wait(timeout=600) == 3
    text = output.decode()
    assert "SECRET" not in text
    assert "of at most 8 samples" in text
    assert "undecided after 8 samples" in text
