"""What changes nothing in a live experiment, and what a replay of its log gives.

That it pulls the arms of the simulated run, and goes on the same when it is opened again, are demands of
`truebest.testing` on every strategy, and tested in `test_strategies.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

import truebest
from support.twin import Rewards, drive
from truebest.experiment.experiment import Experiment
from truebest.experiment.snapshots import as_dict
from truebest.kernels.random import UNIFORM, uniform
from truebest.strategies import Strategy, strategy_names


@truebest.strategy
def at_random(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
    """Any arm, by a draw of its own."""
    return int(uniform(random) * pulls.size)


def test_scale_and_sign_change_nothing() -> None:
    """Values times 8, or negated under minimize, give the same asks and the same statistic."""
    means, seed = [1.2, 0.5, 0.2], 7
    plain = Experiment.create("memory:", "x", ["a", "b", "c"], sigma=1.0, seed=seed, strategy="ebs-c")
    asked = drive(plain, Rewards(means, seed))
    for factor, minimize in ((8.0, False), (-1.0, True)):
        other = Experiment.create(
            "memory:",
            "x",
            ["a", "b", "c"],
            sigma=abs(factor),
            seed=seed,
            minimize=minimize,
            strategy="ebs-c",
        )
        rewards = Rewards(means, seed)
        draw = rewards.draw
        rewards.draw = lambda arm, f=factor, d=draw: f * d(arm)  # type: ignore[method-assign, misc]
        assert drive(other, rewards) == asked
        assert other.status().progress.statistic == plain.status().progress.statistic
        assert other.status().best == plain.status().best


def test_an_offset_of_a_billion_costs_nothing() -> None:
    """Uniform values shifted by 2^30 (exactly representable) give the same asks and the same statistic."""
    means, seed = [0.9, 0.5, 0.2], 3
    ends = []
    for shift in (0.0, 2.0**30):
        experiment = Experiment.create("memory:", "x", ["a", "b", "c"], sigma=1.0, seed=seed)
        rewards = Rewards(means, seed, UNIFORM)
        draw = rewards.draw
        rewards.draw = lambda arm, s=shift, d=draw: s + round(d(arm) * 2**20) / 2**20  # type: ignore[method-assign, misc]
        asked = drive(experiment, rewards)
        ends.append((asked, experiment.status().progress.statistic))
        mean = experiment.status().means["a"]
        assert mean is not None
        assert abs(mean - shift - 0.9) < 0.3
    assert ends[0] == ends[1]


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("strategy", [*strategy_names(), at_random], ids=str)
def test_a_replayed_state_is_the_state_that_asked(strategy: str | Strategy, batch: int) -> None:
    """Bit for bit, after every third step: what a new process makes of the log is what the old one knew."""
    from truebest.experiment.independent import IndependentState

    rng = np.random.default_rng(3)
    experiment = Experiment.create(
        "memory:", "x", ["a", "b", "c", "d"], 0.01, sigma=1.0, seed=1, strategy=strategy
    )
    for step in range(60):
        pulls = experiment.ask(batch)
        told = [pulls[i] for i in rng.permutation(len(pulls))[: max(1, len(pulls) - 1)]]
        experiment.tell([(pull, float(rng.normal("dcba".index(pull.arm)))) for pull in told])
        if rng.random() < 0.1:
            experiment.reclaim()
        if step % 3:
            continue
        again, at_once = IndependentState(experiment.settings), IndependentState(experiment.settings)
        with experiment._store.reading("x") as log:
            at_once.replay(log.entries())
            for entry in log.entries():
                again.apply(entry)
        known = experiment._journal.known
        assert known is not None
        assert as_dict(again) == as_dict(known) == as_dict(at_once) == as_dict(known.copy())
