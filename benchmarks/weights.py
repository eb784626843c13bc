"""optimal_weights against the paper's Newton, nested bisection, brentq, and the cost of one pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import truebest
from truebest.kernels import weights as kernels
from truebest.kernels._types import Array

from .measure import cpu_seconds, duration, show
from .rivals import brent, floor_pass, nested_bisection


def squared_gaps(num_arms: int, seed: int = 0) -> tuple[Array, float]:
    """Scaled squared gaps of a random bandit, and the lower bound of r to start from."""
    x = np.random.default_rng(seed).uniform(0.1, 1.0, num_arms)
    x[0] = 0.0
    kernels.scaled_squares(x, 0, float(x[1:].min()))
    return x, kernels.root_lower_bound(x, 0)


def solvers(x: Array, start: float) -> dict[str, Callable[[], tuple[float, int]]]:
    """Every way to the root; those that do not count their evaluations say 0."""
    return {
        "ours": partial(kernels.newton_root, x, start, start),
        "paper's Newton": partial(kernels.paper_root, x, start),
        "brentq": lambda: (brent(x), 0),
        "nested bisection": lambda: (nested_bisection(x), 0),
    }


def one_problem(num_arms: int) -> list[list[str]]:
    """The rows of the table for one number of arms."""
    x, start = squared_gaps(num_arms)
    root, _ = kernels.newton_root(x, start, start)
    floor = cpu_seconds(partial(floor_pass, x, root))
    rows, ours = [], 0.0
    for name, solve in solvers(x, start).items():
        slow = name == "nested bisection" and num_arms > 10_000
        taken = cpu_seconds(solve, repeats=1 if slow else 9)
        ours = ours or taken
        found, evaluations = solve()
        assert abs(found / root - 1) < 1e-8, name
        count = str(evaluations) if evaluations else ""
        ratios = [f"{taken / floor:.1f}", f"{taken / ours:.1f}"]
        rows.append([f"{num_arms:,}", name, count, duration(taken), *ratios])
    return rows


def main() -> None:
    """Two tables: one large problem, and a batch of small ones."""
    show(
        ["arms", "solver", "evaluations", "CPU time", "passes of the floor", "times ours"],
        [row for num_arms in (10, 1_000, 1_000_000) for row in one_problem(num_arms)],
        "The root r, called from Python (gaps computed before, weights written after)",
    )
    means = np.random.default_rng(1).uniform(0.0, 1.0, (100_000, 5))
    batch = cpu_seconds(lambda: truebest.optimal_weights(means)) / means.shape[0]
    x, _ = squared_gaps(5)
    single = cpu_seconds(lambda: brent(x))
    alone = cpu_seconds(lambda: truebest.optimal_weights(means[0]))
    show(
        ["solver", "CPU time per problem", "ratio"],
        [
            ["batch of 100000, K = 5, from means to weights", duration(batch), "1"],
            ["one brentq, the root alone", duration(single), f"{single / batch:.0f}"],
            ["one call of optimal_weights", duration(alone), f"{alone / batch:.0f}"],
        ],
        "Many small problems",
    )
