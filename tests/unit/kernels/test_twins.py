"""Kernels keep their source and signature, so that another compiler can make their twins."""

from __future__ import annotations

from types import FunctionType

import numpy as np
import pytest

from truebest.kernels import _jit
from truebest.kernels.families import cost
from truebest.kernels.layout import LOST, SUMS
from truebest.simulation import engine
from truebest.simulation.job import Job
from truebest.simulation.problem import make_problem
from truebest.strategies import find_strategy
from truebest.strategies.track_and_stop import select


def test_a_twin_is_the_same_function() -> None:
    """Every kernel has one, with its signature, and calls only others of them."""
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


KINDS: dict[str, tuple[list[float] | None, str | list[list[float]], float]] = {
    "gaussian": ([0.9, 0.5, 0.4], "gaussian", 1.0),
    "beta": ([0.9, 0.5, 0.4], "beta", 0.29),
    "counts by inversion": ([5.0, 1.0, 0.0], "poisson", 1.0),
    "counts by rejection": ([30.0, 15.0, 12.0], "poisson", 1.0),
    "exponential": ([2.0, 1.0, 0.1], "exponential", 1.0),
    "values": (None, [[1.0, 2.0, 4.0], [0.5, 0.7], [0.1]], 1.0),
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_run_of_twins_is_the_same_run(kind: str) -> None:
    """Here the other compiler is none: runs in plain Python, none of our machine code, the same bits."""
    means, rewards, noise = KINDS[kind]
    found = _jit.twins(lambda function, _: function)
    problem = make_problem(means, [0.1], rewards, noise, 3.0, None, "mixture", 300)
    totals = []
    for engine_loop, choose in (
        (engine.simulate_runs, None),
        (found[engine.simulate_runs], found[select]),
    ):
        job = Job(find_strategy("tas-d"), problem, (0.1,), 0)
        job.select = choose or job.select  # type: ignore[assignment]
        (room, pulls, signals), (samples, recommended) = job.room(), job.table(3)
        loop, choose = job.made_for(engine_loop)  # type: ignore[arg-type]
        with np.errstate(all="ignore"):
            loop(choose, 0, job.task, job.source, room, samples, recommended, pulls, signals)
        sums = room.state[SUMS] + room.state[LOST]  # of the last run's rewards
        totals.append((samples, recommended, sums))
    for one, other in zip(*totals, strict=True):
        np.testing.assert_array_equal(one, other)
    assert totals[0][0].min() > 3
