"""Stopping rules: compare the leader with each other arm, and stop when every pair exceeds a threshold.

For a given model, number of arms and delta a rule is three numbers in params: RULE, one of the codes below;
LEVEL, the part of the threshold that does not depend on the time and is never above it; and TUNING, alpha for
GK16, c for MIXTURE, unused by the others.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array, Indices
from .families import cost, exceeds
from .families import half_width as cost_half_width
from .layout import LEVEL, PENALTY, PULLS, RULE, TUNING
from .tracking import leading_arm, least_pulled

PRACTICAL, GK16, KAUFMANN_KOOLEN, MIXTURE = 0, 1, 2, 3
MIXTURE_C = 20.0  # default of the rule and of the width: the prior has the weight of 20 pulls


@kernel("f8(const(f8[::1]), f8)")
def growth(params: Array, t: float) -> float:
    """What the threshold at time t >= 1 has above its level."""
    if params[RULE] == PRACTICAL:
        return math.log(1.0 + math.log(t))
    if params[RULE] == GK16:
        return float(params[TUNING]) * math.log(t)
    if params[RULE] == KAUFMANN_KOOLEN:
        return 4.0 * math.log(4.0 + math.log(0.5 * t))
    return 0.0


@kernel("f8(const(f8[::1]), f8)")
def threshold(params: Array, t: float) -> float:
    """The threshold at time t >= 1."""
    return float(params[LEVEL]) + growth(params, t)


@kernel("f8(const(f8[::1]), f8)")
def charge(params: Array, n: float) -> float:
    """What is taken off a pair's cost for n pulls of an arm: for MIXTURE what its prior costs."""
    return 0.5 * math.log1p(n / params[TUNING]) if params[RULE] == MIXTURE else 0.0


@kernel("f8(const(f8[::1]), f8)")
def counted(params: Array, n: float) -> float:
    """How much n pulls count in a pair's cost: for MIXTURE N²/(N + c)."""
    return n * (n / (n + params[TUNING])) if params[RULE] == MIXTURE else n


@kernel("void(const(f8[::1]), f8[:, ::1], i8)")
def note(params: Array, state: Array, arm: int) -> None:
    """Keep what the rule charges for an arm, so that `may_stop` needs no logarithm."""
    if params[RULE] == MIXTURE:
        state[PENALTY, arm] = charge(params, state[PULLS, arm])


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8)")
def pair_statistic(params: Array, state: Array, b: int, a: int) -> float:
    """The statistic of one pair: its cost, or for MIXTURE the logarithm of its supermartingale."""
    n_b, n_a = state[PULLS, b], state[PULLS, a]
    evidence = cost(params, state, b, a, counted(params, n_b), counted(params, n_a))
    return evidence - (charge(params, n_b) + charge(params, n_a))


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def pair_half_width(params: Array, state: Array, b: int, a: int, bound: float) -> float:
    """Half-width of the interval for μ_b - μ_a that excludes 0 exactly when the pair exceeds `bound`."""
    n_b, n_a = state[PULLS, b], state[PULLS, a]
    if n_b == 0.0 or n_a == 0.0:
        return math.inf
    i_b, i_a = 1.0 / n_b, 1.0 / n_a
    if params[RULE] == MIXTURE:
        i_b, i_a = (1.0 + params[TUNING] / n_b) / n_b, (1.0 + params[TUNING] / n_a) / n_a
    return cost_half_width(params, state, b, a, i_b, i_a, bound + (charge(params, n_b) + charge(params, n_a)))


@kernel("Tuple((f8, i8))(const(f8[::1]), const(f8[:, ::1]))")
def statistic(params: Array, state: Array) -> tuple[float, int]:
    """The smallest pair statistic of the leader, and the leader."""
    b = leading_arm(state)
    least = math.inf
    for a in range(state.shape[1]):
        if a != b:
            least = min(least, pair_statistic(params, state, b, a))
    return least, b


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), i8, f8)")
def may_stop(params: Array, state: Array, b: int, bound: float) -> bool:
    """A cheap necessary condition for stopping with leader b, where the threshold is at least `bound`.

    No logarithm, no division but for MIXTURE, and usually the first or second arm answers. The tiny allowance
    keeps rounding from ruling out what `statistic` admits.
    """
    v_b = counted(params, state[PULLS, b])
    at_least = (1.0 - 1e-12) * (bound + state[PENALTY, b])
    for a in range(state.shape[1]):
        if a != b:
            v_a = counted(params, state[PULLS, a])
            if not exceeds(params, state, b, a, v_b, v_a, at_least + state[PENALTY, a]):
                return False
    return True


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]))")
def verdict(params: Array, state: Array) -> tuple[float, float]:
    """Statistic and threshold; -inf and inf while some arm has no pulls."""
    pulls = state[PULLS]
    if pulls[least_pulled(pulls)] == 0.0:
        return -math.inf, math.inf
    t = 0.0
    for a in range(pulls.size):
        t += pulls[a]
    z, _ = statistic(params, state)
    return z, threshold(params, t)


@kernel("void(const(f8[::1]), const(f8[::1]), f8[::1])")
def threshold_rows(params: Array, t: Array, value: Array) -> None:
    """`threshold` for every entry."""
    for i in range(t.size):
        value[i] = threshold(params, t[i])


@kernel("void(const(f8[::1]), const(f8[:, :, ::1]), f8[::1], i8[::1])")
def statistic_rows(params: Array, states: Array, value: Array, leader: Indices) -> None:
    """`statistic` for every state."""
    for i in range(states.shape[0]):
        value[i], leader[i] = statistic(params, states[i])


@kernel("void(const(f8[::1]), const(f8[:, :, ::1]), const(i8[::1]), const(f8[::1]), f8[:, ::1])")
def pair_half_width_rows(params: Array, states: Array, leader: Indices, bound: Array, half: Array) -> None:
    """`pair_half_width` of the leader against each arm, for every state; 0 at the leader."""
    for i in range(states.shape[0]):
        for a in range(half.shape[1]):
            half[i, a] = pair_half_width(params, states[i], leader[i], a, bound[i])
        half[i, leader[i]] = 0.0
