"""Plain verbs: said once, they are commands, addresses of the service and methods of the client."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import truebest
from support.service import TOKEN, Service, serving
from truebest.cli._app import COMMANDS
from truebest.cli._verbs import command_of
from truebest.experiment.experiment import Experiment
from truebest.experiment.verbs import VERBS, PullIds, Reason, verb
from truebest.remote.experiment import RemoteExperiment


@pytest.fixture
def noted() -> Iterator[str]:
    """A verb that nobody has heard of."""

    @verb("pulls")
    def note(experiment: Experiment, pulls: PullIds, reason: Reason = "none") -> dict[str, Any]:
        """Say something of pulls.

        More of it.
        """
        return {"name": experiment.name, "pulls": list(pulls), "reason": reason}

    yield note.__name__
    del VERBS[note.__name__]


def test_every_verb_is_a_method_with_the_same_arguments() -> None:
    """Of an experiment and of its client, in the same order and with the same defaults."""
    assert {"fail", "retract", "renew", "reclaim", "stop", "verify"} <= set(VERBS)
    for name, plain in VERBS.items():
        here, there = (inspect.signature(getattr(kind, name)) for kind in (Experiment, RemoteExperiment))
        assert list(here.parameters) == list(there.parameters)
        defaults = [one.default for one in list(here.parameters.values())[1:]]
        assert defaults == [one.default for one in plain.parameters], name
        assert name in COMMANDS
        assert plain.summary.endswith(".")


def test_a_new_verb_is_a_command(noted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With its words, its help, and the formats of the others."""
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    Experiment.create(url, "x", ["a", "b"], bounds=(0, 1)).close()
    app = typer.Typer()
    app.command()(command_of(VERBS[noted]))
    app(["x", "3", "4", "--reason", "why", "--store", url, "--format", "json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out) == [{"name": "x", "pulls": [3, 4], "reason": "why"}]
    app(["--help"], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "Say something of pulls" in shown
    assert "Ids of pulls" in shown


def test_a_new_verb_is_an_address_and_a_call(noted: str, tmp_path: Path) -> None:
    """Its fields are checked as they are declared; the client sends them and returns what the verb gives."""
    with serving(f"sqlite:///{tmp_path / 'runs.db'}") as service:
        with truebest.connect(service.url, token=TOKEN) as there:
            made = there.create("x", ["a", "b"], bounds=(0, 1))
            assert made._do(noted, {"pulls": [1, 2], "reason": "why"}) == [1, 2]
        found = post(service, pulls=[5])
        assert found.json == {"name": "x", "pulls": [5], "reason": "none"}
        for wrong in ({"pulls": ["5"]}, {}, {"pulls": [5], "more": 1}):
            assert post(service, **wrong).status == 400
        said = service.get("/openapi.json").json["paths"][f"/v1/{noted}"]["post"]
        assert said["description"] == "Say something of pulls."


def post(service: Service, **body: Any) -> Any:
    return service.post("/v1/note", {"experiment": "x", **body})
