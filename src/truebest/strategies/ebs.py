"""Exploration-Biased Sampling (Algorithm 2): track the weights of the box's most demanding bandit."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .. import _args
from ..errors import InvalidInputError
from ..kernels._jit import kernel
from ..kernels._types import Array
from ..kernels.divergences import BERNOULLI_MODEL, family_reach
from ..kernels.exploration import exploration_biased_weights, half_width
from ..kernels.families import STUDENT, unseen
from ..kernels.layout import MEANS, MODEL, OWN, PULLS, SELECT, TOLERANCE, VARIANCES, Select
from ..kernels.random import Words
from ..kernels.tracking import TIE, arms_left, is_open, open_arms, track, track_open
from ..theory.statistics import WIDTHS
from ._base import Strategy

_TARGET, _LOWER, _UPPER, _SUM, _WARM, _PACKED = range(6)  # the last, and two more: to work in
_WIDTH, _LEVEL, _LOW, _HIGH, _D_TRACKING, _OPEN_ONLY = range(OWN, OWN + 6)


@kernel("f8(const(f8[:, ::1]), i8, i8, f8, f8, f8[:, ::1])", apart=True)
def weights_left(state: Array, leader: int, left: int, tolerance: float, warm: float, memory: Array) -> float:
    """The weights of the open arms alone, 0 for all others; returns the next call's `warm`."""
    lower, upper, target = memory[_PACKED], memory[_PACKED + 1], memory[_PACKED + 2]
    n = 0
    for a in range(state.shape[1]):
        if is_open(state, leader, a):
            lower[n], upper[n] = memory[_LOWER, a], memory[_UPPER, a]
            n += 1
    low, high, w = lower[:left], upper[:left], target[:left]
    _, warm = exploration_biased_weights(low, high, False, TIE, tolerance, warm, w)
    n = 0
    for a in range(state.shape[1]):
        memory[_TARGET, a] = 0.0
        if is_open(state, leader, a):
            memory[_TARGET, a] = target[n]
            n += 1
    return warm


@kernel(SELECT)
def select(
    t: float, last: int, leader: int, state: Array, params: Array, memory: Array, random: Words
) -> int:
    """Algorithm 2; only the interval of the arm pulled last is new."""
    pulls, means = state[PULLS], state[MEANS]
    lower, upper, target = memory[_LOWER], memory[_UPPER], memory[_TARGET]
    start = max(last, 0)
    stop = last + 1 if last >= 0 else pulls.size
    for a in range(start, stop):
        width = half_width(int(params[_WIDTH]), params[_LEVEL], pulls[a]) * math.sqrt(state[VARIANCES, a])
        below, above = width, width
        if params[MODEL] >= BERNOULLI_MODEL:
            below = family_reach(params, means[a], 0.5 * width * width, -1.0)
            above = family_reach(params, means[a], 0.5 * width * width, 1.0)
        lower[a] = min(max(means[a] - below, params[_LOW]), params[_HIGH])  # (3)
        upper[a] = min(max(means[a] + above, params[_LOW]), params[_HIGH])
    open_only = params[_OPEN_ONLY] != 0.0
    left = open_arms(state, leader) if open_only else arms_left(state)
    warm, tolerance = memory[_WARM, 0], params[TOLERANCE]
    if params[MODEL] == STUDENT and unseen(state):  # an interval without ends has no weights
        for a in range(pulls.size):
            target[a] = 1.0 / left if is_open(state, leader, a) else 0.0
    elif left == pulls.size:
        _, memory[_WARM, 0] = exploration_biased_weights(lower, upper, False, TIE, tolerance, warm, target)
    else:
        memory[_WARM, 0] = weights_left(state, leader, left, tolerance, warm, memory)
    if open_only:
        return track_open(state, leader, target, memory[_SUM], t, params[_D_TRACKING] != 0.0)
    return track(state, target, memory[_SUM], t, params[_D_TRACKING] != 0.0)


@dataclass(frozen=True)
class EBS(Strategy):
    """Exploration-Biased Sampling (Algorithm 2).

    Where arms have different variances, its box is right, and its weights are those of equal variances. For
    Bernoulli, Poisson and exponential values it is the same: an arm's interval are the means m whose
    divergence d(mean, m) is at most that of a normal arm at the end of its interval. The theorem is about
    normal arms of one variance alone.

    Attributes
    ----------
    tracking
        "C": follow the sums of the target weights, as analysed; "D": the current ones, often faster
    gamma
        the accepted probability that some interval misses
    width
        "experiments" (the paper's Section 4), "paper" or "mixture"; see `confidence_width`
    clip
        (low, high) known to contain all means: intervals are cut there; None cuts nothing
    open_only
        True samples only arms that the stopping rule has not settled, which then are out for good, and tracks
        the weights of these; that takes fewer samples. The theorem is about False
    """

    tracking: str = "D"
    gamma: float = 0.05
    width: str = "experiments"
    clip: tuple[float, float] | None = None
    open_only: bool = False  # type: ignore[misc]

    rows: ClassVar[tuple[str, ...]] = ("target", "lower", "upper", "sum", "warm", *3 * ("packed",))
    adds_up: ClassVar[str | None] = "sum"

    def __post_init__(self) -> None:
        _args.choice("tracking", self.tracking, ("C", "D"))
        object.__setattr__(self, "gamma", _args.gamma(self.gamma))
        _args.choice("width", self.width, tuple(WIDTHS))
        _args.flag("open_only", self.open_only)
        if self.clip is not None:
            ends = np.atleast_1d(_args.numbers("clip", self.clip)).ravel()
            low, high = (float(ends[0]), float(ends[1])) if ends.size == 2 else (0.0, 0.0)
            if not low < high:
                raise InvalidInputError(
                    f"clip must be (low, high) with low < high, got {self.clip}; it is an interval "
                    f"known to contain all means."
                )
            object.__setattr__(self, "clip", (low, high))

    @property
    def name(self) -> str:
        shown = [
            f"{f.name}={getattr(self, f.name)}"
            for f in fields(self)
            if f.name != "tracking" and getattr(self, f.name) != f.default
        ]
        return f"ebs-{self.tracking.lower()}" + (f"({', '.join(shown)})" if shown else "")

    @property
    def select(self) -> Select:
        return select

    def placed(self, offset: float, sign: float = 1.0) -> EBS:
        if self.clip is None:
            return self
        moved = copy(self)  # without the check: far from the values the ends may become one
        low, high = sorted(sign * end - offset for end in self.clip)
        object.__setattr__(moved, "clip", (low, high))
        return moved

    def parameters(self, num_arms: int, sigma: float) -> npt.NDArray[np.float64]:
        low, high = self.clip or (-math.inf, math.inf)
        level = math.log(num_arms) - math.log(self.gamma)
        ends = (low / sigma, high / sigma)
        return np.array([WIDTHS[self.width], level, *ends, self.tracking == "D", self.open_only])
