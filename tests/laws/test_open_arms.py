"""Open arms (docs/proofs.md, Theorems 7 to 9): who is ruled out, how others are sampled, that runs end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import binom

import truebest
from support.amounts import amount, once_more
from support.bandits import gap_vectors
from truebest.kernels.decision import take
from truebest.kernels.layout import LEVEL
from truebest.strategies.open_ebs import fill_variances
from truebest.theory.stopping import StoppingRule

MEANS = (0.9, 0.8, 0.6, 0.4, 0.4)
KINDS = ("equal", "gaps", "need")
OPEN: list[truebest.Strategy] = [
    *map(truebest.OpenEBS, KINDS),
    truebest.TrackAndStop("D", open_only=True),
    truebest.TrackAndStop("C", open_only=True),
    truebest.EBS("D", open_only=True),
    truebest.EBS("C", open_only=True),
]
every_open = pytest.mark.parametrize("strategy", OPEN, ids=lambda one: one.name)


@given(gap_vectors(min_arms=2, max_arms=12, smallest=1e-2))
def test_no_bandit_has_a_larger_smallest_weight_than_equal_gaps(gaps: np.ndarray) -> None:
    """Theorem 13: at most 1/(k + √k), and less by what the gaps differ."""
    k = gaps.size - 1
    most = 1.0 / (k + math.sqrt(k))
    assert truebest.optimal_weights(-gaps).weights.min() <= most * (1.0 + 1e-12)
    equal = truebest.optimal_weights(np.r_[0.0, np.full(k, -gaps[1])]).weights
    np.testing.assert_allclose(equal, [math.sqrt(k) * most, *[most] * k], rtol=1e-12)


@pytest.mark.parametrize("stopping", ["mixture", "practical", "tilt", "kaufmann-koolen"])
def test_equal_targets_are_the_weights_of_equal_gaps(stopping: str) -> None:
    """Theorem 13 along a run: on the arms that are left, with one of them in the place of the best."""
    path = truebest.trace(
        truebest.OpenEBS("equal"), MEANS, 0.1, seed=2, stopping=stopping, max_samples=20_000
    )
    assert path.target is not None
    numbers = set()
    for target in path.target[:-1:7]:
        w = np.sort(target[target > 0.0])
        numbers.add(w.size)
        np.testing.assert_allclose(
            w, np.sort(truebest.optimal_weights(np.eye(w.size)[0]).weights), rtol=1e-12
        )
    assert {2, 5} <= numbers


@pytest.mark.parametrize("limits", [(0.0, 1.0), (-30.0, 10.0)])
def test_variances_are_those_of_values_beside_coins_of_the_same_mean(limits: tuple[float, float]) -> None:
    """√(s max s), s = (Σ(x - mean)² + L)/(n p(1-p) + L) for values in [0, 1]: 1 for 0s and 1s of any mean."""
    rng, (low, high), rule = np.random.default_rng(1), limits, truebest.Tilt()
    model, kinds = (
        truebest.Bounded(low, high),
        (rng.random(40), rng.random(9) < 0.1, 0.4 + 0.1 * rng.random(700)),
    )
    strategy = truebest.OpenEBS()
    params = np.r_[
        rule.parameters(model, 3, 0.1, offset=model.origin(1.0) or 0.0), strategy.parameters(3, model.unit)
    ]
    state, found = rule.blank(model, 3), np.zeros(3)
    for arm, values in enumerate(kinds):
        for x in values:
            take(params, state, arm, 1.0, low + (high - low) * float(x))
    fill_variances(params, state, 0, found)
    s = [
        (x.var() * x.size + params[LEVEL]) / (x.size * x.mean() * (1 - x.mean()) + params[LEVEL])
        for x in kinds
    ]
    assert s[1] == pytest.approx(1.0, abs=1e-12)
    assert s[2] < 0.05
    np.testing.assert_allclose(found, np.sqrt(np.array(s) * max(s)), rtol=1e-9)
    before = np.r_[params[:-1], 1.0]
    fill_variances(before, state, 0, found)
    assert found.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("kind", ["equal", "gaps"])
def test_coins_are_sampled_as_if_variances_were_equal(kind: str) -> None:
    """The same arms all along, at rates of 0.99 and 0.5, too."""
    given: dict[str, Any] = {
        "rewards": "bernoulli",
        "model": truebest.Bounded(0.0, 1.0),
        "stopping": "tilt",
        "max_samples": 500,
    }
    for means in ((0.99, 0.5), (0.9, 0.8, 0.05)):
        one, other = (
            truebest.trace(truebest.OpenEBS(kind, version=version), means, 0.01, **given)
            for version in (1, 2)
        )
        assert one.arm.tolist() == other.arm.tolist()


@every_open
@pytest.mark.parametrize("stopping", ["mixture", "practical", "tilt"])
def test_a_settled_arm_is_never_pulled_again(strategy: truebest.Strategy, stopping: str) -> None:
    """An arm that is out, which has no mean any more, stays out; the last step leaves one, the declared."""
    path = truebest.trace(strategy, MEANS, 0.1, seed=5, stopping=stopping, max_samples=20_000)
    out = np.isneginf(path.means)
    assert (out[1:] >= out[:-1]).all()
    assert not out[1:][np.arange(path.arm.size - 1), path.arm[:-1]].any()  # what is ruled out shows next time
    assert out[-1].sum() == len(MEANS) - 2
    assert path.recommended == 0
    assert path.target is not None
    assert (path.target[:-1][out[1:]] == 0.0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_no_open_arm_starves(kind: str) -> None:
    """The lemma of Theorem 14, on equal arms, none of which is to be ruled out: √t pulls and more."""
    for run in range(4):
        strategy, equal = truebest.OpenEBS(kind), (0.0,) * 6
        path = truebest.trace(strategy, equal, 1e-9, run=run, stopping="mixture", max_samples=30_000)
        assert path.recommended is None
        late = path.pulls[1000:]
        assert (late.min(axis=1) >= np.sqrt(path.time[1000:])).all()
        if kind == "equal":
            assert (late.min(axis=1) >= late.max(axis=1) / (5 + math.sqrt(5)) - 1).all()


def test_need_follows_its_sums() -> None:
    """The lemma of Theorem 14: N - S is bounded, whatever happens to the targets."""
    strategy, equal = truebest.OpenEBS("need"), (0.0,) * 4
    path = truebest.trace(strategy, equal, 1e-9, stopping="mixture", max_samples=20_000)
    assert path.target is not None
    sums = np.cumsum(path.target[:-1], axis=0)
    assert np.abs(path.pulls[:-1] - sums).max() < 5.0
    assert path.target[:-1].min() > 0.19 / (3 + math.sqrt(3))


@every_open
@pytest.mark.parametrize("stopping", ["practical", "kaufmann-koolen", "mixture", "student", "tilt"])
def test_runs_end_if_means_differ(strategy: truebest.Strategy, stopping: str) -> None:
    """Theorem 14; also under rules and for strategies that it is not about."""
    model = truebest.Student() if stopping == "student" else None
    options = {"stopping": stopping, "model": model, "max_samples": 200_000, "runs": 20}
    found = truebest.simulate(strategy, (1.0, 0.6, 0.4, 0.2), 0.1, **options).cells[0]  # type: ignore[arg-type]
    assert found.censored == 0


@dataclass(frozen=True)
class Hasty(truebest.Mixture):
    """The mixture with a level of 0 whatever δ is, which is wrong."""

    name = "hasty"

    def level(self, num_arms: int, delta: float) -> float:
        return 0.0 * super().level(num_arms, delta)


RUNS, DELTA = amount(150, 400), 0.2


def errors(strategy: truebest.Strategy, rule: str | StoppingRule, tolerance: float = 0.0) -> int:
    means = (0.3, 0.1, 0.0, 0.0) if tolerance else (0.03, 0.0, 0.0, 0.0)
    options = {"runs": RUNS, "seed": 3, "stopping": rule, "tolerance": tolerance, "max_samples": 20_000}
    return truebest.simulate(strategy, means, DELTA, **options).cells[0].errors  # type: ignore[arg-type]


@once_more
@every_open
def test_the_best_arm_is_seldom_ruled_out(strategy: truebest.Strategy) -> None:
    """Theorem 12, without and with a tolerance. If the error were δ, more errors than this: 1 in 10,000."""
    most = binom.isf(1e-4, RUNS, DELTA)
    assert errors(strategy, "mixture") <= most
    assert errors(strategy, "mixture", 0.15) <= most


@once_more
def test_a_level_that_is_too_low_is_noticed() -> None:
    """The negative control, with the same arms."""
    assert errors(truebest.OpenEBS("equal"), Hasty()) > binom.isf(1e-4, RUNS, DELTA)


def test_under_a_tolerance_what_need_not_be_told_apart_is_left_alone() -> None:
    """Two arms that nearly tie and one far below: fewer samples than without it, and few of the third."""
    means, options = (0.5, 0.49, 0.0), {"runs": 10, "stopping": "mixture", "max_samples": 400_000}
    for kind in KINDS:
        strategy = truebest.OpenEBS(kind)
        exact = truebest.simulate(strategy, means, 0.1, **options).cells[0]  # type: ignore[arg-type]
        within = truebest.simulate(strategy, means, 0.1, tolerance=0.1, **options).cells[0]  # type: ignore[arg-type]
        assert within.errors == 0
        assert within.mean_samples < 0.2 * exact.mean_samples
        assert within.mean_pulls[2] < 0.5 * within.mean_pulls[0]
