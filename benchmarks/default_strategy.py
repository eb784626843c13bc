"""Which strategy takes the fewest samples under the proven rule: `python -m benchmarks.default_strategy`."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

import bestarm
from bestarm.paper.published import BANDITS

from .measure import show

DELTA, RULE = 0.05, "mixture"
LIMIT = 200_000  # for every strategy, since LUCB++ may never end; the others stay far below
CANDIDATES: list[str | bestarm.Strategy] = [
    *("tas-d", "tas-c", "ebs-d", "ebs-c"),
    bestarm.EBS("D", gamma=0.5),
    bestarm.EBS("D", width="mixture"),
    *("lucb++", "racing", "uniform"),
]
NAMES = [one if isinstance(one, str) else one.name for one in CANDIDATES]
UNUSABLE = ("racing", "lucb++")  # live: one pull at a time, or perhaps no end
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Bandit:
    """A bandit; its name begins with its kind. The best arm comes last, except in the paper's."""

    name: str
    means: tuple[float, ...]
    rewards: str = "gaussian"


def shapes(K: int, gap: float = 0.2) -> dict[str, Numbers]:
    """Distances to the best arm of the other K-1, in units of sigma; least the same for all but clear."""
    i = np.arange(1, K)
    return {
        "equal": np.full(K - 1, gap),
        "rival": np.where(i == 1, gap, 5 * gap),  # one close rival
        "linear": gap * i,
        "pack": np.where(i <= (K + 1) // 3, gap, 4 * gap),  # a third of the arms are near-ties
        "bell": gap * (high := ndtri((K - 0.5) / K) - ndtri((K - i - 0.5) / K)) / high[0],  # normal quantiles
        "clear": np.linspace(1.0, 2.0, K - 1),  # one clear winner
    }


def suite() -> list[Bandit]:
    """Every K has the same weight; for K = 2 the shapes differ in the gap alone."""
    found = [Bandit(f"K=2 gap {gap:g}", (-gap, 0.0)) for gap in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)]
    for K in (3, 5, 10, 20, 50):
        found += [Bandit(f"K={K} {name}", (*-gaps[::-1], 0.0)) for name, gaps in shapes(K).items()]
    found += [Bandit(name, means) for name, means in BANDITS.items()]
    successes = {
        "A/B": (0.45, 0.55),
        "conversion": (0.06, 0.07, 0.07, 0.10),
        "models": (0.4, 0.6, 0.8, 0.85, 0.9),
        "prompts": (*np.linspace(0.5, 0.74, 9), 0.8),
        "near-ties": (0.6,) * 9 + (0.78,) * 10 + (0.85,),
        "settings": (*np.linspace(0.2, 0.5, 49), 0.7),
    }
    return found + [Bandit(f"0/1 {name}", means, "bernoulli") for name, means in successes.items()]


STRESS = [
    Bandit("two near-ties", (-0.3, -0.3, -0.3, -0.02, 0.0)),
    Bandit("two equal", (-0.3, -0.3, -0.3, 0.0, 0.0)),
    Bandit("ten near-ties", (*np.linspace(-0.02, -0.01, 9), 0.0)),
]
UNDECIDED = 20_000


def cells(bandit: Bandit, runs: int, seed: int, limit: int = LIMIT) -> list[Any]:
    """One cell per candidate."""
    found = bestarm.simulate(
        CANDIDATES,
        bandit.means,
        DELTA,
        runs=runs,
        seed=seed,
        rewards=bandit.rewards,
        stopping=RULE,
        max_samples=limit,
        progress=False,
    )
    return list(found)


def measure(runs: int, seed: int) -> None:
    """The suite: samples per bandit, per kind of bandit, and over all."""
    bandits = suite()
    found = [cells(bandit, runs, seed + i) for i, bandit in enumerate(bandits)]
    mean = np.array([[cell.mean_samples for cell in row] for row in found])
    ratio = mean / mean.min(axis=1, keepdims=True)
    per_bandit(bandits, found)
    rows = []
    for bandit, row, x in zip(bandits, found, ratio, strict=True):
        best = row[int(x.argmin())]
        rows.append([bandit.name, f"{best.mean_samples:.0f} ± {best.standard_error:.0f}", *multiples(x)])
    for word in dict.fromkeys(word for bandit in bandits for word in kinds(bandit)):
        part = np.array([word in kinds(bandit) for bandit in bandits])
        rows.append([f"all {word}", "", *multiples(geometric(ratio[part]))])
        rows.append([f"all but {word}", "", *multiples(geometric(ratio[~part]))])
    title = f"Mean samples of the best candidate, and of each as a multiple of it; {runs} runs"
    show(["bandit", "best", *NAMES], rows, title)
    overall(found, ratio)


def kinds(bandit: Bandit) -> list[str]:
    """The groups that a bandit belongs to: its K and its shape, or where it comes from."""
    words = bandit.name.split()
    return ["paper"] if bandit.name in BANDITS else words[: 1 if words[0] in ("K=2", "0/1") else 2]


def geometric(x: Numbers) -> Numbers:
    """Geometric means of the columns."""
    return np.asarray(np.exp(np.log(x).mean(axis=0)))


def multiples(x: Numbers) -> list[str]:
    """Numbers to two digits."""
    return [f"{one:.2f}" for one in x]


def per_bandit(bandits: list[Bandit], found: list[list[Any]]) -> None:
    """All means, with their errors."""
    rows = []
    for bandit, row in zip(bandits, found, strict=True):
        shown = [
            f"{cell.mean_samples:.0f} ± {cell.standard_error:.0f} ({cell.quantiles((0.95,))[0.95]:.0f})"
            for cell in row
        ]
        rows.append([bandit.name, *shown])
    show(["bandit", *NAMES], rows, "Mean samples ± standard error (95% quantile)")


def overall(found: list[list[Any]], ratio: Numbers) -> None:
    """What it comes to; the first ± is that of the runs, the second that of the choice of bandits."""
    tail = np.array([[cell.quantiles((0.95,))[0.95] for cell in row] for row in found])
    tails = geometric(tail / tail.min(axis=1, keepdims=True))
    logs = np.log(ratio)
    usable = [j for j in range(len(NAMES)) if NAMES[j] not in UNUSABLE]
    least = usable[int(logs.mean(axis=0)[usable].argmin())]
    rows = []
    for j, name in enumerate(NAMES):
        mine = [row[j] for row in found]
        above = logs[:, j] - logs[:, least]
        spread = above.std(ddof=1) / np.sqrt(len(above))
        rows.append(
            [
                name,
                f"{np.exp(logs[:, j].mean()):.3f}",
                f"{100 * above.mean():+.1f} ± {100 * noise(found, j, least):.1f} ± {100 * spread:.1f}",
                f"{ratio[:, j].mean():.3f}",
                f"{ratio[:, j].max():.2f}",
                f"{tails[j]:.3f}",
                f"{np.mean([cell.error_rate for cell in mine]):.4f}",
                f"{max(cell.error_rate for cell in mine):.3f}",
                str(sum(int((cell.samples > 5 * cell.mean_samples).sum()) for cell in mine)),
                str(sum(cell.censored for cell in mine)),
            ]
        )
    header = ["strategy", "geometric", f"100 log over {NAMES[least]}", "arithmetic", "worst", "95% quantile"]
    title = f"Ratios to the best candidate over {len(found)} bandits of {len(found[0][0].samples)} runs"
    show([*header, "errors", "most errors", "over 5 means", "censored"], rows, title)


def noise(found: list[list[Any]], j: int, least: int) -> float:
    """Standard error of the difference of mean logarithms; the candidates share their rewards."""
    variances = [
        np.var(row[j].samples / row[j].mean_samples - row[least].samples / row[least].mean_samples, ddof=1)
        / row[j].runs
        for row in found
    ]
    return float(np.sqrt(np.sum(variances)) / len(found))


def stress(runs: int, seed: int) -> None:
    """What happens before a decision is possible."""
    rows = []
    for bandit in STRESS:
        K = len(bandit.means)
        for cell in cells(bandit, runs, seed, UNDECIDED):
            share = cell.mean_pulls / cell.mean_pulls.sum()
            shown = [f"{100 * share[-2:].sum():.1f} %", f"{100 * share.min():.2f} %"]
            counts = [str(cell.runs - cell.censored), str(cell.errors)]
            rows.append([f"{bandit.name} (K={K})", cell.strategy, *shown, *counts])
    header = ["bandit", "strategy", "pulls of the best two", "of the rarest arm", "decided", "errors"]
    show(header, rows, f"Undecided: cut off at {UNDECIDED} samples, {runs} runs")


def moves(path: bestarm.Trace, window: int) -> tuple[float, float, float]:
    """Per 1000 samples: how much the target moves, the shares of the pulls from window to window, its leader.

    Both are ½ Σ|difference|, as in `bestarm reproduce stability`; NaN without a target.
    """
    per_thousand = 1000.0 / max(path.samples, 1)
    target = np.nan if path.target is None else np.abs(np.diff(path.target[:-1], axis=0)).sum() / 2.0
    shares = np.diff(path.pulls[::window], axis=0) / window
    drift = np.abs(np.diff(shares, axis=0)).sum() / 2.0
    changes = int((np.diff(shares.argmax(axis=1)) != 0).sum()) if len(shares) else 0
    return float(target * per_thousand), float(drift * per_thousand), changes * per_thousand


def stability(runs: int, seed: int) -> None:
    """The movements of target and pulls on three bandits."""
    rows = []
    for bandit in (
        Bandit("mu1", BANDITS["mu1"]),
        Bandit("K=10 linear", (*-shapes(10)["linear"][::-1], 0.0)),
        STRESS[0],
    ):
        window = 20 * len(bandit.means)
        for candidate, name in zip(CANDIDATES, NAMES, strict=True):
            values = np.array(
                [
                    moves(
                        bestarm.trace(
                            candidate,
                            bandit.means,
                            DELTA,
                            run=run,
                            seed=seed,
                            stopping=RULE,
                            max_samples=UNDECIDED,
                        ),
                        window,
                    )
                    for run in range(runs)
                ]
            )
            mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(runs)
            shown = [f"{m:.2f} ± {e:.2f}" if m == m else "-" for m, e in zip(mean, error, strict=True)]
            rows.append([bandit.name, name, *shown])
    header = ["bandit", "strategy", "target moves", "pulls move", "leader changes"]
    show(header, rows, f"Stability, per 1000 samples, {runs} runs; pulls in windows of 20 K")


def main() -> None:
    """Three parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="per bandit and strategy")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    measure(given.runs, given.seed)
    stress(min(given.runs, 200), given.seed)
    stability(max(2, given.runs // 20), given.seed)


if __name__ == "__main__":
    main()
