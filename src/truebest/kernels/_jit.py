"""Kernels: functions that Python runs, and that Numba compiles when that saves time.

What Python calls runs uncompiled at first, with the same results (`_background` says until when). What has
many numbers or runs to go through is compiled when it is first called, and so is all that it calls.

Machine code is kept on disk, see `_cache`. The folder has a hash of all kernel sources in its name, so that
none can be stale: any change leads to a new one.

TRUEBEST_JIT=0 compiles nothing: the functions are as they were written, so that a debugger can step through
them. TRUEBEST_JIT=1 compiles everything that is called when it is first called. TRUEBEST_JIT=all makes one
loop over runs for all models and rules: slower steps, and one compilation where many are simulated briefly.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np

from . import _cache
from ._background import WATCH
from ._numba import AT_ONCE, ENABLED, available, waiting
from ._specialise import NONE_KNOWN, Known

Function = TypeVar("Function", bound=Callable[..., object])
Tuple = TypeVar("Tuple", bound=tuple[Any, ...])

# Where kernels are, and what they use
COMPILED = (
    "kernels/*.py",
    "kernels/rules/*.py",
    "strategies/*.py",
    "simulation/engine.py",
    "simulation/rounds.py",
)
OPTIONS = {
    "nogil": True,
    "error_model": "numpy",  # 1/0 is inf, as everywhere in NumPy; also what vectorises
    # Arrays are borrowed, not counted: counting took a tenth of a step. What allocates does not compile.
    "_nrt": False,
}
LARGE = 4096  # numbers in the arrays of a call, from which on it is compiled, and its sums may be reordered
KERNELS: list[Kernel] = []  # all that were imported
TUPLES: dict[str, tuple[type, str]] = {}  # by name: the classes that `named` was told of, and their fields
_LOCK = threading.Lock()  # Numba reads the folder of its own cache from a setting of the whole process


class Kernel:
    """A function as it was written, `py_func`, and its machine code, which is made when it is first needed.

    Called from Python, it gives the same bits compiled and uncompiled: no sum is reordered, unless there are
    LARGE arrays. Other compiled functions may call it.
    """

    __name__: str
    __qualname__: str
    given_way = False  # whether any that Python called is compiled by now

    def __init__(self, function: FunctionType, signature: str, reorder: bool, apart: bool) -> None:
        update_wrapper(self, function)
        self.py_func, self.signature, self.reorder, self.apart = function, signature, reorder, apart
        self._run: Callable[..., Any] = self._first

    def __call__(self, *args: Any) -> Any:
        return self._run(*args)

    def __reduce__(self) -> str:
        return self.__qualname__  # of its module

    def compiled(self, known: Known = NONE_KNOWN, reorder: bool = True) -> Any:
        """Its machine code, for what is known of its arguments (`_compiler.Group`); without Numba, itself."""
        if not available():
            return self.plain
        try:
            machine: Any = import_module("truebest.kernels._compiler").group(known, reorder).of(self)
            machine.compile()
            return machine
        except Exception:  # Numba is another than we know, or the function is at fault: then this raises
            with waiting():
                return self._plainly

    @cached_property
    def plain(self) -> FunctionType:
        """The same function, calling others that are uncompiled."""
        called = {name: one.plain for name, one in self._called.items()}
        return FunctionType(self.py_func.__code__, {**self.py_func.__globals__, **called}, self.__name__)

    def give_way(self) -> bool:
        """Be compiled from now on, if that takes no compiler; whether it is, or can never be."""
        if self._run == self._first and available():
            try:
                machine: Any = import_module("truebest.kernels._compiler").group(NONE_KNOWN, False).of(self)
                if machine.is_kept():
                    self._compile()
            except Exception:  # as in `compiled`: it stays as it is
                return True
        return self._run != self._first or not available()

    @cached_property
    def reorders(self) -> bool:
        """Whether it or any that it calls has a sum that may be reordered."""
        return self.reorder or any(one.reorders for one in self._called.values())

    @property
    def _numba_type_(self) -> Any:
        """What makes it a function that others may call when they are compiled."""
        try:
            machine: Any = import_module("truebest.kernels._compiler").group(NONE_KNOWN, True).of(self)
            machine.get_overload(None)  # fails now or never
        except Exception:  # as in `compiled`
            machine = self._plainly
        return machine._numba_type_

    @cached_property
    def _called(self) -> dict[str, Kernel]:
        found = {name: self.py_func.__globals__.get(name) for name in self.py_func.__code__.co_names}
        return {name: one for name, one in found.items() if isinstance(one, Kernel)}

    @cached_property
    def _plainly(self) -> Any:
        """Compiled by nothing but what Numba documents: it takes longer, and gives the same."""
        called = {name: one._plainly for name, one in self._called.items()}
        function = FunctionType(self.py_func.__code__, {**self.py_func.__globals__, **called}, self.__name__)
        flags = {"fastmath": {"reassoc"} if self.reorder else False, "forceinline": not self.reorder}
        return _njit(function, self.signature, folder(), **flags)

    def _first(self, *args: Any) -> Any:
        if (AT_ONCE or _size(args) >= LARGE) and available():
            self._compile()
            return self._run(*args)
        return self._uncompiled(*args)

    def _uncompiled(self, *args: Any) -> Any:
        start = time.thread_time()
        try:
            with np.errstate(all="ignore"):
                return self.plain(*args)
        finally:
            WATCH.took(self, time.thread_time() - start)

    def _compile(self) -> None:
        Kernel.given_way = True
        if "FunctionType" in self.signature:
            self._run = self._with_kernels
        else:
            self._run = self._by_size if self.reorders else self._exact

    def _with_kernels(self, *args: Any) -> Any:
        """Compiled, unless a kernel among the arguments is not."""
        kernels = [one for one in args if isinstance(one, Kernel)]
        if not all(AT_ONCE or one.give_way() for one in kernels):
            return self._uncompiled(*args)
        return self._exact(*(one._exact if isinstance(one, Kernel) else one for one in args))

    def _by_size(self, *args: Any) -> Any:
        return (self._fast if _size(args) >= LARGE else self._exact)(*args)

    @cached_property
    def _exact(self) -> Any:
        return self.compiled(reorder=False)

    @cached_property
    def _fast(self) -> Any:
        return self.compiled()


def _size(args: tuple[Any, ...]) -> int:
    """How many numbers there are in the arrays of a call."""
    return sum(one.size for one in args if isinstance(one, np.ndarray))


def kernel(signature: str, *, reorder: bool = False, apart: bool = False) -> Callable[[Function], Function]:
    """A kernel for one explicit signature, with cached machine code and no global interpreter lock.

    signature  see `parse`
    reorder    let the compiler change the order of a sum in loops over runs and in large arrays, which is
               what vectorising it needs; the result then agrees to rounding between processors, and is
               always the same on one
    apart      leave it to the compiler whether to inline the kernel: for large ones that are called rarely,
               which would take registers from the loop around them. All others are inlined: a call passes
               every array as seven words, which at K = 5 costs more than the work. A reordered sum stays
               apart, for its flag must not spread.
    """

    def decorate(function: Function) -> Function:
        if not ENABLED:
            return function
        KERNELS.append(Kernel(cast(FunctionType, function), signature, reorder, apart))
        return cast(Function, KERNELS[-1])

    return decorate


def named(fields: str) -> Callable[[type[Tuple]], type[Tuple]]:
    """A class of named tuples, whose name may stand in signatures.

    fields  the types of what it holds, as in a signature. Nothing in a tuple is converted: an array that is
            only read must be read-only in Python, too
    """

    def decorate(kind: type[Tuple]) -> type[Tuple]:
        TUPLES[kind.__name__] = kind, fields
        return kind

    return decorate


def twins(compiler: Callable[[FunctionType, str], object]) -> dict[object, object]:
    """Every kernel made again from the same source by another compiler: kernel -> twin; twins call twins.

    compiler  gets a function and its signature, and returns what others may call by its name
    """
    found: dict[object, object] = {}
    for one in KERNELS:  # in the order of definition, so that what is called comes first
        plain = one.py_func
        called = {name: found[callee] for name, callee in one._called.items()}
        space = {**plain.__globals__, **called}
        found[one] = compiler(FunctionType(plain.__code__, space, plain.__name__), one.signature)
    return found


def users(function: FunctionType, signature: str, folder: str, ready: bool = False) -> Any:
    """A kernel around a user's function, with its machine code in a folder of `_cache`; "" for no cache.

    ready  only if it is there: else None
    """
    try:
        compiler: Any = import_module("truebest.kernels._compiler")
        made, found = compiler.kept(function, signature, folder)
        if not found and not ready:
            compiler.make(made, signature)
        return None if ready and not found else made
    except Exception:  # as in `Kernel.compiled`
        return None if ready else _njit(function, signature, folder)


def _njit(function: FunctionType, signature: str, folder: str, **flags: object) -> Any:
    """A function for one signature, compiled at once, with the cache of Numba in a folder."""
    numba: Any = import_module("numba")
    types, options = parse(signature), {**OPTIONS, **flags}
    with _LOCK:
        previous, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
        try:
            return numba.njit(types, cache=bool(folder), **options)(function)
        except Exception:
            # A full disk, a damaged file or a module that is gone must not be the end: compile without the
            # cache. If the function itself was at fault, this raises again.
            return numba.njit(types, **options)(function)
        finally:
            numba.config.CACHE_DIR = previous


def parse(signature: str) -> Any:
    """A signature in Numba's notation, where const(...) around an array means that it is only read.

    "f8(const(f8[::1]), f8[::1])" is a float from two arrays, of which the function may change the second.
    """
    types: Any = import_module("numba").types
    space = {"const": lambda array: array.copy(readonly=True)}
    for name, (kind, fields) in TUPLES.items():
        if name in signature:
            space[name] = types.BaseTuple.from_types(eval(f"({fields})", space, vars(types)), kind)
    return eval(signature, space, vars(types))


@cache
def sources() -> str:
    """A hash of all kernel sources."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for part in COMPILED:
        for source in sorted(package.glob(part)):
            digest.update(source.read_bytes())
    return digest.hexdigest()


@cache
def folder() -> str:
    """The folder of machine code for exactly these sources; "" where none can be written."""
    return _cache.make(sources()[: _cache.DIGITS])
