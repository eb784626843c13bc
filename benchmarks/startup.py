"""How long the first answer takes in new processes: with a warm cache, and with an empty one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from truebest.experiment.experiment import Experiment
from truebest.experiment.journal import SNAPSHOT_EVERY
from truebest.experiment.store import open_store

from .measure import duration, show

CASES = {
    "python -c pass": "pass",
    "import truebest": "import truebest",
    "truebest --help": "from truebest.cli import main; main(['--help'])",
    "truebest solve 0.9 0.8 0.6": "from truebest.cli import main; main(['solve', '0.9', '0.8', '0.6'])",
}
COMMANDS = {
    "truebest create": "create NEW --arm a --arm b --arm c --sigma 1",
    "truebest ask": "ask runs",
    "truebest tell": "tell runs PULL 0.5",
    "truebest status": "status runs",
}
LIST_OF: dict[str, dict[str, Any]] = {
    "independent": {"bounds": (0, 1)},
    "on items": {"bounds": (0, 1), "items": 100},
    "by wins": {"compare": "wins"},
}
SIMULATE = "truebest.simulate({!r}, [0.9, 0.5, 0.4, 0.3, 0.2], 0.05, runs=20)"
COLD = {
    "import truebest; optimal_weights": "import truebest; truebest.optimal_weights([0.9, 0.5, 0.4])",
    "Experiment.create, the first ask": "import truebest; truebest.Experiment.create("
    "'memory:', 'x', list('abcde'), bounds=(0, 1)).ask(1)",
    "simulate ebs-d": "import truebest; " + SIMULATE.format("ebs-d"),
    "the same again": "import truebest; " + SIMULATE.format("ebs-d"),
    "simulate tas-d": "import truebest; " + SIMULATE.format("tas-d"),
    "trace ebs-d": "import truebest; truebest.trace('ebs-d', [0.9, 0.5, 0.4, 0.3, 0.2])",
}
USED = """
import resource, time
print(time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
REPEATS = 6
LISTED = 2_000  # experiments of the list, each with as many lines as a new one has


def main() -> None:
    """Each case in new processes; the compiled kernels are in their cache."""
    times = {name: min(map(_seconds, [code] * REPEATS)) for name, code in CASES.items()}
    floor = times["python -c pass"]
    _show("start", times, floor, "Start-up (warm cache)")
    _cold()
    folder = Path(tempfile.mkdtemp(prefix=".bench-", dir="."))
    try:
        os.environ["TRUEBEST_STORE"] = url = f"sqlite:///{folder / 'bench.db'}"
        pulls = _fill(url)
        times = {name: min(map(_seconds, _calls(line, pulls))) for name, line in COMMANDS.items()}
        os.environ["TRUEBEST_STORE"] = f"sqlite:///{folder / 'many.db'}"
        _copy(os.environ["TRUEBEST_STORE"])
        listed = {f"truebest list of {LISTED:,}": min(map(_seconds, _calls("list", pulls[:3])))}
    finally:
        del os.environ["TRUEBEST_STORE"]
        shutil.rmtree(folder)
    _show("command", times, floor, "A command on a SQLite file with a snapshot (aim: below 0.5 s)")
    _show("command", listed, floor, "Every experiment of a store (aim: below 2 s)")


def _cold() -> None:
    """One after the other with one cache, which is empty at first: CPU time and memory of each."""
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache, "NUMBA_CACHE_DIR": ""}
        for name, code in COLD.items():
            command = [sys.executable, "-c", code + USED]
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
            seconds, kilobytes = done.stdout.split()
            rows.append([name, duration(float(seconds)), f"{int(kilobytes) / 1024:.0f} MB"])
    show(["start", "CPU time", "most memory"], rows, "Start-up (empty cache at first)")


def _fill(url: str) -> list[int]:
    """An experiment with a long log and its snapshot, that never decides; returns pulls that are out."""
    with Experiment.create(
        url, "runs", ["a", "b", "c", "d", "e"], sigma=1e6, seed=1, lease=None
    ) as experiment:
        for _ in range(10):
            experiment.tell([(pull, 0.5) for pull in experiment.ask(SNAPSHOT_EVERY)])
        return [pull.id for pull in experiment.ask(REPEATS)]


def _copy(url: str) -> None:
    """A store of many experiments: one of each kind, again and again under other names."""
    with tempfile.TemporaryDirectory() as folder:
        place, logs = open_store(f"sqlite:///{folder}/few.db"), []
        for name, how in LIST_OF.items():
            experiment = Experiment.create(place, name, ["a", "b", "c"], seed=1, **how)
            for i in range(8):
                experiment.tell([(pull, (0.3 * i + 0.1 * pull.id) % 1.0) for pull in experiment.ask(3)])
            with place.reading(name) as log:
                logs.append(log.entries())
        place.close()
    many = open_store(url)
    for i in range(LISTED):
        first, *rest = logs[i % len(logs)]
        many.create(f"experiment-{i}", first)
        with many.writing(f"experiment-{i}") as log:
            log.append(rest)
    many.close()


def _calls(line: str, pulls: list[int]) -> list[str]:
    """The code of each repetition: every one creates another experiment, or tells another pull."""
    lines = [line.replace("NEW", f"new{pull}").replace("PULL", str(pull)) for pull in pulls]
    return [f"from truebest.cli import main; assert main({words.split()}) == 0" for words in lines]


def _show(what: str, times: dict[str, float], floor: float, title: str) -> None:
    rows = [[name, duration(best), duration(best - floor)] for name, best in times.items()]
    show([what, "wall time", "above bare Python"], rows, title)


def _seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
