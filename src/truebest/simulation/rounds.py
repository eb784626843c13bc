"""Runs of a design in rounds, on the items of a table of scores, and the compiled loop over them.

A run takes the items of a set in an order of its own, or draws one anew for every round, and is a function of
(seed, run) alone. What follows from a round is `kernels.paired` or `wins`, as in a live experiment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..designs import Rounds
from ..kernels._jit import kernel
from ..kernels._types import Array, Indices
from ..kernels.paired import GO_ON, NO_WINNER, QUESTION, RATIO, ROUNDS, UNDECIDED, WINS, leading, play_round
from ..kernels.questions import ASKED, is_answered, is_right
from ..kernels.random import Words, open_stream, uniform
from ..kernels.round_claims import HEADS, LABELS, judge, next_row, take_cell, takes
from ..kernels.steps import RIGHT, WRONG
from ..kernels.wins import play
from .engine import CANCEL, CANCELLED, DONE, RUNS, SAMPLES
from .job import Part
from .special import compiled

LONG = 50_000  # rounds after which a run is cut off, unless the items are used up before
RARELY = 1023  # rounds between looks at the signals, a power of two less one


@kernel("i8(b1, i8, i8, i8[::1], u8[::1])")
def next_item(again: bool, n: int, items: int, order: Indices, stream: Words) -> int:
    """The item of round n, from 0: any one again, or one that was not drawn before, by swaps in `order`."""
    if again:
        return int(uniform(stream) * items)
    j = n + int(uniform(stream) * (items - n))
    order[n], order[j] = order[j], order[n]
    return int(order[n])


@kernel("i8(i8, const(f8[:, ::1]), const(f8[:, ::1]))")
def coded(answer: int, pairs: Array, arms: Array) -> int:
    """An answer as in `Part`: an arm; without one, -2 less the arm that leads; -1 if there is no winner."""
    if answer in (GO_ON, UNDECIDED):
        return -2 - int(leading(pairs, arms))
    return -1 if answer == NO_WINNER else answer


@kernel(
    "Tuple((i8, i8))(i8, u8, const(f8[:, ::1]), const(f8[:, ::1]), i8, b1, i8, const(f8[::1]), f8[:, ::1], "
    "f8[:, ::1], f8[:, ::1], f8[:, ::1], i8[::1], u8[::1], i8[::1], i8[::1], f8[::1], i8[::1])"
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
    near: Array,
    arms: Array,
    told: Array,
    order: Indices,
    stream: Words,
    calls: Indices,
    found: Indices,
    total_pulls: Array,
    signals: Indices,
) -> tuple[int, int]:
    """Runs first, first+1, ...; place i of `calls` and `found` belongs to run first+i.

    low, high  (sets * items, K): values, of which larger is better, those that are missing between
               both; run i uses set i, and the first again after the last
    again      whether items are drawn with replacement
    max_rounds where a run is cut off, at most `items` unless they are drawn with replacement
    pairs, near, arms, told, order, stream  room for one run
    found      as in `Part`: the arm that was declared, or which led without one
    total_pulls  (K,): the calls of each arm in all complete runs
    signals    as in `engine.simulate_runs`
    Returns    a status, and the number of runs done
    """
    K, sets = arms.shape[1], low.shape[0] // items
    for run in range(calls.size):
        signals[SAMPLES] = 0
        open_stream(seed, np.uint64(first + run), np.uint64(0), stream)
        start = ((first + run) % sets) * items
        pairs[:], near[:], arms[:], told[:] = 0.0, 0.0, 0.0, 0.0
        for m in range(order.size):
            order[m] = m
        n, answer = 0, GO_ON
        while answer == GO_ON and n < max_rounds:
            item = start + next_item(again, n, items, order, stream)
            if params[WINS] != 0.0:
                answer = play(params, low[item], high[item], pairs, near, arms, told)
            else:
                answer = play_round(params, low[item], high[item], pairs, arms)
            n += 1
            if (n & RARELY) == 0:
                signals[SAMPLES] = n * K
                if signals[CANCEL] != 0:
                    return CANCELLED, run
        calls[run], found[run] = 0, coded(answer, pairs, arms)
        for a in range(K):
            calls[run] += int(arms[ROUNDS, a])
            total_pulls[a] += arms[ROUNDS, a]
        signals[RUNS] += 1
        if signals[CANCEL] != 0:
            return CANCELLED, run + 1
    return DONE, calls.size


@kernel(
    "Tuple((i8, i8))(i8, u8, const(f8[:, ::1]), const(f8[:, ::1]), i8, b1, i8, const(f8[::1]), "
    "const(f8[:, ::1]), f8[:, ::1], f8[:, ::1], f8[:, ::1], i8[::1], u8[::1], i8[::1], i8[::1], f8[::1], "
    "i8[::1])"
)
def claim_runs(
    first: int,
    seed: np.uint64,
    low: Array,
    high: Array,
    items: int,
    again: bool,
    max_rounds: int,
    params: Array,
    truth: Array,
    pairs: Array,
    arms: Array,
    told: Array,
    order: Indices,
    stream: Words,
    calls: Indices,
    found: Indices,
    total_pulls: Array,
    signals: Indices,
) -> tuple[int, int]:
    """As `paired_runs`, for a question that is answered by claims: arms may rest, and catch up.

    truth  (sets, K): the mean of each arm over the items of a set
    found  RIGHT or WRONG; without an answer, -2 less that of what would be answered
    """
    K, sets, ask = arms.shape[1], low.shape[0] // items, params[QUESTION : QUESTION + ASKED]
    for run in range(calls.size):
        signals[SAMPLES] = 0
        open_stream(seed, np.uint64(first + run), np.uint64(0), stream)
        which = (first + run) % sets
        pairs[:], arms[:], told[:] = 0.0, 0.0, 0.0
        for m in range(order.size):
            order[m] = m
        drawn, answered, row, steps = 0, False, 0, 0
        while not answered and 0 <= row < max_rounds:
            while drawn <= row:
                order[drawn] = next_item(again, drawn, items, order, stream)
                drawn += 1
            item = which * items + order[row]
            for a in range(K):
                if takes(arms, told, row, a):
                    take_cell(params, low[item], high[item], pairs, arms, told, a)
            judge(params, pairs, arms, told)
            answered = is_answered(ask, told[HEADS:], told[LABELS])
            row, steps = next_row(arms, told), steps + 1
            if (steps & RARELY) == 0:
                signals[SAMPLES] = steps * K
                if signals[CANCEL] != 0:
                    return CANCELLED, run
        right = RIGHT if is_right(ask, truth[which], told[LABELS]) else WRONG
        calls[run], found[run] = 0, right if answered else -2 - right
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


@dataclass(frozen=True)
class ItemScores:
    """What rounds are simulated on.

    low, high  (sets * items, K) values, of which larger is better; one that is missing lies between both
    items      in a set
    again      whether items are drawn with replacement: an unlimited source
    """

    low: Array
    high: Array
    items: int
    again: bool

    @property
    def closed(self) -> int | None:
        """How many items are in a closed set; None for an unlimited source."""
        return None if self.again else self.items


class RoundsJob:
    """Runs of a design in rounds, as a `Work`: run i is a function of the seed and of i.

    tolerance   for values in [0, 1], or with wins as a part of the best
    max_rounds  where a run is cut off: if not given, when the items are used up, or after `LONG` rounds
    """

    endless = None

    def __init__(
        self,
        design: Rounds,
        scores: ItemScores,
        delta: float,
        tolerance: float,
        seed: int,
        max_rounds: int | None = None,
    ) -> None:
        self.design, self.scores, self.seed, self.deltas = design, scores, seed, (delta,)
        self.name = self.rule_name = design.name
        self.max_rounds = min(max_rounds or scores.closed or LONG, scores.closed or 2**62)
        self.num_arms = scores.low.shape[1]
        self.best = design.best(scores.low, scores.high, tolerance)
        self.params = design.parameters(self.num_arms, delta, tolerance)
        self.asked = design.question.by_claims and design.averages
        if self.asked:
            self.best = frozenset({RIGHT})

    def room(self, signals: Indices) -> tuple[Any, ...]:
        """Room for one thread, and its signals."""
        pairs, arms = self.design.blank(self.num_arms)
        near = np.zeros_like(pairs) if self.params[RATIO] else np.zeros((len(pairs), 0))
        rows = self.max_rounds if self.asked else self.scores.closed or 0
        space = np.empty(rows, np.int64), np.empty(2, np.uint64)
        told = np.zeros((HEADS + self.num_arms, self.num_arms))
        return pairs, *(() if self.asked else (near,)), arms, told, *space, signals

    @property
    def loop(self) -> Callable[..., Any]:
        """The loop over runs."""
        return compiled(claim_runs if self.asked else paired_runs)

    def prepare(self) -> None:
        """Compile what runs need, so that no run has to wait for it."""
        self.loop  # noqa: B018 - it is compiled when it is first looked up

    def part(self, first: int, runs: int, room: tuple[Any, ...]) -> Part:
        """So many runs from `first` on; fewer if the signals cancel it."""
        s, (*space, signals) = self.scores, room
        nature: tuple[Any, ...] = np.uint64(self.seed), s.low, s.high, s.items, s.again, self.max_rounds
        nature += (self.params,)
        if self.asked:
            nature += (0.5 * (s.low + s.high).reshape(-1, s.items, self.num_arms).mean(axis=1),)
        calls, found = np.zeros((runs, 1), np.int64), np.full((runs, 1), -1, np.int64)
        pulls = np.zeros((1, self.num_arms))
        answers: tuple[Any, ...] = (calls.reshape(runs), found.reshape(runs), pulls[0], signals)
        with np.errstate(all="ignore"):  # uncompiled, arithmetic modulo 2**64 would warn
            _, done = self.loop(first, *nature, *space, *answers)
        return Part(first, calls[:done], found[:done], pulls)
