"""How restless a strategy is: how much its targets and its pulls move about while it samples."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ..._args import Array
from ...simulation.trace import Trace, total_variation, traced
from ...simulation.work import Ways
from ...strategies import Strategy
from ...theory.stopping import StoppingRule
from .suites import Bandit, paper, standard

LONGEST = 20_000  # samples of a run that is looked at
WINDOW = 20  # pulls per arm, whose shares are compared with those of the next


def bandits() -> list[Bandit]:
    """Three on which movement was always measured: the paper's first, ten in steps, and two near-ties."""
    linear = next(bandit for bandit in standard() if bandit.name == "K=10 linear")
    return [paper()[0], linear, Bandit("two near-ties", (-0.3, -0.3, -0.3, -0.02, 0.0))]


@dataclass(frozen=True)
class Movement:
    """How much moves per 1000 samples of a strategy on one bandit, with standard errors.

    target  ½ Σ|change| of the target weights, where a forced step counts in full; NaN without targets
    pulls   the same for the shares of the pulls from one window of 20 K pulls to the next
    """

    strategy: str
    bandit: str
    runs: int
    target: float
    target_error: float
    pulls: float
    pulls_error: float


def movements(path: Trace) -> tuple[float, float]:
    """Of one run: how much target and pulls move per 1000 samples."""
    window = WINDOW * path.pulls.shape[1]
    shares: Array = np.diff(path.pulls[::window], axis=0) / window
    target = float("nan") if path.target is None else total_variation(path.target[:-1])
    per_thousand = 1000.0 / path.samples
    return target * per_thousand, total_variation(shares) * per_thousand


def measure(
    strategy: Strategy,
    bandit: Bandit,
    delta: float,
    stopping: str | StoppingRule,
    runs: int,
    seed: int,
    workers: int,
) -> Movement:
    """From so many runs, each cut off at 20,000 samples."""
    given = bandit.in_order(bandit.order(seed)).arguments()
    means, key = given.pop("means"), bandit.seed(seed)
    ways: Ways = {**given, "stopping": stopping, "max_samples": LONGEST}  # type: ignore[typeddict-item]

    def one(run: int) -> tuple[float, float]:
        return movements(traced(False, strategy, means, delta, run, key, ways))

    with ThreadPoolExecutor(workers) as pool:
        found = np.array(list(pool.map(one, range(runs))))
    mean = found.mean(axis=0)
    error = found.std(axis=0, ddof=1) / np.sqrt(runs) if runs > 1 else np.full(2, np.nan)
    numbers = [float(x) for pair in zip(mean, error, strict=True) for x in pair]
    return Movement(strategy.name, bandit.name, runs, *numbers)
