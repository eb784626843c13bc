"""Run every benchmark, or those named on the command line."""

from __future__ import annotations

import platform
import sys
from importlib import import_module

PARTS = (
    "startup",
    "weights",
    "exploration",
    "simulation",
    "cpp",
    "traces",
    "cluster",
    "paired",
    "experiment",
    "long_logs",
    "race",
)


def main() -> None:
    """Print one table per part."""
    wanted = sys.argv[1:] or PARTS
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        sys.exit(f"no benchmark named {unknown[0]}; choose from {', '.join(PARTS)}")
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}\n")
    for name in wanted:
        import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":  # not in the processes that a cluster starts
    main()
