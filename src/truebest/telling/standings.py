"""What an account consists of besides its answer: a row per arm, what is promised, how far it is."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from ..designs import Design, Terms
from ..questions import PerArm

Interval = tuple[float, float]
VOIDS, WEAKENS, INFORMS = "voids", "weakens", "informs"


class Setup(Terms, Protocol):
    """What is read of an experiment's settings."""

    @property
    def minimize(self) -> bool: ...
    @property
    def control(self) -> str | None: ...
    @property
    def design(self) -> Design: ...
    @property
    def strategy_name(self) -> str: ...
    @property
    def rule_name(self) -> str: ...
    def to_record(self) -> dict[str, Any]: ...


def per_arm(settings: Terms) -> PerArm | None:
    """The question, if its answer says of each arm whether it passes."""
    return settings.question if isinstance(settings.question, PerArm) else None


class Role(StrEnum):
    """What is known of an arm; LEFT is one that a decision within a tolerance has not ruled out.

    Where it is asked of each arm whether it passes, it has one of the last four.
    """

    BEST, LEADS, RACING, OUT, LEFT = "best", "leads", "in the race", "ruled out", "not ruled out"
    PASSED, FAILED, OPEN, BASELINE = "passed", "failed", "open", "baseline"


def sides_of(asked: PerArm) -> tuple[Role, Role]:
    """What is known of an arm that is proven to be above the mark, and of one below."""
    return (Role.PASSED, Role.FAILED) if asked.upwards else (Role.FAILED, Role.PASSED)


class Lead(NamedTuple):
    """By how much one arm is better than another, in the values' units.

    With wins, by how much it is likelier to win a round than to lose it, and how often it has won and lost.
    estimate   so far; None if unknown
    low, high  each end holds by itself, at all times, with the probability of the promise; where it is asked
               of each arm whether it passes, all of them hold together
    """

    estimate: float | None = None
    low: float = -math.inf
    high: float = math.inf
    won: int | None = None
    lost: int | None = None

    @property
    def turned(self) -> Lead:
        """The other arm's over the one."""
        estimate = None if self.estimate is None else 0.0 - self.estimate
        return Lead(estimate, 0.0 - self.high, 0.0 - self.low, self.lost, self.won)

    @property
    def ends(self) -> Interval:
        """Both."""
        return self.low, self.high

    @property
    def known(self) -> bool:
        """Whether both are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)


class Standing(NamedTuple):
    """One arm.

    samples       how many of its values the decision is, or will be, based on
    pending       pulls without a value yet; they never count in the decision
    failures      pulls that gave no value, each time counted
    mean, sd      observed, in the values' own units; None without values, or below two
    between       where its mean lies: all of them at once, at all times, with probability 1 - delta; None if
                  that is not known, or nothing is proven
    lead          the leader's over it; None for the leader, and without one. Where it is asked of each arm
                  whether it passes: its own over what it is compared with, an arm or 0
    over_control  its own over the control, all lower ends at once, and all upper ends; None without one
    out           after how many samples of all arms it was ruled out, so that it is no longer sampled
    beaten_by     with wins that need not have a winner: an arm that was found to win against it
    """

    arm: str
    role: Role
    samples: int
    pending: int
    failures: int
    mean: float | None
    sd: float | None
    between: Interval | None
    lead: Lead | None
    over_control: Lead | None
    out: int | None
    beaten_by: str | None


class Population(NamedTuple):
    """What holds for items like these, of which those that were used are a random sample.

    All of it holds at all times, with the probability of the promise, and apart from the answer, which is
    about these answers to these items.

    arm    the one that is compared with the others: the leader, None before the first complete row; where it
           is asked of each arm whether it passes, the one that they are compared with, None for a number
    leads  per arm, the leader's over it, or its own over that one, or its mean; None for itself, and for the
           mean of an arm that is not asked; empty before the first complete row
    rows   how many complete rows that follows from: items
    """

    arm: str | None
    leads: tuple[Lead | None, ...]
    rows: int


class Caveat(NamedTuple):
    """Something to know about a promise; docs/guides/live.md lists the codes.

    effect  what it does to the promise: "voids", "weakens" or "informs"
    """

    code: str
    effect: str
    sentence: str


class Promise(NamedTuple):
    """What is proven.

    bound    the decision is, or would be, wrong with at most this probability; None if nothing is proven
    words    the same, and for which values it holds; or why nothing is proven
    caveats  what voids the promise, weakens it, or should be known
    certain  whether the answer follows from the values alone, as a closed set of items is used up
    """

    bound: float | None
    words: str
    caveats: tuple[Caveat, ...]
    certain: bool = False


class Hold(NamedTuple):
    """A pull for which the decision waits.

    worker  who has it, None if that is not known
    since   when it was issued, in seconds since 1970
    until   when it is issued again unless its lease is renewed, None for never
    out     whether somebody has it; if not, the next ask issues it again
    """

    pull: int
    arm: str
    worker: str | None
    since: float
    until: float | None
    out: bool


class Progress(NamedTuple):
    """How far it is.

    samples    how many results the decision is, or will be, based on
    rounds     where arms are compared in rounds, how many of these
    statistic, threshold  the rule decides when the first exceeds the second; None while an arm has no values,
               and where arms are ruled out one by one
    waiting    results that wait for an earlier pull to be settled before they count
    waits_for  the pull that they wait for
    """

    samples: int
    rounds: int | None = None
    statistic: float | None = None
    threshold: float | None = None
    waiting: int = 0
    waits_for: Hold | None = None
