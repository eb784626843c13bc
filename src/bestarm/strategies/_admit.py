"""From a user's function to a kernel that the engine may call: compiled, inspected, and cached.

A folder of machine code is made only for a function that passed the inspection, under a hash of everything
it was made from. So a function that is found there needs no second look, and no compiler.

Uncompiled, the arrays that a strategy may only read are read-only ones of NumPy.
"""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

from ..errors import InvalidInputError
from ..kernels import _cache
from ..kernels._jit import ENABLED, compiled, parse
from ..kernels._types import Array
from ..kernels.layout import DELTA, MEANS, OWN, PULLS, SELECT, Select
from ._base import Strategy
from ._digest import digest, fresh_helpers, remember_helpers
from ._inspect import Fault, find_draw, find_fault, fresh
from ._references import helpers, references

_ADMITTED: WeakKeyDictionary[Any, Select] = WeakKeyDictionary()

inner: Any = None  # each kernel that is made below has a global of its own by this name


def _named(t, last, leader, state, params, memory, random):  # type: ignore[no-untyped-def]
    own = params[OWN:]
    return inner(t, last, leader, state[PULLS], state[MEANS], params[DELTA], own, memory, random)


def _plain(t, last, leader, state, params, memory, random):  # type: ignore[no-untyped-def]
    return inner(t, last, leader, state, params, memory, random)


class Form(NamedTuple):
    """The arguments of a user's function, as names and types, and the kernel that calls it with them."""

    arguments: dict[str, str]
    kernel: Any

    @property
    def readable(self) -> list[str]:
        """The arguments that may only be read."""
        return [name for name, kind in self.arguments.items() if kind.startswith("const")]

    def types(self, writable: Any = ()) -> tuple[Any, ...]:
        """Numba's types of the arguments; those named are not read-only."""
        kinds = [kind.removeprefix("const") if n in writable else kind for n, kind in self.arguments.items()]
        return tuple(parse(f"void({', '.join(kinds)})").args)


NAMED = Form(
    {
        "t": "f8",
        "last": "i8",
        "leader": "i8",
        "pulls": "const(f8[::1])",
        "means": "const(f8[::1])",
        "delta": "f8",
        "params": "const(f8[::1])",
        "memory": "f8[:, ::1]",
        "random": "u8[::1]",
    },
    _named,
)
KERNEL = Form(
    {
        "t": "f8",
        "last": "i8",
        "leader": "i8",
        "state": "const(f8[:, ::1])",
        "params": "const(f8[::1])",
        "memory": "f8[:, ::1]",
        "random": "u8[::1]",
    },
    _plain,
)


def kernel_of(strategy: Strategy) -> Select:
    """The kernel of a strategy, fit for the engine: one of ours, or a user's that was admitted."""
    select: Any = strategy.select
    if (getattr(select, "__module__", None) or "").startswith("bestarm."):
        return cast(Select, select)
    if select not in _ADMITTED:
        if ENABLED and not hasattr(select, "py_func"):
            raise InvalidInputError(
                f"the kernel of the strategy {strategy.name!r} must be compiled, got {select!r:.60}; put "
                f"@numba.njit above its definition."
            )
        if len(inspect.signature(select).parameters) != len(KERNEL.arguments):
            raise InvalidInputError(
                f"the kernel of the strategy {strategy.name!r} must take ({', '.join(KERNEL.arguments)}), "
                f"got {inspect.signature(select)}; give it these arguments in this order."
            )
        _ADMITTED[select] = admit(select, KERNEL, strategy.name)
    return _ADMITTED[select]


@contextlib.contextmanager
def raised_by(strategy: Strategy) -> Iterator[None]:
    """Say whose exception it is: only a user's function raises."""
    try:
        yield
    except InvalidInputError:
        raise
    except Exception as error:
        raise InvalidInputError(
            f"the strategy {strategy.name!r} raised {type(error).__name__}: {error}; an index out of range "
            f"often means that rows= or params= of the decorator is too short."
        ) from error


def admit(function: Any, form: Form, label: str) -> Select:
    """A kernel that calls a user's function; InvalidInputError if that must not be or cannot be.

    function  a plain one, which is compiled here with bounds checks, or one that Numba compiled
    """
    if not ENABLED:
        plain = getattr(function, "py_func", function)
        _refuse(find_draw(plain), label)
        return _guarded(_kernel(form, plain, "select"), label)
    numba: Any = import_module("numba")
    options = {"nogil": True, "error_model": "numpy", "boundscheck": True}
    made = fresh(function) if hasattr(function, "py_func") else numba.njit(**options)(function)
    name = digest(made)
    folder = _cache.find(name) if name else ""
    # Without machine code there it would be compiled with the flags of our kernel: nothing may allocate
    if not any(Path(folder).rglob("*.nbi") if folder else ()):
        current = fresh_helpers(made)
        _inspect(made, form, label)
        if name and current:
            remember_helpers(made)
            folder = _cache.make(name)
    return cast(Select, compiled(_kernel(form, made, f"select_{name}"), SELECT, folder))


def _kernel(form: Form, function: Any, name: str) -> Any:
    """The form's kernel around a function, as a global: Numba never finds a closure over one in its cache."""
    made = FunctionType(form.kernel.__code__, {**globals(), "inner": function}, name)
    made.__qualname__ = name  # of its file in the cache
    return made


def _inspect(made: Any, form: Form, label: str) -> None:
    """Compile a function for what the engine will give it, and refuse it if anything is wrong with it."""
    types = form.types()
    try:
        _compile(made, types)
    except Exception as error:
        raise InvalidInputError(f"the strategy {label!r} {_reason(made, form, error)}.") from None
    answer, whole = made.overloads[types].signature.return_type, import_module("numba").types
    if not isinstance(answer, whole.Integer | whole.Boolean):
        raise InvalidInputError(
            f"the strategy {label!r} does not compile: it returns {answer}; return a whole number on every "
            f"path."
        )
    _refuse(find_fault(made, types), label)


def _refuse(fault: Fault | None, label: str) -> None:
    if fault:
        raise InvalidInputError(f"the strategy {label!r} {fault.does}; {fault.advice}.")


def _compile(made: Any, types: tuple[Any, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.compile(types)


def _reason(made: Any, form: Form, error: Exception) -> str:
    """Why a function does not compile, and what to do, in the words of its author."""
    helper = _plain_helper(made)
    if helper:
        return f"calls {helper}, which is not compiled; put @numba.njit above its definition"
    for written in [[name] for name in form.readable] + [form.readable]:
        with contextlib.suppress(Exception):
            _compile(fresh(made), form.types(writable=written))
            names = " or ".join(written)
            if "Known signatures" in str(error):
                return (
                    f"passes {names}, which it may only read, to a function compiled for a writable array; "
                    f"pass a copy, {written[-1]}.copy(), or leave out the signature of that function"
                )
            return f"writes to {names}, which it may only read; write to a copy: {written[-1]}.copy()"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = next((line for line in lines if not line.startswith("Failed in nopython")), "unknown")
    advice = "use only numbers, loops, arrays and math, and return a whole number on every path"
    return f"does not compile: {reason[:200]}; {advice}"


def _plain_helper(made: Any) -> str | None:
    """The name of a function that is called without being compiled, if there is one."""
    context: Any = import_module("numba").core.registry.cpu_target.typing_context
    for caller in [made, *helpers(made)]:
        for name, value in references(caller.py_func):
            if inspect.isfunction(value):
                try:
                    context.resolve_value_type(value)
                except ValueError:
                    return name
    return None


def _guarded(select: Select, label: str) -> Select:
    """For an uncompiled kernel: what it may only read is read-only."""

    def guarded(t, last, leader, state, params, memory, random):  # type: ignore[no-untyped-def]
        try:
            return select(t, last, leader, _shut(state), _shut(params), memory, random)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise InvalidInputError(
                f"the strategy {label!r} writes to pulls, means or params, which it may only read; write "
                f"to a copy: means.copy()."
            ) from None

    return guarded


def _shut(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
