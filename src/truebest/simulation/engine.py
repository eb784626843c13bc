"""The loops around one run's steps: many runs with their totals, and one run with a record.

What rewards are (family, nature, pool) is said in `kernels.random.pull`.
"""

from __future__ import annotations

import numpy as np

from ..kernels._jit import kernel
from ..kernels._types import Array, Indices
from ..kernels.layout import MEANS, PULLS, SELECT, Select, arm_of
from ..kernels.random import Words
from ..kernels.rules import statistic, threshold
from ..kernels.steps import BAD_ACTION, GOING, begin, step

DONE, CANCELLED, BAD = 0, 1, 2
CANCEL, RUNS, SAMPLES, SIGNALS = 0, 1, 2, 3  # places in signals
TIME, ARM, STATISTIC, THRESHOLD, HEAD = 0, 1, 2, 3, 4  # a line of a record; then pulls, means, memory

_RUN = (
    f"FunctionType({SELECT}), b1, i8, u8, i8, const(f8[:, ::1]), const(f8[::1]), const(f8[::1]), f8, "
    "const(f8[::1]), const(f8[:, ::1]), f8[:, ::1], f8[:, ::1], u8[:, ::1], i8[:, ::1], i8[:, ::1], "
    "f8[:, ::1]"
)


@kernel(f"Tuple((i8, i8, i8))({_RUN}, f8[:, ::1], i8[::1])")
def simulate_runs(
    select: Select,
    stops_itself: bool,
    first: int,
    seed: np.uint64,
    family: int,
    nature: Array,
    pool: Array,
    levels: Array,
    max_samples: float,
    params: Array,
    blank: Array,
    state: Array,
    memory: Array,
    streams: Words,
    samples: Indices,
    arms: Indices,
    ended: Array,
    total_pulls: Array,
    signals: Indices,
) -> tuple[int, int, int]:
    """Runs first, first+1, ...; row i of `samples` and `arms` belongs to run first+i.

    levels   of the stopping rule, one per risk level, ascending; the strategy sees the first in `params`
    blank    a state without pulls
    state, memory, streams, ended  room for one run; the last one (levels, K) for its pulls at each end
    total_pulls  (levels, K): the pulls of all complete runs
    signals  CANCEL, which another thread may raise; RUNS done; SAMPLES of this run so far, now and then
    Returns  a status, the number of runs done, and with BAD the action that was none
    """
    K, num_runs = state.shape[1], samples.shape[0]
    rarely = 1  # about every 65536 arm updates, a power of two less one
    while rarely * K < 65536:
        rarely *= 2
    rarely -= 1
    for run in range(num_runs):
        signals[SAMPLES] = 0
        begin(seed, first + run, family, nature, pool, params, blank, state, memory, streams)
        t, last, check = float(K), -1, not stops_itself
        level, bound, status, action = 0, levels[0], GOING, 0
        while status == GOING:
            status, action, level, bound = step(
                select, stops_itself, t, last, check, level, bound, levels, max_samples, family, nature, pool,
                params, state, memory, streams, samples[run], arms[run], ended,
            )  # fmt: skip
            last, check = arm_of(action, K), action >= 0 and not stops_itself
            t += 1.0
            if (int(t) & rarely) == 0:
                signals[SAMPLES] = int(t)
                if signals[CANCEL] != 0 and status == GOING:
                    return CANCELLED, run, 0
        if status == BAD_ACTION:
            return BAD, run, action
        for k in range(levels.size):
            for a in range(K):
                total_pulls[k, a] += ended[k, a]
        signals[RUNS] += 1
        if signals[CANCEL] != 0:
            return CANCELLED, run + 1, 0
    return DONE, num_runs, 0


@kernel(f"void({_RUN}, f8[:, ::1])")
def record_run(
    select: Select,
    stops_itself: bool,
    run: int,
    seed: np.uint64,
    family: int,
    nature: Array,
    pool: Array,
    levels: Array,
    max_samples: float,
    params: Array,
    blank: Array,
    state: Array,
    memory: Array,
    streams: Words,
    samples: Indices,
    arms: Indices,
    ended: Array,
    record: Array,
) -> None:
    """A line for each step of a run: how it stood, what was chosen, and the memory after the choice."""
    K = state.shape[1]
    begin(seed, run, family, nature, pool, params, blank, state, memory, streams)
    t, last, check, level, bound = float(K), -1, not stops_itself, 0, levels[0]
    for i in range(record.shape[0]):
        line = record[i]
        line[TIME], line[THRESHOLD] = t, threshold(params, t)
        line[STATISTIC], _ = statistic(params, state)
        for a in range(K):
            line[HEAD + a], line[HEAD + K + a] = state[PULLS, a], state[MEANS, a]
        _, action, level, bound = step(
            select, stops_itself, t, last, check, level, bound, levels, max_samples, family, nature, pool,
            params, state, memory, streams, samples[0], arms[0], ended,
        )  # fmt: skip
        for m in range(memory.shape[0]):
            for a in range(K):
                line[HEAD + (2 + m) * K + a] = memory[m, a]
        last, check = arm_of(action, K), action >= 0 and not stops_itself
        line[ARM] = last
        t += 1.0
