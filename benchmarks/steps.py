"""Nanoseconds per step of every strategy and under every rule, beside those of another checkout.

    python -m benchmarks.steps [--against OTHER_CHECKOUT/src] [--arms 5 50 500] [--only WORD ...] [--turns 7]

Each checkout works in a process of its own, both take turns, and the least of several turns counts: what
shares the machine only ever adds. CPU time, one thread. The samples that both take are compared, too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

import truebest
from truebest._catalogue import DEFAULT_STRATEGY, STOPPING_RULES
from truebest.strategies import strategy_names

OURS = Path(truebest.__file__).parent.parent
MU_1 = (0.9, 0.8, 0.6, 0.4, 0.4)
SIZES = {5: (100, 100_000), 50: (4, 20_000), 500: (1, 20_000)}  # arms: runs, and samples of each at most
BOUNDED = {"rewards": "beta", "noise": 0.2, "model": ("Bounded", 0.0, 1.0)}
BY_RULE: dict[str, dict[str, Any]] = {
    **{rule: {"stopping": rule} for rule in STOPPING_RULES if rule != "practical"},
    "student": {"stopping": "student", "model": ("Student",)},
    "tilt, numbers": {"stopping": "tilt", **BOUNDED},
    "mixture, successes": {"stopping": "mixture", "rewards": "bernoulli", "model": ("Bounded", 0.0, 1.0)},
    "practical, successes": {"rewards": "bernoulli", "model": ("Bernoulli",)},
}


class Case(NamedTuple):
    """What is simulated: a strategy with so many arms, and the other arguments."""

    strategy: str
    num_arms: int
    options: dict[str, Any]

    def samples(self) -> int:
        """Simulate; how many samples that took."""
        K, options = self.num_arms, dict(self.options)
        runs, limit = SIZES[K]
        if "model" in options:
            name, *arguments = options["model"]
            options["model"] = getattr(truebest, name)(*arguments)
        means = MU_1 if K == 5 else (0.9, 0.8, *np.linspace(0.6, 0.2, K - 2).tolist())
        options |= {"runs": runs, "max_samples": limit, "seed": 1, "threads": 1, "progress": False}
        found = truebest.simulate(self.strategy, means, 0.1, **options)
        return int(found.cells[0].samples.sum())

    def measured(self) -> tuple[float, int]:
        """The CPU time of a step, and the steps; after a first call, which may compile."""
        start = time.process_time()
        steps = self.samples()
        return (time.process_time() - start) / steps, steps


def cases(arms: list[int], only: list[str]) -> dict[str, Case]:
    """By a label that contains each of some words."""
    found = {}
    for K in arms:
        for name in strategy_names():
            found[f"{name}, practical, K = {K}"] = Case(name, K, {})
        for rule, options in BY_RULE.items():
            for name in ("ebs-d", DEFAULT_STRATEGY):
                found[f"{name}, {rule}, K = {K}"] = Case(name, K, options)
    return {label: case for label, case in found.items() if all(word in label for word in only)}


class Worker:
    """A process that measures with one checkout, one case after the other."""

    def __init__(self, source: Path) -> None:
        path = os.pathsep.join([str(source), str(Path(__file__).parent.parent)])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.steps", "--worker"],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def measure(self, case: Case) -> tuple[float, int]:
        """`Case.measured` there."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(case), file=self.process.stdin, flush=True)
        seconds, steps = json.loads(self.process.stdout.readline())
        return float(seconds), int(steps)


def work(lines: IO[str]) -> None:
    """Measure the cases that come in."""
    for line in lines:
        print(json.dumps(Case(*json.loads(line)).measured()), flush=True)


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--against", type=Path, help="the src of another checkout")
    parser.add_argument("--arms", nargs="*", type=int, default=list(SIZES), choices=SIZES)
    parser.add_argument("--only", nargs="*", default=[], help="cases whose label contains these words")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        return work(sys.stdin)
    workers = [Worker(source.resolve()) for source in (OURS, given.against) if source]
    print("nanoseconds per step, ours" + (", theirs, and ratio" if given.against else ""))
    for label, case in cases(given.arms, given.only).items():
        taken = [[one.measure(case) for one in workers] for _ in range(given.turns + 1)][1:]
        least = [min(turn[i][0] for turn in taken) for i in range(len(workers))]
        same = len({turn[i][1] for turn in taken for i in range(len(workers))}) == 1
        ratio = f"{least[0] / least[1]:7.3f}" if given.against else ""
        figures = " ".join(f"{1e9 * x:9.1f}" for x in least)
        print(f"{label:45}{figures}{ratio}{'' if same else '  OTHER RUNS'}", flush=True)
    return None


if __name__ == "__main__":
    main()
