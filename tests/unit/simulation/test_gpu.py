"""On a real GPU: run by run what the processor does. `pytest -m gpu`."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

import truebest
from support.same_runs import assert_same, differences

RUNS = 100_000


def no_gpu() -> str:
    """Why there is nothing to test on; "" if there is a GPU."""
    if find_spec("numba_cuda") is None:
        return "numba-cuda is not installed"
    if import_module("numba").config.ENABLE_CUDASIM:
        return "the GPU is a simulated one"
    from truebest.simulation import lanes

    return "" if lanes.cuda.is_available() else "there is no NVIDIA GPU with its driver"


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(no_gpu()), reason=no_gpu() or "none")]

MU1 = (0.9, 0.8, 0.6, 0.4, 0.4)
CASES: dict[str, tuple[str, tuple[float, ...], dict[str, object]]] = {
    **{name: (name, MU1, {}) for name in ("uniform", "tas-c", "tas-d", "ebs-c", "ebs-d")},
    "racing": ("racing", MU1, {"max_samples": 20_000}),  # it may be left with the two arms that are tied
    "open": ("ebs-open-gaps", MU1, {"stopping": "mixture"}),
    "lucb++": ("lucb++", MU1, {"max_samples": 20_000}),
    "tilt": ("tas-c", MU1, {"stopping": "tilt"}),
    "tilt, open": ("ebs-open-need", MU1, {"stopping": "tilt"}),
    "tilt, a pair": ("tas-d", MU1[1:3], {"stopping": "tilt"}),
    "successes": ("tas-d", (0.8, 0.5, 0.3), {"rewards": "bernoulli", "stopping": "tilt"}),
    "scales": ("ebs-d", MU1, {"noise": 0.7, "sigma": [0.7, 0.7, 1.0, 0.7, 0.7], "stopping": "mixture"}),
    "counts": ("tas-d", (30.0, 28.0), {"rewards": "poisson"}),
    "student": ("tas-d", (2.0, 1.0, 0.0), {"model": truebest.Student(), "stopping": "student"}),
    "by pairs": ("uniform", MU1, {"stopping": "tilt", "question": truebest.BestArm(pairs=True)}),
    "far from 0": ("tas-d", tuple(1e7 + mean for mean in MU1), {}),
}


@pytest.mark.parametrize("case", list(CASES))
def test_the_same_runs(case: str) -> None:
    """At most 1 in 100,000 may differ, where a logarithm's last bit decides: within 1e-9 of the threshold."""
    strategy, means, options = CASES[case]
    deltas = [0.1, 0.01]
    one = truebest.simulate(strategy, means, deltas, runs=RUNS, seed=1, **options)  # type: ignore[arg-type]
    other = truebest.simulate(
        strategy, means, deltas, runs=RUNS, seed=1, device="cuda", **options  # type: ignore[arg-type]
    )  # fmt: skip
    for cell, twin in zip(one, other, strict=True):
        found = differences(strategy, means, cell, twin, **options)
        assert_same(found, RUNS)
        if not found:
            np.testing.assert_array_equal(cell.mean_pulls, twin.mean_pulls)


def test_another_seed_differs() -> None:
    """The negative control."""
    one = truebest.simulate("uniform", MU1, 0.1, runs=1000, seed=1).cells[0]
    other = truebest.simulate("uniform", MU1, 0.1, runs=1000, seed=2, device="cuda").cells[0]
    assert (one.samples != other.samples).mean() > 0.9


def test_a_users_strategy_and_a_summary() -> None:
    """A function of one's own, and counts in place of runs."""

    @truebest.strategy(rows=("turn",))
    def in_turn(pulls, memory):  # type: ignore[no-untyped-def]
        memory[0, 0] += 1.0
        return int(memory[0, 0]) % pulls.size

    one = truebest.simulate(in_turn, MU1, 0.1, runs=RUNS).cells[0]
    other = truebest.simulate(in_turn, MU1, 0.1, runs=RUNS, device="cuda", keep="summary").cells[0]
    assert (one.runs, one.mean_samples, one.errors) == (other.runs, other.mean_samples, other.errors)
