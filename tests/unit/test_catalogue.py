"""The tables of strategies, stopping rules and figures: an entry shows up wherever they are listed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import truebest
from support.commands import refused, run
from truebest._catalogue import COMPARED, DEFAULT_RULE, DEFAULT_STRATEGY, STOPPING_RULES, STRATEGIES
from truebest.cli._app import COMMANDS
from truebest.strategies import find_strategy

ROOT = Path(__file__).parents[2]
ADDED = """
import contextlib, io, json, os, sys
os.environ["COLUMNS"] = "200"
from truebest._catalogue import STOPPING_RULES, STRATEGIES, Entry
STRATEGIES["a-new-one"] = Entry("strategies.uniform", "Uniform")
STOPPING_RULES["a-new-rule"] = Entry("theory.mixture", "Mixture", {"c": 7.0})
from truebest.cli import main

said = {}
for words in (["simulate", "--help"], ["create", "--help"], ["identify", "--help"]):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(words) == 0
    said[words[0]] = out.getvalue()
numerics = sorted({"numpy", "numba", "scipy"} & set(sys.modules))

import truebest
from truebest.strategies import find_strategy, strategy_names
for find in (find_strategy, truebest.stopping_rule):
    try:
        find("no such name")
    except truebest.InvalidInputError as error:
        said[find.__name__] = str(error)
made = [find_strategy("a-new-one").name, truebest.stopping_rule("a-new-rule").c, strategy_names()]
cell = truebest.simulate("a-new-one", [1.0, 0.0], 0.1, runs=2, stopping="a-new-rule").cells[0]
print(json.dumps([said, numerics, made, cell.runs]))
"""

ADDED_FIGURE = """
import contextlib, io, json, os, sys
os.environ["COLUMNS"] = "200"
from truebest.studies.paper.catalogue import FIGURES, Figure
FIGURES["figure6"] = Figure("Figure 6", "One point & no more.", "one_point", "rows", "figure_6", ("seed",))
from truebest.cli import main

with contextlib.redirect_stdout(io.StringIO()) as out:
    assert main(["reproduce", "--help"]) == 0
numerics = sorted({"numpy", "numba", "scipy", "matplotlib"} & set(sys.modules))

from truebest.plots import new_figure
from truebest.studies.paper import figures, pictures
figures.one_point = lambda seed: [seed]
figures.rows = lambda data: [{"x": x} for x in data]
def figure_6(data):
    figure = new_figure(4, 3)
    figure.subplots().plot(data, data, "o")
    return figure
pictures.figure_6 = figure_6
assert main(["reproduce", "figure6", "--seed", "3", "--output", "one"]) == 0
assert main(["reproduce", "all", "--runs", "2", "--output", "all"]) == 0
print("\\n" + json.dumps([numerics, out.getvalue()]))
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


def test_a_rule_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    """Also if that file is imported first: it imports the one with the base class, which looks rules up."""
    (tmp_path / "own_rule.py").write_text(
        "from truebest.theory.mixture import Mixture\n\n\nclass Own(Mixture):\n    name = 'own'\n"
    )
    code = (
        "import truebest\ntruebest.__path__.append('.')\n"
        "from truebest._catalogue import STOPPING_RULES, Entry\n"
        "STOPPING_RULES['own'] = Entry('own_rule', 'Own')\n"
        "from truebest.own_rule import Own\n"
        "from truebest.theory.stopping import rules\n"
        "assert type(truebest.stopping_rule('own')) is Own is type(rules()['own'])\n"
        "assert rules()['own'] is rules()['own']\n"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=tmp_path)


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_is_found_by_its_name(name: str) -> None:
    """And calls itself so, with its default parameters."""
    assert find_strategy(name).name.partition("(")[0] == name


@pytest.mark.parametrize("name", STOPPING_RULES)
def test_a_rule_is_found_by_its_name(name: str) -> None:
    """And calls itself so."""
    assert truebest.stopping_rule(name).name == name


def test_what_is_chosen_from_the_tables_is_in_them() -> None:
    """The defaults, and what is compared."""
    assert {*COMPARED, DEFAULT_STRATEGY} <= set(STRATEGIES)
    assert DEFAULT_RULE in STOPPING_RULES


def test_no_help_needs_numerics() -> None:
    """Of no command: NumPy alone takes longer than all of the help."""
    code = f"""
import sys
from truebest.cli import main
for command in {list(COMMANDS)}:
    assert main([command, "--help"]) == 0
    found = {{"numpy", "numba", "scipy"}} & set(sys.modules)
    assert "typer" in sys.modules and not found, (command, found)
"""
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)


def test_the_guide_and_the_help_list_every_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the table of the guide each once; in the help in the order of ours."""
    guide = (ROOT / "docs" / "guides" / "strategies.md").read_text()
    rows = re.findall(r"^\| (`[^|]*`) \|", guide, re.MULTILINE)
    assert sorted(re.findall(r"`([^`]+)`", " ".join(rows))) == sorted(STRATEGIES)
    monkeypatch.setenv("COLUMNS", "200")
    help_text = re.sub(r"[\s│]+", " ", run("simulate", "--help").out)
    assert ", ".join(STRATEGIES) in help_text
    assert ", ".join(STOPPING_RULES) in help_text


@pytest.mark.slow
def test_a_new_figure_is_an_entry_and_its_functions(tmp_path: Path) -> None:
    """The command knows it, writes its files, and puts it into the report with its caption."""
    done = subprocess.run(
        [sys.executable, "-c", ADDED_FIGURE], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    numerics, help_text = json.loads(done.stdout.splitlines()[-1])
    assert numerics == []
    assert "figure5, figure6, stability" in help_text
    for folder in ("one", "all"):
        made = {path.name for path in (tmp_path / folder).glob("figure6*")}
        assert made == {"figure6.svg", "figure6.png", "figure6.csv", "figure6.json"}
    assert (tmp_path / "one" / "figure6.csv").read_text() == "x\n3\n"
    page = (tmp_path / "all" / "index.html").read_text()
    assert "<figcaption>Figure 6. One point &amp; no more.</figcaption>" in page


def test_a_target_that_does_not_exist_is_refused() -> None:
    """With the list of those that do, and the nearest."""
    refused(run("reproduce", "figur5"), "target must be one of 'table1', 'figure1'")
    refused(run("reproduce", "figur5"), "got 'figur5'; did you mean 'figure5'?")
