"""Clusters of items: what is exact of small sets and short sequences, over all orders and all draws."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from truebest.designs import Rounds
from truebest.designs.units import Units
from truebest.experiment.population import Weighted, log_evidence
from truebest.kernels import paired
from truebest.kernels._types import Array

DELTA = 0.45


def set_of(rng: np.random.Generator, clusters: int, tied: bool) -> tuple[Units, list[list[Array]]]:
    """Sizes, and of two arms the 0/1 scores of each cluster; as many in total, if they are tied."""
    sizes = rng.integers(1, 5, clusters)
    units = Units(clusters=tuple(int(c) for c, size in enumerate(sizes) for _ in range(size)))
    while True:
        tables = [[(rng.random(size) < 0.5).astype(float) for size in sizes] for _ in range(2)]
        first, second = (sum(float(one.sum()) for one in table) for table in tables)
        if (first == second and not all(map(np.array_equal, *tables))) if tied else first > second:
            return units, tables


def rows_of(units: Units, tables: list[list[Array]]) -> Array:
    """Clusters x arms: values of rows."""
    values = [[units.value(one.tolist(), c) for c, one in enumerate(table)] for table in tables]
    return np.ascontiguousarray(np.array(values).T)


def totals(tables: list[list[Array]]) -> list[float]:
    """The mean of each arm over all items."""
    return [float(np.concatenate(table).mean()) for table in tables]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("epochs", [1, 3])
def test_a_mean_of_rows_is_one_of_items_but_for_the_unit(seed: int, epochs: int) -> None:
    """Whatever the sizes: so a lead of rows, times the stretch, is one of items; and so is a total."""
    rng = np.random.default_rng(seed)
    units, tables = set_of(rng, 7, tied=False)
    units = Units(epochs, units.clusters)
    answers = [[np.repeat(one, epochs) for one in table] for table in tables]
    rows = rows_of(units, answers)
    assert 0.0 <= rows.min() <= rows.max() <= 1.0
    assert units.stretch * rows.mean(axis=0) == pytest.approx(totals(tables))
    alike = Units(epochs, units.clusters, "clusters")
    means = [[float(one.mean()) for one in table] for table in tables]
    assert np.allclose(rows_of(alike, answers).T, means)
    for one in (units, alike):
        weighed = [sum(one.weight(c) * x.sum() for c, x in enumerate(table)) for table in answers]
        exact = [one.stretch * mean for mean in rows_of(one, answers).mean(axis=0)]
        assert [total / one.count(len(units.clusters or ())) for total in weighed] == pytest.approx(exact)


def played(units: Units, rows: Array) -> list[tuple[int, list[float]]]:
    """For every order of the clusters: when arm 0 is dropped, and the evidence at the truth."""
    design = Rounds(len(rows), units=units)
    params = design.parameters(2, DELTA)
    truth = float(rows[:, 1].mean() - rows[:, 0].mean())
    found = []
    for order in itertools.permutations(range(len(rows))):
        pairs, arms = design.blank(2)
        evidence, dropped = [], 0
        for n, c in enumerate(order, 1):
            if not dropped:
                paired.play_round(params, rows[c], rows[c], pairs, arms)
                dropped = n if arms[paired.OUT_AFTER, 0] > 0.0 else 0
                evidence.append(paired.pair_evidence(params, pairs, arms, 1, 0, truth))
        found.append((dropped, evidence))
    return found


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tied", [True, False])
def test_over_all_orders_a_best_arm_is_dropped_with_delta_at_most(seed: int, tied: bool) -> None:
    """By items, of clusters of all sizes; and the mean evidence for what is false is 1 at most."""
    units, tables = set_of(np.random.default_rng(100 + seed), 6, tied)
    runs = played(units, rows_of(units, tables))
    assert np.mean([dropped > 0 for dropped, _ in runs]) <= DELTA
    for n in range(6):
        seen = [math.exp(evidence[min(n, len(evidence) - 1)]) for _, evidence in runs]
        assert np.mean(seen) <= 1.0 + 1e-9


def test_clusters_that_count_alike_do_not_decide_about_items() -> None:
    """The counter-example: of arms with equal means of items, one is named by the means of clusters."""
    units = Units(clusters=(0,) * 10 + (1, 2, 3, 4, 5, 6, 7, 8, 9, 10), weigh="clusters")
    ones, tens = [np.ones(1)] * 10, np.ones(10)
    tables = [[tens, *[np.zeros(1)] * 10], [np.zeros(10), *ones]]
    assert totals(tables) == [0.5, 0.5]
    rows = rows_of(units, tables)
    assert rows[:, 1].mean() > rows[:, 0].mean()
    design = Rounds(len(rows), units=units)
    pairs, arms = design.blank(2)
    for c in (3, 1, 5, 0, 2, 4, 6, 7, 8, 9, 10):
        if paired.play_round(design.parameters(2, 0.2), rows[c], rows[c], pairs, arms) != paired.GO_ON:
            break
    assert arms[paired.OUT_AFTER, 0] > 0.0


# Of a population: the size of a cluster, D on its items, and how likely it is; the mean by items is d.
POPULATIONS = [
    ([(1, 1.0, 0.5), (5, -0.2, 0.5)], 0.0),
    ([(1, 1.0, 0.9), (9, -1.0, 0.1)], 0.0),
    ([(2, 0.9, 0.3), (4, 0.1, 0.5), (1, -0.6, 0.2)], None),
    ([(3, -1.0, 0.6), (1, 0.5, 0.4)], None),
]


def mean_of(population: list[tuple[int, float, float]]) -> float:
    """By items."""
    return sum(n * d * p for n, d, p in population) / sum(n * p for n, _, p in population)


@pytest.mark.parametrize(("population", "expected"), POPULATIONS)
def test_evidence_of_clusters_is_a_supermartingale_at_the_truth(
    population: Any, expected: float | None
) -> None:
    """Exactly, over all sequences of draws: its mean is 1 after every number of rows, and it falls in d."""
    largest, truth = max(n for n, _, _ in population), mean_of(population)
    assert expected is None or truth == pytest.approx(expected, abs=1e-12)
    for rows in (1, 2, 4):
        total = 0.0
        for draws in itertools.product(population, repeat=rows):
            weights = np.array([n / largest for n, _, _ in draws])
            leads = weights * np.array([d for _, d, _ in draws])
            total += math.prod(p for _, _, p in draws) * math.exp(log_evidence(leads, weights, truth))
            at = [log_evidence(leads, weights, d) for d in (-0.9, -0.3, 0.0, 0.4, 1.0)]
            assert at == sorted(at, reverse=True)
        assert total == pytest.approx(1.0, abs=1e-9)


def test_without_a_bound_on_sizes_nothing_is_proven() -> None:
    """The counter-example: divided by the largest size drawn, the mean of the evidence is above 1."""
    population, total = [(1, 1.0, 0.9), (9, -1.0, 0.1)], 0.0
    for draws in itertools.product(population, repeat=4):
        largest = max(n for n, _, _ in draws)
        weights = np.array([n / largest for n, _, _ in draws])
        leads = weights * np.array([d for _, d, _ in draws])
        total += math.prod(p for _, _, p in draws) * math.exp(log_evidence(leads, weights, 0.0))
    assert total > 1.5


def test_weighted_pairs_count_the_rows_that_both_arms_have() -> None:
    """In whatever order arms take them, the ends are those of the rows that are common."""
    rng, sizes = np.random.default_rng(2), [1, 4, 2, 3, 4, 1, 2, 3]
    rows = rng.random((8, 3)) * np.array(sizes)[:, None] / 4.0
    together, apart = (Weighted(sizes, 6, 3, math.log(6.0 / 0.1)) for _ in range(2))
    for c, row in enumerate(rows):
        together.take(row, row, [0, 1, 2], np.zeros(3), c)
    for arms, count in (([0, 1], 8), ([2], 5)):
        for c, row in enumerate(rows[:count]):
            seen = np.where(np.isin(range(3), arms), row, 7.0)
            apart.take(seen, seen, arms, np.zeros(3), c)
    assert apart.leads(0, 1.0)[1] == together.leads(0, 1.0)[1]
    short = Weighted(sizes, 6, 3, math.log(6.0 / 0.1))
    for c, row in enumerate(rows[:5]):
        short.take(row, row, [0, 1, 2], np.zeros(3), c)
    assert apart.leads(2, 1.0) == short.leads(2, 1.0)
    assert apart.rows() == 8
    weights = np.array(sizes) / 4.0
    lead = together.leads(0, 1.0)[1]
    assert lead is not None
    assert lead.estimate == pytest.approx((rows[:, 0] - rows[:, 1]).sum() / weights.sum())
