"""`truebest demo`: the package in a minute: a choice on common test cases, then the mathematics."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from .._catalogue import COMPARED
from ._output import number, print_table

SKILL = {"none": 0.55, "short": 0.62, "long": 0.7, "step by step": 0.76}
ITEMS = 600
MEANS = (0.9, 0.8, 0.6, 0.4, 0.4)
Output = Annotated[str, typer.Option(metavar="FOLDER", help="Where the page about the choice is saved.")]


def demo(output: Output = "report") -> None:
    """Show with examples what truebest does."""
    _live(Path(output))
    print("For researchers, the mathematics behind it and the strategies of the paper.")
    _study()


def _live(folder: Path) -> None:
    """Choose between prompts on common test cases that answer slowly enough to be watched."""
    import time

    import numpy as np

    from ..running.identify import identify
    from ..running.stored import Experiment

    rng = np.random.default_rng(4)
    hard = rng.random((ITEMS, 1))  # what is hard for one prompt is mostly hard for the others
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
        result = identify(arms, items=ITEMS, bounds=(0, 1), rng=1, store=store, name="four prompts")
        with Experiment.open(store, "four prompts") as experiment:
            experiment.report(page)
    print(result)
    print(f"\nScoring everything would take {ITEMS * len(SKILL)} calls.")
    print(f"A page for whoever must decide is in {page}")
    print(
        "With your own: truebest identify --items tests.jsonl --bounds 0,1 --arm old='./score old' "
        "--arm new='./score new'\n"
    )


def _study() -> None:
    """The mathematics and the simulator."""
    import time

    import numpy as np

    from ..simulation.runner import simulate
    from ..theory.complexity import optimal_weights
    from ..theory.exploration import exploration_biased_weights
    from ..theory.models import Gaussian
    from ..theory.statistics import confidence_width
    from ..theory.stopping import RULES

    mu = np.array(MEANS)
    solution = optimal_weights(mu)
    print(f"Five options with means {', '.join(map(str, MEANS))}, each sample with noise of variance 1.")
    print("Which is the best? How should samples be shared out, and how many does it take?\n")

    counts = (100, 1_000, 10_000, 100_000)
    columns = []
    for n in counts:
        width = confidence_width(n, 0.05, mu.size, "experiments")
        columns.append(exploration_biased_weights(mu - width, mu + width).weights)
    print_table(
        ["arm", "mean", "optimal weight", *(f"after {n} each" for n in counts)],
        [
            [str(a + 1), str(mu[a]), number(solution.weights[a], 3), *(number(w[a], 3) for w in columns)]
            for a in range(mu.size)
        ],
        "Exploration-biased weights start uniform and approach the optimal ones as intervals shrink:",
    )
    print(f"\nCharacteristic time T = {number(solution.time)}: about T log(1/delta) samples are needed.\n")

    pulls, delta = np.round(7000 * solution.weights), 0.1
    rows = []
    for name, rule in RULES.items():
        if not rule.knows(Gaussian()):
            continue
        result = rule.evaluate(pulls, mu, delta)
        rows.append(
            [
                name,
                "yes" if rule.proven else "no",
                number(result.statistic, 4),
                number(result.threshold, 4),
                "stop" if result.decided else "continue",
            ]
        )
    print_table(
        ["stopping rule", "proven", "statistic", "threshold", "decision"],
        rows,
        f"After 7000 samples shared out optimally, with these means observed, at delta = {delta}:",
    )
    print("\nHow many samples do strategies take to find the best arm at delta = 0.1? (1000 runs each)\n")
    started = time.perf_counter()
    found = simulate(COMPARED, MEANS, delta, runs=1000, seed=1)
    print_table(*found.table())
    steps = sum(int(cell.samples.sum()) for cell in found)
    print(f"\n{steps / 1e6:.0f} million samples drawn in {time.perf_counter() - started:.1f} s.")
    print("\nNext: truebest simulate --means 0.9,0.5,0.45,0.4 --stopping mixture --strategy ebs-d,tas-d")
