"""The generalised likelihood ratio statistic Z and the function g, in units of σ."""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array, Indices
from .tracking import TIE


@kernel("f8(f8, f8, f8)")
def pair_cost(v_b: float, v_a: float, gap: float) -> float:
    """½ v_b v_a/(v_b+v_a) gap², equation (8) for one arm; zero where an arm has no weight.

    Numerics: nothing is squared before it is multiplied by the weights, so 0 * inf cannot arise.
    """
    if v_b == 0.0 or v_a == 0.0:
        return 0.0
    return 0.5 * (v_b / (v_b + v_a) * v_a * gap) * gap


@kernel("i8(const(f8[::1]), const(f8[::1]))")
def leading_arm(pulls: Array, means: Array) -> int:
    """The pulled arm of largest mean, the lowest index among ties; -1 if none was pulled."""
    top = -math.inf
    for a in range(means.size):
        if pulls[a] > 0.0:
            top = max(top, means[a])
    for a in range(means.size):
        if pulls[a] > 0.0 and means[a] >= top - TIE:
            return a
    return -1


@kernel("f8(const(f8[::1]), const(f8[::1]), i8, f8[::1])")
def costs_against(v: Array, means: Array, leader: int, costs: Array) -> float:
    """`pair_cost` of the leader against every arm into `costs` (inf at itself); returns the least.

    With counts of pulls for `v` this is Z(t), with weights it is g(μ, v).
    """
    least = math.inf
    for a in range(means.size):
        costs[a] = pair_cost(v[leader], v[a], means[leader] - means[a])
        if a != leader:
            least = min(least, costs[a])
    costs[leader] = math.inf
    return least


@kernel("void(const(f8[:, ::1]), const(f8[:, ::1]), i8[::1], f8[::1], f8[:, ::1])")
def glr_rows(pulls: Array, means: Array, leader: Indices, statistic: Array, against: Array) -> None:
    """Leader, Z and the leader against each arm, for every row."""
    for i in range(means.shape[0]):
        leader[i] = leading_arm(pulls[i], means[i])
        statistic[i] = costs_against(pulls[i], means[i], leader[i], against[i])


@kernel("void(const(f8[:, ::1]), const(f8[:, ::1]), f8[::1], f8[::1])")
def g_rows(v: Array, means: Array, value: Array, costs: Array) -> None:
    """g(μ, v) for every row; `costs` is scratch for one row."""
    for i in range(means.shape[0]):
        best = 0
        for a in range(1, means.shape[1]):
            if means[i, a] > means[i, best]:
                best = a
        value[i] = costs_against(v[i], means[i], best, costs)
