"""The log of one experiment as one process follows it, and how a change gets into it.

A change is computed from what was read, while nobody waits, and committed if nothing was appended meanwhile;
otherwise it is computed again. Only a change that is quick to compute, or that has lost three times, is
computed where others wait: inside the writing block, on the new lines alone.

A decision is not taken from what this process remembers, let alone from a snapshot: before it is appended,
the log is replayed from its first line and must give the same (`proof`). Meanwhile others may use the log,
and other threads the journal.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar

from ..errors import StoreError
from ..kernels._jit import Kernel
from .events import ASKED, DECIDED, RETRACTED, TOLD, VIOLATED, Entry
from .proof import NEAR, Proof
from .reading import CHUNK, continues, stored_lines
from .settings import Settings
from .snapshots import packed, unpacked
from .state import State, new_state
from .store._base import Log, Store, patiently
from .waiting import Wait

Answer = TypeVar("Answer")

LOST_COMMITS = 3  # after so many the work is done inside the writing block
QUICK = 0.005  # seconds of work that others may wait for
SNAPSHOT_EVERY = 100  # lines of the log, and more for a large state
LEAST_SPACING = 10  # see `_spacing`
SMALL = 10_000  # bytes of a snapshot that is written along with the lines, which saves a commit
MANY = 200_000  # lines of a long replay after which a snapshot is saved on the way
PATIENCE = 1.0  # seconds to wait for other writers before a snapshot is left out


class _Done(NamedTuple, Generic[Answer]):
    """What a call answers."""

    answer: Answer


class Turn:
    """One attempt to change an experiment: a copy of its state, and the lines that are to be appended.

    state     the state with the new lines; the call's own
    now       the time by the store's clock
    lines_of  reads the stored lines of a pull
    renewed   reads until when the leases of pulls were renewed
    """

    def __init__(
        self,
        state: State,
        now: float,
        lines_of: Callable[[int], list[Entry]],
        renewed: Callable[[], dict[int, float]],
    ) -> None:
        self.state, self.now, self.renewed = state, now, renewed
        self.new: list[Entry] = []
        self._base, self._refuted = state.seq, state.refuted
        self._lines_of = lines_of
        self._of_pull: dict[int, list[Entry]] = {}

    def record(self, entry: Entry) -> None:
        """Apply a line, and what follows from it."""
        self.state.apply(entry)
        self.new.append(entry)
        if entry.pull in self._of_pull:
            self._of_pull[entry.pull].append(entry)
        self.decide()

    def decide(self) -> None:
        """Record the decision that is due, if there is one."""
        found = self.state.due
        if found is None:
            return
        arm = found.arm if found.arm >= 0 else None
        settings = self.state.settings
        decided = Entry(DECIDED, arm=arm, data=found.to_record(settings.arms, settings.question))
        self.state.apply(decided)
        self.new.append(decided)

    @property
    def suspends(self) -> bool:
        """Whether its lines suspend the experiment: a value outside the bounds, or the end of sigma."""
        violated = any(entry.kind == VIOLATED for entry in self.new)
        return violated or (self._refuted is None and self.state.refuted is not None)

    def append(self, log: Log) -> None:
        """Write the new lines behind the last one, which must be the one that the state began with."""
        last = log.append(self.new)[-1]
        self.state.seq, self.state.mark, self.state.head = last.seq, last.time, last.chain
        self.state.fresh = ()

    def entries(self, pull: int) -> list[Entry]:
        """All lines of a pull, including those of this turn."""
        if pull not in self._of_pull:
            mine = [entry for entry in self.new if entry.pull == pull]
            stored = [entry for entry in self._lines_of(pull) if entry.seq <= self._base]
            self._of_pull[pull] = [*stored, *mine]
        return self._of_pull[pull]

    def present_value(self, pull: int) -> float | None:
        """The value of a pull as it stands: told, violating, or put in by hand."""
        value = None
        for entry in self.entries(pull):
            if entry.kind in (TOLD, VIOLATED, RETRACTED):
                value = entry.value
        return value


class Journal:
    """Keeps a `State` in step with a stored log."""

    def __init__(self, store: Store, name: str, settings: Settings) -> None:
        self.store, self.name, self.settings = store, name, settings
        self._state: State | None = None
        self._proof = Proof(store, name, settings, self._recall)
        self._saved = 0  # the last line that the stored snapshot contains, as far as is known
        self._bad = -1  # the same of a snapshot that is of no use
        self._unsure: tuple[Turn, Any] | None = None  # appended, but who knows whether committed
        self._now = 0.0
        self._pace = math.inf  # seconds that work for one pull takes
        self._lock, self._pid = threading.RLock(), os.getpid()

    @property
    def known(self) -> State | None:
        """The state as it was at the last call."""
        return self._state

    @contextmanager
    def reading(self) -> Iterator[State]:
        """The state of the log as it is now; not to be changed."""
        with self._alone():
            yield patiently(self.store, self._catch_up)

    def transact(self, work: Callable[[Turn], Answer], size: int = 1) -> Answer:
        """Do what `work` records, durably, and return its answer; it may be called several times.

        size  how much work it is, in pulls: from what such work took before follows whether it is quick
        """
        try:
            while True:
                done = self._try(work, size)
                if not isinstance(done, int):
                    return done.answer
                self._proof.advance(done)
        finally:
            self._proof.settle()

    def lines(self, after: int = 0) -> Iterator[Entry]:
        """The lines behind number `after`, a chunk at a time."""
        return stored_lines(self.store, self.name, after)

    # -- committing ------------------------------------------------------------------------------------

    def _try(self, work: Callable[[Turn], Answer], size: int) -> _Done[Answer] | int:
        """Do it, or say up to which line the log must be replayed before."""
        with self._alone():
            try:
                return patiently(self.store, lambda: self._transact(work, size))
            finally:
                self._unsure = None

    def _transact(self, work: Callable[[Turn], Answer], size: int) -> _Done[Answer] | int:
        if self._unsure is not None and self._was_stored(self._unsure[0]):
            self._state = self._unsure[0].state
            return _Done[Answer](self._unsure[1])
        for lost in count():
            self._unsure = None
            done = None
            if lost or not self._quick(size):
                base = self._catch_up()
                done = self._attempt(work, size)
                if not done[0].new:
                    return _Done(done[1])
                if self._decides(done[0]) and self._proof.lacks(base.seq):
                    return base.seq
            with self.store.writing(self.name) as log:
                if done is None or (self._behind(log) and (lost >= LOST_COMMITS or self._quick(size))):
                    if not self._follow(log):
                        continue
                    done = self._attempt(work, size)
                turn, answer = done
                if self._behind(log):
                    continue
                confirmed = self._confirmed(turn, log)
                if confirmed is None:
                    return log.last
                if not confirmed:
                    continue
                self._append(log, turn)
                self._unsure = turn, answer  # should the connection break as the block is left
            self._state = turn.state
            self._maybe_save()
            return _Done(answer)
        raise AssertionError

    def _was_stored(self, turn: Turn) -> bool:
        """Whether the lines of a turn are in the log, where the connection broke as they were committed."""
        if not turn.new:
            return True
        with self.store.reading(self.name) as log:
            last = log.entries(turn.state.seq - 1, most=1)
        return bool(last) and last[0].chain == turn.state.head

    def _quick(self, size: int) -> bool:
        """Whether others may wait while this process works: it will take milliseconds."""
        return self._state is not None and self._pace * size < QUICK

    def _attempt(self, work: Callable[[Turn], Answer], size: int) -> tuple[Turn, Answer]:
        assert self._state is not None
        begun = time.monotonic()
        turn = Turn(self._state.copy(), self._now, self._lines_of, self._renewed)
        answer = work(turn)
        taken = (time.monotonic() - begun) / size
        self._pace = taken if self._pace == math.inf else max(taken, 0.9 * self._pace)
        return turn, answer

    def _append(self, log: Log, turn: Turn) -> None:
        if turn.new:
            turn.append(log)
        if self._due(turn.state) and _size(turn.state) < SMALL:
            self._save(log, turn.state, packed(turn.state))

    def _recall(self, until: int) -> Iterator[Entry]:
        return stored_lines(self.store, self.name, 0, until)

    def _lines_of(self, pull: int) -> list[Entry]:
        with self.store.reading(self.name) as log:
            return log.entries(pull=pull)

    def _renewed(self) -> dict[int, float]:
        with self.store.reading(self.name) as log:
            return log.leases()

    def lease_of(self, pull: int) -> tuple[float, float | None]:
        """When a pull was issued last, and until when its lease was renewed, if it was."""

        def read() -> tuple[float, float | None]:
            with self.store.reading(self.name) as log:
                asked = [entry.time for entry in log.entries(pull=pull) if entry.kind == ASKED]
                return asked[-1], log.leases().get(pull)

        return patiently(self.store, read)

    def renew(self, pulls: Iterable[int], lease: float) -> None:
        """Let the leases of pulls begin anew."""
        held = list(pulls)

        def write() -> None:
            with self.store.writing(self.name) as log:
                until = log.now() + lease
                log.renew(dict.fromkeys(held, until))

        patiently(self.store, write)

    def _behind(self, log: Log) -> bool:
        """Whether the log has lines that the state has not."""
        assert self._state is not None
        return (log.last, log.head) != (self._state.seq, self._state.head)

    def _follow(self, log: Log) -> bool:
        """Take in what others have appended, if it is not much."""
        assert self._state is not None
        if not 0 <= log.last - self._state.seq <= NEAR:
            return False
        self._now, self._saved = log.now(), log.saved
        if self._state.head and not self._behind(log):
            return True
        new = log.entries(self._state.seq - 1)
        if not continues(self._state, new):
            return False
        self._take_in(new[1:])
        return True

    # -- proving a decision ----------------------------------------------------------------------------

    def _decides(self, turn: Turn) -> bool:
        """Whether a turn has a decision that must be proven."""
        return self.store.lasting and any(entry.kind == DECIDED for entry in turn.new)

    def _confirmed(self, turn: Turn, log: Log) -> bool | None:
        """Whether a replay gives every decision of a turn; None if it is to be made first.

        Raises  StoreError if neither the log leads there nor a snapshot can have led astray
        """
        found = self._proof.confirms(turn.new, log) if self._decides(turn) else True
        if found is not False:
            return found
        if self._proof.kept:  # it must not be less than what a replay from the first line says
            self._proof.forget()
            return None
        if self._bad == self._saved:
            raise StoreError(
                f"experiment {self.name!r} is decided by its state but not by its log, and nothing was "
                f"stored; this is a bug in truebest, please report it."
            )
        self._state, self._bad = None, self._saved  # the snapshot led astray
        return False

    # -- following -------------------------------------------------------------------------------------

    def _alone(self) -> threading.RLock:
        """The lock; a new one in a forked process, where the old one may be held by a thread that is not."""
        if self._pid != os.getpid():
            self._lock, self._pid = threading.RLock(), os.getpid()
            self._state, self._proof = None, Proof(self.store, self.name, self.settings, self._recall)
        return self._lock

    def _catch_up(self) -> State:
        """The state of the log as it is now; chunk by chunk, so that no transaction is open for long."""
        fresh = self._state is None
        state = self._state = self._state or self._load()
        last, wait = -1, None
        while state.seq != last:
            with self.store.reading(self.name) as log:
                last, self._now, self._saved = log.last, log.now(), log.saved
                if state.head and not self._behind(log):
                    break
                new = log.entries(max(0, state.seq - 1), most=CHUNK)
            if state.seq and not continues(state, new):  # another file, or a backup
                self._refuse_other()
                state = self._state = new_state(self.settings, recall=self._recall)
                last = -1
                continue
            self._take_in(new[1:] if state.seq else new)
            wait = wait or Wait("reading the log", last)
            wait.at(state.seq)
            if fresh and (state.seq == last or state.seq - self._saved > MANY):
                self._maybe_save()  # so that the next one need not replay as much
        return state

    def _take_in(self, entries: list[Entry]) -> None:
        assert self._state is not None
        try:
            self._state.replay(entries)
        except BaseException:
            self._state = None  # it may have taken in half of a line
            raise

    def _refuse_other(self) -> None:
        with self.store.reading(self.name) as log:
            stored = log.first().data or {}
        if not self.settings.are_of(stored):
            raise StoreError(
                f"experiment {self.name!r} was replaced by another one of that name; open it again."
            )

    # -- snapshots -------------------------------------------------------------------------------------

    def _load(self) -> State:
        with self.store.reading(self.name) as log:
            saved = log.snapshot()
        if saved is not None and saved[0] != self._bad:
            try:
                return unpacked(self.settings, saved[1], self._recall)
            except Exception:  # a cache: without it the log is replayed
                self._bad = saved[0]
        return new_state(self.settings, recall=self._recall)

    def _maybe_save(self) -> None:
        """Save a snapshot when much was appended since the last; a store that is busy does without."""
        state = self._state
        assert state is not None
        if not self._due(state):
            return
        text = packed(state)
        with suppress(StoreError), self.store.writing(self.name, patience=PATIENCE) as log:
            self._save(log, state, text)

    def _due(self, state: State) -> bool:
        new = state.seq - self._saved
        due = self._bad == self._saved or (new >= LEAST_SPACING and new >= _spacing(state))
        return due and not self.settings.chosen.missing

    def _save(self, log: Log, state: State, text: str) -> None:
        """Unless somebody else has saved a later one."""
        if log.saved < state.seq <= log.last or log.saved == self._bad:
            log.save_snapshot(state.seq, text)
            self._bad = -1
        self._saved = log.saved


def _size(state: State) -> int:
    """About how many bytes a snapshot takes."""
    return 40 * len(state.open) + 20 * state.size


def _spacing(state: State) -> int:
    """Lines between two snapshots: about as costly to replay as ten snapshots are to write."""
    if Kernel.given_way:
        return SNAPSHOT_EVERY + _size(state) // 200
    # Uncompiled, a line takes long to replay, and longer with many arms.
    return min(SNAPSHOT_EVERY, max(LEAST_SPACING, 5_000 // len(state.settings.arms))) + _size(state) // 2_000
