"""What can happen to an experiment. The log of these is append-only, and the only truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

CREATED = "created"  # data: the settings
ASKED = "asked"  # a pull is issued, for the first time or again; data: deadline, ...
TOLD = "told"  # the first value of a pull: the one that counts
FAILED = "failed"  # a pull gave no value; it will be issued again; data: reason
LAPSED = "lapsed"  # nobody answered in time; the pull will be issued again
LATE = "late"  # something about a pull that was settled before; not counted
RETRACTED = "retracted"  # a clerical error taken back; value: the right one, if there is one
VIOLATED = "violated"  # a value outside the bounds: the experiment is suspended
DECIDED = "decided"  # data: the arm, with everything that the rule saw
REOPENED = "reopened"  # a decision fell with a retraction
STOPPED = "stopped"  # ended by hand, undecided and for good; data: reason, leader, shortfall, samples

KINDS = (CREATED, ASKED, TOLD, FAILED, LAPSED, LATE, RETRACTED, VIOLATED, DECIDED, REOPENED, STOPPED)


class Entry(NamedTuple):
    """One line of the log, as stores keep it.

    seq    1, 2, ... without holes, in the order of the log; given by the store
    time   seconds since 1970 by the store's clock; given by the store, unless the line is from another log
    pull   the pull's number, or None
    arm    the arm's index, or None
    value  as given by the user, neither negated nor scaled
    data   what else belongs to it, as JSON
    chain  a hash of this line and of the chain before it; given by the store, "" in lines of version 0.1
    """

    kind: str
    pull: int | None = None
    arm: int | None = None
    value: float | None = None
    data: dict[str, Any] | None = None
    seq: int = 0
    time: float = 0.0
    chain: str = ""


Settled = tuple[int, bool, bool, float | None]  # arm, check, together, value


def settled(lines: Iterable[Entry]) -> dict[int, Settled]:
    """The pulls that have their value, or None for good, in the order of settling."""
    asked: dict[int, tuple[int, bool, bool]] = {}
    found: dict[int, Settled] = {}
    for entry in lines:
        if entry.pull is None:
            continue
        if entry.kind == ASKED and entry.pull not in asked and entry.arm is not None:
            data = entry.data or {}
            asked[entry.pull] = entry.arm, data.get("check", True), data.get("together", False)
        elif entry.kind in (TOLD, RETRACTED):
            found[entry.pull] = *asked[entry.pull], entry.value
    return found


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log, as `Experiment.history` gives it: the arm by its name."""

    seq: int
    time: float
    kind: str
    pull: int | None
    arm: str | None
    value: float | None
    data: dict[str, Any] | None


def event_of(line: Entry, arms: Sequence[str]) -> Event:
    """A line of the log with its arm by name."""
    arm = None if line.arm is None else arms[line.arm]
    return Event(line.seq, line.time, line.kind, line.pull, arm, line.value, line.data)
