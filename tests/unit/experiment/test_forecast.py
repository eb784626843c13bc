"""The forecast: one answer, compiled or not, and near that of a run that is followed pull by pull."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import truebest
from truebest.experiment import forecast as module
from truebest.experiment.experiment import Experiment
from truebest.experiment.independent import IndependentState
from truebest.kernels.layout import PULLS
from truebest.kernels.noiseless import run_on
from truebest.strategies import Strategy, find_strategy, strategy_names

SEEDS = {"lucb++": 8, "ebs-open-gaps": 3}  # with 2 they would never end, one for a tie that lasts
MEANS = {"a": 0.5, "b": 0.45, "c": 0.42, "d": 0.35, "e": 0.2}


def begun(
    strategy: str | Strategy, samples: int = 300, store: str = "memory:", name: str = "x", seed: int = 2
) -> Experiment:
    """An experiment on coins after so many samples, in batches of 10 where it may."""
    experiment = Experiment.create(
        store, name, list(MEANS), bounds=(0, 1), strategy=strategy, stopping="mixture", seed=1
    )
    rng = np.random.default_rng(seed)
    while experiment.status().samples < samples:
        experiment.tell([(pull, float(rng.random() < MEANS[pull.arm])) for pull in experiment.ask(10)])
    return experiment


def followed(state: IndependentState, most: int = 1_000_000, growth: float = 0.0, sums: int = -1) -> float:
    """How many more samples, pull by pull: until the rule decides on values that equal the means."""
    strategy = state.settings.strategy
    assert strategy is not None
    chooser = state.chooser.copy()
    seen = chooser.seen(state.bodies)
    space = np.zeros(seen.shape[1])
    assert chooser.select is not None
    pace = (chooser.select, strategy.stops_itself, most, growth, sums)
    assert run_on(*pace, seen, state.bodies.pairwise, chooser.memory, chooser.random, space)
    return float(seen[PULLS].sum() - state.chooser.asked.sum())


def state_of(experiment: Experiment) -> IndependentState:
    experiment.status()
    assert isinstance(experiment._journal.known, IndependentState)
    return experiment._journal.known


STEADY = [
    name for name in strategy_names() if find_strategy(name).adds_up is not None
]  # others are extrapolated


@pytest.mark.parametrize("samples", [50, 300, 1000])
@pytest.mark.parametrize("strategy", STEADY)
def test_the_forecast_is_near_that_of_single_pulls(strategy: str, samples: int) -> None:
    """Within 5%, on logs where a run of single pulls comes to its end."""
    state = state_of(begun(strategy, samples, seed=SEEDS.get(strategy, 2)))
    assert module.forecast(state).samples == pytest.approx(followed(state), rel=0.05)


def test_a_run_that_would_never_end_has_no_forecast() -> None:
    """LUCB++ leaves an arm alone while the threshold goes on growing."""
    state = state_of(begun("lucb++", 50, seed=3))
    with pytest.raises(AssertionError):
        followed(state)
    assert module.forecast(state).samples is None


def test_a_step_adds_to_the_sums_of_targets_too() -> None:
    """The negative control: steps that left out what C-tracking adds up would end elsewhere."""
    state = state_of(begun("ebs-c", 1000))
    steps, growth, sums = module._pace(find_strategy("ebs-c"), 5)
    right = followed(state)
    assert followed(state, steps, growth, sums) == pytest.approx(right, rel=0.02)
    assert followed(state, steps, growth) != pytest.approx(right, rel=0.05)


def test_a_strategy_of_the_users_own_is_followed_pull_by_pull() -> None:
    """What it remembers is not known: here it takes turns by a count of its calls, three times each."""

    @truebest.strategy(rows=("calls",))
    def in_threes(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
        memory[0, 0] += 1.0
        return int(memory[0, 0] / 3.0) % pulls.size

    state = state_of(begun(in_threes, 3000))
    right = followed(state)
    assert 100 < right < module.UNIT_STEPS / len(MEANS)
    assert module.forecast(state).samples == right


def test_without_the_strategy_there_is_no_forecast() -> None:
    """The command cannot know a strategy of the user's own, and says so instead of taking another."""

    @truebest.strategy(name="mine")
    def mine(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
        return leader if pulls[leader] <= t / 2 else int(t) % pulls.size

    experiment = begun(mine, 300)
    found = Experiment.open(experiment._store, "x").forecast()
    assert found.samples is None
    assert str(found) == "no forecast: the user's own strategy 'mine' was not passed"


def test_python_and_the_command_give_the_same_forecast(tmp_path: Path) -> None:
    """Uncompiled, too: the same numbers, arm by arm, for every strategy."""
    url = f"sqlite:///{tmp_path}/x.db"
    names = strategy_names()
    here = {name: begun(name, 200, url, name, seed=9).forecast().to_dict() for name in names}
    assert all(found["samples"] for found in here.values())
    environment = {**os.environ, "TRUEBEST_JIT": "0"}
    code = (
        "from truebest.cli import main\n"
        f"for name in {names}: main(['forecast', name, '--store', {url!r}, '--format', 'json']); print(';')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    there = [json.loads(text) for text in ran.stdout.split(";")[: len(names)]]
    assert dict(zip(names, there, strict=True)) == here
