"""What every store must do: one set of tests over memory, SQLite and PostgreSQL."""

from __future__ import annotations

import json
import struct
import threading
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.processes import finish, start
from truebest.errors import InvalidInputError, StoreError
from truebest.experiment.events import CREATED, FAILED, TOLD, Entry
from truebest.experiment.store import Store, open_store
from truebest.testing import STORE_DEMANDS, check_store

FIRST = Entry(CREATED, data={"arms": ["a", "b"], "delta": 0.05})
SHARED = ("sqlite", "postgresql")
few_examples = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def url_of(kind: str, request: pytest.FixtureRequest) -> str:
    if kind == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    path: Path = request.getfixturevalue("tmp_path")
    return "memory:" if kind == "memory" else f"sqlite:///{path}/runs.db"


@pytest.fixture(params=("memory", *SHARED))
def url(request: pytest.FixtureRequest) -> str:
    """Where an empty store of each kind is."""
    return url_of(request.param, request)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """An empty store of each kind."""
    store = open_store(url)
    yield store
    store.close()


@pytest.fixture(params=SHARED)
def shared(request: pytest.FixtureRequest) -> Iterator[Store]:
    """An empty store of each kind that several processes may use."""
    store = open_store(url_of(request.param, request))
    yield store
    store.close()


def told(pull: int, value: float = 0.5, **data: Any) -> Entry:
    return Entry(TOLD, pull=pull, arm=0, value=value, data=data or None)


def lines(store: Store, name: str) -> list[Entry]:
    with store.reading(name) as log:
        return log.entries()


def add(store: Store, name: str, *entries: Entry) -> list[Entry]:
    with store.writing(name) as log:
        return log.append(entries)


def bits(x: float | None) -> bytes | None:
    return None if x is None else struct.pack("<d", x)


@pytest.mark.parametrize("demand", STORE_DEMANDS)
def test_every_store_meets_every_demand(url: str, demand: str) -> None:
    """What `truebest.testing` demands of a user's store, ours do; `test_check_store.py` breaks each."""
    (check,) = check_store(lambda: open_store(url), only=demand).checks
    assert check.checked or (demand == "lasting" and url == "memory:")


def test_refusals_say_what_to_do(store: Store) -> None:
    """In one sentence, for every kind of store the same one."""
    with pytest.raises(InvalidInputError, match=r"no experiment 'other' in .*; it has none yet"):
        lines(store, "other")
    store.create("one", FIRST)
    with pytest.raises(InvalidInputError, match=r"no experiment 'other' in .*; it has 'one'"):
        add(store, "other")
    with pytest.raises(InvalidInputError, match="the name of an experiment must not contain control"):
        store.create("a\nb", FIRST)
    with pytest.raises(InvalidInputError, match="cannot store the value nan; give a number"):
        add(store, "one", told(1, float("nan")))
    with store.reading("one") as log, pytest.raises(StoreError, match="use writing"):
        log.append([told(1)])
    with pytest.raises(StoreError, match="ended; open a new one"):
        log.entries()
    store.patience, errors = 0.2, []

    def write() -> None:
        try:
            add(store, "one", told(1))
        except StoreError as error:
            errors.append(str(error))

    with store.writing("one"):
        with pytest.raises(StoreError, match=r"already inside .*; leave that block first"):
            store.create("two", FIRST)
        thread = threading.Thread(target=write)
        thread.start()
        thread.join(600)
    assert ["repeat the call" in error for error in errors] == [True]


names = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30)
json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
numbers = st.none() | st.integers(0, 2**53)
entries = st.builds(
    Entry,
    st.sampled_from([TOLD, FAILED]),
    numbers,
    numbers,
    st.none() | st.floats(allow_nan=False),
    st.none() | st.dictionaries(st.text(), json_data, max_size=3),
)


@few_examples
@given(name=names, batches=st.lists(st.lists(entries, max_size=4), max_size=3))
def test_what_goes_in_comes_out(store: Store, name: str, batches: list[list[Entry]]) -> None:
    """Names, numbers, floats to the bit and JSON data survive, in any batches."""
    assert not any(unicodedata.category(c) == "Cc" for c in name)
    created = store.create(name, FIRST)
    assert store.names().count(name) == 1
    seen = len(lines(store, name))
    assert seen == 1 or not created
    for batch in batches:
        add(store, name, *batch)
    with store.reading(name) as log:
        found = log.entries(after=seen)
    expected = [entry for batch in batches for entry in batch]
    assert [line[:5] for line in found] == [entry[:5] for entry in expected]
    assert [bits(line.value) for line in found] == [bits(entry.value) for entry in expected]
    assert [json.dumps(line.data) for line in found] == [json.dumps(entry.data) for entry in expected]


WORKER = """
url, worker = sys.argv[1:]
sys.stdin.readline()
store = open_store(url)
won = store.create("one", Entry("created", data={"by": worker}))
seen, others = 0, 0
for i in range(15):
    with store.writing("one") as log:
        new = log.entries(after=seen)
        log.append([Entry(TOLD, pull=i, arm=int(worker), value=float(len(new)))])
        seen += len(new) + 1
        assert [e.seq for e in log.entries()] == list(range(1, seen + 1))
store.close()
print(int(won))
"""


def test_eight_processes_append_without_loss(shared: Store) -> None:
    """8 processes make the tables and the experiment at once, and append: one creates it, no line is lost."""
    processes = [start(WORKER, shared.url, str(i)) for i in range(8)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    won = [int(finish(process)) for process in processes]
    assert sum(won) == 1
    first, *found = lines(shared, "one")
    assert first.data == {"by": str(won.index(1))}
    assert len(found) == 8 * 15
    for worker in range(8):
        assert [line.pull for line in found if line.arm == worker] == list(range(15))


KILLED = """
store = open_store(sys.argv[1])
with store.writing("one") as log:
    log.append([Entry(TOLD, pull=1)])
print("acknowledged", flush=True)
with store.writing("one") as log:
    log.append([Entry(TOLD, pull=2)])
    print("inside", flush=True)
    sys.stdin.readline()
"""


def test_a_killed_writer_leaves_whole_blocks_and_no_lock(shared: Store) -> None:
    """SIGKILL inside a block: what was acknowledged is there, the open block is not, others write on."""
    shared.create("one", FIRST)
    process = start(KILLED, shared.url)
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["acknowledged\n", "inside\n"]
    assert [line.pull for line in lines(shared, "one")] == [None, 1]  # a reader does not wait for it
    process.kill()
    process.communicate(timeout=600)
    assert add(shared, "one", told(3))[0].seq == 3
    assert [line.pull for line in lines(shared, "one")] == [None, 1, 3]
