"""The generalised likelihood ratio Z, and how fast it grows with the proportions of pulls, in batches."""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array, Indices
from .families import cost
from .tracking import leading_arm


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), const(f8[::1]), i8, f8[::1])")
def costs_against(params: Array, state: Array, v: Array, leader: int, costs: Array) -> float:
    """`cost` of the leader against every arm into `costs` (inf at itself); returns the least.

    With counts of pulls for `v` this is Z(t), with weights it is g(μ, v).
    """
    least = math.inf
    for a in range(v.size):
        if a != leader:
            costs[a] = cost(params, state, leader, a, v[leader], v[a])
            least = min(least, costs[a])
    costs[leader] = math.inf
    return least


@kernel("void(const(f8[:, :, ::1]), i8[::1])")
def leader_rows(states: Array, leader: Indices) -> None:
    """`leading_arm` of every state."""
    for i in range(states.shape[0]):
        leader[i] = leading_arm(states[i])


@kernel("void(const(f8[::1]), const(f8[:, :, ::1]), const(f8[:, ::1]), const(i8[::1]), f8[::1], f8[:, ::1])")
def cost_rows(params: Array, states: Array, v: Array, leader: Indices, least: Array, costs: Array) -> None:
    """`costs_against` for every state."""
    for i in range(states.shape[0]):
        least[i] = costs_against(params, states[i], v[i], leader[i], costs[i])
