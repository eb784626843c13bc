"""What to compile beforehand, where nothing should have to wait for a compiler."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import CodeType

from ._jit import COMPILED, KERNELS, Kernel

PACKAGE = Path(__file__).parent.parent


def called_by_python() -> list[Kernel]:
    """The kernels whose names occur in code that is not compiled, and the strategies' own."""
    for folder in ("kernels", "strategies"):
        for module in pkgutil.iter_modules([str(PACKAGE / folder)]):
            import_module(f"truebest.{folder}.{module.name}")
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
