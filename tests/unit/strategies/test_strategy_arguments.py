"""A user's strategy takes what it needs by name, and calls the mathematics of the built-in ones."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import truebest
from support.later import later
from truebest.kernels import api
from truebest.strategies._admit import BY_NAME

MEANS = (0.9, 0.5, 0.45, 0.4)
# mypy: disable-error-code="no-untyped-def,untyped-decorator,unused-ignore"


@later()
def greedy(leader):
    """One argument."""
    return leader


@later()
def nothing():
    """None at all."""
    return 1


@later(params=(0.25,))
def in_another_order(params, pulls, t, leader):
    """The same names in another order, mixed up if they were bound by position."""
    return leader if pulls[leader] <= params[0] * t else int(pulls.argmin())


@later()
def cautious(delta, pulls, leader):
    """Pulls the leader in bursts whose length depends on delta, without a word about uses_delta."""
    return leader if pulls[leader] < -10.0 * np.log(delta) else int(pulls.argmin())


def test_a_function_takes_what_it_wants() -> None:
    """One argument, none, or several in any order."""
    path = truebest.trace(greedy(), MEANS, 0.1, max_samples=50)
    lead = path.means[:-1].argmax(axis=1)
    assert (path.arm[:-1] == lead).all()
    assert set(truebest.trace(nothing(), MEANS, 0.1, max_samples=50).arm[:-1].tolist()) == {1}
    path = truebest.trace(in_another_order(), MEANS, 0.1, max_samples=300)
    for i in range(path.arm.size - 1):
        b = path.means[i].argmax()
        expected = b if path.pulls[i, b] <= 0.25 * path.time[i] else path.pulls[i].argmin()
        assert path.arm[i] == expected


def test_one_that_takes_delta_depends_on_it() -> None:
    """Every risk has runs of its own, as if it were simulated alone; others share them."""
    assert cautious().uses_delta
    assert not greedy().uses_delta
    together = truebest.simulate(cautious(), MEANS, [0.1, 0.001], runs=40, max_samples=5000)
    for delta in (0.1, 0.001):
        alone = truebest.simulate(cautious(), MEANS, delta, runs=40, max_samples=5000).cells[0]
        np.testing.assert_array_equal(together["cautious", delta].samples, alone.samples)
    assert truebest.strategy(lambda model, state: 0).uses_delta  # it could read delta out of the model


def test_every_name_is_bound_to_what_it_says() -> None:
    """All of them at once, told apart by value."""

    def checked(random, memory, params, delta, variances, means, pulls, leader, last, t, state, model):
        ok = t == pulls.sum() and params.size == 1 and params[0] == 7.0 and delta == model[0]
        ok = ok and state[0, 1] == pulls[1] and state[1, 1] == means[1] and variances[2] == state[2, 2]
        ok = ok and variances[2] == 0.25 and variances[0] == 1.0 and memory.shape == (1, 4)
        ok = ok and means[leader] == means.max() and 0.0 <= api.uniform(random) < 1.0
        ok = ok and (last == memory[0, 0] - 1.0)
        arm = int(t) % 4
        memory[0, 0] = arm + 1.0
        return arm if ok else 99

    assert set(inspect.signature(checked).parameters) == set(BY_NAME)
    made = truebest.strategy(checked, params=(7.0,), rows=("own",))
    model = truebest.Gaussian((2.0, 2.0, 1.0, 2.0))
    assert truebest.simulate(made, MEANS, 0.1, runs=3, model=model, max_samples=200).cells[0].samples.all()


@later(rows=("target", "warm"))
def plug_in(t, leader, pulls, means, memory):
    """D-tracking of the optimal weights of the means, from the public functions."""
    memory[1, 0] = api.optimal_weights(means, leader, memory[1, 0], memory[0])
    return api.furthest_behind(pulls, memory[0], t)


@later(rows=("target", "warm"))
def plug_in_model(t, leader, pulls, state, model, memory):
    """The same, asking the model."""
    memory[1, 0] = api.weights(model, state, leader, memory[1, 0], memory[0])
    return api.furthest_behind(pulls, memory[0], t)


def test_the_functions_inside_are_those_outside() -> None:
    """The weights that a trace shows are `optimal_weights` of its means; the model's are the same."""
    path = truebest.trace(plug_in(), MEANS, 0.1, seed=3, max_samples=300)
    assert path.target is not None
    for i in range(0, path.arm.size - 1, 10):
        np.testing.assert_allclose(path.target[i], truebest.optimal_weights(path.means[i]).weights, rtol=1e-9)
    other = truebest.trace(plug_in_model(), MEANS, 0.1, seed=3, max_samples=300)
    np.testing.assert_array_equal(path.arm, other.arm)
    found = truebest.glr([4, 9], [0.5, 0.1]).statistic
    assert api.transport(4.0, 9.0, 0.4) == pytest.approx(found, rel=1e-15)


def test_all_that_is_offered_is_described() -> None:
    """Every public name of the module stands in its text, and can be called inside a strategy."""
    assert api.__doc__ is not None
    for name in api.__all__:
        assert f"{name}(" in api.__doc__
        assert callable(getattr(api, name))
