"""The Student rule: its formulas to the last digits, martingales by integration, and certified minima.

The statements are those of docs/proofs.md.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, stats

import truebest
from truebest.kernels import best, rules
from truebest.kernels._types import Array
from truebest.kernels.decision import take
from truebest.kernels.rules import student
from truebest.theory.models import Bounded, Gaussian, Student
from truebest.theory.student import FormerStudentRule, StudentRule

LEVEL = StudentRule().level(2, 0.05)


def state_of(values: list[Array], tolerance: float = 0.0) -> tuple[Array, Array]:
    """Parameters and the state after these values of each arm."""
    rule, model = StudentRule(), Student()
    params, state = rule.parameters(model, len(values), 0.05, tolerance), rule.blank(model, len(values))
    for arm, given in enumerate(values):
        for value in given:
            take(params, state, arm, 1.0, float(value))
    return params, state


def log_ratio(n: int, c: float, s: float) -> mp.mpf:
    """The likelihood ratio itself, with 40 digits: ½ log(1-ρ) - ½N log(1-ρs²) + log 2F(z), F of Student."""
    with mp.workdps(40):
        rho, s = mp.mpf(n) / (n + mp.mpf(c)), mp.mpf(s)
        power = -mp.mpf(n) / 2 * mp.log(1 - rho * s**2)
        z2 = n * mp.expm1(2 * power / n)
        beyond = mp.betainc(mp.mpf(n) / 2, mp.mpf("0.5"), 0, n / (n + z2), regularized=True)  # P(|T| > z)
        twice = beyond if s < 0 else 2 - beyond
        return mp.log(1 - rho) / 2 + power + mp.log(twice)


def bound(n: int, c: float, s: float) -> mp.mpf:
    """E_c(s) as docs/proofs.md has it."""
    with mp.workdps(40):
        rho, s = mp.mpf(n) / (n + mp.mpf(c)), mp.mpf(s)
        if s >= 0:
            return mp.sqrt(1 - rho) * (2 * (1 - rho * s**2) ** (-mp.mpf(n) / 2) - 1)
        q = mp.sqrt(n * rho) * abs(s)
        return mp.sqrt(1 - rho) * mp.exp(q**2 / 2) * mp.erfc(q / mp.sqrt(2))


PLACES = (-1.0, -0.9, -0.3, -0.01, 0.0, 0.01, 0.1, 0.5, 0.99, 1.0)


@pytest.mark.parametrize("n", [1, 2, 7, 60, 900, 40_000])
def test_the_formula(n: int) -> None:
    """log E(s) against 40 digits, at the ends, too; and its slope against a difference of the literal one."""
    weights = [mp.mpf(w) / 9 for w in ("1", "3", "3", "1.5", "0.5")]
    scales = [mp.mpf(16) ** j for j in range(5)]
    for s in PLACES:
        want = mp.log(mp.fsum(w * bound(n, c, s) for w, c in zip(weights, scales, strict=True)))
        value, slope = student.arm_evidence(float(n), s, s < 0.0)
        assert value == pytest.approx(float(want), rel=1e-12, abs=1e-9)  # 1e-10 where the series is cut off
        if 0.0 < abs(s) < 0.99:
            with mp.workdps(40):
                h = mp.mpf("1e-15")
                more, less = (
                    mp.fsum(w * bound(n, c, mp.mpf(s) + e) for w, c in zip(weights, scales, strict=True))
                    for e in (h, -h)
                )
                assert slope == pytest.approx(float(mp.log((more - less) / (2 * h))), rel=1e-8, abs=1e-7)


@pytest.mark.parametrize("n", [1, 2, 7, 60, 900])
@pytest.mark.parametrize("c", [1.0, 16.0, 4096.0])
def test_the_bound_is_below_the_likelihood_ratio_and_near_it(n: int, c: float) -> None:
    """Below it everywhere; for s >= 0 by 0.35 nats at most; and both rise with s."""
    before = -math.inf
    for s in PLACES:
        exact, ours = float(log_ratio(n, c, s)), float(mp.log(bound(n, c, s)))
        assert ours <= exact + 1e-12
        assert s < 0.0 or ours >= exact - 0.35
        assert ours > before
        before = ours


@pytest.mark.parametrize("n", [2, 5, 30])
@pytest.mark.parametrize("c", [1.0, 16.0, 256.0])
def test_the_mean_of_the_likelihood_ratio_is_one(n: int, c: float) -> None:
    """Under the true mean s√((n-1)/(1-s²)) has Student's distribution; the bound has a smaller mean.

    The negative control: with the mean of the values above the supposed one it is more than 1.
    """

    def mean(value: Any, shift: float) -> float:
        law = stats.nct(n - 1, shift) if shift else stats.t(n - 1)

        def weighed(s: float) -> float:
            t = s * math.sqrt((n - 1) / (1 - s * s))
            return float(law.pdf(t) * math.sqrt(n - 1) * (1 - s * s) ** -1.5 * float(value(n, c, s)))

        parts = [(-1 + 1e-12, -0.5), (-0.5, 0.0), (0.0, 0.5), (0.5, 1 - 1e-12)]
        return float(sum(integrate.quad(weighed, *part, limit=200)[0] for part in parts))

    assert mean(lambda *a: mp.exp(log_ratio(*a)), 0.0) == pytest.approx(1.0, abs=1e-5)
    assert 0.7 < mean(bound, 0.0) < 1.0
    assert mean(lambda *a: mp.exp(log_ratio(*a)), 1.0) > 1.02


def pairs(rng: np.random.Generator, number: int) -> list[tuple[float, float, float, float, float]]:
    """Pulls and spreads of two arms, and a reach: balanced and not, few and many, close and far apart."""
    found = []
    for _ in range(number):
        n_b, n_a = np.floor(10 ** rng.uniform(0.4, 4.5, 2))
        spread_b, spread_a = 10 ** rng.uniform(-2, 2, 2)
        error = math.sqrt(spread_b / n_b + spread_a / n_a)
        found.append((n_b, spread_b, n_a, spread_a, error * 10 ** rng.uniform(-0.5, 1.5)))
    return [tuple(map(float, one)) for one in found]  # type: ignore[misc]


def test_the_minimum_is_certified() -> None:
    """The lower bound is below every point of a grid that reaches far out, and as good as the upper one."""
    for pair in pairs(np.random.default_rng(1), 60):
        reach = pair[4]
        lower, upper = student.minimum(*pair, -math.inf)
        far = np.concatenate([10 ** np.linspace(-6, 9, 300), [math.inf]]) * math.sqrt(pair[1] + pair[3])
        grid = np.concatenate([np.linspace(0.0, reach, 2001), -far, reach + far])
        least = min(student.evidence(*pair, float(m)) for m in grid)
        assert lower <= least + 1e-12
        assert 0.0 <= upper - lower <= 2.1e-8 * max(1.0, abs(upper))
        assert upper <= least + 1e-6 * max(1.0, abs(least))


def test_a_bound_of_an_interval_is_one() -> None:
    """Below f everywhere inside, in short and long intervals, below, between and above the means."""
    rng = np.random.default_rng(2)
    for pair in pairs(rng, 300):
        reach, error = pair[4], math.sqrt(pair[1] / pair[0] + pair[3] / pair[2])
        for low, high in ((-50 * error, 0.0), (0.0, reach), (reach, reach + 50 * error)):
            left, right = np.sort(rng.uniform(low, high, 2))
            if rng.random() < 0.5:  # short, or from a mean on
                left = rng.choice([left, low, high - 1e-3 * error])
                right = min(left + 1e-3 * error, high)
            elif rng.random() < 0.5:
                left, right = (low, right) if rng.random() < 0.5 else (left, high)
            bound_of, at_left, at_right = student.cell(*pair, left, right)
            inside = [student.evidence(*pair, float(m)) for m in np.linspace(left, right, 41)]
            assert (at_left, at_right) == (inside[0], inside[-1])
            assert bound_of <= min(inside) + 1e-11 * max(1.0, abs(min(inside)))


def test_several_minima_are_all_seen() -> None:
    """Few pulls, far apart: f is least near a mean, and larger between them."""
    pair = (6.0, 1e-4, 6.0, 1e-4, 1.0)
    middle = student.evidence(*pair, 0.5)
    lower, upper = student.minimum(*pair, -math.inf)
    assert upper < middle - 3.0
    assert lower <= min(student.evidence(*pair, m) for m in np.linspace(-1.0, 2.0, 30_001)) + 1e-12


def test_the_minimum_is_the_same_uncompiled() -> None:
    """Also where evidence, and so its slope, is beyond the range of doubles; and the ends of intervals."""
    code = """
import json, math
from truebest.kernels.rules import student
pairs = [(50., 1., 50., 1., 1.), (4e4, 1e-6, 4e4, 1e-6, 1.), (1e6, 1., 5., 1e-3, 9.), (3., 1., 1e9, 1., .1)]
found = [*(student.minimum(*pair, -math.inf) for pair in pairs), [student.least_reach(*p, 5.) for p in pairs]]
print(json.dumps(found))
"""
    outputs = []
    for jit in ("0", "1"):
        run = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "TRUEBEST_JIT": jit},
        )
        outputs.append(json.loads(run.stdout))
    for one, other in zip(*outputs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    assert outputs[0][1][0] > 1e4


def test_decisions_agree_with_intervals() -> None:
    """The lower end is above 0 exactly when the pair passes; there, Λ is the level, to 1e-5 of a nat."""
    rng, passed = np.random.default_rng(3), 0
    for _ in range(80):
        n, scale = rng.integers(3, 200, 2), 10 ** rng.uniform(-1, 1, 2)
        shift = rng.uniform(0.0, 8.0) * math.sqrt((scale**2 / n).sum())
        params, state = state_of([rng.normal(shift, scale[0], n[0]), rng.normal(0.0, scale[1], n[1])])
        low, high = rules.pair_interval(params, state, 0, 1, LEVEL)
        least = rules.pair_evidence(params, state, 0, 1, 0.0, -math.inf)
        assert (low > 0.0) == (least > LEVEL) == rules.pair_exceeds(params, state, 0, 1, 0.0, LEVEL)
        assert low < student.difference(params, state, 0, 1) < high
        passed += least > LEVEL
        if math.isfinite(low):
            at = rules.pair_evidence(params, state, 0, 1, -low, -math.inf)
            assert LEVEL - 1e-5 <= at <= LEVEL + 1e-4
    assert 10 < passed < 70


def test_a_result_just_at_the_level_agrees_as_well() -> None:
    """Bounds within 1e-7 of a nat of the statistic, on both sides: the sign of the end is the decision."""
    rng = np.random.default_rng(4)
    params, state = state_of([rng.normal(1.0, 1.0, 60), rng.normal(0.0, 2.0, 80)])
    least = rules.pair_evidence(params, state, 0, 1, 0.0, -math.inf)
    for change in (-1e-7, -1e-9, -1e-12, 0.0, 1e-12, 1e-9, 1e-7):
        low, _ = rules.pair_interval(params, state, 0, 1, least + change)
        assert (low > 0.0) == (least > least + change)


@pytest.mark.parametrize("scale", [2.0**-60, 2.0**20, 1e-9, 1e30])
@pytest.mark.parametrize("minimize", [False, True])
def test_scale_and_sign_change_nothing(scale: float, minimize: bool) -> None:
    """Asks, statistic and decision of an experiment; to the bit for powers of two."""
    ends = []
    for factor in (1.0, -scale if minimize else scale):
        experiment = truebest.Experiment.create(
            "memory:", "x", ["a", "b", "c"], 0.05, model=Student(), seed=1, minimize=factor < 0.0
        )
        rng, asked = np.random.default_rng(5), ""
        while pulls := experiment.ask():
            asked += pulls[0].arm
            place, spread = {"a": (1.0, 1.0), "b": (0.0, 0.3), "c": (0.1, 2.0)}[pulls[0].arm]
            experiment.tell(pulls[0], factor * float(rng.normal(place, spread)))
        status = experiment.status()
        ends.append((asked, status.best, status.progress.statistic))
    assert ends[0][:2] == ends[1][:2] == (ends[0][0], "a")
    exact = math.frexp(scale)[0] == 0.5
    assert ends[1][2] == (ends[0][2] if exact else pytest.approx(ends[0][2], rel=1e-9))


@pytest.mark.parametrize("shift", [2.0**30, -(2.0**33), 2.0**40])
def test_an_offset_changes_nothing(shift: float) -> None:
    """Values that stay exact when it is added: the statistic, to the last bits."""
    rng = np.random.default_rng(6)
    values = [np.round(rng.normal(m, 1.0, 300) * 1024) / 1024 for m in (0.2, 0.0)]
    found = []
    for offset in (0.0, shift):
        params, state = state_of([x + offset for x in values])
        found.append(rules.pair_evidence(params, state, 0, 1, 0.0, -math.inf))
    assert found[1] == pytest.approx(found[0], rel=1e-12)


@pytest.mark.parametrize(("size", "spread"), [(1e9, 1e-3), (1e9, 1e9), (1e-12, 1e-15), (0.0, 1e-30)])
def test_values_of_any_size(size: float, spread: float) -> None:
    """Two arms one standard deviation apart are told apart, live, after as many samples as near 0."""
    samples = []
    for at, scale in ((0.0, 1.0), (size, spread)):
        experiment = truebest.Experiment.create("memory:", "x", ["a", "b"], model=Student(), seed=1)
        own = {"a": np.random.default_rng(7), "b": np.random.default_rng(8)}
        while pulls := experiment.ask():
            arm = pulls[0].arm
            experiment.tell(pulls[0], at + scale * float(own[arm].normal(float(arm == "a"))))
        assert experiment.status().best == "a"
        samples.append(experiment.status().samples)
    assert samples[1] == samples[0]


@pytest.mark.parametrize("values", [[1.0, 0.0], [1e9, 1e9 - 1e-3], [0.1 + 0.2, 0.3]])
def test_constant_arms_are_never_told_apart(values: list[float]) -> None:
    """Nor a constant one from one that varies, nor one whose values differ by rounding alone."""
    rng = np.random.default_rng(8)
    jitter = np.nextafter(np.full(500, 1.0), rng.choice([0.0, 2.0], 500))
    for given in (
        [np.full(500, x) for x in values],
        [np.full(500, 9.0), rng.normal(size=500)],
        [jitter + 1, jitter],
    ):
        params, state = state_of(given)
        assert not best.stops(params, state, 0.0)
        assert rules.pair_interval(params, state, 0, 1, LEVEL) == (-math.inf, math.inf)
    found = truebest.simulate(
        "tas-d", [1.0, 0.0], noise=0.0, model=Student(), stopping="student", runs=2, max_samples=500
    )
    assert found.cells[0].censored == 2


def test_one_sample_of_an_arm_decides_nothing() -> None:
    """However far away: it has no variance."""
    rng = np.random.default_rng(9)
    params, state = state_of([np.array([1e6]), rng.normal(size=1000)])
    assert not best.stops(params, state, 0.0)
    assert best.verdict(params, state)[0] == -math.inf


@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-9, 1e-200])
@pytest.mark.parametrize("num_arms", [2, 5, 1000])
def test_the_level(num_arms: int, delta: float) -> None:
    """log(K-1) + y, where e^-y (1 + y) = δ; in version 1 e^-x (1 + x) = δ/(K-1), more from K = 3 on."""
    x = StudentRule().level(num_arms, delta)
    y = x - math.log(num_arms - 1)
    assert -y + math.log1p(y) == pytest.approx(math.log(delta), rel=1e-12, abs=1e-12)
    assert x == StudentRule().threshold(10, num_arms, delta)
    former = FormerStudentRule().level(num_arms, delta)
    assert -former + math.log1p(former) == pytest.approx(
        math.log(delta / (num_arms - 1)), rel=1e-12, abs=1e-12
    )
    assert x == pytest.approx(former) if num_arms == 2 else x < former


def test_a_product_of_two_independent_ones_is_rarely_large() -> None:
    """P(UV <= w) = w (1 + log(1/w)) for uniform U and V; four standard errors: a false alarm of 1e-4.

    The negative control: one of them alone would be at w, far below.
    """
    rng, n = np.random.default_rng(10), 400_000
    for w in (0.3, 0.01):
        share = float((rng.random(n) * rng.random(n) <= w).mean())
        want = w * (1.0 + math.log(1.0 / w))
        error = math.sqrt(want * (1.0 - want) / n)
        assert abs(share - want) < 4.0 * error < want - w


def test_evaluate_needs_deviations() -> None:
    """And gives what the values give."""
    rng = np.random.default_rng(11)
    values = [rng.normal(1.0, 1.0, 40), rng.normal(0.0, 3.0, 90), rng.normal(-1.0, 0.2, 30)]
    params, state = state_of(values)
    given = ([len(v) for v in values], [v.mean() for v in values], 0.05)
    deviations = [v.std(ddof=1) for v in values]
    seen = StudentRule().evaluate(*given, deviations=deviations)
    assert seen.statistic == pytest.approx(best.statistic(params, state)[0], rel=1e-9)
    lower, upper = StudentRule().intervals(*given, deviations=deviations)
    assert seen.leader == 0
    assert bool(seen.decided) == bool((lower[1:] > 0.0).all())
    assert (lower[1:] < upper[1:]).all()
    with pytest.raises(truebest.InvalidInputError, match=r"needs deviations=, .* got none; give them beside"):
        StudentRule().evaluate(*given)
    with pytest.raises(truebest.InvalidInputError, match=r"deviations must be at least 0, got -1"):
        StudentRule().evaluate(*given, deviations=[1.0, -1.0, 1.0])


def test_what_is_not_proven_is_refused() -> None:
    """Other rules for Student(), and this rule for other models, live, simulated and evaluated."""
    for name in ("mixture", "tilt", "practical"):
        want = rf"the stopping rule '{name}' cannot compute with the model Student\(\); choose 'student'"
        with pytest.raises(truebest.InvalidInputError, match=want):
            truebest.Experiment.create("memory:", "x", ["a", "b"], model=Student(), stopping=name)
        with pytest.raises(truebest.InvalidInputError, match=want):
            truebest.simulate("uniform", [1.0, 0.0], model=Student(), stopping=name)
    for model in (Gaussian(), Bounded(0.0, 1.0)):
        with pytest.raises(
            truebest.InvalidInputError, match=r"rule 'student' cannot compute with the model .*; choose '[mt]"
        ):
            truebest.Experiment.create("memory:", "x", ["a", "b"], model=model, stopping="student")
        assert not StudentRule().proven_for(model)
    assert StudentRule().proven_for(Student())
    with pytest.raises(truebest.InvalidInputError, match=r"spacing must lie between 0 and 0.1, got 0.5"):
        StudentRule(spacing=0.5)
