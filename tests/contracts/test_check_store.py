"""`check_store`: for every demand a store that breaks it, which is caught with a useful message."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from truebest.errors import InvalidInputError
from truebest.experiment.store import Entry, Log, Store
from truebest.experiment.store.memory import MemoryStore
from truebest.testing import STORE_DEMANDS, ContractError, check_store


class AroundLog(Log):
    """A log of a user's own, around one in memory."""

    def __init__(self, inner: Log) -> None:
        self.inner = inner

    last = property(lambda self: self.inner.last)
    head = property(lambda self: self.inner.head)
    saved = property(lambda self: self.inner.saved)

    def now(self) -> float:
        return self.inner.now()

    def entries(self, after: int = 0, *, most: int | None = None, pull: int | None = None) -> list[Entry]:
        return self.inner.entries(after, most=most, pull=pull)

    def first(self) -> Entry:
        return self.inner.first()

    def append(self, entries: Sequence[Entry]) -> list[Entry]:
        return self.inner.append(entries)

    def leases(self) -> dict[int, float]:
        return self.inner.leases()

    def renew(self, until: Mapping[int, float]) -> None:
        self.inner.renew(until)

    def snapshot(self) -> tuple[int, str] | None:
        return self.inner.snapshot()

    def save_snapshot(self, seq: int, text: str) -> None:
        self.inner.save_snapshot(seq, text)


class Around(Store):
    """A store of a user's own, around one in memory."""

    url = place = "around:"
    lasting = False
    log: type[AroundLog] = AroundLog

    def __init__(self) -> None:
        self.inner = MemoryStore()

    def create(self, name: str, first: Entry, rest: Sequence[Entry] = ()) -> bool:
        return self.inner.create(name, first, rest)

    def names(self) -> list[str]:
        return self.inner.names()

    def delete(self, name: str) -> None:
        self.inner.delete(name)

    @contextmanager
    def reading(self, name: str) -> Iterator[Log]:
        with self.inner.reading(name) as log:
            yield self.log(log)

    @contextmanager
    def writing(self, name: str, *, patience: float | None = None) -> Iterator[Log]:
        with self.inner.writing(name, patience=self.patience if patience is None else patience) as log:
            yield self.log(log)

    def close(self) -> None:
        self.inner.close()


def with_log(**methods: Any) -> type[Around]:
    """A store whose log has other methods."""
    return type("Broken", (Around,), {"log": type("BrokenLog", (AroundLog,), methods)})


def with_store(**methods: Any) -> type[Around]:
    """A store that has other methods."""
    return type("Broken", (Around,), methods)


def changed(**fields: Callable[[Any], Any]) -> type[Around]:
    """A store that changes fields of the lines that it gives back."""

    def entries(self: AroundLog, *given: Any, **options: Any) -> list[Entry]:
        found = self.inner.entries(*given, **options)
        return [line._replace(**{k: f(getattr(line, k)) for k, f in fields.items()}) for line in found]

    return with_log(entries=entries)


@contextmanager
def keeps_what_failed(self: Around, name: str, **_: Any) -> Iterator[Log]:
    """A writing block that is stored however it is left."""
    error = None
    with self.inner.writing(name) as log:
        try:
            yield AroundLog(log)
        except BaseException as raised:
            error = raised
    if error is not None:
        raise error


@contextmanager
def swallows(self: Around, name: str, **_: Any) -> Iterator[Log]:
    """A writing block that eats what was raised inside."""
    try:
        with self.inner.writing(name) as log:
            yield AroundLog(log)
    except BaseException:
        pass


class Late(AroundLog):
    """A log of a writer that did not wait: its lines are put at the end when its block is left."""

    def __init__(self, inner: Log) -> None:
        super().__init__(inner)
        self.new: list[Entry] = []

    def append(self, entries: Sequence[Entry]) -> list[Entry]:
        self.new += entries
        return list(entries)


@contextmanager
def together(self: Around, name: str, **_: Any) -> Iterator[Log]:
    """A writing block that others may be in, too."""
    with self.inner.reading(name) as log:
        late = Late(log)
        yield late
    with self.inner.writing(name) as log:
        log.append(late.new)


class Locked(Around):
    """Readers and writers keep each other out."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.RLock()

    @contextmanager
    def reading(self, name: str) -> Iterator[Log]:
        with self.lock, super().reading(name) as log:
            yield log

    @contextmanager
    def writing(self, name: str, *, patience: float | None = None) -> Iterator[Log]:
        with self.lock, super().writing(name, patience=patience) as log:
            yield log


class Fresh(AroundLog):
    """A log that reads what is there now, not what was there when its block began."""

    store: Around
    name: str

    def entries(self, *given: Any, **options: Any) -> list[Entry]:
        with self.store.inner.reading(self.name) as log:
            return log.entries(*given, **options)


@contextmanager
def reads_on(self: Around, name: str) -> Iterator[Log]:
    """A reading block that sees what is written meanwhile."""
    with self.inner.reading(name) as log:
        fresh = Fresh(log)
        fresh.store, fresh.name = self, name
        yield fresh


@contextmanager
def unguarded(self: Around, name: str, *, patience: float | None = None) -> Iterator[Log]:
    """A writing block inside which the same thread may begin another."""
    self.inner._guard.held = False
    with self.inner.writing(name, patience=self.patience if patience is None else patience) as log:
        yield AroundLog(log)


@contextmanager
def patient(self: Around, name: str, **_: Any) -> Iterator[Log]:
    """A writing block that waits as long as it takes."""
    with self.inner.writing(name, patience=60.0) as log:
        yield AroundLog(log)


@contextmanager
def waits_for_itself(self: Around, name: str, **_: Any) -> Iterator[Log]:
    """A writing block inside which the same thread may begin another, and waits for ever."""
    self.inner._guard.held = False
    with self.inner.writing(name, patience=-1) as log:
        yield AroundLog(log)


@contextmanager
def never_ends(self: Around, name: str, **_: Any) -> Iterator[Log]:
    """A reading block whose log can be used for ever, also for changes."""
    with self.inner.reading(name) as log:
        lines = log.entries()
    endless = AroundLog(log)
    endless.entries = lambda *_, **__: lines  # type: ignore[method-assign]
    yield endless


def closed(self: Around) -> None:
    """Forgets everything."""
    self.inner = MemoryStore()


def create_over(self: Around, name: str, first: Entry, rest: Sequence[Entry] = ()) -> bool:
    """A second creation replaces the first."""
    self.inner._books.pop(name, None)
    return self.inner.create(name, first, rest)


def create_one(self: Around, name: str, first: Entry, rest: Sequence[Entry] = ()) -> bool:
    """Stores the first of many lines."""
    return self.inner.create(name, first)


def normal_form(self: Around, name: Any, first: Entry, rest: Sequence[Entry] = ()) -> bool:
    """Names that look the same are the same."""
    name = unicodedata.normalize("NFC", name) if isinstance(name, str) else name
    return self.inner.create(name, first, rest)


def drops(self: AroundLog, entries: Sequence[Entry]) -> list[Entry]:
    """Stores one line of many."""
    return self.inner.append(entries[:1])


def shared_snapshot(store: dict[str, Any] = {}) -> type[Around]:  # noqa: B006
    """One snapshot for all experiments."""

    def save(self: AroundLog, seq: int, text: str) -> None:
        self.inner.save_snapshot(seq, text)
        store["last"] = (seq, text)

    return with_log(save_snapshot=save, snapshot=lambda self: store.get("last"))


def no_nan(self: AroundLog, entries: Sequence[Entry]) -> list[Entry]:
    """Stores nan as no value."""
    return self.inner.append([e._replace(value=None) if e.value != e.value else e for e in entries])


DATA: list[Any] = []


def one_object(self: AroundLog, *given: Any, **options: Any) -> list[Entry]:
    """Gives the same object for the data of a failure each time."""
    found = self.inner.entries(*given, **options)
    if found and found[-1].data and "reason" in found[-1].data:
        DATA[:] = DATA or [found[-1].data]
        found[-1] = found[-1]._replace(data=DATA[0])
    return found


def of_no_pull(self: AroundLog, after: int = 0, most: int | None = None, **_: Any) -> list[Entry]:
    """Gives the lines of all pulls."""
    return self.inner.entries(after, most=most)


def any_name(self: Around, name: Any, first: Entry, rest: Sequence[Entry] = ()) -> bool:
    """Accepts what is no name."""
    return self.inner.create(str(name) or "x", first, rest)


def endless(self: AroundLog, until: Mapping[int, float]) -> None:
    """Keeps leases that have ended."""
    self.inner._leases = {**self.inner._leases, **until}  # type: ignore[attr-defined]


def in_the_log(self: AroundLog, until: Mapping[int, float]) -> None:
    """Writes a line for a renewal."""
    self.inner.renew(until)
    self.inner.append([Entry("renewed")])


def twice(self: Around, name: str) -> None:
    """Deletes what is not there, too."""
    self.inner._books.pop(name, None)


BROKEN: list[tuple[str, Callable[[], Any], str]] = [
    ("create", with_store(create=create_over), "a name that is taken was created again; say False"),
    ("create", with_store(create=create_one), "a log of three lines has 1 or other ones; store the first"),
    ("create", changed(seq=lambda seq: seq - 1), "store the first line under number 1"),
    ("create", with_store(names=lambda self: []), r"names\(\) gave \[\]; list what was created"),
    ("append", with_log(append=drops), r"pulls 1, 2, 3, 6 were told, the log has \[1, 3, 6\]"),
    ("append", changed(seq=lambda seq: 10 * seq), r"the numbers \[10, 20, 30, 40, 50\]; number the lines"),
    (
        "append",
        with_log(append=lambda self, new: self.inner.append(new) and list(new)),
        "append.. returned other",
    ),
    ("entries", with_log(entries=lambda self, after=0, **_: self.inner.entries(after)), "most=1"),
    (
        "entries",
        with_log(entries=of_no_pull),
        "pull=7",
    ),
    ("entries", with_log(first=lambda self: self.inner.entries()[-1]), r"first\(\) gave .* give line 1"),
    ("entries", with_log(head=property(lambda self: "")), "last and head were 7 and ''"),
    ("atomic", with_store(writing=keeps_what_failed), "a block left by KeyError stored 1 lines; undo"),
    ("atomic", with_store(writing=swallows), "KeyError in a block came out as None; let it through"),
    ("snapshot", with_log(snapshot=lambda self: None), "came back otherwise; keep its seq and its text"),
    ("snapshot", shared_snapshot, "another experiment has the snapshot, too"),
    ("snapshot", with_log(saved=property(lambda self: 7)), "saved is 7; set it to the seq"),
    (
        "unknown",
        with_store(reading=lambda self, name: self.inner._books[name]),
        "raise InvalidInputError",
    ),
    ("names", with_store(create=normal_form), "was taken by another one; compare names letter for letter"),
    (
        "names",
        with_store(create=any_name),
        "the name ''",
    ),
    (
        "names",
        with_store(names=lambda self: sorted(self.inner.names())),
        "in the place of .* in the order of creation",
    ),
    ("values", changed(value=lambda x: x and float(f"{x:.15g}")), "gave .* for the value"),
    (
        "values",
        changed(value=lambda x: None if x is None else x + 0.0),
        "0.0 for the value -0.0",
    ),
    ("values", with_log(entries=one_object), "data came back as .* give a new one each time"),
    ("values", with_log(append=no_nan), "the value nan gave None; raise InvalidInputError"),
    ("clock", with_log(now=lambda self: 1000 * self.inner.now()), "the clock went back by"),
    ("clock", with_log(now=lambda self: -self.inner.now()), "the clock went back by"),
    ("chain", changed(chain=lambda chain: ""), "line 1 has the hash '', its columns have"),
    ("chain", changed(arm=lambda arm: 0), "line 1 has the hash"),
    ("readers", Locked, "a reader waited 0.3 s for a writer; let readers see"),
    ("readers", with_store(reading=reads_on), r"saw 1 lines, then 2, .* as it was when its block began"),
    (
        "writers",
        with_store(writing=together),
        "two writers were inside their blocks together; let one",
    ),
    (
        "waiting",
        with_store(writing=unguarded),
        "inside another block gave None; raise StoreError",
    ),
    (
        "waiting",
        with_store(writing=waits_for_itself),
        "inside another one has not ended within 0.3 s; it must",
    ),
    ("waiting", with_store(writing=patient), "waited longer than its store.s patience got None"),
    ("use", with_store(reading=never_ends), "entries.. after the block gave None; set open = False"),
    ("close", with_store(close=closed), "no experiment"),
    ("lasting", with_store(lasting=True), "is gone when the store is opened again; open the same place"),
    ("leases", with_log(renew=lambda self, until: None), "does not see the leases that it renewed"),
    ("leases", with_log(renew=endless), "one that has ended, leases are .* drop those below now"),
    ("leases", with_log(renew=in_the_log), "a renewal changed the log; write no line for it"),
    ("delete", with_store(delete=lambda self, name: None), r"after delete\(\) the names are"),
    ("delete", with_store(delete=lambda self, name: self.inner._books.clear()), "the names are"),
    ("delete", with_store(delete=twice), "what is gone gave None; raise InvalidInputError"),
    ("experiment", changed(value=lambda x: x and x / 2), "in memory"),
    ("experiment", lambda: {}, "what was opened is a dict; return a subclass"),
]


@pytest.mark.parametrize(("demand", "broken", "words"), BROKEN, ids=[f"{d}-{w}" for d, _, w in BROKEN])
def test_a_broken_store_is_caught(demand: str, broken: Callable[[], Any], words: str) -> None:
    """By that demand, in one sentence that names the store, the demand, what was found and what to do."""
    DATA.clear()
    made = broken() if broken is shared_snapshot else broken
    with pytest.raises(ContractError, match=words) as caught:
        check_store(made, only=demand, wait=0.3)
    said = str(caught.value)
    assert f" breaks the demand {demand!r} (" in said
    assert said.startswith("the store ")
    assert "\n" not in said
    assert ";" in said
    assert caught.value.demand == demand


def test_every_demand_has_a_store_that_breaks_it() -> None:
    """So no demand is one that cannot fail."""
    assert {demand for demand, _, _ in BROKEN} == set(STORE_DEMANDS)


def test_a_store_of_a_users_own_passes() -> None:
    """The store that the broken ones are made of is right, so each breaks what it is meant to break."""
    report = check_store(Around)
    assert tuple(check.demand for check in report.checks) == STORE_DEMANDS
    assert [check.demand for check in report.checks if not check.checked] == ["lasting"]
    assert str(report).startswith("the store Around meets 18 demands\n")


def test_a_place_that_others_use_is_checked_too() -> None:
    """Experiments that are there already do not disturb, and are left alone."""
    store = Around()
    store.lasting = True
    store.create("mine", Entry("created", data={}))
    before = store.inner._books["mine"].rows.copy()
    assert all(check.checked for check in check_store(lambda: store).checks)
    assert store.names()[0] == "mine"
    assert store.inner._books["mine"].rows == before


def test_a_store_itself_is_refused() -> None:
    """It takes a function, for the store is opened several times."""
    with pytest.raises(InvalidInputError, match=r"write check_store\(lambda: MyStore"):
        check_store(Around())  # type: ignore[arg-type]
