"""Which numbers an experiment takes as values."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from .. import _door
from ..errors import InvalidInputError
from ..kernels.moments import FARTHEST

if TYPE_CHECKING:
    from .settings import Settings


def check_value(value: float, settings: Settings) -> float:
    """A value that could be told, or a refusal; True and False are 1 and 0. The bounds are not checked."""
    number = math.nan
    if not isinstance(value, str | bytes | bytearray | memoryview | complex | np.complexfloating):
        with suppress(Exception):  # what else can be converted says so itself
            number = float(value)
    if not math.isfinite(number) or abs(number) > 1e100 * settings.sigma:  # at most 1e250
        raise InvalidInputError(
            f"a value must be a finite number below 1e100 sigma, got {_door.short(value)}; if the pull "
            f"gave none, say so with fail; nothing was stored."
        )
    if settings.bounds is None:
        refuse_distant("a value", number, settings.sigma)
    return number


def refuse_distant(what: str, value: float, sigma: float) -> None:
    """Refuse what is so far from 0 that a double no longer holds the noise: 2^-53 of it is 2^-10 sigma."""
    if abs(value) > FARTHEST * sigma:
        raise InvalidInputError(
            f"{what} must lie within 2**43 sigma ({FARTHEST * sigma:.3g}) of 0, got {value:g}, where "
            f"rounding takes more than a thousandth of sigma from a value; subtract a constant from all "
            f"values, such as the first of them."
        )
