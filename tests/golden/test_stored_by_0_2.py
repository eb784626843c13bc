"""What version 0.2 stored is read for ever, and every experiment goes on as it did under 0.2.

`version_0_2` was written by `write_stores.py` under commit f960ea8, the last one under the old name of the
package: experiments of every kind, logs, a simulation, and ledgers of `compare` and `reproduce`.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from golden.write_stores import VALUES, go_on, run, standing
from truebest import Bandit, Experiment, compare, load_simulation
from truebest._former_name import FORMER_NAME
from truebest.experiment.snapshots import agree
from truebest.kernels.rules.tilt import CLOSE
from truebest.studies.ledger import Ledger
from truebest.studies.paper import table1

HERE = Path(__file__).parent / "version_0_2"
EXPECTED: dict[str, dict[str, Any]] = json.loads((HERE / "experiments.json").read_text())
for _each in EXPECTED.values():  # 0.2 also said of one arm at a time how far below the best it was
    for _standing in (_each["before"], _each["after"]):
        for _out in _standing["ruled_out"].values():
            del _out["below"]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A copy to work on."""
    path = tmp_path_factory.mktemp("old") / "runs.db"
    shutil.copy(HERE / "experiments.db", path)
    return f"sqlite:///{path}"


def plain(found: dict[str, Any]) -> Any:
    """As JSON gives it back."""
    return json.loads(json.dumps(found))


def searched_alike(found: Any, expected: Any) -> Any:
    """What was found, with the expected statistic where it is as near to that as a search for it comes."""
    for when in ("before", "after"):
        now, then = found[when]["statistic"], expected[when]["statistic"]
        if None not in (now, then) and abs(now - then) <= CLOSE * max(1.0, abs(then)):
            found[when]["statistic"] = then
    return found


@pytest.mark.parametrize("name", EXPECTED)
def test_an_experiment_goes_on_as_before(url: str, name: str) -> None:
    """The same standing, the same asks, the same end; the old lines stay sound.

    Every count, arm and answer is equal; numbers agree to 1e-9, as versions of Numba differ in the last bits,
    and statistics to what version 0.2, too, searched to.
    """
    expected = EXPECTED[name]
    with Experiment.open(url, name) as experiment:
        assert experiment.verify().sound
    found = plain(go_on(url, name, VALUES[expected["values"]]))
    assert agree(searched_alike(found, expected), expected)
    with Experiment.open(url, name) as experiment:
        assert experiment.verify().sound


@pytest.mark.parametrize("file", ["decided.jsonl", "rounds.json", "wins.jsonl"])
def test_an_exported_log_is_imported(file: str, tmp_path: Path) -> None:
    """It decides as before, on as many lines."""
    with Experiment.import_log(f"sqlite:///{tmp_path}/new.db", HERE / "exports" / file) as experiment:
        before = EXPECTED[experiment.name]["before"]
        assert experiment.status().best == before["decision"]
        assert len(experiment.history()) == before["lines"]


def test_tables_of_postgresql_are_taken_up(postgres_url: str) -> None:
    """They go on in place, in the schema in which they lie."""
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute((HERE / "postgresql.sql").read_text().encode())
    for name, value in (("half run", "coin"), ("rounds", "item_score")):
        with Experiment.open(postgres_url, name, worker="w") as experiment:
            assert experiment.verify().sound
            asked = run(experiment, VALUES[value], 4_000)
            after = standing(experiment)
        expected = EXPECTED[name]
        assert expected["asked"].endswith(asked)
        assert after["decision"] == expected["after"]["decision"]
        assert after["samples"] == expected["after"]["samples"]
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        found = connection.execute("SELECT schemaname FROM pg_tables WHERE tablename = 'events'").fetchall()
    assert found == [(FORMER_NAME,)]


def test_a_saved_simulation_is_read() -> None:
    """The runs and the settings."""
    found = load_simulation(HERE / "simulation.json")
    assert [(cell.strategy, cell.delta, cell.runs) for cell in found] == [
        (strategy, delta, 20) for strategy in ("ebs-d", "uniform") for delta in (0.1, 0.01)
    ]
    assert found.settings["means"] == [[0.9, 0.5, 0.45]]


def test_a_comparison_takes_its_file_up_again(tmp_path: Path) -> None:
    """The file is known as that of a comparison; its parts are of other code, and are made again."""
    file = tmp_path / "comparison.json"
    shutil.copy(HERE / "comparison.json", file)
    before = json.loads(file.read_text())["finished"]
    again = compare(
        ["uniform", "tas-d"],
        suite=[Bandit("two", (0.0, 0.5))],
        delta=[0.1],
        runs=5,
        seed=1,
        resume=file,
        progress=False,
    )
    assert again.complete
    assert json.loads(file.read_text())["finished"].keys() == before.keys()


def test_a_ledger_of_the_paper_is_taken_up(tmp_path: Path) -> None:
    """Its cells are of other code and are made again, under the same names."""
    file = tmp_path / "table1.json"
    shutil.copy(HERE / "table1.json", file)
    before = json.loads(file.read_text())["finished"]
    table1.make_table(2, 1, Ledger(file))
    assert json.loads(file.read_text())["finished"].keys() == before.keys()
