"""The law of the best arm in a posterior draw in which a given arm is not the best."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import chi2

import truebest
from truebest.kernels.layout import MEANS, OUT, PULLS, ROWS, VARIANCES
from truebest.kernels.posterior import best_of_others
from truebest.kernels.random import open_stream
from truebest.simulation.job import Job
from truebest.simulation.problem import make_problem
from truebest.theory.models import Bernoulli, Gaussian, Model, Poisson

DRAWS = 20_000
ALARM = 1e-6  # that chi-square refuses the right law, in each of the cases below
Counts = npt.NDArray[np.int64]
CASES: dict[str, tuple[Model, tuple[float, ...], tuple[int, ...], int]] = {
    "near": (Gaussian(), (0.3, 0.2, 0.25, -0.1), (10, 12, 9, 11), 0),
    "others ahead": (Gaussian(), (0.3, 0.5, 0.45, -0.1), (10, 12, 9, 11), 0),
    "many": (Gaussian(), (0.5, *np.linspace(0.0, 0.4, 9).tolist()), (20, *[12] * 9), 0),
    "unequal": (Gaussian((1.0, 2.0, 0.5)), (0.6, 0.0, 0.2), (15, 9, 30), 0),
    "successes": (Bernoulli(), (0.75, 0.5, 0.25, 0.6), (16, 12, 8, 10), 0),
    "all or none": (Bernoulli(), (1.0, 0.0, 0.5), (3, 2, 4), 0),
    "counts": (Poisson(), (3.0, 2.0, 2.5), (12, 9, 10), 0),
    "not the leader": (Bernoulli(), (0.75, 0.5, 0.25), (9, 8, 8), 2),
}


def params_of(model: Model, K: int) -> npt.NDArray[np.float64]:
    """As a simulation has them."""
    rewards = "gaussian" if isinstance(model, Gaussian) else "bernoulli"
    means = np.linspace(0.2, 0.8, K)
    problem = make_problem(means, [0.1], rewards, 1.0, None, model, "kaufmann-koolen", 1000)
    return Job(truebest.TopTwo("thompson", "resampled"), problem, problem.deltas, 0).params


def state_of(model: Model, means: tuple[float, ...], pulls: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Arms as they stand; means in units."""
    state = np.zeros((ROWS, len(means)))
    state[PULLS], state[MEANS] = pulls, np.array(means) / model.unit
    state[VARIANCES] = model.variances(len(means))
    return state


def ours(case: str, seed: int = 1, out: int = -1) -> Counts:
    """How often each arm is drawn."""
    model, means, pulls, b = CASES[case]
    state, K = state_of(model, means, pulls), len(means)
    if out >= 0:
        state[OUT, out], state[MEANS, out] = 1.0, -math.inf
    params, room, stream = params_of(model, K), np.zeros(K), np.zeros(2, np.uint64)
    with np.errstate(over="ignore"):
        open_stream(np.uint64(seed), np.uint64(0), np.uint64(0), stream)
        found = [best_of_others(params, state, b, room, stream) for _ in range(DRAWS)]
    assert min(found) >= 0
    return np.bincount(found, minlength=K)


def literal(case: str, out: int = -1) -> Counts:
    """Draws until another arm is best, with NumPy's random numbers: those of a million in which one is."""
    model, means, pulls, b = CASES[case]
    rng, n, mu = np.random.default_rng(2), np.array(pulls), np.array(means)
    if isinstance(model, Bernoulli):
        theta = rng.beta(1 + n * mu, 1 + n * (1 - mu), (10**6, len(means)))
    else:
        variances = (n * mu + 1) / (n + 1) if isinstance(model, Poisson) else None
        unit = np.sqrt(variances / n if variances is not None else model.variances(len(means)) / n)
        theta = mu / model.unit + unit * rng.normal(size=(10**6, len(means)))
    if out >= 0:
        theta[:, out] = -np.inf
    best = theta.argmax(axis=1)
    return np.bincount(best[best != b], minlength=len(means))


def apart(one: Counts, other: Counts) -> bool:
    """Whether two samples are of different laws, by chi-square."""
    kept = one + other > 0
    one, other = one[kept], other[kept]
    whole = one + other
    square = 0.0
    for sample in (one, other):
        expected = whole * (sample.sum() / whole.sum())
        square += float(((sample - expected) ** 2 / expected).sum())
    return bool(chi2.sf(square, one.size - 1) < ALARM)


@pytest.mark.parametrize("case", CASES)
def test_the_challenger_has_the_law_of_resampling(case: str) -> None:
    """Of Gaussian arms of one variance or several, successes and counts; never the arm itself."""
    found = ours(case)
    assert found[CASES[case][3]] == 0
    assert not apart(found, literal(case))


def test_an_arm_that_is_out_is_not_drawn() -> None:
    """The law is that of the arms in the race."""
    found = ours("near", out=2)
    assert found[2] == 0
    assert not apart(found, literal("near", out=2))


def test_another_law_is_found_out() -> None:
    """The negative control: that of a state in which one arm has a mean 0.05 higher."""
    model, means, pulls, b = CASES["near"]
    CASES["moved"] = model, (*means[:3], means[3] + 0.05), pulls, b
    try:
        assert apart(ours("near"), literal("moved"))
    finally:
        del CASES["moved"]


def test_much_evidence_takes_few_draws() -> None:
    """At W = 1250 nats, where resampling would take e^1250 draws, an arm is found, and the nearest one."""
    state = state_of(Gaussian(), (1.0, 0.0, -0.5), (5000, 5000, 5000))
    params, room, stream = params_of(Gaussian(), 3), np.zeros(3), np.array([1, 3], np.uint64)
    with np.errstate(over="ignore"):
        found = {best_of_others(params, state, 0, room, stream) for _ in range(50)}
    assert found == {1}


@pytest.mark.parametrize("pulls", [500_000, 2_000_000_000])
def test_the_proposals_have_a_bound(pulls: int) -> None:
    """They are enough at 125,000 nats; at 500 million none may be accepted, and -1 says so."""
    state = state_of(Gaussian(), (1.0, 0.0, -0.5), (pulls, pulls, pulls))
    params, room, stream = params_of(Gaussian(), 3), np.zeros(3), np.array([1, 3], np.uint64)
    with np.errstate(over="ignore"):
        found = {best_of_others(params, state, 0, room, stream) for _ in range(20)}
    assert found == {1} if pulls == 500_000 else -1 in found


def test_an_arm_alone_has_no_challenger() -> None:
    """-1, and nothing is drawn."""
    state, stream = state_of(Gaussian(), (1.0, 0.0), (5, 5)), np.array([1, 3], np.uint64)
    state[OUT, 1], state[MEANS, 1] = 1.0, -math.inf
    assert best_of_others(params_of(Gaussian(), 2), state, 0, np.zeros(2), stream) == -1
    assert stream.tolist() == [1, 3]
