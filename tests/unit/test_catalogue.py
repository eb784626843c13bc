"""The tables of strategies and stopping rules: an entry shows up wherever they are listed, at no cost."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bestarm
from bestarm._catalogue import COMPARED, DEFAULT_RULE, DEFAULT_STRATEGY, STOPPING_RULES, STRATEGIES
from bestarm.cli._app import COMMANDS
from bestarm.strategies import find_strategy
from support.commands import run

ROOT = Path(__file__).parents[2]
ADDED = """
import contextlib, io, json, os, sys
os.environ["COLUMNS"] = "200"
from bestarm._catalogue import STOPPING_RULES, STRATEGIES, Entry
STRATEGIES["a-new-one"] = Entry("strategies.uniform", "Uniform")
STOPPING_RULES["a-new-rule"] = Entry("theory.stopping", "Mixture", {"c": 7.0})
from bestarm.cli import main

said = {}
for words in (["simulate", "--help"], ["create", "--help"], ["identify", "--help"]):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(words) == 0
    said[words[0]] = out.getvalue()
numerics = sorted({"numpy", "numba", "scipy"} & set(sys.modules))

import bestarm
from bestarm.strategies import find_strategy, strategy_names
for find in (find_strategy, bestarm.stopping_rule):
    try:
        find("no such name")
    except bestarm.InvalidInputError as error:
        said[find.__name__] = str(error)
made = [find_strategy("a-new-one").name, bestarm.stopping_rule("a-new-rule").c, strategy_names()]
cell = bestarm.simulate("a-new-one", [1.0, 0.0], 0.1, runs=2, stopping="a-new-rule").cells[0]
print(json.dumps([said, numerics, made, cell.runs]))
"""


def test_a_new_entry_shows_up_everywhere() -> None:
    """In the help of every command that takes a name, in refusals, and by its name; without numerics."""
    done = subprocess.run([sys.executable, "-c", ADDED], capture_output=True, text=True, check=True)
    said, numerics, (strategy, scale, names), runs = json.loads(done.stdout)
    assert numerics == []
    for command in ("simulate", "create", "identify"):
        assert "a-new-one" in said[command]
        assert "a-new-rule" in said[command]
    assert "'a-new-one'" in said["find_strategy"]
    assert "'a-new-rule'" in said["stopping_rule"]
    assert (strategy, scale, runs) == ("uniform", 7.0, 2)
    assert "a-new-one" in names


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_is_found_by_its_name(name: str) -> None:
    """And calls itself so, with its default parameters."""
    assert find_strategy(name).name.partition("(")[0] == name


@pytest.mark.parametrize("name", STOPPING_RULES)
def test_a_rule_is_found_by_its_name(name: str) -> None:
    """And calls itself so."""
    assert bestarm.stopping_rule(name).name == name


def test_what_is_chosen_from_the_tables_is_in_them() -> None:
    """The defaults, and what is compared."""
    assert {*COMPARED, DEFAULT_STRATEGY} <= set(STRATEGIES)
    assert DEFAULT_RULE in STOPPING_RULES


@pytest.mark.parametrize("command", COMMANDS)
def test_no_help_needs_numerics(command: str) -> None:
    """Of no command: NumPy alone takes longer than all of the help."""
    code = f"from bestarm.cli import main; assert main([{command!r}, '--help']) == 0; import sys; "
    code += "assert 'typer' in sys.modules and not {'numpy', 'numba', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def test_the_readme_and_the_help_list_every_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the table."""
    readme = (ROOT / "README.md").read_text()
    assert " ".join(f'"{name}"' for name in STRATEGIES) in readme
    monkeypatch.setenv("COLUMNS", "200")
    help_text = re.sub(r"[\s│]+", " ", run("simulate", "--help").out)
    assert ", ".join(STRATEGIES) in help_text
    assert ", ".join(STOPPING_RULES) in help_text
