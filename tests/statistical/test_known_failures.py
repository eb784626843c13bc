"""Published strategies where they fail, each shown once, and what repairs it.

Seeds are fixed, so nothing is left to chance: bounds lie well inside of what was measured.
"""

from __future__ import annotations

import truebest
from support.amounts import amount, once_more

pytestmark = once_more
LINEAR = tuple(1.0 - 0.1 * a for a in range(10))
EQUAL = (0.3, 0.0, 0.0, 0.0, 0.0)
RUNS = amount(20, 60)


def mean_samples(strategy: str | truebest.Strategy, means: tuple[float, ...], runs: int = RUNS) -> float:
    """Of runs on the same rewards, cut off at 100,000 samples."""
    options = {"runs": runs, "stopping": "mixture", "max_samples": 100_000}
    return truebest.simulate(strategy, means, 0.05, **options).cells[0].mean_samples  # type: ignore[arg-type]


def test_t3c_starves_easy_arms_on_linear_gaps() -> None:
    """40% more samples than with forced exploration, on the same rewards."""
    forced = mean_samples(truebest.TopTwo("thompson", forced=True), LINEAR)
    assert mean_samples("t3c", LINEAR) > 1.25 * forced
    ids = truebest.TopTwo("thompson", split="ids", forced=True)
    assert mean_samples("t3c-ids", LINEAR) > 1.25 * mean_samples(ids, LINEAR)


def test_the_cheapest_challenger_of_the_best_starves_an_unlucky_best_arm() -> None:
    """EB-TC: some runs go on for 100,000 samples where 1800 are usual; a penalty or forcing repairs it."""
    assert mean_samples(truebest.TopTwo(), EQUAL) > 3.0 * mean_samples("eb-tci", EQUAL)
    assert mean_samples(truebest.TopTwo(forced=True), EQUAL) < 1.2 * mean_samples("eb-tci", EQUAL)


def test_a_slack_beyond_the_gaps_costs_samples() -> None:
    """EB-TC-ε with ε = 0.1 where gaps are 0.05 and more: its challengers are too far away."""
    close = tuple(0.5 - 0.05 * a for a in range(10))
    assert mean_samples("eb-tc-eps", close, 20) > 1.3 * mean_samples("eb-tci", close, 20)


def test_rejected_arms_are_fed_unless_only_open_ones_are_sampled() -> None:
    """Track-and-Stop and Best Challenger against the same on open arms, and its optimal weights."""
    pruned = mean_samples(truebest.TrackAndStop("D", open_only=True), LINEAR)
    assert mean_samples("tas-d", LINEAR) > 1.2 * pruned
    assert mean_samples("fws", LINEAR) > 1.1 * pruned
    assert mean_samples("ebs-open-need", LINEAR) < 1.05 * pruned
