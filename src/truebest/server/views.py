"""What the page shows of an experiment: its status, sentences, points for charts, who works on it.

Numbers are those of `Account` and `Forecast`; sentences are those of the report. What is counted here are
lines of the log: who has which pull, and how many results came in the last minutes.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, assert_never

from .._records import plain
from .._text import begun
from ..experiment.events import Event
from ..experiment.forecast import Forecast
from ..experiment.overview import Overview
from ..telling import words
from ..telling.account import Account
from ..telling.answers import Answer, Best, NoWinner, Open, Stopped, Suspended, Tied, Undecided, UsedUp
from ..telling.drawing import chosen
from ..telling.plain import to_plain
from ..telling.standings import Role

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


def state_of(answer: Answer, waiting: int) -> str:
    """How the page looks: "decided", "stopped", "suspended", "empty" or "undecided"."""
    match answer:
        case Best() | NoWinner():
            return "decided"
        case Stopped():
            return "stopped"
        case Suspended():
            return "suspended"
        case Undecided() | UsedUp():
            return "empty" if answer.leader is None and not waiting else "undecided"
    assert_never(answer)


def summary(one: Overview) -> dict[str, Any]:
    """One line of the list."""
    answer = one.answer
    return {
        "name": one.name,
        "state": state_of(answer, one.waiting),
        "arms": len(one.settings.arms),
        "samples": one.samples,
        "decision": answer.arm if isinstance(answer, Best) else None,
        "leader": answer.leader if isinstance(answer, Open) else getattr(answer, "arm", None),
        "promise": one.bound,
        "delta": one.settings.delta,
        "headline": words.headline(answer, one.settings, one.waiting),
    }


def view(now: Account, forecast: Forecast, roster: Roster) -> dict[str, Any]:
    """Everything but the charts and the log."""
    pending = list(roster.pending.values())[:MOST_PENDING]
    held = words.hold(now)
    found = {
        "state": state_of(now.answer, now.progress.waiting),
        "status": _numbers(now),
        "headline": words.headline(now.answer, now.settings, now.progress.waiting),
        "answer": words.paragraph(now),
        "sureness": words.sureness(now),
        "hold": f"{begun(held)}." if held else "",
        "measured": words.measured(now),
        "ends": words.ends(now),
        "control_ends": words.control_ends(now),
        "which": words.which_is_better(now),
        "best_is_better": words.best_is_better(now),
        "versus_control": words.control_sentence(now),
        "behind": [one.arm for one in now.standings if one.role is Role.OUT],
        "forecast": {**forecast.to_dict(), "words": forecast.words},
        "pace": roster.pace(),
        "workers": roster.workers(),
        "pending": pending,
        "num_pending": len(roster.pending),
    }
    return dict(plain(found))


def _numbers(now: Account) -> dict[str, Any]:
    rows, proven, settings = now.standings, now.promise.bound is not None, now.settings
    return {
        "arms": settings.arms,
        "decision": now.best,
        "leader": now.leader,
        "samples": now.samples,
        "pulls": now.pulls,
        "means": now.means,
        "intervals": {one.arm: one.lead.ends for one in rows if one.lead},
        "delta": settings.delta,
        "pending": {one.arm: one.pending for one in rows},
        "waiting": now.progress.waiting,
        "promise": now.promise.bound,
        "caveats": to_plain(now.promise.caveats),
        "in_the_race": [one.arm for one in rows if one.role is not Role.OUT] if proven else None,
        "deviations": {one.arm: one.sd for one in rows},
        "rounds": now.progress.rounds,
        "items": settings.design.items,
        "tied": now.answer.arms if isinstance(now.answer, Tied) else (),
        "control": settings.control,
        "against_control": {one.arm: one.over_control.ends for one in rows if one.over_control},
        "better_than_control": words.better_than_control(now),
        "compare": "means" if settings.design.averages else "wins",
        "wins": {one.arm: (one.lead.won, one.lead.lost) for one in rows if one.lead},
        "beaten": {one.arm: one.beaten_by for one in rows if one.beaten_by},
    }


def drawn_arms(now: Account) -> list[str]:
    """The arms that charts show: all, or the leader and its rivals."""
    return [one.arm for one in chosen(now, MOST_DRAWN)[0]]


def points(course: Sequence[Account], arms: Sequence[str]) -> dict[str, list[Any]]:
    """Points for charts: samples, the leader, and per drawn arm its mean, interval and samples."""
    rows = [[one[arm] for one in course] for arm in arms]
    return {
        "samples": [one.samples for one in course],
        "leader": [one.leader for one in course],
        "means": [[_short(one.mean) for one in row] for row in rows],
        "low": [[_short(one.lead and one.lead.low) for one in row] for row in rows],
        "high": [[_short(one.lead and one.lead.high) for one in row] for row in rows],
        "pulls": [[one.samples for one in row] for row in rows],
    }


def _short(number: float | None) -> float | None:
    """To six digits: more cannot be seen."""
    return None if number is None or not math.isfinite(number) else float(f"{number:.6g}")
