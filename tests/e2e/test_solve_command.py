"""`truebest solve` from the outside: what it prints where, exit codes, one line for an error."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.commands import run

COMMAND = [sys.executable, "-m", "truebest"]


def truebest(*words: str, stdin: str | bytes = "") -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    data = stdin if isinstance(stdin, bytes) else stdin.encode()
    run = subprocess.run([*COMMAND, *words], input=data, capture_output=True, timeout=600)
    return subprocess.CompletedProcess(run.args, run.returncode, run.stdout.decode(), run.stderr.decode())


def test_the_papers_first_bandit() -> None:
    """Arm, mean, gap, weight, then T, the lower bound of Table 1 and the bounds of Proposition 10."""
    run = truebest("solve", "0.9", "0.8", "0.6", "0.4", "0.4", "--delta", "0.1")
    assert (run.returncode, run.stderr) == (0, "")
    lines = [line.split() for line in run.stdout.splitlines()]
    assert lines[0] == ["arm", "mean", "gap", "weight"]
    assert lines[1] == ["1", "0.9", "0", "0.476784"]
    assert lines[5] == ["5", "0.4", "0.5", "0.00971964"]
    assert ["characteristic", "time", "T", "839.855", "800", "1800"] in lines
    assert ["samples", "needed", "at", "delta", "0.1", "1476.28"] in lines
    assert run.stdout.isascii()


def test_json_has_full_precision_and_null_for_infinity() -> None:
    """Numbers as doubles; inf, which JSON does not know, as null."""
    ran = run("solve", "0.9", "0.5", "0.45", "0.4", "--delta", "0.01", "--format", "json")
    found = json.loads(ran.out)
    assert [arm["arm"] for arm in found["arms"]] == [1, 2, 3, 4]
    assert found["time"] == pytest.approx(76.993818685653568, rel=1e-13)
    assert found["lower_bound"] == pytest.approx(346.7, abs=0.1)
    assert found["bounds"]["time"][0] <= found["time"] <= found["bounds"]["time"][1]
    tied = json.loads(run("solve", "1", "1", "0", "--format", "json").out)
    assert tied["time"] is None
    assert tied["lower_bound"] is None
    assert [arm["weight"] for arm in tied["arms"]] == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("words", [["-0.5", "0.2"], ["-1e-3,.5"], ["--delta", "0.1", "-.5", "-.2"]])
def test_negative_means_are_not_options(words: list[str]) -> None:
    """A leading minus is a number."""
    ran = run("solve", *words)
    assert (ran.code, ran.err) == (0, "")


def test_box() -> None:
    """Intervals give the exploration-biased weights; intervals with a common point uniform ones."""
    ran = run("solve", "--box", "0.1:0.9", "-0.2:0.05", "0.3:0.6", "--format", "json")
    found = json.loads(ran.out)
    assert found["best"] == 3
    assert [arm["biased_mean"] for arm in found["arms"]] == [0.1, 0.05, 0.6]
    uniform = run("solve", "--box", "0:1", "0.5:2")
    assert uniform.code == 0
    assert "common point" in uniform.out
    assert uniform.out.split("\n")[1].split()[-1] == "0.5"


def test_file_and_stdin(tmp_path: Path) -> None:
    """Commas, blanks and lines separate numbers; a byte order mark is no number."""
    file = tmp_path / "means.csv"
    file.write_text("\ufeff0.9, 0.5\n0.45\n\n0.4\n", encoding="utf-8")
    expected = run("solve", "0.9", "0.5", "0.45", "0.4").out
    assert run("solve", "--file", str(file)).out == expected
    assert run("solve", "-", stdin="0.9 0.5,0.45\n0.4").out == expected
    assert run("solve", "--file", "-", stdin="\ufeff0.9 0.5,0.45\n0.4").out == expected


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["1"], "at least two arms"),
        ([], "no numbers were given"),
        (["a", "b"], "'a'"),
        (["1", "nan"], "finite"),
        (["1", "inf"], "finite"),
        (["1", "2", "--delta", "1.5"], "strictly between 0 and 1"),
        (["1", "2", "--delta", "x"], "'x'"),
        (["1", "2", "--delta"], "delta"),
        (["1", "2", "--fromat", "json"], "--fromat"),
        (["1", "2", "--format", "xml"], "xml"),
        (["--box", "1:0", "2:3"], "lower <= upper"),
        (["--box", "1", "2:3"], "LOWER:UPPER"),
        (["--box", "a:b", "2:3"], "'a'"),
        (["--file", "missing.csv"], "missing.csv"),
        (["--file", "."], "directory"),
        (["1", "2", "--file", "means.csv"], "both"),
        (["0.9,,0.8"], "empty cell"),
        (["1_0", "2"], "1_0"),
        (["--box", "--delta", "7", "0:1", "2:3"], "strictly between"),
        (["1", "2", "--\x1b[31mfoo"], "no option"),
    ],
)
def test_bad_input_is_one_line_and_code_2(words: list[str], part: str) -> None:
    """Nothing on stdout, one line on stderr, no traceback."""
    ran = run("solve", *words)
    assert ran.code == 2
    assert ran.out == ""
    assert part in ran.err
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("truebest: ")


@pytest.mark.parametrize(
    "content", [b"0.9,word,0.4", b"\xff\xfe\x00\x01", b"0.9;0.4", b"", b"mean\n0.9\n0.4"]
)
def test_a_file_with_a_word_in_it(tmp_path: Path, content: bytes) -> None:
    """The same, from a file and from stdin."""
    file = tmp_path / "means.csv"
    file.write_bytes(content)
    for ran in (run("solve", "--file", str(file)), run("solve", "-", stdin=content)):
        assert ran.code == 2
        assert ran.err.count("\n") == 1


def test_unknown_command_and_version() -> None:
    """A wrong command is bad input; the version is printed."""
    ran = run("slove")
    assert ran.code == 2
    assert "slove" in ran.err
    assert run("--version").out.startswith("truebest 0.")


def test_a_full_disk_and_a_closed_pipe_are_failures_in_one_line() -> None:
    """Output that cannot be written: code 1, no traceback."""
    with open("/dev/full", "w") as full:
        run = subprocess.run([*COMMAND, "solve", "1", "2"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert "space" in run.stderr
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run([*COMMAND, "solve", "1", "2"], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (run.returncode, run.stderr) == (1, "")


def test_closed_streams_and_no_command() -> None:
    """Without standard output or input there is one line; without a command there is the help."""
    for redirect, words in ((">&-", "1 2"), ("<&-", "-")):
        script = f'"$0" -m truebest solve {words} {redirect}'
        run = subprocess.run(["sh", "-c", script, sys.executable], capture_output=True, text=True)
        assert run.returncode in (1, 2)
        assert run.stderr.count("\n") == 1
        assert "unexpected" not in run.stderr
    alone = truebest()
    assert (alone.returncode, alone.stderr) == (2, "")
    assert "Usage" in alone.stdout


def test_interrupt_is_130() -> None:
    """Ctrl-C while waiting for standard input: one line and code 130."""
    process = subprocess.Popen(
        [*COMMAND, "solve", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write("0.5 " * 50_000)  # more than a pipe holds: when it is written, somebody reads
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 130
    assert errors == "truebest: interrupted\n"


def test_debug_shows_the_traceback_and_keeps_the_code() -> None:
    """--debug may stand anywhere."""
    run = truebest("solve", "1", "--debug")
    assert run.returncode == 2
    assert "Traceback" in run.stderr


def test_a_terminal_gets_a_table() -> None:
    """On a terminal rich draws the table; a long one is cut there and only there."""
    leader, follower = pty.openpty()
    means = [str(i / 100) for i in range(100)]
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen([*COMMAND, "solve", *means], stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    output = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:
            break
        if not chunk:
            break
        output += chunk
    assert process.wait(timeout=600) == 0
    text = output.decode()
    assert "\x1b[" in text
    assert "40 more" in text
    assert len(truebest("solve", *means).stdout.splitlines()) > 100


def test_demo_runs(tmp_path: Path) -> None:
    """The demonstration ends decided, saves its page, and shows that the proven rules ask for more."""
    script = Path(__file__).parents[2] / "examples" / "demo.py"
    run = subprocess.run([sys.executable, script, tmp_path / "report"], capture_output=True, text=True)
    assert run.returncode == 0
    assert "step by step is best; wrong with probability at most 5%" in run.stdout
    assert "step by step" in (tmp_path / "report" / "choice.html").read_text()
    rows = {line.split()[0]: line.split() for line in run.stdout.splitlines() if line}
    assert rows["practical"][-1] == "stop"
    assert rows["gk16"][-1] == "continue"
