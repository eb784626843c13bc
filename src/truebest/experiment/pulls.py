"""What `ask` issues: samples to take, each with a seed of its own; or why there are none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pull:
    """One sample to take: pull `arm`, with randomness from `seed` if it has any, and tell its `id`.

    Attributes
    ----------
    deadline
        seconds since 1970 by the store's clock, when the pull will be issued again; None for never
    round
        1, 2, ... where arms are compared in rounds, else None
    item
        then the item to evaluate the arm on: its index in a closed set, 0, 1, ..., else a seed from which to
        draw it; the same for all arms of a round
    epoch
        1, 2, ... where each arm answers an item several times, else None
    """

    id: int
    arm: str
    seed: int
    deadline: float | None = None
    round: int | None = None
    item: int | None = None
    epoch: int | None = None


class Pulls(list[Pull]):
    """A list of pulls that says why it is empty.

    reason  "decided", "stopped", "used up" if there are no more items, or "wait" when an earlier pull must be
            settled first; "" if there are pulls
    """

    def __init__(self, pulls: Iterable[Pull] = (), reason: str = "") -> None:
        super().__init__(pulls)
        self.reason = "" if self else reason


def pull_seed(seed: int, pull: int) -> int:
    """31 bits that look random and differ between all pulls of an experiment, so between its arms too.

    31, since many programs cut a seed off at 2^31 - 1, and then half of all pulls would share one.
    """
    x = (seed ^ (seed >> 31)) + pull * 0x1E3779B1
    for multiplier in (0x85EBCA6B, 0xC2B2AE35, 1):  # odd: each step is a bijection of 31 bits
        x &= 0x7FFFFFFF
        x = (x ^ (x >> 15)) * multiplier
    return x
