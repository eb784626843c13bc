"""One run, step by step: its statistic, its means and intervals, its targets, and where the pulls went."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._text import shortened
from ..simulation.trace import Trace
from . import new_figure

POINTS = 2000  # of a line
DOTS = 30  # steps of a run that is drawn with dots
# Okabe and Ito's colours, told apart without seeing red or green; line styles tell arms apart as well
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
STYLES = ("-", "--", "-.", (0, (2.5, 1)), (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
OTHERS = "0.75"


def draw(trace: Trace) -> Any:
    """A Matplotlib figure of panels over time; those without data are left out.

    Of many arms those with the most pulls have colours, two of them also intervals, and the others are grey.
    """
    panels: list[Callable[[Any, Trace, list[int]], None]] = [_statistic, _means]
    if trace.target is not None and trace.arm.size > 1:
        panels.append(_targets)
    panels.append(_pulls)
    figure = new_figure(9.0, 1.4 + 2.0 * len(panels))
    grid = figure.subplots(len(panels), 1, sharex=True)
    bright = sorted(_most_pulled(trace)[: len(COLOURS)])
    for panel, axes in zip(panels, grid, strict=True):
        panel(axes, trace, bright)
        axes.grid(color="0.92")
        axes.set_axisbelow(True)
    if _is_short(trace):
        grid[-1].set_xlim(trace.time[0] - 0.5, trace.time[-1] + 0.5)
        grid[-1].set_xticks(trace.time[:: 1 + trace.time.size // 12])
    else:
        grid[-1].set_xlim(trace.time[0], trace.time[-1])
    grid[-1].set_xlabel("samples so far")
    handles, labels = grid[-1].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=8, fontsize=9, handlelength=3, frameon=False
    )
    figure.suptitle(shortened(trace.sentence, 100), fontsize=11, parse_math=False, usetex=False)
    return figure


def _most_pulled(trace: Trace) -> list[int]:
    """The recommended arm, then the others from the most pulls to the fewest."""
    return sorted(range(trace.pulls.shape[1]), key=lambda a: (a != trace.recommended, -trace.pulls[-1, a], a))


def _is_short(trace: Trace) -> bool:
    """Whether a run has so few steps that each of them is a dot."""
    return trace.time.size <= DOTS


def _thin(trace: Trace) -> Any:
    """Rows that are drawn: all of a short run, some of a long one, always the first and the last."""
    rows = trace.time.size
    return np.unique(np.linspace(0, rows - 1, min(rows, POINTS)).round().astype(np.int64))


def _lines(axes: Any, time: Any, values: Any, bright: list[int]) -> None:
    """A line for each arm."""
    count = values.shape[1]
    values = np.where(np.isfinite(values), values, np.nan)  # an arm that is out has a mean of -inf
    for a in range(count):
        if a not in bright:
            axes.plot(time, values[:, a], color=OTHERS, lw=0.7, zorder=1)
    if len(bright) < count:
        axes.plot([], [], color=OTHERS, lw=0.7, label=f"{count - len(bright)} others")
    for place, a in enumerate(bright):
        look = {"color": COLOURS[place], "ls": STYLES[place]}
        marker = "o" if time.size <= DOTS else ""
        axes.plot(time, values[:, a], lw=1.4, marker=marker, ms=3, label=f"arm {a}", zorder=3, **look)


def _statistic(axes: Any, trace: Trace, _: list[int]) -> None:
    rows = _thin(trace)
    dots: dict[str, Any] = {"marker": "o" if _is_short(trace) else "", "ms": 3}
    axes.plot(trace.time[rows], trace.statistic[rows], color="black", lw=1.2, label="statistic", **dots)
    if np.isfinite(trace.threshold).any():
        look = {"color": "#d55e00", "lw": 1.4, "ls": "--", **dots}
        axes.plot(trace.time[rows], trace.threshold[rows], label="threshold", **look)
    axes.set_ylabel("evidence")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=2, fontsize=8, frameon=False)


def _means(axes: Any, trace: Trace, bright: list[int]) -> None:
    """Means, in the strategy's intervals where it has some."""
    rows = _thin(trace)
    time = trace.time[rows]
    _lines(axes, time, trace.means[rows], bright)
    shown = trace.means[rows[rows.size // 10 :]]
    if trace.lower is not None and trace.upper is not None:
        for a in bright if len(bright) == trace.pulls.shape[1] else _most_pulled(trace)[:2]:
            low, high = trace.lower[rows, a], trace.upper[rows, a]
            axes.fill_between(time, low, high, color=COLOURS[bright.index(a)], alpha=0.15, lw=0)
        half = rows[rows.size // 4 :]
        shown = np.concatenate([shown.ravel(), trace.lower[half].ravel(), trace.upper[half].ravel()])
    finite = shown[np.isfinite(shown)]
    if finite.size:
        low, high = np.quantile(finite, (0.005, 0.995))  # a first few values may lie anywhere
        reach = 0.08 * max(high - low, 1e-12)
        axes.set_ylim(low - reach, high + reach)
    axes.set_ylabel("mean" if trace.lower is None else "mean, interval")


def _targets(axes: Any, trace: Trace, bright: list[int]) -> None:
    """Target weights; forced steps, which target one arm alone, are left out unless there are no others."""
    assert trace.target is not None
    rows = _thin(trace)[:-1]
    forced = trace.target[rows].max(axis=1) == 1.0
    if not forced.all():
        rows = rows[~forced]
    _lines(axes, trace.time[rows], trace.target[rows], bright)
    axes.set_ylim(0.0, 1.04 * axes.get_ylim()[1])
    axes.set_ylabel("target weight")


def _pulls(axes: Any, trace: Trace, bright: list[int]) -> None:
    rows = _thin(trace)
    time = trace.time[rows]
    _lines(axes, time, trace.pulls[rows] / time[:, None], bright)
    axes.set_ylim(0.0, 1.04 * axes.get_ylim()[1])
    axes.set_ylabel("share of pulls")
