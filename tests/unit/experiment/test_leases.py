"""A pull lapses when its worker is silent, not when it is slow; and status says who has what."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from support.clock import Clocked
from truebest import Experiment, InvalidInputError, Pull, identify
from truebest.experiment import leases
from truebest.experiment.store import open_store
from truebest.telling import words


def begin(store: Clocked, worker: str = "one", lease: float | None = 100.0) -> Experiment:
    """Two arms, with leases of a hundred seconds."""
    return Experiment.create(store, "x", ["a", "b"], bounds=(0, 1), seed=1, lease=lease, worker=worker)


def until_it_waits(experiment: Experiment) -> None:
    """All that can be asked and told while a pull is out; arm a is the better one."""
    while pulls := experiment.ask(4):
        experiment.tell([(pull, float(pull.arm == "a")) for pull in pulls])
    assert pulls.reason == "wait"


def test_a_slow_pull_that_is_renewed_does_not_lapse() -> None:
    """However long it takes; and one that is not renewed lapses when its lease ends."""
    store = Clocked()
    one, two = begin(store), begin(store, "two")
    (slow,) = one.ask()
    until_it_waits(two)
    for _ in range(20):
        store.time += 90.0
        assert one.renew(slow) == 1
        assert two.ask().reason == "wait"
    store.time += 101.0  # silent
    (again,) = two.ask()
    assert (again.id, again.seed) == (slow.id, slow.seed)
    assert [e.kind for e in two.history() if e.pull == slow.id] == ["asked", "lapsed", "asked"]


def test_without_renewal_it_lapses_as_before() -> None:
    """The negative control."""
    store = Clocked()
    one, two = begin(store), begin(store, "two")
    (slow,) = one.ask()
    until_it_waits(two)
    store.time += 99.0
    assert two.ask().reason == "wait"
    store.time += 1.0
    assert two.ask()[0].id == slow.id


def test_renewals_leave_no_trace_in_the_log() -> None:
    """They are beside it: the lines, and so the decision, are the same."""
    store = Clocked()
    one = begin(store)
    (pull,) = one.ask()
    before = one.history()
    one.renew([pull.id, pull])
    assert one.history() == before
    assert before[-1].data == {"deadline": 1100.0, "worker": "one"}


def test_what_is_not_pending_is_not_renewed() -> None:
    """Settled, failed or of another experiment; and pulls without a lease need no renewal."""
    store = Clocked()
    one = begin(store)
    first, second, third = one.ask(3)
    one.tell(first, 1.0)
    one.fail(second, "broken")
    assert one.renew([first, second, third]) == 1
    with pytest.raises(InvalidInputError, match="another experiment"):
        one.renew(Pull(1, "a", 12345))
    forever = Experiment.create(store, "y", ["a", "b"], bounds=(0, 1), lease=None)
    assert forever.renew(forever.ask(2)) == 2


def test_the_status_says_what_the_decision_waits_for() -> None:
    """Which pull, who has it, since when, until when with the renewals, and what to do."""
    store = Clocked()
    one, two = begin(store, "build-7:4711"), begin(store, "two")
    assert two.status().progress.waits_for is None
    (slow,) = one.ask()
    assert two.status().progress.waits_for is None  # nothing waits for it yet
    until_it_waits(two)
    hold = two.status().progress.waits_for
    assert hold is not None
    assert hold[:3] == (slow.id, slow.arm, "build-7:4711")
    assert (hold.until, hold.out) == (1100.0, True)
    assert two.status().to_dict()["progress"]["waits_for"]["worker"] == "build-7:4711"
    store.time += 50.0
    one.renew(slow)
    status = two.status()
    assert status.progress.waits_for is not None
    assert status.progress.waits_for.until == 1150.0
    assert "build-7:4711 has had" in words.hold(status)
    assert "until 1970-01-01 00:19:10 UTC unless renewed" in words.hold(status)
    assert "`truebest reclaim x --worker build-7:4711`" in words.hold(status)
    one.fail(slow, "broken")
    assert "the next ask issues it again" in words.hold(two.status())
    assert two.ask()[0].id == slow.id
    held = two.status().progress.waits_for
    assert held is not None
    assert held.worker == "two"


def test_reclaim_takes_the_pulls_of_one_worker() -> None:
    """Or of all; a name that has none is refused with those that have."""
    store = Clocked()
    one, two = begin(store), begin(store, "two")
    mine, other = one.ask(2), two.ask(3)
    with pytest.raises(InvalidInputError, match=r"no worker 'three' .* with one, two"):
        two.reclaim("three")
    assert two.reclaim("one") == 2
    assert [pull.id for pull in two.ask(2)] == [pull.id for pull in mine]
    assert two.reclaim() == len(other) + 2


def test_a_new_worker_takes_over_from_the_dead_only() -> None:
    """From a process of this host that has ended, its own name, and workers of 0.1; not from the living."""
    store = Clocked()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host = leases.worker_name(None).rpartition(":")[0]
    names = [f"{host}:{ended.pid}", f"elsewhere:{ended.pid}", f"{host}:{os.getppid()}", "me", "colleague"]
    pulls = {name: begin(store, name).ask()[0].id for name in names}
    me = begin(store, "me")
    assert me.take_over(begins=False) == 1
    assert [pull.id for pull in me.ask()] == [pulls[names[0]]]
    assert me.take_over() == 2  # what it has itself: its earlier pull, and the one just asked
    assert {pull.id for pull in me.ask(2)} == {pulls["me"], pulls[names[0]]}


def test_the_default_name_is_of_the_process() -> None:
    """Also after a fork; another one must be a text without control characters."""
    experiment = Experiment.create("memory:", "x", ["a", "b"], bounds=(0, 1))
    assert experiment.worker.endswith(f":{os.getpid()}")
    with pytest.raises(InvalidInputError, match="name of a worker"):
        Experiment.create("memory:", "x", ["a", "b"], bounds=(0, 1), worker="a\nb")


def test_identify_keeps_its_slow_pull(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pull five times as long as the lease is not given to another worker, who gets all others."""
    monkeypatch.setattr(leases, "SILENCE", 0.6)
    url = f"sqlite:///{tmp_path}/runs.db"
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> float:
        begun.set()
        assert go_on.wait(600)
        return 1.0

    arms = {"a": slow, "b": lambda: 0.0}
    options = {"bounds": (0, 1), "store": url, "name": "x", "max_samples": 2, "worker": "slow"}
    run = threading.Thread(target=identify, args=(arms,), kwargs=options, daemon=True)
    run.start()
    assert begun.wait(600)
    other = Experiment.open(url, "x", worker="other")
    other.lease = None
    seen = set()
    for _ in range(10):
        seen |= {pull.id for pull in other.ask(1)}
        time.sleep(0.3)
    go_on.set()
    for pull in seen - {1}:  # so that the other run can end, too
        other.tell(pull, 0.0)
    run.join(600)
    assert not run.is_alive()
    assert 1 not in seen
    assert not [event for event in other.history() if event.kind == "lapsed"]


def test_identify_goes_on_when_another_worker_dies(tmp_path: Path) -> None:
    """Of this host: its pull is taken over within seconds, while a lease of an hour has not ended."""
    url = f"sqlite:///{tmp_path}/runs.db"
    code = (
        "import sys, truebest; truebest.Experiment.open(sys.argv[1], 'x').ask(); print('asked', flush=True)"
    )
    experiment = Experiment.create(open_store(url), "x", ["a", "b"], bounds=(0, 1), seed=1)
    (first,) = experiment.ask()
    dead = subprocess.Popen([sys.executable, "-c", code + "; input()", url], stdin=-1, stdout=-1)
    assert dead.stdout is not None
    assert dead.stdout.readline() == b"asked\n"

    def kill() -> None:
        dead.kill()
        dead.communicate()  # until then it is still a process

    threading.Timer(1.0, kill).start()
    experiment.tell(first, 0.5)
    arms = {"a": lambda: 1.0, "b": lambda: 0.0}
    result = identify(arms, store=url, name="x", timeout=60)
    assert (result.best, result.ended) == ("a", "decided")
    assert any(caveat.code == "reclaimed" for caveat in result.promise.caveats)


def test_a_run_in_memory_has_no_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else can see it, so that its slow pulls do not lapse, although nothing renews them."""
    monkeypatch.setattr(leases, "SILENCE", 0.05)
    calls = []

    def slow() -> float:
        calls.append(1)
        time.sleep(0.2 if len(calls) == 1 else 0.0)
        return 0.5

    result = identify({"a": slow, "b": slow}, bounds=(0, 1), workers=2, max_samples=10)
    assert (len(calls), result.promise.caveats) == (10, ())
