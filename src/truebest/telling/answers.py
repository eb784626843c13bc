"""What an experiment answers. Each answer is a class: a `match` on it that forgets one is an error."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Verdicts:
    """Every arm that is asked about has passed or has failed; the question says what that means."""

    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Open:
    """Nothing is found, in one of four ways.

    Attributes
    ----------
    leader
        the arm that looks best so far: a guess; None before the first result
    within
        how far below the best the leader can be, at most, proven like a decision; None if nothing is
    so_far
        the arms that have passed or failed already, where that is asked, from the first result on
    """

    leader: str | None = None
    within: float | None = None
    so_far: Verdicts | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Undecided(Open):
    """It goes on."""


@dataclass(frozen=True)
class UsedUp(Open):
    """There are no more items, and they decide nothing."""


@dataclass(frozen=True)
class Stopped(Open):
    """It was ended by hand, for good."""

    reason: str = ""


@dataclass(frozen=True)
class Suspended(Open):
    """The values are not as assumed: why, and what to do."""

    reason: str = ""


@dataclass(frozen=True)
class Best:
    """The arm is the best."""

    arm: str


@dataclass(frozen=True)
class Within(Best):
    """The arm is the best, or as near to it as the tolerance says."""

    tolerance: float


@dataclass(frozen=True)
class Tied(Best):
    """All items are used up, and these arms are equally good, and the best; `arm` is one of them."""

    arms: tuple[str, ...]


@dataclass(frozen=True)
class NoWinner:
    """No arm wins against all others: pairs of an arm and one that it loses to."""

    beaten: tuple[tuple[str, str], ...]


Answer = Undecided | UsedUp | Stopped | Suspended | Best | Within | Tied | NoWinner | Verdicts
