"""What can happen to a PostgreSQL server and the way to it, and that it costs one sentence and no line."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from support.postgres import PostgresServer
from support.processes import finish, start
from support.system import require
from truebest import Experiment
from truebest.errors import InvalidInputError, StoreError
from truebest.experiment.events import CREATED, TOLD, Entry
from truebest.experiment.store import Store, _sql, open_store, postgres

FIRST = Entry(CREATED, data={})


@pytest.fixture
def store(postgres_url: str) -> Iterator[postgres.PostgresStore]:
    """A store with an experiment `one` of one line."""
    store = open_store(postgres_url)
    assert isinstance(store, postgres.PostgresStore)
    store.create("one", FIRST)
    yield store
    store.close()


def add(store: Store, name: str = "one") -> None:
    with store.writing(name) as log:
        log.append([Entry(TOLD, pull=1, value=0.5)])


def count(store: Store) -> int:
    with store.reading("one") as log:
        return len(log.entries())


def sql(url: str, *statements: str) -> list[tuple[object, ...]]:
    """Run statements as another client; the rows of the last one, if it has any."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def end_connections(url: str) -> None:
    """What a failing network or an administrator does."""
    sql(
        url,
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'truebest'",
    )


def test_commits_are_durable(store: postgres.PostgresStore) -> None:
    """Every connection has synchronous_commit=on, also when the server's default is off."""
    sql(store.url, "ALTER ROLE test SET synchronous_commit = off")
    try:
        store.close()
        with store.reading("one"), store.reading("one"):
            pass
    finally:
        sql(store.url, "ALTER ROLE test RESET synchronous_commit")
    assert len(store._idle) == 2
    for session in store._idle:
        for write in (True, False):
            session.begin(write=write)
            assert session.rows("SELECT current_setting('synchronous_commit')") == [("on",)]
            session.abandon()


WORKER = """
from truebest import Experiment
experiment, told = Experiment.open(sys.argv[1], "e"), 0
for _ in range(20):
    for pull in experiment.ask(2):
        told += experiment.tell(pull, 0.5) == "told"
print(told)
"""


def work_together(url: str) -> None:
    """Three workers on one experiment, without a word on stderr; what they told is in the log, once."""
    Experiment.create(url, "e", ["a", "b", "c"], bounds=(0, 1), delta=1e-9)
    told = sum(int(finish(one)) for one in [start(WORKER, url) for _ in range(3)])
    with Experiment.open(url, "e") as experiment:
        assert experiment.status().samples == told == 120
        assert experiment.verify().sound


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_the_server_s_default_isolation_does_not_matter(postgres_url: str, level: str) -> None:
    """Writers wait for each other, and then see what the other one has appended."""
    sql(postgres_url, f"ALTER ROLE test SET default_transaction_isolation = '{level}'")
    try:
        work_together(postgres_url)
    finally:
        sql(postgres_url, "ALTER ROLE test RESET default_transaction_isolation")


@contextmanager
def pooled(postgres_server: PostgresServer, mode: str) -> Iterator[str]:
    """A database through PgBouncer, which gives each transaction or statement any of two connections."""
    program = require("pgbouncer")["pgbouncer"]
    folder = Path(tempfile.mkdtemp(prefix="pool-", dir="/tmp"))  # short: a socket has 107 bytes
    (folder / "users").write_text('"test" ""\n')
    (folder / "pool.ini").write_text(
        f"[databases]\n* = host={postgres_server.folder} user=test pool_size=2\n"
        f"[pgbouncer]\nlisten_addr=\nunix_socket_dir={folder}\nauth_type=any\nauth_file={folder}/users\n"
        f"pool_mode={mode}\nserver_round_robin=1\nlogfile={folder}/log\nmax_client_conn=100\n"
    )
    who: dict[str, Any] = {}
    if os.geteuid() == 0:  # as which it does not run
        owner = postgres_server.folder.stat()
        who = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}
        os.chown(folder, owner.st_uid, owner.st_gid)
    with subprocess.Popen([program, "-q", folder / "pool.ini"], cwd=folder, **who) as process:
        url = f"postgresql://test@:6432/postgres?host={folder}"
        try:
            for _ in range(200):
                if list(folder.glob(".s.PGSQL.*")):
                    break
                time.sleep(0.05)
            yield url
        finally:
            process.terminate()
    shutil.rmtree(folder)


@pytest.mark.usefixtures("postgres_url")
def test_a_pool_may_change_the_connection(postgres_server: PostgresServer) -> None:
    """PgBouncer in transaction pooling: nothing is prepared, and no setting is left to a connection."""
    with pooled(postgres_server, "transaction") as url:
        work_together(url)


@pytest.mark.usefixtures("postgres_url")
def test_a_pool_that_splits_transactions_is_refused(postgres_server: PostgresServer) -> None:
    """PgBouncer in statement pooling: at the start, with what to do."""
    with pooled(postgres_server, "statement") as url, pytest.raises(StoreError, match="set pool_mode=tr"):
        open_store(url)


def test_a_full_server_is_waited_for(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """At the opening, as later; a server that is not there is not."""
    sql(postgres_url, "DROP ROLE IF EXISTS few", "CREATE ROLE few LOGIN CONNECTION LIMIT 1")
    url = postgres_url.replace("test@", "few@")
    held = psycopg.connect(url)
    later = threading.Timer(0.5, held.close)
    later.start()
    try:
        with pytest.raises(StoreError, match="refused a statement"):  # it may make no tables: it got in
            open_store(url)
        assert "trying again" in caplog.text
    finally:
        later.join()
        held.close()
        sql(postgres_url, "DROP ROLE few")
    begun = time.monotonic()
    with pytest.raises(StoreError, match="cannot connect"):
        open_store("postgresql://test@/postgres?host=/nowhere")
    assert time.monotonic() - begun < 100.0, "trying again does not help"


def test_tables_lie_in_their_own_schema(store: postgres.PostgresStore) -> None:
    """Nothing is put among the tables of others."""
    found = sql(
        store.url,
        "SELECT schemaname, tablename FROM pg_tables"
        " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    )
    tables = {"experiments", "events", "leases", "snapshots", "version"}
    assert set(found) == {("truebest", table) for table in tables}


def test_experiments_do_not_hinder_each_other(store: postgres.PostgresStore) -> None:
    """While one experiment is being written, another one is written."""
    store.create("two", FIRST)
    with store.writing("one") as log:
        log.append([Entry(TOLD, pull=1)])
        thread = threading.Thread(target=add, args=(store, "two"))
        thread.start()
        thread.join(600)
        assert not thread.is_alive()
    with store.reading("two") as log:
        assert len(log.entries()) == 2


def test_an_idle_connection_that_was_lost_is_replaced(store: postgres.PostgresStore) -> None:
    """Nothing was under way, so nobody needs to know; also with several idle ones."""
    with store.reading("one"), store.reading("one"), store.reading("one"):
        pass
    end_connections(store.url)
    add(store)
    assert count(store) == 2
    assert len(store._idle) == 1


def test_a_connection_lost_inside_a_block_is_one_sentence(store: postgres.PostgresStore) -> None:
    """StoreError, the block is undone, and the next call connects anew."""

    def cut() -> None:
        with store.writing("one") as log:
            log.append([Entry(TOLD, pull=1)])
            end_connections(store.url)

    with pytest.raises(StoreError, match=r"connection to .* was lost; repeat the call") as caught:
        cut()
    assert "\n" not in str(caught.value)
    assert count(store) == 1
    add(store)
    assert count(store) == 2


def test_a_writer_that_falls_asleep_loses_its_turn(store: postgres.PostgresStore) -> None:
    """After half the patience of others the server undoes its block, so that they need not give up."""

    def sleep() -> None:
        with store.writing("one") as log:
            log.append([Entry(TOLD, pull=1)])
            time.sleep(0.3)

    store.close()
    store.patience = 0.2
    with pytest.raises(StoreError, match="was lost"):
        sleep()
    add(store)
    assert count(store) == 2


def test_a_killed_server_loses_nothing(
    store: postgres.PostgresStore, postgres_server: PostgresServer
) -> None:
    """SIGKILL inside a block: StoreError then and while it is down; after recovery what was acknowledged."""

    def crash() -> None:
        with store.writing("one") as log:
            log.append([Entry(TOLD, pull=2)])
            postgres_server.kill()

    add(store)
    try:
        with pytest.raises(StoreError, match="was lost"):
            crash()
        with pytest.raises(StoreError, match="check that the server runs") as caught:
            add(store)
        assert "\n" not in str(caught.value)
        with pytest.raises(StoreError, match="check that the server runs"):
            open_store(store.url)
    finally:
        postgres_server.start()
    assert count(store) == 2
    add(store)
    assert count(store) == 3


def test_a_newer_store_is_refused(store: postgres.PostgresStore) -> None:
    """One sentence that says to upgrade; nothing is changed, and put right it works."""
    store.close()
    sql(store.url, f"UPDATE truebest.version SET number = {_sql.VERSION + 1}")
    for call in (lambda: open_store(store.url), lambda: count(store), lambda: add(store)):
        with pytest.raises(StoreError, match=r"newer truebest .*pip install --upgrade truebest"):
            call()
    sql(store.url, f"UPDATE truebest.version SET number = {_sql.VERSION}")
    assert count(store) == 1


def test_an_older_store_is_migrated(postgres_url: str) -> None:
    """Tables of version 1, without snapshots, get what is missing and keep their lines."""
    sql(
        postgres_url,
        "CREATE SCHEMA truebest",
        "SET search_path = truebest",
        "CREATE TABLE version (number BIGINT NOT NULL)",
        "INSERT INTO version VALUES (1)",
        *(statement.format(**postgres.TYPES) for statement in _sql.STEPS[0]),
        "INSERT INTO experiments (name, last) VALUES ('one', 2)",
        "INSERT INTO events VALUES (1, 1, 5.0, 'created', NULL, NULL, NULL, '{}')",
        "INSERT INTO events VALUES (1, 2, 6.0, 'told', 1, 0, 0.5, NULL)",
    )
    store = open_store(postgres_url)
    with store.writing("one") as log:
        assert log.entries() == [
            Entry("created", data={}, seq=1, time=5.0),
            Entry("told", 1, 0, 0.5, None, 2, 6.0),
        ]
        log.save_snapshot(2, "text")
        assert log.snapshot() == (2, "text")
    store.close()
    assert sql(postgres_url, "SELECT number FROM truebest.version") == [(_sql.VERSION,)]


def test_a_migration_that_fails_changes_nothing(
    store: postgres.PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All steps or none: the old version stays, and works with the old package."""
    store.close()
    monkeypatch.setattr(_sql, "STEPS", (*_sql.STEPS, ("CREATE TABLE more (x BIGINT)", "NONSENSE")))
    monkeypatch.setattr(_sql, "VERSION", _sql.VERSION + 1)
    monkeypatch.setattr(postgres, "VERSION", _sql.VERSION)
    with pytest.raises(StoreError, match="syntax error"):
        open_store(store.url)
    monkeypatch.undo()
    assert sql(store.url, "SELECT number FROM truebest.version") == [(_sql.VERSION,)]
    assert sql(store.url, "SELECT to_regclass('truebest.more')") == [(None,)]
    assert count(store) == 1


def test_who_may_not_create_tables_is_told(postgres_server: PostgresServer, postgres_url: str) -> None:
    """One sentence with the server's reason."""
    sql(postgres_url, "DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN")
    with pytest.raises(StoreError, match="permission denied") as caught:
        open_store(postgres_server.url().replace("test@", "guest@"))
    assert "\n" not in str(caught.value)


def test_the_clock_is_the_servers(store: postgres.PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose own clock is wrong writes the server's time."""
    before = sql(store.url, "SELECT extract(epoch FROM clock_timestamp())::float8")[0][0]
    monkeypatch.setattr("time.time", lambda: 0.0)
    with store.writing("one") as log:
        now, (line,) = log.now(), log.append([Entry(TOLD)])
    monkeypatch.undo()
    after = sql(store.url, "SELECT extract(epoch FROM clock_timestamp())::float8")[0][0]
    assert isinstance(before, float)
    assert isinstance(after, float)
    assert before <= now <= line.time <= after


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql://host:port/x", "the port is not a number"),
        ("postgresql://h/x?nonsense=1", "a parameter after the ? is unknown"),
        ("postgresql://h/x?nonsense", "a parameter after the ? has no ="),
        ("postgresql://h/x?user=a=b", "a parameter after the ? has more than one ="),
        ("postgres://[::1/x", "the [ of an IPv6 address has no ]"),
        ("postgres://[::1]x", "there is a character where none is allowed"),
        ("postgres://[]/x", "an IPv6 address is empty"),
        ("postgresql://u:%zz@h/x", "a % is not followed by two hexadecimal digits"),
        ("postgresql://u:%00@h/x", "there is a %00"),
        ("postgresql://u:a/b@h/x", "there is an @ or = where none is allowed"),
        ("postgresql://u:a@b@h/x", "there is an @ or = where none is allowed"),
        ("postgresql://u:a\ud800@h/x", "not all of its characters are Unicode"),
    ],
)
def test_a_url_that_cannot_be_read_is_refused(url: str, reason: str) -> None:
    """One sentence with the reason, and how to write what is special; nothing of the URL itself."""
    with pytest.raises(InvalidInputError, match="write % as %25") as caught:
        open_store(url)
    assert f"cannot be read: {reason};" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_password_is_not_shown() -> None:
    """No message repeats it."""
    for url in ("postgresql://me:secret@127.0.0.1:1/x", "postgresql://127.0.0.1:1/x?password=secret"):
        with pytest.raises(StoreError) as caught:
            open_store(url)
        assert "secret" not in str(caught.value)
        assert "127.0.0.1" in str(caught.value)


def test_tables_are_made_once_however_many_come_first(postgres_server: PostgresServer) -> None:
    """Eight clients that open an empty database together, five times: all of them can use it."""
    for _ in range(5):
        url = postgres_server.new_database()
        gate = threading.Barrier(8)
        opened: list[Any] = []

        def come(url: str = url, gate: threading.Barrier = gate, opened: list[Any] = opened) -> None:
            gate.wait()
            opened.append(open_store(url))

        threads = [threading.Thread(target=come) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [store.names() for store in opened] == [[]] * 8
        for store in opened:
            store.close()
