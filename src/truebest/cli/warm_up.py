"""`truebest warm-up`: compile beforehand."""

from __future__ import annotations

import pkgutil
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import TruebestError
from . import say

if TYPE_CHECKING:
    from ..kernels._jit import Kernel

PACKAGE = Path(__file__).parent.parent

Live = Annotated[
    bool, typer.Option("--live", help="Only what live experiments and `solve` use, and no simulation.")
]


def warm_up(live: Live = False) -> None:
    """Compile everything now, so that nothing has to later: for images, CI and new machines.

    That is what live experiments and the mathematics use, and the simulation of every built-in strategy on
    Gaussian rewards by the default rule; other models and rules are compiled when they are first simulated.
    It takes two to four minutes, once for each version and kind of processor.

    Example: truebest warm-up
    """
    from ..kernels._jit import folder
    from ..kernels._numba import available

    start = time.monotonic()
    if not available():
        raise TruebestError("there is nothing to compile: Numba cannot be loaded, or TRUEBEST_JIT is 0.")
    if not folder():
        raise TruebestError(
            "machine code cannot be kept, for the cache cannot be written; set XDG_CACHE_HOME to a folder "
            "that can."
        )
    kernels = called_by_python()
    for kernel in kernels:
        kernel.compiled(reorder=False)
    if not live:
        _simulations()
    say(f"ready after {time.monotonic() - start:.0f} s; the machine code is in {folder()}")


def _simulations() -> None:
    from ..simulation.simulate import simulate
    from ..simulation.trace import trace
    from ..strategies import strategy_names

    names, means = strategy_names(), (1.0, 0.5, 0.0)
    simulate(names, means, 0.1, runs=1, max_samples=100, progress=False)
    for name in names:
        trace(name, means, 0.1, max_samples=100)


def called_by_python() -> list[Kernel]:
    """The kernels whose names occur in code that is not compiled, and the strategies' own."""
    from ..kernels._jit import COMPILED, KERNELS

    for part in ("kernels", "strategies"):
        for module in pkgutil.iter_modules([str(PACKAGE / part)]):
            import_module(f"truebest.{part}.{module.name}")
    compiled = {path for part in COMPILED for path in PACKAGE.glob(part)}
    names = {name for path in PACKAGE.rglob("*.py") if path not in compiled for name in _names(path)}
    return [one for one in KERNELS if one.__name__ in names or one.__name__ == "select"]


def _names(path: Path) -> Iterator[str]:
    """The names that are used in a file, if it uses kernels at all."""
    text = path.read_text(encoding="utf-8")
    waiting = [compile(text, str(path), "exec", dont_inherit=True)] if "kernels" in text else []
    while waiting:
        code = waiting.pop()
        yield from code.co_names
        waiting += [part for part in code.co_consts if isinstance(part, CodeType)]
