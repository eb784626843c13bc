"""When uncompiled kernels give way to compiled ones, and a process beside this one that compiles them.

Short work would end before a compiler has started, and live work must not wait for one. So what Python calls
runs uncompiled at first, with the same results. Once that has taken SOON seconds in this process, a thread
loads Numba, and each kernel gives way as soon as its machine code is in the cache; and once it has taken LONG
seconds, a child compiles into the cache what has taken most. The child ends with this process, whichever way
that ends.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading
from importlib import import_module
from typing import TYPE_CHECKING

from ._numba import available

if TYPE_CHECKING:
    from ._jit import Kernel

SOON = 0.5  # seconds; importing Numba and loading what was kept takes about as long
AGAIN = 0.05  # the same where Numba is there already, and between two looks for a kernel
LONG = 5.0
WORTH = 0.02  # of all uncompiled time, from which on a kernel is worth compiling
_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from truebest.kernels import _background; _background.compile_all(sys.argv[2:])"
)


class Watch:
    """How long the kernels of this process have run uncompiled, and the child that compiles some of them."""

    def __init__(self) -> None:
        self.total = 0.0
        self.taken: dict[Kernel, float] = {}
        self.due: dict[Kernel, float] = {}
        self.asked: set[Kernel] = set()
        self.loading: threading.Thread | None = None
        self.child: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()

    def took(self, kernel: Kernel, seconds: float) -> None:
        """A kernel has run uncompiled for so long."""
        self.total += seconds
        taken = self.taken[kernel] = self.taken.get(kernel, 0.0) + seconds
        soon = AGAIN if self.loading or "numba" in sys.modules else SOON
        if self.total < soon or taken < self.due.get(kernel, 0.0) or not self.lock.acquire(blocking=False):
            return
        try:
            self.due[kernel] = taken + AGAIN
            if self.loading is None:
                self.loading = threading.Thread(target=_load)
                with contextlib.suppress(RuntimeError):  # at the end of the interpreter
                    self.loading.start()
            elif not self.loading.is_alive() and not kernel.give_way() and self.total >= LONG:
                self._ask()
        finally:
            self.lock.release()

    def _ask(self) -> None:
        """Let a child compile what has taken long, if none is at work."""
        if self.child is not None:
            if self.child.poll() is None:
                return
            self.child.communicate()  # which closes the pipe
        worth = WORTH * self.total
        found = [one for one, taken in self.taken.items() if taken > worth and one not in self.asked]
        if found and sys.executable:
            self.asked.update(found)
            self._start([f"{one.__module__}:{one.__qualname__}" for one in found])

    def _start(self, names: list[str]) -> None:
        command = [sys.executable, "-I", "-c", _CODE, json.dumps(sys.path), *names]
        null = subprocess.DEVNULL
        try:  # it ends when its stdin does
            self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=null, stderr=null)
        except OSError:  # no memory, no more processes: as if there were no compiler
            return
        atexit.register(_end, self.child, os.getpid())


def _load() -> None:
    """Load what takes a while, so that nobody has to wait for it."""
    if available():
        with contextlib.suppress(Exception):  # another Numba than is known: `_jit` knows what to do
            import_module("truebest.kernels._compiler")


def _end(child: subprocess.Popen[bytes], owner: int) -> None:
    """Leave no child behind; what it has not written whole is not there."""
    if os.getpid() == owner:
        child.kill()
        child.communicate()


def compile_all(names: list[str]) -> None:
    """In the child: compile kernels into the cache, "module:name" each, until stdin ends."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    for name in names:
        module, _, kernel = name.partition(":")
        getattr(import_module(module), kernel).compiled(reorder=False)


def _leave_with_parent() -> None:
    os.read(0, 1)
    os._exit(1)


WATCH = Watch()
