"""Exponential families, live and simulated: the same run, each step of which follows from the definitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import truebest
from support import families as exact
from support.told import intervals, suspended
from support.twin import Rewards, drive
from truebest.experiment.experiment import Experiment
from truebest.experiment.store.memory import MemoryStore
from truebest.kernels.random import BERNOULLI, UNIFORM

# Counts of 0 or 1 are Poisson values, and positive ones exponential, as far as a run is concerned.
CASES: dict[str, tuple[str, int, list[float], float]] = {
    "bernoulli": ("bernoulli", BERNOULLI, [0.9, 0.4, 0.2], 1.0),
    "poisson": ("bernoulli", BERNOULLI, [0.95, 0.2, 0.1], 1.0),
    "exponential": ("uniform", UNIFORM, [0.9, 0.3, 0.1], 0.09),
}
SIMULATED = ("practical", "kaufmann-koolen")
every_family = pytest.mark.parametrize("family", list(CASES))


def traced(family: str, strategy: str, stopping: str, **more: Any) -> truebest.Trace:
    rewards, _, means, noise = CASES[family]
    return truebest.trace(
        strategy,
        means,
        0.1,
        seed=4,
        rewards=rewards,
        noise=noise,
        model=exact.MODELS[family],
        stopping=stopping,
        max_samples=600,
        **more,
    )


@every_family
@pytest.mark.parametrize("stopping", SIMULATED)
@pytest.mark.parametrize("strategy", ["tas-c", "tas-d", "ebs-d", "racing", "lucb++", "uniform"])
def test_a_live_experiment_is_the_simulated_run(family: str, strategy: str, stopping: str) -> None:
    """The same arms, the same statistic to the last bit, the same end, with snapshots and new processes."""
    _, code, means, noise = CASES[family]
    want = traced(family, strategy, stopping)
    experiment = Experiment.create(
        MemoryStore(),
        "x",
        ["a", "b", "c"],
        0.1,
        model=exact.MODELS[family],
        seed=4,
        strategy=strategy,
        stopping=stopping,
    )
    asked = drive(experiment, Rewards(means, 4, code, noise), most=600, reopen=40)
    assert asked == [0, 1, 2, *want.arm[:-1].tolist()]
    status = experiment.status()
    assert status.best == (None if want.recommended is None else "abc"[want.recommended])
    assert (status.progress.statistic, status.progress.threshold) == (want.statistic[-1], want.threshold[-1])
    assert status.promise.bound == (0.1 if stopping == "kaufmann-koolen" else None)
    if status.best and strategy != "racing":
        assert all(low >= 0.0 for low, _ in intervals(status).values())
    assert experiment.verify().sound


@every_family
@pytest.mark.parametrize("tracking", ["C", "D"])
def test_every_step_of_track_and_stop_follows_from_the_definitions(family: str, tracking: str) -> None:
    """Statistic, threshold, target weights and the arm, computed afresh from pulls and means."""
    found = traced(family, f"tas-{tracking.lower()}", "practical")
    assert found.target is not None
    sums, compared = np.ones(3), 0
    for step in range(min(len(found.time) - 1, 60)):
        t, pulls, means = int(found.time[step]), found.pulls[step], found.means[step]
        best = int(np.argmax(means))
        rivals = [a for a in range(3) if a != best]
        costs = [exact.cost(family, means[best], means[a], pulls[best], pulls[a]) for a in rivals]
        assert found.statistic[step] == pytest.approx(float(min(costs)), rel=1e-11, abs=1e-300)
        assert found.threshold[step] == pytest.approx(math.log((1.0 + math.log(t)) / 0.1), rel=1e-14)
        starved = [a for a in range(3) if pulls[a] < math.sqrt(t) - 1.5]
        if starved:
            assert found.arm[step] == starved[int(pulls[starved].argmin())]
            continue
        top = [a for a in range(3) if means[a] == means.max()]
        if len(top) > 1:
            w = np.array([1.0 / len(top) if a in top else 0.0 for a in range(3)])
        else:
            w = np.array([float(x) for x in exact.optimal(family, means.tolist(), best)[1]])
            compared += 1
        np.testing.assert_allclose(found.target[step], w, rtol=1e-11)
        sums += w
        goal = sums if tracking == "C" else t * w
        behind = pulls - goal
        assert found.arm[step] == int(np.flatnonzero(behind <= behind.min() + 1e-9)[0])
    assert compared > 10


@pytest.mark.parametrize("stopping", ["mixture", "gk16", "tilt"])
def test_successes_are_values_between_bounds_to_the_other_rules(stopping: str) -> None:
    """Bernoulli is Bounded(0, 1) to the bit where a rule knows only that, and as proven."""
    given: dict[str, Any] = {"rewards": "bernoulli", "stopping": stopping, "max_samples": 900}
    cells = [
        truebest.simulate("tas-d", [0.9, 0.5, 0.4], 0.1, runs=30, model=model, **given).cells[0]
        for model in (truebest.Bernoulli(), truebest.Bounded(0.0, 1.0))
    ]
    np.testing.assert_array_equal(cells[0].samples, cells[1].samples)
    rule = truebest.stopping_rule(stopping)
    one, two = (
        rule.evaluate([20, 30], [0.9, 0.2], 0.1, model=model)
        for model in (truebest.Bernoulli(), truebest.Bounded(0.0, 1.0))
    )
    assert (one.statistic, one.threshold) == (two.statistic, two.threshold)
    assert rule.proven_for(truebest.Bernoulli())
    assert not rule.proven_for(truebest.Poisson())


@pytest.mark.parametrize("stopping", ["mixture", "gk16", "gk16-printed", "tilt"])
@pytest.mark.parametrize("model", [truebest.Poisson(), truebest.Exponential()])
def test_a_rule_refuses_a_model_with_which_it_cannot_compute(stopping: str, model: truebest.Model) -> None:
    """In a simulation, for data, and live."""
    match = (
        rf"the stopping rule '{stopping}' cannot compute with the model {type(model).__name__}\(\); choose"
    )
    rewards = "bernoulli" if model == truebest.Poisson() else "uniform"
    for call in (
        lambda: (
            truebest.simulate(
                "tas-d", [2.5, 0.5], 0.1, rewards=rewards, noise=0.1, model=model, stopping=stopping
            )
            if rewards == "uniform"
            else truebest.simulate("tas-d", [0.7, 0.5], 0.1, rewards=rewards, model=model, stopping=stopping)
        ),
        lambda: truebest.stopping_rule(stopping).evaluate([5, 5], [2.0, 1.0], 0.1, model=model),
        lambda: truebest.stopping_rule(stopping).intervals([5, 5], [2.0, 1.0], 0.1, model=model),
        lambda: truebest.stopping_rule(stopping).threshold(10, 2, 0.1, model=model),
        lambda: Experiment.create("memory:", "x", ["a", "b"], model=model, stopping=stopping),
    ):
        with pytest.raises(truebest.InvalidInputError, match=match):
            call()


def test_a_simulation_refuses_rewards_outside_the_domain() -> None:
    """They would be read as other values."""
    for model, rewards in (
        (truebest.Bernoulli(), "gaussian"),
        (truebest.Poisson(), "uniform"),
        (truebest.Exponential(), "uniform"),
    ):
        with pytest.raises(
            truebest.InvalidInputError, match=rf"rewards of the model {type(model).__name__}\(\)"
        ):
            truebest.simulate("tas-d", [0.7, 0.5], 0.1, runs=2, rewards=rewards, model=model)


@pytest.mark.parametrize("minimize", [False, True])
@every_family
def test_a_live_experiment_finds_the_best(family: str, minimize: bool) -> None:
    """Also where the smallest is the best; the default rule is proven, and the words say for what."""
    rng = np.random.default_rng(8)
    draw: Any = {
        "bernoulli": lambda mean: float(rng.random() < mean / 10.0),
        "poisson": lambda mean: float(rng.poisson(mean)),
        "exponential": lambda mean: float(rng.exponential(mean)),
    }[family]
    means, store = {"a": 2.0, "b": 9.0, "c": 5.0}, MemoryStore()
    model = exact.MODELS[family]
    experiment = Experiment.create(store, "x", list(means), model=model, minimize=minimize, seed=2)
    assert experiment.settings.stopping is not None
    assert experiment.settings.stopping.proven_for(model)
    while pulls := experiment.ask():
        experiment.tell(pulls[0], draw(means[pulls[0].arm]))
    status = Experiment.create(store, "x", list(means), model=model).status()
    assert status.best == ("a" if minimize else "b")
    assert status.promise.bound == 0.05
    assert model.words in status.promise.words
    assert all(low >= 0.0 for low, _ in intervals(status).values())
    assert experiment.verify().sound
    best = status.best  # the others are left alone early, with a few unlucky values
    assert status.means[best] == pytest.approx(
        means[best] / (10.0 if family == "bernoulli" else 1.0), rel=0.5
    )


@pytest.mark.parametrize(
    ("model", "bad", "demand"),
    [
        (truebest.Bernoulli(), 0.5, "0 or 1"),
        (truebest.Poisson(), 2.5, "a whole number of at least 0"),
        (truebest.Poisson(), -1.0, "a whole number of at least 0"),
        (truebest.Exponential(), 0.0, "above 0"),
    ],
)
def test_a_value_outside_the_domain_suspends(model: truebest.Model, bad: float, demand: str) -> None:
    """As one outside the bounds does, and the right value resumes."""
    experiment = Experiment.create("memory:", "x", ["a", "b"], model=model)
    pull = experiment.ask()[0]
    with pytest.raises(truebest.SuspendedError, match=f"gave {bad:g}, and must be {demand}; if that was"):
        experiment.tell(pull, bad)
    status = experiment.status()
    assert suspended(status)
    assert status.promise.bound is None
    with pytest.raises(truebest.InvalidInputError, match=f"the right value must be {demand}, got {bad:g}"):
        experiment.retract(pull, "typo", bad)
    experiment.retract(pull, "typo", 1.0)
    assert not suspended(experiment.status())
    assert experiment.status().promise.bound == 0.05
