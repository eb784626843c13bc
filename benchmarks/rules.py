"""How many samples do the proven rules take? The measurements behind docs/guides/live.md.

    python -m benchmarks.rules [--runs 1000]

Samples, not speed: the same number of runs gives the same numbers. Not part of `make bench`.
"""

from __future__ import annotations

import argparse
from typing import Any

import truebest

DELTA = 0.05
COINS: dict[str, Any] = {"rewards": "bernoulli", "model": truebest.Bounded(0.0, 1.0)}
SCORES: dict[str, Any] = {"rewards": "beta", "noise": 0.1, "model": truebest.Bounded(0.0, 1.0)}
UNKNOWN: dict[str, Any] = {"model": truebest.Student(), "rules": ["student"]}
MOST = 3_000_000  # a run without the best arm among tied ones would never end
PROBLEMS: dict[str, tuple[list[float], str, dict[str, Any]]] = {
    "rates of 3% and 2%": ([0.03, 0.02], "uniform", COINS),
    "rates of 2.6%, 2.2% and 2.0%": ([0.026, 0.022, 0.02], "tas-d", {**COINS, "rules": ["tilt"]}),
    "rates of 97%, 95% and 95%": ([0.97, 0.95, 0.95], "tas-d", COINS),
    "rates of 97%, 97% and 95%, tolerance 1%": (
        [0.97, 0.97, 0.95],
        "tas-d",
        {**COINS, "tolerance": 0.01, "rules": ["tilt"]},
    ),
    "0.9, 0.8, 0.8": ([0.9, 0.8, 0.8], "tas-d", COINS),
    "0.6 and nine of 0.5": ([0.6] + [0.5] * 9, "tas-d", COINS),
    "0.55, 0.50": ([0.55, 0.5], "uniform", COINS),
    "beta scores of sd 0.1: 0.62, 0.60, 0.57": ([0.62, 0.6, 0.57], "tas-d", SCORES),
    "Gaussian, gaps 0.1 to 0.5 sigma": ([0.9, 0.8, 0.6, 0.4, 0.4], "tas-d", {}),
    "those gaps, sigma not known": ([0.9, 0.8, 0.6, 0.4, 0.4], "tas-d", UNKNOWN),
    "Gaussian, gap 1 sigma": ([1.0, 0.0], "tas-d", {}),
    "that gap, sigma not known": ([1.0, 0.0], "tas-d", UNKNOWN),
}


def main() -> None:
    """Print one line per problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    print(
        f"mean samples at delta = {DELTA}, {runs} runs; wrong answers in brackets; mixture, tilt, or student"
    )
    for seed, (name, (means, strategy, given)) in enumerate(PROBLEMS.items(), 1):
        words = []
        options = {"runs": runs, "seed": seed, "max_samples": MOST, "progress": False, **given}
        for rule in options.pop("rules", ["mixture", "tilt"]):
            cell = truebest.simulate(strategy, means, DELTA, stopping=rule, **options).cells[0]
            words.append(f"{cell.mean_samples:9.0f} ± {cell.standard_error:<5.0f} ({cell.errors})")
        print(f"{name:52} {strategy:8}" + "  ".join(words), flush=True)


if __name__ == "__main__":
    main()
