"""What every strategy must do, built-in or not: one set of tests over all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import truebest
from support.amounts import amount, once_more
from truebest.kernels.random import normal
from truebest.strategies import find_strategy, strategy_names
from truebest.testing import STRATEGY_DEMANDS, check_strategy


@truebest.strategy(name="thompson", rows=("draws",))  # type: ignore[untyped-decorator,unused-ignore]
def thompson(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
    """A user's strategy that draws random numbers: the arm of largest posterior sample."""
    best = 0
    for a in range(pulls.size):
        memory[0, a] = means[a] + normal(random) / np.sqrt(pulls[a])
        if memory[0, a] > memory[0, best]:
            best = a
    return best


ALL = [
    *strategy_names(),
    truebest.EBS("C", 0.2, "paper"),
    truebest.EBS("D", 0.2, "mixture", (-5.0, 5.0)),
    truebest.EBS("C", open_only=True),
    truebest.TrackAndStop("D", open_only=True),
    thompson,
]
MEANS = (0.9, 0.4, 0.1, -0.3)
NAMES = [s if isinstance(s, str) else s.name for s in ALL]
every_strategy = pytest.mark.parametrize("strategy", ALL, ids=NAMES)
Any = str | truebest.Strategy


@once_more
@pytest.mark.parametrize("demand", STRATEGY_DEMANDS)
@every_strategy
def test_every_strategy_meets_every_demand(strategy: Any, demand: str) -> None:
    """What `truebest.testing` demands of a user's strategy, ours do; `test_check_strategy.py` breaks each."""
    placed = "clip" in find_strategy(strategy).name
    most = amount(300, 2000)
    (check,) = check_strategy(strategy, only=demand, invariant=not placed, max_samples=most).checks
    assert check.checked or (placed and demand in ("scale", "shift"))


@every_strategy
def test_another_seed_gives_other_runs(strategy: Any) -> None:
    """The seed matters."""
    one, other = (
        truebest.simulate(strategy, MEANS, 0.1, runs=40, seed=seed, max_samples=2000).cells[0]
        for seed in (3, 4)
    )
    assert (one.samples != other.samples).any()


@every_strategy
@pytest.mark.parametrize("stopping", ["gk16", "kaufmann-koolen", "mixture"])
def test_any_strategy_goes_with_any_rule(strategy: Any, stopping: str) -> None:
    """Easy arms are told apart under every rule, but by strategies that leave arms alone for good."""
    found = truebest.simulate(
        strategy, (4.0, 0.0, -1.0), 0.1, runs=20, stopping=stopping, max_samples=5000
    ).cells[0]
    assert found.errors == 0
    assert found.censored == 0 or strategy in ("lucb++", thompson)


EVEN = ["eb-tci", "eb-tc-eps", "ebs-open-gaps"]  # choose by values alone, of which no two are equal here


@pytest.mark.parametrize("strategy", EVEN)
def test_the_order_of_arms_changes_no_choice_where_no_two_are_equal(strategy: str) -> None:
    """Where arms are neither taken in turn nor drawn one by one: the same choices with the arms reversed."""
    (check,) = check_strategy(strategy, only="order").checks
    assert check.evidence.endswith("the same choices, where no two values are equal")


def differs_by_order(strategy: str) -> float:
    """In standard errors: how many more samples coins take with the best arm first than with it last."""
    first, last = (
        truebest.simulate(
            strategy,
            means,
            0.05,
            runs=4000,
            seed=seed,
            rewards="bernoulli",
            stopping="practical",
        ).cells[0]
        for seed, means in ((1, (0.3, *[0.02] * 9)), (2, (*[0.02] * 9, 0.3)))
    )
    return (first.mean_samples - last.mean_samples) / math.hypot(first.standard_error, last.standard_error)


@pytest.mark.parametrize("strategy", ["lucb++", "eb-tci", "eb-tc-eps"])
def test_leaders_of_equal_means_draw_lots(strategy: str) -> None:
    """With few values of 0 or 1 there often are some; where the lowest number leads, the order matters."""
    assert abs(differs_by_order(strategy)) < 4.0
    assert differs_by_order(f"{strategy}(ties=first)") > 4.0


def test_all_strategies_see_the_same_rewards() -> None:
    """Common random numbers: the first rewards of each arm agree across strategies, run by run."""
    paths = [truebest.trace(s, MEANS, 0.1, run=2, seed=8, max_samples=200) for s in ALL]
    for path in paths[1:]:
        np.testing.assert_array_equal(path.means[0], paths[0].means[0])
    for a in range(len(MEANS)):
        known: dict[int, float] = {}
        for path in paths:
            left = np.isfinite(path.means[:, a])  # an arm that is ruled out has no mean any more
            for n, mean in zip(path.pulls[left, a].astype(int), path.means[left, a], strict=True):
                assert known.setdefault(int(n), float(mean)) == mean
