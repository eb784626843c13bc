"""Steps a second of the same call with two threads and on a Dask cluster of two processes, in wall time.

`python -m benchmarks cluster`; the call is that of `benchmarks.gpu`. It needs the extra `truebest[dask]`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .gpu import timed
from .measure import show

RUNS, REPEATS, STRATEGIES = 5_000, 3, ("tas-d", "ebs-d")


def measure(strategy: str, runs: int, client: Any) -> tuple[float, float]:
    """Steps a second here and on the cluster, the most of several in turns; all runs must be the same."""
    here, there = 0.0, 0.0
    for _ in range(REPEATS):
        seconds, own = timed(strategy, runs, threads=2)
        here = max(here, float(own.samples.sum()) / seconds)
        seconds, cell = timed(strategy, runs, cluster=client)
        there = max(there, float(cell.samples.sum()) / seconds)
        assert (own.samples == cell.samples).all()
        assert (own.recommended == cell.recommended).all()
    return here, there


def main() -> None:
    """Print the table."""
    dask: Any = import_module("dask.distributed")
    rows = []
    with (
        dask.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local,
        dask.Client(local) as client,
    ):
        for strategy in STRATEGIES:
            timed(strategy, 100, threads=2)
            timed(strategy, 1000, cluster=client)  # workers load truebest, once
            here, there = measure(strategy, RUNS, client)
            rows.append([strategy, f"{here:.3g}", f"{there:.3g}", f"{there / here:.2f}"])
    header = ["steps a second", "two threads", "cluster of two processes", "ratio"]
    show(header, rows, f"The same call, {RUNS} runs, K = 5, mu1, delta = 0.1")
