"""What is demanded of readers and writers of a store, beside each other and one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from ..errors import StoreError
from ..experiment.store import Log
from .demands import Demands, NotCheckedError, require
from .places import FIRST, Beside, Opener, Place, entered, raised, told

DEMANDS: Demands[Opener] = Demands()

NESTED = "raise StoreError at once, since the thread would wait for itself"


@DEMANDS.demand("readers", "a reader sees what was there, waits for nobody, and nobody for it")
def _readers(case: Opener) -> str:
    with case.opened() as at:
        at.create()
        reading, written = threading.Event(), threading.Event()
        seen: list[tuple[int, int, object]] = []

        def read() -> None:
            with at.store.reading(at.name) as log:
                before = len(log.entries())
                reading.set()
                written.wait(at.wait)
                seen.append((before, len(log.entries()), log.snapshot()))

        with at.store.writing(at.name) as log:
            log.append([told(1)])
            log.save_snapshot(2, "text")
            reader = Beside(read)
            advice = "let readers see what was committed before, without waiting"
            require(reading.wait(at.wait), f"a reader waited {at.wait:g} s for a writer", advice)
        written.set()
        reader.finish("a reader", at.wait)
        advice = "give a reader the log as it was when its block began"
        found = "a reader beside a writer saw {} lines, then {}, and the snapshot {!r}".format(*seen[0])
        require(seen == [(1, 1, None)], found, advice)
        now = len(at.lines())
        require(now == 2, f"after a writer's block {now} of 2 lines are there", "commit at its end")
        with at.store.reading(at.name) as log:
            before, head = log.entries(), log.head
            Beside(lambda: at.add(told(2), told(3))).finish("a writer beside a reader", at.wait)
            require(len(at.lines()) == 4, "a writer beside a reader stored nothing", "let it commit")
            same = (log.entries(), log.head, log.last) == (before, head, len(before))
            require(same, "what a reader sees changed while it read", advice)
    return "1 reader beside 2 writers"


@DEMANDS.demand("writers", "writers wait for each other and lose nothing")
def _writers(case: Opener) -> str:
    advice = "let one writer of an experiment at a time into the block, and read the log inside it"
    with case.opened() as at:
        at.create()
        inside = threading.Event()

        def write(times: int = 1) -> None:
            for _ in range(times):
                with at.store.writing(at.name) as log:
                    inside.set()
                    log.append([told(len(log.entries()))])

        with at.store.writing(at.name) as log:
            other = Beside(write)
            together = inside.wait(0.1)
            log.append([told(1)])
        other.finish("a second writer", at.wait)
        require(not together, "two writers were inside their blocks together", advice)
        threads = [Beside(partial(write, 10)) for _ in range(8)]
        for thread in threads:
            thread.finish("one of eight writers", 10 * at.wait)
        pulls = [line.pull for line in at.lines()[1:]]
        kept = f"{len(pulls)} of 82 lines, {len(set(pulls))} of them different"
        require(pulls == list(range(1, 83)), f"writers that counted the lines left {kept}", advice)
    return "82 lines by 9 threads"


@DEMANDS.demand("waiting", "a writer that would wait for itself, or too long, is told")
def _waiting(case: Opener) -> str:
    with case.opened() as at:
        other = f"other {at.token}"
        at.create()
        at.create(other)
        patience, at.store.patience = at.store.patience, 0.2
        try:
            Beside(partial(_nest, at, other)).finish("a writing block inside another one", at.wait)
            require(len(at.lines()) == 2, "the outer block lost its line", "let it go on")
            require(at.names() == [at.name, other], "an experiment was created inside a block", NESTED)
            for chosen in (None, 0.1):
                _too_long(at.store.writing, at.name, chosen, at.wait)
            require(at.add(told(3))[0].seq == 3, "after that a line is not number 3", "let go of the lock")
        finally:
            at.store.patience = patience
    return "3 nested calls, 2 impatient ones"


def _nest(at: Place, other: str) -> None:
    """Inside a block, begin another and create an experiment; in a thread, for a bad store waits for ever."""
    with at.store.writing(at.name) as log:
        log.append([told(1)])
        calls: list[Callable[[], object]] = [
            *(entered(partial(at.store.writing, name)) for name in (at.name, other)),
            partial(at.store.create, f"third {at.token}", FIRST),
        ]
        for call in calls:
            got = raised(call)
            found = f"a writing block or a create() inside another block gave {got!r}"
            require(isinstance(got, StoreError), found, NESTED)


def _too_long(writing: Callable[..., object], name: str, patience: float | None, wait: float) -> None:
    """A second writer gives up after `patience`, by default the store's."""
    errors: list[BaseException | None] = []
    enter = entered(lambda: writing(name) if patience is None else writing(name, patience=patience))
    block: object = writing(name)
    with block:  # type: ignore[attr-defined]
        thread = Beside(lambda: errors.append(raised(enter)))
        thread.join(wait)
    thread.finish("a writer", wait)
    limit = "its store's patience" if patience is None else f"patience={patience:g}"
    found = f"a writer that waited longer than {limit} got {errors[0]!r}"
    require(isinstance(errors[0], StoreError), found, "raise StoreError after that many seconds")


@DEMANDS.demand("use", "a log is used only as it was opened, and only inside its block")
def _use(case: Opener) -> str:
    with case.opened() as at:
        at.create()
        with at.store.reading(at.name) as read:
            for change in (lambda: read.append([told(1)]), lambda: read.save_snapshot(1, "")):
                got = raised(change)
                advice = "call Log._check(write=True) first"
                require(isinstance(got, StoreError), f"a change while reading gave {got!r}", advice)
        with at.store.writing(at.name) as written:
            pass
        logs: list[Log] = [read, written]
        for log in logs:
            calls: dict[str, Callable[[], object]] = {
                "now": log.now,
                "entries": log.entries,
                "snapshot": log.snapshot,
                "first": log.first,
                "append": partial(log.append, [told(1)]),
            }
            for name, call in calls.items():
                got = raised(call)
                advice = "set open = False at the end of the block, and call Log._check() first"
                require(isinstance(got, StoreError), f"{name}() after the block gave {got!r}", advice)
        require(len(at.lines()) == 1, "a refused call stored a line", "refuse it before anything else")
    return "2 logs, 7 calls"


@DEMANDS.demand("close", "a closed store may be used again")
def _close(case: Opener) -> str:
    with case.opened() as at:
        at.create()
        at.store.close()
        at.store.close()
        with at.store.writing(at.name) as log:
            at.store.close()
            log.append([told(1)])
        at.store.close()
        lines = len(at.lines())
        require(lines == 2, f"after close() {lines} of 2 lines are there", "let go of connections alone")
    return "4 times, once inside a block"


@DEMANDS.demand("lasting", "what was written is there when the store is opened again")
def _lasting(case: Opener) -> str:
    with case.opened() as at:
        if not at.store.lasting:
            raise NotCheckedError("it says that it does not outlive the process (lasting = False)")
        at.create()
        at.add(told(1, 0.1))
        before = at.lines()
        for _ in range(3):
            again = case.open()
            try:
                there = at.name in again.names()
                advice = "open the same place each time, or say lasting = False"
                require(there, "the experiment is gone when the store is opened again", advice)
                with again.reading(at.name) as log:
                    same = log.entries() == before
                require(same, "the log is another one when the store is opened again", advice)
            finally:
                again.close()
    return "opened 3 times more"
