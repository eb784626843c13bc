"""What a simulation found: how many samples its runs took, and how often they erred, a row for each cell."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._text import shortened
from ..simulation.results import Cell, Simulation
from ..simulation.summary import exact_interval, middle_of
from . import new_figure

MOST_ROWS = 60
BINS = (20, 80)  # at least and at most, by the number of runs
NAME_WIDTH = 40  # characters
FAR = 20.0  # how far apart medians are before the axis becomes logarithmic
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
# Colours that are told apart without seeing red or green; what they say, markers say too
SAMPLES, DARK, BELOW, ABOVE = "#9ecae9", "#08519c", "#0072b2", "#d55e00"


def draw(simulation: Simulation) -> Any:
    """A Matplotlib figure: left the distribution of the samples, right the error rate against delta.

    Right, a line is the exact 95% interval of the error rate of decided runs, and a bar across it is delta.
    """
    cells = list(simulation)[:MOST_ROWS]
    figure = new_figure(11.0, 1.9 + 0.42 * max(len(cells), 2))
    samples, errors = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    edges = _edges(samples, cells)
    for y, cell in enumerate(cells):
        if cell.runs:
            _draw_samples(samples, y, cell, edges)
            _draw_errors(errors, y, cell)
        else:
            samples.text(edges[0], y, " no run is complete", va="center", color="0.4")
    _label(samples, errors, simulation, cells)
    _legend(figure)
    return figure


def _edges(axes: Any, cells: list[Cell]) -> Any:
    """Of bins that all rows share; linear from 0, or logarithmic where strategies are far apart."""
    done = [cell for cell in cells if cell.runs]
    bins = int(np.clip(1.5 * np.sqrt(max([cell.runs for cell in done], default=0)), *BINS))
    if not done:
        return np.linspace(0.0, 1.0, bins + 1)
    found = [cell.quantiles((0.005, 0.5, 0.99)) for cell in done]
    low, medians = min(one[0.005] for one in found), [one[0.5] for one in found]
    high = 1.0 + max(*(one[0.99] for one in found), *(cell.mean_samples for cell in done))
    if max(medians) > FAR * min(medians):
        axes.set_xscale("log")
        return np.geomspace(0.9 * low, 1.1 * high, bins + 1)
    return np.linspace(0.0, 1.05 * high, bins + 1)


def _draw_samples(axes: Any, y: int, cell: Cell, edges: Any) -> None:
    """The histogram of one row, less runs that were cut off; under it the quantiles and the mean of all."""
    if cell.summary is None:
        places, weights = cell.samples[cell.recommended >= 0], None
    else:
        weights = cell.summary.bins
        places = np.array([middle_of(i) for i in range(weights.size)])
    counts, _ = np.histogram(places, edges, weights=weights)
    height = 0.62 * counts / max(float(counts.max()), 1.0)
    axes.stairs(y + 0.22 - height, edges, baseline=y + 0.22, fill=True, color=SAMPLES)
    q = cell.quantiles(LEVELS)
    line = y + 0.3
    axes.plot([q[0.05], q[0.95]], [line, line], color=DARK, lw=1.2, solid_capstyle="butt")
    axes.plot([q[0.25], q[0.75]], [line, line], color=DARK, lw=4.0, solid_capstyle="butt")
    axes.plot(q[0.5], line, "|", color="white", ms=5, mew=1.5, zorder=3)
    axes.plot(cell.mean_samples, line, "D", color=DARK, mfc="white", ms=5, zorder=4)
    if cell.censored:
        wrong = cell.wrong_leaders
        words = f"{cell.censored} cut off" + ("" if wrong is None else f", {wrong} with a wrong leader")
        axes.annotate(words, (1.0, y - 0.3), (-3, 0), ("axes fraction", "data"), "offset points", ha="right",
                      va="center", fontsize=8, color="0.3")  # fmt: skip


def _draw_errors(axes: Any, y: int, cell: Cell) -> None:
    """The exact interval of one row, open to the left where it contains 0; and delta."""
    if not cell.decided:
        axes.text(cell.delta, y, "no run is decided ", ha="right", va="center", fontsize=8, color="0.4")
        return
    low, high = cell.error_interval()
    above = exact_interval(cell.errors, cell.runs)[0] > cell.delta  # what is promised is about all runs
    colour = ABOVE if above else BELOW
    least = max(low, 1e-12)  # the axis ends far above that
    axes.plot([least, high], [y, y], color=colour, lw=2.0, solid_capstyle="butt")
    if cell.errors:
        axes.plot(cell.error_rate, y, "s" if above else "o", color=colour, ms=6, zorder=3)
    else:
        axes.annotate("no error", (high, y), (4, 0), textcoords="offset points", va="center", fontsize=8)
    axes.plot([cell.delta, cell.delta], [y - 0.36, y + 0.36], color="black", lw=1.5, zorder=4)


def _label(samples: Any, errors: Any, simulation: Simulation, cells: list[Cell]) -> None:
    """Names, axes and their ends."""
    names = [_name(cell, simulation) for cell in cells]
    samples.set_yticks(range(len(cells)), names, fontsize=9, parse_math=False, usetex=False)
    samples.set_ylim(len(cells) - 0.45, -0.6)
    samples.set_xlabel("samples of a run")
    errors.set_xlabel("error rate")
    errors.set_xscale("log")
    shown = [(cell.delta, *cell.error_interval(), cell.error_rate) for cell in cells if cell.decided]
    positive = [x for row in shown for x in row if x > 0.0] or [0.01, 1.0]
    lowest = min([x for row in shown for x in (row[0], row[2], row[3]) if x > 0.0] or [0.01])
    errors.set_xlim(lowest / 4.0, min(max(positive) * 2.0, 1.5))
    errors.tick_params(axis="y", left=False, labelleft=False)
    for axes in (samples, errors):
        axes.grid(axis="x", color="0.9")
        axes.set_axisbelow(True)
    hidden = len(simulation) - len(cells)
    runs = sorted({cell.runs for cell in simulation})
    many = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    rules = ", ".join(dict.fromkeys(cell.stopping for cell in simulation))
    words = f"{many} runs, stopping rule {rules}"
    words += "" if simulation.complete else ", interrupted"
    words += f"; {hidden} more rows are not shown" if hidden else ""
    samples.figure.suptitle(words, fontsize=11, parse_math=False, usetex=False)


def _name(cell: Cell, simulation: Simulation) -> str:
    """A row in words, without what all rows share."""
    deltas = {one.delta for one in simulation}
    words = shortened(cell.strategy, NAME_WIDTH)
    if len(deltas) > 1:
        words += f"   δ = {cell.delta:g}"
    return words if cell.bandit is None else f"{words}   bandit {cell.bandit}"


def _legend(figure: Any) -> None:
    """What the marks are, under both panels."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    marks: dict[str, Any] = {
        "runs": Patch(color=SAMPLES),
        "5% to 95%, middle half, median": Line2D([], [], color=DARK, lw=3),
        "mean": Line2D([], [], color=DARK, mfc="white", marker="D", ls="", ms=5),
        "error rate, exact 95% interval": Line2D([], [], color=BELOW, marker="o", lw=2),
        "above δ for sure": Line2D([], [], color=ABOVE, marker="s", lw=2),
        "δ": Line2D([], [], color="black", marker="|", ls="", ms=11, mew=1.5),
    }
    figure.legend(marks.values(), marks, loc="outside lower center", ncols=6, fontsize=8, frameon=False)
