"""The tilt rule: its formula to the last digits, the martingale by enumeration, and certified minima.

The statements are those of docs/proofs.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest

import truebest
from support.tilts import mixed, sizes, weights
from truebest.kernels._types import Array
from truebest.kernels.decision import take
from truebest.kernels.layout import MEANS, PULLS
from truebest.kernels.rules import ceilings, tilt
from truebest.theory.models import Bounded, Gaussian, Model
from truebest.theory.tilt import FormerTilt, Tilt

UNIT, PAIRS = Bounded(0.0, 1.0), Tilt(share=0.0)


def state_of(values: list[Array], model: Model = UNIT, rule: Tilt = PAIRS) -> tuple[Array, Array]:
    """Parameters and the state after these values of each arm."""
    params, state = rule.parameters(model, len(values), 0.05), rule.blank(model, len(values))
    for arm, given in enumerate(values):
        for value in given:
            take(params, state, arm, 1.0, float(value))
    return params, state


def literal(up: Array, down: Array, version: int, least: float) -> Callable[[float, float], mp.mpf]:
    """(m, d) -> f(m, d) as it is written, with 40 digits; what is of the values alone is computed once."""
    with mp.workdps(40):
        kappa, matrix = [mp.expm1(e) for e in sizes()], weights(2, version, least)
        rises = [mp.fprod(1 + k * mp.mpf(float(v)) for v in up) for k in kappa]
        falls = [mp.fprod(1 + k * (1 - mp.mpf(float(v))) for v in down) for k in kappa]

    def f(m: float, d: float) -> mp.mpf:
        with mp.workdps(40):
            x, y = mp.mpf(m) + mp.mpf(d), mp.mpf(m)
            ups = [rise / (1 + k * x) ** len(up) for k, rise in zip(kappa, rises, strict=True)]
            downs = [fall / (1 + k * (1 - y)) ** len(down) for k, fall in zip(kappa, falls, strict=True)]
            return mixed(matrix, ups, downs)

    return f


def samples(rng: np.random.Generator, kind: str, size: int, mean: float = 0.4) -> Array:
    """Successes and failures, values between, or a mixture of both."""
    if kind == "coins":
        return (rng.random(size) < mean).astype(float)
    if kind == "between":
        return rng.beta(5 * mean, 5 * (1 - mean), size)
    return np.round(4 * rng.random(size)) / 4


@pytest.mark.parametrize(("version", "budget"), [(2, 0), (3, 0), (3, 40), (3, 900)])
@pytest.mark.parametrize("kind", ["coins", "between", "some at the ends"])
def test_the_formula(kind: str, version: int, budget: int) -> None:
    """Against 40 digits, at the ends of the range, too; and its slopes against differences."""
    rng, rule = np.random.default_rng(1), (FormerTilt if version == 2 else Tilt)(share=0.0, budget=budget)
    least = math.sqrt(-8.0 * math.log(0.05) / budget) if budget else 0.0
    for _ in range(4):
        up, down = samples(rng, kind, int(rng.integers(1, 40))), samples(rng, kind, int(rng.integers(1, 40)))
        params, state = state_of([up, down], rule=rule)
        f = literal(up, down, version, least)
        for m, d in [(0.3, 0.0), (0.5, 0.1), (0.9, -0.3), (0.0, 0.0), (1.0, -1.0), (0.001, 0.0)]:
            value, in_m, in_d = tilt.evidence(params, state, 0, 1, m, d, 0.0)
            assert value == pytest.approx(float(f(m, d)), rel=1e-13, abs=1e-13)
            if 0.1 < m < 0.9 or d:
                h = 1e-6
                if m - h > 0 and m + h < 1 and m + d - h > 0:
                    more, less = (tilt.evidence(params, state, 0, 1, m + e, d, 0.0)[0] for e in (h, -h))
                    assert in_m == pytest.approx((more - less) / (2 * h), rel=1e-4, abs=1e-4)
                    more, less = (tilt.evidence(params, state, 0, 1, m, d + e, 0.0)[0] for e in (h, -h))
                    assert in_d == pytest.approx((more - less) / (2 * h), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("budget", [0, 10, 1000])
@pytest.mark.parametrize("num_arms", [2, 5])
def test_the_weights_are_of_sum_one(num_arms: int, budget: int) -> None:
    """As they are written, and as the kernel has them; so f is 0 before the first value."""
    assert float(sum(map(sum, weights(num_arms, 3, 0.01 * budget)))) == pytest.approx(1.0, abs=1e-15)
    params, state = state_of([np.array([])] * num_arms, rule=Tilt(share=0.0, budget=budget))
    assert tilt.evidence(params, state, 0, 1, 0.3, 0.2, 0.0) == pytest.approx((0.0, 0.0, 0.0), abs=1e-14)


@pytest.mark.parametrize("sizes_of", [(400, 400), (40, 1200), (2000, 20)])
def test_never_far_behind_the_former_weights(sizes_of: tuple[int, int]) -> None:
    """At most log 5 nats less, however samples are spread; more where they are even and tell."""
    rng = np.random.default_rng(17)
    for low in (0.3, 0.4):
        values = [samples(rng, "coins", n, mean) for n, mean in zip(sizes_of, (0.5, low), strict=True)]
        found = []
        for rule in (FormerTilt(share=0.0), Tilt(share=0.0)):
            params, state = state_of(values, rule=rule)
            found.append(tilt.minimum(params, state, 0, 1, 0.0, 0.45, -math.inf, math.inf, 0.0)[0])
        assert found[1] >= found[0] - math.log(5.0)
        assert found[1] > found[0] + 0.5 or low == 0.4 or sizes_of[0] != sizes_of[1]


def test_successes_counted_or_summed_are_the_same() -> None:
    """Values at the ends are counted; as sums of logarithms, like all others, they give the same evidence."""
    rng = np.random.default_rng(2)
    values = [samples(rng, "coins", 70), samples(rng, "coins", 90)]
    params, counted = state_of(values)
    summed = counted.copy()
    for arm in range(2):
        for k in range(tilt.NODES):
            summed[tilt.UP + k, arm] = counted[tilt.TOP, arm] * math.log1p(tilt.KAPPA[k])
            summed[tilt.DOWN + k, arm] = counted[tilt.BOTTOM, arm] * math.log1p(tilt.KAPPA[k])
    summed[[tilt.TOP, tilt.BOTTOM]] = 0.0
    for m in (0.1, 0.4, 0.9):
        one = tilt.evidence(params, counted, 0, 1, m, 0.0, 0.0)
        assert one == pytest.approx(tilt.evidence(params, summed, 0, 1, m, 0.0, 0.0), rel=1e-12)


def chosen(history: tuple[tuple[int, float], ...]) -> int:
    """A sampling rule that looks at everything: the arm that did worse, or by parity."""
    sums, counts = [0.0, 0.0], [0, 0]
    for arm, value in history:
        sums[arm] += value
        counts[arm] += 1
    if len(history) < 2:
        return len(history)
    means = [sums[a] / counts[a] if counts[a] else 0.5 for a in range(2)]
    return int(means[0] > means[1]) if len(history) % 3 else int(sums[0] + sums[1]) % 2


@pytest.mark.parametrize("means", [(0.5, 0.5), (0.2, 0.7), (0.05, 0.05)])
def test_the_mean_of_the_martingale_is_one(means: tuple[float, float]) -> None:
    """All 2^9 outcomes of nine adaptive samples: E exp f(μ_a, μ_b - μ_a) = 1; at other means it is not."""
    expected, elsewhere = 0.0, 0.0
    for outcome in itertools.product((0.0, 1.0), repeat=9):
        history: tuple[tuple[int, float], ...] = ()
        probability = 1.0
        for value in outcome:
            arm = chosen(history)
            probability *= means[arm] if value else 1.0 - means[arm]
            history = (*history, (arm, value))
        params, state = state_of([np.array([v for a, v in history if a == arm]) for arm in range(2)])
        at = tilt.evidence(params, state, 0, 1, means[1], means[0] - means[1], 0.0)[0]
        expected += probability * math.exp(at)
        wrong = tilt.evidence(params, state, 0, 1, means[1] + 0.1, means[0] - means[1] - 0.15, 0.0)[0]
        elsewhere += probability * math.exp(wrong)
    assert expected == pytest.approx(1.0, abs=1e-12)
    assert elsewhere > 1.0 + 1e-3  # the negative control: the tested means are too low for arm b


@pytest.mark.parametrize("kind", ["coins", "between"])
def test_the_minimum_is_certified(kind: str) -> None:
    """The lower bound is below every point of a grid, and so near the upper one that both are the minimum."""
    rng = np.random.default_rng(4)
    for _ in range(25):
        means = rng.random(2) * rng.choice([0.05, 1.0])
        values = [samples(rng, kind, int(rng.integers(1, 800)), mean) for mean in np.clip(means, 0.01, 0.99)]
        params, state = state_of(values)
        for d in (0.0, -0.05, 0.1, -0.9):
            low, high = tilt.ends(params, d)
            start = tilt.pooled(params, state, 0, 1)
            lower, upper, m = tilt.minimum(params, state, 0, 1, d, start, -math.inf, math.inf, 0.0)
            grid = min(tilt.evidence(params, state, 0, 1, x, d, 0.0)[0] for x in np.linspace(low, high, 301))
            assert lower <= grid + 1e-9
            assert 0.0 <= upper - lower <= 1e-9 * max(1.0, abs(upper))
            assert low <= m <= high
            assert ceilings.ceiling(params, state, 0, 1, d, 0.0) >= lower - 1e-9


@pytest.mark.parametrize("model", [UNIT, Gaussian(0.5)], ids=str)
def test_a_search_that_ends_early_decides_as_one_that_does_not(model: Model) -> None:
    """Above a level when the certified minimum is, and not when the minimum is not; and it does end early."""
    rng, early = np.random.default_rng(6), 0
    for _ in range(60):
        values = [samples(rng, "between", int(rng.integers(5, 400)), 0.4 + s) for s in (0.25, 0.0)]
        params, state = state_of(values, model)
        start = tilt.pooled(params, state, 0, 1)
        least, _, _ = tilt.minimum(params, state, 0, 1, 0.0, start, -math.inf, math.inf, 0.0)
        for below in (2.0, 0.1, 1e-3, 1e-9, -1e-9, -1e-3, -0.1):
            level = least - below * max(1.0, least)
            found, _, _ = tilt.minimum(params, state, 0, 1, 0.0, start, level, level, 0.0)
            assert (found > level) == (least > level)
            assert found <= least + tilt.CLOSE * max(1.0, least)  # either is certified, and below the minimum
            found, _, _ = tilt.minimum(params, state, 0, 1, 0.0, start, -math.inf, level, 0.0)
            assert level < found <= least if least > level else found == least
            early += level < found < least
    assert early > 60


@pytest.mark.parametrize("model", [UNIT, Gaussian(0.5), Gaussian((0.5, 0.9))], ids=str)
def test_ends_of_intervals_agree_with_the_decision(model: Model) -> None:
    """The lower end is above 0 exactly when the pair passes; there, Λ is the level, to 1e-6 of a nat."""
    rng, passed = np.random.default_rng(5), 0
    for _ in range(60):
        shift = rng.choice([0.0, 0.1, 0.3])
        values = [samples(rng, "coins", int(rng.integers(5, 400)), 0.4 + s) for s in (shift, 0.0)]
        params, state = state_of(values, model)
        level = 3.0
        end = tilt.lower_end(params, state, 0, 1, level)
        least, _, _ = tilt.minimum(
            params, state, 0, 1, 0.0, tilt.pooled(params, state, 0, 1), -math.inf, math.inf, 0.0
        )
        assert (end > 0.0) == (least > level)
        passed += least > level
        if end > -1.0 or model is not UNIT:
            start = tilt.pooled(params, state, 0, 1)
            at, _, _ = tilt.minimum(params, state, 0, 1, end, start, -math.inf, math.inf, 0.0)
            assert level - 1e-9 <= at <= level + 1e-5
        for tolerance in (0.02, 0.1):
            inside, _, _ = tilt.minimum(params, state, 0, 1, -tolerance, 0.4, -math.inf, math.inf, 0.0)
            assert inside >= least - 1e-9  # Λ falls in d
    assert 5 < passed < 55


def test_bounded_values_have_at_least_the_evidence_of_coins_and_these_of_sub_gaussian_ones() -> None:
    """Pathwise, for every m: f of the values, of successes of the same mean, of sub-Gaussian values."""
    rng = np.random.default_rng(6)
    for _ in range(30):
        values = [samples(rng, "between", int(rng.integers(2, 300)), mean) for mean in (0.6, 0.4)]
        params, state = state_of(values)
        coins = state.copy()
        coins[tilt.TOP] = [v.sum() for v in values]
        coins[tilt.BOTTOM] = state[PULLS] - coins[tilt.TOP]
        coins[tilt.UP :] = 0.0
        plain, normal = state_of(values, Gaussian(0.5))
        for m in np.linspace(0.05, 0.95, 7):
            own = tilt.evidence(params, state, 0, 1, m, 0.0, 0.0)[0]
            kl = tilt.evidence(params, coins, 0, 1, m, 0.0, 0.0)[0]
            scale = tilt.evidence(plain, normal, 0, 1, m / 0.5, 0.0, 0.0)[0]
            assert own >= kl - 1e-9 >= scale - 2e-9
        seen = Tilt().evaluate(state[PULLS], [v.mean() for v in values], 0.05, model=UNIT)
        least, _, _ = tilt.minimum(params, state, 0, 1, 0.0, 0.5, -math.inf, math.inf, 0.0)
        assert seen.statistic <= least + 1e-9 or state[MEANS, 0] < state[MEANS, 1]


@pytest.mark.parametrize("model", [UNIT, Gaussian(0.5)], ids=str)
def test_the_evidence_is_jointly_convex(model: Model) -> None:
    """Between any two points (m, d) it is at most the mean of its values there."""
    rng = np.random.default_rng(8)
    params, state = state_of([samples(rng, "between", 80, mean) for mean in (0.6, 0.4)], model)
    for _ in range(300):
        (m, d), (k, e) = ((y, x - y) for x, y in rng.random((2, 2)))
        one, two = (
            tilt.evidence(params, state, 0, 1, m, d, 0.0)[0],
            tilt.evidence(params, state, 0, 1, k, e, 0.0)[0],
        )
        assert (
            tilt.evidence(params, state, 0, 1, 0.5 * (m + k), 0.5 * (d + e), 0.0)[0]
            <= 0.5 * (one + two) + 1e-9
        )


def test_only_the_leader_can_be_declared() -> None:
    """By Jensen's inequality an arm whose mean is not larger has no evidence for it."""
    rng = np.random.default_rng(7)
    for kind in ("coins", "between"):
        for _ in range(40):
            values = [
                samples(rng, kind, int(rng.integers(1, 200)), mean) for mean in rng.uniform(0.05, 0.95, 2)
            ]
            params, state = state_of(values)
            b, a = (0, 1) if values[0].mean() <= values[1].mean() else (1, 0)
            start = tilt.pooled(params, state, b, a)
            least, _, _ = tilt.minimum(params, state, b, a, 0.0, start, -math.inf, math.inf, 0.0)
            assert least <= 1e-9


def test_no_strategy_errs_more_often_than_delta() -> None:
    """Dynamic programming over all adaptive strategies: the largest P(arm 0 is declared) for equal coins.

    Neither arm is worse, so this is the limit of errors. At a quarter of the level it is above delta: the
    negative control.
    """
    delta, most = 0.05, 26
    params = Tilt().parameters(UNIT, 2, delta)
    level = Tilt().level(2, delta)

    def worst(level: float) -> float:
        declared = {}
        for n, m in itertools.product(range(most + 1), repeat=2):
            if n + m <= most:
                for s, r in itertools.product(range(n + 1), range(m + 1)):
                    _, state = empty
                    state[PULLS], state[tilt.TOP], state[tilt.BOTTOM] = (n, m), (s, r), (n - s, m - r)
                    state[MEANS] = 2.0 * s / max(n, 1), 2.0 * r / max(m, 1)
                    passes = False
                    if n and m and s * m > r * n and ceilings.ceiling(params, state, 0, 1, 0.0, 0.0) > level:
                        passes = tilt.minimum(params, state, 0, 1, 0.0, 0.5, level, level, 0.0)[0] > level
                    declared[n, s, m, r] = passes
        value: dict[tuple[int, int, int, int], float] = {}
        for n, m in sorted(itertools.product(range(most + 1), repeat=2), key=sum, reverse=True):
            if n + m > most:
                continue
            for s, r in itertools.product(range(n + 1), range(m + 1)):
                if declared[n, s, m, r]:
                    value[n, s, m, r] = 1.0
                elif n + m == most:
                    value[n, s, m, r] = 0.0
                else:
                    one = 0.5 * (value[n + 1, s, m, r] + value[n + 1, s + 1, m, r])
                    two = 0.5 * (value[n, s, m + 1, r] + value[n, s, m + 1, r + 1])
                    value[n, s, m, r] = max(one, two)
        return value[0, 0, 0, 0]

    empty = params, Tilt().blank(UNIT, 2)
    assert 0.0 < worst(level) < 0.25 * delta
    assert worst(0.25 * level) > delta


@pytest.mark.parametrize("model", [UNIT, Gaussian(0.5), Gaussian((0.5, 0.01))], ids=str)
def test_more_data_of_one_arm_never_costs_all_evidence(model: Model) -> None:
    """A control arm known to a millionth decides no later than after a few more samples of the other."""
    needed = []
    for control in (10**3, 10**5, 10**7, 10**9):
        n = next(
            n for n in range(1, 400) if Tilt().evaluate([n, control], [0.9, 0.5], 0.05, model=model).decided
        )
        needed.append(n)
    assert max(needed) <= 2 * needed[0] + 10
    params, state = state_of([np.array([0.9]), np.array([0.1])], Gaussian(0.01))
    state[PULLS] = 1.0, 1e9
    state[MEANS] = 100.0, 0.0
    least, upper, _ = tilt.minimum(
        params, state, 0, 1, 0.0, tilt.pooled(params, state, 0, 1), -math.inf, math.inf, 0.0
    )
    assert 5.0 < least <= upper < math.inf


def test_a_tolerance_beyond_the_bounds_is_met_by_anybody() -> None:
    """It is cut at the width of the bounds, where every arm is within it."""
    for tolerance in (1.0, 1.001, 5.0):
        found = truebest.simulate(
            "tas-c",
            [0.6, 0.59],
            0.05,
            rewards="bernoulli",
            stopping="tilt",
            tolerance=tolerance,
            runs=20,
            seed=1,
        )
        assert found.cells[0].mean_samples < 40
        seen = Tilt().evaluate([3, 3], [0.4, 0.6], 0.05, model=UNIT, tolerance=tolerance)
        assert math.isfinite(seen.statistic)


def test_bad_input() -> None:
    """A spacing that is none, means that cannot be."""
    with pytest.raises(
        truebest.InvalidInputError, match=r"spacing must lie between 0 and 0.1, got 0.5; 0 asks"
    ):
        Tilt(spacing=0.5)
    with pytest.raises(
        truebest.InvalidInputError, match=r"within the bounds \[0, 1\], got 1.5; give the bounds"
    ):
        Tilt().evaluate([10, 10], [1.5, 0.5], 0.05, model=UNIT)
