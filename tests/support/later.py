"""Strategies and rules of tests' own, compiled when a test first asks for one.

As decorators they would be compiled when the files of tests are read: by every worker at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import truebest


def later(decorate: Callable[..., Any] = truebest.strategy, **given: Any) -> Callable[..., Any]:
    """Make a function one without arguments that gives what the decorator makes of it."""

    def delay(function: Callable[..., Any]) -> Callable[[], Any]:
        return wraps(function)(cache(lambda: decorate(function, **given)))

    return delay
