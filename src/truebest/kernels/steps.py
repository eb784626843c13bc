"""One run, step by step: *begin* opens its streams and pulls every arm once, *step* decides, chooses, pulls.

A run is a function of (seed, run) alone. Before every choice the stopping rule is asked. Several risk levels
are served by one run: the first time that the statistic exceeds each threshold counts, and the run ends with
the last. What loops over runs, records one, or lets one run on without noise is a few lines around these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import kernel, named
from ._types import Array, Indices
from .best import asks_all, may_stop, statistic
from .claims import allowed, answers_rightly
from .decision import take
from .layout import NO_ARM, PULLS, QUESTION, SELECT, SHARE, UNFINISHED, Select, arm_of
from .random import Words, open_stream, pull
from .rules.likelihood import growth
from .tracking import leading_arm, out_since

GOING, STOPPED, CUT_OFF, BAD_ACTION = 0, 1, 2, 3
RIGHT, WRONG = 0, 1  # what is written down in the place of an arm, where a question is asked


@named("b1, const(f8[::1]), f8, const(f8[::1])")
class Task(NamedTuple):
    """What decides in every run.

    stops_itself  whether the strategy stops, and not the rule
    levels        of the rule's threshold, one per risk level, ascending; the first is in params, too
    max_samples   where a run is cut off
    params        see `layout`
    """

    stops_itself: bool
    levels: Array
    max_samples: float
    params: Array


@named("u8, i8, const(f8[:, ::1]), const(f8[::1]), const(f8[:, ::1]), const(f8[::1])")
class Source(NamedTuple):
    """What runs begin with and draw from.

    seed                  of all random numbers, with the number of a run
    family, nature, pool  what rewards are, see `random.pull`
    blank                 a state without pulls
    truth                 (K,) the means, in units, by which the answer to a question is right
    """

    seed: np.uint64
    family: int
    nature: Array
    pool: Array
    blank: Array
    truth: Array


@named("f8[:, ::1], f8[:, ::1], u8[:, ::1], i8[::1], i8[::1], f8[:, ::1]")
class Room(NamedTuple):
    """What one run writes to.

    state, memory         see `layout`
    streams               of random numbers, one per arm; the last is the strategy's own
    samples, arms, ended  (levels,), (levels,), (levels, K): when each level ended, with which recommendation
                          (UNFINISHED - leader: cut off) and pulls
    """

    state: Array
    memory: Array
    streams: Words
    samples: Indices
    arms: Indices
    ended: Array


@named("f8, i8, b1, i8, f8, i8, i8")
class Now(NamedTuple):
    """Where a run stands between two steps.

    t, last  samples so far, and the arm pulled last; NO_ARM at the beginning of a run
    check    whether the rule is asked
    level    the first risk level that has not ended
    bound    a lower bound of that level's threshold: the last one computed, since thresholds do not fall
    status   GOING, or why no more is pulled
    action   the last one chosen
    """

    t: float
    last: int
    check: bool
    level: int
    bound: float
    status: int
    action: int


@named("i8, i8, i8, i8, f8")
class Choice(NamedTuple):
    """What was decided: status, level, bound and action of the next `Now`.

    arm  what those levels recommend which end now; the leader where a question is asked
    """

    status: int
    action: int
    arm: int
    level: int
    bound: float


@kernel("Now(i8, Task, Source, Room)")
def begin(run: int, task: Task, source: Source, room: Room) -> Now:
    """Pull every arm once."""
    state, memory, streams, blank = room.state, room.memory, room.streams, source.blank
    K = state.shape[1]
    for a in range(K):
        for m in range(state.shape[0]):
            state[m, a] = blank[m, a]
        for m in range(memory.shape[0]):
            memory[m, a] = 0.0
    for a in range(streams.shape[0]):
        open_stream(source.seed, np.uint64(run), np.uint64(a), streams[a])
    for a in range(K):
        value = pull(source.family, source.nature, source.pool, a, streams[a])
        take(task.params, state, a, 1.0, value)
    return Now(float(K), NO_ARM, not task.stops_itself, 0, task.levels[0], GOING, 0)


@kernel(f"Choice(FunctionType({SELECT}), Task, f8[:, ::1], f8[:, ::1], u8[::1], Now)")
def decide(select: Select, task: Task, state: Array, memory: Array, random: Words, now: Now) -> Choice:
    """Ask the rule, then the strategy, whose stream is `random`."""
    params, levels, t, last, level, bound = task.params, task.levels, now.t, now.last, now.level, now.bound
    K, action = state.shape[1], NO_ARM
    leader = leading_arm(state)
    if now.check and may_stop(params, state, leader, bound, t, last):
        if level == levels.size - 1 and asks_all(params):
            return Choice(STOPPED, action, leader, levels.size, bound)
        z, leader = statistic(params, state)
        more = growth(params, t)
        while level < levels.size:
            bound = levels[level] + more
            if z <= bound:
                break
            level += 1
        if level == levels.size:
            return Choice(STOPPED, action, leader, level, bound)
    if t >= task.max_samples and not task.stops_itself:
        return Choice(CUT_OFF, action, leader, level, bound)
    if now.check and params[SHARE] > 0.0 and out_since(state, t):
        leader, last = leading_arm(state), NO_ARM
    action = allowed(params, state, select(t, last, leader, state, params, memory, random))
    if action >= K:
        if task.stops_itself and action < 2 * K:
            return Choice(STOPPED, action, arm_of(action, K), levels.size, bound)
        return Choice(BAD_ACTION, action, leader, level, bound)
    if t >= task.max_samples:
        return Choice(CUT_OFF, action, leader, level, bound)
    if action < -K:
        return Choice(BAD_ACTION, action, leader, level, bound)
    return Choice(GOING, action, leader, level, bound)


@kernel("void(Room, f8, i8, i8, i8)")
def note_end(room: Room, t: float, arm: int, start: int, stop: int) -> None:
    """Write down that risk levels start to stop-1 end now and recommend `arm`."""
    for k in range(start, stop):
        room.samples[k] = int(t)
        room.arms[k] = arm
        for a in range(room.state.shape[1]):
            room.ended[k, a] = room.state[PULLS, a]


@kernel(f"Now(FunctionType({SELECT}), Task, Source, Room, Now)")
def step(select: Select, task: Task, source: Source, room: Room, now: Now) -> Now:
    """`decide`, note which levels end, and pull the arm that was chosen if the run continues."""
    state, streams, K, t = room.state, room.streams, room.state.shape[1], now.t
    status, action, arm, level, bound = decide(select, task, state, room.memory, streams[K], now)
    params = task.params
    if params[QUESTION] != 0.0 and (level > now.level or status == CUT_OFF):
        arm = RIGHT if answers_rightly(params, state, source.truth) else WRONG
    if level > now.level:
        note_end(room, t, arm, now.level, level)
    a = arm_of(action, K)
    if status == GOING:
        value = pull(source.family, source.nature, source.pool, a, streams[a])
        take(task.params, state, a, 1.0, value)
    elif status == CUT_OFF:
        note_end(room, t, UNFINISHED - arm, level, task.levels.size)
    return Now(t + 1.0, a, action >= 0 and not task.stops_itself, level, bound, status, action)
