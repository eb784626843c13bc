"""How many steps a GPU does in a second, and whether they are the processor's: `python -m benchmarks.gpu`.

K = 5, the paper's mu1, delta = 0.1, the practical rule or `--stopping`. The first call compiles, of the next
two the faster is measured, and its first runs are made again and compared with the processor's one by one.
`--output` writes everything as JSON.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import truebest
from truebest.simulation import cuda
from truebest.studies.paper.published import BANDITS

from .measure import show

MEANS, DELTA = BANDITS["mu1"], 0.1
STRATEGIES = ("uniform", "tas-d", "ebs-d", "tas-c", "ebs-c")


def timed(strategy: str, runs: int, **options: Any) -> tuple[float, truebest.Cell]:
    """Seconds of a call, and what it found."""
    start = time.perf_counter()
    found = truebest.simulate(strategy, MEANS, DELTA, runs=runs, seed=1, progress=False, **options)
    return time.perf_counter() - start, found.cells[0]


def measure(strategy: str, runs: int, compared: int, options: dict[str, Any]) -> dict[str, Any]:
    """One strategy: seconds to compile, steps a second, and the runs that differ from the processor's."""
    first, _ = timed(strategy, min(1000, runs), device="cuda", **options)
    calls = [timed(strategy, runs, device="cuda", keep="summary", **options) for _ in range(2)]
    seconds, summary = min(calls, key=lambda call: call[0])
    n = min(compared, runs)
    _, cell = timed(strategy, n, device="cuda", **options)
    truebest.simulate(strategy, MEANS, DELTA, runs=100, **options)
    cpu_seconds, own = timed(strategy, n, **options)
    differ = np.flatnonzero((cell.samples != own.samples) | (cell.recommended != own.recommended))
    return {
        "strategy": strategy,
        "options": {key: str(value) for key, value in options.items()},
        "runs": runs,
        "first_call_seconds": first,
        "seconds": seconds,
        "steps_per_second": summary.mean_samples * summary.runs / seconds,
        "cpu_steps_per_second": float(own.samples.sum()) / cpu_seconds,
        "compared": n,
        "differ": [
            {"run": int(i), "cpu": int(own.samples[i]), "gpu": int(cell.samples[i])} for i in differ[:20]
        ],
        "num_differ": int(differ.size),
        "program": programs()[-1],
    }


def programs() -> list[dict[str, Any]]:
    """What the compiler made of each program so far: registers and bytes of local memory of a lane."""
    found: list[dict[str, Any]] = []
    for program in cuda.PROGRAMS.values():
        try:
            kernel = program.kernel
            registers, local = kernel.get_regs_per_thread(), kernel.get_local_mem_per_thread()
            found.append({"registers": list(registers.values()), "local_bytes": list(local.values())})
        except Exception as error:  # another version of numba-cuda, or the simulator
            found.append({"unknown": f"{type(error).__name__}: {error}"})
    return found


def about() -> dict[str, Any]:
    """The device and the versions."""
    numba: Any = import_module("numba")
    driver: Any = import_module("numba.cuda")
    name = "simulator" if numba.config.ENABLE_CUDASIM else driver.get_current_device().name
    return {
        "device": name.decode() if isinstance(name, bytes) else str(name),
        "truebest": truebest.__version__,
        "numba": numba.__version__,
        "numba_cuda": getattr(driver, "__version__", "built in"),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "block": cuda.THREADS,
    }


def main() -> None:
    """Print a table; write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2**22)
    parser.add_argument("--compare", type=int, default=2**17)
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--stopping", default="practical")
    parser.add_argument("--block", type=int, default=cuda.THREADS, help="lanes of a block")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    cuda.THREADS = given.block
    told = about()
    options: dict[str, Any] = {"stopping": given.stopping}
    if given.stopping == "student":
        options["model"] = truebest.Student()
    rows = [measure(name, given.runs, given.compare, options) for name in given.strategies.split(",")]
    show(
        ["strategy", "steps/s", "processor", "first call", "compared", "differ", "registers"],
        [
            [
                row["strategy"],
                f"{row['steps_per_second']:.3g}",
                f"{row['cpu_steps_per_second']:.3g}",
                f"{row['first_call_seconds']:.1f} s",
                str(row["compared"]),
                str(row["num_differ"]),
                str(row["program"].get("registers", "?")),
            ]
            for row in rows
        ],
        f"{told['device']}, {given.runs} runs, K = 5, mu1, delta {DELTA}, {given.stopping}",
    )
    if given.output:
        given.output.write_text(json.dumps({"about": told, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
