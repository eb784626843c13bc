"""How much memory a simulation needs; more than there is is refused before the work, not in its middle."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from .._door import Array
from ..errors import InvalidInputError

PER_RUN = 32  # bytes for a run at one risk: its samples and its arm, as they are made and in the result
PER_NUMBER = 16  # bytes for a number of a record: as it is made, and in the units of the rewards
CONTAINER = Path("/sys/fs/cgroup/memory.max")


@contextmanager
def room_for(runs: int, cells: int) -> Iterator[None]:
    """Refuse a simulation of so many cells that does not fit, or that turns out not to fit inside the block.

    Raises  InvalidInputError
    """
    if runs * cells * PER_RUN > total_memory():
        raise _too_many(runs, cells)
    try:
        yield
    except MemoryError:
        raise _too_many(runs, cells) from None


def room_for_steps(steps: int, numbers: int) -> Array:
    """Room for a run that is recorded, with so many numbers for each step; InvalidInputError without it."""
    needed = steps * numbers * PER_NUMBER
    try:
        if needed > total_memory():
            raise MemoryError
        return np.empty((steps, numbers))
    except MemoryError:
        raise InvalidInputError(
            f"a trace must fit into memory, got a run of {steps} steps, which take {needed / 2**30:.1f} GiB; "
            f"cut it off with a smaller max_samples, or simulate it without its steps."
        ) from None


def total_memory() -> float:
    """Bytes that the machine, or the container, has in total; inf where that is not known."""
    sizes = [float("inf")]
    with suppress(AttributeError, ValueError, OSError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(ValueError, OSError):
        sizes.append(float(CONTAINER.read_text()))  # "max" without a limit
    return min(sizes)


def _too_many(runs: int, cells: int) -> InvalidInputError:
    return InvalidInputError(
        f"runs must fit into memory, got {runs}, which for {cells} strategies and risks take "
        f"{runs * cells * PER_RUN / 2**30:.1f} GiB; give fewer: the error "
        f"falls only with the square root of their number."
    )
