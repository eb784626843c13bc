"""What people see of an experiment: where it stands, how long it will take, what it found."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from .settings import Settings
from .state import State

Interval = tuple[float, float]

_TROUBLE = {
    "failed": "pulls that gave no value",
    "lapsed": "pulls that were not answered in time",
    "reclaimed": "pulls that were interrupted",
    "retried": "pulls that were issued again",
    "retracted": "values taken back or corrected by hand",
    "late": "answers to a pull that was settled before, not counted",
    "violated": "values outside the bounds",
    "observed": "values brought along, which must not have been chosen by value",
}


@dataclass(frozen=True)
class Status:
    """Where an experiment stands; everything is about the results that the decision may use so far.

    decision     the arm that was found to be the best; None until the rule decides
    leader       the arm that looks best so far: a guess, not a decision; None before the first result
    samples      how many results the decision is or will be based on
    pulls        the same per arm
    means        per arm, None without pulls
    intervals    by how much the leader is better than each other arm, in the values' units; the rule decides
                 exactly when all of them are above 0
    statistic, threshold   the rule decides when the first exceeds the second; None while an arm has no pulls
                 (racing decides by itself, arm by arm)
    pending      pulls per arm that are out or must be issued again; they never count in the decision
    waiting      results that wait for an earlier pull to be settled before they count
    suspended    why nothing more is asked, or ""
    assumes      under which assumption the promise holds, and what it is
    caveats      what happened that the promise does not cover, or that should be known
    """

    name: str
    arms: tuple[str, ...]
    decision: str | None
    leader: str | None
    samples: int
    pulls: dict[str, int]
    means: dict[str, float | None]
    intervals: dict[str, Interval]
    statistic: float | None
    threshold: float | None
    delta: float
    strategy: str
    stopping: str
    minimize: bool
    pending: dict[str, int]
    waiting: int
    suspended: str
    assumes: str
    caveats: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON can hold them; an infinite end of an interval is None."""
        out = {field.name: getattr(self, field.name) for field in fields(self)}
        out["arms"], out["caveats"] = list(self.arms), list(self.caveats)
        out["intervals"] = {
            arm: [x if math.isfinite(x) else None for x in ends] for arm, ends in self.intervals.items()
        }
        return out

    def __str__(self) -> str:
        if self.decision is not None:
            return f"{self.decision} is best; {self.assumes}; {plural(self.samples, 'sample')}"
        if self.suspended:
            return f"suspended: {self.suspended}"
        if self.leader is None and not self.waiting:
            return "no result yet"
        guess = f"; {self.leader} leads" if self.leader is not None else ""
        hole = f"; {self.waiting} more wait for an earlier pull" if self.waiting else ""
        return f"undecided after {plural(self.samples, 'sample')}{guess}{hole}"


def plural(number: int, thing: str) -> str:
    """1 sample, 2 samples."""
    return f"{number} {thing}" + ("" if number == 1 else "s")


def status_fields(name: str, state: State) -> dict[str, Any]:
    """The fields of a `Status`, by name."""
    settings = state.settings
    arms = settings.arms
    seen = state.decision or state.findings()
    leader = arms[seen["arm"]] if seen["arm"] >= 0 else None
    pending = [0] * len(arms)
    for item in state.open.values():
        pending[item.arm] += 1
    ends = zip(
        arms,
        (-math.inf if x is None else x for x in seen["lower"]),
        (math.inf if x is None else x for x in seen["upper"]),
        strict=True,
    )
    return {
        "name": name,
        "arms": arms,
        "decision": leader if state.decision else None,
        "leader": leader,
        "samples": seen["samples"],
        "pulls": dict(zip(arms, seen["pulls"], strict=True)),
        "means": dict(zip(arms, seen["means"], strict=True)),
        "intervals": {arm: (low, high) for arm, low, high in ends if arm != leader},
        "statistic": seen["statistic"],
        "threshold": seen["threshold"],
        "delta": settings.delta,
        "strategy": settings.strategy_name,
        "stopping": settings.stopping.name,
        "minimize": settings.minimize,
        "pending": dict(zip(arms, pending, strict=True)),
        "waiting": sum(value is not None for _, _, value in state.beyond.values()),
        "suspended": suspension(state),
        "assumes": promise(settings),
        "caveats": caveats(state),
    }


def promise(settings: Settings) -> str:
    """What is promised, and for which values."""
    if settings.bounds is not None:
        values = "independent values in [{:g}, {:g}]".format(*settings.bounds)
    else:
        values = f"independent values of sub-Gaussian scale {settings.sigma:g}"
    if settings.order == "arrival":
        values += " whose durations do not depend on them"
    if not settings.stopping.proven:
        return f"no proven error probability (the rule {settings.stopping.name!r} has no proof)"
    # Racing, our own, drops an arm by the same pairwise rule: to lose the best, a pair with it must cross.
    if settings.strategy_record.get("stops_itself"):
        return f"no proven error probability (the strategy {settings.strategy_name!r} stops by itself)"
    return f"wrong with probability at most {100 * settings.delta:g}% for {values}"


def suspension(state: State) -> str:
    """Why an experiment is suspended, and what to do."""
    if not state.violated or state.settings.bounds is None:
        return ""
    pull, value = next(iter(state.violated.items()))
    low, high = state.settings.bounds
    arm = state.settings.arms[state.open[pull].arm]
    return (
        f"pull {pull} of arm {arm!r} gave {value:g}, outside the bounds [{low:g}, {high:g}]; if that was a "
        f"clerical error, retract the pull with the right value, otherwise begin a new experiment, under "
        f"another name, with the right bounds"
    )


def caveats(state: State) -> tuple[str, ...]:
    """What happened to pulls, per arm."""
    arms = state.settings.arms
    found = []
    for kind, what in _TROUBLE.items():
        count = state.counts[kind]
        if any(count):
            shares = ", ".join(f"{arms[a]} {n}" for a, n in enumerate(count) if n)
            found.append(f"{what}: {sum(count)} ({shares})")
    return tuple(found)
