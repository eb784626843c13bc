"""`Simulation.difference`: paired, run by run, with an error that is right."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import truebest
from truebest import InvalidInputError, Simulation

MEANS = (0.9, 0.5, 0.3)


def simulated(runs: int = 50, **more: object) -> Simulation:
    return truebest.simulate(["tas-d", "uniform"], MEANS, 0.1, runs=runs, **more)  # type: ignore[arg-type]


def part(found: Simulation, first: int, runs: int, *names: str) -> Simulation:
    """Some of the runs of the strategies named, as after an interruption; all of the others."""
    kept = slice(first, first + runs)
    cells = tuple(
        dataclasses.replace(
            cell,
            samples=cell.samples[kept],
            recommended=cell.recommended[kept],
            spans=((cell.seed, first, runs),),
            complete=False,
        )
        if cell.strategy in names
        else cell
        for cell in found
    )
    return Simulation(cells, found.settings)


def test_the_error_is_that_of_repetitions() -> None:
    """Over 400 parts of 25 runs, the squared distance from the mean of all is the squared error, on average.

    The ratio of these averages is 1 up to a standard deviation of 0.075, so 0.3 is 4 of them: a false alarm
    once in 16,000 seeds. The negative control is the error of two separate simulations, which is larger by
    more than that, since the strategies' numbers of samples go up and down together.
    """
    found, names = simulated(10_000), ("tas-d", "uniform")
    whole = found.difference(*names)
    assert whole.mean == pytest.approx(found["tas-d"].mean_samples - found["uniform"].mean_samples)
    parts = [part(found, 25 * i, 25, *names).difference(*names) for i in range(400)]
    distance = np.mean([(one.mean - whole.mean) ** 2 for one in parts])
    errors = np.mean([one.standard_error**2 for one in parts])
    assert abs(distance / errors - 1.0) < 0.3
    separate = sum(found[name].standard_error ** 2 for name in names)
    assert abs(separate / whole.standard_error**2 - 1.0) > 0.3


def test_of_a_strategy_to_itself_it_is_nothing() -> None:
    """Exactly 0, with an error of 0; and the other way round it has the other sign."""
    found = simulated()
    same = found.difference("tas-d", "tas-d")
    assert (same.mean, same.standard_error, same.interval()) == (0.0, 0.0, (0.0, 0.0))
    there, back = found.difference("tas-d", "uniform"), found.difference("uniform", "tas-d")
    assert (there.mean, there.standard_error) == (-back.mean, back.standard_error)
    assert there.interval(0.5)[0] > there.interval(0.99)[0]
    assert "fewer" in str(there)
    assert "more" in str(back)
    assert there.to_dict()["low"] == there.interval()[0]


def test_runs_that_one_lacks_do_not_count() -> None:
    """After an interruption the common runs are compared, in whatever order they were done."""
    whole = simulated(50)
    short = part(whole, 0, 30, "uniform").difference("tas-d", "uniform")
    assert short.runs == 30
    expected = whole["tas-d"].samples[:30] - whole["uniform"].samples[:30]
    assert short.mean == expected.mean()
    both = simulated(20, first=30) + simulated(10)  # two spans, one of which the other has only in part
    some = simulated(35)
    mixed = Simulation((both["tas-d"], some["uniform"])).difference("tas-d", "uniform")
    chosen = np.r_[0:10, 30:35]
    assert mixed.runs == 15
    assert mixed.mean == (whole["tas-d"].samples[chosen] - whole["uniform"].samples[chosen]).mean()
    none = part(whole, 0, 0, "uniform").difference("tas-d", "uniform")
    assert none.runs == 0
    assert np.isnan([none.mean, none.standard_error]).all()
    assert np.isnan(part(whole, 0, 1, "uniform").difference("tas-d", "uniform").standard_error)


def test_other_seeds_are_other_runs() -> None:
    """Cells of different seeds have no run in common."""
    one, other = simulated(20), simulated(20, seed=1)
    assert Simulation((one["tas-d"], other["uniform"])).difference("tas-d", "uniform").runs == 0


def test_runs_that_were_cut_off_are_counted() -> None:
    """At max_samples, and it is said how many."""
    found = simulated(50, max_samples=60)
    more = found.difference("tas-d", "uniform")
    cut = (found["tas-d"].recommended < 0) | (found["uniform"].recommended < 0)
    assert more.censored == cut.sum() > 0
    assert f"{more.censored} cut off" in str(more)


def test_what_cannot_be_compared_is_refused() -> None:
    """A summary, two bandits, and a key of several cells or none."""
    with pytest.raises(InvalidInputError, match="keep='runs'"):
        simulated(keep="summary").difference("tas-d", "uniform")
    found = truebest.simulate("tas-d", [MEANS, (0.9, 0.1, 0.0)], [0.1, 0.2], runs=5)
    with pytest.raises(InvalidInputError, match="different bandits"):
        found.difference(("tas-d", 0.1, 0), ("tas-d", 0.1, 1))
    with pytest.raises(InvalidInputError, match="must name one cell"):
        found.difference("tas-d", ("tas-d", 0.1, 1))
    assert found.difference(("tas-d", 0.1, 0), ("tas-d", 0.2, 0)).mean > 0.0
    with pytest.raises(InvalidInputError, match="confidence"):
        found.difference(("tas-d", 0.1, 0), ("tas-d", 0.2, 0)).interval(1.0)
