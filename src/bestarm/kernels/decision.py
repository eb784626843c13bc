"""A value arrives: the model takes it in, the rule notes what it needs, and perhaps decides."""

from __future__ import annotations

from ._jit import kernel
from ._types import Array, Flags, Indices
from .comparator import count_against
from .families import observe
from .layout import OUT, PULLS, SHARE
from .rules import note, stops


@kernel("void(const(f8[::1]), f8[:, ::1], i8, f8, f8)")
def take(params: Array, state: Array, arm: int, count: float, value: float) -> None:
    """Count a value in, or out again: count 1 with the value, or -1 with its negative.

    Under elimination values are never taken out: that depends on all that came after them.
    """
    if params[SHARE] > 0.0:
        count_against(params, state, arm, value)
    observe(params, state, arm, count, value)
    note(params, state, arm, count, value)


@kernel("i8(i8[::1], f8[::1], b1[::1], const(f8[::1]), f8[:, ::1])")
def advance(arms: Indices, values: Array, checks: Flags, params: Array, state: Array) -> int:
    """Take in values up to the one with which the rule decides; those of arms that are out are ignored.

    checks   whether the rule is asked after that value
    Returns  its index, or -1 if all were taken in without a decision
    """
    t = 0.0
    for a in range(state.shape[1]):
        t += state[PULLS, a]
    for i in range(arms.size):
        if state[OUT, arms[i]] > 0.0:
            continue
        take(params, state, arms[i], 1.0, values[i])
        t += 1.0
        if checks[i] and stops(params, state, t):
            return i
    return -1
