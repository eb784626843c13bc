"""A hash of a compiled function and of everything that its machine code was made from.

That is its name, bytecode, constants and defaults, and the value of each global and closure variable that it
refers to, through all the compiled functions among them; also the versions of what compiles it, the processor
and the place of truebest's own source. What Numba freezes into machine code or looks up in its cache is in
the hash, so machine code that is kept under it can be used and cannot be stale.
"""

from __future__ import annotations

import hashlib
import sys
from importlib import import_module
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..kernels import _cache
from ..kernels._jit import Kernel, sources
from ._references import MISSING, helpers, is_versioned, references

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
_MADE_OF: WeakKeyDictionary[Any, str | None] = WeakKeyDictionary()  # hashes of helpers when compiled


class Unknown(Exception):  # noqa: N818
    """A value of which nobody can say whether it has changed."""


def digest(*functions: Any) -> str | None:
    """The hash of functions that Numba has compiled or will; None if one depends on something unknown."""
    walk = _Walk()
    versions = [import_module(name).__version__ for name in ("numba", "llvmlite", "numpy")]
    try:
        walk.add(sources(), sys.version, *versions, __file__, _processor())
        for function in functions:
            walk.value(function)
    except Unknown:
        return None
    return walk.hash.hexdigest()[: _cache.DIGITS]


def _processor() -> tuple[str, str]:
    llvm: Any = import_module("llvmlite.binding")
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def fresh_helpers(function: Any) -> bool:
    """Whether all helpers of a function will be, or were, compiled from the values that they refer to now.

    Numba keeps using a helper as it was first compiled, whatever has become of the globals it refers to.
    """
    return all(not one.overloads or _MADE_OF.get(one) == digest(one) for one in helpers(function))


def remember_helpers(function: Any) -> None:
    """Note what a function that was just compiled, and its helpers, are made of."""
    for one in [function, *helpers(function)]:
        _MADE_OF.setdefault(one, digest(one))


class _Walk:
    """Takes values into a hash; a function that comes up again is only referred to."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.seen: dict[int, tuple[int, object]] = {}  # the object too, so that no other gets its id

    def add(self, *parts: object) -> None:
        for part in parts:
            data = part if isinstance(part, bytes) else repr(part).encode()
            self.hash.update(len(data).to_bytes(8, "big") + data)

    def value(self, value: Any) -> None:
        self.add(type(value).__module__, type(value).__qualname__)
        if isinstance(value, _PLAIN) and type(value) in _PLAIN:
            self.add(value)
        elif isinstance(value, tuple | frozenset):
            self._items(value)
        elif isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
            self.add(value.dtype.descr, value.shape, getattr(value, "strides", ()), value.tobytes())
        elif isinstance(value, Kernel):
            self.add(value.__module__, value.__qualname__)  # the rest is in the hash of all sources
        elif isinstance(value, CodeType):
            self._code(value)
        elif isinstance(value, import_module("numba").core.dispatcher.Dispatcher):
            self._compiled(value)
        elif isinstance(value, import_module("numba").types.Type):
            self.add(value)
        elif isinstance(value, ModuleType):
            self.add(value.__name__)  # what is taken out of it follows
        else:
            self._named(value)

    def _items(self, items: tuple[object, ...] | frozenset[object]) -> None:
        if type(items) not in (tuple, frozenset) and not hasattr(items, "_fields"):
            raise Unknown
        self.add(len(items), getattr(items, "_fields", ()))
        for item in sorted(items, key=repr) if isinstance(items, frozenset) else items:
            self.value(item)

    def _code(self, code: CodeType) -> None:
        self.add(code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        self.add(code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
        self.add(code.co_exceptiontable)
        self.value(code.co_consts)

    def _compiled(self, dispatcher: Any) -> None:
        if id(dispatcher) in self.seen:
            self.add(self.seen[id(dispatcher)][0])
            return
        self.seen[id(dispatcher)] = (len(self.seen), dispatcher)
        for key, option in sorted([*dispatcher.targetoptions.items(), ("locals", dispatcher.locals)]):
            self.add(key, sorted(option) if isinstance(option, set) else option)
        if not dispatcher._can_compile:  # signatures were given; else they come from the callers
            self.add([str(one) for one in dispatcher.signatures])
        function = dispatcher.py_func
        self.add(function.__module__, function.__qualname__)  # what is loaded refers to it by these names
        self.value(function.__code__)
        self.value(function.__defaults__)
        self.value(tuple(sorted((function.__kwdefaults__ or {}).items())))
        for name, value in references(function):
            self.add(name)
            if value is not MISSING:  # a name that is nowhere is one of the language, or an error
                self.value(value)

    def _named(self, value: Any) -> None:
        """What belongs to a package is known by its name there and the package's version."""
        module = "numpy" if isinstance(value, np.ufunc) else getattr(value, "__module__", None)
        name = str(getattr(value, "__qualname__", None) or getattr(value, "__name__", ""))
        if isinstance(value, np.ufunc) and getattr(np, name, None) is not value:
            raise Unknown
        if not isinstance(value, type | BuiltinFunctionType | FunctionType | np.ufunc):
            raise Unknown
        if module is None or not is_versioned(module):
            raise Unknown
        self.add(module, name)
