"""What can happen to a SQLite file, and that it costs one sentence and no line."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from support.processes import finish, run, start
from truebest.errors import InvalidInputError, StoreError
from truebest.experiment.events import CREATED, TOLD, Entry
from truebest.experiment.store import Store, _sql, open_store, sqlite

FIRST = Entry(CREATED, data={})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file will be."""
    return tmp_path / "runs.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """A store with an experiment `one` of 400 lines."""
    store = open_store(f"sqlite:///{path}")
    store.create("one", FIRST)
    add(store, 399)
    yield store
    store.close()


def add(store: Store, count: int = 1, size: int = 100) -> None:
    with store.writing("one") as log:
        log.append([Entry(TOLD, pull=i, value=0.5, data={"note": "x" * size}) for i in range(count)])


def count(store: Store) -> int:
    with store.reading("one") as log:
        return len(log.entries())


def pragma(path: Path, name: str) -> object:
    raw = sqlite3.connect(path)
    try:
        return raw.execute(f"PRAGMA {name}").fetchone()[0]
    finally:
        raw.close()


def check_refused(url: str, words: str) -> None:
    """Opening and reading is one sentence with those words and the file's name."""
    with pytest.raises(StoreError, match=words) as caught:
        count(open_store(url))
    message = str(caught.value)
    assert url.removeprefix("sqlite:///") in message
    assert "\n" not in message


def test_commits_are_durable(store: Store, path: Path) -> None:
    """Every connection is in WAL mode and syncs each commit (synchronous=FULL); the file says whose it is."""
    assert isinstance(store, sqlite.SqliteStore)
    with store.reading("one"), store.reading("one"), store.reading("one"):
        pass
    assert len(store._idle) == 3
    for session in store._idle:
        assert session.rows("PRAGMA journal_mode") == [("wal",)]
        assert session.rows("PRAGMA synchronous") == [(2,)]
    assert pragma(path, "application_id") == sqlite.APPLICATION_ID
    assert pragma(path, "user_version") == _sql.VERSION


def test_a_file_that_cannot_be_durable_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """If SQLite does not take the setting, nothing is acknowledged: StoreError."""
    run = sqlite.SqliteSession.run

    def weaker(self: sqlite.SqliteSession, sql: str, values: tuple[object, ...] = ()) -> int:
        return run(self, sql.replace("synchronous = FULL", "synchronous = NORMAL"), values)

    store.close()
    monkeypatch.setattr(sqlite.SqliteSession, "run", weaker)
    with pytest.raises(StoreError, match="cannot be made durable"):
        add(store)
    monkeypatch.undo()
    add(store)


def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    """Text, random bytes or a folder: one sentence, and not a byte of it changes."""
    for content in (b"name,value\n" * 500, bytes(range(256)) * 64):
        path.write_bytes(content)
        check_refused(f"sqlite:///{path}", "is not a SQLite database; give another file name")
        assert path.read_bytes() == content
    check_refused(f"sqlite:///{path.parent}", "cannot be opened")


def test_another_programs_database_is_refused_and_left_alone(path: Path) -> None:
    """Tables of others, or their application_id: one sentence, and not a byte of it changes."""
    for statement in ("CREATE TABLE experiments (id)", "PRAGMA application_id = 77"):
        path.unlink(missing_ok=True)
        raw = sqlite3.connect(path)
        raw.execute(statement)
        raw.close()
        content = path.read_bytes()
        check_refused(f"sqlite:///{path}", "of another program")
        assert path.read_bytes() == content


def test_a_missing_folder_is_one_sentence(tmp_path: Path) -> None:
    """The folder is not made."""
    store = open_store(f"sqlite:///{tmp_path}/none/runs.db")
    assert store.names() == []
    with pytest.raises(StoreError, match="check that its folder exists"):
        store.create("one", FIRST)
    assert list(tmp_path.iterdir()) == []


def test_reading_makes_no_file(path: Path) -> None:
    """A mistyped name leaves nothing behind: the file is made by the first experiment."""
    store = open_store(f"sqlite:///{path}")
    assert store.names() == []
    with pytest.raises(ValueError, match="it has none yet"):
        count(store)
    assert list(path.parent.iterdir()) == []


def test_a_newer_store_is_refused_and_left_alone(store: Store, path: Path) -> None:
    """One sentence that says to upgrade; the file stays as it is."""
    store.close()
    raw = sqlite3.connect(path)
    raw.execute(f"PRAGMA user_version = {_sql.VERSION + 1}")
    raw.close()
    content = path.read_bytes()
    check_refused(store.url, "newer truebest .*pip install --upgrade truebest")
    with pytest.raises(StoreError, match="newer"):
        add(store)
    assert path.read_bytes() == content


def test_an_older_store_is_migrated(path: Path) -> None:
    """A file of version 1, without snapshots, gets what is missing and keeps its lines."""
    raw = sqlite3.connect(path)
    for sql in _sql.STEPS[0]:
        raw.execute(sql.format(**sqlite.TYPES))
    raw.execute("INSERT INTO experiments VALUES (1, 'one', 2)")
    raw.execute("INSERT INTO events VALUES (1, 1, 5.0, 'created', NULL, NULL, NULL, '{}')")
    raw.execute("INSERT INTO events VALUES (1, 2, 6.0, 'told', 1, 0, -0.0, NULL)")
    raw.execute(f"PRAGMA application_id = {sqlite.APPLICATION_ID}")
    raw.execute("PRAGMA user_version = 1")
    raw.commit()
    raw.close()
    store = open_store(f"sqlite:///{path}")
    with store.writing("one") as log:
        assert log.entries() == [
            Entry("created", data={}, seq=1, time=5.0),
            Entry("told", 1, 0, 0.0, None, 2, 6.0),
        ]
        log.save_snapshot(2, "text")
        assert log.snapshot() == (2, "text")
    store.close()
    assert pragma(path, "user_version") == _sql.VERSION == 4


def test_a_migration_that_fails_changes_nothing(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All steps or none: the old version stays, and works with the old package."""
    store.close()
    monkeypatch.setattr(_sql, "STEPS", (*_sql.STEPS, ("CREATE TABLE more (x)", "NONSENSE")))
    monkeypatch.setattr(_sql, "VERSION", _sql.VERSION + 1)
    monkeypatch.setattr(sqlite, "VERSION", _sql.VERSION)
    check_refused(store.url, "syntax error")
    monkeypatch.undo()
    assert pragma(path, "user_version") == _sql.VERSION
    raw = sqlite3.connect(path)
    assert raw.execute("SELECT count(*) FROM sqlite_master WHERE name = 'more'").fetchone() == (0,)
    raw.close()
    assert count(store) == 400


@pytest.mark.parametrize("damage", ["half", "page", "middle", "header"])
def test_a_damaged_file_is_one_sentence(store: Store, path: Path, damage: str) -> None:
    """Cut off or overwritten: reading and writing are refused; with the file restored all lines are there."""
    store.close()
    content = path.read_bytes()
    size = len(content)
    assert size > 40_000
    broken = {
        "half": content[: size // 2 + 100],
        "page": content[:4096],
        "middle": content[:8192] + Random(5).randbytes(size - 8192 - 4096) + content[-4096:],
        "header": b"\0" * 100 + content[100:],
    }[damage]
    path.write_bytes(broken)
    check_refused(store.url, "damaged|not a SQLite database")
    path.write_bytes(content)
    assert count(store) == 400
    add(store)
    assert count(store) == 401


def test_any_damage_is_one_sentence_or_none(store: Store, path: Path) -> None:
    """300 files with random bytes changed or cut off: each is read, or refused with a StoreError."""
    store.close()
    content, random = path.read_bytes(), Random(5)
    places = [i for i, byte in enumerate(content) if byte and i < 16 * 1024]
    messages = []
    for _ in range(300):
        broken = bytearray(content)
        for _ in range(random.choice([1, 3, 30])):
            broken[random.choice(places)] = random.randrange(256)
        path.write_bytes(broken[: random.choice([len(broken), random.randrange(len(broken))])])
        try:
            count(store)
        except (StoreError, InvalidInputError) as error:
            messages.append(str(error))
        store.close()
        Path(f"{path}-wal").unlink(missing_ok=True)
        Path(f"{path}-shm").unlink(missing_ok=True)
    assert len(messages) > 100
    assert not any("\n" in message for message in messages)
    path.write_bytes(content)
    assert count(store) == 400


def test_missing_lines_are_noticed(store: Store, path: Path) -> None:
    """A log with a hole is not replayed as if it were whole."""
    store.close()
    raw = sqlite3.connect(path)
    raw.execute("DELETE FROM events WHERE seq = 17")
    raw.commit()
    raw.close()
    check_refused(store.url, "line 17 of the log in .* is damaged: it is missing")


CRASH = """
store = open_store(sys.argv[1])
with store.writing("one") as log:
    log.append([Entry(TOLD, pull=1)] * 3)
os._exit(0)
"""


def test_a_torn_tail_of_the_write_ahead_log_costs_nothing(store: Store, path: Path) -> None:
    """What a crash in the middle of writing leaves behind the last commit is ignored."""
    store.close()
    run(CRASH, store.url)
    wal = Path(f"{path}-wal")
    whole = wal.read_bytes()
    for tail in (Random(5).randbytes(5000), whole[32 : 32 + 24 + 2000], b"\0" * 4120):
        wal.write_bytes(whole + tail)
        copy = path.with_name("copy.db")
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", f"{copy}{end}")
        again = open_store(f"sqlite:///{copy}")
        assert count(again) == 403
        add(again)
        assert count(again) == 404
        again.close()


def test_a_full_file_system_is_one_sentence(store: Store) -> None:
    """No room to grow: StoreError, none of the block's lines stored; with room again it works."""
    assert isinstance(store, sqlite.SqliteStore)
    session = store._idle[-1]
    pages = session.rows("PRAGMA page_count")[0][0]
    session.rows(f"PRAGMA max_page_count = {pages + 1}")
    with pytest.raises(StoreError, match="has no room to grow, so nothing was stored; free some space"):
        add(store, 500)
    assert count(store) == 400
    add(store, 500)
    assert count(store) == 900


LIMITED = """
import resource
store = open_store(sys.argv[1])
def add(count):
    with store.writing("one") as log:
        log.append([Entry(TOLD, pull=i, data={"note": "x" * 100}) for i in range(count)])
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
for _ in range(2):
    try:
        add(4000)
    except StoreError as error:
        print(error)
with store.reading("one") as log:
    print(len(log.entries()))
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
add(4000)
store.close()
"""


def test_a_write_that_the_system_refuses_is_one_sentence(store: Store) -> None:
    """At a limit of the operating system: StoreError, nothing stored; when it is lifted the run goes on."""
    *messages, left = run(LIMITED, store.url).splitlines()
    assert len(messages) == 2
    for message in messages:
        assert "check the disk, then repeat" in message or "free some space" in message
    assert int(left) == 400
    assert count(store) == 4400


READ_ONLY = """
import truebest.experiment.store.sqlite  # while we may
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    with open_store(sys.argv[1]).writing("one") as log:
        log.append([Entry(TOLD, pull=1)])
except StoreError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are POSIX")
def test_a_file_that_may_not_be_written_is_one_sentence() -> None:
    """The file, or the folder too, not writable: StoreError that says so; writable again, it works."""
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name), Path(name) / "runs.db"
        store = open_store(f"sqlite:///{path}")
        store.create("one", FIRST)
        for file_mode, folder_mode in ((0o444, 0o777), (0o444, 0o555)):
            store.close()
            path.chmod(file_mode)
            folder.chmod(folder_mode)
            message = run(READ_ONLY, store.url).strip()
            assert "that you may write to" in message
            assert "\n" not in message
            folder.chmod(0o755)
            path.chmod(0o644)
            for rest in folder.glob("runs.db-*"):
                rest.chmod(0o644) if os.getuid() == rest.stat().st_uid else rest.unlink()
        add(store)
        assert count(store) == 2
        store.close()


def test_a_locked_file_is_one_sentence(store: Store, path: Path) -> None:
    """Another program holds the lock: StoreError after `patience` seconds; readers never wait."""
    store.close()
    store.patience = 0.2
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="is locked by another program; let that end"):
        add(store)
    assert count(store) == 400
    other.execute("ROLLBACK")
    other.close()
    add(store)
    assert count(store) == 401


def test_a_deleted_file_is_noticed(store: Store, path: Path) -> None:
    """Nothing is acknowledged into a file that is gone: the experiment is unknown, and may be made anew."""
    for old in path.parent.iterdir():
        old.unlink()
    assert store.names() == []
    with pytest.raises(ValueError, match="no experiment 'one'"):
        add(store)
    assert store.create("one", FIRST)
    assert count(store) == 1
    assert path.exists()


def test_a_step_that_failed_spoils_the_block(store: Store) -> None:
    """Who catches a StoreError inside a block and goes on does not store half of it."""
    assert isinstance(store, sqlite.SqliteStore)

    def swallow() -> None:
        with store.writing("one") as log:
            log.append([Entry(TOLD, pull=1)])
            with pytest.raises(StoreError):
                log.save_snapshot(1, None)  # type: ignore[arg-type]

    with pytest.raises(StoreError, match="none of it was stored"):
        swallow()
    assert count(store) == 400


HOG = """
store = open_store(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
seq = 0
while seq < 700:
    with store.writing("one") as log:
        (line,) = log.append([Entry(TOLD, arm=int(sys.argv[2]))])
        seq = line.seq
store.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="writers do not queue on Windows")
def test_busy_writers_do_not_starve_each_other(store: Store) -> None:
    """Of 300 blocks by 4 processes that write without pause, each gets at least half of its fair share."""
    processes = [start(HOG, store.url, str(i)) for i in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        finish(process)
    with store.reading("one") as log:
        arms = [line.arm for line in log.entries(400)]
    assert min(arms.count(i) for i in range(4)) >= 300 / 4 / 2


FORK_BESIDE_WRITERS = """
import signal, threading
from truebest.experiment.store._forks import forks
forks.GRACE = 600.0  # on a machine that does much else a block takes longer than usual
store = open_store(sys.argv[1])
end = threading.Event()

def write():
    while not end.is_set():
        with store.writing("one") as log:
            log.append([Entry(TOLD, arm=0)])

threads = [threading.Thread(target=write) for _ in range(3)]
for thread in threads:
    thread.start()
children = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        signal.alarm(600)  # if it hangs
        for _ in range(3):
            with store.writing("one") as log:
                log.append([Entry(TOLD, arm=1)])
        os._exit(0)
    children.append(child)
codes = [os.waitpid(child, 0)[1] for child in children]
end.set()
for thread in threads:
    thread.join()
with store.reading("one") as log:
    lines = log.entries(400)
print(codes.count(0), sum(line.arm for line in lines))
store.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_children_forked_beside_busy_writers_work(store: Store) -> None:
    """20 forks while three threads write without pause: every child stores its lines, none hangs."""
    assert run(FORK_BESIDE_WRITERS, store.url).split() == ["20", "60"]
    assert count(store) > 460


FORK_BESIDE_A_BLOCK = """
import signal, threading
store = open_store(sys.argv[1])
inside, leave = threading.Event(), threading.Event()

def hold():
    with store.writing("one") as log:
        log.append([Entry(TOLD, arm=0)])
        inside.set()
        leave.wait(600)

thread = threading.Thread(target=hold)
thread.start()
inside.wait(600)
child = os.fork()
if child == 0:
    signal.alarm(600)  # if it hangs
    for call in (store.names, lambda: store.create("two", Entry("created")), lambda: open_store(sys.argv[1])):
        try:
            call()
        except StoreError as error:
            print(error, flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
leave.set()
thread.join()
with store.writing("one") as log:
    print(len(log.entries()))
store.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_a_child_forked_beside_an_open_block_is_refused_at_once(store: Store) -> None:
    """It would wait for a lock that nobody can leave; it is told so, and the parent works on."""
    *messages, lines = run(FORK_BESIDE_A_BLOCK, store.url).splitlines()
    assert len(messages) == 3
    assert all("forked while another thread was inside a block" in message for message in messages)
    assert int(lines) == 401


FORK_AND_END = """
store = open_store(sys.argv[1])
with store.reading("one"):
    pass
child = os.fork()
if child:
    store.close()  # the last connection that SQLite knows of, were it not for the child's own
    os._exit(os.waitpid(child, 0)[1])
for _ in range(50):
    with store.writing("one") as log:
        log.append([Entry(TOLD, arm=1)])
store.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_a_child_outlives_its_parents_connections(store: Store) -> None:
    """The parent closes the file while the child writes: nothing of the child's is lost."""
    store.close()
    run(FORK_AND_END, store.url)
    assert count(store) == 450


@pytest.mark.skipif(sys.platform == "win32", reason="writers do not queue on Windows")
def test_only_writers_can_hold_the_queue(store: Store, path: Path) -> None:
    """The file on which writers queue is for those who may write the database, and is not a way elsewhere."""
    queue = Path(f"{path}-queue")
    path.chmod(0o644)
    queue.chmod(0o666)
    add(store)
    assert queue.stat().st_mode & 0o777 == 0o600
    path.chmod(0o664)
    add(store)
    assert queue.stat().st_mode & 0o777 == 0o660
    queue.unlink()
    queue.symlink_to(path.with_name("elsewhere"))
    add(store)
    assert not path.with_name("elsewhere").exists()
    assert count(store) == 403


def test_a_stopped_process_in_the_queue_does_not_stop_the_others(tmp_path: Path) -> None:
    """Somebody has the turn for good: after half of its patience a writer goes on without it."""
    import fcntl

    store = sqlite.SqliteStore(f"sqlite:///{tmp_path / 'x.db'}")
    store.create("x", Entry(CREATED))
    store.close()
    store.patience = 0.4
    with (tmp_path / "x.db-queue").open("r") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        with store.writing("x") as log:
            log.append([Entry(TOLD, 1, 0, 0.5)])
    store.close()
    with store.writing("x") as log:  # the turn is free again, also of the thread that waited for it
        assert len(log.entries()) == 2
    store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="writers do not queue on Windows")
@pytest.mark.parametrize("waiting", [False, True])
def test_a_file_system_without_such_locks_needs_no_queue(
    store: Store, waiting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error of the system does not come out, at once or while waiting: SQLite's own locks are enough."""
    import fcntl

    def flock(_: int, how: int) -> None:
        if waiting and how & fcntl.LOCK_NB:
            raise BlockingIOError
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    files = len(os.listdir("/dev/fd"))
    for _ in range(3):
        add(store)
    assert count(store) == 403
    assert len(os.listdir("/dev/fd")) == files


def test_locks_that_sqlite_cannot_take_are_one_sentence(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence says what to do."""
    error = sqlite3.OperationalError("locking protocol")
    error.sqlite_errorcode = sqlite3.SQLITE_PROTOCOL
    session = store._idle[-1]  # type: ignore[attr-defined]
    assert "cannot be locked; use a file on a local disk (locking protocol)" in session.explain(error)


def test_a_folder_that_is_gone_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative name means nothing where the current folder was deleted."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(StoreError, match="the current folder cannot be found"):
        open_store("sqlite:///runs.db")


def test_tables_made_between_two_looks_are_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process creates the tables just after this one has seen an empty file."""
    url = f"sqlite:///{tmp_path / 'x.db'}"
    (tmp_path / "x.db").touch()
    real = sqlite.SqliteSession.rows
    other: list[Store] = []

    def rows(session: sqlite.SqliteSession, sql: str, values: tuple[object, ...] = ()) -> list[object]:
        found: list[object] = real(session, sql, values)
        if sql == "PRAGMA application_id" and not other:
            other.append(open_store("memory:"))  # not again for the one that is opened now
            other.append(open_store(url))
            other[1].create("x", Entry(CREATED))
        return found

    monkeypatch.setattr(sqlite.SqliteSession, "rows", rows)
    store = open_store(url)
    assert store.names() == ["x"]
    store.close()
    other[1].close()
