"""Under the Student rule a live experiment is the simulated run, and the run is its literal transcription."""

from __future__ import annotations

import math

import numpy as np
import pytest

import truebest
from support import oracle
from support.told import intervals
from support.twin import Rewards, drive
from truebest.experiment.experiment import Experiment
from truebest.experiment.store.memory import MemoryStore
from truebest.kernels.random import GAUSSIAN
from truebest.theory.models import Student
from truebest.theory.student import StudentRule

MEANS, NOISE = [1.2, 0.4, 0.1], [1.0, 2.0, 0.3]


@pytest.mark.parametrize("spacing", [0.0, 1 / 20])
@pytest.mark.parametrize("strategy", ["tas-d", "tas-c", "racing", "lucb++"])
def test_a_live_experiment_is_the_simulated_run(strategy: str, spacing: float) -> None:
    """The same arms, the same statistic to the last bit, the same end, with snapshots and new processes."""
    rule, seed, store = StudentRule(spacing), 4, MemoryStore()
    want = truebest.trace(
        strategy, MEANS, 0.1, seed=seed, noise=NOISE, model=Student(), stopping=rule, max_samples=900
    )
    experiment = Experiment.create(
        store, "x", ["a", "b", "c"], 0.1, model=Student(), seed=seed, strategy=strategy, stopping=rule
    )
    asked = drive(experiment, Rewards(MEANS, seed, GAUSSIAN, NOISE), most=900, reopen=40)
    assert asked == [0, 1, 2, *want.arm[:-1].tolist()]
    status = experiment.status()
    assert status.best == (None if want.recommended is None else "abc"[want.recommended])
    assert status.best == "a"
    if strategy != "racing":
        assert (status.progress.statistic, status.progress.threshold) == (
            want.statistic[-1],
            want.threshold[-1],
        )
        assert all(low > 0.0 for low, _ in intervals(status).values())
    assert status.promise.bound == 0.1
    assert status.promise.words == (
        "wrong with probability at most 10%, assuming independent Gaussian values of unknown variances"
    )
    assert experiment.verify().sound


def test_what_is_stored_is_found_again() -> None:
    """The model by its name, without a sigma, and its rule, which is the default; a sigma is refused."""
    store = MemoryStore()
    made = Experiment.create(store, "x", ["a", "b"], model=Student(), seed=1)
    record = made.settings.to_record()
    assert (record["bounds"], record["sigma"]) == (None, None)
    assert record["model"] == {"class": "Student", "parameters": {}}
    assert record["stopping"] == {"name": "student", "version": 2, "parameters": {"spacing": 0.0}}
    again = Experiment.open(store, "x").settings
    assert (again.model, again.stopping) == (Student(), StudentRule())
    assert Experiment.create(store, "x", ["a", "b"], model=Student()).settings.to_record() == record
    with pytest.raises(truebest.InvalidInputError, match=r"exists with sigma None, got 1.0; resume it"):
        Experiment.create(store, "x", ["a", "b"], sigma=1.0)


def test_the_forecast_is_near_the_end() -> None:
    """After 40 samples of each arm, if the means and variances so far are the true ones."""
    experiment = Experiment.create("memory:", "x", ["a", "b"], 1e-6, model=Student(), strategy="uniform")
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 40))
    experiment.observe("a", (1.0 + (x - x.mean()) / x.std(ddof=1)).tolist())
    experiment.observe("b", (2.0 * (y - y.mean()) / y.std(ddof=1)).tolist())
    more = experiment.forecast().samples
    assert more is not None
    n = next(
        n
        for n in range(40, 2000)
        if StudentRule().evaluate([n, n], [1.0, 0.0], 1e-6, deviations=[1, 2]).decided
    )
    assert abs(80 + more - 2 * n) <= 0.03 * 2 * n + 2


def test_a_tolerance_ends_ties() -> None:
    """Equal arms of different variances, within half a standard deviation of each other."""
    cell = truebest.simulate(
        "tas-d",
        [0.0, 0.0, -2.0],
        noise=[1.0, 2.0, 1.0],
        model=Student(),
        stopping="student",
        tolerance=0.5,
        runs=100,
        max_samples=50_000,
    ).cells[0]
    assert (cell.censored, cell.errors) == (0, 0)
    wide = truebest.simulate(
        "tas-d",
        [0.0, -0.3, -2.0],
        noise=[1.0, 2.0, 1.0],
        model=Student(),
        stopping="student",
        runs=100,
        max_samples=50_000,
    ).cells[0]
    assert cell.mean_samples < wide.mean_samples


def student_pair(b: list[float], a: list[float]) -> float:
    """Λ of two arms from their values, on a grid of common means."""

    def arm(values: list[float], m: float, sign: float) -> float:
        n, mean = len(values), math.fsum(values) / len(values)
        squares = math.fsum((x - mean) ** 2 for x in values)
        distance = sign * (mean - m)
        s = distance / math.sqrt(distance**2 + squares / n)
        total = 0.0
        for c, weight in zip((1, 16, 256, 4096, 65536), (1, 3, 3, 1.5, 0.5), strict=True):
            rho = n / (n + c)
            if s >= 0.0:
                each = 2.0 * (1.0 - rho * s * s) ** (-n / 2) - 1.0
            else:
                q = math.sqrt(n * rho) * -s
                each = math.exp(q * q / 2) * math.erfc(q / math.sqrt(2))
            total += weight / 9 * math.sqrt(1.0 - rho) * each
        return math.log(total)

    low, high = min(min(b), min(a)), max(max(b), max(a))
    grid = [low + (high - low) * i / 2000 for i in range(2001)]
    return min(arm(b, m, 1.0) + arm(a, m, -1.0) for m in grid)


@pytest.mark.parametrize("run", range(6))
def test_a_run_is_its_transcription(run: int) -> None:
    """Uniform sampling of two arms, from the values alone: it stops where the formula says so."""
    trace = truebest.trace(
        "uniform", [1.5, 0.0], 0.1, run=run, noise=[1.0, 0.5], model=Student(), stopping=StudentRule()
    )
    rewards = Rewards([1.5, 0.0], 0, GAUSSIAN, [1.0, 0.5])
    for a in range(2):
        truebest.kernels.random.open_stream(np.uint64(0), np.uint64(run), np.uint64(a), rewards.streams[a])
    values: list[list[float]] = [[rewards.draw(0)], [rewards.draw(1)]]
    level = next(x / 1000 for x in range(1, 20_000) if math.exp(-x / 1000) * (1 + x / 1000) <= 0.1)
    stopped = None
    for t in range(2, 200):
        means = [math.fsum(own) / len(own) for own in values]
        b = oracle.first_largest(means)
        if min(map(len, values)) >= 2 and student_pair(values[b], values[1 - b]) > level:
            stopped = (t, b)
            break
        values[t % 2].append(rewards.draw(t % 2))
    assert stopped == (trace.samples, trace.recommended)
