"""Nothing that was acknowledged is lost: writers and servers killed at random moments."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from support.crash import begin, check, killed_worker, outcome, uninterrupted, work
from support.postgres import PostgresServer, find_postgres
from truebest.errors import StoreError
from truebest.experiment.experiment import Experiment
from truebest.experiment.store import Store, open_store

KILLS = {"sqlite": 500, "postgresql": 100}
CHECKS = 10  # how often the log is read back in between


@pytest.mark.slow
@pytest.mark.parametrize("kind", KILLS)
def test_a_killed_writer_loses_nothing(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """500 kills on SQLite, 100 on PostgreSQL: every acknowledged value is there once, same decision.

    The kills have power: at least a third of them hit a worker between its first tell and its end. So the
    moment is drawn from a time that grows with every worker that told nothing, and shrinks with the others.
    """
    url = (
        f"sqlite:///{tmp_path / 'crash.db'}" if kind == "sqlite" else request.getfixturevalue("postgres_url")
    )
    rng = random.Random(1)
    want = uninterrupted()
    acknowledged: set[int] = set()
    kills, in_the_middle, number, longest = 0, 0, 1, 0.03
    begin(url, "1").close()
    while kills < KILLS[kind]:
        told, done = killed_worker(url, str(number), rng.uniform(0.0, longest))
        acknowledged |= set(told)
        kills += not done
        in_the_middle += not done and bool(told)
        longest *= 1.1 if not told else 0.95
        if done or kills % (KILLS[kind] // CHECKS) == 0:
            check(url, str(number), acknowledged)
        if done:  # on to the next experiment
            assert _outcome(url, str(number)) == want
            number, acknowledged = number + 1, set()
            begin(url, str(number)).close()
    assert in_the_middle >= kills / 3
    last = begin(url, str(number))
    work(last)
    last.close()
    check(url, str(number), acknowledged)
    assert _outcome(url, str(number)) == want


def _outcome(url: str, name: str) -> str:
    store = open_store(url)
    found = outcome(store, name)
    store.close()
    return found


@pytest.mark.slow
def test_a_killed_server_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL with fsync, killed with all its processes five times in the middle of the work."""
    monkeypatch.setattr(Store, "reconnect", 0.0)  # a client that gives up at once
    want, rng = uninterrupted(), random.Random(2)
    told_in_all, number = 0, 1
    acknowledged: set[int] = set()
    experiment: Experiment

    def work_until_killed() -> None:
        nonlocal number, acknowledged, experiment
        while True:
            work(experiment, acknowledged.add)
            assert _outcome(url, str(number)) == want
            experiment = begin(url, str(number + 1))
            number, acknowledged = number + 1, set()

    with PostgresServer(find_postgres()) as server:
        url = server.new_database()
        for _ in range(5):
            experiment = begin(url, str(number))
            timer = threading.Timer(rng.uniform(0.05, 0.2), server.kill)
            timer.start()
            with pytest.raises(StoreError, match=r"again|repeat|server"):
                work_until_killed()
            timer.join()
            with pytest.raises(StoreError):
                experiment.status()
            server.start()
            assert experiment.status().name == str(number)
            experiment.close()
            told_in_all += len(acknowledged)
            check(url, str(number), acknowledged)
        last = begin(url, str(number))
        work(last, acknowledged.add)
        last.close()
        check(url, str(number), acknowledged)
        assert _outcome(url, str(number)) == want
    assert told_in_all > 20


def _forked_worker(url: str, name: str) -> int:
    child = os.fork()
    if child == 0:
        work(begin(url, name))
        os._exit(0)
    return child


def test_a_worker_that_stops_answering_is_replaced(tmp_path: Path) -> None:
    """SIGSTOP in place of SIGKILL: another process takes over, and the old one's late tells do no harm."""
    url = f"sqlite:///{tmp_path / 'stop.db'}"
    begin(url, "x").close()
    child = _forked_worker(url, "x")
    time.sleep(0.2)
    os.kill(child, signal.SIGSTOP)
    other = _forked_worker(url, "x")
    time.sleep(0.1)
    os.kill(child, signal.SIGCONT)
    for process in (child, other):
        assert os.waitpid(process, 0)[1] == 0
    check(url, "x", set())
    store = open_store(url)
    assert begin(store, "x").status().best == "c"
    store.close()
