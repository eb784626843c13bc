"""What people see of an experiment, here or behind a server: its live view, its picture and its report.

All of it is made in packages above, by functions that are found by name.
"""

from __future__ import annotations

import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from .. import _args
from .._files import write_whole
from ..telling.account import Account
from ..telling.answers import UsedUp
from .checks import seconds
from .events import Event
from .forecast import Forecast
from .settings import Settings


class Shown(ABC):
    """What can be read of an experiment, and what is made of it."""

    name: str
    settings: Settings

    @abstractmethod
    def status(self) -> Account:
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

    def history(self, after: int = 0) -> list[Event]:
        """The log, from its first line or from the one after line `after`."""
        return list(self.events(after))

    def watch(self, every: float = 1.0, timeout: float | None = None) -> Account:
        """Show the live view until the experiment is decided, stopped or out of items.

        every    seconds between two looks at the store
        timeout  seconds after which to stop looking, None for never
        Returns  the last account
        """
        pause = seconds("every", every)
        end = math.inf if timeout is None else time.monotonic() + seconds("timeout", timeout)
        with import_module("truebest.running.view").View(self, True, None) as view:
            while True:
                now = self.status()
                if now.over or isinstance(now.answer, UsedUp) or time.monotonic() >= end:
                    return now
                time.sleep(pause)
                view.update()

    def plot(self) -> Any:
        """A picture of the means' differences and of where the samples went: a Matplotlib figure."""
        return import_module("truebest.plots.identification").draw(self.status())

    def report(self, output: str | os.PathLike[str] | None = None, *, log_lines: int = 1000) -> str:
        """One self-contained HTML page for the people who decide: the answer, how sure it is, and its cost.

        output     a file to write it to
        log_lines  how many lines of the log to show at most; of a longer one the first and the last
        Returns    the page
        """
        most = _args.whole("log_lines", log_lines, 0, 2**53, "it is how many lines of the log to show")
        make = import_module("truebest.running.report").page
        page: str = make(self.status(), self.settings, self.events(), self.uniform_samples(), most)
        if output is not None:
            write_whole(output, page)
        return page
