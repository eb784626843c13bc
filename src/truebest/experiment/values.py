"""What an experiment is told: which numbers it takes as values, and in which forms."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _door
from ..errors import InvalidInputError
from ..theory.models import refuse_distant
from ..theory.ordered import Ordered

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
    if isinstance(settings.model, Ordered):
        return _ordered(number, value)
    largest = 1e100 * settings.model.unit  # at most 1e250
    if not math.isfinite(number) or abs(number) > largest:
        raise InvalidInputError(
            f"a value must be a finite number up to {largest:.3g}, got {_door.short(value)}; if the pull "
            f"gave none, say so with fail; nothing was stored."
        )
    if settings.model.limits is None:
        refuse_distant("a value", number, settings.model.finest)
    return number


def _ordered(number: float, value: object) -> float:
    """A number that can be compared; an infinite one can."""
    if math.isnan(number):
        raise InvalidInputError(
            f"a value must be a number that can be compared, got {_door.short(value)}; if the pull gave "
            f"none, say so with fail; nothing was stored."
        )
    return number


def listed_pairs(given: Any) -> list[tuple[int | Pull, float]]:
    try:
        return [(pull, value) for pull, value in given]
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"tell takes a pull and its value, or a list of such pairs, got {_door.short(given)}; write "
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
            f"a reason must be a text, got {_door.short(given)}; it is kept in the log, so say what happened."
        )
    return given[:10_000]
