"""How often a best arm is dropped on closed sets of clusters, and what makes that happen far more often.

Two arms have exactly the same sum over all items: for every cluster that one of them likes there is one of
the same size that the other likes as much. So each is a best one, and arm 0 is dropped with probability δ at
most, at any time. A test allows MOST such runs: if the probability were δ itself, more are seen with
probability 1e-6. The negative controls must exceed MOST. Seeds are fixed.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from truebest.designs import Rounds
from truebest.designs.units import Units
from truebest.kernels import paired
from truebest.kernels._types import Array

DELTA, RUNS, PAIRS = 0.1, 400, 60
MOST = int(stats.binom.isf(1e-6, RUNS, DELTA))


def tied(rng: np.random.Generator) -> list[Array]:
    """Clusters, items x arms, in random order: within a cluster an arm is right on most items, or on few."""
    found = []
    for size in rng.choice([1, 2, 4, 12], PAIRS):
        liked = (rng.random((size, 2)) < rng.beta(0.3, 0.3, 2)).astype(float)
        found += [liked, liked[:, ::-1]]
    return [found[i] for i in rng.permutation(len(found))]


def unlike(rng: np.random.Generator) -> list[Array]:
    """The same: arm 1 is right on all small clusters, and arm 0 on as many items of a few large ones."""
    small = [np.array([[0.0, 1.0]])] * 80
    large = [np.tile([1.0, 0.0], (8, 1))] * 10
    found = [*small, *large]
    return [found[i] for i in rng.permutation(len(found))]


def units_of(clusters: list[Array], weigh: str = "items") -> Units:
    return Units(clusters=tuple(c for c, one in enumerate(clusters) for _ in one), weigh=weigh)


def is_dropped(design: Rounds, rows: list[list[float]]) -> bool:
    """Whether arm 0 is, before the set is used up."""
    params, (pairs, arms) = design.parameters(2, DELTA), design.blank(2)
    for row in np.array(rows)[:-1]:
        if paired.play_round(params, row, row, pairs, arms) != paired.GO_ON:
            break
    return bool(arms[paired.OUT_AFTER, 0] > 0.0)


def by_clusters(clusters: list[Array], weigh: str = "items") -> bool:
    """A row per cluster."""
    units = units_of(clusters, weigh)
    rows = [[units.value(arm.tolist(), c) for arm in one.T] for c, one in enumerate(clusters)]
    return is_dropped(Rounds(len(rows), units=units), rows)


def by_items(clusters: list[Array]) -> bool:
    """What is wrong: a row per item, cluster after cluster."""
    rows = np.concatenate(clusters)
    return is_dropped(Rounds(len(rows)), rows.tolist())


def test_a_best_arm_is_rarely_dropped() -> None:
    """Where each item counts alike, whatever the sizes of clusters are."""
    rng = np.random.default_rng(1)
    assert sum(by_clusters(tied(rng)) for _ in range(RUNS)) <= MOST
    assert sum(by_clusters(unlike(rng)) for _ in range(RUNS)) <= MOST


def test_a_best_arm_by_clusters_is_rarely_dropped() -> None:
    """Where each cluster counts alike, and both arms have the same sum of clusters' means, too."""
    rng = np.random.default_rng(2)
    assert sum(by_clusters(tied(rng), "clusters") for _ in range(RUNS)) <= MOST


def test_items_in_the_order_of_clusters_drop_it_often() -> None:
    """Negative control: items of a cluster are alike, and come one after the other."""
    rng = np.random.default_rng(3)
    assert sum(by_items(tied(rng)) for _ in range(RUNS)) > MOST


def test_clusters_that_count_alike_drop_an_arm_that_is_best_by_items() -> None:
    """Negative control: the promise is then about the means of clusters, not of items."""
    rng = np.random.default_rng(4)
    assert sum(by_clusters(unlike(rng), "clusters") for _ in range(RUNS)) > 0.8 * RUNS > MOST
