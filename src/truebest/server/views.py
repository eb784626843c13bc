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
from .._text import begun, duration, plural, rough
from ..experiment.events import Event
from ..experiment.forecast import Forecast
from ..experiment.overview import Overview
from ..experiment.promise import wrong
from ..telling import columns, words
from ..telling.account import Account
from ..telling.answers import (
    Answer,
    Best,
    NoWinner,
    Open,
    Stopped,
    Suspended,
    Tied,
    Undecided,
    UsedUp,
    Verdicts,
)
from ..telling.drawing import chosen, look_of, mark_of
from ..telling.numbers import places_of
from ..telling.standings import VOIDS, WEAKENS, Lead, Role, Standing, per_arm

MOST_DRAWN = 8  # arms in a chart: as many colours can be told apart
MOST_PENDING = 50  # pulls that are listed
MOST_WORKERS = 100  # that are listed
RECENT = 500  # results from which the pace follows
SHOWN_LINES = 200  # of the log
NEW_LINES = 50  # of one message
MOST_CHIPS = 20  # names in a list
TITLES = {"samples": "Samples", "pending": "Pending", "failed": "Failed", "mean": "Mean", "sd": "SD"}
BADGES = {
    "decided": "✓ Decided",
    "undecided": "… Undecided",
    "suspended": "! Suspended",
    "stopped": "■ Stopped",
    "empty": "○ No result yet",
    "broken": "✕ Broken",
}
READING = "The beginning of the log is still being read; until then charts and workers are not complete."
BAND = "The band spans what the data allowed after as many samples, the line across marks"
CHIPS = {Role.PASSED: "in", Role.OPEN: "open", Role.FAILED: "out"}  # where each arm is asked about by itself


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
        case Best() | NoWinner() | Verdicts():
            return "decided"
        case Stopped():
            return "stopped"
        case Suspended():
            return "suspended"
        case Undecided() | UsedUp():
            none = answer.leader is None and answer.so_far is None
            return "empty" if none and not waiting else "undecided"
    assert_never(answer)


def summary(one: Overview) -> dict[str, Any]:
    """One line of the list."""
    answer, bound = one.answer, one.bound
    state = state_of(answer, one.waiting)
    promised = "nothing is promised" if bound is None else ""
    if bound is not None and state == "decided":
        promised = "certain" if one.certain else wrong(one.settings, bound)
    facts = [plural(len(one.settings.arms), "option"), plural(one.samples, "sample"), promised]
    return {
        "name": one.name,
        "state": state,
        "badge": BADGES[state],
        "arms": len(one.settings.arms),
        "samples": one.samples,
        "decision": words.decision(answer, one.settings),
        "leader": answer.leader if isinstance(answer, Open) else getattr(answer, "arm", None),
        "promise": bound,
        "delta": one.settings.delta,
        "headline": words.headline(answer, one.settings, one.waiting),
        "facts": [fact for fact in facts if fact],
    }


def view(
    now: Account, forecast: Forecast, roster: Roster, drawn: Sequence[str], reading: bool
) -> dict[str, Any]:
    """Everything but the course of the charts and the log; the page only draws it.

    drawn    the arms that charts show
    reading  whether the beginning of the log is still being read
    """
    held, state = words.hold(now), state_of(now.answer, now.progress.waiting)
    effects = {VOIDS: "Nothing is promised: ", WEAKENS: "The promise is weaker: "}
    notes = [one.sentence for one in now.promise.caveats if one.effect not in effects]
    found = {
        "state": state,
        "badge": BADGES[state],
        "headline": words.headline(now.answer, now.settings, now.progress.waiting),
        "answer": words.paragraph(now),
        "beyond": words.beyond(now),
        "hold": f"{begun(held)}." if held else "",
        "reading": READING if reading else "",
        "tiles": _tiles(now, forecast, roster.pace()),
        "outlook": words.outlook(now) if state in ("undecided", "empty") and _has_range(forecast) else "",
        "sureness": words.sureness(now),
        "weaker": [
            [effects[one.effect], f"{one.sentence}."] for one in now.promise.caveats if one.effect in effects
        ],
        "race": _race(now),
        "arms": _arms(now),
        "control": _control(now),
        "titles": words.page_titles(now),
        "measured": _measured(now),
        "mark": mark_of(now),
        "charts": [_chart(now, now[arm]) for arm in drawn],
        "now": points([now], drawn),
        "notes": [f"{note}." for note in notes + words.out_notes(now)] or [words.nothing_unusual(now)],
        "workers": roster.workers(),
        "pending": list(roster.pending.values())[:MOST_PENDING],
        "num_pending": len(roster.pending),
    }
    return dict(plain(found))


def _measured(now: Account) -> str:
    """What the charts of one arm each show."""
    return f"{words.measured(now)}. {BAND} {words.line_words(now)}. {words.colour_words(now, 'bands')}"


def _tiles(now: Account, forecast: Forecast, pace: float | None) -> list[dict[str, Any]]:
    """Numbers of most interest, each with a title and what there is to say below it."""
    bound, progress = now.promise.bound, now.progress
    chance, asked = words.chance(now)
    asked = "see the reasons below" if bound is None else asked
    value, more = _longer(now, forecast, pace)
    speed = "" if pace is None else f"{pace:.2g}" if pace < 10.0 else f"{rough(round(pace)):,}"
    lately = [f"{speed} a second lately"] if pace else []
    of_all = [f"of {plural(len(now.standings), 'option')}" if progress.rounds is None else words.spent(now)]
    waits = progress.waiting and not now.decided
    waiting = [f"{progress.waiting:,} more wait for an earlier pull"] if waits else []
    return [
        {"title": "Chance of a wrong answer", "value": chance, "more": [asked]},
        {"title": "How much longer", "value": value, "more": [more]},
        {
            "title": "Samples so far",
            "value": f"{now.samples:,}",
            "more": [" · ".join([*of_all, *lately]), *waiting],
        },
    ]


def _longer(now: Account, forecast: Forecast, pace: float | None) -> tuple[str, str]:
    """How much longer it will take, and what that is."""
    answer = now.answer
    match answer:
        case Best() | NoWinner() | Verdicts():
            return "nothing", "it is decided"
        case Stopped():
            return "nothing", "it was stopped by hand"
        case UsedUp():
            return "nothing", "there are no more items"
        case Suspended():
            return "unknown", "nothing is asked until that is settled"
        case Undecided():
            pass
    if forecast.samples is None:
        return "unknown", forecast.reason.removeprefix("no forecast").lstrip(": ") or "no forecast yet"
    if forecast.reason:
        return "one pull", forecast.reason
    if forecast.low is None or forecast.high is None:
        return "too early to say", words.too_early(now)
    if not pace:
        return forecast.words, "a rough guess"
    ends = [duration(end / pace) for end in (forecast.low, forecast.high)]
    taken = f"up to {ends[1]}" if forecast.low <= 0 else " to ".join(dict.fromkeys(ends))
    return forecast.words, f"{taken} at this pace"


def _has_range(forecast: Forecast) -> bool:
    return forecast.samples is not None and not forecast.reason and forecast.low is not None


def _race(now: Account) -> list[dict[str, Any]]:
    """Who may be the best, and who may not: those first that got most samples."""
    if per_arm(now.settings) is not None:
        lists = ((role, kind, words.arms_in(now, role)) for role, kind in CHIPS.items())
        return [_chips(kind, str(role).capitalize(), arms, "None.") for role, kind, arms in lists]
    rows = sorted(now.standings, key=lambda one: (one.arm != now.leader, -one.samples))
    sides = {
        kind: [one.arm for one in rows if (one.role is Role.OUT) == (kind == "out")] for kind in ("in", "out")
    }
    sure = any(one.role is Role.BEST for one in rows) and not any(one.role is Role.LEFT for one in rows)
    title = "May still be the best" if not now.decided else "The best" if sure else "May be the best"
    none = {"in": "None: each option loses to another one.", "out": "None." if now.decided else "None yet."}
    titles = {"in": title, "out": "Ruled out"}
    return [_chips(kind, titles[kind], arms, none[kind]) for kind, arms in sides.items()]


def _chips(kind: str, title: str, arms: list[str], none: str) -> dict[str, Any]:
    more = f"and {len(arms) - MOST_CHIPS} more" if len(arms) > MOST_CHIPS else ""
    return {
        "kind": kind,
        "title": f"{title} ({len(arms)})",
        "names": arms[:MOST_CHIPS],
        "more": more,
        "none": none,
    }


def _arms(now: Account) -> dict[str, Any]:
    """The table of arms, with a bar for each lead."""
    header, cells = columns.table(now, since=False)
    zero = () if now.centre is None and mark_of(now) else (0.0,)  # no difference, where there are differences
    judged, rows = per_arm(now.settings) is not None, columns.in_order(now)
    whom = "" if judged else " with the leader"
    if judged:  # the page has a column of its own for that
        header, cells = [header[0], *header[2:]], [[row[0], *row[2:]] for row in cells]
    leads = {one.arm: one.lead for one in rows if one.lead is not None and one.lead.known}
    sure = (
        f"Of the last column: {words.ends(now)}." if words.ends(now) and now.settings.design.averages else ""
    )
    return {
        "notes": [note for note in (words.which_is_better(now), sure) if note],
        "caption": f"Every option: where it stands, its mean, and how it compares{whom}",
        "header": ["Option", "Standing", *(TITLES.get(title, title) for title in header[1:])],
        "rows": [
            {
                "cells": [one.arm, _standing(now, one), *row[1:]],
                "bar": _bar(leads.get(one.arm), leads.values(), mark_of(now), *zero),
                "look": look_of(one),
            }
            for one, row in zip(rows, cells, strict=True)
        ],
    }


def _standing(now: Account, one: Standing) -> str:
    tied = isinstance(now.answer, Tied) and one.role is Role.BEST
    said = "best, tied" if tied else str(one.role)
    return f"{said} (control)" if one.arm == now.settings.control else said


def _control(now: Account) -> dict[str, Any] | None:
    """Every other arm against the control; None without one."""
    if now.settings.control is None:
        return None
    better, places = words.better_than_control(now) or (), places_of(now)
    rows = [one for one in columns.in_order(now) if one.over_control is not None]
    leads = {
        one.arm: one.over_control for one in rows if one.over_control is not None and one.over_control.known
    }
    return {
        "title": f"Against the control, {now.settings.control}",
        "sentence": words.control_sentence(now),
        "note": f"{words.control_measured(now)} {words.control_ends(now)}",
        "caption": "Every other option against the control",
        "header": ["Option", "Standing", "Better by"],
        "rows": [
            {
                "cells": [
                    one.arm,
                    "better" if one.arm in better else "not proven",
                    columns.control_text(now, one, places) or "not known yet",
                ],
                "bar": _bar(leads.get(one.arm), leads.values(), 0.0, 0.0),
                "look": "sure" if one.arm in better else "open",
            }
            for one in rows
        ],
    }


def _bar(lead: Lead | None, others: Iterable[Lead], mark: float, *zero: float) -> list[float] | None:
    """Where the ends of an interval, and the mark, lie on the axis of all of them, from 0 to 1."""
    if lead is None:
        return None
    ends = [mark, *zero, *(end for one in others for end in one.ends)]
    left, right = min(ends), max(ends)
    return [(x - left) / (right - left) if right > left else 0.5 for x in (*lead.ends, mark)]


def _chart(now: Account, one: Standing) -> dict[str, Any]:
    """What the chart of the leader against an arm says to those who do not see it."""
    said = columns.lead_text(now, one, places_of(now))
    shown = words.compared(now, one, said) if said else f"nothing is known of {one.arm} yet"
    state = str(one.role) if look_of(one) != "open" else ""
    return {"said": shown, "look": look_of(one), "state": f" · {state}" if state else ""}


def drawn_arms(now: Account) -> list[str]:
    """The arms that charts show: all, or the leader and its rivals."""
    return [one.arm for one in chosen(now, MOST_DRAWN)[0]]


def points(course: Sequence[Account], arms: Sequence[str]) -> dict[str, list[Any]]:
    """Points for charts: samples, the arm to compare with, per drawn arm its mean, interval, samples."""
    rows = [[one[arm] for one in course] for arm in arms]
    return {
        "samples": [one.samples for one in course],
        "centre": [one.centre for one in course],
        "means": [[_short(one.mean) for one in row] for row in rows],
        "low": [[_short(one.lead and one.lead.low) for one in row] for row in rows],
        "high": [[_short(one.lead and one.lead.high) for one in row] for row in rows],
        "pulls": [[one.samples for one in row] for row in rows],
    }


def _short(number: float | None) -> float | None:
    """To six digits: more cannot be seen."""
    return None if number is None or not math.isfinite(number) else float(f"{number:.6g}")
