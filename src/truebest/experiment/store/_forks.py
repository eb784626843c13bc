"""What becomes of SQLite's connections when the process forks."""

from __future__ import annotations

import os
import threading
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import StoreError
from ._base import Store


class Forks:
    """Keeps SQLite's open files out of a forked child, where they would be its ruin.

    SQLite notes in the process's memory which locks it holds. A child inherits the notes but not the locks:
    it waits for ever for a lock that nobody holds, or works without one that it needs. So no connection is
    open while the process forks: blocks that are under way end first, those that begin wait, idle
    connections are closed, and both processes open new ones. A block that does not end in time, or the
    forking thread's own, is left alone; then the child may not use SQLite, and is told so.
    """

    GRACE = 1.0  # seconds that a fork waits for blocks to end

    def __init__(self) -> None:
        self.stores: weakref.WeakSet[Store] = weakref.WeakSet()
        self._changed, self._one_at_a_time = threading.Condition(), threading.Lock()
        self._inside: Counter[int] = Counter()  # blocks per thread
        self._forking = self._spoiled = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before, after_in_parent=self._after, after_in_child=self._begin)

    @contextmanager
    def block(self, path: str) -> Iterator[None]:
        """Whatever uses a connection happens inside."""
        if self._spoiled:
            raise StoreError(
                f"{path} cannot be used in this process: it was forked while another thread was inside a "
                f"block of a SQLite store; fork before using the store, or start processes with the method "
                f"'spawn' of multiprocessing"
            )
        me, inside = threading.get_ident(), self._inside
        with self._changed:
            if not inside[me]:
                self._changed.wait_for(lambda: not self._forking)
            inside[me] += 1
        try:
            yield
        finally:
            if inside is self._inside:  # otherwise in a child, which leaves its parent's block
                with self._changed:
                    inside[me] -= 1
                    if not inside[me]:
                        del inside[me]
                    self._changed.notify_all()

    def _before(self) -> None:
        self._one_at_a_time.acquire()
        with self._changed:
            self._forking = True
            own = bool(self._inside[threading.get_ident()])
            self._free = not own and self._changed.wait_for(lambda: not +self._inside, self.GRACE)
        for store in self.stores if self._free else ():
            store.close()

    def _after(self) -> None:
        with self._changed:
            self._forking = False
            self._changed.notify_all()
        self._one_at_a_time.release()

    def _begin(self) -> None:
        """In the child, which has this thread alone."""
        self._changed, self._one_at_a_time = threading.Condition(), threading.Lock()
        self._inside = Counter()
        self._forking, self._spoiled = False, self._spoiled or not self._free


forks = Forks()
