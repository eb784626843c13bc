"""Designs: what one sample is. All that depends on it is in its design, and nothing else asks which it is.

    Independent  a value of one arm, which a strategy chooses
    Rounds       an arm's value in a round on a common item
    Wins         a round of which only who was better counts

To add one: a file here, an entry in `DESIGNS`, and its state in `experiment`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base import COMPARED, MEANS, Design, Terms
from .independent import Independent
from .rounds import Rounds
from .wins import Ordered, Wins

__all__ = [
    "COMPARED",
    "DESIGNS",
    "MEANS",
    "Design",
    "Independent",
    "Ordered",
    "Rounds",
    "Terms",
    "Wins",
    "kind_of",
]

DESIGNS: tuple[type[Design], ...] = (Independent, Rounds, Wins)


def kind_of(kept: Mapping[str, Any]) -> type[Design]:
    """The design that settings, by field, are of; what is not among them has its default."""
    return next(kind for kind in DESIGNS if kind.is_meant(kept))
