"""From a user's function to a kernel that the engine may call: compiled, inspected, and cached.

A folder of machine code is made only for a function that passed the inspection, under a hash of everything
it was made from. So a function that is found there needs no second look, and no compiler.

Uncompiled, the arrays that a strategy may only read are read-only ones of NumPy.
"""

from __future__ import annotations

import contextlib
import inspect
import warnings
from importlib import import_module
from types import FunctionType
from typing import Any, cast
from weakref import WeakKeyDictionary

from ..errors import InvalidInputError
from ..kernels import _cache
from ..kernels._jit import parse, users
from ..kernels._numba import available
from ..kernels._types import Array
from ..kernels.layout import DELTA, MEANS, OWN, PULLS, SELECT, VARIANCES, Select  # noqa: F401
from ._base import Strategy
from ._digest import digest, fresh_helpers, remember_helpers
from ._inspect import Fault, find_draw, find_fault, fresh
from ._references import helpers, references

_ADMITTED: WeakKeyDictionary[Any, Select] = WeakKeyDictionary()

# What a user's function may take, by name: the type, and where it is found among a kernel's arguments.
Arguments = dict[str, tuple[str, str]]
BY_NAME: Arguments = {
    "t": ("f8", "t"),
    "last": ("i8", "last"),
    "leader": ("i8", "leader"),
    "pulls": ("const(f8[::1])", "state[PULLS]"),
    "means": ("const(f8[::1])", "state[MEANS]"),
    "variances": ("const(f8[::1])", "state[VARIANCES]"),
    "delta": ("f8", "params[DELTA]"),
    "params": ("const(f8[::1])", "params[OWN:]"),
    "memory": ("f8[:, ::1]", "memory"),
    "random": ("u8[::1]", "random"),
    "state": ("const(f8[:, ::1])", "state"),
    "model": ("const(f8[::1])", "params"),
}
IN_ORDER = {
    "t": ("f8", "t"),
    "last": ("i8", "last"),
    "leader": ("i8", "leader"),
    "state": ("const(f8[:, ::1])", "state"),
    "params": ("const(f8[::1])", "params"),
    "memory": ("f8[:, ::1]", "memory"),
    "random": ("u8[::1]", "random"),
}


class Form:
    """The arguments of a user's function, as names and types, and the kernel that calls it with them.

    kind    what messages call such a function
    answer  what it must return
    beside  other compiled functions that the kernel calls
    """

    kind = "strategy"
    answer = "a whole number"
    beside: tuple[Any, ...] = ()

    def __init__(self, arguments: Arguments) -> None:
        self.kinds = {name: kind for name, (kind, _) in arguments.items()}
        self.call = ", ".join(place for _, place in arguments.values())

    def answers(self, answer: Any, types: Any) -> bool:
        """Whether a function may return what has this type of Numba's."""
        return isinstance(answer, types.Integer | types.Boolean)

    def advice(self, fault: Fault) -> str:
        """What to do about a fault."""
        return fault.advice

    @property
    def readable(self) -> list[str]:
        """The arguments that may only be read."""
        return [name for name, kind in self.kinds.items() if kind.startswith("const")]

    def types(self, writable: Any = ()) -> tuple[Any, ...]:
        """Numba's types of the arguments; those named are not read-only."""
        kinds = [kind.removeprefix("const") if n in writable else kind for n, kind in self.kinds.items()]
        return tuple(parse(f"void({', '.join(kinds)})").args)

    def kernel(self, function: Any, name: str) -> Any:
        """The kernel that calls a function, as a global: Numba finds no closure over one in its cache."""
        text = f"def {name}({', '.join(IN_ORDER)}):\n    return inner({self.call})\n"
        space: dict[str, Any] = {**globals(), "inner": function}
        exec(compile(text, __file__, "exec", dont_inherit=True), space)  # the file: where Numba's cache looks
        return space[name]


KERNEL = Form(IN_ORDER)


def taken(plain: Any, allowed: Arguments, kind: str) -> Arguments:
    """Those of the arguments on offer that a user's function takes, in its order.

    kind    what messages call such a function
    Raises  InvalidInputError if it is no plain function, or takes anything else
    """
    if not inspect.isfunction(plain):
        raise InvalidInputError(
            f"a {kind} must be a plain function of some of ({', '.join(allowed)}), got {plain!r:.40}; put "
            f"@truebest.{kind.replace(' ', '_')} above its definition."
        )
    signature = inspect.signature(plain)
    for one in signature.parameters.values():
        if one.kind is not one.POSITIONAL_OR_KEYWORD or one.name not in allowed:
            raise InvalidInputError(
                f"a {kind} may take {', '.join(allowed)}, got {signature}; take only these, as ordinary "
                f"arguments."
            )
    return {name: allowed[name] for name in signature.parameters}


def kernel_of(strategy: Strategy) -> Select:
    """The kernel of a strategy, fit for the engine: one of ours, or a user's that was admitted."""
    select: Any = strategy.select
    if (getattr(select, "__module__", None) or "").startswith("truebest."):
        return cast(Select, select)
    if select not in _ADMITTED:
        if available() and not hasattr(select, "py_func"):
            raise InvalidInputError(
                f"the kernel of the strategy {strategy.name!r} must be compiled, got {select!r:.60}; put "
                f"@numba.njit above its definition."
            )
        if len(inspect.signature(select).parameters) != len(IN_ORDER):
            raise InvalidInputError(
                f"the kernel of the strategy {strategy.name!r} must take ({', '.join(IN_ORDER)}), "
                f"got {inspect.signature(select)}; give it these arguments in this order."
            )
        _ADMITTED[select] = admit(select, KERNEL, strategy.name)
    return _ADMITTED[select]


def interpreted(strategy: Strategy) -> Select | None:
    """The kernel as Python runs it, to compare with; what it calls stays compiled. None if nothing is."""
    if not available():
        return None
    plain = cast(Any, kernel_of(strategy)).py_func
    inner = plain.__globals__.get("inner")
    if inner is None:  # one of ours
        return cast(Select, plain)
    called = FunctionType(plain.__code__, {**plain.__globals__, "inner": inner.py_func}, plain.__name__)
    return _guarded(cast(Select, called), strategy.in_words)


class raised_by:  # noqa: N801 - for `with`
    """Say whose exception it is: only a user's function raises."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, InvalidInputError):
            raise InvalidInputError(
                f"{self._strategy.in_words} raised {type(error).__name__}: {error}; an index out of range "
                f"often means that rows= or params= of the decorator is too short."
            ) from error


def admit(function: Any, form: Form, label: str) -> Select:
    """A kernel that calls a user's function; InvalidInputError if that must not be or cannot be.

    function  a plain one, which is compiled here with bounds checks, or one that Numba compiled
    """
    if not available():
        plain = getattr(function, "py_func", function)
        _refuse(find_draw(plain), form, label)
        return _guarded(form.kernel(plain, "select"), f"the {form.kind} {label!r}")
    numba: Any = import_module("numba")
    options = {"nogil": True, "error_model": "numpy", "boundscheck": True}
    made = fresh(function) if hasattr(function, "py_func") else numba.njit(**options)(function)
    name = digest(made, *form.beside)
    folder, kernel = _cache.find(name) if name else "", form.kernel(made, f"select_{name}")
    if folder and (found := users(kernel, SELECT, folder, ready=True)):
        return cast(Select, found)
    current = all(map(fresh_helpers, (made, *form.beside)))
    _inspect(made, form, label)
    if name and current:
        remember_helpers(made)
        folder = _cache.make(name)
    return cast(Select, users(kernel, SELECT, folder if current else ""))


def _inspect(made: Any, form: Form, label: str) -> None:
    """Compile a function for what the engine will give it, and refuse it if anything is wrong with it."""
    types = form.types()
    try:
        _compile(made, types)
    except Exception as error:
        raise InvalidInputError(f"the {form.kind} {label!r} {_reason(made, form, error)}.") from None
    answer = made.overloads[types].signature.return_type
    if not form.answers(answer, import_module("numba").types):
        raise InvalidInputError(
            f"the {form.kind} {label!r} does not compile: it returns {answer}; return {form.answer} on every "
            f"path."
        )
    _refuse(find_fault(made, types), form, label)


def _refuse(fault: Fault | None, form: Form, label: str) -> None:
    if fault:
        raise InvalidInputError(f"the {form.kind} {label!r} {fault.does}; {form.advice(fault)}.")


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
    advice = f"use only numbers, loops, arrays and math, and return {form.answer} on every path"
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


def _guarded(select: Select, whose: str) -> Select:
    """For an uncompiled kernel: what it may only read is read-only."""

    def guarded(t, last, leader, state, params, memory, random):  # type: ignore[no-untyped-def]
        try:
            return select(t, last, leader, _shut(state), _shut(params), memory, random)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise InvalidInputError(
                f"{whose} writes to pulls, means or params, which it may only read; write to a copy: "
                f"means.copy()."
            ) from None

    return guarded


def _shut(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
