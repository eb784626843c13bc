"""What is demanded of the lines in a store: what goes in comes out, in order, whole or not at all."""

from __future__ import annotations

import json
import struct
import time
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InvalidInputError, StoreError
from ..experiment.events import ASKED, CREATED, FAILED, TOLD, Entry
from ..experiment.store._rows import CHAIN, to_rows
from .demands import Demands, require
from .places import FIRST, Opener, Place, entered, raised, told

DEMANDS: Demands[Opener] = Demands()

NO_NAMES: tuple[Any, ...] = ("", "a\nb", "a\0", "\x7f", "\x85", "\ud800", 5, None)
NAMES = (
    *("'; DROP TABLE events; --", '"', "%s ? :a $1 {real}", "\\", " x ", "漢字 🎲"),
    *("e\u0301", "\u00e9", "\u202e", "A", "a", "%", "_", "/", ".."),
)
FLOATS = (0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e308, 1.7976931348623157e308)
MORE_FLOATS = (0.1, 2.0**53, 1e9 + 0.1, float("inf"), -float("inf"))
AS_WRITTEN = "store the columns of a line as they are"
BY_SEQ = "number the lines of an experiment 1, 2, ... in the order of the log"


def bits(value: object) -> bytes | None:
    """A float to the bit."""
    return struct.pack("<d", value) if isinstance(value, float) else None


@DEMANDS.demand("create", "a log begins with its first line, once")
def _create(case: Opener) -> str:
    with case.opened() as at:
        require(at.names() == [], f"it has {at.names()} already", "do not invent experiments")
        at.create()
        require(at.names() == [at.name], f"names() gave {at.names()}", "list what was created, once")
        before = at.lines()
        known = [line._replace(time=0.0, chain="") for line in before]
        advice = "store the first line under number 1"
        require(known == [FIRST._replace(seq=1)], f"a new log has the lines {known}", advice)
        again = at.store.create(at.name, Entry(CREATED, data={"other": 1}))
        require(not again, "a name that is taken was created again", "say False, and change nothing")
        require(at.lines() == before, "a second creation changed the log", "say False, and change nothing")
        require(at.names() == [at.name], f"names() gave {at.names()}", "list what was created, once")
        other, more = f"other {at.token}", [told(1), told(2, 0.25)]
        advice = "store the first line and all others at once, with numbers and hashes as append() would"
        require(at.store.create(other, FIRST, more), "a log with three lines was not created", advice)
        known = [line._replace(time=0.0, chain="", seq=0) for line in at.lines(other)]
        require(known == [FIRST, *more], f"a log of three lines has {len(known)} or other ones", advice)
        pulls = [line.pull for line in at.add(told(3), name=other)]
        require(pulls == [3] and at.lines(other)[-1].seq == 4, "the next line is not the fourth", advice)
        again = at.store.create(other, FIRST, more)
        require(not again and len(at.lines(other)) == 4, "a taken name was created again", advice)
    return "a new name and a taken one, with one line and with three"


@DEMANDS.demand("append", "lines are added at the end, without holes")
def _append(case: Opener) -> str:
    with case.opened() as at:
        at.create()
        returned = at.add(told(1), told(2)) + at.add() + at.add(told(3))
        raised(lambda: _add_and_raise(at, KeyError(), told(4), told(5)))
        returned += at.add(told(6))
        found = at.lines()
        pulls = [line.pull for line in found]
        require(
            pulls == [None, 1, 2, 3, 6], f"pulls 1, 2, 3, 6 were told, the log has {pulls[1:]}", AS_WRITTEN
        )
        numbers = [line.seq for line in found]
        require(numbers == [1, 2, 3, 4, 5], f"five lines have the numbers {numbers}", BY_SEQ)
        advice = "return the lines with the seq, time and chain that they are stored with"
        require(found[1:] == returned, "append() returned other lines than entries() gives", advice)
        order = all(a.time <= b.time for a, b in pairwise(found))
        require(order, "a line is older than the one before it", "take the time inside the writing block")
        for text in (found[0].kind, found[1].kind):
            require(text in (CREATED, TOLD), f"a line came back with kind {text!r}", AS_WRITTEN)
    return "5 lines in 4 blocks, one undone"


def _add_and_raise(at: Place, error: BaseException, *entries: Entry) -> None:
    """A block that adds lines and a snapshot and is left by an exception."""
    with at.store.writing(at.name) as log:
        log.append(entries)
        log.save_snapshot(len(entries), "text")
        raise error


@DEMANDS.demand("entries", "the lines after one, at most so many, or those of a pull")
def _entries(case: Opener) -> str:
    with case.opened() as at:
        at.create()
        at.add(Entry(ASKED, pull=7), Entry(ASKED, pull=8), told(7), told(8))
        with at.store.writing(at.name) as log:
            log.append([Entry(FAILED, pull=7), told(8)])
            for after in (-1, 0, 1, 3, 6, 7, 100):
                for most in (None, 1, 2, 100):
                    want = list(range(max(after, 0) + 1, 8))[:most]
                    got = [line.seq for line in log.entries(after, most=most)]
                    found = f"entries({after}, most={most}) of 7 lines gave lines {got}"
                    require(got == want, found, f"give lines {want}, with those of the own block")
            for after, want in ((0, [2, 4, 6]), (2, [4, 6]), (6, [])):
                got = [line.seq for line in log.entries(after, pull=7)]
                found = f"entries({after}, pull=7) gave lines {got}"
                require(got == want, found, f"give lines {want}, with those of the own block")
            for unknown in (0, 9, -1, 2**62, 2**63, 10**30, -(10**30)):
                got = [line.seq for line in log.entries(pull=unknown)]
                require(
                    got == [], f"entries(pull={unknown}) gave lines {got}", "there is no such pull: give none"
                )
            first = log.first()
            require((first.seq, first.data) == (1, FIRST.data), f"first() gave {first}", "give line 1")
            tail = log.entries()[-1]
            require(
                (log.last, log.head) == (tail.seq, tail.chain),
                f"last and head were {log.last} and {log.head!r} after an append",
                "keep them at the seq and the chain of the last line, those of the own block included",
            )
    return "7 lines, 7 starts, 9 pulls"


@DEMANDS.demand("atomic", "a block left by an exception stores nothing")
def _atomic(case: Opener) -> str:
    with case.opened() as at:
        at.create()
        before, advice = at.lines(), "undo the lines and the snapshot of a block that raises"
        for kind in (KeyError, KeyboardInterrupt, StoreError, SystemExit):
            error = kind("mine")
            got = raised(partial(_add_and_raise, at, error, told(1)))
            require(got is error, f"{kind.__name__} in a block came out as {got!r}", "let it through")
            with at.store.reading(at.name) as log:
                lines, saved = log.entries(), log.snapshot()
            more = len(lines) - len(before)
            require(lines == before, f"a block left by {kind.__name__} stored {more} lines", advice)
            require(saved is None, f"a block left by {kind.__name__} stored its snapshot", advice)
        got = raised(lambda: at.add(told(1), Entry(FAILED, 2, data={"x": object()})))
        require(got is not None, "data that is not JSON was accepted", "refuse it")
        require(at.lines() == before, "a block with data that is not JSON was stored in part", advice)
        require(at.add(told(2))[0].seq == 2, "a line after undone ones is not number 2", BY_SEQ)
    return "4 exceptions, and data that is not JSON"


@DEMANDS.demand("snapshot", "the last saved snapshot is kept, per experiment")
def _snapshot(case: Opener) -> str:
    with case.opened() as at:
        other = f"other {at.token}"
        at.create()
        at.create(other)
        texts = ["", "first", json.dumps({"a": "x" * 300_000, "é": None}, ensure_ascii=False)]
        for seq, text in enumerate(texts):
            at.add(told(seq + 1))
            with at.store.writing(at.name) as log:
                log.save_snapshot(seq, text)
                inside = log.snapshot(), log.saved
            with at.store.reading(at.name) as log:
                after = log.snapshot(), log.saved
            for where, (got, saved) in (("inside the block", inside), ("after it", after)):
                found = f"{where} the snapshot of {len(text)} characters at line {seq} came back otherwise"
                require(got == (seq, text), found, "keep its seq and its text, whole")
                require(saved == seq, f"{where} saved is {saved}", "set it to the seq of the snapshot")
        with at.store.reading(other) as log:
            clean = log.snapshot() is None and log.saved == 0
        require(clean, "another experiment has the snapshot, too", "keep one per experiment")
    return "3 texts, up to 300 kB"


@DEMANDS.demand("unknown", "an experiment that is not there is refused")
def _unknown(case: Opener) -> str:
    with case.opened() as at:
        for block in (at.store.reading, at.store.writing):
            got = raised(entered(partial(block, at.name)))
            refused = isinstance(got, InvalidInputError) and at.name in str(got) and "\n" not in str(got)
            found = f"{block.__name__}() of an unknown experiment gave {got!r}"
            require(refused, found, "raise InvalidInputError in one line that has the name")
        require(at.names() == [], "looking for an experiment created it", "create in create() alone")
    return "reading and writing"


@DEMANDS.demand("names", "any name is data; control characters are refused")
def _names(case: Opener) -> str:
    with case.opened() as at:
        for bad in NO_NAMES:
            for call in (
                partial(at.store.create, bad, FIRST),
                entered(partial(at.store.reading, bad)),
            ):
                got = raised(call)
                found = f"the name {bad!r} gave {got!r}"
                require(isinstance(got, InvalidInputError), found, "raise InvalidInputError, store nothing")
            require(bad not in at.store.names(), f"the name {bad!r} was stored", "store nothing")
        wanted = [*(f"{odd}{at.token}{odd}" for odd in NAMES), at.token + "x" * (1000 - len(at.token))]
        wanted += [f"run {7 * i % 50} {at.token}" for i in range(50)]
        for i, name in enumerate(wanted):
            made = at.store.create(name, Entry(CREATED, data={"number": i}))
            require(
                made, f"the name {name!r:.60} was taken by another one", "compare names letter for letter"
            )
        got_names = at.names()
        pairs = zip([*got_names, None], wanted, strict=False)
        found = next((f"names() has {a!r:.60} in the place of {b!r:.60}" for a, b in pairs if a != b), "")
        require(
            got_names == wanted,
            found or "names() has some twice",
            "give names letter for letter, in the order of creation",
        )
        for name in wanted[::3]:
            at.add(told(1), name=name)
        for i, name in enumerate(wanted):
            log = at.lines(name)
            own = len(log) == (1 if i % 3 else 2) and log[0].data == {"number": i}
            require(own, f"{name!r:.60} has lines of another experiment", "keep logs apart by name")
    return f"{len(NO_NAMES)} that are none, {len(wanted)} that are"


@DEMANDS.demand("values", "numbers come back bit for bit, data as it was")
def _values(case: Opener) -> str:
    with case.opened() as at:
        at.create()
        for value in (*FLOATS, *MORE_FLOATS):
            data = {} if value in MORE_FLOATS[-2:] else {"x": value}
            given = at.add(told(1, value, **data))[0]
            for where, line in (("append()", given), ("entries()", at.lines()[-1])):
                found = f"{where} gave {line.value!r} for the value {value!r}"
                require(bits(line.value) == bits(value), found, "store floats of 64 bits, or their repr")
                inside = (line.data or {}).get("x")
                found = f"{where} gave {inside!r} for {value!r} in the data"
                require(not data or bits(inside) == bits(value), found, "store data as its JSON text")
        _numpy_numbers(at)
        _copies(at)
        before = at.lines()
        got = raised(lambda: at.add(told(1), told(2, float("nan"))))
        found = f"the value nan gave {got!r}"
        require(isinstance(got, InvalidInputError), found, "raise InvalidInputError: nan is no value")
        require(at.lines() == before, "a block with nan was stored in part", "undo the whole block")
    return f"{len(FLOATS) + len(MORE_FLOATS)} floats, NumPy's numbers, data, nan"


def _numpy_numbers(at: Place) -> None:
    at.add(Entry(TOLD, pull=np.int64(2**53), arm=np.uint8(3), value=np.float32(0.5)), told(1, 2**53))  # type: ignore[arg-type]
    one, two = at.lines()[-2:]
    got = [one.pull, one.arm, one.value, two.value]
    plain = got == [2**53, 3, 0.5, 2.0**53] and [type(x) for x in got] == [int, int, float, float]
    require(
        plain, f"NumPy's 2**53, 3, 0.5 and the value 2**53 came back as {got}", "turn them into int and float"
    )


def _copies(at: Place) -> None:
    data: dict[str, Any] = {"reason": ["a"], "é\ud800": [None, True, 10**30, {"": "\0"}]}
    want = json.dumps(data)
    at.add(Entry(FAILED, 1, data=data))
    data["reason"].append("b")
    for _ in range(2):
        found = at.lines()[-1].data or {}
        same = json.dumps(found) == want
        require(same, f"data came back as {found}", "store a copy as JSON text, and give a new one each time")
        found["reason"].append("c")


@DEMANDS.demand("clock", "the clock goes forward, in seconds since 1970")
def _clock(case: Opener) -> str:
    with case.opened() as at:
        at.create()
        times = [at.lines()[0].time]
        for _ in range(20):
            with at.store.writing(at.name) as log:
                times += [log.now(), log.append([told(1)])[0].time, log.now()]
            with at.store.reading(at.name) as log:
                times.append(log.now())
        back = min(b - a for a, b in pairwise(times))
        require(
            back >= -0.001, f"the clock went back by {-back:g} s", "use one clock for readers and writers"
        )
        off = times[-1] - time.time()
        require(abs(off) < 60, f"now() is {off:g} s off", "give seconds since 1970 by a clock that is right")
    return f"{len(times)} readings"


@DEMANDS.demand("chain", "every line carries the hash of the log up to it")
def _chain(case: Opener) -> str:
    with case.opened() as at:
        at.create()
        at.add(told(1), told(2, 0.1, x="é"))
        at.add(Entry(FAILED, 3, 1, data={"reason": "no"}))
        previous, advice = (
            "",
            "keep what truebest.experiment.store.to_rows(entries, last, head, now) gives",
        )
        for line in at.lines():
            row = to_rows([line], line.seq - 1, previous, line.time)[0]
            found = f"line {line.seq} has the hash {line.chain!r}, its columns have {row[CHAIN]!r}"
            require(line.chain == row[CHAIN], found, advice)
            previous = line.chain
        with at.store.reading(at.name) as log:
            head = log.head
        require(
            head == previous,
            f"head is {head!r}, the last line's hash {previous!r}",
            "keep it at the last line's",
        )
    return "4 lines in 3 blocks"
