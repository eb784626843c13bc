"""A store on a PostgreSQL server, for many machines.

The tables lie in a schema of their own, `truebest`, or in the one in which an earlier version put them.
Writers of one experiment wait for each other at its row, those of other experiments do not. A commit returns
when the server's disk has it, and the server's clock is the only one. What a transaction needs is set in it,
and behind a pool such as PgBouncer no statement is prepared: so a pool may change the connection between two
transactions.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.types.numeric import Int8Dumper

from ..._former_name import FORMER_NAME
from ...errors import LostConnectionError, StoreError
from ._base import patiently
from ._postgres_url import read_url
from ._rows import CHAIN, COLUMNS, SEQ, Row
from ._sql import VERSION, Found, Session, SqlStore, steps_from

TYPES = {
    "id": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "real": "DOUBLE PRECISION",
    "clustered": "",
}
# A lost machine is noticed within a minute and a half instead of hours; the URL may say otherwise.
DEFAULTS: dict[str, Any] = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
    "application_name": "truebest",
}
CLOCK = "extract(epoch FROM clock_timestamp())::float8"
FIND = f"SELECT id, last, head, saved, {CLOCK} FROM experiments WHERE name = %s"
# The inner query waits for the lock, the outer one looks at the clock afterwards.
LOCK = (
    f"SELECT id, last, head, saved, {CLOCK}"
    " FROM (SELECT id, last, head, saved FROM experiments WHERE name = %s FOR UPDATE) AS found"
)
INSERT = (
    "WITH grown AS (UPDATE experiments SET last = %s, head = %s WHERE id = %s)"
    f" INSERT INTO events (experiment, {COLUMNS})"
    " SELECT %s, * FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::float8[], %s::text[],"
    " %s::bigint[], %s::float8[], %s::text[])"
)
# How a server, or a pool before it, says that it has no room for a connection at the moment.
CROWDED = ("too many clients", "too many connections", "connection slots", "no more connections")
SCHEMA = "truebest"
MIGRATION_LOCK = int.from_bytes(FORMER_NAME.encode(), "big")  # the one for which earlier versions wait, too
# Not to_regclass: it may still know that there was none before another client made it.
_SCHEMAS = "SELECT schemaname FROM pg_tables WHERE tablename = 'version' AND schemaname = ANY(%s)"


class PostgresSession(Session):
    """One connection to the server."""

    errors = (psycopg.Error,)

    def __init__(self, raw: Any, place: str, patience: float) -> None:
        super().__init__(raw, place)
        self._patience = patience
        self.settings = {  # of every transaction: commits are durable, and waits end
            "synchronous_commit": "on",
            "idle_in_transaction_session_timeout": f"{patience * 500:.0f}ms",  # a lost machine must not block
        }

    def explain(self, error: Exception) -> str:
        text = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, psycopg.errors.LockNotAvailable):
            return f"another writer held an experiment on {self.place} for too long; repeat the call ({text})"
        if "statement pooling" in text:
            return f"{self.place} is a pool that splits transactions; set pool_mode=transaction ({text})"
        if self.lost():
            return (
                f"the connection to {self.place} was lost; repeat the call when the server is back ({text})"
            )
        return f"{self.place} refused a statement; see the server's message ({text})"

    def lost(self) -> bool:
        return bool(self.raw.closed)

    def usable(self) -> bool:
        return super().usable() and not self.lost()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._try(lambda: self.raw.execute(sql, values, binary=True).fetchall())  # type: ignore[no-any-return]

    def begin(self, *, write: bool, patience: float | None = None) -> None:
        level = "READ COMMITTED" if write else "REPEATABLE READ READ ONLY"  # whatever the server's default is
        wait = self._patience if patience is None else patience
        settings = {**self.settings, "lock_timeout": f"{wait * 1000:.0f}ms"}
        local = [f"SET LOCAL {name} = '{value}'" for name, value in settings.items()]
        sql = "; ".join([f"BEGIN ISOLATION LEVEL {level}", *local])
        self._try(lambda: self.raw.execute(sql, prepare=False))  # several statements, on one way there

    def find(self, name: str, *, write: bool) -> Found | None:
        rows = self.rows(LOCK if write else FIND, (name,))
        if not rows:
            return None
        experiment, last, head, saved, now = rows[0]
        offset = now - time.monotonic()  # saves asking again: a block is short
        return Found(experiment, last, head, saved, lambda: time.monotonic() + offset)

    def insert(self, experiment: int, rows: Sequence[Row]) -> None:
        columns = [list(column) for column in zip(*rows, strict=True)]
        last, chain = rows[-1][SEQ], rows[-1][CHAIN]
        self.run(INSERT, (last, f"{last} {chain}", experiment, experiment, *columns))


class PostgresStore(SqlStore):
    """Logs in a database of a server."""

    def __init__(self, url: str) -> None:
        given = read_url(url)
        self._options = {**DEFAULTS, **given, "client_encoding": "utf8"}
        super().__init__(url, f"postgresql://{given.get('host', '')}/{given.get('dbname', '')}")
        try:
            self._idle.append(self._connect())
        except LostConnectionError as error:
            if not any(words in str(error) for words in CROWDED):  # a wrong address need not be tried again
                raise
            self._idle.append(patiently(self, self._connect))

    def _connect(self) -> Session:
        try:
            raw = psycopg.connect(autocommit=True, prepare_threshold=None, **self._options)
        except psycopg.Error as error:
            raise LostConnectionError(
                f"cannot connect to {self.place}; check that the server runs and lets you in"
                f" ({' '.join(str(error).split())})"
            ) from error
        raw.adapters.register_dumper(int, Int8Dumper)  # one prepared statement, however large the numbers
        session = PostgresSession(raw, self.place, self.patience)
        try:
            prepare(session)
        except BaseException:
            session.close()
            raise
        return session


def prepare(session: PostgresSession) -> None:
    """Make sure that commits are durable, and bring the tables up to date."""
    if session.raw.info.backend_pid == session.rows("SELECT pg_backend_pid()")[0][0]:
        session.raw.prepare_threshold = 0  # else there is a pool in between
    schema = session.settings["search_path"] = schema_of(session)
    session.begin(write=False)
    found = session.rows("SHOW synchronous_commit")[0][0]
    session.commit()
    if found != "on":
        raise StoreError(
            f"{session.place} cannot be made durable: it keeps synchronous_commit={found}, not on"
        )
    if steps_from(version_of(session, schema), session.place):
        migrate(session, schema)


def schema_of(session: PostgresSession) -> str:
    """Where the tables lie: an earlier version's stay in its schema."""
    found = session.rows(_SCHEMAS, ([SCHEMA, FORMER_NAME],))
    return FORMER_NAME if (SCHEMA,) not in found and found else SCHEMA


def version_of(session: PostgresSession, schema: str) -> int:
    """The version of the tables; 0 where there are none."""
    if not session.rows(_SCHEMAS, ([schema],)):
        return 0
    return int(session.rows(f"SELECT number FROM {schema}.version")[0][0])


def migrate(session: PostgresSession, schema: str) -> None:
    """Run the missing steps in one transaction, one client after the other."""
    session.begin(write=True)
    session.rows("SELECT 1 FROM pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
    version = version_of(session, schema)
    if version == 0:
        session.run(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        session.run(f"CREATE TABLE {schema}.version (number BIGINT NOT NULL)")
        session.run(f"INSERT INTO {schema}.version VALUES (0)")
    for step in steps_from(version, session.place):
        for sql in step:
            session.run(sql.format(**TYPES))
    session.run(f"UPDATE {schema}.version SET number = %s", (VERSION,))
    session.commit()
