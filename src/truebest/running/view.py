"""The live view of a run: on a terminal, in a notebook, or as lines in a log; silence where nobody looks.

`View` decides whether and where to show a frame, and how often; `frame.py` draws it.
"""

from __future__ import annotations

import importlib
import math
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Protocol

from .._text import clean, is_terminal
from ..errors import InvalidInputError, StoreError
from ..experiment.waiting import told
from .frame import Frame

if TYPE_CHECKING:
    from rich.console import Console

    from ..experiment.forecast import Forecast
    from ..telling.account import Account

Progress = bool | Literal["lines"] | None
EVERY = 0.2  # seconds between frames
EVERY_LINE = 10.0  # seconds between lines in a log
LONG = 60.0  # seconds after which the view says who has the pull that the decision waits for


class Watched(Protocol):
    """What can be shown."""

    def status(self) -> Account:
        """Where it stands."""

    def forecast(self) -> Forecast:
        """How long it will take."""


class View:
    """Shows how a run stands; use as a context manager and call `update` after every result.

    On a terminal the view goes when the run ends well, since its result follows; it stays when the run is
    broken off. Everything goes to stderr, nothing to stdout.
    experiment   what has a `status` and a `forecast`
    progress     True or False; None to show it on a terminal and in a notebook; "lines" for a line on stderr
                 every ten seconds, wherever that is, and none in a run that is shorter
    max_samples  the budget, if there is one
    """

    def __init__(self, experiment: Watched, progress: Progress, max_samples: int | None) -> None:
        check_progress(progress)
        self.experiment, self.max_samples = experiment, max_samples
        self._lines = progress == "lines"
        self.shown = (is_terminal(sys.stderr) or _in_notebook()) if progress is None else bool(progress)
        self.shown = self.shown and sys.stderr is not None
        self._due, self._told = math.inf, ExitStack()

    def __enter__(self) -> View:
        if self.shown:
            self._told.enter_context(told(_say))
            self._begun = time.monotonic()
            self._before = self.experiment.status().samples
            self._display = _Lines(late=True) if self._lines else _display()
            self._show(self._display.start)
        return self

    def update(self) -> None:
        """Something happened; most calls cost a look at the clock."""
        if time.monotonic() >= self._due:
            with suppress(StoreError):  # looking must not end a run; it will hear of it when it tells
                self._show(self._display.show)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._told.close()
        if not self.shown:
            return
        try:
            if kind is None or issubclass(kind, Exception):
                with suppress(StoreError):
                    self._show(self._display.show)
        finally:
            self._stop(kept=kind is not None)

    def _show(self, how: Callable[[Frame], None]) -> None:
        """One frame, and when the next is due: looking takes a tenth of the time at most."""
        start = time.monotonic()
        self._due = start + self._display.every
        now, forecast = self.experiment.status(), self.experiment.forecast()
        try:
            hold = now.progress.waits_for
            held = hold is not None and time.time() - hold.since > LONG
            how(Frame(now, forecast, start - self._begun, self.max_samples, self._before, held))
        except OSError:  # the terminal is gone
            self._stop(kept=True)
        else:
            self._due = max(self._due, start + 10.0 * (time.monotonic() - start))

    def _stop(self, kept: bool) -> None:
        if self.shown:
            self.shown, self._due = False, math.inf
            with suppress(OSError):
                self._display.stop(kept)


class _Terminal:
    """Redrawn in place."""

    every = EVERY

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        # What arms print appears above the view, if it would appear on the same screen.
        self.live = Live(console=console, auto_refresh=False, redirect_stdout=is_terminal(sys.stdout))

    def start(self, picture: Frame) -> None:
        self.live.update(picture)
        try:
            self.live.start(refresh=True)
        except BaseException:
            self.live.stop()
            raise

    def show(self, picture: Frame) -> None:
        self.live.update(picture, refresh=True)

    def stop(self, kept: bool) -> None:
        self.live.transient = not kept
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()  # an unfinished line of an arm's
        finally:
            self.live.stop()


class _Notebook:
    """An output of the cell that is replaced; its last state stays."""

    every = EVERY

    def start(self, picture: Frame) -> None:
        display = importlib.import_module("IPython.display").display
        self.handle = display(self._data(picture), raw=True, display_id=True)

    def show(self, picture: Frame) -> None:
        self.handle.update(self._data(picture), raw=True)

    def stop(self, kept: bool) -> None:
        pass

    def _data(self, picture: Frame) -> dict[str, str]:
        return {"text/html": picture.html(), "text/plain": picture.text()}


class _Lines:
    """A line now and then, for a file and for terminals that cannot redraw."""

    every = EVERY_LINE

    def __init__(self, late: bool = False) -> None:
        self.last, self._late = "", late
        self._begun = time.monotonic()

    def start(self, picture: Frame) -> None:
        self.show(picture)

    def show(self, picture: Frame) -> None:
        line = clean("; ".join([str(picture.now), *picture.facts()[1:]]))
        early = self._late and time.monotonic() - self._begun < self.every
        if line != self.last and not early:
            print(line, file=sys.stderr, flush=True)
        self.last = line

    def stop(self, kept: bool) -> None:
        pass


def _say(sentence: str) -> None:
    """Why there is nothing new to see for a while."""
    with suppress(OSError):
        print(f"truebest: {sentence}", file=sys.stderr, flush=True)


def check_progress(progress: Progress) -> None:
    """Refuse what is neither True nor False nor "lines" nor left out."""
    if not (progress is None or isinstance(progress, bool) or progress == "lines"):
        raise InvalidInputError(
            f"progress must be True, False or 'lines', got {progress!r}; leave it out for a view on a "
            f"terminal and in a notebook."
        )


def _display() -> _Terminal | _Notebook | _Lines:
    if _in_notebook():
        return _Notebook()
    from rich.console import Console

    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    if console.is_terminal and not console.is_dumb_terminal:
        return _Terminal(console)
    return _Lines()


def _in_notebook() -> bool:
    """Whether this runs in a Jupyter kernel; IPython is not imported for the question."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None and hasattr(module, "get_ipython") else None
    return getattr(shell, "kernel", None) is not None
