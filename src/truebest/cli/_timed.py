"""Run a command once and say how long it took; whatever it prints stays away from the terminal.

The time is that from the start of the process to its end, as the system announces it: on Linux by a file
descriptor of the process, so that nothing has to look again and again. Processor time is what the system has
counted for the process and for those that it has waited for.
"""

from __future__ import annotations

import math
import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..errors import TruebestError
from ..running.race import OutOfTimeError
from ..running.standings import Lap
from ._commands import (
    CommandError,
    Commands,
    Tail,
    end,
    ending,
    environment,
    has_ended,
    kill_group,
    last_words,
    split,
    undisturbed,
)

STEP = 2e-4  # seconds between looks at a process, where the system does not tell when it ends
LONGEST = 3600.0  # seconds of waiting at a time


class Timed:
    """A command; calling it runs it once and says how long it took.

    line      as it was given
    shell     the shell that runs it, "" for none
    timeout   seconds after which a run is stopped, None for never
    prepare   a command that runs before each run, and is not timed
    left      how many seconds the race has left
    Raises    InvalidInputError if there is no such command
    """

    def __init__(
        self,
        line: str,
        commands: Commands,
        shell: str = "",
        timeout: float | None = None,
    ) -> None:
        self.line, self._commands = line, commands
        self._timeout = math.inf if timeout is None else timeout
        self._words = [shell, "-c", line] if shell else split(line, line)
        self._environment = environment()
        self.prepare: Timed | None = None
        self.left: Callable[[], float] = lambda: math.inf

    def __call__(self) -> Lap:
        """Measure once; raises OutOfTimeError when the race has no time left for it.

        What the command leaves running in its process group is killed.
        """
        return self._run(kill=True)

    def _run(self, *, kill: bool) -> Lap:
        if self.prepare is not None:
            self.prepare.left = self.left
            self.prepare._do()
        patience = min(self._timeout, self.left())
        process: subprocess.Popen[bytes] | None = None
        errors: Tail | None = None
        try:
            with undisturbed():
                begun = time.perf_counter()
                process = self._start()
                self._commands.note("+", process.pid)
                errors = Tail(process.stderr)
            in_time = _wait(process, errors, begun + patience)
            wall = time.perf_counter() - begun
            if not in_time:
                return self._stopped(wall)
            if kill:
                kill_group(process)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            trouble = ending(process.returncode)
            if trouble:
                _read_rest(errors)
                trouble += last_words(errors)
            return Lap(wall, used.ru_utime, used.ru_stime, trouble)
        finally:
            if process is not None:
                if process.returncode is None:
                    end(process)
                self._commands.note("-", process.pid)
            if errors is not None:
                errors.close()

    def _do(self) -> None:
        """Run it before a measurement; Raises TruebestError if it fails.

        What it leaves running goes on: it may be what the measured commands talk to.
        """
        lap = self._run(kill=False)
        if lap.failed:
            raise TruebestError(f"the command of --prepare, {self.line!r}, failed: {lap.failed}; fix it.")

    def _start(self) -> subprocess.Popen[bytes]:
        if self._commands.over.is_set():
            raise CommandError("the run is over")
        try:
            return subprocess.Popen(
                self._words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=self._environment,
                start_new_session=True,
            )
        except OSError as error:
            raise TruebestError(f"{self.line!r} cannot be started: {error.strerror or error}.") from None

    def _stopped(self, wall: float) -> Lap:
        if self.left() <= 0.0:
            raise OutOfTimeError
        return Lap(wall, failed=f"no end within {self._timeout:g} s, so it was stopped", late=True)


def _wait(process: subprocess.Popen[bytes], errors: Tail, deadline: float) -> bool:
    """Wait until a process has ended, and read what it says on the way; False if time is up.

    What it left running in the background is not waited for.
    """
    with _handle(process.pid) as handle:
        poll = select.poll()
        if handle is not None:
            poll.register(handle, select.POLLIN)
        poll.register(errors.file, select.POLLIN)
        while True:
            left = deadline - time.perf_counter()
            if left <= 0.0:
                return False
            if handle is None:
                time.sleep(min(left, STEP))
            ready = [fd for fd, _ in poll.poll(0.0 if handle is None else 1000.0 * min(left, LONGEST))]
            if has_ended(process) if handle is None else handle in ready:
                return True
            if errors.file.fileno() in ready and not errors.read():
                poll.unregister(errors.file)


def _read_rest(errors: Tail) -> None:
    """What is there already; more may never come."""
    while select.select([errors.file], [], [], 0.0)[0] and errors.read():
        pass


@contextmanager
def _handle(pid: int) -> Iterator[int | None]:
    """A file that becomes readable when a process ends; None where the system has none."""
    try:
        handle = os.pidfd_open(pid)
    except (AttributeError, OSError):
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)
