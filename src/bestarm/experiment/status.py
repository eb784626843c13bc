"""What people see of an experiment: where it stands, how long it will take, what it found."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..kernels import decision
from ..kernels._jit import ENABLED
from ..kernels.tracking import TIE
from ..simulation.noiseless import run_on
from ..strategies._base import MEANS, PULLS
from ..theory._door import Array
from .settings import Settings
from .state import State

Interval = tuple[float, float]

_STEPS = 10_000 if ENABLED else 100  # of a forecast, twice, before it is extrapolated

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


@dataclass(frozen=True)
class Forecast:
    """How many more samples the decision needs if the estimated means are the true ones.

    samples  None if it cannot be said, see `reason`
    pulls    to which arms they will go
    """

    samples: int | None
    pulls: dict[str, int]
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"samples": self.samples, "pulls": self.pulls, "reason": self.reason}

    def __str__(self) -> str:
        if self.samples is None or self.reason:
            return self.reason
        shares = ", ".join(f"{arm} {n}" for arm, n in self.pulls.items() if n)
        return f"about {self.samples} more samples" + (f": {shares}" if shares else "")


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


def forecast(state: State) -> Forecast:
    """Let the strategy go on as if every value equalled its arm's estimated mean, until the rule decides."""
    arms = state.settings.arms
    nothing = dict.fromkeys(arms, 0)
    if state.decision is not None:
        return Forecast(0, nothing)
    if state.enough():
        return Forecast(0, nothing, "the decision waits for a pull that is not settled")
    means = state.view[MEANS]
    if not state.told.all():
        return Forecast(None, nothing, "no forecast before every arm has a result")
    if (means >= means.max() - TIE).sum() > 1:
        return Forecast(None, nothing, "no forecast while two arms share the lead")
    later = _pulls_at_decision(state)
    if later is None:
        return Forecast(None, nothing, "no forecast: the leading arms are too close")
    more = np.maximum(0.0, np.ceil(later - state.told)).astype(np.int64)
    return Forecast(int(more.sum()), dict(zip(arms, more.tolist(), strict=True)))


def uniform_samples(state: State) -> int | None:
    """How many samples uniform sampling would take in all, if the estimated means are the true ones."""
    K = len(state.settings.arms)
    if state.evidence[decision.PULLS].min() == 0.0:
        return None
    pulls = _grow(state, state.evidence[decision.MEANS], np.zeros(K), np.full(K, 1.0 / K))
    return None if pulls is None else int(np.ceil(pulls.sum()))


def _pulls_at_decision(state: State) -> Array | None:
    """Step by step for a while, then along the shares of the second half of these steps."""
    strategy = state.settings.strategy
    view, random = state.view.copy(), state.random.copy()
    before = view[PULLS].copy()
    if strategy is not None:
        for _ in range(2):
            before = view[PULLS].copy()
            with np.errstate(all="ignore"):
                if run_on(strategy.select, strategy.stops_itself, _STEPS, view, state.params, random):
                    at_decision: Array = view[PULLS]
                    return at_decision
    added = view[PULLS] - before
    shares = added / added.sum() if added.any() else np.full(added.size, 1.0 / added.size)
    return _grow(state, view[MEANS], view[PULLS], shares)


def _grow(state: State, means: Array, pulls: Array, shares: Array) -> Array | None:
    """pulls + s shares for the smallest s at which the rule decides; None beyond 1e12."""
    rule, level = state.settings.stopping, state.settings.level
    evidence = np.zeros_like(state.evidence)
    evidence[decision.MEANS] = means

    def decides(size: float) -> bool:
        evidence[decision.PULLS] = pulls + size * shares
        z, beta = decision.verdict(rule.code, level, rule.scale, evidence)
        return z > beta

    high = 1.0
    while not decides(high):
        high *= 2.0
        if high > 1e12:
            return None
    low = 0.0
    while high - low > max(0.25, 1e-6 * high):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if decides(middle) else (middle, high)
    found: Array = pulls + high * shares
    return found
