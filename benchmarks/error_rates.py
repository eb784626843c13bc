"""How often is the answer wrong? The measurements behind docs/guides/live.md.

    python -m benchmarks.error_rates [--runs 10000]

Errors, not speed: the same seed gives the same numbers. Not part of `make bench`, which measures speed.
"""

from __future__ import annotations

import argparse
import heapq

import numpy as np

import truebest
from truebest._catalogue import DEFAULT_STRATEGY
from truebest.experiment.experiment import Experiment

DELTA = 0.05
COIN = truebest.Bounded(0.0, 1.0)
MOST = 100_000  # a run that has ruled out the best arm, and is left with tied ones, would never end


def peeking(runs: int, most: int = 1000) -> tuple[float, float]:
    """Two identical Bernoulli arms, looked at after every pair: how often is a winner declared?

    By a 95% interval for the difference (from 10 pairs on), and by the tilt rule.
    """
    rng = np.random.default_rng(1)
    naive, ours = 0, 0
    rule = truebest.Tilt()
    n = np.arange(1, most + 1)
    pulls = np.stack([n, n], axis=-1)
    for _ in range(runs):
        values = (rng.random((2, most)) < 0.5).astype(float)
        means = np.cumsum(values, axis=1) / n
        error = np.sqrt((means * (1 - means)).sum(axis=0) / n)
        naive += bool((np.abs(means[0] - means[1])[9:] > 1.96 * error[9:]).any())
        ours += bool(rule.evaluate(pulls, means.T, DELTA, model=COIN).decided.any())
    return naive / runs, ours / runs


def simulated(runs: int) -> list[tuple[str, truebest.Cell]]:
    """Wrong answers of complete runs, for arms that are hard to tell apart."""
    suite = {
        "two arms, 0.50 and 0.45": ([0.5, 0.45], "bernoulli"),
        "three arms, 0.9, 0.8, 0.8": ([0.9, 0.8, 0.8], "bernoulli"),
        "ten arms, 0.6 and nine of 0.5": ([0.6] + [0.5] * 9, "bernoulli"),
        "five arms, gaps 0.1 to 0.5 sigma": ([0.9, 0.8, 0.6, 0.4, 0.4], "gaussian"),
    }
    options = {"runs": runs, "seed": 7, "stopping": "tilt", "max_samples": MOST}
    return [
        (name, truebest.simulate(s, means, DELTA, rewards=rewards, **options)[s, DELTA])  # type: ignore[arg-type]
        for name, (means, rewards) in suite.items()
        for s in (DEFAULT_STRATEGY, "tas-d")
    ]


def latency(order: str, runs: int, workers: int = 32, most: int = 1000) -> float:
    """Two identical Bernoulli arms, one with slow zeros, many workers: how often is a winner declared?"""
    return sum(_slow_zeros(order, run, workers, most) for run in range(runs)) / runs


def _slow_zeros(order: str, run: int, workers: int, most: int) -> bool:
    rng = np.random.default_rng(run)
    experiment = Experiment.create(
        "memory:", "x", ["slow zeros", "plain"], DELTA, bounds=(0, 1), order=order, seed=run
    )
    under_way: list[tuple[float, int, float]] = []
    now, begun = 0.0, 0
    while begun < most or under_way:
        if begun < most:
            for pull in experiment.ask(min(workers - len(under_way), most - begun)):
                begun += 1
                value = float(rng.random() < 0.5)
                slow = pull.arm == "slow zeros" and value == 0.0
                heapq.heappush(under_way, (now + rng.exponential(1000.0 if slow else 1.0), pull.id, value))
        now, number, value = heapq.heappop(under_way)
        experiment.tell(number, value)
        if experiment.decided:
            return True
    return False


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10_000)
    runs = parser.parse_args().runs
    few = max(1, runs // 10)
    naive, ours = peeking(few)
    print(f"identical arms by n = 1000 each, {few} runs: 95% interval {naive:.1%}, tilt {ours:.1%}")
    print(f"\nwrong answers at delta = {DELTA}, tilt rule, {runs} runs")
    for name, cell in simulated(runs):
        low, high = cell.error_interval()
        print(
            f"{name:34} {cell.strategy:13} {cell.error_rate:.4f} ({low:.4f} to {high:.4f}), "
            f"{cell.mean_samples:8.1f} ± {cell.standard_error:.1f} samples, {cell.censored} cut off"
        )
    print(f"\nidentical arms, slow zeros, 32 workers, {few // 2} runs of 1000 pulls: declared a winner")
    for order in ("ask", "arrival"):
        print(f"{order:8} {latency(order, few // 2):.1%}")


if __name__ == "__main__":
    main()
