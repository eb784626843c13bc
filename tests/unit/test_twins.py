"""Kernels keep their source and signature, so that another compiler can make their twins."""

from __future__ import annotations

from types import FunctionType

import numpy as np

import bestarm
from bestarm.kernels import _jit
from bestarm.kernels.families import cost
from bestarm.simulation import engine
from bestarm.simulation.problem import make_problem
from bestarm.simulation.runner import Job
from bestarm.strategies import find_strategy
from bestarm.strategies.track_and_stop import select


def test_a_twin_is_the_same_function() -> None:
    """Here the other compiler is none: a run in plain Python, none of our machine code, the same bits."""
    calls = []

    def plain(function: FunctionType, signature: str) -> FunctionType:
        calls.append((function.__name__, signature))
        return function

    found = _jit.twins(plain)
    assert ("cost", "f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)") in calls
    twin = found[cost]
    assert isinstance(twin, FunctionType)
    for one in found.values():
        assert isinstance(one, FunctionType)
        named = [one.__globals__.get(name) for name in one.__code__.co_names]
        assert not any(callable(value) and value in found for value in named)  # all calls lead to twins
    problem = make_problem([0.9, 0.5, 0.4], [0.1], "gaussian", 1.0, None, None, "mixture", 300)
    job = Job(find_strategy("tas-d"), problem, (0.1,), 3, 0)
    job.simulate(0, job.room(), job.samples, job.recommended)
    expected = job.samples.copy(), job.recommended.copy()
    job.select = found[select]  # type: ignore[assignment]
    room = job.room()
    arguments = *job._arguments(0, room, job.samples, job.recommended), room.pulls, room.signals
    job.samples[:] = 0
    with np.errstate(all="ignore"):
        found[engine.simulate_runs](*arguments)  # type: ignore[operator]
    np.testing.assert_array_equal(job.samples, expected[0])
    np.testing.assert_array_equal(job.recommended, expected[1])
    assert bestarm.simulate("tas-d", [0.9, 0.5, 0.4], 0.1, runs=3, stopping="mixture", max_samples=300).cells
