"""What the paper prints: bandits, settings, numbers, colours, with their place. Nothing is tuned to them."""

from __future__ import annotations

from dataclasses import dataclass

MU_1 = (0.9, 0.8, 0.6, 0.4, 0.4)  # Table 1, Figures 2, 3 and 5
MU_2 = (0.9, 0.5, 0.45, 0.4)  # Table 1, Figure 5
MU_3 = (0.9, 0.8, 0.75, 0.7)  # Figure 5
MU_4 = (0.9, 0.8, 0.7, 0.6)  # Figure 5
BANDITS = {"mu1": MU_1, "mu2": MU_2, "mu3": MU_3, "mu4": MU_4}

ARM_COLOURS = ("#C721DD", "#D14A00", "#008C00", "#007FB1", "#D1AC00")  # the preamble: col1 to col5

RUNS = 1000  # "Averaged over 1000 Experiments"
STRATEGIES = ("ebs-c", "tas-c", "ebs-d", "tas-d", "racing", "lucb++")  # the columns of Table 1


@dataclass(frozen=True)
class Row:
    """A row of Table 1: its settings, T kl(δ, 1-δ), and the mean number of draws per column."""

    bandit: str
    delta: float
    gamma: float
    lower_bound: int
    draws: tuple[int, ...]


TABLE_1 = (
    Row("mu1", 0.1, 0.05, 1476, (4727, 3597, 4191, 3477, 3124, 3353)),
    Row("mu1", 0.01, 0.05, 3782, (7363, 5664, 6330, 5584, 5419, 5549)),
    Row("mu1", 0.01, 0.2, 3782, (7090, 5664, 6136, 5584, 5419, 5372)),
    Row("mu1", 1e-5, 0.2, 9669, (13801, 12181, 12376, 11439, 11557, 11644)),
    Row("mu2", 0.1, 0.05, 135, (476, 367, 470, 322, 405, 365)),
    Row("mu2", 0.01, 0.05, 347, (708, 588, 699, 485, 542, 565)),
)
REPEATED = {(2, "tas-c"), (2, "tas-d"), (2, "racing")}  # row 3 prints row 2's estimates again

WEIGHTS = {  # the caption of Table 1
    "mu1": (0.477, 0.476, 0.028, 0.010, 0.010),
    "mu2": (0.375, 0.286, 0.195, 0.144),
}

FIGURES_2_AND_3 = {"means": MU_1, "delta": 0.01, "gamma": 0.2}
FIGURE_3_ROUNDS = 1200
FIGURE_5 = {"runs": 500, "gamma": 0.1}  # Appendix G; its grid of deltas is not given
