"""A tolerance: the declared arm is within it of the best, in every rule, live and simulated."""

from __future__ import annotations

import numpy as np
import pytest

import truebest
from support.told import in_the_race
from truebest.experiment.experiment import Experiment
from truebest.experiment.store.memory import MemoryStore
from truebest.kernels.exploration import exploration_biased_weights
from truebest.theory.models import Bounded, Gaussian
from truebest.theory.stopping import rules

COINS = {"rewards": "bernoulli", "model": Bounded(0.0, 1.0)}


@pytest.mark.parametrize("name", [name for name, rule in rules().items() if rule.knows(Gaussian())])
@pytest.mark.parametrize("model", [Gaussian(0.5), Gaussian((0.5, 0.2, 0.3)), Bounded(0.0, 1.0)], ids=str)
def test_the_rule_decides_when_every_lower_end_is_above_minus_the_tolerance(
    name: str, model: truebest.Model
) -> None:
    """Exactly then, for every rule and model; a larger tolerance never decides later."""
    rng, decided = np.random.default_rng(1), 0
    for _ in range(60):
        pulls, means = rng.integers(5, 2000, 3), rng.uniform(0.3, 0.6, 3)
        before = False
        for tolerance in (0.0, 0.02, 0.1, 0.3):
            lower, _ = rules()[name].intervals(pulls, means, 0.1, model=model, tolerance=tolerance)
            seen = rules()[name].evaluate(pulls, means, 0.1, model=model, tolerance=tolerance)
            others = np.arange(3) != seen.leader
            if abs(lower[others].min() + tolerance) > 1e-6:
                assert seen.decided == (lower[others].min() > -tolerance)
            assert seen.decided or not before
            before = bool(seen.decided)
        decided += before
    assert decided > 5


def test_ebs_has_the_tolerance_in_its_weights() -> None:
    """Of a box that is a point they are the optimal ones of gaps that are larger by the tolerance."""
    rng = np.random.default_rng(4)
    for tolerance in (0.0, 0.05, 0.5):
        for size in (2, 3, 8):
            mu, w = rng.uniform(0.0, 1.0, size), np.empty(size)
            best, _ = exploration_biased_weights(mu, mu, False, 0.0, tolerance, 0.0, w)
            gaps = np.where(np.arange(size) == best, 0.0, mu.max() - mu + tolerance)
            np.testing.assert_allclose(w, truebest.optimal_weights(gaps=gaps).weights, rtol=1e-12)


@pytest.mark.parametrize("stopping", ["mixture", "tilt"])
@pytest.mark.parametrize("strategy", ["tas-d", "ebs-d", "racing", "uniform"])
def test_near_ties_end_and_are_right(strategy: str, stopping: str) -> None:
    """Two arms tie exactly, the third is 0.2 worse: every run ends, hardly ever with the third.

    False alarm: at most 5 of 100 runs may err with probability 0.05 each; more than 14 has probability 1e-4.
    """
    found = truebest.simulate(
        strategy,
        [0.7, 0.7, 0.5],
        0.05,
        runs=100,
        stopping=stopping,
        tolerance=0.1,
        max_samples=50_000,
        **COINS,  # type: ignore[arg-type]
    ).cells[0]
    assert found.errors <= 14
    assert found.censored == 0


def test_racing_drops_nobody_for_being_hardly_better() -> None:
    """Arms in a chain, 0.06 apart, tolerance 0.1: the last is 0.24 below the first, and is not declared."""
    means = [0.8, 0.74, 0.68, 0.62, 0.56]
    found = truebest.simulate(
        "racing",
        means,
        0.05,
        runs=100,
        stopping="tilt",
        tolerance=0.1,
        seed=3,
        **COINS,  # type: ignore[arg-type]
    ).cells[0]
    assert found.errors <= 14
    exact = truebest.simulate("racing", means, 0.05, runs=100, stopping="tilt", seed=3, **COINS).cells[0]  # type: ignore[arg-type]
    assert found.mean_samples < 0.8 * exact.mean_samples


@pytest.mark.parametrize("strategy", ["tas-d", "racing"])
@pytest.mark.parametrize("stopping", ["mixture", "tilt"])
def test_a_live_experiment_is_the_simulated_run(strategy: str, stopping: str) -> None:
    """On the same values: the same asks, the same end; resumed with its own tolerance only."""
    store = MemoryStore()
    experiment = Experiment.create(
        store,
        "x",
        ["a", "b", "c"],
        0.1,
        bounds=(0, 1),
        strategy=strategy,
        stopping=stopping,
        tolerance=0.15,
        seed=1,
    )
    rng = np.random.default_rng(2)
    while pulls := experiment.ask():
        experiment.tell(pulls[0], float(rng.random() < {"a": 0.6, "b": 0.55, "c": 0.2}[pulls[0].arm]))
    status = experiment.status()
    assert status.best in ("a", "b")
    assert str(status).startswith(f"{status.best} is within 0.15 of the best; wrong with probability at most")
    assert status.shortfall is not None
    assert 0.0 <= status.shortfall <= 0.15
    assert in_the_race(status) is not None
    assert status.best in in_the_race(status)
    assert experiment.verify().sound
    assert Experiment.create(store, "x", ["a", "b", "c"]).settings.tolerance == 0.15
    with pytest.raises(truebest.InvalidInputError, match=r"exists with tolerance 0.15, got 0.1"):
        Experiment.create(store, "x", ["a", "b", "c"], tolerance=0.1)


def test_bad_input() -> None:
    """Negative, infinite, no number."""
    for wrong in (-0.1, float("inf"), float("nan"), "a"):
        with pytest.raises(truebest.InvalidInputError, match="tolerance must be"):
            truebest.simulate("uniform", [1.0, 0.0], tolerance=wrong)  # type: ignore[arg-type]
