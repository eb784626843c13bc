"""What the page shows of an experiment: its status, sentences, points for charts, who works on it.

Numbers are those of `Status` and `Forecast`; sentences are those of the report. What is counted here are
lines of the log: who has which pull, and how many results came in the last minutes.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from .._records import plain
from ..experiment.events import Event
from ..experiment.forecast import Forecast
from ..experiment.overview import Overview
from ..experiment.status import Status
from ..running import sentences
from ..running.arms import chosen

MOST_DRAWN = 8  # arms in a chart: as many colours can be told apart
MOST_PENDING = 50  # pulls that are listed
MOST_WORKERS = 100  # that are listed
RECENT = 500  # results from which the pace follows
SHOWN_LINES = 200  # of the log
NEW_LINES = 50  # of one message


class Roster:
    """Who works on an experiment, from its log.

    seq      the last line that was taken in
    pending  pull -> arm, worker, since when and until when
    lines    the last ones
    """

    def __init__(self) -> None:
        self.seq = 0
        self.pending: dict[int, dict[str, Any]] = {}
        self.lines: deque[Event] = deque(maxlen=SHOWN_LINES)
        self._workers: dict[str, dict[str, Any]] = {}
        self._whose: dict[int, str] = {}  # who has, or had last, a pull that is not settled
        self._results: deque[float] = deque(maxlen=RECENT)  # when

    def take(self, events: Iterable[Event]) -> None:
        """Take in lines of the log; those that it has are left out."""
        for event in events:
            if event.seq <= self.seq:
                continue
            self.seq = event.seq
            self.lines.append(event)
            data = event.data or {}
            if event.pull is None:
                continue
            if event.kind == "asked" and not data.get("observed"):
                self._asked(event, data.get("worker"), data.get("deadline"))
            elif event.kind in ("told", "failed", "lapsed", "violated", "retracted"):
                self.pending.pop(event.pull, None)
            if event.kind == "told":
                self._results.append(event.time)
                worker = self._workers.get(self._whose.pop(event.pull, ""))
                if worker is not None:
                    worker["results"] += 1
                    worker["last"] = event.time

    def _asked(self, event: Event, worker: str | None, deadline: float | None) -> None:
        assert event.pull is not None
        name = worker or "not named"
        known = self._workers.setdefault(name, {"worker": name, "results": 0, "last": event.time})
        known["last"] = max(known["last"], event.time)
        self._whose[event.pull] = name
        self.pending[event.pull] = {
            "pull": event.pull,
            "arm": event.arm,
            "worker": name,
            "since": event.time,
            "until": deadline,
        }

    def workers(self) -> list[dict[str, Any]]:
        """Who asked for pulls: how many are out, how many came back, and when the last line was."""
        out: dict[str, int] = {}
        for item in self.pending.values():
            out[item["worker"]] = out.get(item["worker"], 0) + 1
        found = [{**worker, "pending": out.get(worker["worker"], 0)} for worker in self._workers.values()]
        return sorted(found, key=lambda worker: (-worker["pending"], -worker["last"]))[:MOST_WORKERS]

    def pace(self) -> float | None:
        """Results a second, lately; None if that cannot be said."""
        if len(self._results) < 2 or self._results[-1] <= self._results[0]:
            return None
        return (len(self._results) - 1) / (self._results[-1] - self._results[0])


def state_of(status: Status | Overview) -> str:
    """How the page looks: "decided", "stopped", "suspended", "empty" or "undecided"."""
    if status.decided:
        return "decided"
    if status.stopped is not None:
        return "stopped"
    if status.suspended:
        return "suspended"
    return "empty" if status.leader is None and not status.waiting else "undecided"


def summary(status: Overview) -> dict[str, Any]:
    """One line of the list."""
    return {
        "name": status.name,
        "state": state_of(status),
        "arms": len(status.arms),
        "samples": status.samples,
        "decision": status.decision,
        "leader": status.leader,
        "promise": status.promise,
        "delta": status.delta,
        "headline": sentences.headline(status),
    }


def view(status: Status, forecast: Forecast, roster: Roster) -> dict[str, Any]:
    """Everything but the charts and the log."""
    pending = list(roster.pending.values())[:MOST_PENDING]
    found = {
        "state": state_of(status),
        "status": status.to_dict(),
        "headline": sentences.headline(status),
        "answer": sentences.answer(status),
        "sureness": sentences.sureness(status),
        "hold": sentences.hold(status),
        "measured": sentences.measured(status),
        "ends": status.ends,
        "control_ends": sentences.control_ends(status),
        "which": sentences.which_is_better(status),
        "best_is_better": sentences.best_is_better(status),
        "versus_control": sentences.versus_control(status),
        "behind": [arm for arm in status.arms if status.is_behind(arm)],
        "forecast": {**forecast.to_dict(), "words": forecast.words},
        "pace": roster.pace(),
        "workers": roster.workers(),
        "pending": pending,
        "num_pending": len(roster.pending),
    }
    return dict(plain(found))


def drawn_arms(status: Status) -> list[str]:
    """The arms that charts show: all, or the leader and its rivals."""
    return chosen(status, MOST_DRAWN)[0]


def points(course: Sequence[Status], arms: Sequence[str]) -> dict[str, list[Any]]:
    """Points for charts: samples, the leader, and per drawn arm its mean, interval and samples."""
    return {
        "samples": [one.samples for one in course],
        "leader": [one.leader for one in course],
        "means": [[_short(one.means[arm]) for one in course] for arm in arms],
        "low": [[_short(one.intervals.get(arm, (None, None))[0]) for one in course] for arm in arms],
        "high": [[_short(one.intervals.get(arm, (None, None))[1]) for one in course] for arm in arms],
        "pulls": [[one.pulls[arm] for one in course] for arm in arms],
    }


def _short(number: float | None) -> float | None:
    """To six digits: more cannot be seen."""
    return None if number is None or not math.isfinite(number) else float(f"{number:.6g}")
