"""How long it will take: the strategy continues as if every value equalled its arm's estimated mean.

The steps grow with the pulls, so that a thousand or two reach the end of most runs: few enough to be quick
uncompiled, as the commands run. Compiled or not, the answer is the same.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._args import Array
from .._text import rough_range
from ..kernels import best, rules
from ..kernels.layout import MEANS, OUT, PULLS, SETTLED, own_rows
from ..kernels.noiseless import FOREVER, run_on
from ..kernels.tracking import TIE
from ..strategies import Strategy
from ..telling.standings import per_arm
from .bodies import Bodies
from .chooser import Chooser
from .settings import Settings

if TYPE_CHECKING:
    from .state import State

STEPS, LEAST_STEPS = 200_000, 200  # the former over K, as a step costs about K; then it is extrapolated
UNIT_STEPS = 20_000  # over K, for a strategy that must be taken one pull at a time
_RULED = [MEANS, OUT, SETTLED]  # what changes when the rule settles an arm


@dataclass(frozen=True)
class Forecast:
    """How many more samples the decision needs if the estimated means are the true ones.

    Attributes
    ----------
    samples
        None if it cannot be said, see `reason`
    pulls
        to which arms they will go
    low, high
        the same if the lead over the closest rival is a standard error larger, or smaller, than it looks;
        None while it is no larger than one, when a forecast means nothing
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
        low, high = rough_range(self.low, self.high)
        if low == 0 < high:
            return f"up to {high:,} more samples"
        return f"{low:,} to {high:,} more samples" if low < high else f"about {high:,} more samples"

    def __str__(self) -> str:
        shares = ", ".join(f"{arm} {n}" for arm, n in self.pulls.items() if n)
        return self.words + (f": {shares}" if shares and self.low is not None else "")


def forecast(state: State) -> Forecast:
    """Let it continue as if values went on as they did so far, until the rule decides."""
    nothing = dict.fromkeys(state.settings.arms, 0)
    if state.decision is not None:
        return Forecast(0, nothing)
    if state.stopped is not None:
        return Forecast(None, nothing, "no forecast: the experiment was stopped")
    if state.refuted is not None:
        return Forecast(None, nothing, "no forecast: the experiment is suspended for good")
    if state.enough():
        return Forecast(0, nothing, "the decision waits for a pull that is not settled")
    return state.expected()


def of_pulls(settings: Settings, bodies: Bodies, chooser: Chooser) -> Forecast:
    """Let the strategy continue from the evidence."""
    means, nothing = bodies.seen()[MEANS], dict.fromkeys(settings.arms, 0)
    if not bodies.told.all():
        return Forecast(None, nothing, "no forecast before every arm has a result")
    if per_arm(settings) is None and (means >= means.max() - TIE).sum() > 1:
        return Forecast(None, nothing, too_close(settings))
    if settings.strategy is None:
        name = settings.strategy_name
        return Forecast(None, nothing, f"no forecast: the user's own strategy {name!r} was not passed")
    later = _pulls_at_decision(bodies, chooser, settings.strategy)
    if later is None:
        why = "the leading arms are too close" if per_arm(settings) is None else "it can go either way"
        return Forecast(None, nothing, f"no forecast: {why}")
    more = np.maximum(0.0, np.ceil(later - bodies.told)).astype(np.int64)
    low, high = _range(bodies, float(later.sum()))
    return Forecast(int(more.sum()), dict(zip(settings.arms, more.tolist(), strict=True)), low=low, high=high)


def too_close(settings: Settings) -> str:
    """Why nothing can be said where what decides is as likely to fall out one way as the other."""
    asked = per_arm(settings)
    return f"no forecast while {'two arms share the lead' if asked is None else 'it can go either way'}"


def _range(bodies: Bodies, total: float) -> tuple[int | None, int | None]:
    """More samples if what decides is a standard error farther from where it turns, or nearer.

    The samples at the decision grow as 1 over the square of that distance.
    """
    told = bodies.told
    gap, error = _closest(bodies)
    if not 0.0 < error < gap:
        return None, None
    ends = [total * (gap / (gap + off)) ** 2 - float(told.sum()) for off in (error, -error)]
    return max(0, math.floor(ends[0])), math.ceil(max(0.0, ends[1]))


def _closest(bodies: Bodies) -> tuple[float, float]:
    """The distance that decides last, in the values' units, and its standard error: that of the closest rival
    from the leader, or of an open arm from where it begins to pass.
    """
    told, means, unit = bodies.told, bodies.seen()[MEANS], bodies.model.unit
    variances = unit**2 * bodies.model.variances(means.size)
    squares = [variances[a] if d is None else d**2 for a, d in enumerate(bodies.deviations())]
    spread, asked = np.array(squares) / told, per_arm(bodies.settings)
    if asked is None:
        first, second = np.argsort(-means, kind="stable")[:2]
        return unit * float(means[first] - means[second]), math.sqrt(spread[first] + spread[second])
    arms, means = bodies.settings.arms, [bodies.raw(mean) for mean in bodies.whole()[MEANS].tolist()]
    base, other = asked.reference(arms), asked.base(means, arms)
    assert other is not None
    also = spread[base] if base >= 0 else 0.0
    rows = [
        (abs(bodies.signed(means[a] - other) - asked.mark), math.sqrt(spread[a] + also))
        for a in np.flatnonzero(bodies.evidence[OUT] == 0.0)
        if a != base
    ]
    return min(rows, key=lambda row: row[0] / row[1] if row[1] else math.inf, default=(0.0, 0.0))


def uniform_samples(bodies: Bodies) -> int | None:
    """How many samples uniform sampling would take in total, if the estimated means are the true ones."""
    K = bodies.told.size
    if bodies.evidence[PULLS].min() == 0.0:
        return None
    pulls = _grow(bodies, bodies.whole(), np.zeros(K), np.full(K, 1.0 / K))
    return None if pulls is None else int(np.ceil(pulls.sum()))


def _pulls_at_decision(bodies: Bodies, chooser: Chooser, strategy: Strategy) -> Array | None:
    """Step by step until the decision; if it is too far, along the shares of the second half of the steps."""
    chooser = chooser.copy()
    seen, select = bodies.seen(), chooser.select
    for arm, pulls in enumerate(chooser.asked):
        rules.grow(bodies.pairwise, seen, arm, pulls)
    before, space = seen[PULLS].copy(), np.zeros_like(seen[PULLS])
    steps, growth, sums = _pace(strategy, len(before))
    assert select is not None
    for _ in range(2):
        before = seen[PULLS].copy()
        half = (select, strategy.stops_itself, steps // 2, growth, sums)
        with np.errstate(all="ignore"):
            if run_on(*half, seen, bodies.pairwise, chooser.memory, chooser.random, space):
                at_decision: Array = seen[PULLS]
                return at_decision
    if seen[PULLS].sum() > FOREVER:
        return None
    added = seen[PULLS] - before
    shares = added / added.sum() if added.any() else np.full(added.size, 1.0 / added.size)
    return _grow(bodies, seen, seen[PULLS], shares)


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


def _grow(bodies: Bodies, seen: Array, pulls: Array, shares: Array) -> Array | None:
    """pulls + s shares for the smallest s at which the rule decides on these means; None beyond FOREVER."""
    later, values = seen.copy(), own_rows(bodies.pairwise, seen)

    def decides(size: float) -> bool:
        later[_RULED] = seen[_RULED]
        later[values:] = seen[values:]
        for arm, more in enumerate(pulls + size * shares):
            rules.grow(bodies.pairwise, later, arm, more)
        return best.stops(bodies.pairwise, later, 0.0)

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
