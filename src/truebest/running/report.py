"""The report of an experiment: one HTML page without scripts or requests, for the people who decide.

Top to bottom it answers: what is best, or how far below the best the leader can be; how sure that is, and
under which assumptions; what it took; what else should be known; how it was set up; and what happened, line
by line. Pictures are made of HTML, so that they fit any width, and follow the reader's dark mode.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

from .. import __version__
from .._html import Cell, table, whole_page
from .._page_style import STYLE
from .._records import plain
from .._text import duration, exactly, harmless, moment, percent, plural, rough, shortened
from ..experiment.events import Event
from ..experiment.exports import event_record
from ..experiment.settings import Settings
from ..telling import words
from ..telling.account import Account
from ..telling.columns import control_text, in_order, lead_text, mean_text, samples_text
from ..telling.drawing import UNKNOWN, axis_of, beyond_words, chosen, look_of, mark_of, rest_words
from ..telling.numbers import places_of
from ..telling.standings import VOIDS, WEAKENS, Standing

MOST_ARMS = 50


class LogSummary(NamedTuple):
    """What the log says of the course of an experiment.

    lines    how many there are
    begun, ended   when the first and the last were written
    workers  who asked for pulls
    shown    the lines that are shown: all, or the first and the last
    """

    lines: int
    begun: float
    ended: float
    workers: tuple[str, ...]
    shown: list[Event]


def page(
    now: Account, settings: Settings, events: Iterable[Event], uniform: int | None, log_lines: int
) -> str:
    """The page; `uniform` is how many samples uniform sampling would take, if that is known."""
    course, headline = _course(events, log_lines), words.headline(now.answer, settings, now.progress.waiting)
    parts = [
        f"<header><p class='faint'>{_text(now.name)}</p><h1>{_text(headline)}</h1>",
        f"<p class='lead'>{_text(words.paragraph(now))}</p>",
        *(f"<p>{_text(line)}</p>" for line in words.beyond(now)),
        "</header>",
        _tiles(now, course, uniform),
        "<h2>How sure is that?</h2>",
        *(f"<p>{_text(sentence)}</p>" for sentence in words.sureness(now)),
        "<h2>The options</h2>",
        _leads(now),
        _samples(now),
        _control(now),
        "<h2>What else to know</h2>",
        _notes(now),
        "<h2>How it was set up</h2>",
        f"<div class='scroll'>{_setup(settings)}</div>",
        "<h2>What happened</h2>",
        _log(course),
        f"<footer class='faint'>truebest {escape(__version__)}, {escape(moment(course.ended))}</footer>",
    ]
    return whole_page(harmless(f"{now.name}: {headline}"), parts, STYLE)


def _tiles(now: Account, course: LogSummary, uniform: int | None) -> str:
    took = duration(course.ended - course.begun)
    saved = f"of {len(now.standings)} options"
    if uniform and now.best is not None:
        saved = f"about {rough(uniform)} if shared equally"
    who = plural(len(course.workers), "worker") if course.workers else "workers not named"
    tiles = [
        ("samples", str(now.samples), saved),
        ("chance of a wrong answer", *words.chance(now)),
        ("elapsed time", took, who),
    ]
    cells = "".join(
        f"<div><dt>{escape(what)}</dt><dd>{escape(value)}</dd><p class='faint'>{escape(more)}</p></div>"
        for what, value, more in tiles
    )
    return f"<dl class='tiles'>{cells}</dl>"


def _leads(now: Account) -> str:
    """By how much the leader is better than each other option, or what is asked, as lines on one axis."""
    if not any(one.lead for one in now.standings):
        return ""
    arms, rest = chosen(now, MOST_ARMS)
    mark = mark_of(now)
    axis, places = axis_of(now, arms), places_of(now, arms)
    rows = []
    for one in filter(arms.__contains__, in_order(now)):
        mean = mean_text(one, places)
        if one.arm == now.centre:
            drawn, text = f"<b>{_text(words.beside(now))}</b>", f"mean {mean}" if mean else "no result yet"
        else:
            drawn = _line(one, axis, mark)
            said = words.beside_picture(now, one, lead_text(now, one, places))
            text = f"mean {mean}; {said}" if mean and said else said or "no result yet"
        rows.append(_row(one.arm, drawn, text))
    left, right = axis
    ends = f"<span>{left:.3g}</span><span>{right:.3g}</span>"
    scale = f"<div class='row'><div></div><div class='ends faint'>{ends}</div><div></div></div>"
    more = f"<p class='faint'>{escape(rest_words(rest))}</p>" if rest else ""
    return (
        f"<figure><figcaption>{escape(words.measured(now))}. Each line spans what the data allow, its dot is "
        f"the estimate, the bar across marks {escape(words.line_words(now))}. {beyond_words(axis, arms)}"
        f"{words.colour_words(now)} "
        f"{escape(words.which_is_better(now))}</figcaption>{''.join(rows)}{scale}{more}</figure>"
    )


def _control(now: Account) -> str:
    """By how much each other option is better than the control."""
    if now.settings.control is None:
        return ""
    places, compared = places_of(now), [one for one in in_order(now) if one.over_control is not None]
    rows: list[Sequence[str | Cell]] = [
        [_cell(one.arm), control_text(now, one, places)] for one in compared[:MOST_ARMS]
    ]
    sentence = words.control_sentence(now)
    said = f"<p>{_text(sentence)}</p>" if sentence else ""
    title = f"Against the control, {_text(now.settings.control)}"
    note = f"<p class='faint'>{_text(words.control_ends(now))}</p>"
    return f"<h2>{title}</h2>{said}{table(['option', 'is better by'], rows)}{note}"


def _line(one: Standing, axis: tuple[float, float], mark: float) -> str:
    lead = one.lead or UNKNOWN

    def place(x: float) -> float:
        return 100.0 * min(max((x - axis[0]) / (axis[1] - axis[0]), 0.0), 1.0)

    look = look_of(one)
    drawn = f"<i class='zero' style='left:{place(mark):.2f}%'></i>"
    if lead.known:
        width = max(place(lead.high) - place(lead.low), 0.5)
        drawn += f"<i class='{look}' style='left:{place(lead.low):.2f}%;width:{width:.2f}%'></i>"
        middle = lead.estimate
        if middle is not None and axis[0] <= middle <= axis[1]:
            drawn += f"<i class='dot {look}' style='left:{place(middle):.2f}%'></i>"
    return f"<div class='track'>{drawn}</div>"


def _samples(now: Account) -> str:
    arms, _ = chosen(now, MOST_ARMS)
    most = max(1, *now.pulls.values())
    rows = [
        _row(one.arm, _bar(one.samples / most), _samples_of(now, one))
        for one in filter(arms.__contains__, in_order(now))
    ]
    return f"<figure><figcaption>{_text(words.spread(now))}</figcaption>{''.join(rows)}</figure>"


def _samples_of(now: Account, one: Standing) -> str:
    return samples_text(now, one) if one.arm in words.known(now.settings) else plural(one.samples, "sample")


def _bar(part: float) -> str:
    return f"<div class='track'><i class='count' style='width:{100.0 * part:.2f}%'></i></div>"


def _row(name: str, drawn: str, said: str) -> str:
    return (
        f"<div class='row'><div class='name'>{_text(shortened(name, words.LONGEST_NAME))}</div>"
        f"<div>{drawn}</div><div class='words'>{_text(said)}</div></div>"
    )


def _notes(now: Account) -> str:
    """Everything that the experiment noticed, the worst first."""
    weight = {VOIDS: "Nothing is promised: ", WEAKENS: "The promise is weaker: "}
    notes = [weight.get(caveat.effect, "") + caveat.sentence for caveat in now.promise.caveats]
    notes += [words.hold(now)] if words.hold(now) else []
    notes += words.out_notes(now)
    if not notes:
        return f"<p>{words.nothing_unusual(now)}</p>"
    return f"<ul>{''.join(f'<li>{_text(note)}.</li>' for note in notes)}</ul>"


def _setup(settings: Settings) -> str:
    side = "smallest" if settings.minimize else "largest"
    rows: list[Sequence[str | Cell]] = [
        ["values", settings.values.words if settings.design.steered else settings.values.demand],
        words.sought(settings, side),
        *([["compared on", str(settings.items)]] if settings.items else []),
        *([["not asked", str(settings.known)]] if settings.known else []),
        *([["one round", settings.design.units.words]] if not settings.design.units.single else []),
        *([["control", settings.control]] if settings.control else []),
        ["accepted chance of a wrong answer", percent(settings.delta)],
        ["tolerance", exactly(settings.tolerance)],
        ["sampling strategy", settings.strategy_name],
        ["stopping rule", settings.rule_name],
        ["results count in the order of", "asking" if settings.order == "ask" else "arrival"],
        ["seed", str(settings.seed)],
    ]
    about = settings.about or ("",) * len(settings.arms)
    rows += [
        [f"option {i}", f"{arm}: {what}" if what else arm]
        for i, (arm, what) in enumerate(zip(settings.arms, about, strict=True), 1)
    ][:MOST_ARMS]
    return table(["setting", "value"], [[_cell(text) for text in row] for row in rows])


def _log(course: LogSummary) -> str:
    """A table that is folded away at first."""
    header = ["line", "time", "what", "pull", "option", "value", "more"]
    rows: list[list[str | Cell]] = []
    before = 0
    for event in course.shown:
        if event.seq != before + 1:
            rows.append([Cell(f"... {event.seq - before - 1} lines are left out ...", "colspan='7'")])
        before = event.seq
        cells = [str(event.seq), moment(event.time), event.kind, _or_blank(event.pull), event.arm or ""]
        rows.append([_cell(text) for text in [*cells, _or_blank(event.value), _details(event)]])
    if course.lines > before:
        rows.append([Cell(f"... {course.lines - before} lines are left out ...", "colspan='7'")])
    return (
        f"<details><summary>The log: {plural(course.lines, 'line')}</summary>"
        f"<div class='scroll'>{table(header, rows)}</div>"
        "<p class='faint'>`truebest export` writes the whole log, `truebest verify` checks it.</p></details>"
    )


def _details(event: Event) -> str:
    if event.kind == "created":
        return "the settings"
    if event.kind == "decided":
        return words.decided(event.data or {})
    data = {
        key: value
        for key, value in (event_record(event)["data"] or {}).items()
        if key not in ("deadline", "check")
    }
    return "; ".join(f"{key}: {plain(value)}" for key, value in data.items() if value is not None)


def _course(events: Iterable[Event], most: int) -> LogSummary:
    """Read the log once; of a long one, keep the first and the last lines."""
    head: list[Event] = []
    tail: deque[Event] = deque(maxlen=max(most - most // 2, 1))
    workers: dict[str, None] = {}
    lines, begun, ended = 0, 0.0, 0.0
    for event in events:
        lines, begun, ended = lines + 1, begun or event.time, event.time
        if len(head) < most // 2:
            head.append(event)
        elif most:
            tail.append(event)
        worker = (event.data or {}).get("worker")
        if worker is not None:
            workers[str(worker)] = None
    return LogSummary(lines, begun, ended, tuple(workers), [*head, *tail])


def _or_blank(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _cell(text: str | Cell) -> Cell:
    return text if isinstance(text, Cell) else Cell(_text(text))


def _text(text: str) -> str:
    """Escaped, without control characters, and kept from turning the direction of what follows."""
    return f"<bdi>{escape(harmless(text))}</bdi>"
