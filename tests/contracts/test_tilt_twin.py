"""Under the tilt rule a live experiment is the simulated run, and retractions leave no trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import truebest
from support.told import intervals, ruled_out
from support.twin import Rewards, drive
from truebest import Account
from truebest.experiment.experiment import Experiment
from truebest.experiment.store.memory import MemoryStore
from truebest.kernels.random import BERNOULLI, BETA, GAUSSIAN, UNIFORM
from truebest.theory.models import Bounded, Gaussian, Model
from truebest.theory.tilt import Tilt

CASES: dict[str, tuple[int, list[float], float, Model]] = {
    "bernoulli": (BERNOULLI, [0.9, 0.5, 0.4], 1.0, Bounded(0.0, 1.0)),
    "uniform": (UNIFORM, [0.8, 0.7, 0.5], 0.2, Bounded(0.0, 1.0)),
    "beta": (BETA, [0.8, 0.7, 0.5], 0.15, Bounded(0.0, 1.0)),
    "gaussian": (GAUSSIAN, [1.2, 0.4, 0.1], 1.0, Gaussian(1.0)),
}


@pytest.mark.parametrize("spacing", [0.0, 1 / 20])
@pytest.mark.parametrize("strategy", ["tas-d", "racing", "lucb++", "ebs-open-need"])
@pytest.mark.parametrize("rewards", list(CASES))
def test_a_live_experiment_is_the_simulated_run(rewards: str, strategy: str, spacing: float) -> None:
    """The same arms, the same statistic to the last bit, the same end, with snapshots and new processes."""
    family, means, noise, model = CASES[rewards]
    rule, seed, store = Tilt(spacing), 4, MemoryStore()
    want = truebest.trace(
        strategy,
        means,
        0.1,
        seed=seed,
        rewards=rewards,
        noise=noise,
        model=model,
        stopping=rule,
        max_samples=900,
    )
    experiment = Experiment.create(
        store, "x", ["a", "b", "c"], 0.1, model=model, seed=seed, strategy=strategy, stopping=rule
    )
    asked = drive(experiment, Rewards(means, seed, family, noise), most=900, reopen=40)
    assert asked == [0, 1, 2, *want.arm[:-1].tolist()]
    status = experiment.status()
    assert status.best == (None if want.recommended is None else "abc"[want.recommended])
    assert status.best == "a"
    assert (status.progress.statistic, status.progress.threshold) == (want.statistic[-1], want.threshold[-1])
    assert status.promise.bound == 0.1
    assert strategy == "racing" or all(low >= 0.0 for low, _ in intervals(status).values())
    assert experiment.verify().sound


@pytest.mark.parametrize("strategy", ["ebs-open-need", "ebs-open-gaps"])
def test_arms_that_vary_more_are_asked_more_often_as_simulated(strategy: str) -> None:
    """Deviations of 0.3 and 0.06: the arms of the simulated run, and most of them the first."""
    means, noise, seed = [0.5, 0.52], [0.3, 0.06], 4
    given: dict[str, Any] = {
        "rewards": "beta",
        "noise": noise,
        "model": Bounded(0.0, 1.0),
        "stopping": Tilt(),
    }
    want = truebest.trace(strategy, means, 0.1, seed=seed, max_samples=400, **given)
    experiment = Experiment.create(
        "memory:", "x", ["a", "b"], 0.1, bounds=(0, 1), seed=seed, strategy=strategy, stopping=Tilt()
    )
    asked = drive(experiment, Rewards(means, seed, BETA, noise), most=400)
    assert asked == [0, 1, *want.arm[:-1].tolist()]
    assert 0.55 < 1.0 - np.mean(asked) < 0.75
    before = truebest.OpenEBS(strategy.removeprefix("ebs-open-"), version=1)
    assert not truebest.trace(before, means, 0.1, seed=seed, max_samples=400, **given).arm[:-1].mean() < 0.45


def test_a_budget_is_that_of_the_rule() -> None:
    """What `identify` is told as max_samples is what a simulation is told as Tilt(budget=)."""
    seed, means = 4, [0.7, 0.5, 0.4]
    given: dict[str, Any] = {
        "rewards": "bernoulli",
        "model": Bounded(0.0, 1.0),
        "seed": seed,
        "max_samples": 400,
    }
    want, other = (
        truebest.trace("tas-d", means, 0.1, stopping=Tilt(budget=budget), **given) for budget in (300, 0)
    )
    experiment = Experiment.create(
        "memory:", "x", ["a", "b", "c"], 0.1, bounds=(0, 1), strategy="tas-d", seed=seed, max_samples=300
    )
    asked = drive(experiment, Rewards(means, seed, BERNOULLI, 1.0), most=400)
    assert asked == [0, 1, 2, *want.arm[:-1].tolist()]
    assert experiment.status().progress.statistic == want.statistic[-1]
    assert want.samples < other.samples
    assert experiment.verify().sound


def told(experiment: Experiment, rng: np.random.Generator, number: int) -> None:
    for _ in range(number):
        for pull in experiment.ask():
            experiment.tell(pull, float(np.clip(rng.normal({"a": 0.6, "b": 0.5}[pull.arm], 0.2), 0.0, 1.0)))


def test_a_retraction_leaves_no_trace() -> None:
    """A value that is put right leaves the statistic that there would be without the mistake."""
    statistics = []
    for mistake in (None, 0.999, 1.0, 0.0):
        experiment = Experiment.create(
            "memory:", "x", ["a", "b"], 1e-6, bounds=(0, 1), strategy="uniform", stopping="tilt", seed=1
        )
        rng = np.random.default_rng(1)
        told(experiment, rng, 30)
        pull = experiment.ask()[0]
        experiment.tell(pull, 0.4 if mistake is None else mistake)
        told(experiment, rng, 30)
        if mistake is not None:
            experiment.retract(pull, "a slip", 0.4)
        statistics.append(experiment.status().progress.statistic)
    assert statistics == pytest.approx([statistics[0]] * 4, rel=1e-12)


def test_many_retractions_leave_no_trace() -> None:
    """Two hundred values near the upper bound, taken out one by one: more than one product holds."""
    statistics = []
    for slips in (0, 200):
        experiment = Experiment.create(
            "memory:", "x", ["a", "b"], 1e-200, bounds=(0, 1), stopping="tilt", seed=1
        )
        experiment.observe("a", [0.99] * (100 + slips))
        experiment.observe("b", [0.3] * 100)
        for pull in range(101, 101 + slips):
            experiment.retract(pull, "a slip")
        assert experiment.status().pulls == {"a": 100, "b": 100}
        statistics.append(experiment.status().progress.statistic)
    assert statistics[1] == pytest.approx(statistics[0], rel=1e-12)


def end_of(arms: list[str], low: float, minimize: bool, told: Callable[[float], float]) -> Account:
    """How an experiment on values in [low, 1] ends that is told something else of x in [0, 1]."""
    means = {"a": 0.6, "b": 0.5, "c": 0.45, "d": 0.3}
    experiment = Experiment.create(
        "memory:", "x", arms, 0.01, bounds=(low, 1), stopping="tilt", seed=1, minimize=minimize
    )
    rng = np.random.default_rng(2)
    while pulls := experiment.ask():
        x = round(float(np.clip(rng.normal(means[pulls[0].arm], 0.2), 0, 1)) * 256) / 256
        experiment.tell(pulls[0], told(x))
    return experiment.status()


SOME_ARMS = pytest.mark.parametrize("arms", [["a", "b"], ["a", "b", "c", "d"]])


@SOME_ARMS
def test_the_smallest_is_best_symmetrically(arms: list[str]) -> None:
    """Values -x under minimize are values x, bit for bit."""
    shown = []
    for sign in (1.0, -1.0):
        end = end_of(arms, -1.0, sign < 0.0, lambda x, sign=sign: sign * (2.0 * x - 1.0))  # type: ignore[misc]
        shown.append(
            (end.samples, end.best, end.pulls, end.progress.statistic, intervals(end), ruled_out(end))
        )
    assert shown[0] == shown[1]


@SOME_ARMS
def test_mirrored_values_decide_alike(arms: list[str]) -> None:
    """Values 1 - x under minimize, but for the rounding of means, which both count from 0."""
    plain, mirrored = end_of(arms, 0.0, False, lambda x: x), end_of(arms, 0.0, True, lambda x: 1.0 - x)
    assert (plain.samples, plain.best) == (mirrored.samples, mirrored.best)
    assert plain.pulls == mirrored.pulls
    assert plain.progress.statistic == pytest.approx(mirrored.progress.statistic, rel=1e-12)
    for arm, ends in intervals(plain).items():
        assert ends == pytest.approx(intervals(mirrored)[arm], rel=1e-12)


def test_rates_need_a_fraction_of_the_samples() -> None:
    """Two rates of 6 and 2 per cent: right, and in less than a fifth of the samples that `mixture` takes."""
    options = {"rewards": "bernoulli", "model": Bounded(0.0, 1.0), "runs": 100}
    tilt = truebest.simulate("uniform", [0.06, 0.02], 0.05, stopping="tilt", **options).cells[0]  # type: ignore[arg-type]
    mixture = truebest.simulate("uniform", [0.06, 0.02], 0.05, stopping="mixture", **options).cells[0]  # type: ignore[arg-type]
    assert tilt.mean_samples < 0.2 * mixture.mean_samples
    assert tilt.errors == mixture.errors == 0
