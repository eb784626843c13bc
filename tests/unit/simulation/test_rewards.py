"""Kinds of rewards and values to draw from, in `simulate` and `trace`: what is assumed, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import truebest
from support.refusals import refused_in_one_sentence
from truebest.kernels.random import EXPONENTIAL, next_word, open_stream, reward, unit_uniform
from truebest.simulation.problem import make_problem

PILOT: list[Any] = [[0.7, 0.9, 0.8], [0.4, 0.6, 0.5, 0.5], np.array([0.1])]
KINDS: dict[str, dict[str, Any]] = {
    "beta": {"means": [0.7, 0.5, 0.2], "rewards": "beta", "noise": 0.2},
    "poisson": {"means": [14.0, 9.0, 2.0], "rewards": "poisson", "sigma": 4.0},
    "exponential": {"means": [3.0, 2.0, 1.0], "rewards": "exponential", "sigma": 3.0},
    "values": {"rewards": PILOT},
}


def values_of(path: truebest.Trace, arm: int) -> list[float]:
    """The rewards of an arm in the order of its pulls, from its means before and after each."""
    pulls, sums = path.pulls[:, arm], path.pulls[:, arm] * path.means[:, arm]
    return [sums[0], *np.diff(sums)[np.diff(pulls) > 0].tolist()]


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_result_does_not_depend_on_threads_or_on_the_number_of_runs(kind: str) -> None:
    """A run is a function of (seed, run): alone, among others, on one thread or three, as a trace."""
    given = KINDS[kind]
    one = truebest.simulate("tas-d", delta=0.1, runs=40, seed=3, threads=1, **given).cells[0]
    three = truebest.simulate("tas-d", delta=0.1, runs=90, seed=3, threads=3, **given).cells[0]
    np.testing.assert_array_equal(one.samples, three.samples[:40])
    np.testing.assert_array_equal(one.recommended, three.recommended[:40])
    path = truebest.trace("tas-d", delta=0.1, run=17, seed=3, **given)
    assert path.samples == one.samples[17]
    other = truebest.simulate("tas-d", delta=0.1, runs=40, seed=4, **given).cells[0]
    assert (other.samples != one.samples).any()


@pytest.mark.parametrize("kind", list(KINDS))
def test_all_strategies_see_the_same_rewards(kind: str) -> None:
    """The n-th reward of an arm is a function of (seed, run, arm, n), whatever was pulled in between."""
    given = KINDS[kind] | {"max_samples": 60, "seed": 8, "run": 5}
    paths = [truebest.trace(name, delta=1e-9, **given) for name in ("uniform", "tas-d")]
    for arm in range(3):
        one, other = (values_of(path, arm) for path in paths)
        n = min(len(one), len(other))
        assert n >= 2
        np.testing.assert_allclose(one[:n], other[:n], rtol=0, atol=1e-9)
        if kind == "values":
            assert np.abs(np.subtract.outer(one, PILOT[arm])).min(axis=1).max() < 1e-12


def test_a_reward_is_that_of_its_stream() -> None:
    """Exponential rewards by their formula, from the words of the stream."""
    stream, again = np.zeros(2, np.uint64), np.zeros(2, np.uint64)
    for one in (stream, again):
        open_stream(np.uint64(3), np.uint64(1), np.uint64(4), one)
    for _ in range(50):
        drawn = reward(EXPONENTIAL, 2.5, 0.0, stream)
        assert drawn == pytest.approx(-2.5 * np.log(1.0 - unit_uniform(next_word(again))), rel=1e-15)


def test_what_is_assumed_by_default() -> None:
    """Bounds of 0 and 1 for beta, the largest standard deviation of the values."""
    beta = make_problem([0.7, 0.5], 0.1, "beta", 0.2, None, None, "tilt", None)
    assert beta.model == truebest.Bounded(0.0, 1.0)
    pilot = make_problem(None, 0.1, PILOT, 1.0, None, None, "mixture", None)
    assert isinstance(pilot.model, truebest.Gaussian)
    assert pilot.model.sigma == pytest.approx(np.std(PILOT[0]), rel=1e-15)  # of a population
    assert pilot.best == {0}
    np.testing.assert_allclose(pilot.means, [0.8, 0.5, 0.1], rtol=1e-15)


@pytest.mark.parametrize(
    ("rewards", "model"), [("poisson", truebest.Poisson()), ("exponential", truebest.Exponential())]
)
def test_counts_and_times_have_models_of_their_own(rewards: str, model: truebest.Model) -> None:
    """Which are assumed if nothing is given."""
    assert make_problem([3.0, 2.0], 0.1, rewards, 1.0, None, None, "practical", None).model == model


def test_means_of_values_are_right_far_from_zero() -> None:
    """An offset changes no decision, and the trace shows means with it."""
    near, far = ([np.array(x, dtype=float) * 1024 + y for x in PILOT] for y in (0.0, 2.0**40))
    one, other = (truebest.simulate("tas-d", rewards=x, runs=50).cells[0] for x in (near, far))
    np.testing.assert_array_equal(one.samples, other.samples)
    path = truebest.trace("tas-d", rewards=far)
    assert abs(path.means[-1, 0] - far[0].mean()) < 1024


def test_ties_between_values() -> None:
    """Means that are equal, though sums round: without max_samples no run would end; both are right."""
    equal = [[0.1, 0.3], [0.2, 0.2], [0.0, 0.1]]
    with pytest.raises(truebest.InvalidInputError, match="must be unique"):
        truebest.simulate("tas-d", rewards=equal)
    cell = truebest.simulate("uniform", rewards=equal, delta=0.3, runs=100, max_samples=60).cells[0]
    assert cell.best == {0, 1}


def test_constant_values_with_a_given_sigma() -> None:
    """As with noise 0: nothing is random, and the scale is known."""
    cell = truebest.simulate("uniform", rewards=[[0.1] * 7, [0.0]], sigma=0.1, runs=5).cells[0]
    assert len(set(cell.samples.tolist())) == 1
    assert cell.errors == 0


def test_a_matrix_has_a_row_for_each_arm() -> None:
    """The same as a list of its rows."""
    rows = np.array([[0.1, 0.9, 0.8], [0.2, 0.1, 0.4]])
    one, two = (truebest.simulate("tas-d", rewards=x, runs=20).cells[0] for x in (rows, list(rows)))  # type: ignore[arg-type]
    np.testing.assert_array_equal(one.samples, two.samples)


def run(means: Any = None, **given: Any) -> Callable[[], object]:
    return lambda: truebest.simulate("tas-d", means, 0.1, runs=5, **given)


NAN, INF, UNIT = float("nan"), float("inf"), truebest.Bounded(0.0, 1.0)
BAD: list[tuple[str, Callable[[], object]]] = [
    ("strictly between 0 and 1, got 0.0 to 0.5", run([0.5, 0.0], rewards="beta", noise=0.1)),
    ("strictly between 0 and 1, got 0.5 to 1.0", run([0.5, 1.0], rewards="beta", noise=0.1)),
    ("which is 0.5 for the mean m = 0.5, got 0.5", run([0.5, 0.4], rewards="beta", noise=0.5)),
    ("for the mean m = 0.01, got 0.1", run([0.5, 0.01], rewards="beta", noise=0.1)),
    ("got 1;", run([0.5, 0.4], rewards="beta")),  # the default noise is none of a beta
    ("means of Poisson rewards must lie between 0 and 1e+12", run([-1, 2], rewards="poisson", sigma=1.0)),
    ("means of Poisson rewards", run([1e13, 2], rewards="poisson", sigma=1e7)),
    ("means of exponential rewards must be positive", run([0, 2], rewards="exponential", sigma=1.0)),
    ("means must be given for gaussian rewards", run()),
    ("means must be left out", run([0.5, 0.4], rewards=PILOT)),
    ("at least two arms, got 1", run(rewards=[[1.0, 2.0]])),
    ("at least two arms, got 0", run(rewards=[])),
    ("got nothing for arm 2", run(rewards=[[1.0], []])),
    ("got nan at index 1 for arm 1", run(rewards=[[1.0, NAN], [1.0]])),
    ("got -inf at index 0 for arm 2", run(rewards=[[1.0], [-INF, 2.0]])),
    ("got 1e+200 at index 0", run(rewards=[[1e200], [2.0]])),
    ("a list of numbers for each arm, got 0.7", run(rewards=[0.7, 0.5])),
    ("a list of numbers for each arm, got 'gaussian'", run(rewards=["gaussian", "beta"])),
    ("a list of numbers for each arm, got [[1.0]]", run(rewards=[[[1.0]], [2.0]])),
    ("must differ for some arm", run(rewards=[[1.0, 1.0], [0.3] * 7])),
    ("in [0, 1], as the model says, got 1.5 for arm 2", run(rewards=[[0.5], [1.5]], model=UNIT)),
    ("one per arm, got 3 for 2 arms", run(rewards=[[0.5], [1.0, 1.5]], sigma=[1.0, 1.0, 2.0])),
    ("rewards must be one of", run([0.5, 0.4], rewards=7)),
    ("did you mean 'poisson'", run([0.5, 0.4], rewards="poison")),
]  # fmt: skip


@pytest.mark.parametrize(("part", "call"), BAD, ids=[f"{i}-{part}" for i, (part, _) in enumerate(BAD)])
def test_bad_input_gets_one_sentence(part: str, call: Callable[[], object]) -> None:
    """What was given, what is allowed, what to do, in one line."""
    refused_in_one_sentence(part, call)


def test_wrong_answers_are_as_rare_as_promised() -> None:
    """Bounded beta rewards under a proven rule: 0 errors of 300 at delta 0.1; a rate of 0.1 would give 2e-14.

    The negative control is a sigma ten times too small for exponential rewards, which errs often.
    """
    safe = truebest.simulate("tas-d", [0.62, 0.5], 0.1, rewards="beta", noise=0.1, runs=300, stopping="tilt")
    assert safe.cells[0].errors == 0
    rash = truebest.simulate("tas-d", [1.0, 0.9], 0.1, rewards="exponential", sigma=0.1, runs=300)
    assert rash.cells[0].error_interval()[0] > 0.1
