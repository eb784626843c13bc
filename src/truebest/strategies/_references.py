"""What a function refers to: the values behind the names in its bytecode, which Numba freezes."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

VERSIONED = ("builtins", "math", "cmath", "operator", "numpy", "numba")  # known by their version alone
MISSING = object()


def helpers(function: Any) -> list[Any]:
    """The compiled functions of a user's that a function refers to, directly or not."""
    found: list[Any] = []
    waiting = [function]
    while waiting:
        caller = waiting.pop()
        for _, value in references(getattr(caller, "py_func", caller)):
            ours = (getattr(value, "__module__", None) or "").startswith("truebest.")
            if hasattr(value, "py_func") and not ours and value is not function and value not in found:
                found.append(value)
                waiting.append(value)
    return found


def references(function: FunctionType) -> Iterator[tuple[str, object]]:
    """The global and closure variables that a function refers to, and what it takes out of modules."""
    names: dict[str, object] = {}
    for cell_name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            names[cell_name] = cell.cell_contents
        except ValueError:  # assigned to later, or never
            names[cell_name] = MISSING
    used, attributes = _names(function.__code__)
    for name in used:
        names[name] = function.__globals__.get(name, MISSING)
    waiting, opened = list(names.items()), set()
    while waiting:
        name, value = waiting.pop()
        yield name, value
        if isinstance(value, ModuleType) and not is_versioned(value.__name__) and value not in opened:
            opened.add(value)
            inside = [word for word in attributes if hasattr(value, word)]
            waiting += [(f"{name}.{word}", getattr(value, word)) for word in inside]


def _names(code: CodeType) -> tuple[list[str], list[str]]:
    """The names of globals and of attributes in some code and in the functions within it."""
    used: set[str] = set()
    attributes: set[str] = set()
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL":
            used.add(step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.add(step.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            more = _names(constant)
            used.update(more[0])
            attributes.update(more[1])
    return sorted(used), sorted(attributes)


def is_versioned(module: str) -> bool:
    """Whether a module belongs to a package whose version says what is in it."""
    return module.partition(".")[0] in VERSIONED
