"""Which URL gives which store, and what happens to stores when a process forks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from support.processes import run
from truebest.errors import InvalidInputError
from truebest.experiment.events import CREATED, Entry
from truebest.experiment.store import open_store

FIRST = Entry(CREATED, data={})


def test_each_memory_is_new() -> None:
    """`memory:` is empty each time; a store is handed back."""
    one = open_store("memory:")
    one.create("one", FIRST)
    assert open_store("memory:").names() == []
    assert open_store(one) is one
    assert one.url == "memory:"


@pytest.mark.parametrize("name", ["a b.db", "a%20b.db", "a?mode=ro#x.db", "é漢.db", ":memory:", "file:x.db"])
def test_a_file_name_is_meant_literally(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What follows `sqlite:///` is the file's name, relative to the folder of that moment, or absolute."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    store = open_store(f"sqlite:///{name}")
    monkeypatch.chdir("elsewhere")
    store.create("one", FIRST)
    store.close()
    assert (tmp_path / name).exists()
    again = open_store(f"sqlite:///{tmp_path}/{name}")
    assert again.names() == ["one"]
    again.close()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        *((url, repr(url)) for url in ("", "runs.db", "memory", "memory:x", "SQLITE:///x.db", "sqlite:")),
        *((url, repr(url)) for url in ("sqlite://", "sqlite://runs.db", "sqlite:///", "sqlite:////")),
        *((url, repr(url)) for url in ("sqlite:///a\0b", None, Path("runs.db"))),
        ("sqlite:///a\ud800b", r"'sqlite:///a\ud800b'"),
        ("postgresql:x", "'postgresql:...' (not shown in full"),
        ("mysql://me:secret@host/x", "'mysql://...' (not shown in full"),
        ("sqlite:///postgresql://me:secret@host/x", "'sqlite://...' (not shown in full"),
        ("host=h password=secret", "a text (not shown in full"),
        (5, "a value of type int"),
        (b"memory:", "a value of type bytes"),
    ],
)
def test_what_is_no_url_is_refused(
    url: Any, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence: what was given, what is allowed, an example; no file is made, no password shown."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInputError, match=r"write for example sqlite:///runs\.db") as caught:
        open_store(url)
    message = str(caught.value)
    assert "secret" not in message
    assert "\n" not in message
    assert f"got {shown}" in message
    assert list(tmp_path.iterdir()) == []


def test_without_psycopg_the_message_says_what_to_install() -> None:
    """Only PostgreSQL needs psycopg; the other stores do not import it."""
    code = """
sys.modules["psycopg"] = None
open_store("memory:")
open_store("sqlite:///never-made.db")
try:
    open_store("postgresql://host/x")
except InvalidInputError as error:
    print(error)
"""
    assert "pip install 'truebest[postgres]'" in run(code)


FORK = """
store = open_store(sys.argv[1])
store.create("one", Entry("created"))

def add(pull):
    with store.writing("one") as log:
        log.append([Entry(TOLD, pull=pull)])

def in_child(work):
    child = os.fork()
    if child == 0:
        work()
        sys.exit(0)  # not _exit: what is deleted at the end must not disturb the parent
    return child

def twenty(pull):
    for _ in range(20):
        add(pull)

add(0)
children = [in_child(lambda i=i: twenty(i)) for i in (1, 2)]
twenty(3)
for child in children:
    assert os.waitpid(child, 0)[1] == 0
add(4)

def use_inherited_block():
    for call in (lambda: log.append([Entry(TOLD, pull=9)]), log.entries):
        try:
            call()
        except StoreError as error:
            assert "another process" in str(error)
        else:
            raise AssertionError
    if "sqlite" in store.url:  # whose locks the child would inherit by half
        try:
            store.names()
        except StoreError as error:
            assert "it was forked while" in str(error)
        else:
            raise AssertionError

with store.writing("one") as log:
    log.append([Entry(TOLD, pull=5)])
    child = os.fork()
    if child == 0:
        use_inherited_block()
        sys.exit(0)  # leaves the block by an exception, in the child
    assert os.waitpid(child, 0)[1] == 0
    log.append([Entry(TOLD, pull=6)])
with store.reading("one") as log:
    pulls = [e.pull for e in log.entries()]
import json
print(json.dumps({str(pull): pulls.count(pull) for pull in pulls}))
store.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_connection_is_not_used_after_a_fork(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Children open their own and end without disturbing the parent's; an open block stays the parent's."""
    url = request.getfixturevalue("postgres_url") if kind == "postgresql" else f"sqlite:///{tmp_path}/runs.db"
    counts = json.loads(run(FORK, url))
    assert counts == {"None": 1, "0": 1, "1": 20, "2": 20, "3": 20, "4": 1, "5": 1, "6": 1}
