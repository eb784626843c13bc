"""The package in a minute: a choice on common test cases, then the mathematics behind it.

    python examples/demo.py [FOLDER]

FOLDER is where the page about the choice is saved; by default report.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import truebest

SKILL = {"none": 0.55, "short": 0.62, "long": 0.7, "step by step": 0.76}
ITEMS = 600
MEANS = np.array([0.9, 0.8, 0.6, 0.4, 0.4])
STRATEGIES = ("ebs-d", "tas-d", "racing", "lucb++", "uniform")
RULES = (
    truebest.Practical(),
    truebest.GK16(),
    truebest.KaufmannKoolen(),
    truebest.Mixture(),
    truebest.Tilt(),
)


def choose(folder: Path) -> None:
    """Choose between prompts on common test cases that answer slowly enough to be watched."""
    rng = np.random.default_rng(4)
    hard = rng.random((ITEMS, 1))  # what is hard for one prompt is usually hard for the others
    right = 0.7 * hard + 0.3 * rng.random((ITEMS, len(SKILL))) < 0.1 + 0.8 * np.array(list(SKILL.values()))

    def prompt(column: int) -> Callable[[int], float]:
        def score(item: int) -> float:
            time.sleep(0.004)
            return float(right[item, column])

        return score

    print(f"Four prompts, and {ITEMS} test cases that each answers right or wrong. Which is best on them?\n")
    arms = {name: prompt(column) for column, name in enumerate(SKILL)}
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "choice.html"
    with TemporaryDirectory() as place:
        store = f"sqlite:///{place}/demo.db"
        result = truebest.identify(arms, items=ITEMS, bounds=(0, 1), rng=1, store=store, name="four prompts")
        with truebest.Experiment.open(store, "four prompts") as experiment:
            experiment.report(page)
    print(result)
    print(f"\nScoring everything would take {ITEMS * len(SKILL)} calls.")
    print(f"The report on the choice is in {page}")
    print(
        "With your own: truebest identify --items tests.jsonl --bounds 0,1 --arm old='./score old' "
        "--arm new='./score new'\n"
    )


def study() -> None:
    """Optimal weights, stopping rules and the simulator."""
    print("For researchers, the mathematics behind it and the strategies of the paper.")
    print(f"Five options with means {', '.join(map(str, MEANS))}, each sample with noise of variance 1.")
    print("Which is the best? How should samples be shared out, and how many does it take?\n")

    solution, counts, columns = truebest.optimal_weights(MEANS), (100, 1_000, 10_000, 100_000), []
    for n in counts:
        width = truebest.confidence_width(n, 0.05, MEANS.size, "experiments")
        columns.append(truebest.exploration_biased_weights(MEANS - width, MEANS + width).weights)
    print("Exploration-biased weights start uniform and approach the optimal ones as intervals shrink:")
    show(
        ["arm", "mean", "optimal weight", *(f"after {n} each" for n in counts)],
        [[a + 1, MEANS[a], solution.weights[a], *(w[a] for w in columns)] for a in range(MEANS.size)],
    )
    print(f"\nCharacteristic time T = {solution.time:.1f}: about T log(1/delta) samples are needed.\n")

    pulls, delta = np.round(7000 * solution.weights), 0.1
    print(f"After 7000 samples shared out optimally, with these means observed, at delta = {delta}:")
    found = {rule: rule.evaluate(pulls, MEANS, delta) for rule in RULES}
    show(
        ["stopping rule", "proven", "statistic", "threshold", "decision"],
        [
            [
                rule.name,
                "yes" if rule.proven else "no",
                *(now.statistic, now.threshold, "stop" if now.decided else "continue"),
            ]
            for rule, now in found.items()
        ],
    )
    print("\nHow many samples do strategies take to find the best arm at delta = 0.1? (1000 runs each)\n")
    started = time.perf_counter()
    simulated = truebest.simulate(STRATEGIES, MEANS, delta, runs=1000, seed=1)
    print(simulated)
    steps = sum(int(cell.samples.sum()) for cell in simulated)
    print(f"\n{steps / 1e6:.0f} million samples drawn in {time.perf_counter() - started:.1f} s.")
    print("\nNext: truebest simulate --means 0.9,0.5,0.45,0.4 --stopping mixture --strategy ebs-d,tas-d")


def show(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table, the first column to the left."""
    cells = [[f"{x:.4g}" if isinstance(x, float) else str(x) for x in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    for row in (header, *cells):
        print("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]))


if __name__ == "__main__":
    choose(Path(sys.argv[1] if len(sys.argv) > 1 else "report"))
    study()
