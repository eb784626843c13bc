"""`bestarm demo`: what the package does, in a minute: a live choice, then the bandit of the paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .._catalogue import COMPARED
from ._output import number, print_table

if TYPE_CHECKING:
    import numpy as np

PROMPTS = {"none": 0.45, "short": 0.55, "long": 0.6, "step by step": 0.8}
MEANS = (0.9, 0.8, 0.6, 0.4, 0.4)


def demo() -> None:
    """Show with examples what bestarm does."""
    _live()
    _study()


def _live() -> None:
    """Choose between options that answer slowly enough to be watched."""
    import time

    from ..running.identify import identify

    def option(rate: float) -> Callable[[np.random.Generator], float]:
        def score(rng: np.random.Generator) -> float:
            time.sleep(0.004)
            return float(rng.random() < rate)

        return score

    print("Four prompts, each answer right or wrong by chance. Which one is right most often?\n")
    result = identify(
        {name: option(rate) for name, rate in PROMPTS.items()}, bounds=(0, 1), rng=1, max_samples=20_000
    )
    print(result.sentence, end="\n\n")
    print_table(*result.table())
    print(
        "\nWith your own commands: "
        "bestarm identify --arm old='./evaluate old' --arm new='./evaluate new' --bounds 0,1\n"
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
    print("\nNext: bestarm simulate --means 0.9,0.5,0.45,0.4 --stopping mixture --strategy ebs-d,tas-d")
