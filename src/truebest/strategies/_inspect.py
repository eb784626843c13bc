"""What a user's compiled function does that it must not: found in its typed code, so that no alias hides it.

What a strategy may only read has read-only types, and Numba refuses nearly every write to these. The few
ways around that are refused here, and so are hidden random numbers; in the functions that it calls, too.
"""

from __future__ import annotations

import dis
import random as python_random
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ._references import helpers, references


class Fault(NamedTuple):
    """What a function does, and what it should do, as two clauses of a sentence.

    draws  whether it is random numbers
    """

    does: str
    advice: str
    draws: bool = False


_GENERATORS = {"random": "random", "numpy.random": "np.random", "secrets": "secrets"}  # modules
_FROM_STREAM = "draw from the stream that it gets: truebest.kernels.random.uniform(random) or normal(random)"
_COPY = "give it a copy, such as means.copy()"

# Numba lets these change a read-only array, or gives it back as a writable one.
_WRITERS = (np.ascontiguousarray, np.asfortranarray, np.fill_diagonal, np.nditer)


def find_fault(dispatcher: Any, arguments: tuple[Any, ...]) -> Fault | None:
    """The first fault of a function compiled for these types of arguments, or of one that it calls."""
    return _Search().function(dispatcher, arguments)


def find_draw(function: Any) -> Fault | None:
    """Another generator than the strategy's stream, as far as names in uncompiled code lead to one."""
    for caller in [function, *helpers(function)]:
        plain = getattr(caller, "py_func", caller)
        value: object = None
        for _, known in references(plain):
            if name := _generator_name(known) or _random_name(known):
                return _draws(name)
        for step in dis.get_instructions(plain):
            if step.opname == "IMPORT_NAME" and step.argval in _GENERATORS:
                return _draws(_GENERATORS[step.argval])
            if step.opname == "LOAD_GLOBAL":
                value = plain.__globals__.get(step.argval)
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                value = getattr(value, step.argval, None) if isinstance(value, ModuleType) else None
            elif step.opname != "EXTENDED_ARG":
                value = None
            if name := _random_name(value):
                return _draws(name)
    return None


def fresh(dispatcher: Any) -> Any:
    """The same function, not compiled yet, neither bound to a signature nor cached."""
    options = {"locals": dispatcher.locals, **dispatcher.targetoptions}
    return import_module("numba").jit(**options)(dispatcher.py_func)


class _Search:
    def __init__(self) -> None:
        self.types: Any = import_module("numba").types
        self.ir: Any = import_module("numba").core.ir
        self.seen: set[tuple[int, object]] = set()

    def function(self, dispatcher: Any, arguments: tuple[Any, ...]) -> Fault | None:
        module = dispatcher.py_func.__module__ or ""
        if (id(dispatcher), arguments) in self.seen or module.startswith("truebest."):
            return None
        self.seen.add((id(dispatcher), arguments))
        typed = self._typed(dispatcher, arguments)
        for kind in typed.typemap.values():
            if isinstance(kind, self.types.Function) and (name := _random_name(kind.typing_key)):
                return _draws(name)
        for node, signature in typed.calltypes.items():
            if signature is not None and (found := self._operation(node, signature, typed.typemap)):
                return found
        return None

    def _typed(self, dispatcher: Any, arguments: tuple[Any, ...]) -> Any:
        result = dispatcher.overloads.get(arguments)
        if result is None or isinstance(result.type_annotation, str):  # a cached one has only its text
            dispatcher = fresh(dispatcher)
            dispatcher.compile(arguments)
            result = dispatcher.overloads[arguments]
        return result.type_annotation

    def _operation(self, node: Any, signature: Any, typemap: dict[str, Any]) -> Fault | None:
        if isinstance(node, self.ir.SetItem | self.ir.StaticSetItem):
            if not isinstance(signature.args[0], self.types.Array):
                return self._put_into(signature.args[0], signature.args[1:])
            return None
        if not isinstance(node, self.ir.Expr) or node.op != "call":
            return None
        callee = typemap[node.func.name]
        if isinstance(callee, self.types.ObjModeDispatcher):
            return Fault("runs Python under numba.objmode, which cannot be checked", "leave that out")
        if isinstance(callee, self.types.Dispatcher):
            found = self.function(callee.dispatcher, signature.args)
            name = callee.dispatcher.py_func.__name__
            return found and found._replace(does=f"calls {name}, which {found.does}")
        if isinstance(callee, self.types.BoundFunction):
            return self._put_into(callee.this, signature.args)
        if isinstance(callee, self.types.Function):
            changed = self._changed_by(callee.typing_key, signature.args)
            if any(not array.mutable for kind in changed for array in self._arrays(kind)):
                return _writes(f"np.{callee.typing_key.__name__}")
        return None

    def _changed_by(self, function: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """Those of the arguments given to a function of NumPy that it may change without being asked."""
        if function is np.dot:
            return given[2:]
        if function is np.nan_to_num:
            return () if isinstance(given[1], self.types.Omitted) else given[:1]
        return given[:1] if any(function is one for one in _WRITERS) else ()

    def _put_into(self, target: Any, values: tuple[Any, ...]) -> Fault | None:
        """A read-only array can be written through `flat`, and turns writable in a typed container."""
        if isinstance(target, self.types.NumpyFlatType) and not target.array_type.mutable:
            return _writes(".flat")
        if isinstance(target, self.types.ListType | self.types.DictType):
            writable = any(array.mutable for array in self._arrays(target))
            if writable and any(not array.mutable for kind in values for array in self._arrays(kind)):
                return _writes("a container of arrays")
        return None

    def _arrays(self, kind: Any) -> Iterator[Any]:
        if isinstance(kind, self.types.Array):
            yield kind
        elif isinstance(kind, self.types.BaseTuple):
            for item in kind.types:
                yield from self._arrays(item)
        elif isinstance(kind, self.types.ListType):
            yield from self._arrays(kind.item_type)
        elif isinstance(kind, self.types.DictType):
            yield from self._arrays(kind.value_type)


def _draws(name: str) -> Fault:
    return Fault(f"uses {name}, so that no run could be repeated", _FROM_STREAM, draws=True)


def _writes(through: str) -> Fault:
    return Fault(f"passes what it may only read to {through}, through which it could be changed", _COPY)


def _generator_name(value: Any) -> str | None:
    """The name of a generator that was made elsewhere, and keeps its state."""
    kinds = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, python_random.Random)
    return f"a {type(value).__name__}" if isinstance(value, kinds) else None


def _random_name(value: Any) -> str | None:
    """The name of a generator with a hidden state, or of a function that draws from it; None for all else."""
    if isinstance(value, ModuleType):
        return {"random": "random", "numpy.random": "np.random"}.get(value.__name__)
    for owner in (value, type(getattr(value, "__self__", None))):
        module = getattr(owner, "__module__", None) or ""
        if module == "random" or module.startswith("numpy.random"):
            return f"{'random' if module == 'random' else 'np.random'}.{getattr(value, '__name__', '')}"
    return None
