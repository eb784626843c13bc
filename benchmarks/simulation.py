"""Nanoseconds per step of every strategy, against drawing one Gaussian and the literal pseudo-code.

With many arms. And of Track-and-Stop under the rule that rules arms out, against `mixture`.
"""

from __future__ import annotations

import subprocess
import sys
import time
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import truebest
from truebest._catalogue import DEFAULT_STRATEGY
from truebest.strategies import strategy_names

from . import literal
from .measure import show

MU_1, MU_2 = (0.9, 0.8, 0.6, 0.4, 0.4), (0.9, 0.5, 0.45, 0.4)
TABLE_1 = [
    (MU_1, (0.1, 0.01), 0.05),
    (MU_1, (0.01, 1e-5), 0.2),
    (MU_2, (0.1, 0.01), 0.05),
]
COINS = {"rewards": "bernoulli", "model": truebest.Bounded(0.0, 1.0)}
SCORES = {"rewards": "beta", "noise": 0.1, "model": truebest.Bounded(0.0, 1.0)}
CLOSE, CLOSER = (0.62, 0.6, 0.59, 0.58, 0.5), (0.62, 0.615, 0.61, 0.6, 0.57)
UNDER_TILT: dict[str, tuple[tuple[float, ...], float, int, int, dict[str, Any]]] = {
    "0/1, runs of 100,000 (aim: 1.3)": (CLOSE, 1e-9, 8, 100_000, COINS),
    "0/1, runs of 3,000": (CLOSE, 1e-9, 200, 3_000, COINS),
    "beta, runs of 10,000 (aim: 2)": (CLOSER, 0.05, 60, 10_000, SCORES),
    "beta, runs of 300": (CLOSER, 0.05, 300, 300, SCORES),
    "Gaussian, to the decision": (MU_1, 0.05, 60, 100_000, {}),
}


def bandit(num_arms: int, far: bool = False) -> tuple[float, ...]:
    """The paper's first bandit, or a larger one of the same kind; or two equal best arms, far ahead."""
    if far:
        return (45.0, 45.0, *np.linspace(30.0, 10.0, num_arms - 2).tolist())
    return MU_1 if num_arms == 5 else (0.9, 0.8, *np.linspace(0.6, 0.2, num_arms - 2).tolist())


def cpu(call: partial[int], repeats: int = 5) -> tuple[float, int]:
    """The least CPU time per step, and the steps."""
    best, steps = float("inf"), 0
    for _ in range(repeats):
        start = time.process_time()
        steps = call()
        best = min(best, (time.process_time() - start) / steps)
    return best, steps


def ours(name: str, num_arms: int, runs: int, limit: int, far: bool = False) -> int:
    """One strategy on one thread; the steps it took."""
    found = truebest.simulate(
        name, bandit(num_arms, far), 0.1, runs=runs, seed=1, threads=1, max_samples=limit, progress=False
    )
    return int(found.cells[0].samples.sum())


def steps() -> None:
    """The table of nanoseconds per step."""
    stream = np.array([1, 3], dtype=np.uint64)
    literal.draw(stream, 10)
    start = time.process_time()
    literal.draw(stream, 5_000_000)
    gaussian = (time.process_time() - start) / 5_000_000
    rows = [["one Gaussian", *[f"{gaussian * 1e9:.1f}"] * 3, *[""] * 3]]
    sizes = {5: (300, 10**6), 50: (10, 20_000), 500: (1, 4_000)}
    printed: dict[tuple[bool, int], float] = {}
    for K, (runs, limit) in sizes.items():
        mu = np.array(bandit(K))
        for ebs in (True, False):
            literal.total_samples(ebs, 1, 1, mu, 0.1, 0.05, K + 1)
            call = partial(literal.total_samples, ebs, runs, 1, mu, 0.1, 0.05, limit)
            printed[ebs, K] = cpu(call, 3)[0]
    for name in strategy_names():
        times = [cpu(partial(ours, name, K, runs, limit), 3)[0] for K, (runs, limit) in sizes.items()]
        ratios = [""] * 3
        if name in ("ebs-d", "tas-d"):
            ratios = [f"{printed[name == 'ebs-d', K] / one:.1f}" for K, one in zip(sizes, times, strict=True)]
        rows.append([name, *(f"{one * 1e9:.0f}" for one in times), *ratios])
    for ebs in (True, False):
        label = f"literal {'ebs-d' if ebs else 'tas-d'}"
        rows.append([label, *(f"{printed[ebs, K] * 1e9:.0f}" for K in sizes), *[""] * 3])
    header = ["ns per step", "K = 5", "K = 50", "K = 500", "literal/ours, 5", "50", "500"]
    show(header, rows, "Cost of a step, one thread")


def many_arms() -> None:
    """The table of nanoseconds per step and arm, up to 10,000 arms.

    What a step of EBS costs depends on the number of candidates: with two arms far ahead, nearly always one.
    """
    rows = []
    names = [(name, False) for name in ("tas-d", "tas-c", "ebs-d", "racing", "lucb++", "uniform")]
    for name, far in [*names, ("ebs-d", True)]:
        limits = {500: 20_000, 1000: 20_000, 10_000: 80_000}  # of these, K samples begin the run
        times = {K: cpu(partial(ours, name, K, 1, n, far), 10_000 // K)[0] for K, n in limits.items()}
        per_step, per_arm = times.values(), (one / K for K, one in times.items())
        label = f"{name}, two arms far ahead" if far else name
        rows.append([label, *(f"{one * 1e9:.0f}" for one in per_step), *(f"{x * 1e9:.2f}" for x in per_arm)])
    header = ["ns per step", "K = 500", "1000", "10,000", "and arm, 500", "1000", "10,000"]
    show(
        header,
        rows,
        "Cost of a step with many arms, in runs of 20,000 samples (K = 10,000: 80,000), one thread",
    )


def under_tilt() -> None:
    """The table of nanoseconds per step under `tilt` and under `mixture`: delta, runs, and where they end."""
    rows = []
    for strategy, name in product((DEFAULT_STRATEGY, "tas-d", "ebs-d"), UNDER_TILT):
        means, delta, runs, limit, given = UNDER_TILT[name]
        options = {"runs": runs, "max_samples": limit, "seed": 1, "threads": 1, "progress": False, **given}

        def samples(rule: str, one: str = strategy, given: Any = (means, delta), kept: Any = options) -> int:
            found = truebest.simulate(one, *given, stopping=rule, **kept)
            return int(found.cells[0].samples.sum())

        mixture, tilt = (cpu(partial(samples, rule), 3)[0] for rule in ("mixture", "tilt"))
        rows.append([strategy, name, f"{mixture * 1e9:.0f}", f"{tilt * 1e9:.0f}", f"{tilt / mixture:.2f}"])
    header = ["strategy", "ns per step", "mixture", "tilt", "ratio"]
    show(header, rows, "Cost of a step under a rule that rules arms out, K = 5, one thread")


def scaling() -> None:
    """Two threads against one, in wall time."""
    taken = []
    for threads in (1, 2):
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            truebest.simulate("ebs-d", MU_1, 0.1, runs=2000, seed=1, threads=threads, progress=False)
            best = min(best, time.perf_counter() - start)
        taken.append(best)
    rows = [["1", f"{taken[0]:.2f} s", "1.00"], ["2", f"{taken[1]:.2f} s", f"{taken[0] / taken[1]:.2f}"]]
    show(["threads", "wall time", "speed-up"], rows, "Thread scaling, 2000 runs of ebs-d")


def table_1() -> None:
    """All 36 cells of Table 1, 1000 runs each, with shared trajectories."""
    start, drawn = time.perf_counter(), 0
    for means, deltas, gamma in TABLE_1:
        strategies: list[str | truebest.Strategy] = [
            truebest.EBS("C", gamma),
            truebest.EBS("D", gamma),
            *(truebest.TrackAndStop("C"), truebest.TrackAndStop("D"), "racing", "lucb++"),
        ]
        found = truebest.simulate(strategies, means, deltas, runs=1000, seed=1, progress=False)
        drawn += sum(int(cell.samples.sum()) for cell in found)
    taken = time.perf_counter() - start
    rows = [["36 cells of 1000 runs", f"{drawn / 1e6:.0f} million", f"{taken:.1f} s"]]
    show(["Table 1", "samples in all cells", "wall time"], rows, "The paper's table, all threads")


def first_result() -> None:
    """From the start of a process to its first result, with a warm cache."""
    code = "import truebest; truebest.simulate('ebs-d', [0.9, 0.5], 0.1, runs=10)"
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        best = min(best, time.perf_counter() - start)
    show(["start", "wall time"], [["process to first result", f"{best:.2f} s"]], "Warm start")


def main() -> None:
    """All of it."""
    ours("uniform", 5, 2, 100)
    steps()
    many_arms()
    under_tilt()
    scaling()
    table_1()
    first_result()
