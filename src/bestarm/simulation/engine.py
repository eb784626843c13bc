"""The loop: complete runs of one strategy, each a function of (seed, run) alone.

A run pulls every arm once and then, before every decision, asks the stopping rule. Several risk levels
are served by one run: the first time that the statistic exceeds each threshold is noted, and the run ends
with the last. Rewards are divided by sigma on the way in, so that strategies and rules see unit scale.
"""

from __future__ import annotations

import math

import numpy as np

from ..kernels._jit import kernel
from ..kernels._types import Array, Indices
from ..kernels.moments import observe
from ..kernels.random import Words, open_stream, reward
from ..kernels.thresholds import MIXTURE, may_stop, rule_statistic, threshold
from ..kernels.tracking import first_largest
from ..strategies._base import CODE, MEANS, PULLS, SCALE, SELECT, Select

DONE, CANCELLED, BAD_ACTION = 0, 1, 2
SUMS, LOST, PENALTY, WORK_ROWS = 0, 1, 2, 3  # rows of work
CANCEL, RUNS, SAMPLES, SIGNALS = 0, 1, 2, 3  # places in signals
RECORD_HEAD = 4  # time, action, statistic, threshold; behind them the rows of state and memory


@kernel("void(u8, i8, u8[:, ::1])")
def open_streams(seed: np.uint64, run: int, streams: Words) -> None:
    """One stream per arm, and one more for the strategy's own draws."""
    for a in range(streams.shape[0]):
        open_stream(seed, np.uint64(run), np.uint64(a), streams[a])


@kernel("void(i8, f8, i8, f8, f8[:, ::1], f8[:, ::1])")
def take(arm: int, value: float, code: int, scale: float, state: Array, work: Array) -> None:
    """Take in one reward, in units of sigma."""
    observe(arm, value, state[PULLS], work[SUMS], work[LOST], state[MEANS])
    if code == MIXTURE:
        work[PENALTY, arm] = 0.5 * math.log1p(state[PULLS, arm] / scale)


@kernel("void(f8[:, ::1], f8, f8, f8, f8, const(f8[:, ::1]), const(f8[:, ::1]))")
def write_record(
    record: Array, t: float, action: float, z: float, beta: float, state: Array, memory: Array
) -> None:
    """One line of a trace, if there is room for it."""
    K = state.shape[1]
    row = int(t) - K
    if row >= record.shape[0]:
        return
    line = record[row]
    line[0], line[1], line[2], line[3] = t, action, z, beta
    for m in range(state.shape[0]):
        for a in range(K):
            line[RECORD_HEAD + m * K + a] = state[m, a]
    head = RECORD_HEAD + state.size
    for m in range(memory.shape[0]):
        for a in range(K):
            line[head + m * K + a] = memory[m, a]


@kernel("void(const(f8[::1]), f8, i8, i8, i8, i8, i8[:, ::1], i8[:, ::1], f8[:, ::1])")
def note_stop(
    pulls: Array,
    t: float,
    arm: int,
    run: int,
    start: int,
    stop: int,
    samples: Indices,
    arms: Indices,
    total_pulls: Array,
) -> None:
    """Write down that risk levels start to stop-1 end now and recommend `arm` (-1: censored).

    The second half of `total_pulls` holds the pulls of this run until it is complete.
    """
    for k in range(start, stop):
        samples[run, k] = int(t)
        arms[run, k] = arm
        for a in range(pulls.size):
            total_pulls[samples.shape[1] + k, a] = pulls[a]


@kernel(
    f"Tuple((i8, i8, i8))(FunctionType({SELECT}), b1, i8, i8, u8, i8, const(f8[::1]), const(f8[::1]), f8, "
    "const(f8[::1]), const(f8[::1]), f8, f8[:, ::1], f8[:, ::1], f8[:, ::1], u8[:, ::1], i8[:, ::1], "
    "i8[:, ::1], f8[:, ::1], i8[::1], f8[:, ::1])"
)
def simulate_runs(
    select: Select,
    stops_itself: bool,
    first: int,
    num_runs: int,
    seed: np.uint64,
    family: int,
    mu: Array,
    noise: Array,
    sigma: float,
    levels: Array,
    params: Array,
    max_samples: float,
    state: Array,
    memory: Array,
    work: Array,
    streams: Words,
    samples: Indices,
    arms: Indices,
    total_pulls: Array,
    signals: Indices,
    record: Array,
) -> tuple[int, int, int]:
    """Runs first, first+1, ...; row i of `samples` and `arms` belongs to run first+i.

    levels   of the stopping rule, one per risk level, ascending; the strategy sees the first in `params`
    state, memory, work, streams   room for one run
    total_pulls   (2 levels, K): per level the pulls of all complete runs; then room for one run
    signals  CANCEL, which another thread may raise; RUNS done; SAMPLES of this run so far, now and then
    record   room for a trace of the run, or nothing
    Returns  a status, the number of runs done, and with BAD_ACTION the action that was none
    """
    K, num_levels = mu.size, levels.size
    code, scale = int(params[CODE]), params[SCALE]
    pulls, means, penalty, random = state[PULLS], state[MEANS], work[PENALTY], streams[K]
    recording = record.shape[0] > 0
    rarely = 1  # about every 65536 arm updates, a power of two less one
    while rarely * K < 65536:
        rarely *= 2
    rarely -= 1
    for run in range(num_runs):
        state[:] = 0.0
        memory[:] = 0.0
        work[:] = 0.0
        signals[SAMPLES] = 0
        open_streams(seed, first + run, streams)
        for a in range(K):
            take(a, reward(family, mu[a], noise[a], streams[a]) / sigma, code, scale, state, work)
        t, last, check = float(K), -1, not stops_itself
        level, bound = 0, levels[0]  # thresholds do not fall: the last one computed bounds the next
        while True:
            z, beta = 0.0, math.inf
            if recording:
                z, _ = rule_statistic(code, scale, pulls, means)
                beta = threshold(code, levels[level], scale, t)
            leader = first_largest(means)
            if check and may_stop(code, bound, scale, leader, pulls, means, penalty):
                z, _ = rule_statistic(code, scale, pulls, means)
                passed = level
                while passed < num_levels:
                    bound = threshold(code, levels[passed], scale, t)
                    if z <= bound:
                        break
                    passed += 1
                note_stop(pulls, t, leader, run, level, passed, samples, arms, total_pulls)
                level = passed
            if level < num_levels and t >= max_samples and not stops_itself:
                note_stop(pulls, t, -1, run, level, num_levels, samples, arms, total_pulls)
                level = num_levels
            if level == num_levels:
                if recording:
                    write_record(record, t, -1.0, z, beta, state, memory)
                break
            action = select(t, last, leader, state, params, memory, random)
            if recording:
                write_record(record, t, float(action), z, beta, state, memory)
            if action >= K and action < 2 * K and stops_itself:
                note_stop(pulls, t, action - K, run, level, num_levels, samples, arms, total_pulls)
                break
            if t >= max_samples:
                note_stop(pulls, t, -1, run, level, num_levels, samples, arms, total_pulls)
                break
            last = action if action >= 0 else ~action
            if last < 0 or last >= K:
                return BAD_ACTION, run, action
            check = action >= 0 and not stops_itself
            value = reward(family, mu[last], noise[last], streams[last])
            take(last, value / sigma, code, scale, state, work)
            t += 1.0
            if (int(t) & rarely) == 0:
                signals[SAMPLES] = int(t)
                if signals[CANCEL] != 0:
                    return CANCELLED, run, 0
        for k in range(num_levels):
            for a in range(K):
                total_pulls[k, a] += total_pulls[num_levels + k, a]
        signals[RUNS] += 1
        if signals[CANCEL] != 0:
            return CANCELLED, run + 1, 0
    return DONE, num_runs, 0
