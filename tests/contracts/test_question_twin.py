"""Where another question is asked, too, a live experiment is the simulated run."""

from __future__ import annotations

from typing import Any

import pytest

import truebest
from support.told import in_the_race, ruled_out
from support.twin import Rewards, drive
from truebest import BestArm, Bounded, Gaussian
from truebest.experiment.experiment import Experiment
from truebest.experiment.store.memory import MemoryStore
from truebest.kernels.random import BERNOULLI, GAUSSIAN
from truebest.theory.models import Model
from truebest.theory.stopping import StoppingRule

PAIRS = BestArm(pairs=True)
CASES: dict[str, tuple[int, list[float], Model, StoppingRule]] = {
    "tilt": (BERNOULLI, [0.9, 0.5, 0.6], Bounded(0.0, 1.0), truebest.Tilt()),
    "mixture": (GAUSSIAN, [1.2, 0.1, 0.4], Gaussian(1.0), truebest.Mixture()),
}


@pytest.mark.parametrize("case", list(CASES))
def test_a_live_experiment_is_the_simulated_run(case: str) -> None:
    """The same arms and the same end, with snapshots and new processes; a retraction leaves no trace."""
    family, means, model, rule = CASES[case]
    kind = "bernoulli" if family == BERNOULLI else "gaussian"
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
