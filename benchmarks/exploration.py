"""exploration_biased_weights: the Pareto front against every candidate."""

from __future__ import annotations

import numpy as np

import truebest

from .measure import cpu_seconds, duration, show


def main() -> None:
    """Random boxes in which many arms may be the best."""
    rows = []
    for num_arms in (5, 100, 1_000):
        rng = np.random.default_rng(num_arms)
        centre = rng.uniform(0.0, 1.0, (20, num_arms))
        width = rng.uniform(0.05, 0.4, centre.shape)
        low, high = centre - width, centre + width
        lists = truebest.exploration_candidates(low, high)
        tried = np.mean([len(one) for one in lists])
        front = np.mean([sum(c.pareto for c in one) for one in lists])
        pruned = cpu_seconds(lambda: truebest.exploration_biased_weights(low, high)) / 20  # noqa: B023
        full = cpu_seconds(lambda: truebest.exploration_biased_weights(low, high, method="paper")) / 20  # noqa: B023
        rows.append(
            [
                str(num_arms),
                f"{front:.1f}",
                f"{tried:.1f}",
                duration(pruned),
                duration(full),
                f"{full / pruned:.1f}",
            ]
        )
    show(
        ["arms", "on the front", "candidates", "pruned", "every candidate", "ratio"],
        rows,
        "Exploration-biased weights, CPU time per box",
    )
