"""Functions for people: what `help` shows of one that takes `**settings`, and where a warning points."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

PACKAGE = __name__.partition(".")[0]
F = TypeVar("F", bound=Callable[..., Any])


def spelled_out(
    keywords: Mapping[str, Any], like: Callable[..., Any] | None = None, **others: Any
) -> Callable[[F], F]:
    """Show keywords, the annotations of a `TypedDict`, in place of `**settings: Unpack[...]`.

    Type checkers read the annotation; `inspect`, and so notebooks, would show nothing but the two stars.
    like    what takes them over, with the defaults of those that are not None
    others  defaults of some more
    """
    taken = inspect.signature(like).parameters if like is not None else {}
    defaults = {name: parameter.default for name, parameter in taken.items()} | others

    def show(function: F) -> F:
        signature = inspect.signature(function)
        named = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        more = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(name),
                annotation=getattr(annotation, "__forward_arg__", annotation),
            )
            for name, annotation in keywords.items()
        ]
        function.__signature__ = signature.replace(parameters=[*named, *more])  # type: ignore[attr-defined]
        return function

    return show


def callers() -> int:
    """How far above the caller of this function the first one is that does not belong to the package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        level, frame = level + 1, frame.f_back
    return level
