"""A lost connection: the call goes on when the server is back, and nothing is written twice or lost."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest

from support.postgres import PostgresServer, find_postgres
from truebest import ArmError, Experiment, Pull, identify
from truebest.errors import LostConnectionError, StoreError
from truebest.experiment.store import Log, _base
from truebest.experiment.store.memory import MemoryStore
from truebest.running import run as running


class Shaky(MemoryStore):
    """A store whose connection breaks before a block, or after its commit, as often as told."""

    def __init__(self) -> None:
        super().__init__()
        self.before = self.after = self.when_reading = 0

    @contextmanager
    def writing(self, name: str, *, patience: float | None = None) -> Iterator[Log]:
        if self.before:
            self.before -= 1
            raise LostConnectionError("gone before the block")
        with super().writing(name, patience=patience) as log:
            yield log
        if self.after:
            self.after -= 1
            raise LostConnectionError("gone after the commit")

    @contextmanager
    def reading(self, name: str) -> Iterator[Log]:
        if self.when_reading:
            self.when_reading -= 1
            raise LostConnectionError("gone while reading")
        with super().reading(name) as log:
            yield log


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses of milliseconds."""
    monkeypatch.setattr(_base, "FIRST", 0.001)


def begin(store: Shaky) -> Experiment:
    """Two arms."""
    return Experiment.create(store, "x", ["a", "b"], bounds=(0, 1), seed=1)


@pytest.mark.parametrize("when", ["before", "after"])
def test_every_call_is_done_once(when: str) -> None:
    """Whether the connection breaks before the commit or after it: the same answers, the same log."""
    quiet, shaky = MemoryStore(), Shaky()
    courses = []
    for store in (quiet, shaky):
        experiment = Experiment.create(store, "x", ["a", "b"], bounds=(0, 1), seed=1, lease=None)
        answers: list[object] = []
        for step in range(6):
            setattr(store, when, 2 if step % 2 else 1)
            pulls = experiment.ask(2)
            answers += [(pull.id, pull.arm) for pull in pulls]
            setattr(store, when, 1)
            answers += experiment.tell([(pull, 0.5) for pull in pulls])
        setattr(store, when, 1)
        experiment.observe("a", [0.25, 0.75])
        log = [(e.seq, e.kind, e.pull, e.arm, e.value) for e in experiment.history()]
        courses.append((answers, log))
    assert courses[0] == courses[1]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_lease_is_renewed_though_the_connection_breaks(when: str) -> None:
    """A worker whose pull takes hours renews it from time to time; one lost connection must not end it."""
    store = Shaky()
    experiment = Experiment.create(store, "x", ["a", "b"], bounds=(0, 1), lease=50.0)
    pulls = experiment.ask(2)
    setattr(store, when, 2)
    assert experiment.renew(pulls) == 2
    assert getattr(store, when) == 0
    with store.reading("x") as log:
        assert log.leases().keys() == {pull.id for pull in pulls}


def test_reading_goes_on_too() -> None:
    """Status, history and the rest."""
    store = Shaky()
    experiment = begin(store)
    experiment.ask(2)
    for look in (experiment.status, experiment.history, experiment.forecast, experiment.course().advance):
        store.when_reading = 3
        look()
        assert store.when_reading == 0


def test_it_gives_up_after_the_stated_time(caplog: pytest.LogCaptureFixture) -> None:
    """With the store's own words; and says when it begins to try, and when the store is back."""
    store = Shaky()
    experiment = begin(store)
    experiment.ask()
    store.when_reading = 2
    with caplog.at_level(logging.WARNING, "truebest"):
        experiment.status()
    first, second = (record.getMessage() for record in caplog.records)
    assert first == "gone while reading; trying again for 120 s"
    assert second.startswith("memory: is back after")
    store.reconnect, store.when_reading = 0.2, 10**6
    begun = time.monotonic()
    with pytest.raises(LostConnectionError, match="gone while reading"):
        experiment.status()
    assert time.monotonic() - begun < 100.0, "it gave up after 0.2 s, not after 120"
    store.when_reading, store.reconnect = 1, 0.0
    with pytest.raises(StoreError):
        experiment.status()
    experiment.status()


def test_pauses_double_and_vary() -> None:
    """From the first to the longest, each between half and one and a half of its length."""
    for attempt, length in ((1, 0.1), (2, 0.2), (5, 1.6), (7, 5.0), (10_000, 5.0)):
        pauses = [_base.backoff(attempt, 0.1, 5.0) for _ in range(50)]
        assert 0.5 * length <= min(pauses) < max(pauses) <= 1.5 * length
        assert max(pauses) - min(pauses) > 0.3 * length  # 50 uniform draws: fails with probability 1e-7


@pytest.mark.slow
def test_a_restarted_server_does_not_end_a_worker() -> None:
    """A real PostgreSQL, stopped in the middle of a run of two workers, and back after two seconds."""
    rates = {"a": 0.35, "b": 0.65}

    def arm(name: str, pull: Pull) -> float:
        time.sleep(0.004)
        return float((pull.seed % 1000) / 1000 < rates[name])

    arms = {"a": lambda pull: arm("a", pull), "b": lambda pull: arm("b", pull)}
    with PostgresServer(find_postgres(), fsync=False) as server:
        url = server.new_database()
        begun = threading.Event()

        def restart() -> None:
            begun.wait(600)
            server.stop()
            time.sleep(2.0)
            server.start()

        results = []

        def work(worker: str) -> None:
            options = {"bounds": (0, 1), "store": url, "name": "x", "worker": worker, "rng": 3}
            looks = [lambda status: begun.set() if status.samples > 20 else None]
            results.append(identify(arms, timeout=120, callbacks=looks, **options))  # type: ignore[arg-type]

        threads = [threading.Thread(target=work, args=(name,), daemon=True) for name in ("one", "two")]
        threads.append(threading.Thread(target=restart, daemon=True))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(600)
        assert [result.best for result in results] == ["b", "b"]
        with Experiment.open(url, "x") as experiment:
            assert experiment.verify().sound
            told = [event.pull for event in experiment.history() if event.kind == "told"]
            gaps = [e.time for e in experiment.history()]
        assert len(told) == len(set(told))
        assert max(b - a for a, b in pairwise(gaps)) > 1.5  # the restart was in the middle


def test_a_failed_pull_is_repeated_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer each time, while other workers go on; and the failure that repeats is said to be one."""
    monkeypatch.setattr(running, "FIRST_WAIT", 0.05)
    calls: list[float] = []

    def flaky() -> float:
        calls.append(time.monotonic())
        if len(calls) < 5:
            raise RuntimeError("out of memory")
        return 0.0

    result = identify({"a": flaky, "b": lambda: 1.0}, bounds=(0, 1), on_error="retry", max_samples=1000)
    pauses = [b - a for a, b in pairwise(calls[:5])]
    for pause, length in zip(pauses, (0.05, 0.1, 0.2, 0.4), strict=True):
        assert pause >= 0.5 * length
    assert result.best == "b"
    monkeypatch.setattr(running, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(running, "LONGEST_WAIT", 0.002)

    def broken() -> float:
        raise RuntimeError("no such file")

    with pytest.raises(
        ArmError, match=r"10 times .* with the same seed \(\d+\) and the same error each time"
    ):
        identify({"a": broken, "b": lambda: 1.0}, bounds=(0, 1), on_error="retry", max_samples=1000)
    count = iter(range(1000))

    def unlucky() -> float:
        raise RuntimeError(f"error {next(count)}")

    with pytest.raises(ArmError, match=r"10 times .* \(RuntimeError: error 9\); dropping"):
        identify({"a": unlucky, "b": lambda: 1.0}, bounds=(0, 1), on_error="retry", max_samples=1000)
