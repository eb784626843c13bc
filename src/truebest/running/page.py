"""Pieces of a frame as HTML; whatever was given is escaped."""

from __future__ import annotations

import html
import math

from .._html import Cell, table
from ..experiment.status import Interval, Status
from .arms import (
    UNKNOWN,
    axis_of,
    chosen,
    deviation_words,
    interval_words,
    mean_words,
    places_of,
    rest_words,
)


def arm_table(status: Status, most: int) -> str:
    """A header and a row per arm, of at most so many."""
    arms, rest = chosen(status, most)
    axis, places = axis_of(status, arms), places_of(status, arms)
    largest = max(status.pulls.values())
    left = 'style="text-align:left"'
    rows: list[list[str | Cell]] = [
        [
            Cell(escaped(arm, arm == status.leader), left),
            str(status.pulls[arm]),
            Cell(bar(status.pulls[arm] / largest if largest else 0.0)),
            mean_words(status, arm, places),
            deviation_words(status, arm),
            Cell(_interval(status, arm, axis)),
            Cell(html.escape(interval_words(status, arm, places)), left),
            str(status.pending[arm] or ""),
        ]
        for arm in arms
    ]
    if rest:
        rows.append([Cell(html.escape(rest_words(rest)), f'colspan="8" {left}')])
    return table(("arm", "samples", "", "mean", "sd", "leader is better by", "", "pending"), rows)


def bar(part: float, width: int = 80) -> str:
    style = f"display:inline-block;width:{width * part:.0f}px;height:0.7em;background:#4c8fbd"
    outside = f"display:inline-block;width:{width}px;text-align:left;background:rgba(128,128,128,0.2)"
    return f'<span style="{outside}"><span style="{style}"></span></span>'


def _interval(status: Status, arm: str, axis: Interval) -> str:
    """A small drawing: a line from end to end, the estimate, and a thin line at 0."""
    if arm == status.leader:
        return status.verdict
    low, high = status.intervals.get(arm, UNKNOWN)

    def x(value: float) -> float:
        return 4.0 + 172.0 * min(max((value - axis[0]) / (axis[1] - axis[0]), 0.0), 1.0)

    colour = "#2e8b57" if status.is_behind(arm) else "#c98a00"
    drawn = f'<line x1="{x(0.0):.1f}" x2="{x(0.0):.1f}" y1="0" y2="14" stroke="gray" stroke-width="1"/>'
    if math.isfinite(low) and math.isfinite(high):
        ends = f'x1="{x(low):.1f}" x2="{x(high):.1f}" y1="7" y2="7"'
        drawn += f'<line {ends} stroke="{colour}" stroke-width="3"/>'
        middle = status.lead(arm)
        if middle is not None and axis[0] <= middle <= axis[1]:
            drawn += f'<circle cx="{x(middle):.1f}" cy="7" r="4" fill="{colour}"/>'
    return f'<svg width="180" height="14">{drawn}</svg>'


def escaped(text: str, strong: bool = False) -> str:
    shown = f"<bdi>{html.escape(text)}</bdi>"
    return f"<b>{shown}</b>" if strong else shown
