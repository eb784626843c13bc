"""How much is tried: by `make test` on few examples and runs, by `make test-all` once more on all."""

from __future__ import annotations

import os

import pytest

ALL = os.environ.get("TRUEBEST_EXAMPLES") == "all"
once_more = pytest.mark.once_more  # of a test, or as `pytestmark`: `make test-all` runs it again


def amount(few: int, everything: int) -> int:
    """How many runs a test makes that is marked `once_more`."""
    return everything if ALL else few
