"""The life of an experiment, driven by hypothesis against a model that knows only the rules of the log.

The model keeps a plain list of pulls with their values, and computes the evidence from it with fractions,
from scratch, whenever it is compared: an independent account of what counts. It asks the stopping rule about
that evidence after every pull that counts, and so knows when the decision is due, and for which arm.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import truebest
from support.amounts import amount, once_more
from support.clock import Clocked
from support.told import column, stopped, suspended
from truebest.errors import SuspendedError
from truebest.experiment import journal as module
from truebest.experiment.events import KINDS
from truebest.experiment.experiment import Experiment
from truebest.experiment.pulls import Pull
from truebest.experiment.snapshots import unpacked
from truebest.experiment.store.memory import MemoryStore

ARMS = ("a", "b", "c")
DELTA = 0.3  # 24 clear results decide
VALUES = st.integers(0, 8).map(lambda n: n / 8)
SEEN: Counter[str] = Counter()  # what happened in all examples of a run


class LifeCycle(RuleBasedStateMachine):
    """Ask, tell, fail, lapse, observe, retract and crash in any order."""

    @initialize(
        strategy=st.sampled_from(["ebs-c", "ebs-d", "tas-c", "tas-d", "lucb++", "racing", "uniform"]),
        order=st.sampled_from(["ask", "arrival"]),
        snapshots=st.sampled_from([1, 7, 30, 100]),  # lines: at every turn, at some, as in real life
    )
    def begin(self, strategy: str, order: str, snapshots: int) -> None:
        module.SNAPSHOT_EVERY = snapshots
        self.store = Clocked()
        self.experiment = Experiment.create(
            self.store,
            "x",
            ARMS,
            DELTA,
            bounds=(0, 1),
            strategy=strategy,
            order=order,
            seed=1,
            lease=60.0,
            stopping="mixture",
        )
        self.order, self.racing = order, strategy == "racing"
        self.pulls: dict[int, Pull] = {}
        self.unchecked: set[int] = set()  # pulls after which the rule is not asked
        self.within: set[int] = set()  # values from before that are not the last of their call
        self.values: dict[int, float | None] = {}  # settled pulls; None is void
        self.queue: list[int] = []  # settled and not taken in, in the order of settling
        self.taken: list[int] = []  # what the rule has seen, in its order
        self.decided: str | None = None
        self.stopped = False
        self.violated: set[int] = set()
        self.outside: set[int] = set()  # pulls with a value outside the bounds that came after the decision
        self.readings = 1
        self.again: set[int] = set()  # to be issued again
        self.deadline: dict[int, float] = {}

    def teardown(self) -> None:
        module.SNAPSHOT_EVERY = SNAPSHOT_EVERY
        if hasattr(self, "experiment"):
            self._stop()
            assert self.experiment.verify().problem == ""
            assert self.experiment.verify().follows
            SEEN.update(event.kind for event in self.experiment.history())

    def _stop(self) -> None:
        """At its end each of them is stopped by hand: what is decided stays so, all else counts as before."""
        before, now = self.experiment.status(), self.experiment.stop("the end")
        assert (now.best, now.samples, now.means) == (before.best, before.samples, before.means)
        assert (stopped(now) is None) == (now.best is not None)
        assert self.experiment.ask(3).reason == ("stopped" if now.best is None else "decided")

    # -- what may happen ---------------------------------------------------------------------------------

    @rule(n=st.integers(1, 5))
    def ask(self, n: int) -> None:
        if self.violated and not self.stopped:
            with pytest.raises(SuspendedError):
                self.experiment.ask(n)
            return
        lapsed = {p for p, time in self.deadline.items() if time <= self.store.time and p not in self.values}
        issued = self.experiment.ask(n)
        if self.decided or self.stopped:
            assert issued == []
            assert issued.reason == ("decided" if self.decided else "stopped")
            return
        again = sorted(self.again | lapsed)
        assert [p.id for p in issued[: len(again)]] == again[:n]
        for pull in issued:
            known = self.pulls.setdefault(pull.id, pull)
            assert (known.arm, known.seed) == (pull.arm, pull.seed)
            assert pull.id not in self.values
            self.deadline[pull.id] = self.store.time + 60.0
        ids = {p.id for p in issued}
        self.again = (self.again | lapsed) - ids
        for number in lapsed - ids:
            del self.deadline[number]
        for event in self.experiment.history():
            if event.kind == "asked" and (event.data or {}).get("check") is False:
                self.unchecked.add(event.pull or 0)

    @precondition(lambda self: self.pulls)
    @rule(data=st.data(), value=VALUES)
    def tell(self, data: st.DataObject, value: float) -> None:
        pull = data.draw(st.sampled_from(sorted(self.pulls)))
        kind = self.experiment.tell(pull, value)
        if pull in self.values or pull in self.violated:
            assert kind in ("repeated", "late")
            return
        assert kind == "told"
        self._settle(pull, value)

    @precondition(lambda self: self._open())
    @rule(data=st.data())
    def tell_all_at_once(self, data: st.DataObject) -> None:
        order = data.draw(st.permutations(sorted(self._open())))
        told = [(pull, data.draw(VALUES)) for pull in order]
        assert self.experiment.tell(told) == ["told"] * len(told)
        for pull, value in told:
            self._settle(pull, value)

    @rule(rounds=st.integers(1, 3), slip=st.booleans())
    def sample_clearly(self, rounds: int, slip: bool) -> None:
        """Arm c is the best, beyond doubt: a few of these decide; after a slip a correction may, too."""
        for _ in range(12 * rounds if self.racing else rounds):
            self.ask(10)
            told = [(pull, self._clear(pull)) for pull in sorted(self._open())]
            if slip:
                told = [(pull, 0.0 if pull % 2 else value) for pull, value in told]
            self.experiment.tell(told)
            for pull, value in told:
                self._settle(pull, value)
            self.the_evidence_is_what_the_model_says()

    @precondition(lambda self: self._open())
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        pull = data.draw(st.sampled_from(sorted(self._open())))
        assert self.experiment.fail(pull, "no luck") == "failed"
        self.again.add(pull)
        self.deadline.pop(pull, None)

    @precondition(lambda self: self._open())
    @rule(seconds=st.sampled_from([59.0, 60.0, 61.0]), n=st.integers(1, 5))
    def wait(self, seconds: float, n: int) -> None:
        self.store.time += seconds
        self.ask(n)

    @rule()
    def reclaim(self) -> None:
        out = self._open() - self.again
        assert self.experiment.reclaim() == len(out)
        self.again |= out
        for pull in out:
            self.deadline.pop(pull, None)

    @rule(arm=st.sampled_from(ARMS), values=st.lists(VALUES, min_size=1, max_size=3))
    def observe(self, arm: str, values: list[float]) -> None:
        first = len(self.pulls) + 1
        self.experiment.observe(arm, values)
        self.within.update(range(first, first + len(values) - 1))  # judged once, when all are in
        for i, value in enumerate(values):
            self.pulls[first + i] = Pull(first + i, arm, 0)
            self._settle(first + i, value)

    @precondition(lambda self: self.pulls)
    @rule(data=st.data(), value=st.none() | VALUES)
    def retract(self, data: st.DataObject, value: float | None) -> None:
        self._retract(data.draw(st.sampled_from(sorted(self.pulls))), value)

    @precondition(lambda self: self._slips())
    @rule()
    def correct_all(self) -> None:
        for pull in self._slips():
            undecided = self.decided is None
            self._retract(pull, self._clear(pull))
            self.the_evidence_is_what_the_model_says()
            SEEN["decided by a correction"] += undecided and self.decided is not None

    def _clear(self, pull: int) -> float:
        return float(self.pulls[pull].arm == "c")

    def _slips(self) -> list[int]:
        if not hasattr(self, "pulls"):
            return []
        return [pull for pull, value in self.values.items() if value == 1.0 - self._clear(pull)]

    def _retract(self, pull: int, value: float | None) -> None:
        self.experiment.retract(pull, "a clerical error", value)
        self.readings += pull in self.taken and self.values[pull] != value
        self.violated.discard(pull)
        self.outside.discard(pull)
        self.decided = None
        if pull in self.values:
            self.values[pull] = value
        else:
            self._settle(pull, value, take=False)
        if not self._decide():  # from what the rule has seen, corrected; then from what waits behind it
            self._take()

    @precondition(lambda self: self._open())
    @rule(data=st.data())
    def violate(self, data: st.DataObject) -> None:
        pull = data.draw(st.sampled_from(sorted(self._open())))
        if self.decided or self.stopped:
            assert self.experiment.tell(pull, 1.5) == ("repeated" if pull in self.outside else "late")
            self.outside.add(pull)
            return
        with pytest.raises(SuspendedError):
            self.experiment.tell(pull, 1.5)
        self.violated.add(pull)
        self.again.discard(pull)
        self.deadline.pop(pull, None)

    @precondition(lambda self: len(self.taken) > 5)
    @rule(seldom=st.integers(0, 7))
    def stop(self, seldom: int) -> None:
        """By hand, and for good; a decision stays one."""
        if seldom:
            return
        status = self.experiment.stop("enough")
        self.stopped = self.decided is None
        assert (stopped(status) is not None) == self.stopped

    @rule()
    def crash(self) -> None:
        """The process dies; another one takes over, from the snapshot or from the log alone."""
        with self.store.reading("x") as log:
            saved = log.snapshot()
        if saved is not None and saved[1] != "gone":
            assert unpacked(self.experiment.settings, saved[1]).seq == saved[0]
            SEEN["restored"] += 1
            SEEN["restored and replayed"] += saved[0] < len(self.experiment.history())
        self.experiment = Experiment.open(self.store, "x")

    @rule()
    def lose_the_snapshot(self) -> None:
        with self.store.writing("x") as log:
            log.save_snapshot(0, "gone")
        self.crash()

    # -- what must hold ----------------------------------------------------------------------------------

    @invariant()
    def the_evidence_is_what_the_model_says(self) -> None:
        if not hasattr(self, "experiment"):
            return
        status = self.experiment.status()
        assert bool(suspended(status)) == (bool(self.violated) and not self.stopped)
        kept = not self.violated and not self.outside and self.readings * DELTA < 1.0
        assert status.promise.bound == (round(self.readings * DELTA, 12) if kept else None)
        SEEN[f"{min(self.readings, 4)} readings, {'a' if kept else 'no'} promise"] += 1
        assert sum(column(status, "pending").values()) == len(self.pulls) - len(self.values)
        if self.racing and status.best is not None and self.decided is None:
            self._adopt(status)
        assert status.best == self.decided
        counted = [pull for pull in self.taken if self.values[pull] is not None]
        for arm in ARMS:
            values = [Fraction(self.values[p] or 0.0) for p in counted if self.pulls[p].arm == arm]
            assert status.pulls[arm] == len(values)
            mean = status.means[arm]
            if values:
                assert mean is not None
                assert math.isclose(mean, sum(values) / len(values), rel_tol=1e-12, abs_tol=1e-12)
        settled = sum(value is not None for value in self.values.values())
        assert status.progress.waiting == settled - len(counted)

    def _adopt(self, status: truebest.Account) -> None:
        """Racing decides by itself: when, the model cannot say, but from what it has seen and for good."""
        self.decided = status.best
        while sum(self.values[pull] is not None for pull in self.taken) > status.samples:
            self.queue.insert(0, self.taken.pop())

    def _take(self) -> None:
        """Let the rule see what is due, one by one, until it decides."""
        while self.decided is None and not self.stopped and not self.violated:
            due = self.queue if self.order == "arrival" else [len(self.taken) + 1]
            if not due or due[0] not in self.queue:
                return
            pull = due[0]
            self.queue.remove(pull)
            self.taken.append(pull)
            skipped = self.order != "arrival" and pull in self.unchecked
            if self.values[pull] is not None and not skipped:
                self._decide()

    def _decide(self) -> bool:
        """Ask the rule about all that it has seen."""
        seen = [[self.values[p] for p in self.taken if self.pulls[p].arm == arm] for arm in ARMS]
        values = [[Fraction(v) for v in row if v is not None] for row in seen]
        over = self.racing or self.violated or self.decided or self.stopped
        if over or not all(values) or self.taken[-1] in self.within:
            return False
        pulls, means = [len(row) for row in values], [float(sum(row) / len(row)) for row in values]
        found = truebest.Mixture().evaluate(pulls, means, DELTA, 0.5)
        self.decided = ARMS[int(found.leader)] if found.decided else None
        return self.decided is not None

    def _open(self) -> set[int]:
        if not hasattr(self, "pulls"):
            return set()
        return set(self.pulls) - set(self.values) - self.violated

    def _settle(self, pull: int, value: float | None, take: bool = True) -> None:
        self.values[pull] = value
        self.queue.append(pull)
        self.again.discard(pull)
        self.deadline.pop(pull, None)
        if take:
            self._take()


SNAPSHOT_EVERY = module.SNAPSHOT_EVERY


@once_more
def test_an_experiment_lives_as_the_model_says() -> None:
    """The evidence is the model's, and the decision is taken when it is due, for the right arm.

    The examples have power: every kind of event happens, among all of them many times, and so do restarts
    from a snapshot, with and without lines of the log behind it.
    """
    SEEN.clear()
    run_state_machine_as_test(
        LifeCycle,
        settings=settings(
            max_examples=amount(150, 300),
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        ),
    )
    promises = [f"{n} readings, a promise" for n in (1, 2, 3)] + ["4 readings, no promise"]
    for what in (*KINDS, *promises, "restored", "restored and replayed"):
        assert SEEN[what] >= amount(1, 20), f"{what}: {SEEN[what]}"
    assert SEEN["decided by a correction"] >= 1


def test_the_model_can_fail() -> None:
    """The negative control: an experiment that counted results as they arrive is caught by the model."""
    experiment = Experiment.create(
        MemoryStore(),
        "x",
        ARMS,
        0.3,
        bounds=(0, 1),
        strategy="uniform",
        order="arrival",
        seed=1,
        stopping="mixture",
    )
    machine = LifeCycle()
    machine.begin(strategy="uniform", order="ask", snapshots=100)
    machine.experiment = experiment
    for pull in experiment.ask(3):
        machine.pulls[pull.id] = pull
    machine.pulls = {p: machine.pulls[p] for p in sorted(machine.pulls)}
    experiment.tell(2, 0.5)
    machine._settle(2, 0.5)
    with pytest.raises(AssertionError):
        machine.the_evidence_is_what_the_model_says()


@pytest.mark.parametrize(("delta", "agrees"), [(0.2, False), (0.3, True), (0.4, False)])
def test_the_model_knows_when_a_decision_is_due(delta: float, agrees: bool) -> None:
    """Another negative control: an experiment that decides earlier or later than it should is caught."""
    machine = LifeCycle()
    machine.begin(strategy="uniform", order="ask", snapshots=100)
    machine.experiment = Experiment.create(
        MemoryStore(), "x", ARMS, delta, bounds=(0, 1), strategy="uniform", seed=1, stopping="mixture"
    )

    def drive() -> None:
        for number in range(1, 40):
            for pull in machine.experiment.ask():
                machine.pulls[number] = pull
                machine.experiment.tell(pull, float(pull.arm == "c"))
                machine._settle(number, float(pull.arm == "c"))
            machine.the_evidence_is_what_the_model_says()

    if agrees:
        drive()
        assert machine.decided == "c"
    else:
        with pytest.raises(AssertionError):
            drive()
