"""What a row is made of: an item that every arm answers once, or several times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from .. import _door
from .._text import plural

MOST_EPOCHS = 1000
Several = tuple[float | None, ...]  # the answers of an arm in a row; None for one that will not come


@dataclass(frozen=True)
class Units:
    """A row is an item, and an arm's value there the mean of its answers.

    epochs  how often each arm answers an item, fixed beforehand; each answer is a sample
    """

    epochs: int = 1

    @property
    def single(self) -> bool:
        """Whether an arm has one answer per row."""
        return self.epochs == 1

    @property
    def words(self) -> str:
        """What is drawn at random, and how often it is answered."""
        return "item" + (f", {plural(self.epochs, 'epoch')} each" if self.epochs > 1 else "")

    def answers(self, rows: int) -> int:
        """How many answers of an arm so many rows have."""
        return rows * self.epochs

    @property
    def each(self) -> float:
        """How many answers of an arm a row has on average."""
        return float(self.epochs)

    def mean(self, answers: Sequence[float]) -> float:
        """An arm's value in a row."""
        return fsum(answers) / self.epochs


def check_epochs(given: Any) -> int:
    """How often each arm answers an item."""
    advice = "it is how often each arm answers an item, and is fixed beforehand"
    return _door.whole("epochs", given, 1, MOST_EPOCHS, advice)
