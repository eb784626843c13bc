"""Compile a kernel with Numba, and keep the machine code where no change can make it stale.

Numba's own cache looks only at the file of the function it compiles. When a *callee* in another file
changes, it goes on using the old machine code. So the cache folder here carries a hash of all kernel
sources in its name: any change leads to a new folder.

BESTARM_JIT=0 runs the same source uncompiled (slow, but without the start-up cost of Numba).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import shutil
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., object])

COMPILED = ("kernels", "strategies", "simulation")  # the parts of the package that hold kernels
ENABLED = os.environ.get("BESTARM_JIT", "1") != "0"


def kernel(signature: str, *, reorder: bool = False) -> Callable[[Function], Function]:
    """Compile for one explicit signature, with cached machine code and no global interpreter lock.

    signature  Numba's notation, e.g. "f8(f8[::1], f8)": a float from an array and a float
    reorder    let the compiler change the order of a sum, which is what vectorising it needs; the
               result then agrees to rounding between processors, and is always the same on one
    """

    def decorate(function: Function) -> Function:
        if not ENABLED:
            return function
        numba: Any = import_module("numba")
        options = {
            "nogil": True,
            "error_model": "numpy",  # 1/0 is inf, as everywhere in NumPy; also what vectorises
            "fastmath": {"reassoc"} if reorder else False,
            # Into their callers: a call passes every array as seven words, which at K = 5 costs more than
            # the work. A reordered sum stays apart, for its flag must not spread.
            "forceinline": not reorder,
        }
        previous = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = _CACHE  # read when the function is decorated, and only then
        try:
            return cast(Function, numba.njit(signature, cache=bool(_CACHE), **options)(function))
        except (OSError, EOFError, pickle.UnpicklingError, ValueError, RuntimeError):
            # A full disk or a damaged file must not be the end: compile without the cache. If the kernel
            # itself was at fault, this raises again.
            return cast(Function, numba.njit(signature, **options)(function))
        finally:
            numba.config.CACHE_DIR = previous

    return decorate


def cache_folder() -> str:
    """The folder of machine code for exactly these kernel sources; "" where none can be written."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for part in COMPILED:
        for source in sorted((package / part).glob("*.py")):
            digest.update(source.read_bytes())
    home = _user_cache() / "bestarm"
    folder = home / digest.hexdigest()[:16]
    new = not folder.is_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except OSError:
        return ""
    if not os.access(folder, os.W_OK):
        return ""
    if new:
        _forget_old(home)
        if sys.stderr is not None and sys.stderr.isatty():
            print("bestarm: compiling for this machine, once (about 10 s) ...", file=sys.stderr)
    return str(folder)


def _forget_old(home: Path, days: float = 30.0) -> None:
    """Remove the machine code of sources that nobody has used for a month."""
    for folder in home.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > days * 86400:
                shutil.rmtree(folder, ignore_errors=True)


def _user_cache() -> Path:
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        given = os.environ.get(name, "")
        if os.path.isabs(given):
            return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home())
    home = Path(os.path.expanduser("~"))
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"


_CACHE = cache_folder() if ENABLED else ""
