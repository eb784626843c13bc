"""Rounds on common items, comparisons by wins and controls: through the service, by hand and by `connect`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import truebest
from support.service import TOKEN, serving
from support.service import Service as Server
from support.told import flat, no_winner
from truebest import Experiment, Pull
from truebest.remote.service import Service
from truebest.server import requests

ARMS = ["a", "b", "c"]
DESIGNS: dict[str, dict[str, Any]] = {
    "rounds": {"items": 60, "bounds": (0, 1)},
    "rounds and a control": {"items": 60, "bounds": (0, 1), "control": "a"},
    "a control": {"bounds": (0, 1), "control": "a"},
    "wins": {"compare": "wins", "minimize": True},
    "wins on items, against a control": {"compare": "wins", "items": 60, "control": "a"},
    "failures lose": {"compare": "wins", "minimize": True, "failures": "loss"},
    "no winner": {"compare": "wins", "direct": True},
}


def value_of(name: str, pull: Pull) -> float:
    """b is the best; in "no winner" each of them beats another one in two of three rounds."""
    place = ARMS.index(pull.arm)
    if name == "no winner":
        return float([(0, 1, 2), (2, 0, 1), (1, 2, 0)][(pull.round or 0) % 3][place])
    if name == "failures lose" and pull.arm == "c":
        return math.inf
    level = (0.3, 0.9, 0.1)[place]
    low = name in ("wins", "failures lose")
    return (1.0 - level if low else level) + 0.05 * ((pull.seed % 7) / 7.0)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(f"sqlite:///{tmp_path_factory.mktemp('designs')}/runs.db") as found:
        yield found


@pytest.fixture
def service(server: Server) -> Iterator[Service]:
    with truebest.connect(server.url, token=TOKEN, patience=5.0) as found:
        yield found


def begin(name: str) -> Experiment:
    return Experiment.create("memory:", name, ARMS, 0.1, seed=3, worker="w", **DESIGNS[name])


def lines(events: Any) -> list[Any]:
    return [(e.kind, e.pull, e.arm, e.value) for e in events]


@pytest.mark.parametrize("name", DESIGNS)
def test_by_connect_it_is_as_in_this_process(service: Service, name: str) -> None:
    """The same pulls, answers, forecasts, status at every step, and the same log to the end."""
    local = begin(name)
    remote = service.create(name, ARMS, 0.1, seed=3, worker="w", **DESIGNS[name])
    assert remote.settings == local.settings
    step, reasons = 0, ("", "")
    while not any(reasons):
        own, there = local.ask(4), remote.ask(4)
        assert [(p.id, p.arm, p.seed, p.round, p.item) for p in own] == [
            (p.id, p.arm, p.seed, p.round, p.item) for p in there
        ]
        if step == 2 and DESIGNS[name].get("failures") == "loss":
            assert remote.fail(there[0], "no answer") == local.fail(own[0], "no answer")
        told = [(p.id, value_of(name, p)) for p in own if local.status()[p.arm].pending]
        assert remote.tell(told) == local.tell(told)
        step, reasons = step + 1, (own.reason, there.reason)
        if step % 5 == 1:
            assert (remote.status(), remote.forecast()) == (local.status(), local.forecast())
    assert reasons == ("decided", "decided")
    now = remote.status()
    assert now == local.status()
    assert (now.best, no_winner(now)) == ((None, True) if name == "no winner" else ("b", False))
    assert lines(remote.history()) == lines(local.history())
    assert remote.verify().sound
    assert remote.report().count("<h2>") == local.report().count("<h2>")


@pytest.mark.parametrize("name", ["rounds and a control", "no winner", "failures lose"])
def test_by_hand_and_the_export_comes_back(server: Server, name: str, tmp_path: Path) -> None:
    """Plain JSON in and out; what is exported is read again, infinite values included."""
    given = {key: list(value) if key == "bounds" else value for key, value in DESIGNS[name].items()}
    title = f"{name}, by hand"
    body = {"experiment": title, "arms": ARMS, "delta": 0.1, "seed": 3, **given}
    assert server.post("/v1/create", body).json["settings"]["compare"] == given.get("compare", "means")
    reason = ""
    while not reason:
        asked = server.post("/v1/ask", {"experiment": title, "n": 6, "worker": "w"}).json
        results = [{"pull": pull["id"], "value": value_of(name, Pull(**pull))} for pull in asked["pulls"]]
        text = json.dumps({"experiment": title, "results": results}).replace("Infinity", "1e999")
        assert server.post("/v1/tell", text.encode()).status == 200
        reason = asked["reason"]
    where = urlencode({"experiment": title})
    status = flat(server.get(f"/v1/status?{where}").json)
    assert status["promise"] == 0.1
    assert status["rounds"] > 0
    if name == "no winner":
        assert status["headline"] == "No option wins against all others"
    if "control" in given:
        assert set(status["against_control"]) == {"b", "c"}
    values = [e["value"] for e in server.get(f"/v1/history?{where}").json["events"]]
    assert ("inf" in values) == (name == "failures lose")
    for format in ("json", "jsonl"):
        file = tmp_path / f"log.{format}"
        file.write_bytes(server.get(f"/v1/export?{where}&format={format}").body)
        again = Experiment.import_log("memory:", file)
        assert flat(json.loads(json.dumps(again.status().to_dict())))["wins"] == status["wins"]
        assert again.status().decided


def test_items_stay_where_they_are(service: Service, tmp_path: Path) -> None:
    """A list, a file, a function: the server gets their number and a hash; others are refused later."""
    (tmp_path / "tests.txt").write_text("one\ntwo\nthree\n")
    made = service.create("of a file", ARMS, items=tmp_path / "tests.txt", bounds=(0, 1))
    assert made.settings.items is not None
    assert made.settings.items.size == 3
    again = service.create("of a file", ARMS, items=["one", "two", "three"], bounds=(0, 1))
    assert again.settings == made.settings
    with pytest.raises(truebest.InvalidInputError, match="compares arms on 3 items"):
        service.create("of a file", ARMS, items=["one", "two", "four"], bounds=(0, 1))
    drawn = service.create("drawn", ARMS, items=lambda rng: rng.random(), bounds=(0, 1))
    assert drawn.settings.items is not None
    assert drawn.settings.items.size is None
    assert drawn.ask(1)[0].round == 1


def test_every_setting_is_described() -> None:
    """What `Experiment.create` takes is in the description of the service, by name."""
    from truebest.experiment.settings import Given

    assert set(Given.__annotations__) <= set(requests.Create.model_fields)
