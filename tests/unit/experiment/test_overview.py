"""A line of the list: what `status` says of an experiment, read without any interval."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truebest
from support.commands import run
from support.service import serving
from support.told import column
from truebest import Account, Experiment, Open, Suspended, SuspendedError
from truebest.cli import experiments
from truebest.cli._output import Format, print_json, show
from truebest.experiment.bodies import Bodies
from truebest.experiment.overview import Overview, overview
from truebest.experiment.rounds import RoundsState
from truebest.experiment.store import open_store
from truebest.server import views
from truebest.server.desks import Desks
from truebest.telling import words

ARMS = ["a", "b", "c"]
KINDS: dict[str, dict[str, Any]] = {
    "bounded": {"bounds": (0, 1)},
    "smallest": {"bounds": (0, 1), "minimize": True},
    "one by one": {"bounds": (0, 1), "stopping": "tilt"},
    "unknown variances": {"model": truebest.Student()},
    "known sigma": {"sigma": 0.2},
    "stops by itself": {"bounds": (0, 1), "strategy": "racing"},
    "unproven": {"bounds": (0, 1), "stopping": "practical"},
    "as they arrive": {"bounds": (0, 1), "order": "arrival"},
    "within": {"bounds": (0, 1), "tolerance": 0.3},
    "items": {"bounds": (0, 1), "items": 40},
    "wins": {"compare": "wins"},
    "direct": {"compare": "wins", "direct": True},
}


def values(rng: np.random.Generator, arm: str, round: int | None, kind: str) -> float:
    """Of "c" the largest; "direct" goes round in a circle, and "items" has two that are equal."""
    if kind == "direct" and round is not None:
        return float((ARMS.index(arm) + round % 3) % 3 == 0) + 0.1 * ((ARMS.index(arm) - round) % 3)
    if kind == "items":
        return 0.1 if arm == "a" else 0.5
    return float(np.clip(rng.normal(0.2 + 0.3 * ARMS.index(arm), 0.1), 0.0, 1.0))


def same(short: Overview, now: Account) -> None:
    """Field by field, and in what people are told."""
    answer = replace(now.answer, within=None) if isinstance(now.answer, Open) else now.answer
    assert (short.name, short.settings, short.answer) == (now.name, now.settings, answer)
    assert (short.samples, short.waiting) == (now.samples, now.progress.waiting)
    assert (short.failed, short.bound) == (sum(column(now, "failures").values()), now.promise.bound)
    summary = views.summary(short)
    assert summary["headline"] == words.headline(now.answer, now.settings, now.progress.waiting)
    assert summary["leader"] == now.leader


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_what_the_status_says(kind: str, tmp_path: Path) -> None:
    """From the first line to the decision, with results that wait, with and without a snapshot."""
    place = open_store(f"sqlite:///{tmp_path}/runs.db")
    experiment = Experiment.create(place, kind, ARMS, seed=3, **KINDS[kind])
    same(overview(place, kind), experiment.status())
    rng = np.random.default_rng(1)
    held: list[truebest.Pull] = []
    for step in range(60):
        pulls = [*held, *experiment.ask(4)]
        if not pulls or experiment.status().decided:
            break
        held = pulls[:1] if step % 3 and len(pulls) > 1 else []
        told = [pull for pull in pulls if pull not in held]
        experiment.tell([(pull, values(rng, pull.arm, pull.round, kind)) for pull in told])
        if step < 10 or step % 7 == 0:
            same(overview(place, kind), experiment.status())
    same(overview(place, kind), experiment.status())
    experiment.stop("that is enough")
    same(overview(place, kind), experiment.status())


def test_it_says_that_an_experiment_is_suspended(tmp_path: Path) -> None:
    """By a value outside the bounds, or by values that vary more than sigma allows."""
    place = open_store(f"sqlite:///{tmp_path}/runs.db")
    scales: dict[str, dict[str, Any]] = {"bounds": {"bounds": (0, 1)}, "sigma": {"sigma": 0.001}}
    for name, scale in scales.items():
        experiment = Experiment.create(place, name, ARMS, **scale)
        with suppress(SuspendedError):
            for i in range(100):
                experiment.tell([(pull, 2.0 * (i % 2)) for pull in experiment.ask(3)])
        assert isinstance(overview(place, name).answer, Suspended)
        same(overview(place, name), experiment.status())


def test_a_snapshot_of_another_log_is_not_believed(tmp_path: Path) -> None:
    """A cache, which a backup may have left behind."""
    place = open_store(f"sqlite:///{tmp_path}/runs.db")
    experiment = Experiment.create(place, "one", ARMS, bounds=(0, 1))
    experiment.tell([(pull, 0.5) for pull in experiment.ask(9)])
    with place.writing("one") as log:
        log.save_snapshot(5, "no snapshot")
    same(overview(place, "one"), experiment.status())
    other = Experiment.create(place, "other", ARMS, bounds=(0, 1))
    other.tell([(pull, 0.25) for pull in other.ask(200)])
    with place.reading("other") as log:
        saved = log.snapshot()
    assert saved is not None
    with place.writing("one") as log:
        log.save_snapshot(5, saved[1])
    same(overview(place, "one"), experiment.status())


def refuse(*_: object, **__: object) -> Any:
    """In the place of what takes long."""
    raise AssertionError("an interval was computed")


def test_neither_list_computes_an_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`truebest list`, and the list of the page; nor does either ask what a strategy would do next."""
    url = f"sqlite:///{tmp_path}/runs.db"
    for kind, settings in KINDS.items():
        experiment = Experiment.create(url, kind, ARMS, seed=3, **settings)
        rng = np.random.default_rng(1)
        experiment.tell([(pull, values(rng, pull.arm, pull.round, kind)) for pull in experiment.ask(1)])
    for owner, name in ((Bodies, "_intervals"), (Bodies, "findings"), (RoundsState, "findings")):
        monkeypatch.setattr(owner, name, refuse)
    listed = run("list", "--store", url, "--format", "json")
    assert (listed.code, listed.err) == (0, "")
    assert [row["name"] for row in json.loads(listed.out)] == list(KINDS)
    with serving(url) as service:
        rows = service.get("/v1/experiments").json["experiments"]
    assert [row["name"] for row in rows] == list(KINDS)
    assert "broken" not in {row["state"] for row in rows}


def test_the_page_s_line_is_made_anew_when_the_log_has_grown(tmp_path: Path) -> None:
    """And not before; a log that was replaced is another one."""
    desks = Desks(place := open_store(f"sqlite:///{tmp_path}/runs.db"))
    experiment = Experiment.create(place, "one", ARMS, bounds=(0, 1))
    assert (before := desks.summary("one"))["samples"] == 0
    assert desks.summary("one") is before
    experiment.tell([(pull, 0.5) for pull in experiment.ask(3)])
    assert desks.summary("one")["samples"] == 3
    experiment.delete()
    Experiment.create(place, "one", ARMS, bounds=(0, 1))
    assert desks.summary("one")["samples"] == 0
    desks.close()


def rows_that_take(seconds: float, out: io.StringIO, seen: list[str]) -> Iterator[dict[str, Any]]:
    for i in range(4):
        seen.append(out.getvalue())
        time.sleep(seconds)
        yield {"name": "x" * (i + 1), "leader": None if i else "b"}


@pytest.mark.parametrize("format", list(Format))
def test_rows_are_printed_as_they_come(format: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    """None waits for the last; together they are what a list is that is printed at once."""
    slow, at_once = io.StringIO(), io.StringIO()
    seen: list[str] = []
    monkeypatch.setattr(experiments, "AT_ONCE", 0.0)
    with monkeypatch.context() as patched:
        patched.setattr("sys.stdout", slow)
        experiments.stream(rows_that_take(0.0, slow, seen), ["name", "leader"], format, 4)
    with monkeypatch.context() as patched:
        patched.setattr("sys.stdout", at_once)
        show(list(rows_that_take(0.0, at_once, [])), ["name", "leader"], format)
    assert seen[-1].count("x") >= 3
    words = [text.getvalue().split() for text in (slow, at_once)]
    assert words[0] == words[1]
    if format is not Format.table:  # where a column may become wider
        assert slow.getvalue() == at_once.getvalue()


def test_no_row_is_an_empty_list(capsys: pytest.CaptureFixture[str]) -> None:
    """As where it is printed at once."""
    experiments.stream(iter([]), ["name"], Format.json, 0)
    found = capsys.readouterr().out
    print_json([])
    assert found == capsys.readouterr().out
    experiments.stream(iter([]), ["name"], Format.table, 0)
    assert capsys.readouterr().out == ""
