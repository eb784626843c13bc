"""How a run would go on if every reward equalled its arm's mean: what a forecast is made of."""

from __future__ import annotations

from ..kernels._jit import kernel
from ..kernels._types import Array
from ..kernels.random import Words
from ..kernels.thresholds import rule_statistic, threshold
from ..kernels.tracking import first_largest
from ..strategies._base import CODE, LEVEL, MEANS, PULLS, SCALE, SELECT, Select


@kernel(f"b1(FunctionType({SELECT}), b1, i8, f8[:, ::1], f8[::1], u8[::1])")
def run_on(select: Select, stops_itself: bool, most: int, state: Array, params: Array, random: Words) -> bool:
    """Pull at most `most` times, or until the run stops; returns whether it stopped.

    state, params, random  as a strategy sees them; the pulls and the strategy's memory move on
    """
    pulls, means = state[PULLS], state[MEANS]
    K, t, last, check = pulls.size, 0.0, -1, not stops_itself
    code, level, scale = int(params[CODE]), params[LEVEL], params[SCALE]
    for a in range(K):
        t += pulls[a]
    for n in range(most + 1):
        if check:
            z, _ = rule_statistic(code, scale, pulls, means)
            if z > threshold(code, level, scale, t):
                return True
        if n == most:
            break
        action = select(t, last, first_largest(means), state, params, random)
        if action >= K:
            return True
        last = action if action >= 0 else ~action
        if last >= K:
            break
        check = action >= 0 and not stops_itself
        pulls[last] += 1.0
        t += 1.0
    return False
