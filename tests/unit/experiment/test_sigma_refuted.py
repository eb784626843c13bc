"""Values that vary more than sigma allows suspend an experiment for good; what was observed is shown."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truebest
from support.older import without_alarm
from support.told import column, suspended
from truebest import Experiment, SuspendedError
from truebest.experiment.independent import IndependentState
from truebest.experiment.settings import read_settings
from truebest.experiment.snapshots import as_dict, packed, unpacked
from truebest.experiment.store.memory import MemoryStore

WILD = [0.0, 0.0, 9.0, -9.0]  # of arms a, b, a, b: with the third, sigma 1 is refuted


def make(store: Any = "memory:", **given: Any) -> Experiment:
    settings = {"sigma": 1.0, "strategy": "uniform", "seed": 1, **given}
    return Experiment.create(store, "x", ["a", "b"], **settings)


def refuted(store: Any = "memory:", **given: Any) -> Experiment:
    experiment = make(store, **given)
    pulls = experiment.ask(4)
    experiment.tell(list(zip(pulls[:2], WILD, strict=False)))
    with pytest.raises(SuspendedError):
        experiment.tell(pulls[2], WILD[2])
    return experiment


# -- suspended, for good -----------------------------------------------------------------------------------


def test_sigma_is_refuted_with_what_was_observed_and_what_to_do() -> None:
    """By the value that does it; then nothing is asked, and no number is promised."""
    experiment = make()
    pulls = experiment.ask(4)
    assert experiment.tell(list(zip(pulls[:2], WILD, strict=False))) == ["told", "told"]
    said = (
        r"^experiment 'x' is suspended: the values vary more than sigma 1 allows: observed standard "
        r"deviations a 6.36; no retraction can change that, so begin a new experiment, under another name, "
        r"with a larger sigma, with bounds, or with model=truebest.Student\(\), which needs no sigma"
    )
    with pytest.raises(SuspendedError, match=said + "; what was told is recorded.$"):
        experiment.tell(pulls[2], WILD[2])
    assert experiment.history()[-1].kind == "told"
    with pytest.raises(SuspendedError, match=said + r"\.$"):
        experiment.ask()
    status = experiment.status()
    assert (status.best, status.promise.bound, status.shortfall) == (None, None, None)
    assert [(caveat.code, caveat.effect) for caveat in status.promise.caveats] == [("sigma-refuted", "voids")]
    assert str(status).startswith("suspended: the values vary more than sigma 1 allows: ")
    assert str(experiment.forecast()) == "no forecast: the experiment is suspended for good"
    assert status.samples == 3


def test_no_retraction_cures_it() -> None:
    """Not of the value that did it, nor of all; what refuted sigma stays what is shown."""
    experiment = refuted()
    before = experiment.status()
    for pull in (3, 1, 2):
        experiment.retract(pull, "a slip", 0.0)
    status = experiment.status()
    assert suspended(status) == suspended(before)
    assert column(status, "sd") == {"a": 0.0, "b": None}
    assert status.promise.bound is None
    with pytest.raises(SuspendedError):
        experiment.ask()
    assert experiment.verify().sound


def test_later_values_are_recorded_and_do_not_count() -> None:
    """Those that were out, and those that are brought along."""
    experiment = refuted()
    assert experiment.tell(4, WILD[3]) == "told"
    experiment.observe("b", [1.0, 2.0])
    status = experiment.status()
    assert (status.samples, status.progress.waiting, status.best) == (3, 3, None)
    assert [event.kind for event in experiment.history()[-2:]] == ["asked", "told"]


def test_a_correction_can_refute() -> None:
    """The evidence as it is after a retraction is looked at; after a decision, too."""
    experiment = make()
    experiment.tell([(pull, 0.0) for pull in experiment.ask(6)])
    with pytest.raises(SuspendedError, match=r"a 5\.2"):
        experiment.retract(1, "a point was lost", 9.0)
    assert experiment.history()[-1].kind == "retracted"
    experiment = make()
    experiment.tell([(pull, 9.0 * (pull.arm == "b")) for pull in experiment.ask(60)])
    assert experiment.status().best == "b"
    with pytest.raises(SuspendedError):
        experiment.retract(1, "a point was lost", 90.0)
    status = experiment.status()
    assert (status.best, status.promise.bound) == (None, None)
    assert "sigma-refuted" in [caveat.code for caveat in status.promise.caveats]


def test_only_the_evidence_refutes() -> None:
    """A value behind a pull that is out counts when that one is settled, in the order of asking."""
    experiment = make()
    pulls = experiment.ask(4)
    for i in (2, 1, 3):
        experiment.tell(pulls[i], WILD[i])
    assert suspended(experiment.status()) == ""
    with pytest.raises(SuspendedError):
        experiment.tell(pulls[0], WILD[0])
    assert experiment.status().samples == 3
    by_arrival = make(order="arrival")
    pulls = by_arrival.ask(4)
    by_arrival.tell(pulls[2], WILD[2])
    with pytest.raises(SuspendedError):
        by_arrival.tell(pulls[0], WILD[0])


def test_a_strategy_that_stops_by_itself_is_suspended_alike() -> None:
    """Racing would drop an arm with the value that refutes sigma."""
    values = {"a": [0.0, 0.0, 50.0], "b": [0.0, 0.0, 0.0]}
    for alarm in (True, False):
        given: dict[str, Any] = {"sigma": 1.0, "strategy": "racing", "seed": 1}
        experiment = make(**given) if alarm else without_alarm(["a", "b"], **given)
        seen = {"a": 0, "b": 0}
        try:
            while pulls := experiment.ask():
                arm = pulls[0].arm
                seen[arm] += 1
                experiment.tell(pulls[0], values[arm][seen[arm] - 1])
        except SuspendedError:
            assert alarm
        assert (experiment.status().best, bool(suspended(experiment.status()))) == (
            (None, True) if alarm else ("a", False)
        )


def test_every_arm_has_its_own_sigma() -> None:
    """The arm that exceeds its own the most comes first, each with its sigma."""
    experiment = make(sigma={"a": 10.0, "b": 1.0})
    experiment.observe("a", [0.0, 20.0, -20.0])
    with pytest.raises(
        SuspendedError, match=r"than the sigmas allow: .* b 7.07 \(sigma 1\), a 20 \(sigma 10\); no"
    ):
        experiment.observe("b", [0.0, 10.0])


def test_of_many_arms_the_worst_are_named() -> None:
    """Eight, and how many more there are."""
    arms = [f"arm {i}" for i in range(12)]
    experiment = Experiment.create("memory:", "x", arms, sigma=1.0)
    for arm in arms[:-1]:
        experiment.observe(arm, [0.0, 1.0])
    with pytest.raises(SuspendedError, match=r"arm 11 35.4, arm 0 0.707, .*, arm 6 0.707 and 4 more; no"):
        experiment.observe(arms[-1], [0.0, 50.0])


def test_identify_is_refused() -> None:
    """At once, and again when it is resumed."""
    store, rng = MemoryStore(), np.random.default_rng(1)
    arms = {name: lambda: float(rng.normal(10.0, 0.02)) for name in ("old", "new")}
    for _ in range(2):
        with pytest.raises(SuspendedError, match=r"vary more than sigma 0\.01 allows"):
            truebest.identify(arms, sigma=0.01, store=store, max_samples=500, workers=4)


# -- who has an alarm --------------------------------------------------------------------------------------


def test_experiments_of_0_1_have_no_alarm() -> None:
    """What they are told is judged as before; and their settings stay theirs."""
    old = without_alarm(["a", "b"], sigma=1.0, strategy="uniform", seed=1)
    assert make().settings.alarm is True
    assert old.settings.alarm is False
    old.tell(list(zip(old.ask(4), WILD, strict=True)))
    status = old.status()
    assert (suspended(status), status.samples, status.promise.bound) == ("", 4, 0.05)
    assert column(status, "sd") == pytest.approx({"a": 6.364, "b": 6.364}, abs=1e-3)
    assert read_settings(old.settings.to_record()) == old.settings


def test_bounds_have_no_alarm() -> None:
    """Nothing within them varies more than they allow."""
    experiment = make(sigma=None, bounds=(-9, 9))
    experiment.observe("a", [-9.0, 9.0] * 50)
    assert suspended(experiment.status()) == ""
    assert experiment.status()["a"].sd == pytest.approx(9.045, abs=1e-3)


@pytest.mark.parametrize("stopping", ["tilt", "mixture"])
def test_a_scale_a_hundred_times_too_small(stopping: str) -> None:
    """Two equal arms, 300 runs: once an arm has two values, hardly any run is decided, it is suspended.

    But under `mixture` what the guide warns of comes first in nine runs of ten: two values, one of each arm,
    are more than 16 sigma apart and decide, and nothing has been repeated that could refute sigma.
    """
    rng = np.random.default_rng(3)
    ends = {"one each": 0, "decided": 0, "suspended": 0}
    for seed in range(300):
        experiment = make(sigma=0.001, seed=seed, stopping=stopping)
        try:
            while pulls := experiment.ask():
                experiment.tell(pulls[0], float(rng.normal(2.0, 0.1)))
            ends["one each" if experiment.status().samples == 2 else "decided"] += 1
        except SuspendedError:
            assert experiment.status().samples <= 6
            ends["suspended"] += 1
    assert ends["decided"] <= 3
    if stopping == "tilt":
        assert ends["one each"] == 0
    else:
        assert ends["suspended"] >= 15
        assert ends["one each"] >= 240


# -- a function of the log ---------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["uniform", "tas-c", "racing"])
@pytest.mark.parametrize("batch", [1, 5])
def test_a_replay_is_refuted_like_the_state_that_was_told(strategy: str, batch: int) -> None:
    """Bit for bit after every step: line by line, at once, from a snapshot, and as a copy."""
    ends = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        experiment = make(strategy=strategy, seed=seed)
        over = False
        for step in range(40):
            try:
                if not over:
                    if step % 4 == 3:
                        experiment.reclaim()  # what was left out is asked again
                    pulls = experiment.ask(batch)
                    told = [pulls[i] for i in rng.permutation(len(pulls))[: max(1, len(pulls) - 1)]]
                    experiment.tell([(pull, float(rng.normal(0.0, 2.5))) for pull in told])
                elif step % 3 == 0:
                    experiment.retract(int(rng.integers(1, 5)), "a slip", float(rng.normal()))
                    experiment.observe("a", 0.5)
            except SuspendedError:
                over = True
            compare(experiment)
        assert experiment.verify().sound
        ends.append(over)
    assert sum(ends) >= 3


def compare(experiment: Experiment) -> None:
    again, at_once = IndependentState(experiment.settings), IndependentState(experiment.settings)
    with experiment._store.reading("x") as log:
        at_once.replay(log.entries())
        for entry in log.entries():
            again.apply(entry)
    known = experiment._journal.known
    assert known is not None
    want = as_dict(known)
    assert as_dict(again) == as_dict(at_once) == as_dict(known.copy()) == want
    assert as_dict(unpacked(experiment.settings, packed(known))) == want


def test_another_process_finds_it_refuted(tmp_path: Path) -> None:
    """From the log, and from a snapshot; the snapshot that says otherwise is noticed."""
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    refuted(url).close()
    for _ in range(2):
        with Experiment.open(url, "x") as experiment:
            with pytest.raises(SuspendedError):
                experiment.ask()
            experiment.observe("a", [0.0] * 150)  # enough for a snapshot
            assert experiment.verify().sound
    with Experiment.open(url, "x") as experiment:
        state = experiment._journal._load()
        assert state.refuted is not None
        state.refuted = None
        with experiment._store.writing("x") as log:
            log.save_snapshot(state.seq, packed(state))
        assert experiment.verify().snapshot == "the snapshot is not what the log leads to"


# -- observed standard deviations --------------------------------------------------------------------------


@pytest.mark.parametrize("minimize", [False, True])
@pytest.mark.parametrize("scale", [{"sigma": 5.0}, {"bounds": (999_900.0, 1_000_100.0)}])
def test_deviations_are_those_of_the_values(scale: dict[str, Any], minimize: bool) -> None:
    """In their own units, at any offset; None below two values; and in every form of a status."""
    rng = np.random.default_rng(7)
    experiment = Experiment.create("memory:", "x", ["a", "b", "c"], **scale, minimize=minimize, seed=1)
    values = {"a": rng.normal(1e6, 4.0, 30).tolist(), "b": rng.normal(1e6, 2.0, 9).tolist(), "c": [1e6]}
    for arm, given in values.items():
        experiment.observe(arm, given)
    experiment.retract(3, "twice")
    del values["a"][2]
    status = experiment.status()
    want = {arm: statistics.stdev(values[arm]) for arm in ("a", "b")}
    assert {arm: status[arm].sd for arm in want} == pytest.approx(want, rel=1e-6)
    assert status["c"].sd is None
    assert {row["arm"]: row["sd"] for row in status.to_dict()["standings"]} == column(status, "sd")


def test_a_decision_keeps_its_deviations() -> None:
    """Those of the samples that it was taken on."""
    result = truebest.identify(
        {"a": lambda rng: rng.normal(), "b": lambda rng: rng.normal() + 2.0},
        sigma=1.0,
        rng=1,
        max_samples=500,
    )
    assert result.best == "b"
    header, rows = result.table()
    assert header[2:4] == ["mean", "sd"]
    assert [row[3] for row in rows] == [f"{column(result, 'sd')[row[0]]:.3g}" for row in rows]
    assert all(0.3 < (one or 0.0) < 2.0 for one in column(result, "sd").values())
    experiment = make(sigma=3.0)
    experiment.tell([(pull, pull.id % 3 + 9.0 * (pull.arm == "b")) for pull in experiment.ask(60)])
    decided = experiment.status()
    assert decided.best == "b"
    experiment.observe("a", [100.0, -100.0])
    assert column(experiment.status(), "sd") == column(decided, "sd")
    assert None not in column(decided, "sd").values()
