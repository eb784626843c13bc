"""A step of EBS and of uniform sampling, five arms, beside `ebs.cpp`, a C++ program that does nothing else.

    python -m benchmarks cpp

Both draw the same rewards and must take the same samples. They take turns, and the least CPU time of several
counts. Needs g++; else it says so.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from .measure import show
from .simulation import bandit, ours

RUNS, LIMIT, TURNS = 300, 1_000_000, 15
SOURCE = Path(__file__).with_name("ebs.cpp")
OPTIONS = ("-O3", "-march=native")


def main() -> None:
    """Print the table."""
    compiler = shutil.which("g++")
    if compiler is None:
        print("There is no g++ on this machine, so nothing was measured.\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = [_row(compiler, Path(folder, name), name) for name in ("ebs-d", "uniform")]
    header = ["ns per step", "C++", "truebest", "ratio (aim: 0.95)"]
    show(header, rows, "A step beside a program in C++, K = 5, one thread")


def _row(compiler: str, program: Path, name: str) -> list[str]:
    options = [*OPTIONS, "-DARMS=5", *(["-DUNIFORM"] if name == "uniform" else [])]
    subprocess.run([compiler, *options, "-o", program, SOURCE], check=True)
    given = [str(one) for one in (RUNS, 1, 0.1, 0.05, LIMIT, *bandit(5))]
    ours(name, 5, RUNS, LIMIT)
    theirs = python = float("inf")
    for _ in range(TURNS):
        took, samples = _cpu([str(program), *given])
        nothing, _ = _cpu([str(program), "0", *given[1:]])
        begun = time.process_time()
        found = ours(name, 5, RUNS, LIMIT)
        python = min(python, (time.process_time() - begun) / found)
        theirs = min(theirs, (took - nothing) / samples)
        assert found == samples, f"{found} samples, and {samples} in C++"
    return [name, f"{1e9 * theirs:.0f}", f"{1e9 * python:.0f}", f"{python / theirs:.2f}"]


def _cpu(command: list[str]) -> tuple[float, int]:
    """CPU seconds of a program, and the number that it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, int(out)


if __name__ == "__main__":
    main()
