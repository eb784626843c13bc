"""Rounds on common items: how many calls they take against our aims, and how fast they are simulated.

    python -m benchmarks paired

Calls depend on the seed alone; the aims are those of version 0.2, and the column 0.1 is what its default rule
took on independent samples, whatever the correlation. Speed is in CPU time, and for two threads also in wall
time, which on a busy machine says little.
"""

from __future__ import annotations

import time

import numpy as np

import truebest
from truebest.designs import Rounds
from truebest.kernels import paired as kernel
from truebest.simulation.progress import Reporter
from truebest.simulation.results import Cell
from truebest.simulation.rounds import ItemScores, RoundsJob
from truebest.simulation.runs import Collected
from truebest.simulation.scores import POPULATION, make_items, spread_for
from truebest.simulation.threads import run_on_threads

from .measure import cpu_seconds, duration, show

CLOSED, OPEN = (0.78, 0.7415, 0.72, 0.70, 0.67, 0.64), (0.62, 0.60, 0.55, 0.5, 0.5, 0.4)
ON_SETS = {200: 760, 500: 1270, 2000: 2080, 10_000: 2420}  # items: calls at most
ON_SOURCES = {0.29: 19_000, 0.54: 11_700, 0.80: 5_400}  # correlation: calls at most
VERSION_0_1 = {"sets": 18_900, "sources": 59_000}
CORRELATION, DELTA = 0.64, 0.05
RUNS = 1000


def planned(means: tuple[float, ...], correlation: float, items: int | None) -> tuple[Cell, Cell]:
    """The paired design and independent samples."""
    found = truebest.plan(
        means=means, correlation=correlation, items=items, delta=DELTA, runs=RUNS, seed=1, progress=False
    )
    assert found.paired is not None
    assert found.independent is not None
    return found.paired, found.independent


def row(name: str, cells: tuple[Cell, Cell], aim: int, before: int, everything: str) -> list[str]:
    """One line: calls, aim, and what else there is."""
    paired, independent = cells
    calls = [f"{cell.mean_samples:.0f} ± {cell.standard_error:.0f}" for cell in cells]
    met = "yes" if paired.mean_samples <= aim and not paired.censored else "no"
    wrong = f"{paired.errors}, {independent.errors}"
    return [name, calls[0], str(aim), met, calls[1], everything, str(before), wrong]


def calls() -> None:
    """The table of aims."""
    rows = [
        row(f"{M} items", planned(CLOSED, CORRELATION, M), aim, VERSION_0_1["sets"], str(M * len(CLOSED)))
        for M, aim in ON_SETS.items()
    ]
    rows += [
        row(f"unlimited, correlation {phi:.2f}", planned(OPEN, phi, None), aim, VERSION_0_1["sources"], "")
        for phi, aim in ON_SOURCES.items()
    ]
    header = ["six arms", "paired", "aim", "met", "independent", "everything", "0.1", "wrong"]
    show(header, rows, f"Calls at delta {DELTA:g}, {RUNS} runs")


def equal_arms(num_arms: int, numbers: bool, items: int, again: bool) -> ItemScores:
    """Arms of the same rate, all of which stay in the race; numbers have four values between 0 and 1."""
    rates = np.full(num_arms, 0.7)
    spread = spread_for(rates, 0.54)
    table = make_items(rates, spread, items, 3, 0)
    if numbers:
        table = 0.6 * table + 0.2 * make_items(rates, spread, items, 3, 1) + 0.1
    return ItemScores(table, table, items, again)


def taken(rounds: ItemScores, runs: int, longest: int, threads: int) -> tuple[float, float, float]:
    """Rows that were taken, CPU seconds and wall seconds, the least of three."""
    cpu = wall = float("inf")
    rows = 0.0
    for _ in range(3):
        job = RoundsJob(Rounds(rounds.closed), rounds, DELTA, 0.0, 1, longest)
        start, clock = time.process_time(), time.perf_counter()
        work = Collected(job, 0, runs, "runs")
        with Reporter(False, runs) as reporter:
            run_on_threads([work], threads, reporter)
        cpu, wall = min(cpu, time.process_time() - start), min(wall, time.perf_counter() - clock)
        rows = float(work.cells()[0].mean_pulls.max()) * runs
    return rows, cpu, wall


def rows_per_second() -> None:
    """One thread and two; with arms that are ruled out on the way and with six that stay."""
    source = make_items(np.array(OPEN), spread_for(np.array(OPEN), 0.54), POPULATION, 3, 0)
    closed = make_items(np.array(CLOSED), spread_for(np.array(CLOSED), CORRELATION), 2000, 3, 0)
    cases = {
        "six arms, unlimited": (ItemScores(source, source, POPULATION, True), 100),
        "six arms, 2000 items": (ItemScores(closed, closed, 2000, False), 2000),
        "six equal arms, unlimited": (equal_arms(6, False, POPULATION, True), 50),
        "six equal arms, 20,000 items": (equal_arms(6, False, 20_000, False), 50),
        "six equal arms, numbers": (equal_arms(6, True, POPULATION, True), 50),
    }
    lines = []
    for name, (rounds, runs) in cases.items():
        rows, cpu, _ = taken(rounds, runs, 20_000, 1)
        _, both, wall = taken(rounds, runs, 20_000, 2)
        lines.append([name, *(f"{rows / seconds / 1e6:.2f}" for seconds in (cpu, both, wall))])
    header = ["million rows a second", "1 thread, CPU time", "2 threads, CPU time of both", "wall time"]
    show(header, lines, "Rows simulated; the aim is 1.00 for six arms with scores of 0 and 1")


class Live:
    """A state that takes the rounds of a table one after the other."""

    def __init__(self, num_arms: int, numbers: bool, items: int | None) -> None:
        design = Rounds(items)
        self.table = equal_arms(num_arms, numbers, 4096, True).low
        self.params, (self.pairs, self.arms) = design.parameters(num_arms, DELTA), design.blank(num_arms)
        self.rounds = 0

    def play(self) -> None:
        """The next round."""
        values = self.table[self.rounds % len(self.table)]
        kernel.play_round(self.params, values, values, self.pairs, self.arms)
        self.rounds += 1


def one_round() -> None:
    """What a live experiment computes when a round is complete, all arms in the race."""
    lines = []
    for K in (6, 20):
        for numbers in (False, True):
            times = [duration(cpu_seconds(Live(K, numbers, items).play)) for items in (None, 10**7)]
            lines.append([f"K = {K}, {'numbers' if numbers else '0 and 1'}", *times])
    show(["a round", "unlimited", "closed set"], lines, "One round from Python; the aim is 200 us at K = 20")


def main() -> None:
    """All of it."""
    calls()
    rows_per_second()
    one_round()
