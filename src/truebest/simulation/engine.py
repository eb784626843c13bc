"""The loops around one run's steps: many runs with their totals, and one run with a record."""

from __future__ import annotations

import math

from ..kernels._jit import kernel
from ..kernels._types import Array, Indices
from ..kernels.best import statistic
from ..kernels.layout import MEANS, PULLS, SELECT, Select
from ..kernels.rules import threshold
from ..kernels.steps import BAD_ACTION, GOING, Room, Source, Task, begin, step

DONE, CANCELLED, BAD = 0, 1, 2
CANCEL, RUNS, SAMPLES, SIGNALS = 0, 1, 2, 3  # places in signals
TIME, ARM, STATISTIC, THRESHOLD, HEAD = 0, 1, 2, 3, 4  # a line of a record; then pulls, means, memory


@kernel(
    f"Tuple((i8, i8, i8))(FunctionType({SELECT}), i8, Task, Source, Room, "
    "i8[:, ::1], i8[:, ::1], f8[:, ::1], i8[::1])"
)
def simulate_runs(
    select: Select,
    first: int,
    task: Task,
    source: Source,
    room: Room,
    samples: Indices,
    arms: Indices,
    total_pulls: Array,
    signals: Indices,
) -> tuple[int, int, int]:
    """Runs first, first+1, ...; row i of `samples` and `arms` belongs to run first+i.

    total_pulls  (levels, K): the pulls of all complete runs
    signals  CANCEL, which another thread may raise; RUNS done; SAMPLES of this run so far, now and then
    Returns  a status, the number of runs done, and with BAD the action that was none
    """
    K, num_runs = room.state.shape[1], samples.shape[0]
    rarely = 1  # about every 65536 arm updates, a power of two less one
    while rarely * K < 65536:
        rarely *= 2
    rarely -= 1
    for run in range(num_runs):
        signals[SAMPLES] = 0
        now = begin(first + run, task, source, room)
        while now.status == GOING:
            now = step(select, task, source, room, now)
            if (int(now.t) & rarely) == 0:
                signals[SAMPLES] = int(now.t)
                if signals[CANCEL] != 0 and now.status == GOING:
                    return CANCELLED, run, 0
        if now.status == BAD_ACTION:
            return BAD, run, now.action
        for k in range(task.levels.size):
            samples[run, k], arms[run, k] = room.samples[k], room.arms[k]
            for a in range(K):
                total_pulls[k, a] += room.ended[k, a]
        signals[RUNS] += 1
        if signals[CANCEL] != 0:
            return CANCELLED, run + 1, 0
    return DONE, num_runs, 0


@kernel(f"void(FunctionType({SELECT}), i8, Task, Source, Room, f8[:, ::1], b1)")
def record_run(
    select: Select, run: int, task: Task, source: Source, room: Room, record: Array, judged: bool
) -> None:
    """A line for each step of a run: how it stood, what was chosen, and the memory after the choice.

    judged  whether the statistic is wanted, which may take far longer than the step; else it is NaN
    """
    state, memory, K = room.state, room.memory, room.state.shape[1]
    now = begin(run, task, source, room)
    for i in range(record.shape[0]):
        line = record[i]
        line[TIME], line[THRESHOLD] = now.t, threshold(task.params, now.t)
        line[STATISTIC] = statistic(task.params, state)[0] if judged else math.nan
        for a in range(K):
            line[HEAD + a], line[HEAD + K + a] = state[PULLS, a], state[MEANS, a]
        now = step(select, task, source, room, now)
        for m in range(memory.shape[0]):
            for a in range(K):
                line[HEAD + (2 + m) * K + a] = memory[m, a]
        line[ARM] = now.last
