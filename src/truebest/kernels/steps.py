"""One run, step by step: *begin* opens its streams and pulls every arm once, *step* decides, chooses, pulls.

A run is a function of (seed, run) alone. Before every choice the stopping rule is asked. Several risk levels
are served by one run: the first time that the statistic exceeds each threshold counts, and the run ends with
the last. What loops over runs, records one, or lets one run on without noise is a few lines around these.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel
from ._types import Array, Indices
from .decision import take
from .layout import ELIMINATES, PULLS, SELECT, SHARE, Select, arm_of
from .random import Words, open_stream, pull
from .rules import asks_all, growth, may_stop, statistic
from .tracking import in_the_race, leading_arm, out_since

GOING, STOPPED, CUT_OFF, BAD_ACTION = 0, 1, 2, 3


@kernel(
    "void(u8, i8, i8, const(f8[:, ::1]), const(f8[::1]), const(f8[::1]), const(f8[:, ::1]), f8[:, ::1], "
    "f8[:, ::1], u8[:, ::1])"
)
def begin(
    seed: np.uint64,
    run: int,
    family: int,
    nature: Array,
    pool: Array,
    params: Array,
    blank: Array,
    state: Array,
    memory: Array,
    streams: Words,
) -> None:
    """Pull every arm once; the last stream is the strategy's own.

    family, nature, pool  what rewards are, see `random.pull`
    blank                 a state without pulls
    """
    K = state.shape[1]
    for a in range(K):
        for m in range(state.shape[0]):
            state[m, a] = blank[m, a]
        for m in range(memory.shape[0]):
            memory[m, a] = 0.0
    for a in range(streams.shape[0]):
        open_stream(seed, np.uint64(run), np.uint64(a), streams[a])
    for a in range(K):
        take(params, state, a, 1.0, pull(family, nature, pool, a, streams[a]))


@kernel(
    f"Tuple((i8, i8, i8, i8, f8))(FunctionType({SELECT}), b1, f8, i8, b1, i8, f8, const(f8[::1]), f8, "
    "const(f8[::1]), f8[:, ::1], f8[:, ::1], u8[::1])"
)
def decide(
    select: Select,
    stops_itself: bool,
    t: float,
    last: int,
    check: bool,
    level: int,
    bound: float,
    levels: Array,
    max_samples: float,
    params: Array,
    state: Array,
    memory: Array,
    random: Words,
) -> tuple[int, int, int, int, float]:
    """Ask the rule, then the strategy.

    t, last      samples so far, and the arm pulled last; -1 at the first call of a run
    check        whether the rule is asked
    level        the first risk level that has not ended; levels are the rule's, ascending
    bound        a lower bound of that level's threshold: the last one computed, since thresholds do not fall
    max_samples  where a run is cut off
    Returns      a status, the action, the arm that those levels recommend which end now, level, bound
    """
    K, action = state.shape[1], -1
    leader = leading_arm(state)
    if check and may_stop(params, state, leader, bound, t, last):
        if level == levels.size - 1 and asks_all(params):
            return STOPPED, action, leader, levels.size, bound
        z, leader = statistic(params, state)
        more = growth(params, t)
        while level < levels.size:
            bound = levels[level] + more
            if z <= bound:
                break
            level += 1
        if level == levels.size:
            return STOPPED, action, leader, level, bound
    if t >= max_samples and not stops_itself:
        return CUT_OFF, action, leader, level, bound
    if check and params[SHARE] > 0.0 and out_since(state, t):
        leader, last = leading_arm(state), -1
    action = select(t, last, leader, state, params, memory, random)
    if params[ELIMINATES] != 0.0:
        action = in_the_race(state, action)
    if action >= K:
        if stops_itself and action < 2 * K:
            return STOPPED, action, arm_of(action, K), levels.size, bound
        return BAD_ACTION, action, leader, level, bound
    if t >= max_samples:
        return CUT_OFF, action, leader, level, bound
    if action < -K:
        return BAD_ACTION, action, leader, level, bound
    return GOING, action, leader, level, bound


@kernel("void(const(f8[:, ::1]), f8, i8, i8, i8, i8[::1], i8[::1], f8[:, ::1])")
def note_end(
    state: Array, t: float, arm: int, start: int, stop: int, samples: Indices, arms: Indices, ended: Array
) -> None:
    """Write down that risk levels start to stop-1 end now and recommend `arm` (-2 - leader: cut off)."""
    for k in range(start, stop):
        samples[k] = int(t)
        arms[k] = arm
        for a in range(state.shape[1]):
            ended[k, a] = state[PULLS, a]


@kernel(
    f"Tuple((i8, i8, i8, f8))(FunctionType({SELECT}), b1, f8, i8, b1, i8, f8, const(f8[::1]), f8, i8, "
    "const(f8[:, ::1]), const(f8[::1]), const(f8[::1]), f8[:, ::1], f8[:, ::1], u8[:, ::1], i8[::1], "
    "i8[::1], f8[:, ::1])"
)
def step(
    select: Select,
    stops_itself: bool,
    t: float,
    last: int,
    check: bool,
    level: int,
    bound: float,
    levels: Array,
    max_samples: float,
    family: int,
    nature: Array,
    pool: Array,
    params: Array,
    state: Array,
    memory: Array,
    streams: Words,
    samples: Indices,
    arms: Indices,
    ended: Array,
) -> tuple[int, int, int, float]:
    """`decide`, note which levels end, and pull the arm that was chosen if the run continues.

    samples, arms, ended  (levels,), (levels,), (levels, K): when each level ended, with which recommendation
                          and pulls
    Returns               a status, the action, level, bound
    """
    K, before = state.shape[1], level
    status, action, arm, level, bound = decide(
        select,
        stops_itself,
        t,
        last,
        check,
        level,
        bound,
        levels,
        max_samples,
        params,
        state,
        memory,
        streams[K],
    )
    if level > before:
        note_end(state, t, arm, before, level, samples, arms, ended)
    if status == GOING:
        a = arm_of(action, K)
        take(params, state, a, 1.0, pull(family, nature, pool, a, streams[a]))
    elif status == CUT_OFF:
        note_end(state, t, -2 - arm, level, levels.size, samples, arms, ended)
    return status, action, level, bound
