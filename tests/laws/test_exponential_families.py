"""Divergences, costs, intervals and optimal weights of exponential families, to twelve digits and by laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import truebest
from support import families as exact
from support.bandits import Array
from truebest.kernels import divergences, families, rules
from truebest.kernels.layout import MEANS, PULLS
from truebest.kernels.tracking import TIE

every_family = pytest.mark.parametrize("family", list(exact.MODELS))
KINDS = ("apart", "near ties", "extreme", "at the ends")


def off(found: float, want: Any) -> float:
    """The relative error."""
    return float(abs(found / want - 1)) if want else abs(found)


def random_means(rng: np.random.Generator, family: str, kind: str, K: int) -> Array:
    """Means apart, within 1e-9 of each other, of many orders of magnitude, or at the ends of the domain."""
    if kind == "near ties":
        return np.asarray(rng.uniform(0.1, 0.9) + 1e-9 * rng.uniform(0.0, 1.0, K))
    if kind == "extreme":
        powers = rng.uniform(-12.0, -0.1, K) if family == "bernoulli" else rng.uniform(-8.0, 8.0, K)
        return np.asarray(10.0**powers)
    mu = rng.uniform(0.05, 0.95, K) * (1.0 if family == "bernoulli" else 10.0)
    if kind == "at the ends":
        if family != "exponential":
            mu[0] = 0.0
        if family == "bernoulli":
            mu[1] = 1.0
    return np.asarray(mu)


def posed(family: str, means: Any, pulls: Any = 1.0, tolerance: float = 0.0, sign: float = 1.0) -> Any:
    """Parameters and state of the practical rule; where the smallest is the best, means are negated."""
    model, rule = exact.MODELS[family].placed(0.0, sign), truebest.Practical()
    state = rule.blank(model, len(means))
    state[PULLS], state[MEANS] = pulls, sign * np.asarray(means)
    return rule.parameters(model, len(means), 0.05, tolerance), state


@every_family
def test_divergences_are_exact(family: str) -> None:
    """To 1e-13, for means that agree in nine digits, too."""
    rng = np.random.default_rng(1)
    code = exact.MODELS[family].code
    for kind in KINDS:
        for _ in range(60):
            mu, x = random_means(rng, family, kind, 3)[[0, 2]]
            found = divergences.divergence(code, mu, x, x - mu)
            assert off(found, exact.divergence(family, mu, x)) < 1e-13 or kind == "extreme"
            if kind == "extreme":  # the distance is rounded, which matters to the last digits alone
                assert off(found, exact.divergence(family, mu, x)) < 1e-12


@every_family
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_costs_are_exact(family: str, sign: float) -> None:
    """The weighted mean is the most confusing one; counts may differ by a factor of a million."""
    rng = np.random.default_rng(2)
    for kind in KINDS:
        for _ in range(25):
            mu = random_means(rng, family, kind, 2)
            v_b, v_a = np.floor(10.0 ** rng.uniform(0.0, 6.0, 2))
            b = int((sign * mu).argmax())
            params, state = posed(family, mu, sign=sign)
            found = families.cost(params, state, b, 1 - b, v_b, v_a)
            assert off(found, exact.cost(family, mu[b], mu[1 - b], v_b, v_a)) < 1e-12
            assert families.cost(params, state, 1 - b, b, v_b, v_a) == 0.0
            assert families.exceeds(params, state, b, 1 - b, v_b, v_a, 0.999 * found)
            assert not families.exceeds(params, state, b, 1 - b, v_b, v_a, found)


@every_family
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_costs_with_a_tolerance_are_exact(family: str, sign: float) -> None:
    """Also a negative one, where exponential values may have two minima; to 1e-9 if it dwarfs the means."""
    rng = np.random.default_rng(3)
    for kind in ("apart", "extreme", "at the ends"):
        for _ in range(4):
            mu = random_means(rng, family, kind, 2)
            b = int((sign * mu).argmax())
            gap = abs(mu[b] - mu[1 - b])
            v_b, v_a = 10.0 ** rng.uniform(0.0, 3.0, 2)
            largest = 1.0 - gap if family == "bernoulli" else 2.0 * gap
            for e in (-0.6 * gap, 0.5 * largest):
                params, state = posed(family, mu, sign=sign)
                found = families.cost_beyond(params, state, b, 1 - b, v_b, v_a, e)
                want = exact.cost(family, mu[b], mu[1 - b], v_b, v_a, sign * e)
                assert off(found, want) < (1e-9 if kind == "extreme" else 1e-12), (kind, mu, e)


def test_of_two_minima_the_lower_one_counts() -> None:
    """Exponential means of 100 and 1, tested against a difference of 50: either may be the wrong one."""
    for v_b in np.linspace(8.0, 13.0, 21):
        params, state = posed("exponential", [100.0, 1.0])
        found = families.cost_beyond(params, state, 0, 1, v_b, 1.0, -50.0)
        assert off(found, exact.cost("exponential", 100, 1, v_b, 1, -50)) < 1e-12


def test_no_cost_is_infinite_but_of_the_impossible() -> None:
    """A probability cannot be 1.2 below another; arms that are all 0 or all 1 have finite costs."""
    params, state = posed("bernoulli", [0.5, 0.5])
    assert families.cost_beyond(params, state, 0, 1, 3.0, 3.0, 1.2) == np.inf
    for mean in (0.0, 1.0):
        params, state = posed("bernoulli", [mean, mean], tolerance=0.1)
        assert families.cost(params, state, 0, 1, 5.0, 7.0) == pytest.approx(
            -(7.0 if mean == 0.0 else 5.0) * np.log(0.9), rel=1e-13
        )


@every_family
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_intervals_end_where_the_cost_is_the_threshold(family: str, sign: float) -> None:
    """Both ends; and the lower one is above 0 exactly when the rule would stop."""
    rng = np.random.default_rng(4)
    for _ in range(30):
        mu, pulls = random_means(rng, family, "apart", 2), np.floor(10.0 ** rng.uniform(0.5, 2.5, 2))
        params, state = posed(family, mu, pulls, sign=sign)
        low, high = rules.pair_interval(params, state, 0, 1, 3.0)
        difference = state[MEANS, 0] - state[MEANS, 1]
        assert low < difference < high
        assert (low > 0.0) == (families.cost(params, state, 0, 1, *pulls) > 3.0)
        assert rules.pair_interval(params, state, 1, 0, 3.0) == (-high, -low)
        if family != "bernoulli" or abs(low) < 1.0:
            cost = families.cost_beyond(params, state, 0, 1, pulls[0], pulls[1], -low)
            assert cost == pytest.approx(3.0, rel=1e-9)


@every_family
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("sign", "arms"), [(1.0, [2, 3]), (-1.0, [2, 4]), pytest.param(1.0, [5, 50], marks=pytest.mark.slow)]
)
def test_optimal_weights_and_time_are_exact(family: str, kind: str, sign: float, arms: list[int]) -> None:
    """T and w to 1e-12, from 2 to 50 arms; where the smallest is the best as well."""
    rng = np.random.default_rng(5)
    drawn = {K: random_means(rng, family, kind, K) for K in ((2, 3, 5, 50) if sign > 0.0 else (2, 4))}
    for K in arms:
        mu = drawn[K]
        best = int((sign * mu).argmax())
        time, weights = exact.optimal(family, mu.tolist(), best)
        params, state = posed(family, mu, sign=sign)
        w = np.empty(K)
        rate = truebest_rate(params, state, best, w)
        assert off(1.0 / rate, time) < 1e-12
        assert max(off(one, want) for one, want in zip(w, weights, strict=True)) < 1e-12
        if sign > 0.0:
            found = truebest.optimal_weights(mu, model=exact.MODELS[family])
            assert off(float(found.time), time) < 1e-12
            np.testing.assert_array_equal(found.weights, w)


def test_steps_that_have_arrived_are_not_thrown_back() -> None:
    """Σ d(μ_b, m)/d(μ_a, m) is 1 to 1e-12 where Newton's step is 0 at an end of a bracket 1e-8 wide."""
    mu = random_means(np.random.default_rng(55), "bernoulli", "apart", 50)
    best, w = int(mu.argmax()), truebest.optimal_weights(mu, model=truebest.Bernoulli()).weights
    total = 0.0
    for a in set(range(50)) - {best}:
        m = (w[best] * mu[best] + w[a] * mu[a]) / (w[best] + w[a])
        total += exact.divergence("bernoulli", mu[best], m) / exact.divergence("bernoulli", mu[a], m)
    assert abs(total - 1.0) < 1e-12


def truebest_rate(params: Array, state: Array, best: int, w: Array) -> float:
    """1/T from the kernel, ties exact."""
    from truebest.kernels.family_weights import solve_family

    rate, _ = solve_family(params, state[MEANS], best, 0.0, 0.0, w)
    return rate


@every_family
def test_a_warm_start_changes_nothing(family: str) -> None:
    """Whatever the guess, right, far too small or far too large."""
    rng = np.random.default_rng(6)
    for K in (2, 6, 20):
        mu = random_means(rng, family, "apart", K)
        params, state = posed(family, mu)
        best, cold, w = int(mu.argmax()), np.empty(K), np.empty(K)
        root = families.weights(params, state, best, 0.0, cold)
        for warm in (root, 1.01 * root, 1e-3 * root, 1e3 * root):
            assert families.weights(params, state, best, warm, w) == pytest.approx(root, rel=1e-12)
            np.testing.assert_allclose(w, cold, rtol=1e-12)


@every_family
@pytest.mark.parametrize("tolerance", [0.0, 0.07])
def test_weights_equalise_the_costs_and_none_are_better(family: str, tolerance: float) -> None:
    """All pairs cost 1/T; moving weight between two arms lowers the least cost. With a tolerance, too."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        mu = random_means(rng, family, "apart", 4)
        params, state = posed(family, mu, tolerance=tolerance)
        b, w = int(mu.argmax()), np.empty(4)
        families.weights(params, state, b, 0.0, w)

        def least(v: Array, b: int = b, params: Array = params, state: Array = state) -> float:
            return min(families.cost(params, state, b, a, v[b], v[a]) for a in range(4) if a != b)

        others = [families.cost(params, state, b, a, w[b], w[a]) for a in range(4) if a != b]
        np.testing.assert_allclose(others, least(w), rtol=1e-11)
        assert w.sum() == pytest.approx(1.0, rel=1e-14)
        for one in range(4):
            for other in range(4):
                if one != other:
                    moved = w.copy()
                    moved[one], moved[other] = w[one] - 0.01 * w.min(), w[other] + 0.01 * w.min()
                    assert least(moved) < least(w)


@every_family
def test_near_ties_are_those_of_normal_values(family: str) -> None:
    """For small gaps d(μ, x) is (x-μ)²/2V: the weights of normal values, and T = V times theirs."""
    mu = np.array([0.3, 0.3 - 1e-7, 0.3 - 2e-7, 0.3 - 5e-7])
    variance = {"bernoulli": 0.21, "poisson": 0.3, "exponential": 0.09}[family]
    found = truebest.optimal_weights(mu, model=exact.MODELS[family])
    normal = truebest.optimal_weights(mu)
    np.testing.assert_allclose(found.weights, normal.weights, rtol=1e-5)
    assert found.time == pytest.approx(variance * normal.time, rel=1e-5)
    assert found.ratio == pytest.approx(0.5 * found.time * found.weights[0], rel=1e-12)


def test_laws_of_scale_and_symmetry() -> None:
    """Exponential values have no unit; Poisson counts over k hours need T/k; failures are successes."""
    mu = np.array([0.7, 0.4, 0.2])
    one, two = (truebest.optimal_weights(c * mu, model=truebest.Exponential()) for c in (1.0, 1e6))
    np.testing.assert_allclose(one.weights, two.weights, rtol=1e-12)
    assert one.time == pytest.approx(two.time, rel=1e-12)
    one, two = (truebest.optimal_weights(c * mu, model=truebest.Poisson()) for c in (1.0, 8.0))
    np.testing.assert_allclose(one.weights, two.weights, rtol=1e-12)
    assert one.time == pytest.approx(8.0 * two.time, rel=1e-12)
    for sign, means in ((1.0, mu), (-1.0, 1.0 - mu)):
        params, state = posed("bernoulli", means, sign=sign)
        w = np.empty(3)
        truebest_rate(params, state, 0, w)
        np.testing.assert_allclose(
            w, truebest.optimal_weights(mu, model=truebest.Bernoulli()).weights, rtol=1e-12
        )


@every_family
def test_ties_share_the_weight(family: str) -> None:
    """Exactly in theory, within TIE in a strategy; T is then infinite."""
    found = truebest.optimal_weights([[0.5, 0.5, 0.2], [0.5, 0.4, 0.2]], model=exact.MODELS[family])
    np.testing.assert_array_equal(found.weights[0], [0.5, 0.5, 0.0])
    assert found.time[0] == np.inf
    assert np.isfinite(found.time[1])
    params, state = posed(family, [0.5, 0.5 - 0.5 * TIE, 0.2])
    w = np.empty(3)
    families.weights(params, state, 0, 0.0, w)
    np.testing.assert_array_equal(w, [0.5, 0.5, 0.0])


@pytest.mark.parametrize("means", [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [1.0, 0.5, 0.0]])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("tolerance", [0.0, 0.1, 0.95, 1.5])
def test_first_values_give_weights(means: list[float], sign: float, tolerance: float) -> None:
    """All successes or all failures, with any tolerance: the weights are finite and sum to one."""
    params, state = posed("bernoulli", means, tolerance=tolerance, sign=sign)
    w = np.empty(3)
    families.weights(params, state, int((sign * np.array(means)).argmax()), 0.0, w)
    assert (w >= 0.0).all()
    assert w.sum() == pytest.approx(1.0, rel=1e-12)


def test_statistics_take_a_model() -> None:
    """glr, evidence_rate and lower_bound: T is 1/rate at w, and Z is t times the rate at N/t."""
    mu, pulls = np.array([5.0, 3.0, 0.2]), np.array([10, 20, 30])
    for model in (*exact.MODELS.values(), truebest.Gaussian((1.0, 2.0, 0.5)), truebest.Bounded(0.0, 8.0)):
        means = mu / 10.0 if isinstance(model, truebest.Bernoulli) else mu
        found = truebest.optimal_weights(means, model=model)
        assert truebest.evidence_rate(means, found.weights, model=model) * found.time == pytest.approx(1.0)
        z = truebest.glr(pulls, means, model=model).statistic
        assert z == pytest.approx(60.0 * truebest.evidence_rate(means, pulls / 60.0, model=model), rel=1e-12)
        bound = truebest.lower_bound(means, 0.05, model=model)
        assert bound == pytest.approx(found.time * 0.9 * np.log(19.0), rel=1e-12)
    bounded = truebest.characteristic_time(mu, model=truebest.Bounded(0.0, 8.0))
    assert bounded == pytest.approx(16.0 * truebest.characteristic_time(mu), rel=1e-14)


def test_means_outside_the_domain_are_refused() -> None:
    """With the value, the domain, and what to do."""
    for model, mean, allowed in (
        (truebest.Bernoulli(), 1.2, "between 0 and 1"),
        (truebest.Poisson(), -1.0, "at least 0"),
        (truebest.Exponential(), 0.0, "above 0"),
    ):
        match = f"means of {type(model).__name__} values must be {allowed}, got {mean:g}; give such means"
        for call in (
            lambda model=model, mean=mean: truebest.optimal_weights([0.5, mean], model=model),
            lambda model=model, mean=mean: truebest.glr([1, 1], [0.5, mean], model=model),
            lambda model=model, mean=mean: truebest.Practical().evaluate(
                [1, 1], [0.5, mean], 0.1, model=model
            ),
        ):
            with pytest.raises(truebest.InvalidInputError, match=match):
                call()
    with pytest.raises(truebest.InvalidInputError, match=r"Poisson\(\) needs means, got gaps"):
        truebest.optimal_weights(gaps=[0.0, 1.0], model=truebest.Poisson())
    with pytest.raises(
        truebest.InvalidInputError, match="method 'paper' is for Gaussian values of one scale"
    ):
        truebest.optimal_weights([1.0, 2.0], model=truebest.Poisson(), method="paper")
