"""A value arrives: the model takes it in, the rule notes what it needs, and it may decide or refute sigma."""

from __future__ import annotations

from ._jit import kernel
from ._types import Array, Flags, Indices
from .alarm import refutes, scaled_squares
from .best import stops_after
from .families import observe
from .layout import ALARM, NO_ARM, OUT, PULLS, SHARE, SQUARES, VARIANCES
from .rules import note
from .rules.comparator import count_against
from .rules.room import stays


@kernel("void(const(f8[::1]), f8[:, ::1], i8, f8, f8)")
def take(params: Array, state: Array, arm: int, count: float, value: float) -> None:
    """Count a value in, or out again: count 1 with the value, or -1 with its negative.

    Under elimination values are never taken out: that depends on all that came after them.
    """
    if params[SHARE] > 0.0:
        count_against(params, state, arm, value)
    observe(params, state, arm, count, value)
    note(params, state, arm, count, value)


@kernel("Tuple((i8, b1))(i8[::1], f8[::1], b1[::1], b1[::1], const(f8[::1]), f8[:, ::1], f8[:, ::1])")
def advance(
    arms: Indices, values: Array, checks: Flags, together: Flags, params: Array, state: Array, rooms: Array
) -> tuple[int, bool]:
    """Take in values up to the one with which the rule decides, or which refutes sigma.

    Values of arms that are ruled out are ignored.

    checks    whether the rule is asked after that value; the alarm always is, and before the rule
    together  values without an order: no comparator counts them, and the alarm, too, waits for a check
    rooms     (ROOMS, K), all 0: to see where many values need no look at each, see `rules.room`
    Returns   its index, or -1 if all were taken in; and whether sigma is refuted
    """
    t, total, alarmed = 0.0, 0.0, params[ALARM] != 0.0
    for a in range(state.shape[1]):
        t += state[PULLS, a]
    if alarmed:
        total = scaled_squares(state)
    for i in range(arms.size):
        arm = arms[i]
        out, before, calm = state[OUT, arm] > 0.0, state[SQUARES, arm], False
        if out and not together[i]:
            continue
        if not out:
            if together[i]:
                observe(params, state, arm, 1.0, values[i])
                note(params, state, arm, 1.0, values[i])
            else:
                take(params, state, arm, 1.0, values[i])
            t += 1.0
            calm = arms.size > 1 and stays(params, state, arm, values[i], rooms)
        if alarmed:
            total += (state[SQUARES, arm] - before) / state[VARIANCES, arm]
            if (checks[i] or not together[i]) and refutes(state, t, total):
                return i, True
        if checks[i] and not calm and stops_after(params, state, t, NO_ARM if together[i] else arm):
            return i, False
    return -1, False
