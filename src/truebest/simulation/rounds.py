"""The compiled loop over runs of the paired design: rounds on the items of a table of scores.

A run takes the items of a set in an order of its own, or draws one anew for every round, and is a function of
(seed, run) alone. What follows from a round is `kernels.paired`, as in a live experiment.
"""

from __future__ import annotations

import numpy as np

from ..kernels._jit import kernel
from ..kernels._types import Array, Indices
from ..kernels.paired import GO_ON, ROUNDS, play_round
from ..kernels.random import Words, open_stream, uniform
from .engine import CANCEL, CANCELLED, DONE, RUNS, SAMPLES

RARELY = 1023  # rounds between looks at the signals, a power of two less one


@kernel("i8(b1, i8, i8, i8[::1], u8[::1])")
def next_item(again: bool, n: int, items: int, order: Indices, stream: Words) -> int:
    """The item of round n, from 0: any one again, or one that was not drawn before, by swaps in `order`."""
    if again:
        return int(uniform(stream) * items)
    j = n + int(uniform(stream) * (items - n))
    order[n], order[j] = order[j], order[n]
    return int(order[n])


@kernel(
    "Tuple((i8, i8))(i8, u8, const(f8[:, ::1]), const(f8[:, ::1]), i8, b1, i8, const(f8[::1]), f8[:, ::1], "
    "f8[:, ::1], i8[::1], u8[::1], i8[::1], i8[::1], f8[::1], i8[::1])"
)
def paired_runs(
    first: int,
    seed: np.uint64,
    low: Array,
    high: Array,
    items: int,
    again: bool,
    max_rounds: int,
    params: Array,
    pairs: Array,
    arms: Array,
    order: Indices,
    stream: Words,
    calls: Indices,
    found: Indices,
    total_pulls: Array,
    signals: Indices,
) -> tuple[int, int]:
    """Runs first, first+1, ...; place i of `calls` and `found` belongs to run first+i.

    low, high  (sets * items, K): values in [0, 1], those that are missing between both; run i uses set i,
               and the first again after the last
    again      whether items are drawn with replacement
    max_rounds where a run is cut off, at most `items` unless they are drawn with replacement
    pairs, arms, order, stream  room for one run
    found      the arm that was declared, or GO_ON, UNDECIDED
    total_pulls  (K,): the calls of each arm in all complete runs
    signals    as in `engine.simulate_runs`
    Returns    a status, and the number of runs done
    """
    K, sets = arms.shape[1], low.shape[0] // items
    for run in range(calls.size):
        signals[SAMPLES] = 0
        open_stream(seed, np.uint64(first + run), np.uint64(0), stream)
        start = ((first + run) % sets) * items
        pairs[:] = 0.0
        arms[:] = 0.0
        for m in range(order.size):
            order[m] = m
        n, answer = 0, GO_ON
        while answer == GO_ON and n < max_rounds:
            item = start + next_item(again, n, items, order, stream)
            answer = play_round(params, low[item], high[item], pairs, arms)
            n += 1
            if (n & RARELY) == 0:
                signals[SAMPLES] = n * K
                if signals[CANCEL] != 0:
                    return CANCELLED, run
        calls[run], found[run] = 0, answer
        for a in range(K):
            calls[run] += int(arms[ROUNDS, a])
            total_pulls[a] += arms[ROUNDS, a]
        signals[RUNS] += 1
        if signals[CANCEL] != 0:
            return CANCELLED, run + 1
    return DONE, calls.size


@kernel("void(u8, u8, u8[::1], f8[:, ::1])")
def fill_uniform(seed: np.uint64, which: np.uint64, stream: Words, out: Array) -> None:
    """Uniform numbers in [0, 1), of a stream that no run uses; with them the items of a set are made."""
    open_stream(seed, which, np.uint64(1), stream)
    for m in range(out.shape[0]):
        for a in range(out.shape[1]):
            out[m, a] = uniform(stream)
