"""The stability claim as a number: the paper shows one run, here are many.

Over the first 1200 rounds of a run, for every strategy with target weights: how much the targets move, how
often the most-targeted arm changes, and how long they stay uniform.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from ...simulation.trace import total_variation, trace
from ...strategies import EBS, Strategy, TrackAndStop
from ..ledger import Ledger
from .published import FIGURE_3_ROUNDS, FIGURES_2_AND_3


@dataclass(frozen=True)
class Stability:
    """Means over runs, each with its standard error.

    total_variation  ½ Σ_t Σ_a |w_a(t+1) - w_a(t)|: how many times the whole weight is moved about; a forced
                     step of Track-and-Stop targets one arm alone, and counts
    leader_changes   how often the most-targeted arm changes
    uniform_rounds   rounds until the targets first differ from uniform
    """

    strategy: str
    runs: int
    total_variation: float
    total_variation_error: float
    leader_changes: float
    leader_changes_error: float
    uniform_rounds: float
    uniform_rounds_error: float


def measure(runs: int = 1000, seed: int = 0, ledger: Ledger | None = None) -> list[Stability]:
    """EBS and Track-and-Stop, both trackings, on the bandit and with the settings of Figure 3."""
    gamma = float(FIGURES_2_AND_3["gamma"])  # type: ignore[arg-type]
    strategies: list[Strategy] = [EBS("C", gamma), EBS("D", gamma), TrackAndStop("C"), TrackAndStop("D")]
    parts = {strategy.name: partial(_part, strategy, runs, seed) for strategy in strategies}
    made = (ledger or Ledger()).make({"runs": runs, "seed": seed}, parts)
    return [Stability(**part) for part in made.values()]


def _part(strategy: Strategy, runs: int, seed: int) -> dict[str, Any]:
    values = np.array([_one(strategy, run, seed) for run in range(runs)])
    mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(runs)
    numbers = [float(x) for pair in zip(mean, error, strict=True) for x in pair]
    return asdict(Stability(strategy.name, runs, *numbers))


def _one(strategy: Strategy, run: int, seed: int) -> tuple[float, int, int]:
    path = trace(
        strategy,
        FIGURES_2_AND_3["means"],  # type: ignore[arg-type]
        1e-12,  # so small that no run stops within the rounds that are looked at
        run=run,
        seed=seed,
        max_samples=FIGURE_3_ROUNDS,
    )
    assert path.target is not None
    target = path.target[:-1]
    leader = target.argmax(axis=1)
    even = np.abs(target - 1.0 / target.shape[1]).max(axis=1) < 1e-12
    uniform = int(even.argmin()) if not even.all() else len(even)
    return total_variation(target), int((np.diff(leader) != 0).sum()), uniform
