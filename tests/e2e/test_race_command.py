"""`truebest race` on real programs: what it runs, what it shows, what it writes, and how it ends."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.test_identify_command import numbers, script, wait_for
from e2e.test_solve_command import COMMAND
from support.commands import Ran, refused, run
from support.processes import alive
from truebest.cli._commands import Commands
from truebest.cli._timed import Timed
from truebest.cli.race import needs_shell

JITTER = "sleep 0.%d0$(od -An -N1 -tu1 /dev/urandom | tr -d ' ')"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a fast and a slow program, both of which vary, but not as much as a busy machine does."""
    monkeypatch.chdir(tmp_path)
    script(tmp_path / "fast", "echo LOUD; echo LOUD >&2; " + JITTER % 0)
    script(tmp_path / "slow", "echo LOUD; echo LOUD >&2; " + JITTER % 2)
    return iter([tmp_path])


def race(*more: str, first: str = "./slow", second: str = "./fast") -> Ran:
    """Run it to its end, with a budget; no other program may make it longer than this."""
    return run("race", first, second, "--timeout", "60", "--seed", "1", *more)


def start(*words: str, **how: Any) -> subprocess.Popen[str]:
    """In a process of its own, which Ctrl-C reaches."""
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **how}
    return subprocess.Popen(["env", "--default-signal=INT", *COMMAND, "race", *words], **given)


def test_the_fastest_of_two_programs_is_found() -> None:
    """The sentence, a line for each, nothing of what they print; and no store is needed or made."""
    ran = race()
    assert ran.code == 0, ran
    first = ran.out.splitlines()[0]
    assert first.startswith("./fast is faster than ./slow in more than half of all rounds; wrong with ")
    assert "probability at most 5%; " in first
    assert "mean ± sd" in ran.out
    assert "LOUD" not in ran.out + ran.err
    assert set(os.listdir()) == {"fast", "slow"}


def test_the_answer_as_json_and_csv() -> None:
    """On stdout, whole; remarks stay on stderr."""
    found = json.loads(race("--format", "json").out)
    assert (found["best"], found["result"]["promise"]["bound"]) == ("./fast", 0.05)
    rows = list(csv.DictReader(race("--format", "csv").out.splitlines()))
    assert [row["name"] for row in rows] == ["./fast", "./slow"]


def test_expect_is_for_continuous_integration() -> None:
    """0 if the expected one is the fastest, 5 if another one is, 3 if that is open; 2 for an unknown name."""
    assert race("--expect", "./fast").code == 0
    ran = race("--expect", "./slow")
    assert ran.code == 5
    assert "expected ./slow, but ./fast is faster." in ran.err
    assert race("--expect", "./slow", "--max-rounds", "2").code == 3
    refused(race("--expect", "slow"), "--expect must name a command of the race, got 'slow'")


def test_equal_programs_end_with_the_budget_or_within_a_tolerance() -> None:
    """Undecided is 3, with advice; a wide tolerance decides."""
    ran = race("--runs", "4", first="sleep 0.01", second="sleep 0.01")
    assert ran.code == 3
    assert ran.out.startswith("undecided after 8 measurements in 4 rounds; the rounds ran out")
    assert "--tolerance within which two are the same" in ran.err
    assert "sleep 0.01 (2)" in ran.out
    ran = race("--tolerance", "400%", first="sleep 0.02", second="sleep 0.02")
    assert ran.code == 0
    assert "takes at most 5 times as long as the fastest" in ran.out


def test_a_failing_command_is_one_sentence_with_its_last_words() -> None:
    """Or a loss, if that was said beforehand."""
    script(Path("broken"), "echo no such luck >&2; exit 7")
    ran = race(first="./broken")
    refused(
        ran,
        "'./broken' failed in its warm-up: it ended with exit code 7; its stderr ends with: no such luck",
        1,
    )
    ran = race("-i", first="./broken")
    assert ran.code == 0
    assert "runs that failed count as losses: ./broken 7; look into them." in ran.err


def test_a_run_that_takes_too_long_is_stopped_and_loses() -> None:
    """With everything that it started."""
    script(Path("hang"), "sleep 1000 & echo $! >> pids; wait")
    ran = race("--run-timeout", "0.5", "--warmup", "0", first="./hang", second="true")
    assert ran.code == 0
    failed = re.search(r"\./hang (\d+)", ran.err)
    assert failed
    assert int(failed[1]) >= 7
    assert 0 < len(numbers("pids")) <= int(failed[1])  # on a busy machine not every one comes so far
    wait_for(lambda: not any(map(alive, numbers("pids"))))


def test_the_time_of_the_race_ends_a_run_and_does_not_count_it() -> None:
    """Neither command ends in time: nothing is known, and nothing is left running."""
    begun = time.monotonic()
    ran = run("race", "sleep 100", "sleep 101", "--timeout", "0.5")
    assert time.monotonic() - begun < 90.0, "it did not wait for the commands"
    assert ran.code == 3
    assert ran.out.startswith("undecided after 0 measurements in 0 rounds; the time ran out")
    ran = run("race", "true", "sleep 0.01", "--prepare", "sleep 100", "--timeout", "0.5")
    assert ran.code == 3
    assert ran.out.startswith("undecided after 0 measurements in 0 rounds; the time ran out")


def test_a_command_before_the_runs_is_not_timed() -> None:
    """It is done before every run, also of the warm-up; one for each is for them in their order."""
    ran = race(
        *("--prepare", "echo p >> log; sleep 0.3", "--max-rounds", "2", "--warmup", "1", "--format", "json"),
        first="true",
        second="true",
    )
    assert Path("log").read_text().split() == ["p"] * 6
    assert json.loads(ran.out)["standings"][0]["least"] < 0.3
    race("--prepare", "echo 1 >> each", "--prepare", "echo 2 >> each", "--warmup", "3", "--max-rounds", "1")
    assert Path("each").read_text().split()[:6] == [*"111222"]
    refused(
        race("--prepare", "false"), "the command of --prepare, 'false', failed: it ended with exit code 1", 1
    )
    refused(race("--prepare", "a", "--prepare", "b", "--prepare", "c"), "once for each, got 3")


def test_what_a_measured_command_leaves_running_is_killed() -> None:
    """So that it does not slow down the next one; what --prepare starts goes on: they may need it."""
    try:
        race(
            *("--prepare", "[ -e kept ] || { sleep 1000 & echo $! >> kept; }"),
            *("--max-rounds", "2", "--warmup", "0"),
            first="sleep 1000 & echo $! >> left",
            second="true",
        )
        left = [int(word) for word in Path("left").read_text().split()]
        assert left
        wait_for(lambda: not any(map(alive, left)))
        assert all(alive(int(word)) for word in Path("kept").read_text().split())
    finally:
        for pid in map(int, Path("kept").read_text().split()):
            os.kill(pid, signal.SIGKILL)


def test_commands_have_names() -> None:
    """Their own, or those of --command-name, and all differ; there are at least two commands."""
    ran = race("-n", "much", "-n", "much", "--format", "json", first="sleep 0.08", second="true")
    assert {one["name"] for one in json.loads(ran.out)["standings"]} == {"much", "much (2)"}
    refused(run("race", "true"), "needs 2 to 200 commands, got 1")
    refused(race("-n", "a", "-n", "b", "-n", "c"), "3 names for 2 commands")


def test_a_shell_runs_all_commands_if_one_needs_it() -> None:
    """Pipes, redirections and variables do; a quoted one does not."""
    for line in ("a | b", "a > b", "a; b", "a $x", "ls *", "X=1 a", "a && b", "(a)"):
        assert needs_shell(line), line
    for line in ("sort -n big", "grep 'a|b' file", r"grep a\|b file", "dd if=x of=y"):
        assert not needs_shell(line), line
    ran = race(first="sleep 0.05 | cat", second="true")
    assert ran.out.startswith("true is faster than sleep 0.05 | cat")
    refused(race(first="nonsense"), "cannot be found: 'nonsense'")


def test_processor_time_counts_with_measure_cpu() -> None:
    """A program that sleeps uses none: it is faster than one that works, though it takes longer."""
    script(Path("work"), "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
    ran = race("--measure", "cpu", first="./work", second="sleep 0.1")
    assert ran.out.startswith("sleep 0.1 is faster than ./work")


def test_a_time_is_that_of_the_command() -> None:
    """A sleep of 50 ms takes at least that, by the clock, and hardly any time of the processor."""
    lap = Timed("sleep 0.05", Commands())()
    assert 0.05 <= lap.wall < 1.0
    assert lap.cpu < lap.wall


def test_without_news_from_the_system_the_process_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on systems without descriptors of processes."""
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    lap = Timed("sh -c 'sleep 0.02; echo words >&2; exit 3'", Commands())()
    assert 0.02 <= lap.wall < 1.0
    assert lap.failed == "it ended with exit code 3; its stderr ends with: words"


def test_a_malformed_number_is_refused() -> None:
    """In one sentence, with nothing run."""
    refused(race("--tolerance", "much"), "tolerance")
    refused(race("--warmup", "some"), "warmup")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_command_running(number: signal.Signals) -> None:
    """Ctrl-C and SIGTERM: one line, and the command and what it started are gone."""
    script(Path("hang"), "sleep 1000 & echo $$ $! > pids; wait")
    process = start("./hang", "./fast", "--warmup", "0")
    wait_for(lambda: len(numbers("pids")) == 2)
    pids = numbers("pids")
    process.send_signal(number)
    out, err = process.communicate(timeout=600)
    assert process.returncode == (130 if number == signal.SIGINT else 128 + number)
    assert out == ""
    assert "Traceback" not in err
    wait_for(lambda: not any(map(alive, pids)))


def test_an_interrupt_while_a_command_is_started_leaves_none_running(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ctrl-C when the process is there, but whoever starts it does not know its number yet."""
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def slow(*words: Any, **how: Any) -> subprocess.Popen[bytes]:
        started.append(real(*words, **how))
        signal.raise_signal(signal.SIGINT)
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", slow)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            Timed("sleep 1000", Commands())()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert started[0].returncode == -signal.SIGTERM


def test_under_nohup_a_race_goes_on() -> None:
    """A terminal that is closed does not end it; SIGTERM still does."""
    script(Path("hang"), "echo $$ $$ > pids; sleep 1000")
    words = ["env", "--ignore-signal=HUP", *COMMAND, "race", "./hang", "./fast", "--warmup", "0"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: len(numbers("pids")) == 2)
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=1.0)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=600) == 128 + signal.SIGTERM


def test_the_live_view_on_a_terminal() -> None:
    """It shows who leads, and nothing of what the commands print; the answer follows it."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "110"}
    process = start(
        "./slow", "./fast", "--max-rounds", "8", stdout=follower, stderr=follower, env=environment
    )
    os.close(follower)
    output = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(leader, 65536):
            output += chunk
    os.close(leader)
    assert process.wait(timeout=600) in (0, 3)
    text = output.decode()
    assert "LOUD" not in text
    assert "evidence" in text
    assert "./fast" in text
    assert "times as long" in text


@pytest.mark.slow
def test_a_circle_of_preferences_is_found_by_identify() -> None:
    """Three dice of which each beats the next in five of nine rounds or more: exit code 3, and a sentence."""
    roll = "set -- {}; shift $(( TRUEBEST_SEED / 64 % 3 )); echo $1"
    dice = {"a": "2 4 9", "b": "1 6 8", "c": "3 5 7"}
    arms = [word for name, sides in dice.items() for word in ("--arm", f"{name}={roll.format(sides)}")]
    options = [
        "--compare",
        "wins",
        "--shell",
        "--seed",
        "3",
        "--store",
        "sqlite:///runs.db",
        "--name",
        "dice",
    ]
    # At a large delta fewer rounds are enough, which keeps the test short; the values follow from the seed.
    ran = run("identify", *arms, *options, "--direct", "--delta", "0.5", "--max-samples", "3000", "--quiet")
    assert ran.code == 0
    assert ran.out.startswith("there is no winner: each arm loses to another one; wrong with ")
    assert ran.err == ""
    found = json.loads(run("status", "dice", "--store", "sqlite:///runs.db", "--format", "json").out)
    assert found["settings"]["compare"] == "wins"
    assert found["answer"]["kind"] == "no_winner"
    assert run("status", "dice", "--store", "sqlite:///runs.db", "--exit-code").code == 0
    assert run("verify", "dice", "--store", "sqlite:///runs.db").code == 0
    asked = run("ask", "dice", "--store", "sqlite:///runs.db")
    assert (asked.code, asked.out) == (4, "")
    assert "nothing more to ask: " in asked.err


def test_an_experiment_by_wins_is_created_and_told_from_any_language() -> None:
    """Without bounds; pulls have a round and no item; inf is a time."""
    store = ["--store", "sqlite:///runs.db"]
    words = ["create", "x", *store, "--arm", "a", "--arm", "b", "--compare", "wins", "--minimize"]
    assert run(*words, "--failures", "loss").code == 0
    rows = json.loads(run("ask", "x", *store, "-n", "2", "--format", "json").out)["pulls"]
    assert [(row["round"], row["item"]) for row in rows] == [(1, None), (1, None)]
    assert run("tell", "x", str(rows[0]["id"]), "inf", *store).code == 0
    assert run("tell", "x", str(rows[1]["id"]), "2.5", *store).code == 0
    now = json.loads(run("status", "x", *store, "--format", "json").out)
    assert (now["progress"]["rounds"], now["answer"]["leader"]) == (1, rows[1]["arm"])
    refused(
        run(*words[:2], *store, "--arm", "a", "--arm", "b", "--compare", "ranks"), "compare must be one of"
    )
