"""Exploration-Biased Sampling of the stopping rule's own region: sample what the rule has not settled.

    U   the leader b and the arms that the rule has not settled, k of them beside l
    l   the boosted arm: the old one while it is open and the leader is not `hold` deviations ahead of it

    equal   w_a = 1/(k + √k) in U, w_l = √k/(k + √k)                                    hold 1
    gaps    w_a ~ 1/√((m_l - m_a)² + 2/N_l + 2/N_a), w_l ~ √Σ w_a²                      hold 0.7
            pull the arm of U with the least N_a/w_a, l first among equals

    need    q_a = ((m_b - m_a)² + 1/N_b + 1/N_a)/2(L + c_b + c_a): 1/N_b + 1/N_a of a pair that is settled
            1/x_b = u and 1/x_a = q_a - u, with the u that makes the pulls to come the fewest, if m stay
            w = 0.8 r/Σr + 0.2 w(equal), r_a = x_a - N_a where that is positive; under `tilt`, which tests an
            arm with the values of all leaders, 0.7 and 0.3, of √r (of values between bounds less so)
            pull the arm of U with the least N_a - S_a, where S adds up w

Weights are computed again when t has grown by 2%, or U or l has changed, or for "need" b. Where
variances v differ, arms weigh as those of equal gaps would, v_a and √(v_l Σ v_a). Squared gaps, in variances,
are the model's: four times the cost of a pair of one pull each. A tolerance makes gaps larger. For values
between bounds v_a is √(s_a max s), s what an arm varies beside 0s and 1s of its mean (`spread`): two arms
have pulls as s^¼, between equal ones, which suit the rule's prior, and s^½, which suit known variances.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .. import _args
from ..kernels._jit import kernel
from ..kernels._types import Array
from ..kernels.divergences import BERNOULLI_MODEL, family_cost
from ..kernels.families import BOUNDED, cost_beyond
from ..kernels.layout import (
    HIGH,
    LEVEL,
    LOW,
    MEANS,
    MODEL,
    OFFSET,
    OWN,
    PULLS,
    RULE,
    SELECT,
    SETTLED,
    SQUARES,
    TOLERANCE,
    TUNING,
    UNIT,
    VARIANCES,
    Select,
)
from ..kernels.random import Words
from ..kernels.rules import threshold
from ..kernels.rules.mixture import MIXTURE, charge, counted
from ..kernels.rules.tilt import TILT
from ..kernels.tracking import TIE, is_open, track_open
from ._base import Strategy

EQUAL, GAPS, NEED = 0, 1, 2
WEIGHTS = {"equal": EQUAL, "gaps": GAPS, "need": NEED}
HOLD = {"equal": 1.0, "gaps": 0.7, "need": 1.0}  # deviations
GROWTH = 1.02  # of t, after which shares are computed again
MIXED, FLATTER = 0.2, 0.1  # how much of "equal" there is in "need", so that no open arm starves; with √r more
CHARGED = 2.7  # nats: what a pair costs under other rules than the mixture
STEPS, CLOSE = 40, 1e-13  # of Newton's method at most, and the last one of them as a part

_TARGET, _SUM, _KEPT, _DUE, _ROOM = range(5)
_BOOSTED, _LEADER = 0, 1  # places in the third row, plus one
_V, _Q, _ENDS = range(3)  # rows from _ROOM on
_KIND, _HOLD, _VERSION = range(OWN, OWN + 3)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8)")
def squared_gap(params: Array, state: Array, b: int, a: int) -> float:
    """Of two arms, whichever is better; in squared units, for exponential families in variances."""
    gap = abs(state[MEANS, b] - state[MEANS, a]) + params[TOLERANCE]
    if params[MODEL] >= BERNOULLI_MODEL:
        high, low = (b, a) if state[MEANS, b] >= state[MEANS, a] else (a, b)
        return 4.0 * family_cost(params, state, high, low, 1.0, 1.0, params[TOLERANCE])
    return float(gap * gap)


@kernel("b1(const(f8[::1]))")
def adapted(params: Array) -> bool:
    """Whether samples are spread as suits the rule `tilt`: from version 2 on."""
    return bool(params[RULE] == TILT and params[_VERSION] >= 2.0)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8)")
def spread(params: Array, state: Array, arm: int) -> float:
    """The variance of a bounded value, as a part of that of 0s and 1s of the same mean: 1 for these.

    Evidence of the level L from few values that hardly vary is less than their variance says, since a bet
    against a mean is limited by the ends: v counts as v + L/N.
    """
    n, few = state[PULLS, arm], 4.0 * params[LEVEL]
    mean = state[MEANS, arm] + (params[OFFSET] - 0.5 * (params[LOW] + params[HIGH])) / params[UNIT]
    return float((state[SQUARES, arm] + few) / (n * max(1.0 - mean * mean, 0.0) + few))


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, f8[::1])", apart=True)
def fill_variances(params: Array, state: Array, leader: int, v: Array) -> float:
    """Of one value of every open arm; 1 for every arm as long as that of one is not seen.

    Returns  how much flatter needs are made: the largest squared, since estimates that vary less can be
             relied on, 1 where that is known, and 0 where the rule is not `tilt`
    """
    largest, estimated = 0.0, adapted(params) and params[MODEL] == BOUNDED
    for a in range(v.size):
        v[a] = 1.0
        if is_open(state, leader, a):
            v[a] = spread(params, state, a) if estimated else state[VARIANCES, a]
            largest = max(largest, v[a])
    for a in range(v.size):
        if largest == math.inf:
            v[a] = 1.0
        elif estimated:
            v[a] = math.sqrt(v[a] * largest)
    return largest * largest if estimated else 1.0 if adapted(params) else 0.0


@kernel("void(const(f8[:, ::1]), i8, i8, const(f8[::1]), f8[::1])")
def equal_shares(state: Array, leader: int, boosted: int, v: Array, w: Array) -> None:
    """The optimal weights of the open arms for equal gaps, √k to 1, or, with variances, √(v_l Σ v) to v_a."""
    total = 0.0
    for a in range(w.size):
        w[a] = 0.0
        if a != boosted and is_open(state, leader, a):
            w[a] = v[a]
            total += w[a]
    w[boosted] = math.sqrt(v[boosted] * total) if total > 0.0 else 1.0
    total += w[boosted]
    for a in range(w.size):
        w[a] /= total


@kernel("void(const(f8[::1]), const(f8[:, ::1]), i8, i8, const(f8[::1]), f8[::1])", apart=True)
def gap_shares(params: Array, state: Array, leader: int, boosted: int, v: Array, w: Array) -> None:
    """Half way to the optimal weights of the estimated gaps."""
    total, squares = 0.0, 0.0
    for a in range(w.size):
        w[a] = 0.0
        if a != boosted and is_open(state, leader, a):
            doubt = 2.0 * (v[boosted] / state[PULLS, boosted] + v[a] / state[PULLS, a])
            w[a] = v[a] / math.sqrt(squared_gap(params, state, boosted, a) + doubt)
            total += w[a]
            squares += w[a] * w[a] / v[a]
    w[boosted] = math.sqrt(v[boosted] * squares) if squares > 0.0 else 1.0
    total += w[boosted]
    for a in range(w.size):
        w[a] /= total


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, const(f8[::1]), f8)")
def needed(params: Array, state: Array, b: int, a: int, v: Array, level: float) -> float:
    """q_a: what v_b/N_b + v_a/N_a must come to for the pair to be settled, in pulls as the rule counts."""
    n_b, n_a = state[PULLS, b], state[PULLS, a]
    doubt = v[b] / n_b + v[a] / n_a
    charged = charge(params, n_b) + charge(params, n_a) if params[RULE] == MIXTURE else CHARGED
    return float((squared_gap(params, state, b, a) + doubt) / (2.0 * (level + charged)))


@kernel("f8(const(f8[::1]), f8)")
def pulls_for(params: Array, x: float) -> float:
    """How many pulls count as x: the inverse of `counted`."""
    return 0.5 * (x + math.sqrt(x * x + 4.0 * params[TUNING] * x)) if params[RULE] == MIXTURE else x


@kernel("f8(i8, const(f8[::1]), f8, const(f8[::1]), const(f8[::1]))")
def leaders_root(b: int, v: Array, r: float, q: Array, ends: Array) -> float:
    """1/u: the least, from r on, at which Σ v_a/v_b/(q_a/u - 1)² <= 1 over the arms that need pulls still.

    Arm a needs none from ends_a on. (Σ ...)^(-1/2) is concave in 1/u as long as no arm drops out, so Newton's
    steps for 1 rise towards the root and never beyond it; a step ends where the next arm drops out.
    """
    for _ in range(STEPS + q.size):
        s2, s3, end = 0.0, 0.0, math.inf
        for a in range(q.size):
            if r < ends[a]:
                p = 1.0 / (r * q[a] - 1.0)
                square = v[a] / v[b] * p * p
                s2 += square
                s3 += square * p * q[a]
                end = min(end, ends[a])
        if s2 <= 1.0:
            break
        rise = s2 * (math.sqrt(s2) - 1.0) / s3
        if r + rise >= end:
            r = end
        elif rise <= CLOSE * r:
            return r + rise
        else:
            r += rise
    return r


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, const(f8[::1]), const(f8[::1]), f8[::1])")
def leaders_part(params: Array, state: Array, b: int, v: Array, q: Array, ends: Array) -> float:
    """u: the largest, up to what v_b/N_b is now, at which more pulls of b save at most as many others."""
    r = counted(params, state[PULLS, b]) / v[b]
    for a in range(q.size):
        ends[a] = 0.0
        if q[a] > 0.0:
            left = q[a] - v[a] / counted(params, state[PULLS, a])
            ends[a] = 1.0 / left if left > 0.0 else math.inf
            floor = (1.0 + math.sqrt(v[a] / v[b])) / q[a]  # of one arm alone
            r = max(r, min(floor, ends[a]))
    return 1.0 / leaders_root(b, v, r, q, ends)


@kernel("void(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8, f8[:, ::1], f8[::1])", apart=True)
def need_shares(
    params: Array, state: Array, leader: int, boosted: int, t: float, flat: float, room: Array, w: Array
) -> None:
    """In proportion to the pulls that are still needed if the means stay, and some of `equal_shares`.

    flat  1 for their roots, 0 for themselves
    """
    v, q, level, total = room[_V], room[_Q], threshold(params, t), 0.0
    for a in range(q.size):
        closed = a == leader or not is_open(state, leader, a)
        q[a] = 0.0 if closed else needed(params, state, leader, a, v, level)
    power, mixed = 1.0 - 0.5 * flat, MIXED + FLATTER * flat
    u = leaders_part(params, state, leader, v, q, room[_ENDS])
    for a in range(q.size):
        if a == leader or q[a] > 0.0:
            x = v[a] / (u if a == leader else q[a] - u)
            more = pulls_for(params, x) - state[PULLS, a]
            q[a] = (more**power if flat > 0.0 else more) if more > TIE else 0.0
            total += q[a]
    equal_shares(state, leader, boosted, v, w)
    for a in range(q.size):
        if total > 0.0:
            w[a] = (1.0 - mixed) * q[a] / total + mixed * w[a]


@kernel("i8(const(f8[::1]), const(f8[:, ::1]), i8, i8)")
def boost(params: Array, state: Array, leader: int, old: int) -> int:
    """The arm to boost: the old one, unless it is settled or the leader is clearly ahead of it."""
    if old < 0 or old == leader or not is_open(state, leader, old):
        return leader
    ahead = cost_beyond(params, state, leader, old, state[PULLS, leader], state[PULLS, old], 0.0)
    return leader if ahead >= 0.5 * params[_HOLD] * params[_HOLD] else old


@kernel("b1(const(f8[::1]), i8, const(f8[::1]))")
def same_set(settled: Array, leader: int, target: Array) -> bool:
    """Whether the arms that have a share are the open ones; counted without a branch, for speed."""
    wrong = 0
    for a in range(target.size):
        wrong += int((target[a] > 0.0) != (settled[a] == 0.0))
    if settled[leader] != 0.0:  # it is open, whatever the rule says
        wrong += -1 if target[leader] > 0.0 else 1
    return wrong == 0


@kernel("i8(const(f8[::1]), i8, const(f8[::1]))")
def least_served(pulls: Array, boosted: int, target: Array) -> int:
    """The arm with the least N_a/w_a, the boosted one first among equals, then the lowest index."""
    arm, least = boosted, pulls[boosted] / target[boosted] * (1.0 - TIE)
    for a in range(target.size):
        if pulls[a] < least * target[a]:
            arm, least = a, pulls[a] / target[a] * (1.0 - TIE)
    return arm


@kernel("void(f8, i8, i8, const(f8[:, ::1]), const(f8[::1]), f8[:, ::1])")
def share_out(t: float, leader: int, boosted: int, state: Array, params: Array, memory: Array) -> None:
    """Compute the weights, and note what they were computed for."""
    target, kept, room = memory[_TARGET], memory[_KEPT], memory[_ROOM:]
    flat = fill_variances(params, state, leader, room[_V])
    if params[_KIND] == EQUAL:
        equal_shares(state, leader, boosted, room[_V], target)
    elif params[_KIND] == GAPS:
        gap_shares(params, state, leader, boosted, room[_V], target)
    else:
        need_shares(params, state, leader, boosted, t, flat, room, target)
    kept[_BOOSTED], kept[_LEADER], memory[_DUE, 0] = boosted + 1.0, leader + 1.0, GROWTH * t


@kernel(SELECT)
def select(
    t: float, last: int, leader: int, state: Array, params: Array, memory: Array, random: Words
) -> int:
    """As the module says; the shares are those of the last time that they were computed."""
    kept, target = memory[_KEPT], memory[_TARGET]
    boosted = boost(params, state, leader, int(kept[_BOOSTED]) - 1)
    moved = kept[_BOOSTED] != boosted + 1.0 or (params[_KIND] == NEED and kept[_LEADER] != leader + 1.0)
    if moved or t >= memory[_DUE, 0] or not same_set(state[SETTLED], leader, target):
        share_out(t, leader, boosted, state, params, memory)
    if params[_KIND] == NEED:
        return track_open(state, leader, target, memory[_SUM], t, False)
    return least_served(state[PULLS], boosted, target)


@dataclass(frozen=True)
class OpenEBS(Strategy):
    """Exploration-Biased Sampling of the stopping rule's own region: only arms that it has not settled.

    An arm is *settled*, and out for good, when the rule shows it to be worse: by `tilt` as for every
    strategy, by other rules when a pair exceeds the threshold. With a tolerance, arms that the leader need
    not be told from are left alone as well, for as long as that is so. Beyond the rule's own promise, which
    holds for every strategy, nothing is proven but that open arms do not starve, so that a run ends
    (docs/proofs.md): neither the paper's bound nor that the samples are optimal for small delta. Arms that
    are settled keep wide intervals.

    Attributes
    ----------
    weights
        "equal": the exploration-biased weights of the rule's region, if arms vary alike; the calmest. "gaps":
        half way to the optimal weights of the estimated means. "need": in proportion to the pulls that are
        still needed; takes the fewest samples
    version
        2 spreads samples as suits the rule `tilt`: of values between bounds, arms whose values vary more are
        sampled more often, where arms of 0s and 1s count as equal, whatever their means; and "need" favours
        the arms that need most by less. 1 is as it was before truebest 0.3
    """

    weights: str = "need"
    version: int = 2

    rows: ClassVar[tuple[str, ...]] = ("target", "sum", "kept", "due", "room", "room", "room")
    uses_delta: ClassVar[bool] = True
    open_only: ClassVar[bool] = True
    older: ClassVar[Mapping[str, object]] = {"version": 1}

    def __post_init__(self) -> None:
        _args.choice("weights", self.weights, tuple(WEIGHTS))
        _args.whole("version", self.version, 1, 2, "2 suits the rule 'tilt', 1 is as it once was")

    @property
    def adds_up(self) -> str:  # type: ignore[override]
        return "sum" if self.weights == "need" else ""

    @property
    def name(self) -> str:
        return f"ebs-open-{self.weights}" + "(version=1)" * (self.version < 2)

    @property
    def select(self) -> Select:
        return select

    def once(self) -> OpenEBS:
        return replace(self, version=1)

    def parameters(self, num_arms: int, sigma: float) -> npt.NDArray[np.float64]:
        return np.array([WEIGHTS[self.weights], HOLD[self.weights], self.version])
