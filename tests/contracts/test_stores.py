"""What every store must do: one set of tests over memory, SQLite and PostgreSQL."""

from __future__ import annotations

import json
import struct
import threading
import time
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bestarm.errors import InvalidInputError, StoreError
from bestarm.experiment.events import ASKED, CREATED, FAILED, TOLD, Entry
from bestarm.experiment.store import Log, Store, open_store
from support.processes import finish, start

FIRST = Entry(CREATED, data={"arms": ["a", "b"], "delta": 0.05})
SHARED = ("sqlite", "postgresql")
few_examples = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def url_of(kind: str, request: pytest.FixtureRequest) -> str:
    if kind == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    path: Path = request.getfixturevalue("tmp_path")
    return "memory:" if kind == "memory" else f"sqlite:///{path}/runs.db"


@pytest.fixture(params=("memory", *SHARED))
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """An empty store of each kind."""
    store = open_store(url_of(request.param, request))
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


def add_and_raise(store: Store, error: BaseException, *entries: Entry) -> None:
    """A block that adds lines and a snapshot and is left by an exception."""
    with store.writing("one") as log:
        log.append(entries)
        log.save_snapshot(len(entries), "text")
        raise error


def bits(x: float | None) -> bytes | None:
    return None if x is None else struct.pack("<d", x)


def test_a_created_log_has_its_first_line(store: Store) -> None:
    """A new store is empty; creating an experiment stores one line, number 1."""
    assert store.names() == []
    assert store.create("one", FIRST)
    assert store.names() == ["one"]
    (line,) = lines(store, "one")
    assert line == FIRST._replace(seq=1, time=line.time, chain=line.chain)
    assert abs(line.time - time.time()) < 5


def test_a_name_is_taken_once(store: Store) -> None:
    """A second creation says False and changes nothing."""
    assert store.create("one", FIRST)
    before = lines(store, "one")
    assert not store.create("one", Entry(CREATED, data={"other": 1}))
    assert lines(store, "one") == before
    assert store.names() == ["one"]


def test_lines_are_numbered_in_order_without_holes(store: Store) -> None:
    """Line numbers run 1, 2, ...; `append` returns what `entries` will; undone lines leave no hole."""
    store.create("one", FIRST)
    returned = add(store, "one", told(1), told(2)) + add(store, "one") + add(store, "one", told(3))
    with pytest.raises(KeyError):
        add_and_raise(store, KeyError(), told(4), told(5))
    returned += add(store, "one", told(6))
    found = lines(store, "one")
    assert found[1:] == returned
    assert [line.seq for line in found] == [1, 2, 3, 4, 5]
    assert [line.pull for line in found] == [None, 1, 2, 3, 6]
    assert all(a.time <= b.time for a, b in pairwise(found))


def test_entries_after_a_line(store: Store) -> None:
    """`after` gives exactly the later lines, none beyond the end, and all below zero; own lines included."""
    store.create("one", FIRST)
    add(store, "one", *map(told, range(5)))
    with store.writing("one") as log:
        log.append([told(5)])
        for after in (-1, 0, 1, 3, 6, 7, 100):
            assert [line.seq for line in log.entries(after)] == list(range(max(after, 0) + 1, 8))


def test_entries_of_a_pull(store: Store) -> None:
    """`pull` gives that pull's lines alone, in order, after a line if asked; own lines included."""
    store.create("one", FIRST)
    add(store, "one", Entry(ASKED, pull=7), Entry(ASKED, pull=8), told(7), told(8))
    with store.writing("one") as log:
        log.append([Entry(FAILED, pull=7)])
        assert [line.seq for line in log.entries(pull=7)] == [2, 4, 6]
        assert [line.seq for line in log.entries(2, pull=7)] == [4, 6]
        assert log.entries(6, pull=7) == []
        for unknown in (0, 9, -1, 2**62, 2**63, 10**30, -(10**30)):
            assert log.entries(pull=unknown) == []


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, StoreError, SystemExit])
def test_a_block_left_by_an_exception_stores_nothing(store: Store, error: type[BaseException]) -> None:
    """Lines and snapshot are as before, the exception comes through, and the store works on."""
    store.create("one", FIRST)
    before = lines(store, "one")
    with pytest.raises(error, match="mine"):
        add_and_raise(store, error("mine"), told(1))
    with store.reading("one") as log:
        assert log.entries() == before
        assert log.snapshot() is None
    assert add(store, "one", told(2))[0].seq == 2


def test_a_snapshot_is_replaced(store: Store) -> None:
    """None at first, then the last saved one, of its own experiment, whole."""
    for name in ("one", "two"):
        store.create(name, FIRST)
    texts = ["", "first", json.dumps({"a": "x" * 300_000, "é": None}, ensure_ascii=False)]
    for seq, text in enumerate(texts):
        with store.writing("one") as log:
            log.save_snapshot(seq, text)
            assert log.snapshot() == (seq, text)
        with store.reading("one") as log:
            assert log.snapshot() == (seq, text)
    with store.reading("two") as log:
        assert log.snapshot() is None


def test_an_unknown_experiment_is_refused(store: Store) -> None:
    """Reading and writing it is one sentence with the name and what there is; nothing is created."""
    for _ in range(2):
        for block in (store.reading, store.writing):
            with (
                pytest.raises(InvalidInputError, match=r"no experiment 'other' in .*") as caught,
                block("other"),
            ):
                raise AssertionError
        assert "'other'" in str(caught.value)
        assert "\n" not in str(caught.value)
        store.create("one", FIRST)
    assert "it has 'one'" in str(caught.value)
    assert store.names() == ["one"]


@pytest.mark.parametrize("name", ["", "a\nb", "a\0", "\x7f", "\x85", "\ud800", 5, None])
def test_a_name_with_control_characters_is_refused(store: Store, name: Any) -> None:
    """One sentence, and nothing is stored; to look for it is refused as well."""
    with pytest.raises(InvalidInputError, match="name"):
        store.create(name, FIRST)
    with pytest.raises(InvalidInputError), store.reading(name):
        raise AssertionError
    assert store.names() == []


@pytest.mark.parametrize(
    "name",
    [
        "'; DROP TABLE events; --",
        '"',
        "%s ? :a $1 {real}",
        "\\",
        " x ",
        "漢字 🎲",
        "e\u0301",
        "\u00e9",
        "\u202e",
        "A",
        "a",
        "x" * 1000,
    ],
)
def test_any_other_name_is_data(store: Store, name: str) -> None:
    """SQL, quotes, place holders, spaces, any Unicode: the name comes back and finds its own log."""
    store.create("other", FIRST)
    assert store.create(name, FIRST)
    assert not store.create(name, FIRST)
    add(store, name, told(1))
    assert store.names() == ["other", name]
    assert len(lines(store, name)) == 2
    assert len(lines(store, "other")) == 1


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


@pytest.mark.parametrize(
    "value",
    [
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        2.2250738585072014e-308,
        1e308,
        1.7976931348623157e308,
        0.1,
        2.0**53,
        1e9 + 0.1,
    ],
)
def test_floats_come_back_bit_for_bit(store: Store, value: float) -> None:
    """Also zeros with a sign, the smallest and the largest; in the data, too."""
    store.create("one", FIRST)
    (line,) = add(store, "one", told(1, value, x=value))
    for found in (line, lines(store, "one")[-1]):
        assert isinstance(found.value, float)
        assert bits(found.value) == bits(value)
        assert found.data is not None
        assert bits(found.data["x"]) == bits(value)


def test_numpy_numbers_are_stored_as_numbers(store: Store) -> None:
    """NumPy's integers and floats, and whole numbers as values, come back as plain ints and floats."""
    import numpy as np

    store.create("one", FIRST)
    given_line = Entry(TOLD, pull=np.int64(2**53), arm=np.uint8(3), value=np.float32(0.5))  # type: ignore[arg-type]
    add(store, "one", given_line, told(1, 2**53))
    _, one, two = lines(store, "one")
    assert (one.pull, one.arm, one.value, two.value) == (2**53, 3, 0.5, 2.0**53)
    assert (type(one.pull), type(one.arm), type(one.value), type(two.value)) == (int, int, float, float)


def test_data_that_is_changed_later_stays_as_stored(store: Store) -> None:
    """The store keeps its own copy."""
    store.create("one", FIRST)
    data = {"reason": ["a"]}
    add(store, "one", Entry(FAILED, 1, data=data))
    data["reason"].append("b")
    found = lines(store, "one")[-1].data
    assert found == {"reason": ["a"]}
    found["reason"].append("c")
    assert lines(store, "one")[-1].data == {"reason": ["a"]}


def test_data_that_is_not_json_stores_nothing(store: Store) -> None:
    """A line that cannot be written undoes the whole block."""
    store.create("one", FIRST)
    with pytest.raises(TypeError):
        add(store, "one", told(1), Entry(FAILED, 2, data={"x": object()}))
    assert len(lines(store, "one")) == 1


def test_nan_is_refused(store: Store) -> None:
    """It would come back from SQLite as no value; infinities come back as they are."""
    store.create("one", FIRST)
    with pytest.raises(InvalidInputError, match="nan"):
        add(store, "one", told(1), told(2, float("nan")))
    add(store, "one", told(1, float("inf")), told(2, -float("inf")))
    assert [line.value for line in lines(store, "one")] == [None, float("inf"), -float("inf")]


def test_a_reader_sees_the_old_state_and_does_not_wait(store: Store) -> None:
    """While a writer is in its block, others read what was there before; what they see does not change."""
    store.create("one", FIRST)
    reading, written = threading.Event(), threading.Event()
    seen: list[tuple[int, int, object]] = []

    def read() -> None:
        with store.reading("one") as log:
            before = len(log.entries())
            reading.set()
            assert written.wait(20)
            seen.append((before, len(log.entries()), log.snapshot()))

    with store.writing("one") as log:
        log.append([told(1)])
        log.save_snapshot(2, "new")
        assert len(lines(store, "one")) == 1  # in the writer's own thread, too
        thread = threading.Thread(target=read)
        thread.start()
        assert reading.wait(20)
    assert len(lines(store, "one")) == 2
    written.set()
    thread.join(20)
    assert seen == [(1, 1, None)]


def test_a_reader_keeps_no_writer_waiting(store: Store) -> None:
    """A writer begins and ends beside an open reader, which goes on seeing what it saw."""
    store.create("one", FIRST)
    store.patience = 0.5
    with store.reading("one") as log:
        before = log.entries()
        add(store, "one", told(1), told(2))
        assert len(lines(store, "one")) == 3
        assert log.entries() == before


def test_a_writer_waits_for_the_other_and_sees_its_lines(store: Store) -> None:
    """Two threads are never in writing blocks of one experiment together."""
    store.create("one", FIRST)
    seen: list[int] = []
    entered = threading.Event()

    def write() -> None:
        with store.writing("one") as log:
            entered.set()
            seen.append(len(log.entries()))
            log.append([told(2)])

    thread = threading.Thread(target=write)
    with store.writing("one") as log:
        thread.start()
        assert not entered.wait(0.1)
        log.append([told(1)])
    thread.join(20)
    assert seen == [2]
    assert [line.pull for line in lines(store, "one")] == [None, 1, 2]


def test_many_threads_lose_nothing(store: Store) -> None:
    """8 threads that each count the lines and write the count: 80 different counts."""
    store.create("one", FIRST)

    def write() -> None:
        for _ in range(10):
            with store.writing("one") as log:
                log.append([told(len(log.entries()))])

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [line.pull for line in lines(store, "one")[1:]] == list(range(1, 81))


def test_a_writing_block_inside_another_is_refused(store: Store) -> None:
    """A thread would wait for itself; it is told so at once, and the outer block goes on."""
    for name in ("one", "two"):
        store.create(name, FIRST)
    with store.writing("one") as log:
        log.append([told(1)])
        for name in ("one", "two"):
            with pytest.raises(StoreError, match="already inside"), store.writing(name):
                raise AssertionError
        with pytest.raises(StoreError, match="already inside"):
            store.create("three", FIRST)
    assert len(lines(store, "one")) == 2
    assert store.names() == ["one", "two"]


def test_who_waits_too_long_is_told(store: Store) -> None:
    """After `patience` seconds: StoreError, and once the other has ended the call succeeds."""
    store.patience = 0.2
    store.create("one", FIRST)
    errors: list[str] = []

    def write() -> None:
        try:
            add(store, "one", told(1))
        except StoreError as error:
            errors.append(str(error))

    with store.writing("one"):
        thread = threading.Thread(target=write)
        thread.start()
        thread.join(20)
    assert len(errors) == 1
    assert "repeat the call" in errors[0]
    write()
    assert len(errors) == 1
    assert len(lines(store, "one")) == 2


def test_a_log_is_used_only_as_it_was_opened(store: Store) -> None:
    """A log that is being read refuses changes; one whose block has ended refuses everything."""
    store.create("one", FIRST)
    with store.reading("one") as read:
        for change in (lambda: read.append([told(1)]), lambda: read.save_snapshot(1, "")):
            with pytest.raises(StoreError, match="writing"):
                change()
    with store.writing("one") as written:
        pass
    logs: list[Log] = [read, written]
    for log in logs:
        for call in (log.now, log.entries, log.snapshot, lambda log=log: log.append([told(1)])):
            with pytest.raises(StoreError, match="ended"):
                call()
    assert len(lines(store, "one")) == 1


def test_a_closed_store_may_be_used_again(store: Store) -> None:
    """Closing lets go of connections and nothing else; twice is fine, inside a block is fine."""
    store.create("one", FIRST)
    store.close()
    store.close()
    with store.writing("one") as log:
        store.close()
        log.append([told(1)])
    store.close()
    assert len(lines(store, "one")) == 2


def test_the_clock_goes_forward(store: Store) -> None:
    """Seconds since 1970, the same for readers and writers, not backward from block to block."""
    store.create("one", FIRST)
    times = [lines(store, "one")[0].time]
    for _ in range(20):
        with store.writing("one") as log:
            times += [log.now(), log.append([told(1)])[0].time, log.now()]
        with store.reading("one") as log:
            times.append(log.now())
    assert all(a <= b + 0.001 for a, b in pairwise(times))
    assert times[-1] - times[0] < 60
    assert abs(times[-1] - time.time()) < 5


def test_many_experiments_do_not_mix(store: Store) -> None:
    """50 of them, in the order of creation, each with its own numbering."""
    wanted = [f"run {(7 * i) % 50}" for i in range(50)]
    for name in wanted:
        store.create(name, Entry(CREATED, data={"name": name}))
    for name in wanted[::10]:
        add(store, name, told(1), told(2))
    assert store.names() == wanted
    for i, name in enumerate(wanted):
        found = lines(store, name)
        assert found[0].data == {"name": name}
        assert len(found) == (1 if i % 10 else 3)


def test_a_store_is_opened_again_unchanged(shared: Store) -> None:
    """Opening runs the migrations of the schema again, which changes nothing."""
    shared.create("one", FIRST)
    add(shared, "one", told(1, 0.1))
    before = lines(shared, "one")
    for _ in range(3):
        again = open_store(shared.url)
        assert again.names() == ["one"]
        assert lines(again, "one") == before
        again.close()


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
    process.communicate(timeout=20)
    assert add(shared, "one", told(3))[0].seq == 3
    assert [line.pull for line in lines(shared, "one")] == [None, 1, 3]
