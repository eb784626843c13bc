"""Run a command and read the number that it prints; whatever it does, stay in control.

A command runs in a process group of its own, without input. When it has ended, or must end, what is left of
the group is killed; only what has left it (`setsid`) lives on. If this process is killed, a guard does so. Of
a command's output only the end is kept, and nothing of it is shown unless it fails: then its last lines,
without control characters.
"""

from __future__ import annotations

import json
import math
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, NoReturn

from .._text import harmless
from ..errors import ArmError, InvalidInputError
from . import _guard

if TYPE_CHECKING:
    from ..experiment.pulls import Pull

TAIL = 65_536  # bytes of output that are kept: the number stands at the end
STEP = 0.05  # seconds between looks at whether the run is over
GRACE = 0.5  # seconds that a command has between being asked to end and being killed
LINES, LETTERS = 3, 300  # of stderr, in a message
ENDING = [getattr(signal, one) for one in ("SIGTERM", "SIGHUP") if hasattr(signal, one)]  # they end a run

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours and the cursor
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles and links
    r"|[PX^_][^\x1b]*(?:\x1b\\)?"
    r"|.)"
)


class CommandError(ArmError):
    """A command gave no number; the message says why.

    shown  the same with the end of its stderr: for the terminal only, as it may hold secrets
    """

    def __init__(self, message: str, stderr: str = "") -> None:
        super().__init__(message)
        self.shown = message + stderr


class Commands:
    """All commands of a run: when it is over, whatever still runs is ended."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self._guard: IO[bytes] | None = None

    def close(self) -> None:
        """End what runs, soon, and let nothing new begin."""
        self.over.set()

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Inside, what runs is also ended when this process is killed."""
        try:
            guard = subprocess.Popen(
                [sys.executable, "-I", "-S", _guard.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                env=environment(),
                start_new_session=True,
            )
        except OSError:  # a courtesy: without it a run is as good as it was
            yield
            return
        with guard:  # closes its input and waits for its end
            self._guard = guard.stdin
            try:
                yield
            finally:
                self._guard = None

    def note(self, sign: str, group: int) -> None:
        """Tell the guard that a process group was started (+) or has ended (-)."""
        guard = self._guard
        if guard is not None:
            with suppress(OSError, ValueError):  # it was killed, or its block has ended
                guard.write(f"{sign}{group}\n".encode())


class CommandArm:
    """An arm that is a command: calling it runs the command once and returns the number that it printed.

    The command finds the pull's seed in TRUEBEST_SEED, its id in TRUEBEST_PULL and the arm in TRUEBEST_ARM;
    the index of an item in TRUEBEST_ITEM, and in place of {item}, and its round in TRUEBEST_ROUND. It does
    not find TRUEBEST_STORE, which may hold a password.

    name     of the arm
    command  a line of words, or with `shell` a line for sh
    timeout  seconds after which the command is ended, None for never
    Raises   InvalidInputError if there is no such command
    """

    def __init__(
        self, name: str, command: str, commands: Commands, shell: bool, timeout: float | None
    ) -> None:
        self.name, self.command, self.timeout = name, command, timeout
        self._commands = commands
        self._words = ["/bin/sh", "-c", command] if shell else split(name, command)

    def __call__(self, *item: Any, pull: Pull) -> float:
        """Raises CommandError if there was no number. An item becomes the command's input."""
        process = self._start(pull, *item)
        output, errors = Tail(process.stdout), Tail(process.stderr)
        try:
            trouble = self._follow(process, [output, errors])
        finally:
            end(process)
            self._commands.note("-", process.pid)
            output.close()
            errors.close()
        trouble = trouble or ending(process.returncode)
        number = math.nan
        if not trouble:
            number, trouble = last_number(output)
        if trouble:
            raise CommandError(trouble, last_words(errors))
        return number

    def _start(self, pull: Pull, *item: Any) -> subprocess.Popen[bytes]:
        if self._commands.over.is_set():
            raise CommandError("the run is over")
        told = {"TRUEBEST_SEED": str(pull.seed), "TRUEBEST_PULL": str(pull.id), "TRUEBEST_ARM": pull.arm}
        words = self._words
        if item:
            told |= {"TRUEBEST_ITEM": str(pull.item), "TRUEBEST_ROUND": str(pull.round)}
            told |= {} if pull.epoch is None else {"TRUEBEST_EPOCH": str(pull.epoch)}
            words = [word.replace("{item}", str(pull.item)) for word in words]
        with _input(*item) as given:
            process = self._popen(words, given, told)
        self._commands.note("+", process.pid)
        return process

    @staticmethod
    def _popen(words: list[str], given: int | IO[bytes], told: dict[str, str]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                words,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=environment() | told,
                start_new_session=True,
            )
        except OSError as error:
            raise CommandError(f"it cannot be started: {error.strerror or error}") from None

    def _follow(self, process: subprocess.Popen[bytes], tails: list[Tail]) -> str:
        """Read until the process has ended; what it left running is not waited for, but killed by `end`.

        Returns  why it must be ended before, or ""
        """
        deadline = math.inf if self.timeout is None else time.monotonic() + self.timeout
        with selectors.DefaultSelector() as selector:
            for tail in tails:
                selector.register(tail.file, selectors.EVENT_READ, tail)
            pause = 0.0005
            while not (ended := has_ended(process)) or selector.get_map():
                if self._commands.over.is_set():
                    return "the run is over, so it was stopped"
                if time.monotonic() >= deadline:
                    return f"no answer within {self.timeout:g} s, so it was stopped"
                patience = max(0.0, min(STEP, deadline - time.monotonic()))
                if not selector.get_map():
                    time.sleep(min(pause, patience))
                    pause *= 2.0
                    continue
                ready = selector.select(0.0 if ended else patience)
                if not ready and ended:
                    break
                for key, _ in ready:
                    if not key.data.read():
                        selector.unregister(key.fileobj)
        return ""


@contextmanager
def _input(*item: Any) -> Iterator[int | IO[bytes]]:
    """What a command reads: nothing, or an item: a text as it is, anything else as JSON."""
    if not item:
        yield subprocess.DEVNULL
        return
    text = item[0] if isinstance(item[0], str) else json.dumps(item[0])
    with tempfile.TemporaryFile() as file:
        file.write(f"{text}\n".encode())
        file.seek(0)
        yield file


class Tail:
    """The end of what a pipe says."""

    def __init__(self, file: IO[bytes] | None) -> None:
        assert file is not None
        self.file = file
        self.cut = False
        self._kept = bytearray()

    def read(self) -> bool:
        """Take what is there; False at the end."""
        chunk = os.read(self.file.fileno(), TAIL)
        self._kept += chunk
        if len(self._kept) > TAIL:
            self.cut = True
            del self._kept[:-TAIL]
        return bool(chunk)

    def lines(self) -> list[str]:
        """The lines that are not empty, without escape sequences."""
        text = _ESCAPES.sub("", self._kept.decode("utf-8", "replace"))
        return [line.strip() for line in text.splitlines() if line.strip()]

    def close(self) -> None:
        """Close the pipe."""
        self.file.close()


def last_number(output: Tail) -> tuple[float, str]:
    """The number on the last line that is not empty, or why there is none."""
    lines = output.lines()
    if not lines:
        return math.nan, "it printed nothing, but must print a number"
    last = lines[-1]
    try:
        if not last.isascii() or "_" in last or (output.cut and len(lines) == 1):
            raise ValueError
        number = float(last)
    except ValueError:
        shown = harmless(last if len(last) <= 60 else last[:57] + "...", strict=True)
        return math.nan, f"its last line must be a number, got {shown!r}"
    return number, "" if math.isfinite(number) else f"it printed {last[:20]}, which is not a finite number"


def split(name: str, command: str) -> list[str]:
    """The words of a command line that can be run, or a refusal."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidInputError(
            f"the command of arm {name!r} cannot be read ({str(error).lower()}), got {command[:60]!r}; "
            f"balance its quotes."
        ) from None
    if not words:
        raise InvalidInputError(
            f"the command of arm {name!r} is empty; write it like {name}='./evaluate {name}'."
        )
    if shutil.which(words[0]) is None:
        raise InvalidInputError(f"the command of arm {name!r} {_missing(words[0])}")
    return words


def _missing(program: str) -> str:
    if os.path.isfile(program) and "/" not in program:
        return f"cannot be found: {program!r}; for the file in this folder write './{program}'."
    if os.path.isfile(program):
        return f"may not be executed: {program!r}; run chmod +x on it, or name the program that runs it."
    return f"cannot be found: {program!r}; name a program, or use --shell for shell code."


def end(process: subprocess.Popen[bytes]) -> None:
    """End it and everything that is left in its process group; if it still runs, it is asked first."""
    if not has_ended(process):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        while time.monotonic() < deadline and not has_ended(process):
            time.sleep(0.01)
    kill_group(process)
    process.wait()


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of its process group, unless it was reaped: its number may be another's by then."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has ended; it is not reaped, where the system can tell without."""
    if hasattr(os, "waitid"):
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return process.poll() is not None  # macOS, before Python 3.13


def environment() -> dict[str, str]:
    """Ours, but for the store, whose URL may hold a password."""
    return {name: value for name, value in os.environ.items() if name != "TRUEBEST_STORE"}


def ending(code: int) -> str:
    """How it ended, unless well."""
    if code >= 0:
        return f"it ended with exit code {code}" if code else ""
    try:
        return f"it was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was killed by signal {-code}"


def last_words(errors: Tail) -> str:
    last = " | ".join(errors.lines()[-LINES:])
    shown = harmless(last if len(last) <= LETTERS else "..." + last[-LETTERS:], strict=True)
    return f"; its stderr ends with: {shown}" if shown else ""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the run in order, commands first; not if they are ignored (nohup)."""

    def leave(number: int, _: object) -> NoReturn:
        raise SystemExit(128 + number)

    with _handled(leave, [one for one in ENDING if signal.getsignal(one) is not signal.SIG_IGN]):
        yield


@contextmanager
def undisturbed() -> Iterator[None]:
    """Inside, Ctrl-C and signals that would raise wait; so what is started can also be taken note of."""
    waiting: list[int] = []
    raising = [one for one in (signal.SIGINT, *ENDING) if callable(signal.getsignal(one))]
    with _handled(lambda number, _: waiting.append(number), raising):
        yield
    for number in waiting[:1]:
        signal.raise_signal(number)


@contextmanager
def _handled(handler: Callable[[int, Any], object], numbers: list[signal.Signals]) -> Iterator[None]:
    """A handler for some signals, of which only the main thread hears."""
    before = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in numbers:
                before[number] = signal.signal(number, handler)
        yield
    finally:
        for number, earlier in reversed(before.items()):
            signal.signal(number, earlier)
