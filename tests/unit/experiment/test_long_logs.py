"""A long log without a snapshot is opened, read and verified, in bounded memory and short transactions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.processes import finish, start
from truebest.experiment.events import CREATED, Entry
from truebest.experiment.settings import new_settings
from truebest.experiment.store import _sql, open_store

MEGABYTES = 150  # that a long log may take beyond a short one
IDLE = 0.5  # seconds of processor time that a transaction may be idle; a server ends one idle for 30 s


def fill(url: str, pulls: int) -> None:
    """A log of `pulls` asked and told, as version 0.1 would have left it: no hashes, no snapshot."""
    store = open_store(url)
    assert isinstance(store, _sql.SqlStore)
    settings = new_settings(["a", "b", "c"], 1e-300, bounds=(0, 1), seed=1, lease=None)
    store.create("x", Entry(CREATED, data=settings.to_record()))
    numbers = (
        f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {pulls})"
        if url.startswith("sqlite")
        else f"WITH n (i) AS (SELECT generate_series(1, {pulls}))"
    )
    asked = f"""{numbers} INSERT INTO events (experiment, seq, time, kind, pull, arm, data)
        SELECT 1, 2 * i, 1e9, 'asked', i, i - i / 3 * 3, '{{"deadline":null}}' FROM n"""
    told = f"""{numbers} INSERT INTO events (experiment, seq, time, kind, pull, arm, value)
        SELECT 1, 2 * i + 1, 1e9, 'told', i, i - i / 3 * 3, (i - i / 10 * 10) / 10.0 FROM n"""
    with store._block(write=True) as session:
        begun = f"UPDATE experiments SET last = {2 * pulls + 1}, head = NULL"
        for sql in ("UPDATE events SET chain = NULL", asked, told, begun):
            session.run(sql)
    store.close()


WORK = """
import contextlib, json, resource
from truebest import Experiment
from truebest.experiment.store import _sql

class Clock:  # how much is computed inside a transaction, without a word to the database
    since, most = None, 0.0

    def look(self, inside):
        now = time.process_time()
        self.most = max(self.most, now - self.since) if self.since is not None else self.most
        self.since = now if inside else None

clock, block, tried = Clock(), _sql.SqlStore._block, _sql.Session._try

@contextlib.contextmanager
def watched(*words, **named):
    with block(*words, **named) as session:
        clock.look(True)
        yield session
        clock.look(False)

def said(session, call):
    clock.look(clock.since is not None)
    answer = tried(session, call)
    clock.look(clock.since is not None)
    return answer

_sql.SqlStore._block, _sql.Session._try = watched, said

def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

store = open_store(sys.argv[1])
Experiment.create("memory:", "y", ["a", "b"], bounds=(0, 1)).ask()
before = memory()
experiment = Experiment.open(store, "x")
samples = experiment.status().samples
pull = experiment.ask()[0]
print(experiment.tell(pull, 0.5))
with store.reading("x") as log:
    saved = log.saved
events = sum(1 for event in experiment.events())
found = experiment.verify()
print(json.dumps([samples, saved, events, found.sound, found.unhashed, memory() - before, clock.most]))
store.close()
"""


def check(url: str, pulls: int) -> None:
    fill(url, pulls)
    told, found = finish(start(WORK, url), 1200).splitlines()
    samples, saved, events, sound, unhashed, megabytes, idle = json.loads(found)
    assert told == "told"
    assert samples == pulls
    assert saved >= 2 * pulls + 1
    assert events == 2 * pulls + 3
    assert sound
    assert unhashed == 2 * pulls + 1
    assert megabytes < MEGABYTES
    assert idle < IDLE


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_log_of_200_000_lines_opens(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Without a snapshot: read in chunks, a snapshot saved, no transaction idle for long."""
    url = request.getfixturevalue("postgres_url") if kind == "postgresql" else f"sqlite:///{tmp_path}/runs.db"
    check(url, 100_000)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_log_of_3_000_000_lines_opens(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """The same at the size that version 0.1 could not open on PostgreSQL."""
    url = request.getfixturevalue("postgres_url") if kind == "postgresql" else f"sqlite:///{tmp_path}/runs.db"
    check(url, 1_500_000)
