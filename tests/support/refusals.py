"""How a refusal reads: what was given, what is allowed, what to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import truebest


def refused_in_one_sentence(part: str, call: Callable[[], object]) -> None:
    """The call is refused in one line that contains `part`."""
    with pytest.raises(truebest.InvalidInputError) as caught:
        call()
    message = str(caught.value)
    assert part in message
    assert "\n" not in message
    assert ";" in message
