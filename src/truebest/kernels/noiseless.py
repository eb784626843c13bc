"""How a run would continue if every reward equalled its arm's mean: what a forecast is made of."""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array
from .layout import LEVEL, PULLS, SELECT, Select, arm_of
from .random import Words
from .rules import grow
from .steps import GOING, STOPPED, Now, Task, decide

FOREVER = 1e12  # samples
LARGEST = 1 / 300  # step, as a part of all samples: it must not hide that an arm with a small share is behind


@kernel(
    f"b1(FunctionType({SELECT}), b1, i8, f8, i8, f8[:, ::1], const(f8[::1]), f8[:, ::1], u8[::1], f8[::1])"
)
def run_on(
    select: Select,
    stops_itself: bool,
    most: int,
    growth: float,
    sums: int,
    state: Array,
    params: Array,
    memory: Array,
    random: Words,
    space: Array,
) -> bool:
    """Choose an arm at most `most` times, or until the run stops; returns whether it stopped.

    growth   a choice adds this part to the pulls of its arm, at least one pull; the first of a pair, after
             which nothing is checked, gets what the second gets
    sums     the row of memory that adds up a share per pull, -1 for none
    state, params, memory, random  as a strategy sees them; the pulls and the memory move on
    space    (K,) to work in
    """
    pulls = state[PULLS]
    K, t, last, first, check = pulls.size, 0.0, -1, -1, not stops_itself
    levels = params[LEVEL : LEVEL + 1]
    for a in range(K):
        t += pulls[a]
    for n in range(most + 1):
        if sums >= 0:
            for a in range(K):
                space[a] = memory[sums, a]
        over = n == most or t > FOREVER
        if over and stops_itself:
            break
        task = Task(stops_itself, levels, 0.0 if over else math.inf, params)
        now = Now(t, last, check, 0, -math.inf, GOING, 0)
        status, action, _, _, _ = decide(select, task, state, memory, random, now)
        if status != GOING:
            return status == STOPPED
        last, check = arm_of(action, K), action >= 0 and not stops_itself
        size = 1.0
        if check or stops_itself:
            size = max(1.0, float(math.floor(min(growth * pulls[last], LARGEST * t))))
        if sums >= 0 and size > 1.0:
            for a in range(K):
                memory[sums, a] += (size - 1.0) * (memory[sums, a] - space[a])
        grow(params, state, last, pulls[last] + size)
        t += size
        if first >= 0:
            grow(params, state, first, pulls[first] + (size - 1.0))
            t += size - 1.0
        first = -1 if check or stops_itself else last
    return False
