"""Runs of a design in rounds, on the items of a table of scores, and the compiled loop over them.

A run takes the items of a set in an order of its own, or draws one anew for every round, and is a function of
(seed, run) alone. What follows from a round is `kernels.paired` or `wins`, as in a live experiment.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..designs import Rounds
from ..designs.units import SINGLE, Units
from ..kernels import paired, round_claims
from ..kernels._jit import kernel, named
from ..kernels._types import Array, Indices
from ..kernels.layout import NO_ARM, UNFINISHED
from ..kernels.paired import (
    GO_ON,
    NO_WINNER,
    OUT_AFTER,
    PARAMS,
    RATIO,
    ROUND_PAIR_LEVEL,
    ROUND_QUESTION,
    ROUNDS,
    UNDECIDED,
    WINS,
    leading,
    play_round,
)
from ..kernels.questions import ASKED, is_answered, is_right
from ..kernels.random import Words, open_stream, uniform
from ..kernels.round_claims import HEADS, ROUND_LABELS, judge, next_row, take_cells
from ..kernels.steps import RIGHT, WRONG
from ..kernels.strata import is_known
from ..kernels.wins import foremost, play
from .engine import CANCEL, CANCELLED, DONE, RUNS, SAMPLES, SIGNALS
from .runs import room_for_steps
from .special import compiled, constant
from .work import Part, Steps

STATISTIC, THRESHOLD, HEAD = range(3)  # a line of a record; then of every arm what follows
TAKEN, TOTAL, LEFT, ANSWERED, PER_ARM = range(5)  # its rounds, their sum, 1 while in the race, its answers
SEEN, CALLS, COUNTS = range(3)  # per arm while a run goes on: its rounds, and its answers that were asked for

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


@kernel("i8(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), const(f8[:, ::1]))")
def leader_of(params: Array, pairs: Array, arms: Array, told: Array) -> int:
    """The arm that leads, by the design's own way."""
    if params[ROUND_QUESTION] != 0.0:
        return max(int(foremost(pairs, arms, told)), 0)
    return int(leading(pairs, arms))


@kernel("void(const(f8[::1]), const(f8[:, ::1]), f8, f8[:, ::1])")
def count(params: Array, arms: Array, answers: float, counts: Array) -> None:
    """Count the samples of the arms that have one round more, of so many answers; known scores take none."""
    for a in range(arms.shape[1]):
        if arms[ROUNDS, a] > counts[SEEN, a]:
            counts[SEEN, a] = arms[ROUNDS, a]
            if not is_known(params, PARAMS, a):
                counts[CALLS, a] += answers


@kernel(
    "void(f8[:, ::1], i8, f8, f8, const(f8[:, ::1]), const(f8[:, ::1]), const(f8[::1]), const(f8[::1]))",
    apart=True,
)
def note(
    record: Array, n: int, z: float, level: float, arms: Array, counts: Array, low: Array, high: Array
) -> None:
    """Line n of a record, from 0, after a round with these values."""
    K, line = arms.shape[1], record[n]
    line[STATISTIC], line[THRESHOLD] = z, level
    for a in range(K):
        had, total = 0.0, 0.0
        if n > 0:
            had, total = record[n - 1, HEAD + TAKEN * K + a], record[n - 1, HEAD + TOTAL * K + a]
        if arms[ROUNDS, a] > had:
            total += 0.5 * (low[a] + high[a])
        line[HEAD + TAKEN * K + a], line[HEAD + TOTAL * K + a] = arms[ROUNDS, a], total
        line[HEAD + LEFT * K + a] = 1.0 if arms[OUT_AFTER, a] <= 0.0 else 0.0
        line[HEAD + ANSWERED * K + a] = counts[CALLS, a]


@named(
    "u8, const(f8[:, ::1]), const(f8[:, ::1]), const(f8[:, ::1]), const(f8[::1]), i8, b1, i8, f8, "
    "const(f8[::1])"
)
class OnItems(NamedTuple):
    """What decides, and what it is decided on.

    seed       of the order of items, with the number of a run
    low, high  (sets * items, K): values, of which larger is better, those that are missing between both;
               run i uses set i, and the first again after the last. Where the scores of some arms are known
               there is one set, and the stratum of each item is behind its values
    truth      (sets, K): the mean of each arm over the items of a set, where a question is asked of means
    answers    (items,): how many samples an arm's value on an item is made of
    again      whether items are drawn with replacement
    max_rounds, most  where a run is cut off: after so many rounds, at most `items` unless they are drawn
               with replacement, or before a round that would begin after more samples than that
    params     see `paired`
    """

    seed: np.uint64
    low: Array
    high: Array
    truth: Array
    answers: Array
    items: int
    again: bool
    max_rounds: int
    most: float
    params: Array


@named("f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], i8[::1], u8[::1], f8[:, ::1], i8[::1]")
class Rows(NamedTuple):
    """What one run writes to.

    pairs, near, arms, told  see `paired`, `wins`, `round_claims`
    counts   see `count`
    order    of items
    stream   of random numbers
    record   a line for each round, see `note`; without lines nothing is recorded
    signals  as in `engine.simulate_runs`
    """

    pairs: Array
    near: Array
    arms: Array
    told: Array
    counts: Array
    order: Indices
    stream: Words
    record: Array
    signals: Indices


@kernel("b1(i8, Rows)")
def is_cancelled(n: int, rows: Rows) -> bool:
    """Whether a run is to end without an answer; after n rounds, and asked now and then."""
    if (n & RARELY) != 0:
        return False
    rows.signals[SAMPLES] = int(rows.counts[CALLS].sum())
    return bool(rows.signals[CANCEL] != 0)


@kernel("b1(OnItems, const(f8[:, ::1]))")
def affords(given: OnItems, counts: Array) -> bool:
    """Whether there may be one more value of every arm."""
    return bool(given.most == math.inf or counts[CALLS].sum() <= given.most)


@kernel("i8(i8, OnItems, Rows)", apart=True)
def play_run(start: int, given: OnItems, rows: Rows) -> int:
    """A run in the design's own way, on the items from `start` on; the code of what was found.

    That is the arm that was declared; UNFINISHED less the one that led, or NO_ARM if none wins.
    """
    pairs, near, arms, told, params = rows.pairs, rows.near, rows.arms, rows.told, given.params
    n, answer = 0, GO_ON
    while answer == GO_ON and n < given.max_rounds and affords(given, rows.counts):
        which = next_item(given.again, n, given.items, rows.order, rows.stream)
        low, high = given.low[start + which], given.high[start + which]
        if params[WINS] != 0.0:
            answer = play(params, low, high, pairs, near, arms, told)
        else:
            answer = play_round(params, low, high, pairs, arms)
        count(params, arms, given.answers[which], rows.counts)
        if n < rows.record.shape[0]:
            judged = near if params[RATIO] != 0.0 else pairs
            z, level = paired.progress(params, judged, arms, leader_of(params, pairs, arms, told))
            note(rows.record, n, z, level, arms, rows.counts, low, high)
        n += 1
        if is_cancelled(n, rows):
            break
    if answer in (GO_ON, UNDECIDED):
        return UNFINISHED - leader_of(params, pairs, arms, told)
    return NO_ARM if answer == NO_WINNER else answer


@kernel("i8(i8, OnItems, Rows)", apart=True)
def claim_run(start: int, given: OnItems, rows: Rows) -> int:
    """The same for a question that is answered by claims: arms may rest, and catch up.

    What was found is RIGHT or WRONG; without an answer, UNFINISHED less that of what would be answered.
    """
    pairs, arms, told, params = rows.pairs, rows.arms, rows.told, given.params
    ask, drawn, row, steps, answered = params[ROUND_QUESTION : ROUND_QUESTION + ASKED], 0, 0, 0, False
    while not answered and 0 <= row < given.max_rounds and affords(given, rows.counts):
        while drawn <= row:
            rows.order[drawn] = next_item(given.again, drawn, given.items, rows.order, rows.stream)
            drawn += 1
        which = rows.order[row]
        low, high = given.low[start + which], given.high[start + which]
        take_cells(params, low, high, pairs, arms, told, row)
        count(params, arms, given.answers[which], rows.counts)
        judge(params, pairs, arms, told)
        answered = is_answered(ask, told[HEADS:], told[ROUND_LABELS])
        if steps < rows.record.shape[0]:
            z = round_claims.progress(params, pairs, arms, told)
            note(rows.record, steps, z, params[ROUND_PAIR_LEVEL], arms, rows.counts, low, high)
        row, steps = next_row(arms, told), steps + 1
        if is_cancelled(steps, rows):
            break
    right = RIGHT if is_right(ask, given.truth[start // given.items], told[ROUND_LABELS]) else WRONG
    return right if answered else UNFINISHED - right


@kernel("Tuple((i8, i8))(i8, OnItems, Rows, i8[::1], i8[::1], f8[::1])")
def rounds_runs(
    first: int, given: OnItems, rows: Rows, calls: Indices, found: Indices, total_pulls: Array
) -> tuple[int, int]:
    """Runs first, first+1, ...; place i of `calls` and `found` belongs to run first+i.

    total_pulls  (K,): the calls of each arm in all complete runs
    Returns      a status, and the number of runs done
    """
    by_cells = given.params[ROUND_QUESTION] != 0.0 and given.params[WINS] == 0.0
    sets, signals = given.low.shape[0] // given.items, rows.signals
    for run in range(calls.size):
        signals[SAMPLES] = 0
        open_stream(given.seed, np.uint64(first + run), np.uint64(0), rows.stream)
        rows.pairs[:], rows.near[:], rows.arms[:], rows.told[:], rows.counts[:] = 0.0, 0.0, 0.0, 0.0, 0.0
        for m in range(rows.order.size):
            rows.order[m] = m
        start = ((first + run) % sets) * given.items
        found[run] = claim_run(start, given, rows) if by_cells else play_run(start, given, rows)
        if signals[CANCEL] != 0:  # the run may be whole, or not
            return CANCELLED, run
        calls[run] = int(rows.counts[CALLS].sum())
        total_pulls += rows.counts[CALLS]
        signals[RUNS] += 1
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
    items      in a set; or how many rows of several answers each
    again      whether items are drawn with replacement: an unlimited source
    units      what such a row is made of
    """

    low: Array
    high: Array
    items: int
    again: bool
    units: Units = SINGLE

    @property
    def closed(self) -> int | None:
        """How many items are in a closed set; None for an unlimited source."""
        return None if self.again else self.items

    @property
    def answers(self) -> Array:
        """How many answers of an arm each row has."""
        each = np.ones(self.items) if self.units.clusters is None else np.array(self.units.sizes, np.float64)
        return self.units.epochs * each


class RoundsJob:
    """Runs of a design in rounds, as a `Work`: run i is a function of the seed and of i.

    tolerance    for values in [0, 1], or with wins as a part of the best
    max_rounds   where a run is cut off: if not given, when the items are used up, or after `LONG` rounds
    max_samples  where it is cut off, too
    origin       the value that 0 stands for, and the way from it to that for 1
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
        max_samples: float = math.inf,
        origin: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        self.design, self.scores, self.seed, self.deltas = design, scores, seed, (delta,)
        self.name = self.rule_name = design.name
        self.by_cells = design.question.by_claims and design.averages
        fewest = 1 if self.by_cells else 2  # samples of a round: arms may rest
        longest = LONG if max_samples == math.inf else max(int(max_samples) // fewest, 1)
        self.max_rounds = min(max_rounds or scores.closed or longest, scores.closed or 2**62)
        self.max_samples, self.origin = max_samples, origin
        self.num_arms = scores.low.shape[1]
        self.rows = scores.low, scores.high
        if design.strata is not None:
            both = [np.column_stack([one, design.strata.of_item]) for one in self.rows]
            self.rows = np.ascontiguousarray(both[0]), np.ascontiguousarray(both[1])
        self.params = design.parameters(self.num_arms, delta, tolerance)
        self.names_arms = not design.question.by_claims
        self.truth, self.right = np.zeros((0, self.num_arms)), frozenset[int]()
        if not self.by_cells:
            self.right = design.right_answers(scores.low, scores.high, tolerance)
        if self.by_cells:
            sizes = (-1, scores.items, self.num_arms)
            self.truth = (0.5 * (scores.low + scores.high)).reshape(sizes).mean(axis=1)

    @property
    def best(self) -> frozenset[int]:
        """The arms that are right answers, or `RIGHT`."""
        return self.right if self.names_arms else frozenset({RIGHT})

    def room(self, signals: Indices | None = None) -> Rows:
        """Room for one thread, and its signals."""
        K, (pairs, arms) = self.num_arms, self.design.blank(self.num_arms)
        near = np.zeros_like(pairs) if self.params[RATIO] else np.zeros((len(pairs), 0))
        items = self.max_rounds if self.by_cells else self.scores.closed or 0
        space = np.empty(items, np.int64), np.empty(2, np.uint64), np.zeros((0, 0))
        own = np.zeros(SIGNALS, np.int64) if signals is None else signals
        return Rows(pairs, near, arms, round_claims.room(K), np.zeros((COUNTS, K)), *space, own)

    @property
    def given(self) -> OnItems:
        """What decides, and what it is decided on."""
        s, (low, high, truth) = self.scores, map(constant, (*self.rows, self.truth))
        most = self.max_samples - self.num_arms * float(s.answers.max())  # a round more cannot exceed it
        ends = s.items, s.again, self.max_rounds, most
        told = low, high, truth, constant(s.answers)
        return OnItems(np.uint64(self.seed), *told, *ends, constant(self.params))

    @property
    def loop(self) -> Callable[..., Any]:
        """The loop over runs."""
        return compiled(rounds_runs)

    def prepare(self) -> None:
        """Compile what runs need, so that no run has to wait for it."""
        self.loop  # noqa: B018 - it is compiled when it is first looked up

    def part(self, first: int, runs: int, room: Rows) -> Part:
        """So many runs from `first` on; fewer if the signals cancel it."""
        K, calls, found = self.num_arms, np.zeros(runs, np.int64), np.full(runs, NO_ARM, np.int64)
        pulls = np.zeros((1, K))
        with np.errstate(all="ignore"):  # uncompiled, arithmetic modulo 2**64 would warn
            _, done = self.loop(first, self.given, room, calls, found, pulls[0])
        if not self.names_arms and not self.by_cells:
            found = self._judged(found)
        return Part(first, calls[:done, None], found[:done, None], pulls)

    def _judged(self, found: Indices) -> Indices:
        """RIGHT or WRONG in the place of arms, and of none that wins; of arms that led, as in `Part`."""
        open_ = found <= UNFINISHED
        named = np.where(open_, UNFINISHED - found, found)
        verdicts = np.where(np.isin(named, list(self.right)), RIGHT, WRONG)
        return np.where(open_, UNFINISHED - verdicts, verdicts)

    def steps(self, run: int, room: Rows, known: Part, judged: bool) -> Steps:  # noqa: ARG002
        """One run round by round: every arm in the race has a sample in each."""
        K, (zero, unit) = self.num_arms, self.origin
        record = room_for_steps(int(known.samples[0, 0]), HEAD + PER_ARM * K)
        record[:] = 0.0
        self.part(run, 1, room._replace(record=record))
        record = record[record[:, THRESHOLD] > 0.0]
        taken, totals, left, answered = np.moveaxis(record[:, HEAD:].reshape(-1, PER_ARM, K), 1, 0)
        with np.errstate(invalid="ignore"):
            shown = zero + unit * self.scores.units.stretch * totals / np.maximum(taken, 1.0)
        means = np.where((left > 0.0) | (not self.design.question.rules_out), shown, -np.inf)
        time = answered.sum(axis=1).astype(np.int64)
        arm = np.full_like(time, NO_ARM)
        return Steps(time, arm, answered, means, record[:, STATISTIC], record[:, THRESHOLD])
