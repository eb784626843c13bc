"""What is demanded of a store beside its lines: renewed leases, and the end of an experiment."""

from __future__ import annotations

from ..errors import InvalidInputError, StoreError
from ..experiment.store import Store
from .demands import Demands, require
from .places import Opener, entered, raised, told

DEMANDS: Demands[Opener] = Demands()
LARGEST = 2**53


@DEMANDS.demand("leases", "renewed leases are kept beside the log, to the bit, until they end")
def _leases(case: Opener) -> str:
    advice = "keep a number per pull and experiment, replaced by the next; drop those below now()"
    with case.opened() as at:
        at.create()
        other = f"other {at.token}"
        at.create(other)
        with at.store.writing(at.name) as log:
            now, head = log.now(), log.head
            first = {1: now + 60.0625, 7: now + 1e6, LARGEST: now + 120.1}
            log.renew(first)
            require(log.leases() == first, "a block does not see the leases that it renewed", advice)
        _expect(at.store, at.name, first, "renewed leases", advice)
        with at.store.writing(at.name) as log:
            log.renew({1: now + 90.0, 2: log.now() - 1.0})
        kept = {**first, 1: now + 90.0}
        _expect(at.store, at.name, kept, "after a second renewal, and one that has ended, leases", advice)
        got = raised(lambda: _fail_in_block(at.store, at.name, now))
        require(isinstance(got, ZeroDivisionError), f"a block that failed gave {got!r}", "raise it again")
        _expect(at.store, at.name, kept, "after a block that failed leases", "forget what it renewed")
        _expect(at.store, other, {}, "those of another experiment", "keep them apart")
        with at.store.reading(at.name) as log:
            same = (log.last, log.head) == (1, head)
            require(same, "a renewal changed the log", "write no line for it")
            got = raised(lambda: log.renew({3: now + 60.0}))
        require(isinstance(got, StoreError), f"a renewal while reading gave {got!r}", "refuse it")
    return "4 renewals, 2 experiments"


def _expect(store: Store, name: str, want: dict[int, float], what: str, advice: str) -> None:
    with store.reading(name) as log:
        found = log.leases()
    require(found == want, f"{what} are {found!r:.80}, not {want!r:.80}", advice)


def _fail_in_block(store: Store, name: str, now: float) -> None:
    with store.writing(name) as log:
        log.renew({1: now + 500.0})
        raise ZeroDivisionError


@DEMANDS.demand("delete", "a deleted experiment is gone, others stay, and its name is free again")
def _delete(case: Opener) -> str:
    advice = "delete its lines, its snapshot, its leases and its name, and nothing else"
    with case.opened() as at:
        other = f"other {at.token}"
        for name in (at.name, other):
            at.create(name)
            at.add(told(1), told(2), name=name)
            with at.store.writing(name) as log:
                log.save_snapshot(2, "text")
                log.renew({1: log.now() + 60.0})
        at.store.delete(at.name)
        require(at.names() == [other], f"after delete() the names are {at.names()!r:.80}", advice)
        for call in (entered(lambda: at.store.reading(at.name)), lambda: at.store.delete(at.name)):
            got = raised(call)
            missing = "raise InvalidInputError, as for a name that never was"
            require(isinstance(got, InvalidInputError), f"what is gone gave {got!r}", missing)
        with at.store.reading(other) as log:
            whole = (len(log.entries()), log.snapshot(), len(log.leases())) == (3, (2, "text"), 1)
        require(whole, "another experiment lost something", advice)
        at.create()
        with at.store.reading(at.name) as log:
            left = (len(log.entries()), log.snapshot(), log.leases())
        require(left == (1, None, {}), f"a new one of that name begins with {left!r:.80}", advice)
    return "1 of 2 experiments, and begun again"
