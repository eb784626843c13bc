"""Suites of bandits: those built in, those drawn at random, and files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truebest
from truebest import Bandit, InvalidInputError, load_suite
from truebest.studies.paper.published import BANDITS


def test_the_standard_suite_has_46_bandits() -> None:
    """Six for every K, the paper's four and six with rewards of 0 or 1; every best arm is unique."""
    suite = load_suite("standard")
    assert len(suite) == len({bandit.name for bandit in suite}) == 46
    sizes = Counter(bandit.groups[0] for bandit in suite)
    assert sizes == {"K=2": 6, "K=3": 6, "K=5": 6, "K=10": 6, "K=20": 6, "K=50": 6, "paper": 4, "0/1": 6}
    assert Counter(one for b in suite for one in b.groups[1:]) == dict.fromkeys(
        ("equal", "rival", "linear", "pack", "bell", "clear"), 5
    )
    for bandit in suite:
        means = np.sort(bandit.means)
        assert means[-1] > means[-2]
        if bandit.groups[0].startswith("K="):
            assert bandit.num_arms == int(bandit.groups[0][2:])
            assert means[-1] == 0.0
        if bandit.groups[1:] and bandit.groups[1] != "clear":
            assert means[-2] == pytest.approx(-0.2)


def test_the_paper_and_practice() -> None:
    """The paper's means; rates, scores and unequal noise, which is assumed as it is."""
    assert {b.name: b.means for b in load_suite("paper")} == BANDITS
    practice = load_suite("practice")
    assert Counter(b.groups[0] for b in practice) == {"rates": 4, "scores": 4, "uneven noise": 4}
    assert all(b.sigma == b.noise for b in practice if b.groups == ("uneven noise",))
    assert {b.rewards for b in practice} == {"bernoulli", "beta", "gaussian"}


def test_random_bandits_are_a_function_of_seed_and_number() -> None:
    """A longer list begins with the shorter; other seeds give others; sizes and gaps are as described."""
    many = load_suite("random:200:7")
    assert load_suite("random:5:7") == many[:5]
    assert load_suite("random") == load_suite("random:24:3")
    assert not {b.means for b in load_suite("random:5:8")} & {b.means for b in many}
    assert {b.num_arms for b in many} <= set(range(3, 61))
    assert min(b.num_arms for b in many) <= 4
    assert max(b.num_arms for b in many) >= 50
    for bandit in many:
        gaps = -np.sort(bandit.means)[::-1]
        assert gaps[0] == 0.0
        assert 0.15 <= gaps[1] <= 0.6
        assert gaps[-1] <= 11 * gaps[1]


def test_random_bandits_are_the_same_everywhere() -> None:
    """Pinned: the held-out bandits are those that the guide reports on."""
    first = load_suite("random:1:3")[0]
    assert first.name == FIRST[0]
    assert first.means[-3:] == pytest.approx(FIRST[1], rel=1e-12)


FIRST = ("random 3.1 K=4", (-0.2574796741834009, -0.20828854710130948, 0.0))


def test_a_suite_may_have_several_parts() -> None:
    """Names, files and bandits, in their order."""
    mine = Bandit("mine", (0.0, 1.0))
    found = load_suite(["paper", "random:2", mine])
    assert [b.name for b in found][:4] == list(BANDITS)
    assert found[-1] is mine
    assert len(found) == 7


def test_the_seed_of_a_bandit_follows_from_its_name() -> None:
    """Each has its own, whatever else is in the suite; another seed gives others."""
    suite = load_suite("standard")
    assert len({b.seed(0) for b in suite} | {b.seed(1) for b in suite}) == 92
    assert Bandit("mu1", (0.0, 1.0)).seed(5) == load_suite("paper")[0].seed(5)


def test_a_file_says_all_that_simulate_takes(tmp_path: Path) -> None:
    """Means, rewards, noise and scale, one or one per arm, bounds, a model, groups; list or object."""
    rows: list[dict[str, Any]] = [
        {"name": "plain", "means": [0, 0.5]},
        {"name": "rates", "means": [0.1, 0.2], "rewards": "bernoulli", "model": "Bernoulli", "group": "web"},
        {"name": "beta", "means": [0.5, 0.6], "rewards": "beta", "noise": 0.1, "bounds": [0, 1]},
        {"name": "uneven", "means": [0, 1], "noise": [1, 2], "sigma": [1, 2], "group": ["a", "b"]},
    ]
    file = tmp_path / "suite.json"
    for body in (rows, {"bandits": rows}):
        file.write_text(json.dumps(body))
        found = load_suite(str(file))
        assert found == load_suite(file)
    assert [b.name for b in found] == ["plain", "rates", "beta", "uneven"]
    assert found[0] == Bandit("plain", (0.0, 0.5))
    assert found[1].model == truebest.Bernoulli()
    assert found[1].groups == ("web",)
    assert found[2].model == truebest.Bounded(0, 1)
    assert (found[3].noise, found[3].sigma, found[3].groups) == ((1.0, 2.0), (1.0, 2.0), ("a", "b"))


@pytest.mark.parametrize(
    ("row", "part"),
    [
        ({"means": [0, 1]}, "with a name and means"),
        ("two", "with a name and means"),
        ({"name": "x", "means": 1}, "means must be a list of numbers"),
        ({"name": "x", "means": [1]}, "at least two arms"),
        ({"name": "", "means": [0, 1]}, "name of a bandit must be a text"),
        ({"name": "x", "means": [0, 1], "reward": "beta"}, "did you mean 'rewards'"),
        ({"name": "x", "means": [0, 1], "rewards": "cauchy"}, "rewards must be one of"),
        ({"name": "x", "means": [0, 2], "rewards": "bernoulli"}, "bandit 'x': means of Bernoulli rewards"),
        ({"name": "x", "means": [0, 1], "noise": [1, 2, 3]}, "noise must be one number"),
        ({"name": "x", "means": [0, 1], "sigma": 1, "bounds": [0, 1]}, "got sigma and bounds"),
        ({"name": "x", "means": [0, 1], "bounds": [0]}, "bounds must be two numbers"),
        ({"name": "x", "means": [0, 1], "model": "Gaussian"}, "model must be one of"),
        ({"name": "x", "means": [0, 1], "group": 3}, "group must be a text"),
    ],
)
def test_bad_rows_of_a_file(row: object, part: str, tmp_path: Path) -> None:
    """Each is refused in a sentence that says which row, and of which file."""
    file = tmp_path / "suite.json"
    file.write_text(json.dumps([{"name": "good", "means": [0, 1]}, row]))
    with pytest.raises(InvalidInputError, match="number 2 of the suite") as refusal:
        load_suite(file)
    assert part in str(refusal.value)


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ("standrad", "did you mean 'standard'"),
        ("nowhere.json", "cannot read the suite"),
        ("random:x", "random:NUMBER:SEED"),
        ("random:1:2:3", "random:NUMBER:SEED"),
        ("random:0", "from 1 to 10000"),
        (["paper", "paper"], "two called 'mu1'"),
        ([], "got nothing"),
        (3, "a name, a file or a list of bandits"),
    ],
)
def test_bad_suites(given: Any, part: str) -> None:
    """A name that nobody knows, a file that is not there, names twice."""
    with pytest.raises(InvalidInputError) as refusal:
        load_suite(given)
    assert part in str(refusal.value)


def test_files_that_are_no_suite(tmp_path: Path) -> None:
    """No JSON, or without bandits."""
    file = tmp_path / "suite.json"
    for text, part in (("{", "must be JSON"), ("{}", "list of bandits"), ("[]", "list of bandits")):
        file.write_text(text)
        with pytest.raises(InvalidInputError) as refusal:
            load_suite(file)
        assert part in str(refusal.value)
