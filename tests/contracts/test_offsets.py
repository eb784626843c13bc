"""What is added to all values changes nothing, up to where doubles can no longer hold the noise.

Values that stay exact when the offset is added, and an offset that is a multiple of 1024 sigma: then asks,
statistic and decision are those without an offset, bit for bit, live and simulated.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import truebest
from support.older import without_alarm
from truebest._catalogue import DEFAULT_STRATEGY
from truebest.errors import ArmError, InvalidInputError
from truebest.experiment import events
from truebest.experiment.events import Entry
from truebest.experiment.experiment import Experiment
from truebest.experiment.store.memory import MemoryStore
from truebest.kernels.decision import advance
from truebest.kernels.exact import FARTHEST, round_offset, two_product
from truebest.kernels.layout import MEANS as MEANS_ROW
from truebest.kernels.layout import PULLS
from truebest.kernels.rules.room import ROOMS
from truebest.strategies import strategy_names

MEANS = (1.1, 0.5, 0.2)
SIGMAS = (1.0, 0.3, 1010.0, 7e-9)
RATIOS = (2.0**14, 1e9, 2.0**36, 3e12, FARTHEST)  # offset in units of sigma

factors = st.floats(-(2.0**400), 2.0**400).filter(lambda x: x == 0.0 or abs(x) > 2.0**-400)


@given(factors, factors)
def test_a_product_and_its_error_are_exact(a: float, b: float) -> None:
    """Compiled and plain."""
    for function in (two_product, getattr(two_product, "py_func", two_product)):
        product, error = function(a, b)
        assert product == a * b
        assert Fraction(product) + Fraction(error) == Fraction(a) * Fraction(b)


def offset_of(ratio: float, sigma: float) -> float:
    """About so many sigma; within the limit."""
    found = round_offset(ratio * sigma, sigma)
    return found if found + 10 * sigma <= FARTHEST * sigma else found - 1024.0 * sigma


def on_grid(values: Any, ratio: float, sigma: float) -> Any:
    """Multiples of what a double can resolve at that offset."""
    step = 2.0 * math.ulp(max(ratio, 2.0**30) * sigma)
    return np.round(np.asarray(values) / step) * step


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("ratio", RATIOS)
def test_the_kernel_has_the_same_bits_at_any_offset(ratio: float, sigma: float) -> None:
    """Means and statistic after 10,000 values of two equal arms."""
    offset = offset_of(ratio, sigma)
    arms = np.tile([0, 1], 5000)
    values = on_grid(sigma * np.random.default_rng(1).normal(size=arms.size), ratio, sigma)
    assert (np.array([Fraction(v) for v in values + offset]) - Fraction(offset) == values).all()
    rule, model = truebest.Mixture(), truebest.Gaussian(sigma)
    checks, ordered = np.ones(arms.size, np.bool_), np.zeros(arms.size, np.bool_)
    bodies = []
    for shift in (0.0, offset):
        evidence = model.blank(2)
        params = rule.parameters(model, 2, 0.05, offset=shift)
        advance(arms, values + shift, checks, ordered, params, evidence, np.zeros((ROOMS, evidence.shape[1])))
        bodies.append(evidence[[PULLS, MEANS_ROW]])
    np.testing.assert_array_equal(bodies[0], bodies[1])


def course(
    offsets: tuple[float, float, float], sigma: float, ratio: float, strategy: str, minimize: bool = False
) -> tuple[list[str], float | None, str | None, int]:
    """Asks, statistic, decision and samples of an experiment whose arms have offsets."""
    experiment = Experiment.create(
        "memory:", "x", list("abc"), sigma=sigma, strategy=strategy, seed=1, minimize=minimize
    )
    rng, asked = np.random.default_rng(2), []
    while pulls := experiment.ask():
        arm = "abc".index(pulls[0].arm)
        asked.append(pulls[0].arm)
        value = offsets[arm] + float(on_grid(sigma * rng.normal(MEANS[arm]), ratio, sigma))
        experiment.tell(pulls[0], -value if minimize else value)
    status = experiment.status()
    for arm, mean in enumerate(status.means.values()):
        assert mean is not None
        true = (MEANS[arm] * sigma + offsets[arm]) * (-1.0 if minimize else 1.0)
        assert abs(mean - true) < 3.0 * sigma + 1e-15 * abs(true)
    return asked, status.progress.statistic, status.best, status.samples


@pytest.mark.parametrize("strategy", strategy_names())
def test_a_live_experiment_is_the_same_at_any_offset(strategy: str) -> None:
    """Every strategy, at the limit, under both signs of the offset and of the goal."""
    for sigma in (1.0, 0.3):
        plain = course((0.0,) * 3, sigma, FARTHEST, strategy)
        offset = offset_of(FARTHEST, sigma)
        for shift, minimize in ((offset, False), (-offset, False), (offset, True)):
            assert course((shift,) * 3, sigma, FARTHEST, strategy, minimize) == plain


@pytest.mark.parametrize("ratio", RATIOS)
def test_a_live_experiment_is_the_same_up_to_the_limit(ratio: float) -> None:
    """The default strategy, at offsets up to the limit, at any scale."""
    for sigma in SIGMAS:
        plain = course((0.0,) * 3, sigma, ratio, DEFAULT_STRATEGY)
        assert course((offset_of(ratio, sigma),) * 3, sigma, ratio, DEFAULT_STRATEGY) == plain


def test_a_distant_arm_takes_no_bits_from_the_others() -> None:
    """The first value is that of an arm that is worse by 2^43 sigma: the other two decide as near 0."""
    offset = offset_of(FARTHEST, 1.0)
    far = course((0.0, offset, offset), 1.0, FARTHEST, "uniform")
    near = course((-1024.0, 0.0, 0.0), 1.0, FARTHEST, "uniform")
    assert far[1] == pytest.approx(near[1], rel=1e-9)
    assert far[2:] == near[2:]
    assert far[2] == "b"


@pytest.mark.parametrize("minimize", [False, True])
def test_bounds_far_away_cost_no_bits(minimize: bool) -> None:
    """The same statistic, bit for bit, between 2^41 and 2^41 + 1 as between 0 and 1."""
    statistics = []
    for start in (0.0, 2.0**41):
        experiment = Experiment.create(
            "memory:",
            "x",
            ["a", "b"],
            1e-9,
            bounds=(start, start + 1.0),
            strategy="uniform",
            minimize=minimize,
        )
        values = start + np.random.default_rng(4).integers(0, 257, 300) / 256
        experiment.tell([(pull, values[pull.id]) for pull in experiment.ask(299)])
        statistics.append(experiment.status().progress.statistic)
    assert statistics[0] == statistics[1]


# -- beyond the limit ---------------------------------------------------------------------------------


def test_values_that_cannot_hold_the_noise_are_refused() -> None:
    """1.8e18 with a sigma of 1010, with a sentence that says what to do; nothing is stored."""
    experiment = Experiment.create("memory:", "x", ["a", "b"], sigma=1010.0)
    pull = experiment.ask()[0]
    before = len(experiment.history())
    for value in (1.8e18, -1.8e18, math.nextafter(FARTHEST * 1010.0, math.inf)):
        with pytest.raises(InvalidInputError, match=r"within 2\*\*43 sigma .* subtract a constant"):
            experiment.tell(pull, value)
        with pytest.raises(InvalidInputError, match="subtract a constant"):
            experiment.observe("a", [0.5, value])
    assert len(experiment.history()) == before
    assert experiment.tell(pull, FARTHEST * 1010.0) == "told"
    with pytest.raises(ArmError, match=r"must lie within 2\*\*43 sigma"):
        truebest.identify({"a": lambda: 1.8e18, "b": lambda: 0.0}, sigma=1.0, max_samples=10)


def test_bounds_that_cannot_hold_the_noise_are_refused() -> None:
    """Between bounds a width of 1 apart the noise is at most 1/2; a value outside them only suspends."""
    for bounds in ((1e13, 1e13 + 1.0), (-1e13 - 1.0, -1e13)):
        with pytest.raises(InvalidInputError, match=r"bounds must lie within 2\*\*43 sigma"):
            Experiment.create("memory:", "x", ["a", "b"], bounds=bounds)
    experiment = Experiment.create("memory:", "x", ["a", "b"], bounds=(4e12, 4e12 + 1.0))
    with pytest.raises(truebest.SuspendedError):
        experiment.tell(experiment.ask()[0], 1e20)


def test_what_version_0_1_stored_beyond_the_limit_is_read() -> None:
    """Such values, and such bounds, are in its logs; they are counted as they are."""
    store = MemoryStore()
    experiment = Experiment.create(store, "x", ["a", "b"], sigma=1010.0, strategy="uniform")
    pulls = experiment.ask(4)
    with store.writing("x") as log:
        log.append([Entry(events.TOLD, p.id, "ab".index(p.arm), 1.8e18 + 512.0 * p.id) for p in pulls])
    status = Experiment.open(store, "x").status()
    assert status.means == {"a": 1.8e18 + 1024.0, "b": 1.8e18 + 1536.0}
    settings = {**experiment.settings.to_record(), "sigma": 32.0, "bounds": [1e17, 1e17 + 64.0]}
    assert store.create("y", Entry(events.CREATED, data=settings))
    assert Experiment.open(store, "y").status().samples == 0


# -- simulated ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", strategy_names())
@pytest.mark.parametrize("rewards", ["gaussian", "uniform"])
def test_a_simulation_is_the_same_at_any_offset(strategy: str, rewards: str) -> None:
    """The same samples and answers, at 2^43 sigma and far beyond: the rewards are drawn without it."""
    means = np.round(np.array(MEANS) * 1024.0) / 1024.0  # exact at 2^42
    options: dict[str, Any] = {"rewards": rewards, "max_samples": 5000, "runs": 20}
    plain = truebest.simulate(strategy, means, 0.1, **options).cells[0]
    for offset in (1024.0, -(2.0**30), 2.0**42):
        moved = truebest.simulate(strategy, means + offset, 0.1, **options).cells[0]
        np.testing.assert_array_equal(moved.samples, plain.samples)
        np.testing.assert_array_equal(moved.recommended, plain.recommended)
        np.testing.assert_array_equal(moved.mean_pulls, plain.mean_pulls)


def test_equal_arms_far_away_are_not_told_apart() -> None:
    """Means of 1.8e18 with noise 1000 and sigma 1010, as near 0: at most one of 40 runs declares a winner."""
    found = truebest.simulate(
        "tas-d",
        [1.8e18, 1.8e18],
        0.05,
        noise=1e3,
        sigma=1010.0,
        max_samples=2000,
        runs=40,
        stopping="mixture",
    ).cells[0]
    assert (found.recommended >= 0).sum() <= 1


def test_a_trace_reports_means_and_intervals_where_they_are() -> None:
    """With the offset, to the precision of doubles there."""
    plain, moved = (truebest.trace("ebs-c", [m + 2.0**30 * i for m in (1.0, 0.5)], 0.1) for i in (0, 1))
    np.testing.assert_array_equal(moved.arm, plain.arm)
    for name in ("means", "lower", "upper"):
        np.testing.assert_allclose(getattr(moved, name) - 2.0**30, getattr(plain, name), atol=1e-6)


# -- a strategy with a place among the values ------------------------------------------------------------


LOW, HIGH = 0.25, 0.8125  # means are 0.25, 0.5 and 0.75
FAR = 2.0**30


def clipped(low: float, high: float) -> truebest.EBS:
    return truebest.EBS("C", clip=(low, high))


def asked(strategy: truebest.EBS, start: float = 0.0, minimize: bool = False, **scale: Any) -> str:
    """The arms that are asked for values in [start, start + 1]; some come from a new process."""
    experiment = Experiment.create(
        "memory:",
        "x",
        list("abc"),
        1e-9,
        strategy=strategy,
        stopping="mixture",
        seed=1,
        minimize=minimize,
        **scale,
    )
    rng, arms = np.random.default_rng(3), ""
    for _ in range(400):
        pull = experiment.ask()[0]
        arms += pull.arm
        value = 0.25 * ("cba".index(pull.arm) + 1 + int(rng.integers(-1, 2)))
        experiment.tell(pull, start + 1.0 - value if minimize else start + value)
        if len(arms) % 150 == 0:
            experiment = Experiment.open(experiment._store, "x")
    return arms


def test_clipped_intervals_go_with_the_offset() -> None:
    """EBS(clip=...) simulated far from 0: the same arms, intervals cut at the same ends."""
    means = np.array([0.75, 0.5, 0.25])
    near, far = (
        truebest.trace(clipped(x + LOW, x + HIGH), x + means, 0.1, noise=0.5, max_samples=300)
        for x in (0.0, FAR)
    )
    np.testing.assert_array_equal(near.arm, far.arm)
    assert far.lower is not None
    assert far.upper is not None
    assert (far.lower.min(), far.upper.max()) == (FAR + LOW, FAR + HIGH)


def test_clipped_intervals_go_with_the_offset_of_a_live_experiment() -> None:
    """Far from 0, under bounds or sigma, and with the sign: the same asks as near 0; the clip matters."""
    plain = asked(clipped(LOW, HIGH), bounds=(0.0, 1.0))
    assert plain != asked(truebest.EBS("C"), bounds=(0.0, 1.0))
    assert plain == asked(clipped(LOW, HIGH), sigma=0.5)
    assert plain == asked(clipped(FAR + LOW, FAR + HIGH), FAR, bounds=(FAR, FAR + 1.0))
    assert plain == asked(clipped(FAR + LOW, FAR + HIGH), FAR, sigma=0.5)
    assert plain == asked(clipped(1.0 - HIGH, 1.0 - LOW), 0.0, minimize=True, bounds=(0.0, 1.0))
    mirrored = clipped(FAR + 1.0 - HIGH, FAR + 1.0 - LOW)
    assert plain == asked(mirrored, FAR, minimize=True, bounds=(FAR, FAR + 1.0))


# -- what overflows ----------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [1e308, 1e160, 1e-160, 5e-324])
def test_a_simulation_at_the_end_of_the_range_is_refused(noise: float) -> None:
    """Rewards would overflow, or have no bits; up to 1e149 it is the same simulation."""
    with pytest.raises(InvalidInputError, match="between 1e-150 and 1e150"):
        truebest.simulate("tas-d", [noise, 0.0], 0.1, noise=noise, runs=5)


def test_a_simulation_within_the_range_is_that_of_another_unit() -> None:
    """A power of two near 1e149 and its inverse."""
    plain = truebest.simulate("tas-d", [1.0, 0.0], 0.1, runs=50).cells[0]
    for unit in (2.0**495, 2.0**-495):
        scaled = truebest.simulate("tas-d", [unit, 0.0], 0.1, noise=unit, runs=50).cells[0]
        np.testing.assert_array_equal(scaled.samples, plain.samples)


def test_a_replay_is_the_state_that_moved_its_offset() -> None:
    """Results so far away that the offset moves: read at once or line by line, the state is the same."""
    from truebest.experiment.independent import IndependentState
    from truebest.experiment.snapshots import as_dict

    rng = np.random.default_rng(5)
    experiment = without_alarm(["a", "b", "c"], sigma=1.0, seed=1)
    for step in range(60):
        pulls = experiment.ask(3)
        experiment.tell([(p, float(rng.normal() + (2.0**21 if step < 20 else 2.0**30))) for p in pulls])
    known = experiment._journal.known
    assert isinstance(known, IndependentState)
    assert known.bodies.offset != 0.0
    again, at_once = IndependentState(experiment.settings), IndependentState(experiment.settings)
    at_once.replay(experiment._journal.lines())
    for entry in experiment._journal.lines():
        again.apply(entry)
    assert as_dict(again) == as_dict(at_once) == as_dict(known)
    assert again.bodies.params.tolist() == at_once.bodies.params.tolist() == known.bodies.params.tolist()
