"""How far a simulation is: a bar on a terminal, a call of the user's function, or nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .._text import is_terminal
from ..errors import InvalidInputError

Progress = Callable[[int, int], None]


class Reporter:
    """Counts runs; use as a context manager and call `add`, one thread at a time."""

    def __init__(self, progress: bool | Progress | None, total: int) -> None:
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise InvalidInputError(
                f"progress must be True, False or a function of (done, total), got {progress!r}; leave it "
                f"out for a bar on a terminal."
            )
        self.total, self.done = total, 0
        self.call = progress if callable(progress) else None
        shown = is_terminal(sys.stderr) if progress is None else progress is True
        self.bar: Any = _bar() if shown else None

    def __enter__(self) -> Reporter:
        if self.bar is not None:
            self.bar.start()
            self.task = self.bar.add_task("runs", total=self.total)
        return self

    def add(self, runs: int) -> None:
        """So many more runs are done."""
        self.done += runs
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done)
        if self.call is not None:
            self.call(self.done, self.total)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=4)
