"""Many workers on every store, and what happens when the store gives way under an experiment."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from support.crash import begin, check, outcome, uninterrupted, value_of, work
from truebest.errors import StoreError
from truebest.experiment.experiment import Experiment
from truebest.experiment.pulls import Pull
from truebest.experiment.store import open_store
from truebest.experiment.store._sql import SqlStore


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    return "memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'x.db'}"


def test_many_workers_lose_and_double_nothing(url: str) -> None:
    """Sixteen threads, each with an Experiment of its own: every pull told once, all see the same end."""
    store = open_store(url)
    begin(store, "x")
    acknowledged: set[int] = set()

    def run() -> None:
        mine = Experiment.open(store, "x")
        for _ in range(3):
            pulls = mine.ask(2)
            mine.tell([(pull, value_of(pull)) for pull in pulls])
            acknowledged.update(pull.id for pull in pulls)

    threads = [threading.Thread(target=run) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = Experiment.open(store, "x").history()
    told = [event.pull for event in events if event.kind == "told"]
    assert sorted(told) == sorted(acknowledged) == list(range(1, 16 * 6 + 1))  # type: ignore[type-var]
    assert not [event for event in events if event.kind in ("late", "lapsed", "failed")]
    store.close()


def some(experiment: Experiment, pulls: int = 30) -> set[int]:
    """Ask and tell a while."""
    told = set()
    for _ in range(pulls):
        pull = experiment.ask()[0]
        experiment.tell(pull, value_of(pull))
        told.add(pull.id)
    return told


def goes_on(url: str, told: set[int]) -> None:
    """The experiment has what was told, and comes to the end that it would have had."""
    check(url, "x", told)
    store = open_store(url)
    work(begin(store, "x"))
    assert outcome(store, "x") == uninterrupted()
    store.close()


def test_a_full_disk_refuses_and_the_run_resumes(tmp_path: Path) -> None:
    """The tell raises a StoreError, is not acknowledged, and works when there is room again."""
    url = f"sqlite:///{tmp_path / 'small.db'}"
    store = open_store(url)
    experiment = begin(store, "x")
    told = some(experiment)
    assert isinstance(store, SqlStore)
    raw = store._idle[0].raw
    raw.execute(f"PRAGMA max_page_count = {raw.execute('PRAGMA page_count').fetchone()[0]}")
    pulls: list[Pull] = []

    def fill() -> None:
        nonlocal pulls
        while pulls := experiment.ask():
            experiment.tell(pulls[0], value_of(pulls[0]))
            told.add(pulls[0].id)

    with pytest.raises(StoreError, match="disk is full"):
        fill()
    for session in store._idle:
        session.raw.execute("PRAGMA max_page_count = 1000000")
    assert experiment.tell([(pull, value_of(pull)) for pull in pulls]) in (["told"], ["repeated"])
    told.update(pull.id for pull in pulls)
    experiment.close()
    goes_on(url, told)


def test_a_torn_file_is_refused_and_a_backup_goes_on(tmp_path: Path) -> None:
    """A file cut in half raises a StoreError in one sentence and is left as it is."""
    file = tmp_path / "torn.db"
    url = f"sqlite:///{file}"
    with begin(url, "x") as experiment:
        told = some(experiment)
    sqlite3.connect(file).execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
    backup = shutil.copy(file, tmp_path / "backup.db")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    damaged = file.read_bytes()
    with pytest.raises(StoreError) as caught:
        Experiment.open(url, "x").history()
    assert "\n" not in str(caught.value)
    assert file.read_bytes() == damaged
    for left in tmp_path.glob("torn.db-*"):
        left.unlink()
    shutil.copy(backup, file)
    goes_on(url, told)


def test_a_store_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    """With the advice to upgrade; nothing in it changes."""
    file = tmp_path / "new.db"
    url = f"sqlite:///{file}"
    with begin(url, "x") as experiment:
        told = some(experiment)
    connection = sqlite3.connect(file)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer"):
        Experiment.open(url, "x")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    goes_on(url, told)


@pytest.mark.parametrize("moment", ["insert", "commit"])
@pytest.mark.parametrize("patient", [True, False])
def test_a_lost_connection_loses_nothing(
    postgres_url: str, moment: str, patient: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server ends all connections, between calls and in the middle of a tell, again and again.

    Between calls nobody notices; in the middle the tell goes through all the same. A client that does not try
    again is told to repeat it, and repeated it counts once.
    """
    import psycopg

    from truebest.experiment.store.postgres import PostgresSession

    store = open_store(postgres_url)
    store.reconnect = store.reconnect if patient else 0.0
    experiment = begin(store, "x")
    told: set[int] = set()
    ours = "FROM pg_stat_activity WHERE application_name = 'truebest'"
    armed = False

    def end_all() -> None:
        other.execute(f"SELECT pg_terminate_backend(pid) {ours}")
        while other.execute(f"SELECT count(*) {ours}").fetchone() != (0,):
            time.sleep(0.001)

    original = getattr(PostgresSession, moment)

    def cut_off(self: PostgresSession, *values: object) -> object:
        nonlocal armed
        if armed:
            armed = False
            end_all()
        return original(self, *values)

    monkeypatch.setattr(PostgresSession, moment, cut_off)
    with psycopg.connect(postgres_url, autocommit=True) as other:
        for _ in range(5):
            told |= some(experiment, 5)
            end_all()
            pull = experiment.ask()[0]
            armed = True
            if not patient:
                with pytest.raises(StoreError, match="was lost; repeat the call"):
                    experiment.tell(pull, value_of(pull))
                assert not armed
            assert experiment.tell(pull, value_of(pull)) == "told"
            told.add(pull.id)
    store.close()
    goes_on(postgres_url, told)
