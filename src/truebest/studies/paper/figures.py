"""The data of the paper's figures, from the paper's settings; what it leaves open is chosen here and said.

Figure 1 and 4 show a box that the paper does not give: BOX has three potential best arms, as theirs. Figure
5's grid of deltas is not given either: DELTAS runs from 0.1 to 1e-10. Figures 2 and 3 do not name the
tracking: C-tracking, as in Algorithms 2 and 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ...simulation.simulate import simulate
from ...simulation.trace import Trace, trace
from ...strategies import EBS, Strategy, TrackAndStop, Uniform
from ...theory.complexity import lower_bound, optimal_weights
from ...theory.exploration import ExplorationCandidate, exploration_candidates
from ..ledger import Ledger
from .published import BANDITS, FIGURE_3_ROUNDS, FIGURE_5, FIGURES_2_AND_3

BOX = (np.array([0.50, 0.30, 0.40, 0.10, 0.20]), np.array([0.80, 0.95, 0.70, 0.35, 0.45]))
NU = np.array([0.60, 0.85, 0.45, 0.15, 0.30])  # a bandit of the box with best arm 2, for Figure 4
DELTAS = tuple(float(x) for x in 10.0 ** -np.linspace(1, 10, 19))

Array = npt.NDArray[np.float64]


def candidates() -> list[ExplorationCandidate]:
    """Figure 1: the bandits that Algorithm 1 tries."""
    return exploration_candidates(*BOX)


def runs_of_both(seed: int = 1, run: int = 0) -> tuple[Trace, Trace]:
    """Figures 2 and 3: one run of EBS and one of Track-and-Stop on the same rewards."""
    means, delta = FIGURES_2_AND_3["means"], FIGURES_2_AND_3["delta"]
    ebs = EBS("C", float(FIGURES_2_AND_3["gamma"]))  # type: ignore[arg-type]
    both = [trace(s, means, delta, seed=seed, run=run) for s in (ebs, TrackAndStop("C"))]  # type: ignore[arg-type]
    return both[0], both[1]


@dataclass(frozen=True)
class ProofStep:
    """One bandit in the proof of Proposition 1."""

    name: str
    bandit: Array
    min_weight: float


def proof_steps() -> list[ProofStep]:
    """Figure 4: from a bandit of the box to the candidate of its best arm, w_min never falling."""
    low, high = BOX
    best, floor = int(NU.argmax()), NU.min()
    raised = NU.copy()
    raised[best] = high[best]  # Lemma 12
    lowered = np.maximum(low, floor)  # Lemma 11, arm by arm
    lowered[best] = high[best]
    levelled = np.maximum(low, high.min())  # Lemma 13
    levelled[best] = high[best]
    names = ("nu", "nu(1)", "nu(2)", "nu(3)")
    return [
        ProofStep(name, bandit, float(optimal_weights(bandit).weights.min()))
        for name, bandit in zip(names, (NU, raised, lowered, levelled), strict=True)
    ]


@dataclass(frozen=True)
class Draws:
    """Figure 5 for one bandit: mean draws and standard errors per strategy, against delta.

    mean, error   strategy -> (deltas,)
    bound         (deltas,) T kl(δ, 1-δ)
    """

    bandit: str
    deltas: tuple[float, ...]
    mean: dict[str, Array]
    error: dict[str, Array]
    bound: Array


def draws_against_delta(runs: int | None = None, seed: int = 0, ledger: Ledger | None = None) -> list[Draws]:
    """Figure 5: EBS, Track-and-Stop and uniform sampling on four bandits, all deltas from one trajectory."""
    count = runs or int(FIGURE_5["runs"])
    strategies = {
        "ebs-d": EBS("D", float(FIGURE_5["gamma"])),
        "tas-d": TrackAndStop("D"),
        "uniform": Uniform(),
    }
    parts = {
        f"{bandit}/{name}": partial(_draws, bandit, strategy, count, seed)
        for bandit in BANDITS
        for name, strategy in strategies.items()
    }
    made = (ledger or Ledger()).make({"runs": count, "seed": seed}, parts)
    return [
        Draws(
            bandit,
            DELTAS,
            {name: np.array(made[f"{bandit}/{name}"]["mean"]) for name in strategies},
            {name: np.array(made[f"{bandit}/{name}"]["error"]) for name in strategies},
            np.array([float(lower_bound(means, delta)) for delta in DELTAS]),
        )
        for bandit, means in BANDITS.items()
    ]


def _draws(bandit: str, strategy: Strategy, runs: int, seed: int) -> dict[str, Any]:
    found = simulate(strategy, BANDITS[bandit], DELTAS, runs=runs, seed=seed, progress=False)
    if not found.complete:
        raise KeyboardInterrupt
    return {
        "delta": list(DELTAS),
        "mean": [cell.mean_samples for cell in found],
        "error": [cell.standard_error for cell in found],
    }


def candidates_to_dict(found: list[ExplorationCandidate]) -> list[dict[str, Any]]:
    """Figure 1 as plain objects, one per candidate and arm; arms are counted from 1."""
    chosen = max(found, key=lambda candidate: candidate.min_weight)
    return [
        {
            "candidate": candidate.arm + 1,
            "chosen": candidate is chosen,
            "min_weight": float(candidate.min_weight),
            "arm": a + 1,
            "lower": float(BOX[0][a]),
            "upper": float(BOX[1][a]),
            "mean": float(candidate.bandit[a]),
            "weight": float(candidate.weights[a]),
        }
        for candidate in found
        for a in range(len(candidate.bandit))
    ]


def frequencies_to_dict(paths: tuple[Trace, Trace]) -> list[dict[str, Any]]:
    """Figure 2 as plain objects, one per strategy and round: N(t), of which the figure shows N(t)/t."""
    return [
        {"strategy": path.strategy, "time": int(path.time[i]), **_columns("pulls", path.pulls[i].astype(int))}
        for path in paths
        for i in range(len(path.time))
    ]


def targets_to_dict(paths: tuple[Trace, Trace]) -> list[dict[str, Any]]:
    """Figure 3 as plain objects, one per strategy and round; a forced round targets one arm alone."""
    rows = []
    for path in paths:
        assert path.target is not None
        shown = np.flatnonzero((path.time <= FIGURE_3_ROUNDS) & (path.arm >= 0))
        rows += [
            {"strategy": path.strategy, "time": int(path.time[i]), **_columns("target", path.target[i])}
            for i in shown
        ]
    return rows


def _columns(name: str, values: npt.NDArray[Any]) -> dict[str, Any]:
    return {f"{name}_{a}": value for a, value in enumerate(values.tolist(), 1)}


def steps_to_dict(steps: list[ProofStep]) -> list[dict[str, Any]]:
    """Figure 4 as plain objects, one per bandit and arm."""
    return [
        {
            "bandit": step.name,
            "min_weight": step.min_weight,
            "arm": a + 1,
            "lower": float(BOX[0][a]),
            "upper": float(BOX[1][a]),
            "mean": float(step.bandit[a]),
        }
        for step in steps
        for a in range(len(step.bandit))
    ]


def draws_to_dict(panels: list[Draws]) -> list[dict[str, Any]]:
    """Figure 5 as plain objects, one per bandit, strategy and delta."""
    return [
        {
            "bandit": draws.bandit,
            "strategy": name,
            "delta": delta,
            "mean_samples": float(draws.mean[name][i]),
            "standard_error": float(draws.error[name][i]),
            "lower_bound": float(draws.bound[i]),
        }
        for draws in panels
        for name in draws.mean
        for i, delta in enumerate(draws.deltas)
    ]
