"""Follows an experiment once, for all who watch it.

Whoever begins to watch gets the whole (`event: whole`), and then what is new (`event: more`), at most a few
times a second. All get the same text, which is made once. Who does not keep up gets the whole again.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from fastapi.sse import ServerSentEvent

from .._text import harmless
from ..errors import BestarmError
from ..experiment.course import Course
from ..experiment.events import Event
from ..experiment.forecast import Forecast
from ..experiment.status import Status
from ..running.stored import Experiment
from . import views

EVERY = 0.3  # seconds between two looks at the store, and between two messages
FORECAST_EVERY = 1.0  # seconds, and longer if it takes long
MOST_VIEWERS = 500
BEHIND = 8  # messages that a viewer may be behind
ESTIMATES = 12  # forecasts of which the range is shown


class Viewer:
    """Somebody who watches: messages that wait to be sent, and whether the whole is due."""

    def __init__(self) -> None:
        self.waiting: deque[ServerSentEvent] = deque()
        self.whole, self.ended = True, False
        self.news = asyncio.Event()

    def send(self, kind: str, text: str) -> None:
        """Let a message wait, to be sent as soon as the connection takes it."""
        if kind == "whole":
            self.waiting.clear()
            self.whole = False
        self.waiting.append(ServerSentEvent(event=kind, raw_data=text))
        self.news.set()


class Live:
    """What is shown of one experiment, kept up to date as long as somebody watches."""

    def __init__(self, experiment: Experiment, pool: ThreadPoolExecutor) -> None:
        self._experiment, self._pool = experiment, pool
        self.viewers: set[Viewer] = set()
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._ended = False
        self._forget()

    def _forget(self) -> None:
        self._course: Course | None = None
        self._roster = views.Roster()
        self._view: dict[str, Any] = {}
        self._arms: list[str] = []
        self._sent, self._edition = 0, 0  # points that all viewers have, and of which edition
        self._forecast, self._forecast_due = Forecast(None, {}), 0.0
        self._totals: deque[int] = deque(maxlen=ESTIMATES)  # samples at the decision, as forecast lately

    def changed(self) -> None:
        """Something was just appended through this server: no need to wait for the next look."""
        self._changed.set()

    def end(self) -> None:
        """Let all viewers go."""
        self._ended = True
        for viewer in self.viewers:
            viewer.ended = True
            viewer.news.set()
        self._changed.set()

    async def watch(self) -> AsyncIterator[ServerSentEvent]:
        """What one viewer is sent."""
        viewer = Viewer()
        self.viewers.add(viewer)
        self._changed.set()
        if self._task is None:
            self._task = asyncio.create_task(self._follow())
        try:
            while not self._ended:
                while viewer.waiting:
                    yield viewer.waiting.popleft()
                if viewer.ended:
                    break
                viewer.news.clear()
                await viewer.news.wait()
        finally:
            self.viewers.discard(viewer)

    # -- inside ----------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        """Look at the store again and again, until nobody watches."""
        loop = asyncio.get_running_loop()
        try:
            while self.viewers and not self._ended:
                begun = loop.time()
                self._changed.clear()
                wanted = any(viewer.whole for viewer in self.viewers)
                try:
                    more, whole, again = await loop.run_in_executor(self._pool, self._look, wanted)
                except Exception as error:
                    self._break(error)
                    return
                self._spread(more, whole, again)
                await self._pause(EVERY - (loop.time() - begun))
        finally:
            self._task = None

    async def _pause(self, seconds: float) -> None:
        """A little in any case; then until something changes, or the next look is due."""
        await asyncio.sleep(max(0.1, seconds / 2))
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), max(0.0, seconds / 2))

    def _look(self, wanted: bool) -> tuple[str | None, str | None, bool]:
        """In a thread: take in what is new, and make messages of it.

        wanted   whether somebody needs the whole
        Returns  what is new, None if nothing is; the whole, None if nobody needs it; and whether all need it,
                 since points have changed that they have
        """
        course = self._course = self._course or self._experiment.course()
        new: list[Event] = []
        while some := course.advance():
            self._roster.take(some)
            new = [*new, *some][-views.SHOWN_LINES :]
        if new or not self._view:
            self._update()
        again = self._edition != course.edition
        more, whole = None, None
        if new and not again:
            more = self._text(course.points[self._sent :], new)
        if wanted or again:
            whole = self._text(course.points, list(self._roster.lines))
        self._sent, self._edition = len(course.points), course.edition
        return more, whole, again

    def _update(self) -> None:
        status = self._experiment.status()
        begun = time.monotonic()
        if begun >= self._forecast_due or status.decision is not None:
            self._forecast = self._experiment.forecast()
            taken = time.monotonic() - begun
            self._forecast_due = begun + max(FORECAST_EVERY, 10.0 * taken)
            if self._forecast.samples is not None:
                self._totals.append(status.samples + self._forecast.samples)
        self._view = views.view(status, self._forecast, self._totals, self._roster)
        arms = views.drawn_arms(status)
        if arms != self._arms:
            self._arms, self._edition = arms, -1

    def _text(self, points: list[Status], lines: list[Event]) -> str:
        assert self._course is not None
        message = {
            "view": self._view,
            "seq": self._course.seq,
            "arms": self._arms,
            "points": views.points(points, self._arms),
            "lines": [views.line(event) for event in lines],
        }
        return json.dumps(message, allow_nan=False)

    def _spread(self, more: str | None, whole: str | None, again: bool) -> None:
        """Tell all who watch: what is new, or the whole to those who need it."""
        for viewer in self.viewers:
            viewer.whole |= again or len(viewer.waiting) >= BEHIND
            if viewer.whole:
                if whole is not None:
                    viewer.send("whole", whole)
                else:
                    self._changed.set()
            elif more is not None:
                viewer.send("more", more)

    def _break(self, error: Exception) -> None:
        """The log cannot be read: say so, and let all go; who comes back may find it mended."""
        known = isinstance(error, BestarmError)
        said = str(error) if known else f"an unexpected {type(error).__name__}; please report it"
        self._forget()
        for viewer in self.viewers:
            viewer.send("broken", json.dumps({"problem": harmless(said)}))
            viewer.ended = True
        if not known:
            raise error
