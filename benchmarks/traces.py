"""Runs that are followed step by step: `trace`, the movement that `compare` measures, and `check_strategy`.

    python -m benchmarks traces

CPU time of one thread, the least of several, each warm; per sample of the runs that are followed.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import truebest
from truebest._catalogue import DEFAULT_STRATEGY
from truebest.strategies import find_strategy
from truebest.studies.comparison import stability
from truebest.testing import check_strategy

from .measure import cpu_seconds, duration, show

RULES = ("mixture", "tilt")
CHECKED = (DEFAULT_STRATEGY, "ebs-d", "tas-d")


def main() -> None:
    """Print the tables."""
    show(["us per sample", *RULES], [_traced(name, given) for name, given in _bandits().items()], "A trace")
    rows = [[name, *(duration(_moved(name, rule)) for rule in RULES)] for name in CHECKED]
    show(["movement", *RULES], rows, "How targets and pulls move, 10 runs on each of 3 bandits")
    checked = [[name, duration(cpu_seconds(partial(check_strategy, name), repeats=2))] for name in CHECKED]
    show(["strategy", "CPU time"], checked, "check_strategy (aim: 5 s)")


def _bandits() -> dict[str, dict[str, Any]]:
    found = {one.name: one.arguments() for one in stability.bandits()[:2]}
    scores = {"rewards": "bernoulli", "model": truebest.Bounded(0.0, 1.0)}
    return {**found, "0/1 values, K = 5": {"means": (0.5, 0.45, 0.4, 0.3, 0.2), **scores}}


def _traced(name: str, given: dict[str, Any]) -> list[str]:
    row = [name]
    for rule in RULES:
        call = partial(
            truebest.trace, DEFAULT_STRATEGY, delta=1e-4, stopping=rule, max_samples=20_000, **given
        )
        row.append(f"{1e6 * cpu_seconds(call, repeats=3) / call().samples:.2f}")
    return row


def _moved(name: str, rule: str) -> float:
    strategy = find_strategy(name)

    def measured() -> None:
        for bandit in stability.bandits():
            stability.measure(strategy, bandit, 0.05, rule, 10, 0, 1)

    return cpu_seconds(measured, repeats=3)


if __name__ == "__main__":
    main()
