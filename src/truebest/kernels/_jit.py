"""Compile a kernel with Numba, and keep the machine code where no change can make it stale.

Numba's own cache looks only at the file of the function it compiles. When a *callee* in another file
changes, it keeps using the old machine code. So the cache folder here carries a hash of all kernel
sources in its name: any change leads to a new folder.

TRUEBEST_JIT=0 runs the same source uncompiled (slow, but without the start-up cost of Numba).
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple, TypeVar, cast

from . import _cache

Function = TypeVar("Function", bound=Callable[..., object])

COMPILED = ("kernels/*.py", "strategies/*.py", "simulation/engine.py")  # where kernels are, and what they use
ENABLED = os.environ.get("TRUEBEST_JIT", "1") != "0"


class Kernel(NamedTuple):
    """A kernel as it was written, and as it was compiled."""

    function: Callable[..., object]
    signature: str
    made: Callable[..., object]


KERNELS: list[Kernel] = []  # all that were imported
_LOCK = threading.Lock()  # Numba reads the folder from a setting of the whole process


def kernel(signature: str, *, reorder: bool = False, apart: bool = False) -> Callable[[Function], Function]:
    """Compile for one explicit signature, with cached machine code and no global interpreter lock.

    signature  see `parse`
    reorder    let the compiler change the order of a sum, which is what vectorising it needs; the
               result then agrees to rounding between processors, and is always the same on one
    apart      leave it to the compiler whether to inline the kernel: for large ones that are called rarely,
               which would take registers from the loop around them
    """

    def decorate(function: Function) -> Function:
        made = compile_it(function) if ENABLED else function
        KERNELS.append(Kernel(function, signature, made))
        return made

    def compile_it(function: Function) -> Function:
        # Into their callers: a call passes every array as seven words, which at K = 5 costs more than
        # the work. A reordered sum stays apart, for its flag must not spread.
        flags = {"fastmath": {"reassoc"} if reorder else False, "forceinline": not (reorder or apart)}
        return compiled(function, signature, _FOLDER, **flags)

    return decorate


def twins(compiler: Callable[[FunctionType, str], object]) -> dict[object, object]:
    """Every kernel made again from the same source by another compiler: kernel -> twin; twins call twins.

    compiler  gets a function and its signature, and returns what others may call by its name
    """
    found: dict[object, object] = {}
    for one in KERNELS:  # in the order of definition, so that what is called comes first
        plain = cast(FunctionType, one.function)
        names = {name: plain.__globals__.get(name) for name in plain.__code__.co_names}
        called = {name: found[value] for name, value in names.items() if callable(value) and value in found}
        space = {**plain.__globals__, **called}
        found[one.made] = compiler(FunctionType(plain.__code__, space, plain.__name__), one.signature)
    return found


def compiled(function: Function, signature: str, folder: str, **flags: object) -> Function:
    """A function for one signature, with its machine code in a folder of `_cache`; "" for no cache."""
    numba: Any = import_module("numba")
    options = {
        "nogil": True,
        "error_model": "numpy",  # 1/0 is inf, as everywhere in NumPy; also what vectorises
        # Arrays are borrowed, not counted: counting took a tenth of a step. What allocates does not compile.
        "_nrt": False,
        **flags,
    }
    types = parse(signature)
    with _LOCK:
        previous, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
        try:
            return cast(Function, numba.njit(types, cache=bool(folder), **options)(function))
        except Exception:
            # A full disk, a damaged file or a module that is gone must not be the end: compile without the
            # cache. If the function itself was at fault, this raises again.
            return cast(Function, numba.njit(types, **options)(function))
        finally:
            numba.config.CACHE_DIR = previous


def parse(signature: str) -> Any:
    """A signature in Numba's notation, where const(...) around an array means that it is only read.

    "f8(const(f8[::1]), f8[::1])" is a float from two arrays, of which the function may change the second.
    """
    types: Any = import_module("numba").types
    return eval(signature, {"const": lambda array: array.copy(readonly=True)}, vars(types))


def sources() -> str:
    """A hash of all kernel sources."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for part in COMPILED:
        for source in sorted(package.glob(part)):
            digest.update(source.read_bytes())
    return digest.hexdigest()


def _folder() -> str:
    """The folder of machine code for exactly these sources; "" where none can be written."""
    name = SOURCES[: _cache.DIGITS]
    new = not _cache.find(name)
    folder = _cache.make(name)
    if folder and new and sys.stderr is not None and sys.stderr.isatty():
        print("truebest: compiling for this machine, once (about 10 s) ...", file=sys.stderr)
    return folder


SOURCES = sources() if ENABLED else ""
_FOLDER = _folder() if ENABLED else ""
