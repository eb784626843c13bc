"""`Experiment` as `import truebest` offers it: also with its live view, its picture and its report.

`Shown` has these three for whatever can be read like an experiment; one behind a server can, too.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from .. import _door
from .._files import write_whole
from ..experiment import experiment as core
from ..experiment.checks import seconds
from ..experiment.events import Event
from ..experiment.forecast import Forecast
from ..experiment.settings import Settings
from ..experiment.status import Status
from .report import page
from .view import View


class Shown(ABC):
    """What people see of an experiment."""

    settings: Settings

    @abstractmethod
    def status(self) -> Status:
        """Where the experiment stands."""

    @abstractmethod
    def forecast(self) -> Forecast:
        """How many more samples, and of which arms, if the estimated means are the true ones."""

    @abstractmethod
    def events(self, after: int = 0) -> Iterator[Event]:
        """The log, one event at a time."""

    @abstractmethod
    def uniform_samples(self) -> int | None:
        """How many samples uniform sampling would take in total, if the estimated means are the true ones."""

    def watch(self, every: float = 1.0, timeout: float | None = None) -> Status:
        """Show the live view until the experiment is decided or stopped, whoever works on it.

        every    seconds between two looks at the store
        timeout  seconds after which to stop looking, None for never
        Returns  the last status
        """
        pause = seconds("every", every)
        end = None if timeout is None else time.monotonic() + seconds("timeout", timeout)
        with View(self, True, None) as view:
            while True:
                now = self.status()
                if now.decision is not None or now.stopped is not None:
                    return now
                if end is not None and time.monotonic() >= end:
                    return now
                time.sleep(pause)
                view.update()

    def plot(self) -> Any:
        """A picture of the means' differences and of where the samples went: a Matplotlib figure."""
        from ..plots.identification import draw

        return draw(self.status())

    def report(self, output: str | os.PathLike[str] | None = None, *, log_lines: int = 1000) -> str:
        """One self-contained HTML page for whoever must decide: what is best, how sure that is, what it took.

        output     a file to write it to
        log_lines  how many lines of the log to show at most; of a longer one the first and the last
        Returns    the page
        """
        most = _door.whole("log_lines", log_lines, 0, 2**53, "it is how many lines of the log to show")
        text = page(self.status(), self.settings, self.events(), self.uniform_samples(), most)
        if output is not None:
            write_whole(output, text)
        return text


class Experiment(core.Experiment, Shown):
    """A running identification. Create one with `create`, or resume one with `open`."""
