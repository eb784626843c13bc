"""How long it will take: the strategy continues as if every value equalled its arm's estimated mean.

The steps grow with the pulls, so that a thousand or two reach the end of most runs: few enough to be quick
uncompiled, as the commands run. Compiled or not, the answer is the same.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .._door import Array
from .._text import rough
from ..kernels import rules
from ..kernels.layout import MEANS, OUT, PULLS, SETTLED
from ..kernels.noiseless import FOREVER, run_on
from ..kernels.tracking import TIE
from ..strategies import Strategy
from .independent import IndependentState
from .rounds import RoundsState
from .state import State

STEPS, LEAST_STEPS = 200_000, 200  # the former over K, as a step costs about K; then it is extrapolated
UNIT_STEPS = 20_000  # over K, for a strategy that must be taken one pull at a time
_RULED = [MEANS, OUT, SETTLED]  # what changes when the rule settles an arm


@dataclass(frozen=True)
class Forecast:
    """How many more samples the decision needs if the estimated means are the true ones.

    samples    None if it cannot be said, see `reason`
    pulls      to which arms they will go
    low, high  the same if the lead over the closest rival is a standard error larger, or smaller, than it
               looks; None while it is no larger than one, when a forecast means nothing
    """

    samples: int | None
    pulls: dict[str, int]
    reason: str = ""
    low: int | None = None
    high: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @property
    def words(self) -> str:
        """How many more samples, as a range; or why that cannot be said."""
        if self.samples is None or self.reason:
            return self.reason
        if self.low is None or self.high is None:
            return "too early for a forecast"
        low, high = rough(self.low), rough(self.high)
        if low == 0 < high:
            return f"up to {high:,} more samples"
        return f"{low:,} to {high:,} more samples" if low < high else f"about {high:,} more samples"

    def __str__(self) -> str:
        shares = ", ".join(f"{arm} {n}" for arm, n in self.pulls.items() if n)
        return self.words + (f": {shares}" if shares and self.low is not None else "")


def forecast(state: State) -> Forecast:
    """Let it continue as if values went on as they did so far, until the rule decides."""
    arms = state.settings.arms
    nothing = dict.fromkeys(arms, 0)
    if state.decision is not None:
        return Forecast(0, nothing)
    if state.stopped is not None:
        return Forecast(None, nothing, "no forecast: the experiment was stopped")
    if state.refuted is not None:
        return Forecast(None, nothing, "no forecast: the experiment is suspended for good")
    if state.enough():
        return Forecast(0, nothing, "the decision waits for a pull that is not settled")
    if isinstance(state, RoundsState):
        return _of_rounds(state)
    assert isinstance(state, IndependentState)
    means = state.bodies.seen()[MEANS]
    if not state.bodies.told.all():
        return Forecast(None, nothing, "no forecast before every arm has a result")
    if (means >= means.max() - TIE).sum() > 1:
        return Forecast(None, nothing, "no forecast while two arms share the lead")
    strategy = state.settings.strategy
    if strategy is None:
        name = state.settings.strategy_name
        return Forecast(None, nothing, f"no forecast: the user's own strategy {name!r} was not passed")
    later = _pulls_at_decision(state, strategy)
    if later is None:
        return Forecast(None, nothing, "no forecast: the leading arms are too close")
    more = np.maximum(0.0, np.ceil(later - state.bodies.told)).astype(np.int64)
    low, high = _range(state, float(later.sum()))
    return Forecast(int(more.sum()), dict(zip(arms, more.tolist(), strict=True)), low=low, high=high)


def _range(state: IndependentState, total: float) -> tuple[int | None, int | None]:
    """More samples if the closest rival is a standard error farther from the leader, or nearer.

    The samples at the decision grow as 1 over the square of that distance.
    """
    told, means = state.bodies.told, state.bodies.seen()[MEANS]
    first, second = np.argsort(-means, kind="stable")[:2]
    variances = state.bodies.model.variances(means.size)
    spread = [
        variances[a] if d is None else (d / state.bodies.model.unit) ** 2
        for a, d in enumerate(state.bodies.deviations())
    ]
    gap = float(means[first] - means[second])
    error = float(np.sqrt(spread[first] / told[first] + spread[second] / told[second]))
    if not 0.0 < error < gap:
        return None, None
    ends = [total * (gap / (gap + off)) ** 2 - float(told.sum()) for off in (error, -error)]
    return max(0, math.floor(ends[0])), math.ceil(max(0.0, ends[1]))


def _of_rounds(state: RoundsState) -> Forecast:
    """Let each arm but the leader be out when its evidence, at the rate so far, has come to the level."""
    arms = state.settings.arms
    nothing = dict.fromkeys(arms, 0)
    if state.exhausted:
        return Forecast(None, nothing, "no forecast: the items are used up")
    needed = state.rounds_needed()
    if needed is None:
        return Forecast(None, nothing, "no forecast before some rounds are complete")
    if not all(map(math.isfinite, needed)):
        return Forecast(None, nothing, "no forecast while two arms share the lead")
    found = state.findings()
    taken, items = found.pulls, state.settings.design.items
    more = [max(0, math.ceil(n - had)) for n, had in zip(needed, taken, strict=True)]
    low, high = _range_of_rounds(-math.log(state.settings.delta), sum(needed), sum(taken))
    if high is not None and items is not None:  # a closed set ends when its items are used up
        high = min(high, max(sum(more), (items - (found.rounds or 0)) * found.ruled_out.count(None)))
    return Forecast(sum(more), dict(zip(arms, more, strict=True)), low=low, high=high)


def _range_of_rounds(level: float, needed: float, taken: int) -> tuple[int | None, int | None]:
    """More calls if the lead that matters is a standard error larger, or smaller.

    Evidence of e nats is a lead of about the square root of 2e standard errors, and it grows evenly.
    """
    errors = math.sqrt(2.0 * level * taken / needed)
    if errors <= 1.0:
        return None, None
    ends = [needed * (errors / (errors + off)) ** 2 - taken for off in (1.0, -1.0)]
    return max(0, math.floor(ends[0])), math.ceil(max(0.0, ends[1]))


def uniform_samples(state: State) -> int | None:
    """How many samples uniform sampling would take in total, if the estimated means are the true ones."""
    if not isinstance(state, IndependentState):
        return None
    K = len(state.settings.arms)
    if state.bodies.evidence[PULLS].min() == 0.0:
        return None
    pulls = _grow(state, state.bodies.whole(), np.zeros(K), np.full(K, 1.0 / K))
    return None if pulls is None else int(np.ceil(pulls.sum()))


def _pulls_at_decision(state: IndependentState, strategy: Strategy) -> Array | None:
    """Step by step until the decision; if it is too far, along the shares of the second half of the steps."""
    chooser = state.chooser.copy()
    seen, select = state.bodies.seen(), chooser.select
    for arm, pulls in enumerate(chooser.asked):
        rules.grow(state.bodies.unordered, seen, arm, pulls)
    before, space = seen[PULLS].copy(), np.zeros_like(seen[PULLS])
    steps, growth, sums = _pace(strategy, len(before))
    assert select is not None
    for _ in range(2):
        before = seen[PULLS].copy()
        half = (select, strategy.stops_itself, steps // 2, growth, sums)
        with np.errstate(all="ignore"):
            if run_on(*half, seen, state.bodies.unordered, chooser.memory, chooser.random, space):
                at_decision: Array = seen[PULLS]
                return at_decision
    if seen[PULLS].sum() > FOREVER:
        return None
    added = seen[PULLS] - before
    shares = added / added.sum() if added.any() else np.full(added.size, 1.0 / added.size)
    return _grow(state, seen, seen[PULLS], shares)


def _pace(strategy: Strategy, num_arms: int) -> tuple[int, float, int]:
    """How many steps at most, what a step adds as a part of its arm's pulls, the row that adds up, or -1.

    A fiftieth: the samples at the decision are then right to a per cent or so. With many arms it is more, for
    all steps together are to multiply the pulls of every arm by 50 at least.
    """
    if strategy.adds_up is None:
        return max(LEAST_STEPS, UNIT_STEPS // num_arms), 0.0, -1
    steps = max(LEAST_STEPS, STEPS // num_arms)
    sums = strategy.rows.index(strategy.adds_up) if strategy.adds_up else -1
    return steps, max(0.02, 4.0 * num_arms / steps), sums


def _grow(state: IndependentState, seen: Array, pulls: Array, shares: Array) -> Array | None:
    """pulls + s shares for the smallest s at which the rule decides on these means; None beyond FOREVER."""
    later = seen.copy()

    def decides(size: float) -> bool:
        later[_RULED] = seen[_RULED]
        for arm, more in enumerate(pulls + size * shares):
            rules.grow(state.bodies.unordered, later, arm, more)
        return rules.stops(state.bodies.unordered, later, 0.0)

    high = 1.0
    while not decides(high):
        high *= 2.0
        if high > FOREVER:
            return None
    low = 0.0
    while high - low > max(0.25, 1e-6 * high):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if decides(middle) else (middle, high)
    found: Array = pulls + high * shares
    return found
