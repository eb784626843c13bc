"""Races: how many rounds they take on lognormal times, and what a measurement costs beside hyperfine's."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from truebest.designs import Wins
from truebest.kernels import paired, wins
from truebest.kernels.round_claims import HEADS

from .measure import duration, show

DELTA, RUNS = 0.05, 1000
PAIRS = ((0.05, 1.05, 35), (0.2, 1.2, 39), (0.5, 2.0, 18), (0.05, 2.0, 7))  # cv, ratio, aim in rounds
SIX, SIX_CV, SIX_AIM = (1.0, 1.05, 1.1, 1.2, 1.5, 2.0), 0.2, 1350  # measurements
MEASUREMENTS = 200
COMMANDS = ("true", "sleep 0.005")


def main() -> None:
    """Print the tables."""
    rounds()
    overhead()


def rounds() -> None:
    """Mean numbers of rounds, and of measurements, to the decision; and how often it was wrong."""
    rows = []
    for cv, ratio, aim in PAIRS:
        found = np.array([_race((1.0, ratio), cv, seed) for seed in range(RUNS)])
        rows.append([f"cv {cv:.0%}, ratio {ratio:g}", *_mean(found[:, 1]), f"{aim} rounds", *_wrong(found)])
    found = np.array([_race(SIX, SIX_CV, seed) for seed in range(RUNS)])
    rows.append([f"six, cv {SIX_CV:.0%}", *_mean(found[:, 2]), f"{SIX_AIM} measurements", *_wrong(found)])
    header = ["lognormal times", "mean ± s.e.", "aim", "wrong"]
    show(header, rows, f"Rounds of a race to the decision, delta {DELTA:g}, {RUNS} runs")


def _race(scales: tuple[float, ...], cv: float, seed: int) -> tuple[int, int, int]:
    """The arm that is declared, rounds, measurements."""
    rng, K = np.random.default_rng([seed, len(scales)]), len(scales)
    design = Wins()
    params, (pairs, arms) = design.parameters(K, DELTA), design.blank(K)
    near, told, spread = np.zeros_like(pairs), np.zeros((HEADS + K, K)), math.sqrt(math.log1p(cv**2))
    calls = n = 0
    found = paired.GO_ON
    while found == paired.GO_ON:
        n, calls = n + 1, calls + int((arms[paired.OUT_AFTER] == 0.0).sum())
        row = -np.array(scales) * np.exp(spread * rng.standard_normal(K))
        found = wins.play(params, row, row, pairs, near, arms, told)
    return found, n, calls


def _mean(values: np.ndarray) -> list[str]:
    return [f"{values.mean():.1f} ± {values.std(ddof=1) / math.sqrt(values.size):.1f}"]


def _wrong(found: np.ndarray) -> list[str]:
    return [f"{np.mean(found[:, 0] != 0):.2%}"]


def overhead() -> None:
    """The time between measurements, per measurement: all that is not inside one."""
    rows = []
    for command in COMMANDS:
        for name, run in (("truebest race", _truebest), ("hyperfine -N", _hyperfine)):
            if name.startswith("hyperfine") and shutil.which("hyperfine") is None:
                continue
            taken, times = run(command)
            between = (taken - sum(times)) / len(times)
            rows.append([command, name, duration(float(np.median(times))), duration(between)])
    header = ["command", "program", "median time", "overhead"]
    show(header, rows, f"Overhead per measurement, {MEASUREMENTS} measurements (aim: below 2 ms)")


def _truebest(command: str) -> tuple[float, list[float]]:
    words = ["race", command, command, "--delta", "1e-9", "--warmup", "0", "--quiet", "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "truebest", *words, "--max-rounds", str(MEASUREMENTS // 2)],
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout)
    return found["result"]["seconds"], [t for one in found["standings"] for t in one["times"]]


def _hyperfine(command: str) -> tuple[float, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "times.json"
        words = [
            "hyperfine",
            "-N",
            "--runs",
            str(MEASUREMENTS),
            "--export-json",
            str(file),
            "--style",
            "none",
        ]
        start = time.perf_counter()
        subprocess.run([*words, command], capture_output=True, check=True)
        taken = time.perf_counter() - start
        return taken, list(json.loads(file.read_text())["results"][0]["times"])
