"""Pieces of a frame as HTML; whatever was given is escaped."""

from __future__ import annotations

import html

from .._html import Cell, table
from ..telling import words
from ..telling.account import Account
from ..telling.columns import ends_text, mean_text, pending_text, samples_text, sd_text
from ..telling.drawing import UNKNOWN, axis_of, chosen, look_of, mark_of, rest_words
from ..telling.numbers import places_of
from ..telling.standings import Interval, Standing, per_arm

COLOURS = {"sure": "#2e8b57", "bad": "#c0392b", "open": "#c98a00"}


def arm_table(now: Account, most: int) -> str:
    """A header and a row per arm, of at most so many."""
    arms, rest = chosen(now, most)
    axis, places = axis_of(now, arms), places_of(now, arms)
    largest = max(one.samples for one in now.standings)
    left = 'style="text-align:left"'
    rows: list[list[str | Cell]] = [
        [
            Cell(escaped(one.arm, one.arm == now.centre), left),
            samples_text(now, one),
            Cell(bar(one.samples / largest if largest else 0.0)),
            mean_text(one, places),
            sd_text(one),
            Cell(_interval(now, one, axis)),
            Cell(html.escape(ends_text(now, one, places)), left),
            pending_text(now, one),
        ]
        for one in arms
    ]
    if rest:
        rows.append([Cell(html.escape(rest_words(rest)), f'colspan="8" {left}')])
    title = html.escape(words.bar_titles(now, "|")[per_arm(now.settings) is None])
    return table(("arm", "samples", "", "mean", "sd", title, "", "pending"), rows)


def bar(part: float, width: int = 80) -> str:
    style = f"display:inline-block;width:{width * part:.0f}px;height:0.7em;background:#4c8fbd"
    outside = f"display:inline-block;width:{width}px;text-align:left;background:rgba(128,128,128,0.2)"
    return f'<span style="{outside}"><span style="{style}"></span></span>'


def _interval(now: Account, one: Standing, axis: Interval) -> str:
    """A small drawing: a line from end to end, the estimate, and a thin line, see `mark_of`."""
    if one.arm == now.centre:
        return html.escape(words.beside(now))
    lead, mark = one.lead or UNKNOWN, mark_of(now)

    def x(value: float) -> float:
        return 4.0 + 172.0 * min(max((value - axis[0]) / (axis[1] - axis[0]), 0.0), 1.0)

    colour = COLOURS[look_of(one)]
    drawn = f'<line x1="{x(mark):.1f}" x2="{x(mark):.1f}" y1="0" y2="14" stroke="gray" stroke-width="1"/>'
    if lead.known:
        ends = f'x1="{x(lead.low):.1f}" x2="{x(lead.high):.1f}" y1="7" y2="7"'
        drawn += f'<line {ends} stroke="{colour}" stroke-width="3"/>'
        middle = lead.estimate
        if middle is not None and axis[0] <= middle <= axis[1]:
            drawn += f'<circle cx="{x(middle):.1f}" cy="7" r="4" fill="{colour}"/>'
    return f'<svg width="180" height="14">{drawn}</svg>'


def escaped(text: str, strong: bool = False) -> str:
    shown = f"<bdi>{html.escape(text)}</bdi>"
    return f"<b>{shown}</b>" if strong else shown
