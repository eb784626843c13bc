"""How often a statement about items like these is wrong, and what makes it wrong far more often.

Closed sets are drawn from a population in which all arms are equal, which is the hardest case: any difference
that is proven is wrong. A test allows MOST runs with a wrong end, ever: if the probability were δ itself,
more are seen with probability 1e-6. The negative controls read something else as a statement about the
population, and must exceed MOST. Seeds are fixed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from support.amounts import amount, once_more
from truebest.designs import Rounds
from truebest.experiment.population import Evidence, Weighted
from truebest.kernels import paired
from truebest.kernels._types import Array

pytestmark = once_more
DELTA, RUNS, ITEMS, EVERY = 0.2, amount(150, 300), 150, 5
MOST = int(stats.binom.isf(1e-6, RUNS, DELTA))


def coins(rng: np.random.Generator, num_arms: int, share: float = 0.5) -> Array:
    """0/1 scores with mean ½ for every arm, on items of which a share is easy or hard for all arms alike."""
    alone = rng.random((ITEMS, num_arms)) < 0.5
    common = rng.random((ITEMS, 1)) < 0.5
    return np.where(rng.random((ITEMS, 1)) < share, common, alone).astype(float)


def ever_wrong(rows: Array, scale: float = 1.0) -> bool:
    """Whether any end of any pair is ever on the wrong side of 0, looked at after every few rows.

    scale  what 1/delta of the level is multiplied by: 1/(K(K-1)) leaves log(1/delta) for each end
    """
    K = rows.shape[1]
    likes = Evidence(Rounds(len(rows)), K, DELTA / scale)
    for n, row in enumerate(rows, 1):
        likes.take(row, row, range(K), np.zeros(K))
        if n % EVERY == 0:
            for b in range(K):
                if any(lead is not None and lead.low > 0.0 for lead in likes.leads(b, 1.0)):
                    return True
    return False


def declares(rows: Array) -> bool:
    """Whether the closed set's own rule declares an arm, or its sums do, which are rarely equal."""
    K, design = rows.shape[1], Rounds(len(rows))
    params, (pairs, arms) = design.parameters(K, DELTA), design.blank(K)
    found = paired.GO_ON
    for row in rows:
        found = paired.play_round(params, row, row, pairs, arms)
        if found != paired.GO_ON:
            break
    tied = rows.sum(axis=0)
    return bool(found >= 0 and (tied == tied[found]).sum() == 1)


def tastes(rng: np.random.Generator, epochs: int) -> Array:
    """0/1 answers, items x epochs x two arms: each arm likes other items, and both are equal on average."""
    chance = rng.beta(0.5, 0.5, (ITEMS, 1, 2))
    return (rng.random((ITEMS, epochs, 2)) < chance).astype(float)


@pytest.mark.parametrize("num_arms", [2, 4])
def test_no_end_is_wrong_more_often_than_promised(num_arms: int) -> None:
    """Of all pairs together, whichever arm leads."""
    rng = np.random.default_rng(num_arms)
    wrong = sum(ever_wrong(coins(rng, num_arms, 0.2)) for _ in range(RUNS))
    assert wrong <= MOST


def test_each_end_at_the_level_of_one_is_wrong_too_often() -> None:
    """Negative control: with four arms, log(1/delta) for each of twelve ends."""
    rng = np.random.default_rng(7)
    wrong = sum(ever_wrong(coins(rng, 4, 0.2), 1.0 / 12.0) for _ in range(RUNS))
    assert wrong > MOST


def test_the_answer_about_these_items_is_none_about_items_like_these() -> None:
    """Negative control: of two arms that are equal in the population one is declared on nearly every set."""
    rng = np.random.default_rng(9)
    wrong = sum(declares(coins(rng, 2)) for _ in range(RUNS))
    assert wrong > 0.8 * RUNS > MOST


def test_items_that_were_chosen_by_hand_prove_what_is_false() -> None:
    """Negative control: a set of which the hard items for one arm were left out."""
    rng, wrong = np.random.default_rng(11), 0
    for _ in range(RUNS):
        rows = coins(rng, 2)
        wrong += ever_wrong(rows[(rows[:, 0] >= rows[:, 1]) | (rng.random(ITEMS) < 0.1)])
    assert wrong > 0.8 * RUNS > MOST


def test_the_level_is_of_all_ends() -> None:
    """So that of two arms both are at log(2/delta)."""
    assert Evidence(Rounds(9), 2, DELTA)._level == pytest.approx(math.log(2.0 / DELTA))


def test_an_item_counts_as_one_however_often_it_is_answered() -> None:
    """With ten epochs, the means of the answers are the values of an item."""
    rng = np.random.default_rng(13)
    assert sum(ever_wrong(tastes(rng, 10).mean(axis=1)) for _ in range(RUNS)) <= MOST


def test_epochs_that_are_counted_as_items_prove_what_is_false() -> None:
    """Negative control: the same answers, each of them a row of its own."""
    rng = np.random.default_rng(13)
    wrong = sum(ever_wrong(tastes(rng, 10).reshape(-1, 2)) for _ in range(RUNS))
    assert wrong > 0.5 * RUNS > MOST


def talks(rng: np.random.Generator, clusters: int) -> tuple[Array, Array]:
    """Sizes 1 and 10, and clusters x two arms: one is right on small clusters, the other on large ones."""
    large = rng.random(clusters) < 0.1
    sizes = np.where(large, 10, 1)
    first = np.where(large, rng.random(clusters) < 0.5, rng.random(clusters) < 0.9).astype(float)
    # By items: 0.9 * 0.9 + 0.1 * 10 * 0.5 = 1.31 of 1.9, as for the second arm.
    second = (rng.random(clusters) < 1.31 / 1.9).astype(float)
    return sizes, np.stack([first, second], axis=1)


def wrong_by_items(rng: np.random.Generator, alike: bool, clusters: int = 400) -> bool:
    """Whether an end is on the wrong side of 0 after all clusters, or half of them."""
    sizes, rows = talks(rng, clusters)
    weighted = Weighted([1, 10], 10, 2, math.log(2.0 / DELTA))
    means = Evidence(Rounds(clusters), 2, DELTA)
    for n, (size, row) in enumerate(zip(sizes, rows, strict=True), 1):
        if alike:
            means.take(row, row, range(2), np.zeros(2))
        else:
            weighted.take(size / 10.0 * row, size / 10.0 * row, range(2), np.zeros(2), int(size > 1))
        if n in (clusters // 2, clusters):
            leads = (means if alike else weighted).leads(0, 1.0)
            if any(lead is not None and (lead.low > 0.0 or lead.high < 0.0) for lead in leads):
                return True
    return False


def test_clusters_of_unequal_sizes_are_weighed_by_their_items() -> None:
    """Two arms that are equal by items, of which one is better on small clusters."""
    rng = np.random.default_rng(17)
    assert sum(wrong_by_items(rng, alike=False) for _ in range(RUNS)) <= MOST


def test_clusters_counted_alike_prove_what_is_false_of_items() -> None:
    """Negative control: of the same clusters, each counting one."""
    rng = np.random.default_rng(17)
    assert sum(wrong_by_items(rng, alike=True) for _ in range(RUNS)) > 0.8 * RUNS > MOST


def alike_within(rng: np.random.Generator, size: int) -> Array:
    """0/1 scores, clusters x items x two arms that are equal on average: each arm likes other clusters."""
    chance = rng.beta(0.5, 0.5, (ITEMS, 1, 2))
    return (rng.random((ITEMS, size, 2)) < chance).astype(float)


def test_items_of_a_cluster_that_are_counted_apart_prove_what_is_false() -> None:
    """Negative control, and its remedy: the cluster counts as one."""
    rng = np.random.default_rng(19)
    sets = [alike_within(rng, 8) for _ in range(RUNS)]
    assert sum(ever_wrong(one.reshape(-1, 2)) for one in sets) > 0.4 * RUNS > MOST
    assert sum(ever_wrong(one.mean(axis=1)) for one in sets) <= MOST
