"""Which strategy takes the fewest samples under the proven rule: `python -m benchmarks.default_strategy`.

`bestarm.compare` on the candidates of docs/decisions/0003-default-strategy.md, and what happens before a
decision is possible.
"""

from __future__ import annotations

import argparse

import bestarm
from bestarm.comparison import tables

from .measure import show

DELTA, RULE = 0.05, "mixture"
CANDIDATES: list[str | bestarm.Strategy] = [
    *("tas-d", "tas-c", "ebs-d", "ebs-c"),
    bestarm.EBS("D", gamma=0.5),
    bestarm.EBS("D", width="mixture"),
    *("lucb++", "racing", "uniform"),
]
STRESS = {
    "two near-ties": (-0.3, -0.3, -0.3, -0.02, 0.0),
    "two equal": (-0.3, -0.3, -0.3, 0.0, 0.0),
    "ten near-ties": (*(-0.02 + 0.00125 * i for i in range(9)), 0.0),
}
UNDECIDED = 20_000


def measure(runs: int, seed: int) -> None:
    """The suite."""
    found = bestarm.compare(
        *(CANDIDATES, "standard", DELTA),
        runs=runs,
        seed=seed,
        stopping=RULE,
        reference="tas-d",
        stability_runs=max(2, runs // 20),
    )
    for title, table in {
        "Ratios to the best candidate on each bandit": found.table(),
        "Geometric mean by kind of bandit": tables.groups(found, DELTA),
        "Fewest samples, and multiples of it": tables.bandits(found, DELTA),
        "Movement per 1000 samples": tables.movements(found),
    }.items():
        show(*table, title)
    print(*found.notes(), sep="\n")


def stress(runs: int, seed: int) -> None:
    """What happens before a decision is possible."""
    rows = []
    for name, means in STRESS.items():
        options = {"runs": runs, "seed": seed, "stopping": RULE, "max_samples": UNDECIDED}
        for cell in bestarm.simulate(CANDIDATES, means, DELTA, **options, progress=False):  # type: ignore[arg-type]
            share = cell.mean_pulls / cell.mean_pulls.sum()
            shown = [f"{100 * share[-2:].sum():.1f} %", f"{100 * share.min():.2f} %"]
            counts = [str(cell.runs - cell.censored), str(cell.errors)]
            rows.append([f"{name} (K={len(means)})", cell.strategy, *shown, *counts])
    header = ["bandit", "strategy", "pulls of the best two", "of the rarest arm", "decided", "errors"]
    show(header, rows, f"Undecided: cut off at {UNDECIDED} samples, {runs} runs")


def main() -> None:
    """Both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="per bandit and strategy")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    measure(given.runs, given.seed)
    stress(min(given.runs, 200), given.seed)


if __name__ == "__main__":
    main()
