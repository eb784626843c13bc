"""Follows an experiment once, for all who watch it.

Whoever begins to watch gets the whole (`event: whole`), and then what is new (`event: more`), at most a few
times a second. All get the same text, which is made once. Who does not keep up gets the whole again. Of a
long log the end is followed at once, while its beginning, for the charts, is read beside it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

from fastapi.sse import ServerSentEvent

from .._text import harmless
from ..errors import StoreError, TruebestError
from ..experiment.course import Course, Points
from ..experiment.events import Event
from ..experiment.experiment import Experiment
from ..experiment.exports import json_record
from ..experiment.forecast import Forecast
from ..telling.account import Account
from . import views

EVERY = 0.3  # seconds between two looks at the store, and between two messages
FORECAST_EVERY, FORECAST_SHARE = 1.0, 0.03  # seconds at least, and the share of the time that it may take
MOST_VIEWERS = 500
PART = 1.0  # seconds for which the past of a long log is read at once
MOST_LINES = 20_000  # that are read at once
UNSEEN = 25  # spacings of points, beyond which charts would have a hole
BEHIND = 8  # messages that a viewer may be behind


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


class Past:
    """Reads the beginning of a log, a part at a time."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self.roster = views.Roster()
        self.behind = True

    @property
    def points(self) -> Points:
        """What there is to draw."""
        return self._course.points

    @property
    def last(self) -> int:
        """The last line that the log had."""
        return self._course.last

    def read(self) -> list[Event]:
        """The next part."""
        new = self._course.advance()
        self.roster.take(new)
        self.behind = self._course.seq < self._course.last
        return new

    def read_on(self, seconds: float) -> None:
        """As many parts as take about so long."""
        end = time.monotonic() + seconds
        while self.behind and time.monotonic() < end:
            self.read()


class Live:
    """What is shown of one experiment, kept up to date as long as somebody watches.

    viewers  who watches
    broken   whether it could not be read; then the experiment must be opened anew
    """

    def __init__(self, experiment: Experiment, pool: ThreadPoolExecutor) -> None:
        self._experiment, self._pool = experiment, pool
        self.viewers: set[Viewer] = set()
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._ended, self.broken = False, False
        self._forget()

    def _forget(self) -> None:
        self._beside: dict[str, asyncio.Future[None]] = {}  # what takes longer, in other threads
        self._past: Past | None = None  # what reads the beginning of a long log
        self._points = Points()
        self._last: Event | None = None  # the last line that was read
        self._roster = views.Roster()
        self._view: dict[str, Any] = {}
        self._arms: list[str] = []
        self._sent, self._edition = 0, 0  # points that all viewers have, and of which edition
        self._forecast, self._forecast_due = Forecast(None, {}), 0.0
        self._told = -1  # after how many samples the view is
        self._predicted, self._fresh = -1, False  # after how many samples, and whether nobody has seen it yet

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
                    self._work_beside()
                    more, whole, again = await loop.run_in_executor(self._pool, self._look, wanted)
                except Exception as error:
                    self._break(error)
                    return
                self._spread(more, whole, again)
                await self._pause(EVERY - (loop.time() - begun))
        finally:
            self._task = None

    def _work_beside(self) -> None:
        """Go on with what takes longer, in other threads: the beginning of a long log, and the forecast."""
        loop = asyncio.get_running_loop()
        for key in [key for key, task in self._beside.items() if task.done()]:
            self._beside.pop(key).result()
        if self._past is not None and self._past.behind and "past" not in self._beside:
            self._beside["past"] = loop.run_in_executor(self._pool, self._past.read_on, PART)
        due = self._view and time.monotonic() >= self._forecast_due
        if due and self._told != self._predicted and "forecast" not in self._beside:
            self._beside["forecast"] = loop.run_in_executor(self._pool, self._predict)

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
        new = self._read()
        self._roster.take(new)
        fresh, self._fresh = self._fresh, False
        if new or fresh or not self._view:
            self._update()
        points = self._points
        again = self._edition != points.edition
        more, whole = None, None
        if (new or fresh) and not again:
            more = self._text(points.all[self._sent :], new[-views.NEW_LINES :])
        if wanted or again:
            whole = self._text(points.all, list(self._roster.lines))
        self._sent, self._edition = len(points.all), points.edition
        return more, whole, again

    def _read(self) -> list[Event]:
        """The new lines of the log; of one that is opened, all or the last."""
        if self._last is None:
            past = Past(self._experiment.course())
            new = past.read()
            if past.behind:
                self._past = past
                new = list(islice(self._experiment.events(max(0, past.last - views.SHOWN_LINES)), MOST_LINES))
            else:
                self._points = past.points
        else:
            lines = list(islice(self._experiment.events(self._last.seq - 1), MOST_LINES))
            if lines[:1] != [self._last]:
                raise StoreError(f"the log of {self._experiment.name!r} was replaced; it is opened anew.")
            new = lines[1:]
        self._last = new[-1] if new else self._last
        if self._past is not None and not self._past.behind:
            self._adopt(self._past)
        return new

    def _adopt(self, past: Past) -> None:
        """The beginning of the log was read, too: show it."""
        past.roster.take(islice(self._experiment.events(past.roster.seq), MOST_LINES))
        self._points, self._roster = past.points, past.roster
        self._past, self._view, self._edition = None, {}, -1  # all is shown anew

    def _update(self) -> None:
        now = self._experiment.status()
        if self._past is None and self._points.reach(now) > UNSEEN:
            self._past = Past(self._experiment.course())  # read it all, beside
        self._points.add(now)
        arms = views.drawn_arms(now)
        if arms != self._arms:
            self._arms, self._edition = arms, -1
        reading = self._past is not None
        self._view = views.view(now, self._left(now.samples), self._roster, arms, reading)
        self._told = now.samples

    def _left(self, samples: int) -> Forecast:
        """The last forecast, less the samples that came since."""
        came = max(0, samples - max(0, self._predicted))
        ends = self._forecast.samples, self._forecast.low, self._forecast.high
        more, low, high = (None if end is None else max(0, end - came) for end in ends)
        return replace(self._forecast, samples=more, low=low, high=high)

    def _predict(self) -> None:
        """In a thread: how long it will take. That may take seconds itself, with many arms."""
        begun, samples = time.monotonic(), self._experiment.status().samples
        found = self._experiment.forecast()
        self._predicted, self._forecast, self._fresh = samples, found, True
        self._forecast_due = begun + max(FORECAST_EVERY, (time.monotonic() - begun) / FORECAST_SHARE)

    def _text(self, points: list[Account], lines: list[Event]) -> str:
        message = {
            "view": self._view,
            "seq": self._last.seq if self._last is not None else 0,
            "arms": self._arms,
            "points": views.points(points, self._arms),
            "lines": [json_record(event) for event in lines],
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
        known = isinstance(error, TruebestError)
        said = str(error) if known else f"an unexpected {type(error).__name__}; please report it"
        self._forget()
        self.broken = True
        for viewer in self.viewers:
            viewer.send("broken", json.dumps({"problem": harmless(said)}))
            viewer.ended = True
        if not known:
            raise error
