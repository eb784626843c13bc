"""The five figures of the paper, in its colours, with arms told apart by line style and marker too."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...plots import new_figure
from ...simulation.trace import Trace
from ...theory.complexity import optimal_weights
from ...theory.exploration import ExplorationCandidate
from .figures import BOX, Draws, ProofStep
from .published import ARM_COLOURS, BANDITS, FIGURE_3_ROUNDS, FIGURES_2_AND_3

STYLES = ("-", "--", "-.", (0, (2.5, 1)), (0, (5, 1, 1, 1, 1, 1)))
STRATEGY_LINES = {
    "ebs-d": ("#C721DD", "-", "o"),
    "tas-d": ("#007FB1", "--", "s"),
    "uniform": ("#008C00", "-.", "^"),
}
LABELS = {"ebs-d": "EBS", "tas-d": "Track-and-Stop", "uniform": "Uniform"}


def _box(axes: Any, bandit: Any) -> None:
    """The intervals in red, the bandit as points."""
    low, high = BOX
    arms = np.arange(1, low.size + 1)
    axes.errorbar(arms, (low + high) / 2, yerr=(high - low) / 2, fmt="none", ecolor="red", capsize=5, lw=1.5)
    axes.plot(arms, bandit, "o", color="black", zorder=3)
    axes.axhline(high.min(), color="grey", lw=0.8, ls=":")
    axes.set_xticks(arms)
    axes.set_xlim(0.5, low.size + 0.5)
    axes.set_xlabel("arm")
    axes.set_ylim(0.0, 1.05)


def figure_1(candidates: list[ExplorationCandidate]) -> Any:
    """The candidates of Algorithm 1."""
    figure = new_figure(9, 3)
    panels = figure.subplots(1, len(candidates), sharey=True)
    chosen = max(candidates, key=lambda candidate: candidate.min_weight)
    for axes, candidate in zip(panels, candidates, strict=True):
        _box(axes, candidate.bandit)
        note = " (chosen)" if candidate is chosen else ""
        title = f"test({candidate.arm + 1}): $w_{{min}}$ = {candidate.min_weight:.4f}{note}"
        axes.set_title(title, fontsize=10)
    panels[0].set_ylabel("mean")
    return figure


def _arms(axes: Any, time: Any, values: Any, width: float = 1.2) -> None:
    for a in range(values.shape[1]):
        label = f"arm {a + 1} ({FIGURES_2_AND_3['means'][a]})"  # type: ignore[index]
        axes.plot(time, values[:, a], color=ARM_COLOURS[a], ls=STYLES[a], lw=width, label=label)


def _legend_below(figure: Any, axes: Any) -> None:
    """One line under all panels, where it hides nothing."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=9, handlelength=3)


def figure_2(paths: tuple[Trace, Trace]) -> Any:
    """Sampling frequencies of one run of each."""
    figure = new_figure(10, 4)
    panels = figure.subplots(1, 2, sharey=True)
    weights = optimal_weights(FIGURES_2_AND_3["means"]).weights  # type: ignore[arg-type]
    for axes, path, title in zip(panels, paths, ("EBS", "Track-and-Stop"), strict=True):
        _arms(axes, path.time, path.pulls / path.time[:, None])
        for a, w in enumerate(weights):
            axes.axhline(w, color=ARM_COLOURS[a], lw=1.0, ls=":")
        axes.set_title(title)
        axes.set_xlabel("time t")
        axes.set_xlim(0, path.time[-1])
        axes.set_ylim(0.0, 0.52)
    panels[0].set_ylabel("sampling frequency N(t)/t")
    panels[1].plot([], [], color="black", lw=1.0, ls=":", label="w(μ)")
    _legend_below(figure, panels[1])
    return figure


def figure_3(paths: tuple[Trace, Trace]) -> Any:
    """Target weights over the first rounds; a forced round, which targets one arm alone, is a thin spike."""
    figure = new_figure(10, 4)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, path, title in zip(panels, paths, ("EBS", "Track-and-Stop"), strict=True):
        shown = (path.time <= FIGURE_3_ROUNDS) & (path.arm >= 0)
        assert path.target is not None
        time, target = path.time[shown], path.target[shown]
        forced = target.max(axis=1) == 1.0
        _arms(axes, time[~forced], target[~forced])
        for a in range(target.shape[1]):
            spikes = time[forced & (target[:, a] == 1.0)]
            axes.vlines(spikes, 0.0, 1.0, color=ARM_COLOURS[a], lw=0.7, alpha=0.7)
        axes.set_title(title)
        axes.set_xlabel("time t")
        axes.set_xlim(0, FIGURE_3_ROUNDS)
        axes.set_ylim(0.0, 1.02)
    panels[0].set_ylabel("target weight")
    _legend_below(figure, panels[1])
    return figure


def figure_4(steps: list[ProofStep]) -> Any:
    """The transformations in the proof of Proposition 1."""
    figure = new_figure(11, 3)
    panels = figure.subplots(1, len(steps), sharey=True)
    for axes, step in zip(panels, steps, strict=True):
        _box(axes, step.bandit)
        name = step.name.replace("nu", r"$\nu$").replace("(", "$^{(").replace(")", ")}$")
        axes.set_title(f"{name}: $w_{{min}}$ = {step.min_weight:.4f}", fontsize=10)
    panels[0].set_ylabel("mean")
    return figure


def figure_5(panels: list[Draws]) -> Any:
    """Expected draws against delta on four bandits."""
    figure = new_figure(10, 6.6)
    grid = figure.subplots(2, 2)
    for axes, draws in zip(grid.flat, panels, strict=True):
        x = np.array(draws.deltas)
        for name, mean in draws.mean.items():
            colour, style, marker = STRATEGY_LINES[name]
            axes.errorbar(
                x,
                mean,
                draws.error[name],
                color=colour,
                ls=style,
                marker=marker,
                ms=3,
                lw=1.2,
                label=LABELS[name],
            )
        axes.plot(x, draws.bound, color="black", lw=1.5, label="lower bound")
        axes.set_xscale("log")
        axes.invert_xaxis()
        axes.set_ylim(0.0, None)
        axes.set_title("μ = " + str(BANDITS[draws.bandit]), fontsize=10)
        axes.set_xlabel("δ")
        axes.set_ylabel("mean number of draws")
    _legend_below(figure, grid[0, 0])
    return figure
