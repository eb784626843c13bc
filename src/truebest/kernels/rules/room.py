"""How many more values surely rule no arm out, so that elimination need not search after each of many.

At a mean m that an arm i and its leader may share, f is the logarithm of an average of products of factors
(1 + κX)/(1 + κm), over values of the leader or of the comparator, and (1 + κ(1 - X))/(1 + κ(1 - m)), over
values of i. A value multiplies each by X/m at most, or by (1 - X)/(1 - m), or by nothing above 1, whatever κ.
So after f was evaluated once, its evidence stays below the bound until such multiples have used up the room
between both: Λ <= f(m), wherever the minimum is by then. For values between bounds, for which f has no closed
form.
"""

from __future__ import annotations

import math

from .._jit import kernel
from .._types import Array
from ..families import BOUNDED
from ..layout import LEVEL, MODEL, OUT, PULLS, QUESTION, SHARE, TUNING
from .ceilings import common
from .comparator import leader_besides
from .tilt import COUNT, comparator_row, evidence, rescaled

LEADER, COUNTED, MEAN, ROOM = range(4)  # rows: 1 + the leader, 0 for none; the comparator's values; m; e^nats
ROOMS = 4
SLACK = 1e-3  # nats: rounding takes 1e-9 from a million values
MOST = 700.0  # nats, of which e^nats is finite


@kernel("void(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8, f8[:, ::1])")
def use(params: Array, state: Array, i: int, arm: int, up: float, down: float, rooms: Array) -> None:
    """What a value of an arm takes from the room of arm i; all of it where i has another leader now."""
    b, m, n = leader_besides(state, i), rooms[MEAN, i], state[comparator_row(params) + COUNT, i]
    if rooms[LEADER, i] != b + 1.0:
        rooms[ROOM, i] = 0.0
    elif arm == i and down > 1.0 - m:
        rooms[ROOM, i] *= (1.0 - m) / down
    elif (arm == b or rooms[COUNTED, i] != n) and up > m:
        rooms[ROOM, i] *= m / up
    rooms[COUNTED, i] = n


@kernel("void(const(f8[::1]), const(f8[:, ::1]), i8, f8[:, ::1])", apart=True)
def look_ahead(params: Array, state: Array, i: int, rooms: Array) -> None:
    """The room of an arm as it is now."""
    b = leader_besides(state, i)
    rooms[LEADER, i], rooms[ROOM, i] = b + 1.0, 0.0
    if b >= 0:
        m = common(params, state, b, i, 0.0)
        found, _, _ = evidence(params, state, b, i, m, 0.0, params[SHARE])
        rooms[MEAN, i], rooms[ROOM, i] = m, math.exp(min(params[LEVEL] - found - SLACK, MOST))


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), i8, f8, f8[:, ::1])")
def stays(params: Array, state: Array, arm: int, value: float, rooms: Array) -> bool:
    """Whether all arms in the race surely stay in it after a value, the last one in the state.

    rooms  all 0 at first; then from one value to the next
    """
    if params[SHARE] == 0.0 or params[MODEL] != BOUNDED or params[TUNING] > 0.0 or params[QUESTION] != 0.0:
        return False
    up, down = rescaled(params, value)
    left, calm = 0, True
    for i in range(state.shape[1]):
        if state[PULLS, i] == 0.0:
            calm = False
        elif state[OUT, i] == 0.0:
            left += 1
            use(params, state, i, arm, up, down, rooms)
            if calm and rooms[ROOM, i] <= 1.0:
                look_ahead(params, state, i, rooms)
                calm = rooms[ROOM, i] > 1.0
    return calm and left > 1
