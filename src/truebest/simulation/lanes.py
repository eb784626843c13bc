"""What a GPU executes: every lane takes the next run, and then does one step of it at a time.

The loop is *flat*: in each round a lane begins a run or does one step, and then all lanes of a warp meet.
With a loop over steps inside one over runs, a warp would wait for the longest of its 32 runs before any of
its lanes could begin another. For the same reason a lane whose rule is about to search, which takes as long
as many steps, waits until a quarter of the warp is about to. A run's state is in arrays of the lane's own,
whose shapes are fixed when the kernel is made.

Only this file names `numba.cuda`, and only `cuda` imports it: Numba looks for that name among a function's
globals, and without a GPU nobody needs it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from ..kernels.layout import NO_ARM
from ..kernels.steps import BAD_ACTION, GOING, Now, Room, Source, Task

numba: Any = import_module("numba")
SIMULATED = bool(numba.config.ENABLE_CUDASIM)


def _load() -> Any:
    """numba.cuda; as late as its first compilation, version 0.30 names what NumPy 2.5 has removed."""
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return import_module("numba.cuda")


cuda: Any = _load()

NEXT, DONE, LONGEST, CANCEL, PLACES = 0, 1, 2, 3, 4  # places in the queue, which all lanes share
ALL = 0xFFFFFFFF  # the lanes of a warp
RARELY = 2**12 - 1  # steps of a run between two looks at CANCEL, a power of two less one
FAULT = -1  # as the number of samples: the strategy chose what is not an arm, and `arms` has it

float64, uint64 = numba.float64, numba.uint64


def _meet() -> None:
    """The lanes of a warp wait for each other; the simulator knows no warps."""
    if not SIMULATED:
        cuda.syncwarp()


def _goes_on(ahead: bool) -> bool:
    """Whether a lane goes on: it has no search ahead, or a quarter of its warp has. All of its lanes ask."""
    if SIMULATED:
        return True
    ready, running = cuda.ballot_sync(ALL, ahead), cuda.ballot_sync(ALL, True)
    return not ahead or 4 * cuda.popc(ready) >= cuda.popc(running)


meet: Any = cuda.jit(device=True)(_meet)
goes_on: Any = cuda.jit(device=True)(_goes_on)


def make_lanes(
    begin: Any, step: Any, leading_arm: Any, searches_exceed: Any, select: Any, searches: bool, rows: int,
    remembered: int, num_arms: int,
) -> Callable[..., None]:  # fmt: skip
    """The loop, around these device functions.

    searches          whether the rule is one that searches
    rows, remembered  of a run's state, and of the strategy's memory
    """
    K, memory_rows = num_arms, remembered
    in_state, in_memory, in_streams = (rows, K), (max(remembered, 1), K), (K + 1, 2)

    def lanes(  # type: ignore[no-untyped-def]
        stops_itself, first, seed, family, nature, pool, levels, max_samples, params, blank, truth, queue,
        samples, arms, ended,
    ):  # fmt: skip
        """Runs first, first+1, ...; row i of `samples`, `arms` and `ended` belongs to run first+i.

        ended  (runs, levels, K): the pulls of each run when each level ended
        The others are those of `steps.Task` and `steps.Source`.
        """
        state = cuda.local.array(in_state, float64)
        memory = cuda.local.array(in_memory, float64)[:memory_rows]
        streams = cuda.local.array(in_streams, uint64)
        task = Task(stops_itself, levels, max_samples, params)
        source = Source(seed, family, nature, pool, blank, truth)
        num_runs, last_level = samples.shape[0], levels.size - 1
        run, ahead, going_on, now = 0, False, True, Now(0.0, NO_ARM, False, 0, 0.0, BAD_ACTION, 0)
        while True:
            if searches:
                if now.status == GOING and now.check and not ahead:
                    leader = leading_arm(state)
                    ahead = searches_exceed(params, state, leader, now.bound, now.t, True)
                going_on = goes_on(ahead)
            if now.status != GOING:
                run = cuda.atomic.add(queue, NEXT, 1) if cuda.atomic.add(queue, CANCEL, 0) == 0 else num_runs
                if run >= num_runs:
                    return
                samples[run, last_level] = 0
                room = Room(state, memory, streams, samples[run], arms[run], ended[run])
                now = begin(first + run, task, source, room)
            elif going_on:
                ahead = False
                room = Room(state, memory, streams, samples[run], arms[run], ended[run])
                now = step(select, task, source, room, now)
                if now.status != GOING:
                    cuda.atomic.add(queue, DONE, 1)
                    if now.status == BAD_ACTION:
                        samples[run, last_level], arms[run, last_level] = FAULT, now.action
                elif (int(now.t) & RARELY) == 0:
                    cuda.atomic.max(queue, LONGEST, int(now.t))
                    if cuda.atomic.add(queue, CANCEL, 0) != 0:
                        return
            meet()

    return lanes


def _add_up(ended, runs, total):  # type: ignore[no-untyped-def]
    """The pulls of the first so many runs together; counts, which are exact in any order."""
    start, stride = cuda.grid(1), cuda.gridsize(1)
    for k in range(ended.shape[1]):
        for a in range(ended.shape[2]):
            pulls = 0.0
            for run in range(start, runs, stride):
                pulls += ended[run, k, a]
            cuda.atomic.add(total, (k, a), pulls)


add_up: Any = cuda.jit(_add_up)
