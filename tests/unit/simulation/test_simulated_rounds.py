"""`simulate` and `trace` of rounds on common items: the runs of a plan, any question, parts, and refusals."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import truebest
from support.refusals import refused_in_one_sentence
from truebest.designs import Wins
from truebest.questions import Winner
from truebest.simulation.work import Ways, make_works

RNG = np.random.default_rng(11)
EASE = RNG.normal(size=(300, 1)) + 0.5 * RNG.normal(size=(300, 3)) + [0.5, 0.1, -0.2]
TABLE = (EASE > 0.0).astype(float)
COLUMNS: list[npt.ArrayLike] = list(TABLE.T)
QUICK: dict[str, Any] = {"runs": 30, "seed": 7, "progress": False}
CIRCLE: list[npt.ArrayLike] = [[3.0, 2.0, 1.0] * 40, [2.0, 1.0, 3.0] * 40, [1.0, 3.0, 2.0] * 40]


def simulated(**given: Any) -> truebest.Cell:
    """The one cell of a simulation of rounds."""
    (cell,) = truebest.simulate(**{**QUICK, **given})
    return cell


@pytest.mark.parametrize(
    "options",
    [
        {"items": 300},
        {"items": math.inf},
        {"items": 300, "tolerance": 0.05},
        {"items": 300, "compare": "wins"},
    ],
    ids=str,
)
def test_runs_are_those_of_a_plan(options: dict[str, Any]) -> None:
    """On the same items: samples, answers and pulls of every run."""
    cell = simulated(rewards=COLUMNS, **options)
    unlimited = options.pop("items") == math.inf
    planned = truebest.plan(TABLE, unlimited=unlimited, **options, **QUICK).paired
    assert planned is not None
    assert (cell.strategy, cell.best) == (planned.strategy, planned.best)
    assert cell.samples.tolist() == planned.samples.tolist()
    assert cell.recommended.tolist() == planned.recommended.tolist()
    assert cell.mean_pulls.tolist() == planned.mean_pulls.tolist()


def test_a_model_of_items() -> None:
    """Means with a correlation are those of a plan, with a gate as well."""
    gate = truebest.Gate(0, 0.1)
    given: dict[str, Any] = {"means": [0.8, 0.75, 0.7], "correlation": 0.6, "items": 400, "question": gate}
    cell, planned = simulated(rewards="bernoulli", **given), truebest.plan(**given, **QUICK).paired
    assert planned is not None
    assert cell.samples.tolist() == planned.samples.tolist()
    assert cell.recommended.tolist() == planned.recommended.tolist()


def test_epochs_are_answers_of_one_item() -> None:
    """The runs are those on the means of each item's answers, with as many samples for each; also traced."""
    means = [np.asarray(column).reshape(-1, 3).mean(axis=1) for column in COLUMNS]
    ways: tuple[dict[str, Any], ...] = ({}, {"question": truebest.Gate(0, 0.2)}, {"max_samples": 100})
    for given in ways:
        cell = simulated(rewards=COLUMNS, items=100, epochs=3, **given)
        budget = {"max_samples": 33} if "max_samples" in given else {}
        other = simulated(rewards=means, items=100, **{**given, **budget})
        assert cell.samples.tolist() == (3 * other.samples).tolist()
        assert cell.recommended.tolist() == other.recommended.tolist()
        assert cell.mean_pulls == pytest.approx(3 * other.mean_pulls)
    assert simulated(rewards=COLUMNS, items=300).samples.tolist() != cell.samples.tolist()
    run = truebest.trace(rewards=COLUMNS, items=100, epochs=3, seed=7)
    assert run.samples == simulated(rewards=COLUMNS, items=100, epochs=3).samples[0]
    drawn: dict[str, Any] = {
        "means": [0.8, 0.6],
        "correlation": 0.5,
        "rewards": "bernoulli",
        "items": math.inf,
    }
    assert (simulated(**drawn, epochs=4).samples % 8 == 0).all()


@pytest.mark.parametrize("weigh", ["items", "clusters"])
def test_a_cluster_is_one_row(weigh: str) -> None:
    """Values, right answers and samples are those of clusters; a trace has means of what counts alike."""
    labels = ["long"] * 150 + ["short"] * 50 + list(range(100))
    rows = [TABLE[[str(one) == str(label) for one in labels], 0] for label in dict.fromkeys(labels)]
    given: dict[str, Any] = {"rewards": COLUMNS, "items": 300, "clusters": labels, "weigh": weigh}
    want = float(np.mean([row.mean() for row in rows]) if weigh == "clusters" else TABLE[:, 0].mean())
    run = truebest.trace(**given, question=truebest.AtLeast(want), seed=7)
    assert run.pulls[-1, 0] == 300
    assert run.means[-1, 0] == pytest.approx(want)
    assert simulated(**given, question=truebest.AtLeast(want - 0.1)).errors == 0


def test_a_run_is_a_value() -> None:
    """Threads, parts, a summary, several risks and a file change no run."""
    given: dict[str, Any] = {"rewards": COLUMNS, "items": 300, "delta": [0.1, 0.01]}
    whole = truebest.simulate(**given, threads=1, **QUICK)
    first = truebest.simulate(**given, **{**QUICK, "runs": 10})
    more = truebest.simulate(**given, more=first, **{**QUICK, "runs": 20})
    assert [cell.delta for cell in whole] == [0.1, 0.01]
    for cell, other in zip(whole, more, strict=True):
        assert cell.samples.tolist() == other.samples.tolist()
    kept = simulated(rewards=COLUMNS, items=300, delta=0.01, keep="summary")
    assert kept.mean_samples == whole["paired", 0.01].mean_samples
    with pytest.raises(truebest.InvalidInputError, match="rewards"):
        truebest.simulate(**{**given, "items": math.inf}, more=first, **QUICK)


def test_a_job_can_be_done_elsewhere() -> None:
    """Another process makes the same runs of it."""
    (job,) = make_works("simulate", None, [None], 0.1, 3, {"rewards": COLUMNS, "items": 300}).jobs[0]
    sent = pickle.loads(pickle.dumps(job))
    assert sent.part(4, 5, sent.room()).samples.tolist() == job.part(4, 5, job.room()).samples.tolist()


def test_a_single_arm_on_a_source_without_end() -> None:
    """A round is one sample then, and there is nothing that its rewards could be correlated with."""
    asked: dict[str, Any] = {
        "question": truebest.AtLeast(0.9),
        "items": math.inf,
        "runs": 5,
        "progress": False,
    }
    table = truebest.simulate(rewards=[[1.0] * 9 + [0.0]], max_samples=100, **asked)
    assert table.cells[0].samples.tolist() == [100] * 5
    drawn: dict[str, Any] = {**asked, "rewards": "bernoulli", "means": [0.5]}
    one, other = truebest.simulate(**drawn), truebest.simulate(correlation=0.5, **drawn)
    assert one.cells[0].samples.tolist() == other.cells[0].samples.tolist()
    assert one.cells[0].errors == 0


def test_runs_are_cut_off_before_they_exceed_max_samples() -> None:
    """A round that could exceed it is not begun; a run that needs fewer samples is as it was."""
    whole, cut = simulated(rewards=COLUMNS, items=300), simulated(rewards=COLUMNS, items=300, max_samples=100)
    assert 0 < cut.censored < 30
    ended = cut.recommended >= 0
    assert cut.samples[ended].tolist() == whole.samples[ended].tolist()
    assert (cut.samples[~ended] <= 100).all()
    assert (cut.samples[~ended] > 97).all()
    assert (whole.samples[~ended] > 97).all()


@pytest.mark.parametrize(
    "given",
    [
        {"rewards": COLUMNS, "items": 300},
        {"rewards": COLUMNS, "items": math.inf, "max_samples": 60},
        {"rewards": COLUMNS, "compare": "wins"},
        {"rewards": COLUMNS, "compare": "wins", "question": Winner()},
        {"rewards": COLUMNS, "items": 300, "question": truebest.Gate(2, 0.05)},
        {"rewards": [[-10.0 + 4.0 * x for x in part] for part in TABLE.T], "items": 300}
        | {"model": truebest.Bounded(-10.0, -6.0)},
    ],
    ids=lambda given: str({name: value for name, value in given.items() if name != "rewards"}),
)
def test_a_trace_is_a_run_of_the_simulation(given: dict[str, Any]) -> None:
    """Its samples, pulls and answer; its means are those of the values that an arm has had."""
    cell = simulated(**given)
    for run in range(3):
        trace = truebest.trace(**given, seed=QUICK["seed"], run=run)
        assert trace.samples == cell.samples[run] == trace.pulls[-1].sum()
        answer = int(cell.recommended[run])
        assert trace.right == (None if answer < 0 else answer in cell.best)
        named = "question" not in given
        assert trace.recommended == (answer if named and answer >= 0 else None)
        assert (np.diff(trace.time) > 0).all()
        assert (np.diff(trace.pulls, axis=0) >= 0).all()
        assert (trace.arm == -1).all()
        shown = np.isfinite(trace.means)
        low, high = (-10.0, -6.0) if "model" in given else (0.0, 1.0)
        assert ((trace.means[shown] >= low) & (trace.means[shown] <= high)).all()
        sums = (trace.means - low) / (high - low) * trace.pulls
        assert np.allclose(sums[shown], np.rint(sums[shown]), atol=1e-9)
        before = trace.statistic[:-1]
        if given.get("items") == 300 and named:
            assert (before <= trace.threshold[:-1]).sum() > 0
        assert str(trace)
        assert trace.plot()


def test_what_is_found_where_there_may_be_no_winner() -> None:
    """In a circle that none wins is right, and an arm is wrong; with a winner it is the other way round."""
    circle = simulated(rewards=CIRCLE, compare="wins", question=Winner(), delta=0.0002)
    assert (circle.errors, circle.censored) == (0, 0)  # 1 in 200 false alarms
    assert circle.best == {0}
    assert simulated(rewards=COLUMNS, compare="wins", question=Winner(), items=300).errors == 0
    table = np.array(CIRCLE).T
    assert Wins(direct=True).right_answers(table, table, 0.0) == {-1}
    assert Wins(direct=True).right_answers(TABLE, TABLE, 0.0) == {0}
    missing = np.where(np.arange(len(table))[:, None] < [100, 0, 0], np.nan, table)
    low, high = np.where(np.isnan(missing), -np.inf, missing), np.where(np.isnan(missing), np.inf, missing)
    assert Wins(direct=True).right_answers(low, high, 0.0) == {-1, 0, 1}
    ways: Ways = {"rewards": CIRCLE, "compare": "wins", "question": Winner()}
    job = make_works("simulate", None, [None], 0.1, 1, ways).jobs[0][0]
    coded = job._judged(np.array([-1, 0, -2, -4]))  # type: ignore[attr-defined]
    assert coded.tolist() == [0, 1, -3, -3]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"items": 300, "strategies": "uniform"}, "by a rule of its own, got strategies too"),
        ({"items": 300, "stopping": "tilt"}, "by a rule of its own, got stopping too"),
        ({"items": 300, "sigma": 1.0}, "leave sigma out"),
        ({"items": 200}, "items must be as many as each arm has values, 300"),
        ({"items": 300, "means": [0.5, 0.4]}, "means must be left out"),
        ({"items": 300, "correlation": 0.5}, "correlation must be left out"),
        (
            {"items": 300, "rewards": "gaussian", "means": [0.5, 0.4]},
            "rewards on common items must be values",
        ),
        ({"items": 300, "rewards": "bernoulli", "means": [0.5, 0.4]}, "needs the correlation"),
        ({"items": 300, "model": truebest.Gaussian(1.0)}, "values between known bounds"),
        ({"items": 300, "device": "cuda"}, "leave device out"),
        ({"items": 300, "question": Winner()}, "asked of rounds in which only wins count"),
        ({"items": 300, "question": truebest.Gate(7)}, "baseline must be a number from 0 to 2"),
        ({"items": 300, "question": truebest.Gate(0), "tolerance": 0.1}, "knows no tolerance"),
        ({"compare": "wins", "question": truebest.Gate(0)}, "is asked of means, got compare='wins' too"),
        ({"compare": "wins", "question": Winner(), "tolerance": 0.1}, "knows no tolerance"),
        ({"compare": "wins", "model": truebest.Bounded(0, 1)}, "needs no bounds, sigma or model"),
        ({"compare": "wins", "rewards": CIRCLE}, "an arm that does not lose"),
        ({"compare": "ranks"}, "compare must be "),
        ({"items": 300, "max_samples": 2}, "max_samples must be a whole number from 3"),
        ({"correlation": 0.5, "strategies": "uniform"}, "correlation belongs to rounds on common items"),
        ({"failures": 0.0, "strategies": "uniform"}, "failures belongs to rounds on common items"),
        ({}, "strategies must be given for independent samples"),
        ({"epochs": 2, "strategies": "uniform"}, "epochs belongs to rounds on common items"),
        ({"items": 300, "epochs": 7}, "epochs=7 needs so many answers to each item"),
        ({"items": 300, "epochs": 3}, "as many as each arm has values, 300, 3 for each item"),
        ({"items": 300, "clusters": [["a"]] + ["a"] * 299}, "the label of each item, got ['a']"),
        ({"items": 300, "clusters": ["a", "b"]}, "clusters must have the label of each item"),
        ({"items": math.inf, "clusters": ["a"] * 300}, "clusters must have the label of each item"),
        ({"items": 300, "weigh": "items"}, "weigh says what counts alike in clusters"),
        ({"items": 300, "compare": "wins", "epochs": 2}, "of which means are compared"),
    ],
    ids=str,
)
def test_refusals(given: dict[str, Any], words: str) -> None:
    """In one sentence, which says what to do."""
    refused_in_one_sentence(words, lambda: truebest.simulate(**{"rewards": COLUMNS, **QUICK, **given}))
