"""The performance profile of a comparison: on what share of the bandits a strategy is within a factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from ...plots import new_figure

COLOURS = ("#C721DD", "#D14A00", "#008C00", "#007FB1", "#D1AC00", "#444444")
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)))
WIDEST = 3.0  # a factor; what is beyond is off the picture
FIRST = 3  # how many strategies have thick lines


def draw(ratios: Mapping[str, Sequence[float]]) -> Any:
    """A Matplotlib figure; for each strategy, the best first, its ratio on every bandit."""
    figure = new_figure(9.0, 5.2)
    axes = figure.subplots()
    looks = [(colour, dash) for dash in DASHES for colour in COLOURS]
    largest = max(max(values) for values in ratios.values())
    end = min(WIDEST, max(1.05, 1.02 * largest))
    for i, ((name, values), (colour, dash)) in enumerate(zip(ratios.items(), cycle(looks))):
        x = np.concatenate([[1.0], np.sort(values), [max(end, largest)]])
        share = np.concatenate([[0.0], np.arange(1, len(values) + 1) / len(values), [1.0]])
        width = 2.2 if i < FIRST else 1.2
        axes.step(x, share, where="post", label=name, color=colour, ls=dash, lw=width, zorder=50 - i)
    axes.set_xscale("log")
    axes.set_xlim(1.0, end)
    fine, coarse = (1.0, 1.02, 1.05, 1.1, 1.2), (1.0, 1.1, 1.25, 1.5, 2.0, 2.5, 3.0)
    marks = [x for x in (fine if end < 1.5 else coarse) if x <= end]
    axes.set_xticks(marks, [f"{x:g}" for x in marks])
    axes.minorticks_off()
    axes.set_ylim(0.0, 1.02)
    axes.set_xlabel("samples, as a multiple of the fewest on the bandit")
    axes.set_ylabel("share of bandits within that factor")
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    figure.legend(loc="outside right upper", fontsize=9, frameon=False, prop={"size": 9})
    return figure
