"""Ask, tell, fail, retract: what each does to the log, the status and the decision."""

from __future__ import annotations

import math
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import truebest
from support.clock import Clocked
from support.older import without_alarm
from support.told import column, intervals, suspended
from truebest.errors import InvalidInputError, StoreError, SuspendedError
from truebest.experiment.experiment import Experiment
from truebest.experiment.pulls import Pull, pull_seed
from truebest.experiment.store.memory import MemoryStore


def make(**options: Any) -> Experiment:
    settings: dict[str, Any] = {"bounds": (0, 1), "seed": 1, "strategy": "uniform", **options}
    if "sigma" in settings:
        settings.pop("bounds")
    return Experiment.create(settings.pop("store", "memory:"), "x", ["a", "b", "c"], 0.05, **settings)


def kinds(experiment: Experiment) -> list[str]:
    return [event.kind for event in experiment.history()]


def run(experiment: Experiment, values: dict[str, float], most: int = 10_000) -> None:
    """Constant arms, one pull at a time, until decided."""
    for _ in range(most):
        pulls = experiment.ask()
        if not pulls:
            return
        experiment.tell(pulls[0], values[pulls[0].arm])


# -- the plain course ----------------------------------------------------------------------------------


def test_a_run_from_the_first_ask_to_the_decision() -> None:
    """Every arm first, then until the rule decides; then nothing more is asked."""
    experiment = make()
    assert experiment.status().leader is None
    assert experiment.status().best is None
    assert [pull.arm for pull in experiment.ask(3)] == ["a", "b", "c"]
    for pull in (1, 2, 3):
        experiment.tell(pull, 0.1 * pull)
    assert experiment.status().leader == "c"
    assert experiment.status().best is None
    run(experiment, {"a": 0.1, "b": 0.2, "c": 0.9})
    status = experiment.status()
    assert status.best == status.leader == "c"
    assert status.progress.statistic is not None
    assert status.progress.threshold is not None
    assert status.progress.statistic > status.progress.threshold
    assert all(low >= 0 for low, _ in intervals(status).values())
    assert experiment.ask(5) == []
    assert kinds(experiment)[-1] == "decided"
    decided = experiment.history()[-1]
    assert decided.arm == "c"
    assert decided.data is not None
    assert decided.data["lower"][0] == pytest.approx(intervals(status)["a"][0])


def test_a_budget_counts_all_pulls_and_is_spent_when_they_are_settled() -> None:
    """No pull beyond its number is issued; one that failed is issued again; `ask` knows no budget."""
    experiment = make()
    first, spent = experiment.ask_within(9, 4)
    assert ([pull.id for pull in first], spent) == ([1, 2, 3, 4], False)
    assert experiment.ask_within(9, 4) == ([], False)
    for pull in first[:3]:
        experiment.tell(pull, 0.5)
    experiment.fail(first[3], "no answer")
    again, spent = experiment.ask_within(9, 4)
    assert ([pull.id for pull in again], spent) == ([4], False)
    experiment.tell(4, 0.5)
    assert experiment.ask_within(9, 4) == ([], True)
    assert [pull.id for pull in experiment.ask()] == [5]
    with pytest.raises(InvalidInputError, match="max_samples must be a whole number"):
        experiment.ask_within(1, -1)


def test_uniform_sampling_is_told_of_for_three_arms_and_more() -> None:
    """How many samples it would take, once every arm has a result; with two arms there is no other way."""
    experiment = make()
    assert experiment.uniform_samples() is None
    experiment.tell([(pull, 0.3 * pull.id) for pull in experiment.ask(3)])
    found = experiment.uniform_samples()
    assert found is not None
    assert found > 3
    two = Experiment.create("memory:", "x", ["a", "b"], bounds=(0, 1))
    two.tell([(pull, 0.3 * pull.id) for pull in two.ask(2)])
    assert two.uniform_samples() is None


def test_before_the_decision_some_interval_holds_zero() -> None:
    """The intervals of pairs imply the decision: while undecided, some arm may be as good as the leader."""
    experiment = make(stopping="mixture")
    undecided = 0
    for pull in (pull for _ in range(300) for pull in experiment.ask()):
        experiment.tell(pull, {"a": 0.1, "b": 0.2, "c": 0.9}[pull.arm])
        status = experiment.status()
        if status.progress.statistic is not None:
            above = all(low > 0 for low, _ in intervals(status).values())
            assert above == (status.best is not None)
            undecided += not above
    assert experiment.status().best == "c"
    assert undecided > 50


def test_tells_are_idempotent_and_a_second_value_is_late() -> None:
    """The same value again changes nothing; another one is kept and not counted."""
    experiment = make()
    pulls = experiment.ask(3)
    assert experiment.tell(pulls[0], 0.25) == "told"
    before = experiment.status()
    assert experiment.tell(pulls[0], 0.25) == "repeated"
    assert len(experiment.history()) == 5
    assert experiment.tell(pulls[0], 0.75) == "late"
    assert experiment.tell(pulls[0], 0.75) == "repeated"
    after = experiment.status()
    assert after.means == before.means
    assert after.pulls == before.pulls
    assert kinds(experiment).count("late") == 1
    assert after.promise.caveats == (("late", "informs", "late answers, ignored: 1 (a 1)"),)


def test_a_list_of_tells_is_one_commit() -> None:
    """All or nothing: one bad value, and none of the list is stored."""
    experiment = make()
    pulls = experiment.ask(3)
    assert experiment.tell([(pulls[0], 0.5), (2, 0.25), (pulls[0], 0.5)]) == ["told", "told", "repeated"]
    lines = len(experiment.history())
    for bad in (math.nan, math.inf, "0.5", b"0.5", None, [0.5], 10**400, 0.5 + 3j, np.complex128(0.5)):
        with pytest.raises(InvalidInputError):
            experiment.tell([(3, 0.5), (3, bad)])  # type: ignore[list-item]
    with pytest.raises(InvalidInputError, match="no pull 4"):
        experiment.tell([(3, 0.5), (4, 0.5)])
    assert len(experiment.history()) == lines
    assert experiment.tell(3, np.float32(0.5)) == "told"  # type: ignore[call-overload]


def test_unknown_pulls_and_arms_are_refused() -> None:
    """Nothing is stored for a pull or an arm that does not exist."""
    experiment = make()
    experiment.ask()
    lines = len(experiment.history())
    for pull in (0, -1, 2, 1.0, True, "1", 2**60):
        with pytest.raises(InvalidInputError):
            experiment.tell(pull, 0.5)  # type: ignore[arg-type]
        with pytest.raises(InvalidInputError):
            experiment.fail(pull, "x")  # type: ignore[arg-type]
        with pytest.raises(InvalidInputError):
            experiment.retract(pull, "x")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="no arm 'd'"):
        experiment.observe("d", 0.5)
    with pytest.raises(InvalidInputError, match="another experiment"):
        experiment.tell(Pull(1, "a", 12345), 0.5)
    for n in (0, -1, 1.5, True):
        with pytest.raises(InvalidInputError):
            experiment.ask(n)  # type: ignore[arg-type]
    assert len(experiment.history()) == lines


# -- order -----------------------------------------------------------------------------------------------


def test_results_behind_a_hole_wait() -> None:
    """The decision sees results in the order of asking, up to the first pull that is not settled."""
    experiment = make()
    pulls = experiment.ask(6)
    for pull in pulls[1:]:
        experiment.tell(pull, 0.5)
    status = experiment.status()
    assert (status.samples, status.progress.waiting) == (0, 5)
    assert status.leader is None
    experiment.tell(pulls[0], 0.5)
    status = experiment.status()
    assert (status.samples, status.progress.waiting) == (6, 0)


def test_a_decision_waits_for_the_slow_result() -> None:
    """Overwhelming evidence behind an open pull decides nothing, in order of arrival it does."""
    for order, decided in (("ask", False), ("arrival", True)):
        experiment = make(order=order)
        pulls = experiment.ask(600)
        slow = pulls[1]
        experiment.tell([(p, float(p.arm == "c")) for p in pulls if p is not slow])
        assert (experiment.status().best == "c") == decided
        experiment.tell(slow, 0.0)
        assert experiment.status().best == "c"
    assert "durations do not depend" in experiment.status().promise.words


def test_any_order_of_arrival_gives_the_same_decision() -> None:
    """With the asks fixed, the order of the tells changes neither evidence nor decision."""
    rng = np.random.default_rng(5)
    ends = []
    for _ in range(4):
        experiment = make()
        pulls = experiment.ask(300)
        values = {
            p.id: float(np.random.default_rng(p.seed).random() < (0.9 if p.arm == "b" else 0.3))
            for p in pulls
        }
        for i in rng.permutation(300):
            experiment.tell(pulls[i], values[pulls[i].id])
        status = experiment.status()
        ends.append((status.best, status.samples, status.means, status.progress.statistic))
    assert ends[0][0] == "b"
    assert all(end == ends[0] for end in ends)


def test_pending_pulls_count_in_what_to_sample_next() -> None:
    """Asks without tells go round all arms; they never change the evidence."""
    for strategy in ("ebs-c", "ebs-d", "tas-c", "tas-d", "lucb++", "uniform"):
        experiment = make(strategy=strategy)
        arms = [p.arm for p in experiment.ask(12)]
        assert sorted(arms) == sorted(["a", "b", "c"] * 4)
        assert experiment.status().samples == 0
        assert column(experiment.status(), "pending") == {"a": 4, "b": 4, "c": 4}


def test_a_batch_is_spread_as_single_asks_would_be() -> None:
    """With all arms alike a batch of 30 after some results does not go to one arm."""
    for strategy in ("ebs-d", "tas-d", "ebs-c", "tas-c"):
        experiment = make(strategy=strategy)
        experiment.tell([(p, 0.5) for p in experiment.ask(30)])
        arms = [p.arm for p in experiment.ask(30)]
        assert max(arms.count(a) for a in "abc") <= 12


def test_a_strategy_that_stops_by_itself_has_one_pull_out() -> None:
    """Racing must have seen every result, so it is asked one at a time."""
    experiment = make(strategy="racing")
    assert len(experiment.ask(5)) == 1
    assert experiment.ask(5) == []
    experiment.tell(1, 0.5)
    assert len(experiment.ask(5)) == 1
    experiment.tell(2, 0.5)
    run(experiment, {"a": 0.0, "b": 0.2, "c": 1.0})
    assert experiment.status().best == "c"


# -- failures, leases, violations --------------------------------------------------------------------------


def test_a_failed_pull_is_issued_again_with_its_seed() -> None:
    """Neither dropped nor redrawn: same id, arm and seed, and the decision waits for it."""
    experiment = make()
    pulls = experiment.ask(3)
    experiment.tell([(pulls[0], 0.5), (pulls[2], 0.5)])
    assert experiment.fail(pulls[1], "the network was down") == "failed"
    assert experiment.status().samples == 1
    again = experiment.ask(2)
    assert (again[0].id, again[0].arm, again[0].seed) == (2, "b", pulls[1].seed)
    assert again[1].id == 4
    experiment.tell(again[0], 0.5)
    assert experiment.status().samples == 3
    assert ("failed", "informs", "pulls that gave no value: 1 (b 1)") in experiment.status().promise.caveats
    assert experiment.fail(pulls[1], "late news") == "late"


def test_a_lapsed_pull_is_issued_again_and_the_first_value_counts() -> None:
    """By the store's clock; the late answer of the first worker is kept and not counted."""
    store = Clocked()
    experiment = make(store=store, lease=60.0)
    first = experiment.ask()[0]
    assert first.deadline == 1060.0
    store.time = 1059.0
    assert experiment.ask()[0].id == 2
    store.time = 1060.0
    again = experiment.ask()[0]
    assert (again.id, again.arm, again.seed) == (first.id, first.arm, first.seed)
    assert again.deadline == 1120.0
    assert experiment.tell(again, 0.5) == "told"
    assert experiment.tell(first, 0.25) == "late"
    assert kinds(experiment)[1:] == ["asked", "asked", "lapsed", "asked", "told", "late"]
    assert [code for code, _, _ in experiment.status().promise.caveats] == ["lapsed", "late"]


def test_the_answer_to_a_lapsed_pull_counts_if_it_is_the_first() -> None:
    """A worker that was only slow is not turned away."""
    store = Clocked()
    experiment = make(store=store, lease=60.0)
    first = experiment.ask()[0]
    store.time = 2000.0
    experiment.ask()
    assert experiment.tell(first, 0.25) == "told"


def test_a_pull_asked_under_a_clock_far_ahead_lapses() -> None:
    """When the clock is right again, its deadline is years away: it is issued again at once, with a true one.

    A clock that was set back by less than the lease, or by a minute, is no reason.
    """
    store = Clocked()
    experiment = make(store=store, lease=600.0)
    store.time = 5000.0
    ahead = experiment.ask()[0]
    for now in (4400.0, 4401.0):
        store.time = now
        assert experiment.ask()[0].id != ahead.id
    store.time = 4399.0
    again = experiment.ask()[0]
    assert (again.id, again.seed, again.deadline) == (ahead.id, ahead.seed, 4999.0)
    assert kinds(experiment)[-2:] == ["lapsed", "asked"]
    assert experiment.ask()[0].id != ahead.id
    assert Experiment.open(store, experiment.name).status() == experiment.status()
    store = Clocked()
    short = make(store=store, lease=1.0)
    first = short.ask()[0]
    store.time -= 60.0
    assert short.ask()[0].id != first.id
    store.time -= 1.0
    assert short.ask()[0].id == first.id


def test_without_a_lease_nothing_lapses_until_it_is_reclaimed() -> None:
    """`reclaim` is for whoever takes over from a dead process."""
    store = Clocked()
    experiment = make(store=store, lease=None)
    first = experiment.ask()[0]
    assert first.deadline is None
    store.time = 1e12
    assert experiment.ask()[0].id == 2
    assert experiment.reclaim() == 2
    assert [p.id for p in experiment.ask(3)] == [1, 2, 3]


def test_a_value_outside_the_bounds_suspends() -> None:
    """It is recorded, nothing is asked or decided any more, and the message says what to do."""
    experiment = make()
    pulls = experiment.ask(3)
    with pytest.raises(SuspendedError, match=r"pull 2 of arm 'b' gave 1.5, outside the bounds \[0, 1\]"):
        experiment.tell([(pulls[0], 0.5), (pulls[1], 1.5), (pulls[2], 0.5)])
    assert kinds(experiment)[-3:] == ["told", "violated", "told"]
    assert "outside the bounds" in suspended(experiment.status())
    with pytest.raises(SuspendedError, match="retract"):
        experiment.ask()
    assert experiment.tell(pulls[1], 1.5) == "repeated"
    assert experiment.tell(pulls[1], 0.5) == "late"
    experiment.retract(pulls[1], "a decimal point was lost", 0.15)
    assert suspended(experiment.status()) == ""
    assert experiment.status().samples == 3
    assert experiment.status().means["b"] == 0.15
    assert experiment.ask()


def test_the_bounds_themselves_are_inside() -> None:
    """0 and 1 are values in [0, 1]."""
    experiment = make()
    experiment.tell([(p, v) for p, v in zip(experiment.ask(3), (0.0, 1.0, -0.0), strict=True)])
    assert experiment.status().samples == 3


# -- retracting ---------------------------------------------------------------------------------------


def test_a_retraction_leaves_what_the_others_say() -> None:
    """The status is that of an experiment without the value; the log keeps both."""
    experiment = make(sigma=10.0)
    pulls = experiment.ask(9)
    experiment.tell([(p, float(p.id)) for p in pulls])
    experiment.retract(pulls[4], "typed twice")
    status = experiment.status()
    assert status.pulls == {"a": 3, "b": 2, "c": 3}
    assert status.means["b"] == pytest.approx((2 + 8) / 2)
    last = experiment.history()[-1]
    assert (last.kind, last.pull, last.value) == ("retracted", 5, None)
    assert last.data == {"reason": "typed twice", "was": 5.0}
    experiment.retract(pulls[4], "it was right after all", 5.0)
    assert experiment.status().means["b"] == pytest.approx(5.0)
    assert experiment.status().pulls == {"a": 3, "b": 3, "c": 3}


def test_a_correction_replaces_the_value_exactly() -> None:
    """Also under an offset of a billion."""
    for offset in (0.0, 1e9):
        experiment = make(sigma=1.0)
        experiment.tell([(p, offset + p.id / 8) for p in experiment.ask(6)])
        assert experiment.status().means["a"] == offset + (1 + 4) / 16
        experiment.retract(1, "wrong line", offset + 0.75)
        assert experiment.status().means["a"] == offset + (6 + 4) / 16
        assert experiment.status().means["b"] == offset + (2 + 5) / 16


def test_a_retraction_after_the_decision_reopens() -> None:
    """The rule decides again from what is left, at once or with more results."""
    experiment = make()
    run(experiment, {"a": 0.1, "b": 0.2, "c": 0.9})
    samples = experiment.status().samples
    told = [e for e in experiment.history() if e.kind == "told" and e.arm == "c"]
    experiment.retract(told[-1].pull, "a clerical error", 0.9)  # type: ignore[arg-type]
    assert kinds(experiment)[-4:] == ["decided", "retracted", "reopened", "decided"]
    for event in told:
        experiment.retract(event.pull, "wrong file")  # type: ignore[arg-type]
    status = experiment.status()
    assert status.best is None
    assert status.samples == samples - len(told)
    pull = experiment.ask()[0]
    assert pull.arm == "c"
    experiment.tell(pull, 0.9)
    run(experiment, {"a": 0.1, "b": 0.2, "c": 0.9})
    assert experiment.status().best == "c"
    assert [code for code, _, _ in experiment.status().promise.caveats] == ["readings", "retracted"]


def test_a_correction_may_bring_the_decision() -> None:
    """The rule is asked after a retraction, too, and the decision is in the log at once."""
    experiment = without_alarm(["a", "b", "c"], sigma=1.0, seed=1, strategy="uniform")
    pulls = experiment.ask(300)
    wrong = next(p for p in pulls if p.arm == "c")
    experiment.tell([(p, -250.0 if p is wrong else float(p.arm == "c")) for p in pulls])
    assert experiment.status().best is None
    experiment.retract(wrong, "a sign was lost", 1.0)
    assert kinds(experiment)[-2:] == ["retracted", "decided"]
    assert experiment.status().best == "c"


def test_racing_forgets_what_it_dropped_after_a_retraction() -> None:
    """An arm that was thrown out by a wrong value is back in the race."""
    experiment = without_alarm(["a", "b", "c"], sigma=1.0, seed=1, strategy="racing")
    run(experiment, {"a": 0.0, "b": 0.1, "c": 3.0})
    assert experiment.status().best == "c"
    for event in [e for e in experiment.history() if e.kind == "told" and e.arm == "c"]:
        experiment.retract(event.pull, "wrong unit", -3.0)  # type: ignore[arg-type]
    run(experiment, {"a": 3.0, "b": 0.1, "c": -3.0})
    assert experiment.status().best == "a"


def test_results_after_the_decision_are_recorded_and_change_nothing() -> None:
    """A decision is final; results that were on their way are kept in the log, and count for nothing."""
    experiment = make()
    pulls = experiment.ask(200)
    while not experiment.status().best:
        pull = pulls.pop(0)
        experiment.tell(pull, {"a": 0.1, "b": 0.2, "c": 0.9}[pull.arm])
    before = experiment.status()
    assert before.best == "c"
    assert len(pulls) > 50
    assert sum(column(before, "pending").values()) == len(pulls)
    assert {experiment.tell(pull, float(pull.arm == "a")) for pull in pulls} == {"told"}
    experiment.observe("a", [1.0] * 50)
    after = experiment.status()
    assert (after.best, after.samples, after.means) == (before.best, before.samples, before.means)
    assert (after.pulls, intervals(after)) == (before.pulls, intervals(before))
    assert sum(column(after, "pending").values()) == 0
    assert kinds(experiment).count("decided") == 1
    told = [event.pull for event in experiment.history() if event.kind == "told"]
    assert sorted(told) == list(range(1, 251))  # type: ignore[type-var]


def test_a_pull_that_can_never_be_answered_may_be_retracted() -> None:
    """It is void: the decision goes on without it, and the caveats say so."""
    experiment = make()
    pulls = experiment.ask(3)
    experiment.tell([(pulls[0], 0.5), (pulls[2], 0.5)])
    experiment.retract(pulls[1], "the sample was spilled")
    status = experiment.status()
    assert status.samples == 2
    assert column(status, "pending") == {"a": 0, "b": 0, "c": 0}
    assert experiment.tell(pulls[1], 0.5) == "late"
    assert experiment.ask()[0].arm == "b"


# -- observing, resuming, seeds ----------------------------------------------------------------------


def test_data_that_existed_before_count() -> None:
    """Arms that have values are not pulled first; the caveats mention them."""
    experiment = make()
    experiment.observe("a", 0.25)
    experiment.observe("b", [0.5, 0.75])
    assert experiment.status().pulls == {"a": 1, "b": 2, "c": 0}
    assert experiment.status().means == {"a": 0.25, "b": 0.625, "c": None}
    assert experiment.ask()[0].arm == "c"
    assert [code for code, _, _ in experiment.status().promise.caveats] == ["observed"]
    with pytest.raises(InvalidInputError):
        experiment.observe("a", [0.5, math.nan])
    with pytest.raises(InvalidInputError):
        experiment.observe("a", "0.5")  # type: ignore[arg-type]
    assert experiment.status().pulls["a"] == 1


def test_a_second_create_must_agree() -> None:
    """The same settings take it up; any other is refused by name."""
    store = MemoryStore()
    first = make(store=store)
    first.ask(2)
    again = make(store=store)
    assert again.ask()[0].id == 3
    assert make(store=store, seed=None).settings.seed == 1
    changes: dict[str, Any] = {
        "bounds": (0, 2),
        "strategy": "ebs-c",
        "stopping": "practical",
        "minimize": True,
        "order": "arrival",
        "seed": 2,
    }
    for key, value in changes.items():
        with pytest.raises(InvalidInputError, match=key):
            make(store=store, **{key: value})
    other = MemoryStore()
    make(store=other, sigma=1.0)
    with pytest.raises(InvalidInputError, match="sigma"):
        make(store=other, sigma=2.0)
    with pytest.raises(InvalidInputError, match="arms"):
        Experiment.create(store, "x", ["a", "b"], bounds=(0, 1), seed=1, strategy="uniform")
    with pytest.raises(InvalidInputError, match="delta"):
        Experiment.create(store, "x", ["a", "b", "c"], 0.1, bounds=(0, 1), seed=1, strategy="uniform")


def test_parameters_of_strategy_and_rule_come_back() -> None:
    """What was created with an object is opened with an equal one."""
    store = MemoryStore()
    chosen = truebest.EBS(tracking="C", gamma=0.2, clip=(0.0, 1.0))
    make(store=store, strategy=chosen, stopping=truebest.Mixture(c=5.0))
    again = Experiment.open(store, "x")
    assert again.settings.strategy == chosen
    assert again.settings.stopping == truebest.Mixture(c=5.0)


def test_a_strategy_of_ones_own_must_be_handed_in_again() -> None:
    """Without it one may look but not ask; with another one it is refused."""

    @truebest.strategy
    def mine(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
        return 0

    store = MemoryStore()
    experiment = make(store=store, strategy=mine)
    experiment.tell([(p, 0.5) for p in experiment.ask(4)])
    blind = Experiment.open(store, "x")
    assert blind.status().samples == 4
    with pytest.raises(InvalidInputError, match=r"pass it: Experiment\.open"):
        blind.ask()
    assert blind.tell(Experiment.open(store, "x", strategy=mine).ask()[0], 0.5) == "told"
    with pytest.raises(InvalidInputError, match="'mine'"):
        Experiment.open(store, "x", strategy=truebest.Uniform())


def test_rules_of_another_version_are_refused() -> None:
    """An experiment that would be judged otherwise than it was begun is not taken up."""
    from truebest.experiment.events import CREATED, Entry

    store = MemoryStore()
    record = make().settings.to_record()
    store.create("x", Entry(CREATED, data={**record, "decisions": 99}))
    with pytest.raises(StoreError, match="version 99"):
        Experiment.open(store, "x")


def test_a_damaged_snapshot_is_replayed_over() -> None:
    """A snapshot is a cache: garbage in its place costs time and nothing else."""

    def course() -> tuple[MemoryStore, Experiment]:
        store = MemoryStore()
        experiment = make(store=store, strategy="ebs-c", stopping="mixture")
        for _ in range(200):
            pull = experiment.ask()[0]
            experiment.tell(pull, {"a": 0.4, "b": 0.5, "c": 0.55}[pull.arm])
        return store, experiment

    _, twin = course()
    want = twin.status().means, [pull.arm for pull in twin.ask(5)]
    assert len(set(want[1])) > 1
    store, _ = course()
    with store.reading("x") as log:
        good = log.snapshot()
    assert good is not None
    garbage = ("", "{}", "[1]", "nonsense", good[1].replace('"snapshot": ', '"snapshot": 9'))
    for text, arm in zip(garbage, want[1], strict=True):
        assert text != good[1]
        with store.writing("x") as log:
            log.save_snapshot(good[0], text)
        again = Experiment.open(store, "x")
        assert again.status().means == want[0]
        assert again.ask()[0].arm == arm


def test_seeds_differ_between_all_pulls() -> None:
    """A bijection of 31 bits: no two pulls of an experiment share a seed, and experiments differ."""
    seeds = {pull_seed(7, pull) for pull in range(1, 100_001)}
    assert len(seeds) == 100_000
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert len(seeds & {pull_seed(8, pull) for pull in range(1, 1001)}) < 10


@pytest.mark.parametrize(
    "bad",
    [
        {"arms": ["a"]},
        {"arms": ["a", "a"]},
        {"arms": "ab"},
        {"arms": ["a", ""]},
        {"arms": ["a", "b\n"]},
        {"arms": ["a", "\x1b[31m"]},
        {"arms": ["a", "\ud800"]},
        {"arms": ["a", 1]},
        {"delta": 0.0},
        {"delta": 1.0},
        {"delta": math.nan},
        {"bounds": None},
        {"sigma": 1.0},
        {"bounds": (1, 0)},
        {"bounds": (0, math.inf)},
        {"bounds": "01"},
        {"bounds": None, "sigma": 0.0},
        {"bounds": None, "sigma": -1.0},
        {"strategy": "best"},
        {"stopping": "never"},
        {"order": "random"},
        {"seed": -1},
        {"seed": 0.5},
        {"lease": 0.0},
        {"lease": math.nan},
        {"lease": 1e308},
        {"minimize": "yes"},
        {"name": ""},
        {"name": "a\x00b"},
        {"store": "file.db"},
        {"store": "mysql://x"},
        {"store": ""},
    ],
    ids=str,
)
def test_bad_settings_are_refused_in_one_sentence(bad: dict[str, Any]) -> None:
    """With nothing stored."""
    store = MemoryStore()
    given: dict[str, Any] = {"store": store, "name": "x", "arms": ["a", "b"], "bounds": (0, 1)} | bad
    with pytest.raises(InvalidInputError) as caught:
        Experiment.create(**given)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) > 30
    assert store.names() == []


@pytest.mark.parametrize("name", ["Robert'); DROP TABLE events;--", "日本語", "a/b c?d=%20", "🦄" * 50, " x"])
def test_names_are_data(name: str) -> None:
    """SQL, emoji and blanks in names of experiments and arms come back as they were."""
    experiment = Experiment.create("memory:", name, [name, "b"], bounds=(0, 1))
    assert experiment.ask()[0].arm == name
    assert experiment.status().name == name


def test_threads_may_share_an_experiment() -> None:
    """Eight threads ask and tell at once: every pull is told once."""
    experiment = make(sigma=1000.0)

    def work() -> None:
        for _ in range(50):
            for pull in experiment.ask(2):
                experiment.tell(pull, float(pull.id))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = [e.pull for e in experiment.history() if e.kind == "told"]
    assert sorted(told) == list(range(1, 801))  # type: ignore[type-var]
    assert experiment.status().samples == 800


def test_the_forecast_comes_true_for_constant_arms() -> None:
    """With values that equal their means the forecast is right to a few per cent, arm by arm."""
    values = {"a": 0.1, "b": 0.5, "c": 0.8}
    for strategy in ("tas-d", "uniform"):
        experiment = make(strategy=strategy, stopping="mixture")
        assert experiment.forecast().samples is None
        run(experiment, values, most=30)
        begun = experiment.status().pulls
        forecast = experiment.forecast()
        assert forecast.samples is not None
        run(experiment, values)
        status = experiment.status()
        assert status.best == "c"
        assert status.samples - 30 == pytest.approx(forecast.samples, abs=2)
        real = {arm: status.pulls[arm] - begun[arm] for arm in values}
        assert sum(real.values()) > 30
        assert forecast.pulls == pytest.approx(real, abs=2)
        assert experiment.forecast().samples == 0


def test_ties_have_no_forecast() -> None:
    """Two leading arms with equal means: it cannot be said."""
    experiment = make()
    run(experiment, {"a": 0.5, "b": 0.5, "c": 0.1}, most=30)
    assert experiment.forecast().samples is None
    assert "share the lead" in str(experiment.forecast())


def test_only_a_strategy_that_says_so_may_stop_by_itself() -> None:
    """Otherwise its stop would be sold with the promise of the rule, which it is not."""

    @truebest.strategy(name="eager")
    def undeclared(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
        return pulls.size + leader

    @truebest.strategy(name="eager", stops_itself=True)
    def declared(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
        return pulls.size + leader

    experiment = make(strategy=undeclared)
    experiment.tell([(p, 0.5) for p in experiment.ask(3)])
    with pytest.raises(InvalidInputError, match="stops_itself=True"):
        experiment.ask()
    assert experiment.status().best is None
    experiment = make(strategy=declared)
    run(experiment, {"a": 0.1, "b": 0.2, "c": 0.9})
    assert experiment.status().best == "c"
    assert experiment.status().promise.words == "no guarantee (the strategy 'eager' stops by itself)"


def test_racing_keeps_the_promise() -> None:
    """It drops arms by the same pairwise rule."""
    assert make(strategy="racing").status().promise.words.startswith("wrong with probability at most 5%")
    assert "not proven" in make(strategy="racing", stopping="practical").status().promise.words


def test_a_violation_after_the_decision_leaves_it_without_a_promise() -> None:
    """It is recorded as late, as there is nothing left to suspend; a correction brings the promise back."""
    experiment = make()
    experiment.ask(9)
    pulls = experiment.ask(200)
    slow = pulls[-1]
    experiment.tell([(p, float(p % 3 == 0)) for p in range(1, slow.id)])
    assert experiment.status().best == "c"
    assert [experiment.tell(slow, 7.0) for _ in range(2)] == ["late", "repeated"]
    assert str(experiment.status()).startswith("c is best; no guarantee (values outside")
    assert suspended(experiment.status()) == ""
    experiment.retract(slow, "a point was lost", 0.7)
    assert str(experiment.status()).startswith("c is best; wrong with probability at most 5%, assuming")


def test_caveats_count_every_kind_per_arm() -> None:
    """Failed, lapsed, issued again, late, violated and corrected, brought along."""
    store = Clocked()
    experiment = make(store=store, lease=60.0)
    experiment.observe("c", [0.5, 0.5])
    a, b = experiment.ask(2)
    experiment.fail(a, "x")
    store.time += 61.0
    experiment.ask(2)
    experiment.tell(a, 0.5)
    experiment.tell(a, 0.25)
    with pytest.raises(SuspendedError):
        experiment.tell(b, 2.0)
    experiment.retract(b, "x", 0.5)
    assert experiment.status().promise.caveats == (
        ("failed", "informs", "pulls that gave no value: 1 (a 1)"),
        ("lapsed", "informs", "pulls that were not answered in time: 1 (b 1)"),
        ("late", "informs", "late answers, ignored: 1 (a 1)"),
        ("corrected", "informs", "values outside the bounds, taken back or corrected by hand: 1 (b 1)"),
        (
            "observed",
            "informs",
            "values from before the experiment, which must not have been chosen by value: 2 (c 2)",
        ),
    )


def test_an_experiment_keeps_its_lease() -> None:
    """So that `identify` may take up what was created with another one."""
    store = MemoryStore()
    make(store=store, lease=5.0)
    assert make(store=store, lease=7.0).settings.lease == 5.0
    result = truebest.identify(
        {"a": lambda: 0.1, "b": lambda: 0.2, "c": lambda: 0.9},
        bounds=(0, 1),
        strategy="uniform",
        max_samples=1000,
        store=store,
        name="x",
    )
    assert result.best == "c"


def test_successes_may_be_told_as_true_and_false() -> None:
    """And any real number that float() takes."""
    from decimal import Decimal
    from fractions import Fraction

    experiment = make()
    pulls = experiment.ask(6)
    given: list[Any] = [True, False, np.float32(0.5), Decimal("0.25"), Fraction(1, 4), np.array(0.5)]
    assert experiment.tell(list(zip(pulls, given, strict=True))) == ["told"] * 6
    assert experiment.status().means == {"a": 0.625, "b": 0.125, "c": 0.5}


def test_no_password_is_shown(postgres_url: str) -> None:
    """Not in the repr of an experiment either."""
    url = postgres_url.replace("test@", "test:secret@")
    with Experiment.create(url, "x", ["a", "b"], sigma=1.0) as experiment:
        assert "secret" not in repr(experiment)


def test_a_log_with_events_of_a_newer_version_is_refused() -> None:
    """One sentence with the advice to upgrade."""
    from truebest.experiment.events import Entry

    store = MemoryStore()
    make(store=store)
    with store.writing("x") as log:
        log.append([Entry("teleported")])
    with pytest.raises(StoreError, match="upgrade"):
        Experiment.open(store, "x").status()


def test_a_wrong_first_value_does_no_lasting_harm() -> None:
    """A typing error of 8e12, retracted: the others' means are exact, as if it had never been."""
    experiment = make(sigma=1.0, stopping="mixture")  # which decides on it, before sigma can be refuted
    first, *others = experiment.ask(30)
    experiment.tell([(first, 8e12), *((p, {"a": 0.0, "b": 0.3, "c": 2.0}[p.arm]) for p in others)])
    assert experiment.status().best == "a"
    experiment.retract(first, "a typing error", 0.0)
    assert experiment.status().means == pytest.approx({"a": 0.0, "b": 0.3, "c": 2.0}, abs=1e-14)
    run(experiment, {"a": 0.0, "b": 0.3, "c": 2.0})
    assert experiment.status().best == "c"


@pytest.mark.parametrize("scale", [{"sigma": 1e200}, {"sigma": 1e-200}, {"bounds": (0, 1e308)}])
def test_a_scale_at_the_end_of_the_range_is_refused(scale: dict[str, Any]) -> None:
    """Before anything can overflow."""
    with pytest.raises(InvalidInputError, match="between 1e-150 and 1e150"):
        make(**scale)


def test_large_scales_and_values_work() -> None:
    """Up to 1e149, and values up to 2^43 sigma."""
    experiment = make(sigma=1e149)
    pulls = experiment.ask(6)
    with pytest.raises(InvalidInputError):
        experiment.tell(pulls[0], 1e162)
    experiment.tell([(p, 8e161 if p.arm == "a" else -8e161) for p in pulls])
    assert experiment.status().leader == "a"


def test_nothing_more_is_asked_when_what_waits_will_decide() -> None:
    """A lost pull does not cost samples: ask waits for it, and issues it again when it lapses."""
    store = Clocked()
    experiment = make(store=store, lease=60.0)
    pulls = experiment.ask(300)
    lost = pulls[5]
    experiment.tell([(p, float(p.arm == "c")) for p in pulls if p is not lost])
    assert experiment.status().best is None
    assert "299" not in str(experiment.status().samples)
    assert "more waiting for an earlier pull" in str(experiment.status())
    assert experiment.ask(10) == []
    assert str(experiment.forecast()) == "the decision waits for a pull that is not settled"
    store.time += 61.0
    (again,) = experiment.ask(10)
    assert again.id == lost.id
    experiment.tell(again, 1.0)
    assert experiment.status().best == "c"


def test_intervals_stay_within_what_bounds_allow() -> None:
    """Means in [0, 1] differ by at most 1."""
    experiment = make()
    experiment.tell([(p, 0.5) for p in experiment.ask(3)])
    assert all(-1.0 <= low <= high <= 1.0 for low, high in intervals(experiment.status()).values())


def test_what_an_arm_is_may_be_kept_and_must_not_change() -> None:
    """`about` refuses another command under an old name."""
    store = MemoryStore()
    about = {"a": "./run a", "b": "./run b", "c": "./run c"}
    make(store=store, about=about)
    make(store=store)
    make(store=store, about=about)
    with pytest.raises(InvalidInputError, match="when it was created, got"):
        make(store=store, about={**about, "c": "./run d"})


def test_a_log_that_was_replaced_is_noticed(tmp_path: Path) -> None:
    """A backup moved into place: the experiment goes on from what is there; another one is refused."""
    import shutil

    file, backup = tmp_path / "x.db", tmp_path / "backup.db"
    url = f"sqlite:///{file}"
    experiment = make(store=url)
    run(experiment, {"a": 0.4, "b": 0.5, "c": 0.6}, most=5)
    experiment.close()
    shutil.copy(file, backup)
    run(experiment, {"a": 0.4, "b": 0.5, "c": 0.6}, most=20)
    experiment.close()
    shutil.move(backup, file)
    assert experiment.status().samples == 5
    assert experiment.ask()[0].id == 6
    experiment.close()
    for left in tmp_path.glob("x.db*"):
        left.unlink()
    make(store=url, bounds=(0, 2)).close()
    with pytest.raises(StoreError, match="replaced"):
        experiment.status()
    experiment.close()


def test_a_fork_beside_a_busy_thread_does_not_hang() -> None:
    """The lock of a thread that is not there is not waited for."""
    import os
    import signal

    experiment = make()
    experiment.ask()
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with experiment._journal._lock:
            held.set()
            release.wait(600)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(600)
    child = os.fork()
    if child == 0:
        signal.alarm(600)  # if it hangs
        os._exit(0 if experiment.status().samples == 0 else 1)
    assert os.waitpid(child, 0)[1] == 0
    release.set()
    thread.join()


ANYTHING = st.one_of(
    st.floats(),
    st.integers(),
    st.booleans(),
    st.complex_numbers(),
    st.decimals(),
    st.fractions(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.none(),
    st.lists(st.floats(), max_size=3),
    st.floats(width=32).map(np.float32),
    st.floats().map(np.array),
    st.floats().map(lambda x: np.array([x, x])),
    st.just(object()),
)


@given(st.lists(ANYTHING, min_size=1, max_size=4))
def test_tell_takes_finite_real_numbers_or_nothing(values: list[Any]) -> None:
    """Whatever is told: all of it is stored as the numbers that it is, or nothing."""
    experiment = make(sigma=1.0, strategy="uniform")
    pulls = experiment.ask(len(values))
    lines = len(experiment.history())
    try:
        kinds = experiment.tell(list(zip(pulls, values, strict=True)))
    except InvalidInputError:
        assert len(experiment.history()) == lines
        return
    assert kinds == ["told"] * len(values)
    told = [event.value for event in experiment.history() if event.kind == "told"]
    assert told == [float(value) for value in values]
    assert all(math.isfinite(value) for value in told if value is not None)
