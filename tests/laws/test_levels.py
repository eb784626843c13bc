"""At which level statements hold together: each is exact at its hardest null, or simulated there.

The statements are those of docs/proofs.md; a negative control shows that a lower level would not do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import truebest
from support.told import against_control, intervals
from truebest.designs import Wins
from truebest.experiment.events import CREATED, Entry
from truebest.experiment.settings import new_settings
from truebest.experiment.store.memory import MemoryStore
from truebest.kernels import paired, wins
from truebest.kernels._types import Array
from truebest.kernels.round_claims import HEADS
from truebest.theory.models import Student
from truebest.theory.ratios import level_of_all_pairs, wins_needed
from truebest.theory.student import FormerStudentRule, StudentRule

DELTA, ROUNDS, RUNS = 0.2, 200, 300
MOST = int(stats.binom.isf(1e-6, RUNS, DELTA))  # more wrong runs than this: false alarm below 1e-6


def crossing(num_arms: int, x: float) -> float:
    """P(some 1/(U_b V) > e^x) for K-1 independent uniform U_b and a uniform V, the least that they may be."""

    def given(v: float) -> float:
        return float(-np.expm1((num_arms - 1) * np.log1p(-min(math.exp(-x) / v, 1.0))))

    with np.errstate(divide="ignore"):
        kink = math.exp(-x)
        return kink + float(
            integrate.quad(given, kink, 1.0, points=[min(num_arms * kink, 0.5)], limit=500)[0]
        )


@pytest.mark.parametrize("delta", [0.2, 0.05, 0.001])
@pytest.mark.parametrize("num_arms", [2, 3, 10, 50])
def test_the_best_arm_is_common_to_all_pairs(num_arms: int, delta: float) -> None:
    """At the hardest null, exactly: at most δ, and for two arms δ. Version 1 is farther below it.

    The negative control: without log(K-1) it is more than δ.
    """
    level = StudentRule().level(num_arms, delta)
    found = crossing(num_arms, level)
    assert found <= delta * (1.0 + 1e-9)
    assert found >= 0.8 * delta
    if num_arms == 2:
        assert found == pytest.approx(delta)
        return
    assert crossing(num_arms, FormerStudentRule().level(num_arms, delta)) < 0.95 * found
    assert crossing(num_arms, level - math.log(num_arms - 1)) > delta


def test_an_experiment_keeps_the_version_of_its_rule() -> None:
    """One of version 1 has its level, also where the rule is given again by name; a new one has version 2."""
    arms = list("abcde")
    store = MemoryStore()
    record = new_settings(arms, model=Student(), seed=1).to_record()
    assert record["stopping"]["version"] == 2
    store.create("new", Entry(CREATED, data=record))
    store.create("old", Entry(CREATED, data={**record, "stopping": {**record["stopping"], "version": 1}}))
    thresholds = {}
    for name in ("old", "new"):
        experiment = truebest.Experiment.create(store, name, arms, model=Student(), stopping="student")
        experiment.observe({arm: [0.0, 1.0] for arm in arms})
        thresholds[name] = experiment.status().progress.threshold
    assert thresholds == {
        "old": FormerStudentRule().level(5, 0.05),
        "new": StudentRule().level(5, 0.05),
    }
    with pytest.raises(truebest.InvalidInputError, match=r"must be one of truebest's own"):
        truebest.Experiment.create(store, "x", arms, model=Student(), stopping=FormerStudentRule())


# -- wins: evidence at 0 exceeds a level when an arm has so many wins --------------------------


def bars(level: float, rounds: int = ROUNDS) -> Array:
    """(rounds,) how many wins exceed a level after 1, 2, ... rounds; more than there are where none do."""
    found = (wins_needed(n, level) for n in range(1, rounds + 1))
    return np.array([math.inf if one is None else one for one in found])


def ever(low: Array, high: Array) -> float:
    """P(a fair coin ever has `high` heads, or at most `low`, after n tosses), exactly, in ROUNDS tosses."""
    alive, gone = np.ones(1), 0.0
    for n in range(1, ROUNDS + 1):
        alive = 0.5 * (np.append(alive, 0.0) + np.append(0.0, alive))
        heads = np.arange(n + 1)
        out = (heads >= high[n - 1]) | (heads <= low[n - 1])
        gone, alive = gone + float(alive[out].sum()), np.where(out, 0.0, alive)
    return gone


@pytest.mark.parametrize("delta", [0.5, 0.2, 0.05])
def test_each_end_holds_by_itself_and_both_do_not(delta: float) -> None:
    """Two equal arms, exactly: one end misses with at most δ, the lower one of whichever leads with 2 δ.

    The negative control is that of the claim for both: at δ = 0.5 they miss in more than half of all runs.
    """
    high, nowhere = bars(-math.log(delta)), np.full(ROUNDS, -1.0)
    one, both = ever(nowhere, high), ever(np.arange(1, ROUNDS + 1) - high, high)
    assert 0.3 * delta < one <= delta
    assert both <= 2.0 * delta
    if delta == 0.5:
        assert both > delta


def records(rng: np.random.Generator, num_arms: int) -> Array:
    """(rounds, K, K) how often each of several equal programs was faster than each other one."""
    times = rng.normal(size=(ROUNDS, num_arms))
    found: Array = np.cumsum(times[:, :, None] < times[:, None, :], axis=0)
    return found


def against_leaders(won: Array, high: Array) -> bool:
    """Whether some interval for the median ratio to the leader of the moment ever misses 1."""
    n = np.arange(1, len(won) + 1)[:, None]
    lead = won - np.swapaxes(won, 1, 2) + np.where(np.eye(won.shape[1]) > 0.0, math.inf, 0.0)
    ahead = won[np.arange(len(won)), lead.min(axis=2).argmax(axis=1)]  # of each arm, by the leader
    behind = np.where(ahead > 0, n - ahead, 0)
    return bool(((ahead >= high[:, None]) | (behind >= high[:, None])).any())


def share_missed(level: float, seed: int) -> int:
    high = bars(level)
    rng = np.random.default_rng(seed)
    return sum(against_leaders(records(rng, 30), high) for _ in range(RUNS))


def test_the_ratios_of_all_pairs_hold_together() -> None:
    """30 equal programs, at δ = 0.2, after every one of 200 rounds. False alarm: 1e-6.

    The negative control: at the level that is enough against a given arm, they miss more often than δ.
    """
    assert share_missed(level_of_all_pairs(30, DELTA), 1) <= MOST
    assert share_missed(math.log(2.0 * 29.0 / DELTA), 1) > MOST


def test_arms_that_are_not_better_than_the_control_are_rarely_said_to_be() -> None:
    """All of ten arms equal to it, at δ = 0.2. False alarm: 1e-6. Without the K - 1 the level is too low."""
    rng = np.random.default_rng(2)
    runs = [records(rng, 11)[:, 1:, 0] for _ in range(RUNS)]

    def said(level: float) -> int:
        high = bars(level)[:, None]
        return sum(bool((won >= high).any()) for won in runs)

    assert said(math.log(10.0 / DELTA)) <= MOST
    assert said(math.log(1.0 / DELTA)) > MOST


@pytest.mark.parametrize("items", [None, 400])
def test_the_control_takes_the_level_of_its_pairs_alone(items: int | None) -> None:
    """Under δ = 0.05 its intervals are those of the decision under 0.2, where comparators take 3/4 of δ."""
    found = []
    for delta in (0.05, 0.2):
        given: dict[str, Any] = {"strategy": "uniform"} if items is None else {"items": items}
        experiment = truebest.Experiment.create(
            MemoryStore(), "x", list("abc"), delta, bounds=(0, 1), control="a", seed=1, **given
        )
        for n in range(60):
            for pull in experiment.ask(1):
                experiment.tell(pull, ((7 * n + 3 * "cab".index(pull.arm)) % 11) / 11.0)
        found.append(experiment.status())
    strict, loose = found
    assert strict.best is loose.best is None
    assert strict.pulls == loose.pulls
    leader = str(loose.leader)
    if leader == "a":
        for arm in "bc":
            low, high = intervals(loose)[arm]
            assert against_control(strict)[arm] == pytest.approx((-high, -low), abs=1e-6)
    else:
        assert against_control(strict)[leader] == pytest.approx(intervals(loose)["a"], abs=1e-6)


def test_of_20_equal_arms_none_is_said_to_lose() -> None:
    """Direct, δ = 0.2: "no winner" is said in at most δ of 100 runs; that some arm beats another in far more.

    The latter is why no sentence names pairs. False alarm: 1e-6.
    """
    design = Wins(direct=True)
    rng, said, listed = np.random.default_rng(3), 0, 0
    for _ in range(100):
        params, (pairs, arms) = design.parameters(20, DELTA), design.blank(20)
        near, told, found = np.zeros_like(pairs), np.zeros((HEADS + 20, 20)), paired.GO_ON
        for _ in range(ROUNDS):
            row = rng.normal(size=20)
            found = wins.play(params, row, row, pairs, near, arms, told)
            if found != paired.GO_ON:
                break
        said += found == paired.NO_WINNER
        listed += bool(told[HEADS:].any())
    most = stats.binom.isf(1e-6, 100, DELTA)
    assert said <= most < listed


def test_of_100_arms_the_best_is_rarely_out_and_some_tied_one_often() -> None:
    """Rounds, one arm better by 1e-6: it is ruled out in at most δ of 60 runs, some arm in most of them.

    So "at least x below the best", for x above 1e-6, would be wrong of some arm in most runs. It is not said.
    False alarm: 1e-6.
    """
    design, K = Wins(), 100
    rng, best, some = np.random.default_rng(4), 0, 0
    for _ in range(60):
        params, (pairs, arms) = design.parameters(K, DELTA), design.blank(K)
        near, told = np.zeros_like(pairs), np.zeros((HEADS + K, K))
        for _ in range(100):
            row = rng.normal(size=K)
            row[0] += 1e-6
            wins.play(params, row, row, pairs, near, arms, told)
        out = arms[paired.OUT_AFTER] > 0.0
        best, some = best + bool(out[0]), some + bool(out.any())
    most = stats.binom.isf(1e-6, 60, DELTA)
    assert best <= most < some
