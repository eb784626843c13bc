"""Where another question is asked, too, a live experiment is the simulated run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import truebest
from support.told import in_the_race, ruled_out
from support.twin import Rewards, drive
from truebest import (
    Against,
    AtLeast,
    AtMost,
    BestArm,
    Bounded,
    Gate,
    Gaussian,
    Poisson,
    Student,
    Undecided,
    Verdicts,
)
from truebest.experiment.experiment import Experiment
from truebest.experiment.exports import exported
from truebest.experiment.store.memory import MemoryStore
from truebest.kernels.random import BERNOULLI, GAUSSIAN, POISSON
from truebest.questions import PerArm
from truebest.theory.models import Model
from truebest.theory.stopping import StoppingRule

PAIRS = BestArm(pairs=True)
KINDS = {BERNOULLI: "bernoulli", GAUSSIAN: "gaussian", POISSON: "poisson"}
Case = tuple[int, list[float], Model, StoppingRule]
CASES: dict[str, Case] = {
    "tilt": (BERNOULLI, [0.9, 0.5, 0.6], Bounded(0.0, 1.0), truebest.Tilt()),
    "mixture": (GAUSSIAN, [1.2, 0.1, 0.4], Gaussian(1.0), truebest.Mixture()),
}
VERDICTS: dict[str, tuple[Case, PerArm]] = {
    "tilt": ((BERNOULLI, [0.9, 0.5, 0.9], Bounded(0.0, 1.0), truebest.Tilt()), Gate("b", margin=0.1)),
    "student": ((GAUSSIAN, [0.1, 1.2, 3.0], Student(), truebest.StudentRule()), Gate("b", margin=0.5)),
    "better by": ((GAUSSIAN, [2.5, 0.1, 0.2], Gaussian(1.0), truebest.Mixture()), Gate("b", at_least=1.0)),
    "control": ((GAUSSIAN, [2.5, 0.1, 0.2], Gaussian(1.0), truebest.Mixture()), Against("b", margin=1.0)),
    "list": (
        (BERNOULLI, [0.9, 0.5, 0.2], Bounded(0.0, 1.0), truebest.Tilt()),
        Against("b", only="better"),
    ),
    "number": ((BERNOULLI, [0.9, 0.5, 0.75], Bounded(0.0, 1.0), truebest.Tilt()), AtLeast(0.65)),
    "normal": ((GAUSSIAN, [0.9, -0.2, 1.7], Gaussian(1.0), truebest.Tilt()), AtLeast(0.4)),
    "at most": ((BERNOULLI, [0.9, 0.5, 0.75], Bounded(0.0, 1.0), truebest.Tilt()), AtMost(0.65)),
    "number, student": ((GAUSSIAN, [0.9, -0.2, 1.7], Student(), truebest.StudentRule()), AtLeast(0.4)),
    "number, mixture": ((GAUSSIAN, [0.9, -0.2, 1.7], Gaussian(1.0), truebest.Mixture()), AtLeast(0.4)),
    "number, counts": ((POISSON, [0.9, 0.1, 1.7], Poisson(), truebest.KaufmannKoolen()), AtLeast(0.4)),
}


@pytest.mark.parametrize("case", list(CASES))
def test_a_live_experiment_is_the_simulated_run(case: str) -> None:
    """The same arms and the same end, with snapshots and new processes; a retraction leaves no trace."""
    family, means, model, rule = CASES[case]
    kind = KINDS[family]
    options: dict[str, Any] = {"model": model, "stopping": rule, "seed": 4, "question": PAIRS}
    want = truebest.trace("uniform", means, 0.1, rewards=kind, max_samples=900, **options)
    experiment = Experiment.create(MemoryStore(), "x", ["a", "b", "c"], 0.1, **options)
    asked = drive(experiment, Rewards(means, 4, family, 1.0), most=900, reopen=40)
    assert asked == [0, 1, 2, *want.arm[:-1].tolist()]
    assert (want.right, want.recommended) == (True, None)
    status = experiment.status()
    assert status.best == "a"
    assert in_the_race(status) == ("a",)
    assert experiment.verify().sound
    assert (experiment.history()[-1].data or {})["labels"] == [0, 2, 2]
    assert experiment.settings.to_record()["question"]["class"] == "BestArm"
    assert experiment.settings.decisions == 4


@pytest.mark.parametrize("case", list(VERDICTS))
def test_verdicts_are_those_of_the_simulated_run(case: str, tmp_path: Path) -> None:
    """The same arms and the same end, with snapshots and new processes; what is stored comes back."""
    (family, means, model, rule), question = VERDICTS[case]
    kind = KINDS[family]
    options: dict[str, Any] = {"model": model, "stopping": rule, "seed": 4}
    place = question.bound(["a", "b", "c"])
    assert isinstance(place, PerArm)
    want = truebest.trace("uniform", means, 0.1, rewards=kind, max_samples=4000, question=place, **options)
    store = MemoryStore()
    experiment = Experiment.create(store, "x", ["a", "b", "c"], 0.1, question=question, **options)
    asked = drive(experiment, Rewards(means, 4, family, 1.0), most=4000, reopen=40)
    assert asked == [0, 1, 2, *want.arm[:-1].tolist()]
    assert want.right
    status = experiment.status()
    judged = [a for a in range(3) if a != place.reference(["a", "b", "c"])]
    base = place.base(means, ["a", "b", "c"])
    assert base is not None
    sides = [
        tuple("abc"[a] for a in judged if (means[a] - base > place.mark) is how)
        for how in (place.upwards, not place.upwards)
    ]
    assert status.answer == Verdicts(*sides)
    assert status.best is None
    assert experiment.verify().sound
    assert [a for a, one in enumerate(status.standings) if one.lead is not None] == judged
    for a in judged:  # no interval gainsays its verdict
        lead = status.standings[a].lead
        assert lead is not None
        above = "abc"[a] in sides[0 if place.upwards else 1]
        assert (lead.low >= place.mark) is above
        assert (lead.high > place.mark) is above
    file = tmp_path / "x.jsonl"
    file.write_text("".join(f"{line}\n" for line in exported(experiment, "jsonl")))
    again = Experiment.import_log(MemoryStore(), file, "y")
    assert again.status().answer == status.answer
    assert again.settings.question == place


def test_a_verdict_that_a_retraction_changes_is_given_anew() -> None:
    """After a wrong value is put right, the gate is open again, then fails; the log has both decisions."""
    experiment = Experiment.create("memory:", "x", ["a", "b"], bounds=(0, 1), question=Gate("a"), seed=1)
    values = {"a": 0.2, "b": 0.8}
    while pulls := experiment.ask():
        for pull in pulls:
            experiment.tell(pull, values[pull.arm])
    assert experiment.status().answer == Verdicts(("b",))
    for line in experiment.history():
        if line.kind == "told" and line.arm == "b":
            experiment.retract(line.pull or 0, "read upside down", 0.1)
    values["b"] = 0.1
    assert experiment.status().answer == Undecided(so_far=Verdicts())
    while pulls := experiment.ask():
        for pull in pulls:
            experiment.tell(pull, values[pull.arm])
    assert experiment.status().answer == Verdicts((), ("b",))
    found = [line.data or {} for line in experiment.history() if line.kind == "decided"]
    assert [(one["passed"], one["failed"]) for one in found] == [(["b"], []), ([], ["b"])]
    assert experiment.verify().sound
    assert experiment.verify().decision == "b failed"


def test_after_a_retraction_the_evidence_is_built_again() -> None:
    """Nothing that was proven with the wrong value stays so, and a replay of the log finds the same."""
    experiment = Experiment.create("memory:", "x", ["a", "b", "c"], bounds=(0, 1), question=PAIRS, seed=1)
    told = []
    while "a" not in ruled_out(experiment.status()):
        for pull in experiment.ask():
            experiment.tell(pull, {"a": 0.1, "b": 0.8, "c": 0.7}[pull.arm])
            told.append(pull)
    for pull in told:
        if pull.arm == "a":
            experiment.retract(pull, "a slip", 0.75)
    assert in_the_race(experiment.status()) == ("a", "b", "c")
    assert experiment.verify().sound


def test_a_forecast_is_of_what_is_asked() -> None:
    """If values go on as they did, it takes as many samples as was said; sampling all in turn takes more."""
    experiment = Experiment.create("memory:", "x", ["a", "b", "c"], bounds=(0, 1), question=PAIRS, seed=1)
    told = {"a": 0, "b": 0, "c": 0}

    def tell_one() -> None:
        (pull,) = experiment.ask()
        told[pull.arm] += 1
        experiment.tell(
            pull, {"a": 0.7, "b": 0.55, "c": 0.3}[pull.arm] + (0.3 if told[pull.arm] % 2 else -0.3)
        )

    for _ in range(60):
        tell_one()
    said = experiment.forecast()
    assert said.samples is not None
    while not experiment.status().decided:
        tell_one()
    samples = experiment.status().samples
    assert 60 + said.samples == pytest.approx(samples, rel=0.1)
    state = experiment._journal.known
    assert state is not None
    in_turn = state.uniform_samples()
    assert in_turn is not None
    assert samples < in_turn < 3 * samples
