"""A model with one scale per arm: its costs, its optimal weights, and that equal scales change no bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import truebest
from support.told import intervals
from support.twin import Rewards, drive
from truebest.experiment.experiment import Experiment
from truebest.experiment.store.memory import MemoryStore
from truebest.experiment.verification import verify
from truebest.kernels import families
from truebest.kernels._types import Array
from truebest.kernels.layout import MEANS, OWN, PULLS, TOLERANCE, VARIANCES
from truebest.theory.models import Gaussian

RULES = [truebest.Practical(), truebest.GK16(), truebest.KaufmannKoolen(), truebest.Mixture(c=7.0)]


def made(scales: tuple[float, ...], means: Array, pulls: Array) -> tuple[Array, Array, float]:
    """Parameters and a state in the kernels' units, and the unit."""
    model = Gaussian(scales)
    params, state = truebest.Practical().parameters(model, len(scales), 0.1), model.blank(len(scales))
    state[PULLS], state[MEANS] = pulls, means / model.unit
    return params, state, model.unit


def test_the_cost_is_the_least_over_the_common_mean() -> None:
    """½ N_b (μ_b - x)²/σ_b² + ½ N_a (μ_a - x)²/σ_a², minimised over x by a search."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        scales = tuple(rng.uniform(0.2, 3.0, 2))
        means, pulls = np.sort(rng.normal(size=2))[::-1].copy(), rng.uniform(1.0, 50.0, 2)
        params, state, _ = made(scales, means, pulls)
        precision = pulls / np.array(scales) ** 2

        def at(x: float, means: Array = means, precision: Array = precision) -> float:
            return float((0.5 * precision * (means - x) ** 2).sum())

        found = minimize_scalar(at, bounds=(means[1], means[0]), method="bounded", options={"xatol": 1e-12})
        n_b, n_a = pulls
        cost = families.cost(params, state, 0, 1, n_b, n_a)
        assert cost == pytest.approx(found.fun, rel=1e-9)
        assert not families.exceeds(params, state, 0, 1, n_b, n_a, cost * (1 + 1e-9))
        assert families.exceeds(params, state, 0, 1, n_b, n_a, cost * (1 - 1e-9))


def least(v: Array, means: Array, scales: Array) -> float:
    """The least cost of arm 0 against another, for weights v."""
    return float(
        min(
            0.5 * (means[0] - means[a]) ** 2 / (scales[0] ** 2 / v[0] + scales[a] ** 2 / v[a])
            for a in range(1, v.size)
        )
    )


@pytest.mark.parametrize("num_arms", [2, 3, 5, 30])
def test_no_other_weights_are_better(num_arms: int) -> None:
    """All costs are equal, and small changes of the weights in any direction lower the least of them."""
    rng = np.random.default_rng(num_arms)
    for _ in range(40):
        scales = np.exp(rng.normal(size=num_arms))
        means = -np.sort(rng.exponential(size=num_arms))
        means[0] = 0.01
        params, state, _ = made(tuple(scales), means, np.ones(num_arms))
        w = np.zeros(num_arms)
        warm = families.weights(params, state, 0, 0.0, w)
        assert w.sum() == pytest.approx(1.0, abs=1e-12)
        costs = [families.cost(params, state, 0, a, w[0], w[a]) for a in range(1, num_arms)]
        np.testing.assert_allclose(costs, costs[0], rtol=1e-9)
        best = least(w, means, scales)
        for _ in range(20):
            other = w * np.exp(0.01 * rng.normal(size=num_arms))
            assert least(other / other.sum(), means, scales) <= best * (1 + 1e-12)
        again = np.zeros(num_arms)
        families.weights(params, state, 0, warm * rng.uniform(0.5, 2.0), again)
        np.testing.assert_allclose(again, w, rtol=1e-9)
    swapped = w[::-1].copy()  # the negative control: a wrong order is worse
    assert num_arms == 2 or least(swapped, means, scales) < best


def test_equal_variances_have_the_weights_of_the_paper() -> None:
    """The general solver on equal variances against the one for equal variances."""
    rng = np.random.default_rng(7)
    for num_arms in (2, 4, 9):
        means = np.sort(rng.normal(size=num_arms))[::-1].copy()
        params, state, _ = made((1.0, *[2.0] * (num_arms - 1)), means, np.ones(num_arms))
        state[VARIANCES] = 1.0
        w = np.zeros(num_arms)
        families.weights(params, state, 0, 0.0, w)
        np.testing.assert_allclose(w, truebest.optimal_weights(means).weights, rtol=1e-12)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_intervals_and_decision_agree(rule: truebest.StoppingRule) -> None:
    """The rule decides exactly when every lower end is above 0; equal scales have the bits of one scale."""
    rng, decided = np.random.default_rng(3), 0
    for _ in range(300):
        model = Gaussian(tuple(rng.uniform(0.1, 1.0, 4)))
        pulls, means = rng.integers(1, 3000, 4), 0.3 * rng.normal(size=4)
        seen = rule.evaluate(pulls, means, 0.1, model=model)
        lower, upper = rule.intervals(pulls, means, 0.1, model=model)
        others = np.arange(4) != seen.leader
        assert seen.decided == (lower[others] > 0).all()
        assert (lower <= upper).all()
        decided += int(seen.decided)
        same, one = Gaussian((0.7,) * 4), rule.evaluate(pulls, means, 0.1, 0.7)
        assert rule.evaluate(pulls, means, 0.1, model=same) == one
    assert 20 < decided < 280


def test_a_tolerance_is_so_much_more_of_a_gap() -> None:
    """In the cost and in the weights, for equal and for unequal variances."""
    for scales in ((1.0, 1.0, 1.0), (0.5, 1.0, 2.0)):
        means, pulls = np.array([0.6, 0.5, 0.1]), np.array([10.0, 20.0, 30.0])
        params, state, unit = made(scales, means, pulls)
        params[TOLERANCE] = 0.2 / unit
        further, plain, _ = made(scales, means + np.array([0.2, 0.0, 0.0]), pulls)
        for a in (1, 2):
            assert families.cost(params, state, 0, a, 3.0, 4.0) == pytest.approx(
                families.cost(further, plain, 0, a, 3.0, 4.0), rel=1e-12
            )
        one, two = np.zeros(3), np.zeros(3)
        families.weights(params, state, 0, 0.0, one)
        families.weights(further, plain, 0, 0.0, two)
        np.testing.assert_allclose(one, two, rtol=1e-12)
    assert params.size == OWN


def test_track_and_stop_samples_the_noisy_arm_more() -> None:
    """And needs fewer samples than if it took the largest scale for all; both answer right."""
    options = {"runs": 200, "noise": (0.2, 1.0, 0.2), "stopping": "mixture"}
    one = truebest.simulate("tas-d", [0.5, 0.0, 0.0], 0.1, model=Gaussian((0.2, 1.0, 0.2)), **options)  # type: ignore[arg-type]
    all_ = truebest.simulate("tas-d", [0.5, 0.0, 0.0], 0.1, sigma=1.0, **options)  # type: ignore[arg-type]
    assert one.cells[0].mean_samples < 0.6 * all_.cells[0].mean_samples
    assert one.cells[0].mean_pulls[1] > 2 * one.cells[0].mean_pulls[2]
    assert one.cells[0].errors == all_.cells[0].errors == 0


@pytest.mark.parametrize("strategy", ["tas-d", "lucb++", "racing", "ebs-c"])
@pytest.mark.parametrize("stopping", ["mixture", "kaufmann-koolen"])
def test_a_live_experiment_is_the_simulated_run(strategy: str, stopping: str) -> None:
    """On the same rewards: the same arms, the same statistic to the last bit, the same end; resumed, too."""
    means, scales, seed = [1.1, 0.5, 0.2], (0.5, 1.0, 2.0), 3
    model, store = Gaussian(scales), MemoryStore()
    want = truebest.trace(
        strategy, means, 0.1, seed=seed, noise=scales, model=model, stopping=stopping, max_samples=900
    )
    experiment = Experiment.create(
        store, "x", ["a", "b", "c"], 0.1, model=model, seed=seed, strategy=strategy, stopping=stopping
    )
    asked = drive(experiment, Rewards(means, seed, noise=scales), most=900, reopen=50)
    assert asked == [0, 1, 2, *want.arm[:-1].tolist()]
    status = experiment.status()
    assert (status.progress.statistic, status.progress.threshold) == (want.statistic[-1], want.threshold[-1])
    assert status.best == (None if want.recommended is None else "abc"[want.recommended])
    assert "sub-Gaussian scales 0.5, 1, 2" in status.promise.words
    pulled, mu = list(status.pulls.values()), list(status.means.values())
    rule = truebest.stopping_rule(stopping)
    lower, upper = rule.intervals(pulled, np.array(mu, float), 0.1, model=model)
    for name, (low, high) in intervals(status).items():
        a = "abc".index(name)
        np.testing.assert_allclose([low, high], [lower[a], upper[a]], rtol=1e-9)
    assert verify(store, "x").sound
    with pytest.raises(truebest.InvalidInputError, match="exists with model Gaussian"):
        Experiment.create(store, "x", ["a", "b", "c"], model=Gaussian((1.0, 1.0, 2.0)))
    with pytest.raises(truebest.InvalidInputError, match="got 2 for 3 arms"):
        Experiment.create(store, "y", ["a", "b", "c"], model=Gaussian((1.0, 2.0)))


def test_models_are_checked() -> None:
    """What was given, what is allowed, what to do."""
    for make, words in (
        (lambda: Gaussian(0.0), "sigma must be positive and finite, got 0.0"),
        (lambda: Gaussian((1.0, -1.0)), "sigma must be positive"),
        (lambda: Gaussian((1.0,)), "one number or one per arm, got"),
        (lambda: Gaussian("ab"), "sigma must be"),  # type: ignore[arg-type]
        (lambda: truebest.Bounded(1.0, 0.0), r"with lo < hi, both finite, got \(1.0, 0.0\)"),
        (lambda: truebest.Bounded("0", 1.0), "bounds must be"),  # type: ignore[arg-type]
        (lambda: truebest.simulate("uniform", [1, 0, 0], model=Gaussian((1.0, 2.0))), "got 2 for 3 arms"),
        (lambda: truebest.simulate("uniform", [1, 0], sigma=1.0, model=Gaussian()), "either sigma or model"),
        (lambda: truebest.simulate("uniform", [1, 0], model=2.0), "must be a model of values, got 2.0"),  # type: ignore[arg-type]
    ):
        with pytest.raises(truebest.InvalidInputError, match=words):
            make()
    assert Gaussian([2.0, 2.0]) == Gaussian(2.0)  # type: ignore[arg-type]
    assert Gaussian(np.array([1.0, 2.0])).sigma == (1.0, 2.0)  # type: ignore[arg-type]
    assert math.isclose(truebest.Bounded(0, 3).unit, 1.5)


def test_scales_that_differ_too_much_are_refused() -> None:
    """Ties and rounding are in units of the largest scale, and must not matter to the smallest."""
    with pytest.raises(truebest.InvalidInputError, match=r"factor of 10000 at most, got 1e-10 to 1; take"):
        Gaussian((1.0, 1e-10, 1e-10))
    experiment = Experiment.create("memory:", "x", ["a", "b"], model=Gaussian((1.0, 1e-3)))
    pull = experiment.ask()[0]
    with pytest.raises(
        truebest.InvalidInputError, match=r"within 2\*\*43 sigma \(8.8e\+09\) of 0, got 1e\+10"
    ):
        experiment.tell(pull, 1e10)
    means, scales = [-10.0, 0.0, 2e-5], (1.0, 1e-4, 1e-4)
    found = truebest.simulate(
        "uniform", means, 0.05, runs=50, noise=scales, model=Gaussian(scales), stopping="mixture"
    )
    assert found.cells[0].errors <= 3


def test_a_scale_per_arm_is_said_by_name() -> None:
    """In a live experiment arm -> sigma, in a simulation a list; resumed with the same, in any order."""
    store = MemoryStore()
    experiment = Experiment.create(store, "x", ["old", "new"], sigma={"new": 2.5, "old": 1.0})
    assert experiment.settings.model == Gaussian((1.0, 2.5))
    assert (
        Experiment.create(store, "x", ["old", "new"], sigma={"old": 1, "new": 2.5}).settings.model.unit == 2.5
    )
    for given in ({"old": 1.0}, {"old": 1.0, "new": 2.0, "other": 3.0}, {}):
        with pytest.raises(
            truebest.InvalidInputError, match=r"a number for each arm, got .* for the arms old, new"
        ):
            Experiment.create("memory:", "y", ["old", "new"], sigma=given)
    scales = [1.0, 0.5]
    one = truebest.simulate("tas-d", [1.0, 0.0], 0.1, runs=20, noise=scales, sigma=scales)
    two = truebest.simulate("tas-d", [1.0, 0.0], 0.1, runs=20, noise=scales, model=Gaussian((1.0, 0.5)))
    np.testing.assert_array_equal(one.cells[0].samples, two.cells[0].samples)
