"""The paper's figures by name: one table, from which the command, its files and the report are derived.

To add a figure, write a function that makes its data, one that turns them into records (both in
`figures.py`) and one that draws them (`pictures.py`), and add an entry that names the three. They
are imported when the figure is made, so that `--help` lists the figures without numerics.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from .published import FIGURE_5

if TYPE_CHECKING:
    from ..ledger import Ledger

Records = list[dict[str, Any]]


class Figure(NamedTuple):
    """What a figure is made of.

    title    as the paper counts
    caption  what the report says of it
    data     the function of `figures` that makes its data
    records  the function of `figures` that turns them into plain objects
    draw     the function of `pictures` that turns them into a picture
    needs    what `data` takes: "seed"; "runs"; "ledger", if its parts take long and are kept as they are made
    runs     how many the paper has, if it takes some
    """

    title: str
    caption: str
    data: str
    records: str
    draw: str
    needs: tuple[str, ...] = ()
    runs: int = 0

    def make(self, runs: int | None, seed: int, ledger: Ledger) -> tuple[Any, Records]:
        """A Matplotlib figure, and the numbers that it shows."""
        figures, pictures = (import_module(f"{__package__}.{part}") for part in ("figures", "pictures"))
        given = {"runs": runs or self.runs, "seed": seed, "ledger": ledger}
        data = getattr(figures, self.data)(**{name: given[name] for name in self.needs})
        return getattr(pictures, self.draw)(data), getattr(figures, self.records)(data)


FIGURES = {
    "figure1": Figure(
        "Figure 1",
        "The bandits that Algorithm 1 tries (points) in a box of intervals (red); the one with the largest "
        "w_min is chosen. Dotted: the smallest upper end. The paper gives no numbers for its box; this one "
        "is ours.",
        data="candidates",
        records="candidates_to_dict",
        draw="figure_1",
    ),
    "figure2": Figure(
        "Figure 2",
        "Sampling frequencies of one run of each strategy on the same rewards; w(μ) dotted.",
        data="runs_of_both",
        records="frequencies_to_dict",
        draw="figure_2",
        needs=("seed",),
    ),
    "figure3": Figure(
        "Figure 3",
        "Target weights over the first 1200 rounds: EBS starts uniform, separates late and stays put; "
        "Track-and-Stop jumps with the estimates and spikes at every forced step (thin lines). Arms with the "
        "same weight show as one line.",
        data="runs_of_both",
        records="targets_to_dict",
        draw="figure_3",
        needs=("seed",),
    ),
    "figure4": Figure(
        "Figure 4",
        "The transformations in the proof of Proposition 1: w_min never falls. Box ours.",
        data="proof_steps",
        records="steps_to_dict",
        draw="figure_4",
    ),
    "figure5": Figure(
        "Figure 5",
        "Mean number of draws and its standard error against δ, all deltas from one trajectory. The paper "
        "gives no grid of deltas; this one is ours.",
        data="draws_against_delta",
        records="draws_to_dict",
        draw="figure_5",
        needs=("runs", "seed", "ledger"),
        runs=int(FIGURE_5["runs"]),
    ),
}
