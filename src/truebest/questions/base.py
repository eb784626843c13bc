"""What a question is: a small frozen dataclass, and a branch in each kernel of `kernels.questions`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import ClassVar

from ..errors import InvalidInputError
from ..kernels.questions import FAILED, FIRST, PASSED

Means = Callable[[str], float | Fraction | None]


class Question(ABC):
    """What is asked of the arms.

    version   stored with an experiment; raised with any change of what is answered
    fewest    of how many arms at least it can be asked
    of_number whether every arm is compared with a number
    pools     whether evidence is averaged over arms, which not every rule's allows
    by_means  whether it is asked of means, as opposed to wins
    unique    whether there is no answer where several means are the largest
    rules_out whether an arm about which nothing is asked any more is not the answer
    """

    version: ClassVar[int] = 1
    fewest: ClassVar[int] = 2
    of_number: ClassVar[bool] = False
    by_means: ClassVar[bool] = True
    unique: ClassVar[bool] = False
    rules_out: ClassVar[bool] = False

    @abstractmethod
    def told(self) -> tuple[float, float, float]:
        """What the kernels are told: its code, a number, and a margin, of values as they see them."""

    @property
    def pools(self) -> bool:
        """See the class."""
        return False

    @property
    def by_claims(self) -> bool:
        """Whether it is answered by what is proven of pairs, and not in a rule's or design's own way."""
        return True

    @abstractmethod
    def false_claims(self, num_arms: int) -> int:
        """How many claims there are at most, whatever the truth is, of which every wrong answer needs one.

        If claims are proven at the level for so many, a wrong answer is ever given with probability at most
        delta, by a union over these; sampling does not enter.
        """

    def check(self, num_arms: int, limits: tuple[float, float] | None, minimize: bool = False) -> None:  # noqa: ARG002
        """Refuse what cannot be asked of so many arms, with values between limits, if there are any."""
        if num_arms < self.fewest:
            raise InvalidInputError(
                f"arms must be at least two, got {num_arms}; with fewer there is nothing to choose between."
            )

    def bound(self, arms: Sequence[str] | int, known: Means | None = None) -> Question:  # noqa: ARG002
        """The same, asked of these arms, or of so many, if they have no names.

        known  the mean of an arm, exactly, if it is known for sure, or else None
        Raises  InvalidInputError for what is not among them
        """
        return self

    def spelled(self, arms: Sequence[str]) -> Question:  # noqa: ARG002
        """The same as people write it, with names in the place of numbers of arms."""
        return self

    def placed(self, zero: float, unit: float) -> Question:  # noqa: ARG002
        """The same of values (x - zero)/unit; a negative unit turns them round."""
        return self

    def named(self, labels: Sequence[float]) -> int:
        """The arm that an answer names, or the one in front so far; -1 for none."""
        return list(labels).index(FIRST) if FIRST in labels else -1


class PerArm(Question):
    """A question whose answer says of each arm whether it passes; with the words for it.

    upwards  whether arms pass above the mark and fail below it, or the other way round
    """

    upwards: ClassVar[bool] = True

    @abstractmethod
    def reference(self, arms: Sequence[str]) -> int:
        """The arm that the others are compared with; -1 if they are compared with a number."""

    def base(self, means: Sequence[float | None], arms: Sequence[str]) -> float | None:
        """The mean that those of the others are measured from, if there is one yet; 0 for none."""
        return means[self.reference(arms)]

    def verdicts(self, num_arms: int) -> int:
        """How many arms get a verdict."""
        return num_arms - 1

    @abstractmethod
    def verdict(self, passed: bool, arms: Sequence[str]) -> str:
        """What an arm is that has passed, or has failed: "not worse than old"."""

    def subject(self, arms: str, many: bool = False) -> str:  # noqa: ARG002
        """What a verdict is about, of one arm or of many."""
        return arms

    def asked(self, thing: str, arms: Sequence[str]) -> str:
        """What is asked of each arm or option: "whether each other arm is not worse than old"."""
        each = f"each {thing}" if self.of_number else f"each other {thing}"
        return f"whether {self.subject(each)} is {self.verdict(True, arms)}"

    @abstractmethod
    def measure(self, arms: Sequence[str]) -> str:
        """What is measured of an arm, as the title of a column: "better than old by"."""

    @abstractmethod
    def about(self, arms: Sequence[str]) -> str:
        """The same as a caption: "By how much each option is better than old"."""

    @abstractmethod
    def clause(self, arm: str, seen: str, ends: str, arms: Sequence[str], so_far: str = "") -> str:
        """The same of one arm: "new is better than old by 0.02 so far (-0.01 to 0.05)".

        What was seen, and the ends between which it lies, may be empty; so_far follows what was seen.
        """

    @property
    @abstractmethod
    def mark(self) -> float:
        """Where on that scale, in the values' units, an arm begins to pass."""

    @property
    def at(self) -> float | Fraction:
        """The same exactly; a double is what it is written as."""
        return self.mark

    @property
    def passes_at_mark(self) -> bool:
        """Whether an arm that is exactly there passes."""
        return True

    def named(self, labels: Sequence[float]) -> int:  # noqa: ARG002
        """None: an answer says of every arm whether it passes."""
        return -1

    def judged(self, labels: Sequence[float], arms: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The arms that have passed, and those that have failed."""
        found = [
            (one, arm)
            for a, (one, arm) in enumerate(zip(labels, arms, strict=True))
            if a != self.reference(arms)
        ]
        passed, failed = (tuple(arm for one, arm in found if one == label) for label in (PASSED, FAILED))
        return passed, failed
