"""Pulls under way: live experiments whose results come late: `python -m benchmarks.under_way`.

Results come in the order of asking, each when so many pulls are out; what counts are the pulls that were
issued. Run i of a bandit has the same rewards for all strategies, however many pulls are out.
"""

from __future__ import annotations

import argparse
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product

import numpy as np

import truebest
from truebest.kernels.random import open_stream, pull
from truebest.simulation.rewards import make_rewards
from truebest.studies.comparison.suites import Bandit, load_suite

from .measure import show

STRATEGIES = ("ebs-open-need", "ebs-open-gaps", "t3c-ids", "tas-c", "tas-d", "bc")
OUT = (1, 8, 64)
LIMIT = 50_000
NAMES = (
    *("K=3 linear", "K=5 equal", "K=5 clear", "K=10 linear", "K=20 pack", "mu1", "0/1 models", "0/1 prompts"),
    *("beta graded answers", "uneven mixed"),
)


def issued(bandit: Bandit, strategy: str, delta: float, out: int, run: int) -> int:
    """Pulls that a run takes; LIMIT if it is not decided by then."""
    rewards, names = make_rewards(bandit.rewards, bandit.means, bandit.noise), bandit_arms(bandit)
    nature, pool = rewards.source(0.0)
    streams = np.zeros((bandit.num_arms, 4), np.uint64)
    for arm in range(bandit.num_arms):
        open_stream(np.uint64(bandit.seed(0)), np.uint64(run), np.uint64(arm), streams[arm])
    assumed: dict[str, object] = {"model": rewards.assumed()}
    if isinstance(bandit.sigma, tuple):
        assumed = {"sigma": dict(zip(names, bandit.sigma, strict=True))}
    options = {"delta": delta, "strategy": strategy, **assumed}
    experiment = truebest.Experiment.create("memory:", "x", names, **options)  # type: ignore[arg-type]
    pending: deque[truebest.Pull] = deque()
    count = 0
    while count < LIMIT:
        new = experiment.ask(out - len(pending))
        count += len(new)
        pending.extend(new)
        if not pending:
            return count
        one = pending.popleft()
        arm = names.index(one.arm)
        experiment.tell(one, pull(rewards.family, nature, pool, arm, streams[arm]))
    return LIMIT


def bandit_arms(bandit: Bandit) -> list[str]:
    """Names for the arms."""
    return [f"arm {a}" for a in range(bandit.num_arms)]


def of_cell(runs: int, delta: float, cell: tuple[Bandit, str, int]) -> float:
    """The mean number of pulls."""
    bandit, strategy, out = cell
    return float(np.mean([issued(bandit, strategy, delta, out, run) for run in range(runs)]))


def main() -> None:
    """For every number of pulls under way: ratios to the best strategy, and to one pull at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10, help="per bandit, strategy and number of pulls")
    parser.add_argument("--delta", type=float, default=0.05)
    given = parser.parse_args()
    bandits = [bandit for bandit in load_suite(["standard", "practice"]) if bandit.name in NAMES]
    cells = list(product(bandits, STRATEGIES, OUT))
    with ProcessPoolExecutor() as processes:
        means = list(processes.map(partial(of_cell, given.runs, given.delta), cells))
    table = np.log(means).reshape(len(bandits), len(STRATEGIES), len(OUT))
    ratio, delay = table - table.min(axis=1, keepdims=True), table - table[:, :, :1]
    rows = [
        [
            name,
            *(
                f"{np.exp(ratio[:, i, k].mean()):.3f} / {np.exp(ratio[:, i, k].max()):.2f}"
                for k in range(len(OUT))
            ),
            *(f"{np.exp(delay[:, i, k].mean()):.3f}" for k in range(1, len(OUT))),
        ]
        for i, name in enumerate(STRATEGIES)
    ]
    header = ["strategy", *(f"{out} under way" for out in OUT), *(f"cost of {out}" for out in OUT[1:])]
    show(
        header, rows, f"Pulls issued, {len(bandits)} bandits, {given.runs} runs: geometric mean / worst ratio"
    )


if __name__ == "__main__":
    main()
