"""How many samples the rule `tilt` takes with the default strategy, as a part of those of the version before.

    python -m benchmarks.rule_versions [--runs 4000]

Run by run on the same rewards, with the standard error of the ratio. None of the problems was used to choose
a constant of the rule. Then equal arms at delta = 0.2: how often another one than the first is declared; that
must be less than delta. Samples and errors, not speed; `leaderboards` measures rounds on closed sets.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np

import truebest
from truebest.simulation.summary import exact_interval
from truebest.theory.tilt import FormerTilt, Tilt

from .measure import show

SEED, LOOKS = 29, 1 / 400  # the latter as a simulation by the rule's name has it
COINS: dict[str, Any] = {"rewards": "bernoulli", "model": truebest.Bounded(0.0, 1.0)}
PROBLEMS: dict[str, tuple[list[float], dict[str, Any]]] = {
    "0.3, 0.2": ([0.3, 0.2], COINS),
    "0.97, 0.9": ([0.97, 0.9], COINS),
    "0.05, 0.04": ([0.05, 0.04], COINS),
    "Gaussian, gap 0.3 sigma": ([0.3, 0.0], {}),
    "Gaussian, gap 0.8 sigma": ([0.8, 0.0], {}),
    "0.45, 0.35, 0.3": ([0.45, 0.35, 0.3], COINS),
    "0.9, 0.87, 0.86, 0.8": ([0.9, 0.87, 0.86, 0.8], COINS),
    "Gaussian, gaps 0.4 to 1 sigma": ([1.0, 0.6, 0.5, 0.2, 0.0], {}),
    "six rates from 0.5 to 0.7": ([0.7, 0.66, 0.62, 0.6, 0.55, 0.5], COINS),
    "eight rates from 0.3 to 0.7": ([0.7, 0.55, 0.55, 0.5, 0.5, 0.45, 0.4, 0.3], COINS),
}
WITHIN: dict[str, tuple[list[float], dict[str, Any]]] = {
    "two rates of 0.45, within 0.05": ([0.45, 0.45], {**COINS, "tolerance": 0.05}),
    "0.8, 0.7, within 0.05": ([0.8, 0.7], {**COINS, "tolerance": 0.05}),
    "Gaussian, gap 0.1, within 0.2 sigma": ([0.1, 0.0], {"tolerance": 0.2}),
    "0.6, 0.6, 0.5, 0.4, within 0.05": ([0.6, 0.6, 0.5, 0.4], {**COINS, "tolerance": 0.05}),
    "Gaussian, 0.5, 0.4, 0, within 0.2 sigma": ([0.5, 0.4, 0.0], {"tolerance": 0.2}),
}
SCORES: dict[str, Any] = {"rewards": "beta", "model": truebest.Bounded(0.0, 1.0)}
UNLIKE: dict[str, tuple[list[float], list[float]]] = {  # means, and deviations of the values
    "0.45, 0.35, the better one varies 3 times as much": ([0.45, 0.35], [0.27, 0.09]),
    "0.45, 0.35, the worse one": ([0.45, 0.35], [0.09, 0.27]),
    "0.7, 0.67, the better one": ([0.7, 0.67], [0.24, 0.08]),
    "0.7, 0.67, the worse one": ([0.7, 0.67], [0.08, 0.24]),
    "0.55, 0.51, the better one, 5 times": ([0.55, 0.51], [0.3, 0.06]),
    "0.55, 0.51, the worse one, 5 times": ([0.55, 0.51], [0.06, 0.3]),
    "0.25, 0.15, twice": ([0.25, 0.15], [0.2, 0.1]),
    "0.8, 0.7, alike": ([0.8, 0.7], [0.15, 0.15]),
    "three, the best one": ([0.65, 0.55, 0.5], [0.27, 0.09, 0.09]),
    "three, the others": ([0.65, 0.55, 0.5], [0.09, 0.27, 0.27]),
    "four, every other one": ([0.5, 0.45, 0.4, 0.3], [0.24, 0.08, 0.24, 0.08]),
    "five, the second and fourth": ([0.75, 0.7, 0.6, 0.6, 0.5], [0.1, 0.3, 0.1, 0.3, 0.1]),
    "eight, alike": ([0.8, 0.7, 0.7, 0.65, 0.6, 0.6, 0.5, 0.4], [0.15] * 8),
}
MOST = 200_000  # samples of a run: where the best arm was ruled out, equal ones that are left go on for ever
BUDGETS = (1.5, 3.0, 10.0, 0.1)  # times the mean samples before
EQUAL: dict[str, tuple[list[float], str, dict[str, Any]]] = {
    "two rates of 0.5": ([0.5, 0.5], "ebs-open-need", COINS),
    "two rates of 0.03": ([0.03, 0.03], "ebs-open-need", COINS),
    "two Gaussian arms": ([0.0, 0.0], "ttucb", {}),
    "two Gaussian arms of sigma 1 and 3": (
        [0.0, 0.0],
        "ebs-open-need",
        {"sigma": (1.0, 3.0), "noise": (1.0, 3.0)},
    ),
    "two kinds of scores of 0.5": (
        [0.5, 0.5],
        "ebs-open-need",
        {**SCORES, "noise": (0.3, 0.1)},
    ),
    "three rates of 0.4": ([0.4, 0.4, 0.4], "t3c-ids", COINS),
    "0.5, 0.5, 0.3": ([0.5, 0.5, 0.3], "ebs-open-need", COINS),
}


def samples(
    rule: Tilt, means: list[float], runs: int, given: dict[str, Any], version: int | None = None
) -> truebest.Cell:
    """Of every run; the version of the strategy is by default that of the rule's time."""
    options = {"runs": runs, "seed": SEED, "stopping": rule, "max_samples": MOST, "progress": False, **given}
    strategy = truebest.OpenEBS(version=version or (1 if isinstance(rule, FormerTilt) else 2))
    return truebest.simulate(strategy, means, **options).cells[0]


def unlike(runs: int) -> None:
    """Values between the ends that vary unlike: by now, and what the strategy's part in it is."""
    rows = []
    for name, (means, noise) in UNLIKE.items():
        given = {**SCORES, "noise": noise}
        before = samples(FormerTilt(LOOKS), means, runs, given)
        equal, now = (samples(Tilt(LOOKS), means, runs, given, version=one) for one in (1, 2))
        wrong = f"{before.errors}, {now.errors}"
        rows.append([name, f"{before.mean_samples:.0f}", ratio(now, before), ratio(now, equal), wrong])
    header = ["means, and which values vary more", "before", "now", "by sampling alone", "wrong"]
    show(header, rows, f"Values between 0 and 1 at delta 0.05, {runs} runs")


def ratio(now: truebest.Cell, before: truebest.Cell) -> str:
    """Of the mean samples, with its standard error."""
    new, old = (np.asarray(cell.samples, float) for cell in (now, before))
    found = new.mean() / old.mean()
    error = (new - found * old).std() / old.mean() / math.sqrt(old.size)
    return f"{found:.3f} ± {error:.3f}"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4000)
    runs = parser.parse_args().runs
    rows = []
    for name, (means, given) in PROBLEMS.items():
        before = samples(FormerTilt(LOOKS), means, runs, given)
        now = samples(Tilt(LOOKS), means, runs, given)
        rows.append(
            [name, f"{before.mean_samples:.0f}", ratio(now, before), f"{before.errors}, {now.errors}"]
        )
        other = samples(Tilt(LOOKS, share=0.9), means, runs, given) if len(means) > 2 else None
        rows[-1].append(ratio(other, before) if other else "")
    show(["problem", "before", "now", "wrong", "share of 0.9"], rows, f"Samples at delta 0.05, {runs} runs")
    rows = []
    for name, (means, given) in WITHIN.items():
        before, now = (samples(rule, means, runs, given) for rule in (FormerTilt(LOOKS), Tilt(LOOKS)))
        rows.append(
            [name, f"{before.mean_samples:.0f}", ratio(now, before), f"{before.errors}, {now.errors}"]
        )
    show(["problem", "before", "now", "wrong"], rows, "The same with a tolerance")
    rows = []
    for name, (means, given) in PROBLEMS.items():
        before = samples(FormerTilt(LOOKS), means, runs, given)
        rows.append([name])
        for times in BUDGETS:
            rule = Tilt(LOOKS, budget=round(times * before.mean_samples))
            rows[-1].append(ratio(samples(rule, means, runs, given), before))
    header = ["problem", *(f"{times:g} times" for times in BUDGETS)]
    show(header, rows, "With a budget of so many times the mean before, run on without limit")
    unlike(runs)
    rows = []
    for name, (means, strategy, given) in EQUAL.items():
        line = [name, strategy]
        for rule in (FormerTilt(LOOKS), Tilt(LOOKS)):
            options = {"runs": runs, "seed": SEED, "stopping": rule, "max_samples": 20_000, **given}
            cell = truebest.simulate(strategy, means, 0.2, progress=False, **options).cells[0]
            wrong = int((np.asarray(cell.recommended) > 0).sum())
            low, high = exact_interval(wrong, runs)
            line.append(f"{wrong / runs:.3f} ({low:.3f} to {high:.3f})")
        rows.append(line)
    title = f"Another arm than the first is declared within 20,000 samples, delta 0.2, {runs} runs"
    show(["arms", "strategy", "before", "now"], rows, title)


if __name__ == "__main__":
    main()
