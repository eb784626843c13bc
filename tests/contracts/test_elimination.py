"""Arms are ruled out in a live experiment: by every process alike, in whatever order answers come."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.told import in_the_race, intervals, ruled_out
from truebest.experiment.bodies import Bodies
from truebest.experiment.events import settled
from truebest.experiment.experiment import Experiment
from truebest.experiment.independent import IndependentState
from truebest.experiment.snapshots import as_dict, packed, unpacked
from truebest.experiment.store.memory import MemoryStore
from truebest.kernels.layout import OUT
from truebest.theory.tilt import Tilt

MEANS = {"a": 0.85, "b": 0.6, "c": 0.3, "d": 0.2}
SCALES: dict[str, dict[str, Any]] = {"coins": {"bounds": (0, 1)}, "gaussian": {"sigma": 0.3}}


def value_of(kind: str, arm: str, rng: np.random.Generator) -> float:
    return float(rng.random() < MEANS[arm]) if kind == "coins" else float(rng.normal(MEANS[arm], 0.3))


def make(kind: str, **given: Any) -> Experiment:
    settings = {"strategy": "tas-c", "seed": 1, **SCALES[kind], **given}
    return Experiment.create(MemoryStore(), "x", list(MEANS), 0.05, **settings)


def known(experiment: Experiment) -> IndependentState:
    experiment.status()
    assert isinstance(experiment._journal.known, IndependentState)
    return experiment._journal.known


def agrees(experiment: Experiment) -> None:
    """The state as it was told, replayed at once, line by line, from a snapshot; and the evidence itself."""
    state, recall = known(experiment), experiment._journal._recall
    at_once = IndependentState(experiment.settings, recall=recall)
    at_once.replay(experiment._journal.lines())
    single = IndependentState(experiment.settings, recall=recall)
    for entry in experiment._journal.lines():
        single.apply(entry)
    again = unpacked(experiment.settings, packed(state))
    assert as_dict(state) == as_dict(at_once) == as_dict(single) == as_dict(again)
    if state.decision is None:
        pulls = settled(experiment._journal.lines())
        bodies = Bodies(experiment.settings)
        bodies._set_offset(state.bodies.offset or 0.0)
        for pull in range(1, state.first):
            arm, check, together, raw = pulls.get(pull, (0, False, False, None))
            if raw is not None:
                bodies.advance(np.array([arm]), np.array([raw]), np.array([check]), np.array([together]))
        assert bodies.evidence.tolist() == state.bodies.evidence.tolist()


GIVEN: dict[str, dict[str, Any]] = {
    "comparators": {},
    "pairs": {"stopping": "mixture", "strategy": "ebs-open-need"},
    "pairs, searched": {"stopping": Tilt(share=0.0), "strategy": "ebs-open-equal"},
    "pairs, tolerance": {"stopping": "mixture", "strategy": "ebs-open-gaps", "tolerance": 0.05},
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", list(SCALES))
@pytest.mark.parametrize("how", GIVEN)
def test_what_is_ruled_out_follows_from_the_log(how: str, kind: str, seed: int) -> None:
    """Batches answered in any order, failures, corrections and withdrawals; other processes look on."""
    rng = np.random.default_rng(seed)
    experiment, dropped, reread = make(kind, **GIVEN[how]), 0, 0
    pending: list[Any] = []
    for step in range(120):
        pending += experiment.ask(int(rng.integers(1, 5)))
        if not pending:
            break
        for i in sorted(rng.permutation(len(pending))[: len(pending) // 2 + 1].tolist(), reverse=True):
            pull = pending.pop(i)
            if rng.random() < 0.1:
                experiment.fail(pull, "once")
            else:
                experiment.tell(pull, value_of(kind, pull.arm, rng))
        if step % 29 == 28:
            told = [e for e in experiment.history() if e.kind == "told"]
            which = told[int(rng.integers(0, len(told)))]
            assert which.pull is not None
            assert which.arm is not None
            new = None if rng.random() < 0.3 else value_of(kind, which.arm, rng)
            experiment.retract(which.pull, "a slip", new)
            reread += 1
        if step in (5, 40):
            experiment.observe({arm: [value_of(kind, arm, rng) for _ in range(4)] for arm in "ca"})
        if step % 11 == 10:
            agrees(experiment)
        dropped = max(dropped, int((known(experiment).bodies.evidence[OUT] > 0.0).sum()))
    agrees(experiment)
    slow = how != "comparators"  # pairs need more samples than there are
    assert dropped >= (2 if not slow else 0 if (kind, seed) == ("coins", 1) else 1)
    assert experiment.verify().sound


def test_an_arm_that_is_out_is_neither_asked_nor_waited_for() -> None:
    """Whatever the strategy would do; a pull of it that never comes back holds nothing up."""
    experiment = make("coins", strategy="uniform")
    rng = np.random.default_rng(4)
    held = None
    while not ruled_out(experiment.status()):
        for pull in experiment.ask(4):
            if pull.arm == "d" and held is None and pull.id > 60:
                held = pull  # nobody answers it
            else:
                experiment.tell(pull, value_of("coins", pull.arm, rng))
        if held is not None:
            break
    assert held is not None
    for _ in range(400):
        for pull in experiment.ask(3):
            experiment.tell(pull, value_of("coins", pull.arm, rng))
    before = experiment.status()
    assert before.best is None  # all wait for the pull that is held
    assert before.progress.waiting > 200
    experiment.tell(held, 0.0)
    status = experiment.status()
    assert status.best == "a"
    assert set(ruled_out(status)) == {"b", "c", "d"}
    assert all(out <= status.samples for out in ruled_out(status).values())
    assert all(low >= 0.0 for low, _ in intervals(status).values())
    assert status.shortfall == 0.0
    assert in_the_race(status) == ("a",)


def test_a_pull_of_an_arm_that_is_out_holds_nothing_up() -> None:
    """Asked before its arm was ruled out, not answered: nothing waits for it, its value is ignored."""
    experiment = make("coins", strategy="uniform")
    pulls = experiment.ask(120)
    held = [pull for pull in pulls if pull.arm == "d"][-3]
    experiment.tell([(p, 0.0 if p.arm == "d" else float(p.id % 4 > 0)) for p in pulls if p is not held])
    status = experiment.status()
    assert set(ruled_out(status)) == {"d"}
    assert ruled_out(status)["d"] < held.id
    assert status.progress.waiting == 0
    assert status["d"].pending == 1
    assert "d" not in [pull.arm for pull in experiment.ask(8)]
    agrees(experiment)
    assert experiment.tell(held, 1.0) == "told"
    after = experiment.status()
    assert (after.samples, after.means["d"], after.progress.waiting) == (status.samples, 0.0, 0)
    assert experiment.reclaim() == 8
    experiment.fail(experiment.ask()[0], "once")
    agrees(experiment)


def test_a_retraction_brings_an_arm_back() -> None:
    """Ruled out by values that were wrong: after they are put right it is in the race again."""
    experiment = make("coins", strategy="uniform")
    wrong = []
    while not ruled_out(experiment.status()) and experiment.status().samples < 200:
        for pull in experiment.ask(4):
            value = 0.0 if pull.arm == "d" else 1.0 if pull.id % 3 else 0.0
            experiment.tell(pull, value)
            if pull.arm == "d":
                wrong.append(pull)
    assert set(ruled_out(experiment.status())) == {"d"}
    for pull in wrong[: len(wrong) * 2 // 3]:
        experiment.retract(pull, "a slip", 1.0)
    status = experiment.status()
    assert not ruled_out(status)
    assert in_the_race(status) == tuple(MEANS)
    assert "d" in [pull.arm for pull in experiment.ask(8)]
    agrees(experiment)
