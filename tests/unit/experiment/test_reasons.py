"""Why `ask` gives nothing, and what it means to stop an experiment by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.clock import Clocked
from support.told import stopped
from truebest import Experiment, SuspendedError, identify
from truebest.experiment.store import open_store


def begin(**settings: object) -> Experiment:
    """Two arms, one at a time unless told otherwise; nothing lapses."""
    given = {"bounds": (0, 1), "seed": 1, "lease": None, **settings}
    return Experiment.create(Clocked(), "x", ["a", "b"], **given)  # type: ignore[arg-type]


def test_decided() -> None:
    """Pulls have no reason; when it is decided, there are none for that reason, and it is still a list."""
    experiment = begin()
    while pulls := experiment.ask(4):
        assert pulls.reason == ""
        experiment.tell([(pull, float(pull.arm == "a")) for pull in pulls])
    assert pulls == []
    assert pulls.reason == "decided"


def test_wait() -> None:
    """Results that decide once a lost pull is settled."""
    experiment = begin()
    (lost,) = experiment.ask()
    while pulls := experiment.ask(4):
        experiment.tell([(pull, float(pull.arm == "a")) for pull in pulls])
    assert pulls.reason == "wait"
    experiment.tell(lost, float(lost.arm == "a"))
    assert experiment.ask().reason == "decided"


def test_a_strategy_that_stops_by_itself_must_wait() -> None:
    """It sees one result after the other."""
    experiment = begin(strategy="racing")
    assert len(experiment.ask(4)) == 1
    assert experiment.ask(4).reason == "wait"


def test_stopped() -> None:
    """It is recorded with the leader and its shortfall; nothing more is issued, later results do nothing."""
    experiment = begin()
    pulls = experiment.ask(6)
    experiment.tell([(pull, float(pull.arm == "a")) for pull in pulls[:4]])
    now = experiment.stop("good enough")
    assert (now.best, now.leader, stopped(now), now.samples) == (None, "a", "good enough", 4)
    assert str(now).startswith("stopped (good enough), undecided after 4 samples; a leads and is at most ")
    event = experiment.history()[-1]
    assert event.kind == "stopped"
    assert event.data == {"reason": "good enough", "leader": "a", "shortfall": now.shortfall, "samples": 4}
    assert experiment.ask().reason == "stopped"
    assert experiment.tell(pulls[4], 1.0) == "told"
    assert experiment.tell(pulls[5], 7.0) == "late"  # outside the bounds: nothing left to suspend
    experiment.observe("a", [1.0] * 100)
    after = experiment.status()
    assert (after.best, after.samples, stopped(after)) == (None, 4, "good enough")
    assert experiment.forecast().reason == "no forecast: the experiment was stopped"
    assert experiment.verify().sound


def test_stop_is_final_and_does_nothing_to_what_is_over() -> None:
    """Twice is once; a decided experiment stays decided; a correction does not wake a stopped one."""
    experiment = begin()
    pulls = experiment.ask(2)
    experiment.tell([(pull, float(pull.arm == "a")) for pull in pulls])
    experiment.stop("first")
    assert stopped(experiment.stop("second")) == "first"
    experiment.retract(pulls[0], "typing error", 0.5)
    assert experiment.ask().reason == "stopped"
    decided = begin()
    while pulls := decided.ask(4):
        decided.tell([(pull, float(pull.arm == "a")) for pull in pulls])
    lines = len(decided.history())
    assert decided.stop().best == "a"
    assert len(decided.history()) == lines


def test_a_stop_survives_a_snapshot(tmp_path: Path) -> None:
    """Another process reads it from the store."""
    store = open_store(f"sqlite:///{tmp_path}/runs.db")
    experiment = Experiment.create(store, "x", ["a", "b"], bounds=(0, 1))
    experiment.observe("a", [0.4, 0.6] * 200)
    experiment.stop("enough")
    experiment.observe("b", [0.5] * 300)
    again = Experiment.open(open_store(store.url), "x")
    assert again.ask().reason == "stopped"
    assert again.status() == experiment.status()
    assert again.verify().sound


def test_identify_on_a_stopped_experiment(tmp_path: Path) -> None:
    """It takes no samples, and says how it ended."""
    store = open_store(f"sqlite:///{tmp_path}/runs.db")
    Experiment.create(store, "x", ["a", "b"], bounds=(0, 1)).stop("enough")
    result = identify({"a": lambda: 1.0, "b": lambda: 0.0}, store=store, name="x", max_samples=100)
    assert (result.best, result.ended, result.samples, stopped(result)) == (None, "stopped", 0, "enough")


def test_suspended_raises() -> None:
    """A loop `while pulls := ask()` must not end as if all were well."""
    experiment = begin()
    (pull,) = experiment.ask()
    with pytest.raises(SuspendedError):
        experiment.tell(pull, 7.0)
    with pytest.raises(SuspendedError):
        experiment.ask()
