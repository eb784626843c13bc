"""How long the first answer takes: wall time of new processes, the least of several."""

from __future__ import annotations

import subprocess
import sys
import time

from .measure import duration, show

CASES = {
    "python -c pass": "pass",
    "import bestarm": "import bestarm",
    "bestarm --help": "from bestarm.cli import main; main(['--help'])",
    "bestarm solve 0.9 0.8 0.6": "from bestarm.cli import main; main(['solve', '0.9', '0.8', '0.6'])",
}


def main() -> None:
    """Each case in a new process, five times; the compiled kernels are in their cache."""
    rows = []
    floor = 0.0
    for name, code in CASES.items():
        best = float("inf")
        for _ in range(6):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
            best = min(best, time.perf_counter() - start)
        floor = floor or best
        rows.append([name, duration(best), duration(best - floor)])
    show(["start", "wall time", "above bare Python"], rows, "Start-up (warm cache)")
