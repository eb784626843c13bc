"""The life of an experiment, driven by hypothesis against a model that knows only the rules of the log.

The model keeps a plain list of pulls with their values, and computes the evidence from it with fractions,
from scratch, whenever it is compared: an independent account of what counts.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import bestarm
from bestarm.errors import SuspendedError
from bestarm.experiment.experiment import Experiment, Pull
from bestarm.experiment.store.memory import MemoryStore
from support.clock import Clocked

ARMS = ("a", "b", "c")
VALUES = st.integers(0, 8).map(lambda n: n / 8)


class LifeCycle(RuleBasedStateMachine):
    """Ask, tell, fail, lapse, observe, retract and crash in any order."""

    @initialize(
        strategy=st.sampled_from(["ebs-c", "ebs-d", "tas-c", "tas-d", "lucb++", "racing", "uniform"]),
        order=st.sampled_from(["ask", "arrival"]),
    )
    def begin(self, strategy: str, order: str) -> None:
        self.store = Clocked()
        self.experiment = Experiment.create(
            self.store, "x", ARMS, 0.3, bounds=(0, 1), strategy=strategy, order=order, seed=1, lease=60.0
        )
        self.order = order
        self.pulls: dict[int, Pull] = {}
        self.values: dict[int, float | None] = {}  # settled pulls; None is void
        self.arrivals: list[int] = []  # in the order of settling
        self.violated: set[int] = set()
        self.again: set[int] = set()  # to be issued again
        self.deadline: dict[int, float] = {}
        self.frozen: dict[str, Any] | None = None

    # -- what may happen ---------------------------------------------------------------------------------

    @rule(n=st.integers(1, 5))
    def ask(self, n: int) -> None:
        if self.violated:
            with pytest.raises(SuspendedError):
                self.experiment.ask(n)
            return
        decided = self.experiment.status().decision
        lapsed = {p for p, time in self.deadline.items() if time <= self.store.time and p not in self.values}
        issued = self.experiment.ask(n)
        if decided:
            assert issued == []
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

    @precondition(lambda self: self._open())
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        pull = data.draw(st.sampled_from(sorted(self._open())))
        assert self.experiment.fail(pull, "no luck") == "failed"
        self.again.add(pull)
        self.deadline.pop(pull, None)

    @rule(seconds=st.sampled_from([1.0, 59.0, 61.0]))
    def wait(self, seconds: float) -> None:
        self.store.time += seconds

    @rule(arm=st.sampled_from(ARMS), values=st.lists(VALUES, min_size=1, max_size=3))
    def observe(self, arm: str, values: list[float]) -> None:
        first = len(self.pulls) + 1
        self.experiment.observe(arm, values)
        for i, value in enumerate(values):
            self.pulls[first + i] = Pull(first + i, arm, 0)
            self._settle(first + i, value)

    @precondition(lambda self: self.pulls)
    @rule(data=st.data(), value=st.none() | VALUES)
    def retract(self, data: st.DataObject, value: float | None) -> None:
        pull = data.draw(st.sampled_from(sorted(self.pulls)))
        self.experiment.retract(pull, "a clerical error", value)
        self.violated.discard(pull)
        if pull in self.values:
            self.values[pull] = value
        else:
            self._settle(pull, value)
        self.frozen = None

    @precondition(lambda self: self._open())
    @rule(data=st.data())
    def violate(self, data: st.DataObject) -> None:
        pull = data.draw(st.sampled_from(sorted(self._open())))
        with pytest.raises(SuspendedError):
            self.experiment.tell(pull, 1.5)
        self.violated.add(pull)
        self.again.discard(pull)
        self.deadline.pop(pull, None)

    @rule()
    def crash(self) -> None:
        """The process dies; another one takes over, from the snapshot or from the log alone."""
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
        assert bool(status.suspended) == bool(self.violated)
        assert sum(status.pending.values()) == len(self.pulls) - len(self.values)
        if status.decision is not None:
            seen = {"decision": status.decision, "means": status.means, "pulls": status.pulls}
            if self.frozen is not None:
                assert self.frozen == seen, "a decision is final"
            self.frozen = seen
            return
        self.frozen = None
        if self.violated:
            return  # nothing is taken in meanwhile
        counted = self._counted()
        for arm in ARMS:
            values = [Fraction(self.values[p] or 0.0) for p in counted if self.pulls[p].arm == arm]
            assert status.pulls[arm] == len(values)
            mean = status.means[arm]
            if values:
                assert mean is not None
                assert math.isclose(mean, sum(values) / len(values), rel_tol=1e-12, abs_tol=1e-12)
        settled = sum(value is not None for value in self.values.values())
        assert status.waiting == settled - len(counted)
        self._not_overdue(status)

    def _not_overdue(self, status: bestarm.Status) -> None:
        """While undecided the rule has not been passed over: statistic at most threshold, or no check due."""
        if status.statistic is not None and self.experiment.settings.strategy_name not in (
            "lucb++",
            "racing",
        ):
            assert status.threshold is not None
            assert status.statistic <= status.threshold

    def _counted(self) -> list[int]:
        if self.order == "arrival":
            return [p for p in self.arrivals if self.values[p] is not None]
        counted, pull = [], 1
        while pull in self.values:
            if self.values[pull] is not None:
                counted.append(pull)
            pull += 1
        return counted

    def _open(self) -> set[int]:
        if not hasattr(self, "pulls"):
            return set()
        return set(self.pulls) - set(self.values) - self.violated

    def _settle(self, pull: int, value: float | None) -> None:
        self.values[pull] = value
        self.arrivals.append(pull)
        self.again.discard(pull)
        self.deadline.pop(pull, None)


LifeCycle.TestCase.settings = settings(
    max_examples=120,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestLifeCycle = LifeCycle.TestCase


def test_the_model_can_fail() -> None:
    """The negative control: an experiment that counted results as they arrive is caught by the model."""
    experiment = Experiment.create(
        MemoryStore(), "x", ARMS, 0.3, bounds=(0, 1), strategy="uniform", order="arrival", seed=1
    )
    machine = LifeCycle()
    machine.begin(strategy="uniform", order="ask")
    machine.experiment = experiment
    for pull in experiment.ask(3):
        machine.pulls[pull.id] = pull
    machine.pulls = {p: machine.pulls[p] for p in sorted(machine.pulls)}
    experiment.tell(2, 0.5)
    machine._settle(2, 0.5)
    with pytest.raises(AssertionError):
        machine.the_evidence_is_what_the_model_says()
