"""Which names arms and experiments may have."""

from __future__ import annotations

from .._text import is_control
from ..errors import InvalidInputError

LONGEST = 1000


def check_name(what: str, name: str) -> str:
    """Any Unicode without control characters, one line, not empty."""
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST:
        raise InvalidInputError(
            f"{what} must be a text of 1 to {LONGEST} characters, got {name!r:.60}; give it a name."
        )
    bad = next(filter(is_control, name), None)
    if bad is not None:
        raise InvalidInputError(
            f"{what} must not contain control characters or line breaks, got {name!r:.60} with "
            f"U+{ord(bad):04X}; remove it."
        )
    return name
