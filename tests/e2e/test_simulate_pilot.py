"""`truebest simulate --data`: a pilot's values from a file, wide or long, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truebest
from support.commands import refused, run
from truebest.cli._pilot import read_pilot

WIDE = "old,new,newest\n0.5,0.9,0.1\n0.6,1.0,0.2\n0.7,,0.3\n,,0.2\n"
LONG = (
    "arm,value\nold,0.5\nnew,0.9\nnewest,0.1\nnewest,0.2\nold,0.6\nnew,1.0\nnewest,0.3\nold,0.7\nnewest,0.2\n"
)
VALUES = {"old": [0.5, 0.6, 0.7], "new": [0.9, 1.0], "newest": [0.1, 0.2, 0.3, 0.2]}
OPTIONS = ("--strategy", "tas-d", "--runs", "30", "--seed", "2", "--stopping", "mixture")


def write(folder: Path, text: str | bytes) -> str:
    file = folder / "pilot.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(file)


def simulated(**given: Any) -> Any:
    """What Python finds on the same values."""
    found = truebest.simulate(
        "tas-d", rewards=list(VALUES.values()), runs=30, seed=2, stopping="mixture", **given
    )
    return json.loads(json.dumps(found.to_dict()))


FORMS: dict[str, str | bytes] = {
    "wide": WIDE,
    "long": LONG,
    "value before arm": "Value,Arm\n" + "".join(f"{v},{arm}\n" for arm in VALUES for v in VALUES[arm]),
    "byte order mark": b"\xef\xbb\xbf" + WIDE.encode(),
    "semicolons": WIDE.replace(",", ";"),
    "tabs": LONG.replace(",", "\t"),
    "windows": WIDE.replace("\n", "\r\n"),
    "quotes and blanks": '"old", new ,"newest"\n\n"0.5",0.9,0.1\n0.6, 1.0,0.2\n   \n0.7,,0.3\n,,0.2',
    "separators at the end": WIDE.replace("\n", ",,\n"),
    "short lines": "old,new,newest\n0.5,0.9,0.1\n0.6,1.0,0.2\n0.7\n,,0.3\n,,0.2\n",
}


@pytest.mark.parametrize("form", list(FORMS))
def test_forms_of_a_file(form: str, tmp_path: Path) -> None:
    """All say the same."""
    assert read_pilot(write(tmp_path, FORMS[form])) == VALUES


def test_the_command_is_simulate(tmp_path: Path) -> None:
    """The same numbers as from Python; names of the arms, the right one and the scale are told on stderr."""
    words = ("simulate", "--data", write(tmp_path, WIDE), *OPTIONS)
    ran = run(*words, "--format", "json")
    assert (ran.code, json.loads(ran.out)) == (0, simulated())
    assert "the right answer is new; arm 1 is old, mean 0.6 of 3; arm 2 is new, mean 0.95 of 2;" in ran.err
    scale = np.std(VALUES["old"])
    assert ran.err.rstrip().endswith(f"assumed: independent values of sub-Gaussian scale {scale:g}.")
    given = run(*words, "--format", "json", "--sigma", "0.3")
    assert json.loads(given.out) == simulated(sigma=0.3)
    assert "assumed" not in given.err
    bounded = run(*words, "--format", "json", "--bounds", "0,1")
    assert json.loads(bounded.out) == simulated(model=truebest.Bounded(0.0, 1.0))
    assert run(*words, "--bounds", "0,1").out.splitlines()[0].startswith("strategy")


def test_data_from_standard_input() -> None:
    """As from a file."""
    ran = run("simulate", "--data", "-", *OPTIONS, "--format", "json", stdin=LONG)
    assert json.loads(ran.out) == simulated()


def test_many_arms_are_not_listed(tmp_path: Path) -> None:
    """Only the right ones."""
    names = [f"arm{i}" for i in range(20)]
    lines = [",".join(names), ",".join(map(str, range(20))), ",".join(str(i + 1) for i in range(20))]
    ran = run("simulate", "--data", write(tmp_path, "\n".join(lines)), *OPTIONS)
    assert "the right answer is arm19; arm 20 is arm19, mean 19.5 of 2; assumed" in ran.err


def test_bounds_without_data() -> None:
    """They are what is assumed of rewards of any kind."""
    words = ("simulate", "--means", "0.7,0.5", "--rewards", "beta", "--noise", "0.1", *OPTIONS)
    assert run(*words, "--bounds", "0,1").out == run(*words).out
    assert run(*words, "--bounds", "0,2").out != run(*words).out


REFUSED: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "got an empty file"),
    "blank": ("\n  \n", "got an empty file"),
    "no header": ("0.5,0.9\n0.6,1.0\n", "line 1 of the data must be a header that names the arms"),
    "header alone": ("old,new\n", "got none for 'old'"),
    "long header alone": ("arm,value\n", "at least two arms, got none"),
    "text": ("old,new\n1,2\n3,high\n", "line 3 of the data must have a finite number for 'new', got 'high'"),
    "text after a blank line": ("old,new\n\n3,high\n", "line 3 of the data"),
    "text in long": ("arm,value\nold,1\nnew,NA\n", "line 3 of the data must have a finite number for 'new'"),
    "not finite": ("old,new\n1,inf\n", "line 2 of the data must have a finite number for 'new', got 'inf'"),
    "decimal comma": ("old;new\n0,5;0,6\n", "line 2 of the data must have a finite number for 'old'"),
    "one arm": ("old\n1\n2\n", "at least two arms, got 'old'"),
    "one arm in long": ("arm,value\nold,1\nold,2\n", "at least two arms, got 'old'"),
    "arm without values": ("old,new\n1,\n2,\n", "got none for 'new'"),
    "too many cells": ("old,new\n1,2,3\n", "line 2 of the data must have at most 2 cells"),
    "twice": ("old,new,old\n1,2,3\n", "got the name 'old' twice"),
    "no name": ("old,,new\n1,2,3\n", "got a column without a name"),
    "no value in long": ("arm,value\nold,\n", "line 2 of the data must have an arm and a value, got 'old, '"),
    "no arm in long": ("arm,value\nold,1\n,2\n", "line 3 of the data must have an arm and a value"),
    "open quotes": ('old,new\n1,"2\n', "cannot be read"),
    "not text": (b"\xff\xfe\x00", "it is not a text file; write a line of names"),
    "constant": ("old,new\n1,2\n1,2\n", "must differ for some arm"),
}  # fmt: skip


@pytest.mark.parametrize("what", list(REFUSED))
def test_a_broken_file_is_refused_in_one_line(what: str, tmp_path: Path) -> None:
    """With the number of the line where there is one, and what to do."""
    text, part = REFUSED[what]
    refused(run("simulate", "--data", write(tmp_path, text), *OPTIONS), part)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--means", "1,2"], "give either --data or --means"),
        (["--rewards", "beta"], "give either --data or --rewards"),
        (["--noise", "2"], "give either --data or --noise"),
        (
            ["--sigma", "1", "--bounds", "0,1"],
            "give one of --sigma, --bounds, --model, got",
        ),
        (["--bounds", "0"], "bounds must be (lo, hi)"),
        (["--bounds", "1,0"], "lo < hi"),
        (["--bounds", "0,x"], "'x'"),
        (["--bounds", "0,0.9"], "must lie in [0, 0.9], as the model says, got 1 for arm 2"),
    ],
)
def test_options_that_do_not_go_together(words: list[str], part: str, tmp_path: Path) -> None:
    """Each refusal names both."""
    refused(run("simulate", "--data", write(tmp_path, WIDE), *words), part)


def test_a_missing_file() -> None:
    """The name and the reason."""
    refused(run("simulate", "--data", "missing.csv"), "cannot read 'missing.csv': No such file")
