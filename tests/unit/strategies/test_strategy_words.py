"""Strategies in words: parameters, sweeps, files, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import truebest
from support.commands import run
from truebest import EBS, InvalidInputError, TopTwo
from truebest.experiment.choices import choose_strategy, recall_strategy
from truebest.strategies import find_strategies, find_strategy
from truebest.strategies.finding import split_words

MEANS = [0.9, 0.5, 0.3]
FILE = """
import truebest
from beside import SHARE

@truebest.strategy
def greedy(leader):
    return leader

@truebest.strategy(params=(SHARE,))
def shared(leader, pulls, t, params):
    return leader if pulls[leader] <= params[0] * t else int(pulls.argmin())

class Mine(truebest.EBS):
    def __init__(self, gamma=0.05, boom=False):
        super().__init__(gamma=gamma / (0 if boom else 2))

def plain(leader):
    return leader

made = truebest.TrackAndStop()
print("the file runs")
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "beside.py").write_text("SHARE = 0.5\n")
    (tmp_path / "mine.py").write_text(FILE)
    return str(tmp_path / "mine.py")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("ebs-d", [EBS()]),
        (" ebs-c( gamma = 0.01 ) ", [EBS("C", 0.01)]),
        ("ebs-d()", [EBS()]),
        ("ebs-d(gamma=0.01|0.05|2e-1)", [EBS(gamma=0.01), EBS(), EBS(gamma=0.2)]),
        ("ebs-d(width=paper|'mixture')", [EBS(width="paper"), EBS(width="mixture")]),
        ("ebs-d(clip=(0, 1)|None, open_only=True)", [EBS(clip=(0, 1), open_only=True), EBS(open_only=True)]),
        ("ebs-d(tracking=C|D, gamma=0.1|0.2)", [EBS(t, g) for t in "CD" for g in (0.1, 0.2)]),
        ("ttucb(split=ids)", [TopTwo("ucb", tracked=True, split="ids")]),
        ("eb-tc-eps(slack=0.2)", [TopTwo(slack=0.2, tracked="pairs")]),
        ("ttts(draws=100|None)", [TopTwo("thompson", "resampled", draws=n) for n in (100, None)]),
        ("t3c(ties=first)", [TopTwo("thompson", ties="first")]),
    ],
)
def test_a_word_stands_for_strategies(word: str, expected: list[truebest.Strategy]) -> None:
    """Numbers, words, brackets; alternatives in order; of two parameters every pair."""
    assert find_strategies(word) == expected


@pytest.mark.parametrize(
    ("word", "part"),
    [
        ("ebs-d(gama=0.1)", "got 'gama'; did you mean 'gamma'?"),
        ("racing(x=1)", "'racing' has no parameters, got 'x'"),
        ("ebs-d(gamma=2)", "gamma must lie strictly between 0 and 1, got 2.0"),
        ("ebs-d(gamma=0.1|oops)", "gamma must be one real number, got 'oops'"),
        ("ebs-d(gamma=0.0.1)", "a value must be a number, a word"),
        ("ebs-d(gamma=)", "a value must be a number, a word"),
        ("ebs-d(gamma=0.1|)", "a value must be a number, a word"),
        ("ebs-d(0.1)", "must be name=value, each once, got '0.1'"),
        ("ebs-d(gamma=0.1, gamma=0.2)", "each once, got 'gamma=0.2'"),
        ("ebs-d(gamma=0.1", "a name, with parameters in brackets behind it"),
        ("ebs-d(gamma=(0.1)", "every bracket must be closed"),
        ("ebs-d(gamma=0.1)x", "a name, with parameters in brackets behind it"),
        ("ebs(gamma=0.1)", "strategy must be one of"),
        ("missing.py:mine", "got 'missing.py', which is not there; correct its path"),
    ],
)
def test_a_word_that_is_none_is_refused(word: str, part: str) -> None:
    """In one sentence that says what is wrong with it."""
    with pytest.raises(InvalidInputError) as refused:
        find_strategies(word)
    assert part in str(refused.value)


def test_a_list_is_cut_outside_of_brackets_alone() -> None:
    """At commas and blanks; a bracket that is open, and an empty cell, are refused."""
    text = "ebs-d(gamma=0.1|0.2, clip=(0, 1)), tas-d racing,"
    assert split_words(text) == ["ebs-d(gamma=0.1|0.2, clip=(0, 1))", "tas-d", "racing"]
    assert split_words("") == []
    for wrong, part in {"a,,b": "empty cell", "ebs-d(gamma": "closed", "ebs-d)": "closed"}.items():
        with pytest.raises(InvalidInputError, match=part):
            split_words(wrong)


def test_a_sweep_is_its_strategies_one_by_one() -> None:
    """Labelled by their parameters, with the runs that each has alone; the same one twice is refused."""
    found = truebest.simulate(["ebs-d(gamma=0.01|0.05)", "uniform"], MEANS, 0.1, runs=10)
    assert [cell.strategy for cell in found] == ["ebs-d(gamma=0.01)", "ebs-d", "uniform"]
    alone = truebest.simulate(EBS(gamma=0.01), MEANS, 0.1, runs=10)
    np.testing.assert_array_equal(found["ebs-d(gamma=0.01)"].samples, alone.cells[0].samples)
    with pytest.raises(InvalidInputError, match="different ones"):
        truebest.simulate("ebs-d(gamma=0.1|0.1)", MEANS, 0.1, runs=10)
    assert truebest.trace("ebs-d(gamma=0.01)", MEANS, 0.1).strategy == "ebs-d(gamma=0.01)"
    with pytest.raises(InvalidInputError, match="stands for 2; give each parameter one value"):
        truebest.trace("ebs-d(gamma=0.1|0.2)", MEANS, 0.1)


def test_a_file_has_strategies(file: str) -> None:
    """Functions, with other numbers too, classes with parameters, and strategies that it made."""
    names = [one.name for one in find_strategies(f"{file}:shared(params=0.25|0.5)")]
    assert names == ["shared(params=0.25)", "shared(params=0.5)"]
    assert find_strategy(f"{file}:Mine(gamma=0.1)", files=True).gamma == 0.05  # type: ignore[attr-defined]
    assert find_strategies(f"{file}:made(tracking=C)") == [truebest.TrackAndStop("C")]
    words = [f"{file}:shared", f"{file}:shared(params=0.5)", f"{file}:shared(params=0.3)"]
    own, same, other = truebest.simulate(words, MEANS, 0.1, runs=10, max_samples=10**5)
    np.testing.assert_array_equal(own.samples, same.samples)
    assert (own.samples != other.samples).any()
    assert truebest.trace(f"{file}:greedy", MEANS, 0.1, max_samples=50).strategy == "greedy"


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("plain", "must be a strategy, got a function; put @truebest.strategy above"),
        ("nobody", "offers greedy, shared, Mine, made, got the name 'nobody'"),
        ("shared(x=1)", "must be one of 'params', got 'x'"),
        ("shared(params=much)", "must accept its parameters, got ValueError"),
        ("Mine(boom=True)", "must accept its parameters, got ZeroDivisionError"),
    ],
)
def test_what_a_file_lacks_is_refused(file: str, name: str, part: str) -> None:
    """What is not there, and what is no strategy."""
    with pytest.raises(InvalidInputError) as refused:
        find_strategies(f"{file}:{name}")
    assert part in str(refused.value)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("x = 1\ny = 1 / 0\n", "raised ZeroDivisionError in line 2: division by zero"),
        ("def f(:\n", "raised SyntaxError"),
        ("import sys\nsys.exit(3)\n", "raised SystemExit in line 2: 3"),
        ("x = 1\n", "offers no strategy, got the name 'mine'"),
        (
            "import truebest\n@truebest.strategy\ndef mine(means):\n    means[0] = 1.0\n    return 0\n",
            "the strategy 'mine' writes to means, which it may only read",
        ),
    ],
)
def test_a_file_that_fails_says_why(tmp_path: Path, text: str, part: str) -> None:
    """The exception and its line; a strategy that is refused is refused in its own words."""
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(InvalidInputError) as refused:
        find_strategies(f"{path}:mine")
    assert part in str(refused.value)


def test_a_live_experiment_never_runs_a_file(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A word may have come from the network or out of a store; parameters are fine, and stored."""
    with pytest.raises(InvalidInputError, match="pass the strategy itself"):
        choose_strategy(f"{file}:greedy")
    with pytest.raises(InvalidInputError, match="pass the strategy itself"):
        recall_strategy({"installed": f"{file}:greedy"})
    assert capsys.readouterr().out == ""
    chosen = choose_strategy("ebs-d(gamma=0.01)")
    assert recall_strategy(json.loads(json.dumps(chosen.record))).strategy == EBS(gamma=0.01)


def test_the_command_takes_words(file: str) -> None:
    """Sweeps and files beside names; what a file prints is not among the data."""
    base = ("simulate", "--means", "0.9,0.5,0.3", "--runs", "5", "--format", "json", "--strategy")
    ran = run(*base, f"ebs-d(gamma=0.01|0.05), uniform,{file}:made")
    assert (ran.code, "the file runs" in ran.err) == (0, True)
    names = [row["strategy"] for row in json.loads(ran.out)]
    assert names == ["ebs-d(gamma=0.01)", "ebs-d", "uniform", "tas-d"]
    for word, part in {
        "ebs-d(gama=1)": "did you mean 'gamma'",
        f"{file}:plain": "must be a strategy",
    }.items():
        refused = run(*base, word)
        assert (refused.code, refused.out) == (2, "")
        assert part in refused.err
