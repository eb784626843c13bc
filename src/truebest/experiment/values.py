"""What an experiment is told: which numbers it takes as values, and in which forms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _args
from ..errors import InvalidInputError

if TYPE_CHECKING:
    from .pulls import Pull
    from .settings import Settings


_NO_NUMBERS = (str, bytes, bytearray, memoryview, complex, np.complexfloating)  # though float() may take them


def check_value(value: float, settings: Settings) -> float:
    """A value that could be told, or a refusal; True and False are 1 and 0. The bounds are not checked."""
    number = value if type(value) is float else math.nan
    if number is not value and not isinstance(value, _NO_NUMBERS):
        with suppress(Exception):  # what else can be converted says so itself
            number = float(value)
    settings.values.check(number, value)
    return number


def listed_rows(arm: Any, value: Any) -> tuple[list[tuple[Any, Any]], bool]:
    """What `observe` is given, as arms with values; and whether these are in the order of sampling."""
    if value is None and not isinstance(arm, str | Mapping):
        try:
            return [(name, one) for name, one in arm], True
        except (TypeError, ValueError):
            raise InvalidInputError(
                f"observe takes an arm and its values, arm -> values, or a list of (arm, value) in the order "
                f"of sampling, got {_args.short(arm)}; write observe([('a', 0.5), ('b', 0.7)])."
            ) from None
    given = arm.items() if isinstance(arm, Mapping) else [(arm, value)]
    rows = [(name, one) for name, some in given for one in listed_values(some)]
    return rows, len(rows) < 2


def from_before(arm: Any, value: Any, settings: Settings) -> list[tuple[Any, float, dict[str, Any]]]:
    """What `observe` is given: arms, values that could be told, and what the log says of the pulls."""
    rows, ordered = listed_rows(arm, value)
    checked = [(name, check_value(one, settings)) for name, one in rows]
    if ordered:
        return [(*row, {"observed": True}) for row in checked]
    if settings.decisions < 3:
        raise InvalidInputError(
            "this experiment was created by an earlier version, which judges after every value, and without "
            "the order of sampling that is not proven; give a list of (arm, value) in that order, or begin a "
            "new experiment."
        )
    together = {"observed": True, "together": True}
    return [*((*row, {**together, "check": False}) for row in checked[:-1]), (*checked[-1], together)]


def listed_pairs(given: Any) -> list[tuple[int | Pull, float]]:
    try:
        return [(pull, value) for pull, value in given]
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"tell takes a pull and its value, or a list of such pairs, got {_args.short(given)}; write "
            f"tell(pull, 0.5) or tell([(pull, 0.5), ...])."
        ) from None


def listed_values(value: Any) -> list[Any]:
    """The values themselves, or the one value."""
    if isinstance(value, np.ndarray):
        return list(value.ravel())
    text = isinstance(value, str | bytes | bytearray | memoryview)
    return list(value) if isinstance(value, Iterable) and not text else [value]


def check_reason(given: str) -> str:
    if not isinstance(given, str) or not given.strip():
        raise InvalidInputError(
            f"a reason must be a text, got {_args.short(given)}; it is kept in the log, so say what happened."
        )
    return given[:10_000]
