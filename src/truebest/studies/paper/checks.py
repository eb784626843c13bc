"""One check per numbered statement of the paper, on random instances; `claims` has the table of them.

A check takes a generator and a number of instances, and returns how many were tried and how many break the
statement, in its corrected form where it fails as printed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...simulation.trace import Trace, trace
from ...strategies import EBS
from ...theory.complexity import complexity_bounds, optimal_weights
from ...theory.exploration import exploration_biased_weights
from ...theory.guarantees import non_asymptotic_bound, regularity_bounds
from ...theory.statistics import confidence_width
from ...theory.statistics import evidence_rate as g

Array = npt.NDArray[np.float64]

SLACK = 1e-11  # relative: rounding of both sides


# --- random instances ---------------------------------------------------------------------------------


def _gaps(rng: np.random.Generator, n: int, num_arms: int = 6) -> Array:
    """Bandits with gaps from 1e-3 to 1, the best arm first."""
    gaps = np.exp(rng.uniform(np.log(1e-3), 0.0, (n, num_arms)))
    gaps[:, 0] = 0.0
    return gaps


def _boxes(rng: np.random.Generator, n: int, num_arms: int = 4) -> tuple[Array, Array]:
    low = rng.uniform(0.0, 1.0, (n, num_arms))
    return low, low + rng.uniform(0.01, 1.0, low.shape) * (1.0 - low) + 1e-6


def _count(broken: npt.ArrayLike) -> tuple[int, int]:
    flags = np.asarray(broken)
    return int(flags.size), int(flags.sum())


def _w(gaps: Array) -> Array:
    return optimal_weights(gaps=gaps).weights


def _phi(r: Array, gaps: Array) -> Array:
    total: Array = (1.0 / (r[:, None] * gaps[:, 1:] ** 2 - 1.0) ** 2).sum(axis=1) - 1.0
    return total


# --- one check per statement ----------------------------------------------------------------------------


def proposition_1(rng: np.random.Generator, n: int) -> tuple[int, int]:
    low, high = _boxes(rng, n)
    reached = exploration_biased_weights(low, high).weights.min(axis=1)
    broken = np.zeros(n, dtype=bool)
    for _ in range(20):
        ends = np.where(rng.random(low.shape) < 0.5, low, high)
        for rival in (ends, rng.uniform(low, high)):
            broken |= optimal_weights(rival).weights.min(axis=1) > reached * (1 + SLACK)
    return _count(broken)


def lemma_2(rng: np.random.Generator, n: int) -> tuple[int, int]:
    """Broken if more than γ n and four standard errors of the paths leave some interval up to N = 1000."""
    pulls = np.arange(1, 1001)
    width = confidence_width(pulls, 0.1, 3)
    missed = sum(
        bool((np.abs(np.cumsum(rng.standard_normal((3, 1000)), axis=1) / pulls) > width).any())
        for _ in range(n)
    )
    return n, int(missed > 0.1 * n + 4 * np.sqrt(0.09 * n))


def _paths(rng: np.random.Generator, n: int, width: str = "paper") -> list[Trace]:
    paths = []
    for i in range(max(1, n // 50)):
        means = rng.uniform(0.0, 1.0, int(rng.integers(2, 6)))
        seed = int(rng.integers(2**32))
        paths.append(trace(EBS("C", 0.1, width), means, 0.01, seed=seed, run=i, max_samples=3000))
    return paths


def lemma_3(rng: np.random.Generator, n: int) -> tuple[int, int]:
    """The corrected rate, at every step of the paths."""
    tried = broken = 0
    for path in _paths(rng, n):
        assert path.lower is not None
        assert path.upper is not None
        K, gamma = path.pulls.shape[1], 0.1
        spread = float((path.upper.max(axis=1) - path.lower.min(axis=1)).max())
        s = np.arange(1.0, 3001.0)
        start = s[8 * np.log(4 * K * s / gamma) <= s * spread**2]
        if start.size == 0:
            continue
        s_0 = start[0]
        t = path.time[path.time >= s_0].astype(float)
        logs = np.log(4 * K * t / gamma) ** 2 - np.log(4 * K * s_0 / gamma) ** 2
        rate = 4 / (K * spread**2) * logs + s_0 / K - K
        least = path.pulls[path.time >= s_0].min(axis=1)
        tried += t.size
        broken += int((least < rate - 1e-9).sum())
    return tried, broken


def lemma_7(rng: np.random.Generator, n: int) -> tuple[int, int]:
    gaps = _gaps(rng, n)
    pole = 1.0 / gaps[:, 1:].min(axis=1) ** 2
    a, b = (pole * (1.0 + rng.uniform(0.01, 5.0, n)) for _ in range(2))
    low, high = np.minimum(a, b), np.maximum(a, b) * (1 + 1e-6)
    f_low, f_high, middle = _phi(low, gaps), _phi(high, gaps), _phi((low + high) / 2, gaps)
    return _count((f_low <= f_high) | (middle > (f_low + f_high) / 2 + SLACK * (1 + np.abs(f_low))))


def proposition_8(rng: np.random.Generator, n: int) -> tuple[int, int]:
    gaps = _gaps(rng, n)
    found = optimal_weights(gaps=gaps)
    root = (_phi(found.ratio * (1 - 1e-10), gaps) > 0) & (_phi(found.ratio * (1 + 1e-10), gaps) < 0)
    norm = np.sqrt((found.weights[:, 1:] ** 2).sum(axis=1))
    value = g(-gaps, found.weights)
    rival = g(-gaps, rng.dirichlet(np.ones(gaps.shape[1]), n))
    good = (
        root
        & np.isclose(norm, found.weights[:, 0], rtol=1e-10)
        & np.isclose(value * found.time, 1, rtol=1e-10)
    )
    return _count(~good | (rival > value * (1 + SLACK)))


def corollary_9(rng: np.random.Generator, n: int) -> tuple[int, int]:
    gaps = np.sort(_gaps(rng, n), axis=1)
    return _count((np.diff(_w(gaps), axis=1) >= 0).any(axis=1))


def proposition_10(rng: np.random.Generator, n: int) -> tuple[int, int]:
    gaps = _gaps(rng, n)
    found, bounds = optimal_weights(gaps=gaps), complexity_bounds(gaps=gaps)
    one = 1 + SLACK
    top = found.weights.max(axis=1)
    good = (bounds.ratio_lower <= found.ratio * one) & (found.ratio <= bounds.ratio_upper * one)
    good &= (bounds.max_weight_lower <= top * one) & (top <= bounds.max_weight_upper * one)
    good &= (bounds.time_lower <= found.time * one) & (found.time <= bounds.time_upper * one)
    return _count(~good)


def lemma_11(rng: np.random.Generator, n: int) -> tuple[int, int]:
    gaps = _gaps(rng, n)
    moved = gaps.copy()
    moved[:, 1] *= 1.0 + rng.uniform(0.01, 1.0, n)
    before, after = optimal_weights(gaps=gaps), optimal_weights(gaps=moved)
    good = after.weights[:, 1] < before.weights[:, 1]
    good &= (after.weights[:, 2:] >= before.weights[:, 2:] * (1 - SLACK)).all(axis=1)
    return _count(~(good & (after.time <= before.time * (1 + SLACK))))


def lemma_12(rng: np.random.Generator, n: int) -> tuple[int, int]:
    gaps = _gaps(rng, n)
    raised = gaps + rng.uniform(0.01, 1.0, (n, 1))
    raised[:, 0] = 0.0
    return _count(_w(raised).min(axis=1) < _w(gaps).min(axis=1) * (1 - SLACK))


def lemma_13(rng: np.random.Generator, n: int) -> tuple[int, int]:
    gaps = _gaps(rng, n)
    level = gaps.max(axis=1, keepdims=True) * rng.uniform(0.3, 1.0, (n, 1))
    return _count(_w(np.minimum(gaps, level)).min(axis=1) < _w(gaps).min(axis=1) * (1 - SLACK))


def theorem_14(rng: np.random.Generator, n: int) -> tuple[int, int]:
    gaps = _gaps(rng, n)
    broken = 0
    for i, epsilon in enumerate(rng.uniform(0.0, 0.95, n)):
        ends = rng.choice([1 - epsilon, 1 + epsilon], gaps.shape[1])
        one, two = optimal_weights(gaps=gaps[i]), optimal_weights(gaps=gaps[i] * np.sqrt(ends))
        ratio, change = two.time / one.time, two.weights / one.weights
        good = True
        for version in ("sharper", "printed") if epsilon <= 1 / 7 else ("sharper",):
            b = regularity_bounds(float(epsilon), version=version)
            good &= bool(b.time_lower * (1 - SLACK) <= ratio <= b.time_upper * (1 + SLACK))
            good &= bool(
                (b.weight_lower - SLACK <= change).all() and (change <= b.weight_upper * (1 + SLACK)).all()
            )
        broken += not good
    return n, broken


def _near(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array, Array, Array]:
    """Means, moved means, optimal weights, other weights, and η, for η <= 1."""
    mu = 1.0 - _gaps(rng, n)
    other = np.clip(mu + rng.uniform(-0.2, 0.2, mu.shape), 0.0, 1.0)
    w = optimal_weights(mu).weights
    v = w * rng.uniform(0.5, 1.5, w.shape)
    v /= v.sum(axis=1, keepdims=True)
    eta = (np.abs(w - v) / w).max(axis=1)
    keep = eta <= 1.0
    return mu[keep], other[keep], w[keep], v[keep], eta[keep]


def proposition_15(rng: np.random.Generator, n: int) -> tuple[int, int]:
    mu, other, w, v, eta = _near(rng, n)
    epsilon = np.abs(mu - other).max(axis=1)
    return _count(g(other, v) < (1 - eta) ** 2 / (1 + eta) * (g(mu, w) - epsilon / 2) - 1e-15)


def lemma_16(rng: np.random.Generator, n: int) -> tuple[int, int]:
    gaps = _gaps(rng, n)
    scaled = gaps * 10.0 ** rng.uniform(-50, 50, (n, 1))
    return _count(~np.isclose(_w(gaps), _w(scaled), rtol=1e-12, atol=0).all(axis=1))


def lemma_17(rng: np.random.Generator, n: int) -> tuple[int, int]:
    mu, other, w, _, _ = _near(rng, n)
    return _count(g(other, w) < g(mu, w) - np.abs(mu - other).max(axis=1) / 2 - 1e-15)


def lemma_18(rng: np.random.Generator, n: int) -> tuple[int, int]:
    mu, _, w, v, eta = _near(rng, n)
    return _count(g(mu, v) < (1 - eta) ** 2 / (1 + eta) * g(mu, w) * (1 - SLACK))


def lemma_25(rng: np.random.Generator, n: int) -> tuple[int, int]:
    tried = broken = 0
    for path in _paths(rng, n, "experiments"):
        K = path.pulls.shape[1]
        assert path.target is not None
        sums = 1.0 + np.vstack([np.zeros(K), np.cumsum(path.target[:-1], axis=0)])
        deviation = np.abs(path.pulls - sums).max(axis=1)
        tried += deviation.size
        broken += int((deviation > K - 1 + 1e-6).sum())
    return tried, broken


def lemma_26(rng: np.random.Generator, n: int) -> tuple[int, int]:
    c_1, c_2 = 10.0 ** rng.uniform(-6, 3, n), 10.0 ** rng.uniform(-3, 6, n)
    x = 2 / c_1 * np.log(c_2 * np.e / c_1)
    c_1, c_2, x = c_1[x > 0], c_2[x > 0], x[x > 0]
    return _count(c_1 * x < np.log(c_2 * x) - 1e-12)


def lemma_28(rng: np.random.Generator, n: int) -> tuple[int, int]:
    gaps = _gaps(rng, n)
    bound = complexity_bounds(gaps=gaps).min_weight_lower
    return _count(_w(gaps).min(axis=1) < bound * (1 - SLACK))


def lemma_29(rng: np.random.Generator, n: int) -> tuple[int, int]:
    low, high = _boxes(rng, n)
    apart = low.max(axis=1) > high.min(axis=1)
    low, high = low[apart], high[apart]
    bandit = np.sort(exploration_biased_weights(low, high).bandit, axis=1)
    return _count(bandit[:, -1] - bandit[:, -2] < (high - low).min(axis=1) * (1 - 1e-9))


def theorem_5(rng: np.random.Generator, n: int) -> tuple[int, int]:
    """The corrected constants satisfy conditions (C1) and (C3) of the proof."""
    mu = 1.0 - np.maximum(_gaps(rng, max(1, n // 20), 4), 0.01 * (np.arange(4) > 0))
    bound, inner = non_asymptotic_bound(mu), non_asymptotic_bound(mu, eta=1 / 7)
    good = bound.time * bound.log_inverse_delta_0 >= inner.t_1
    return _count(~(good & (bound.log_inverse_delta_0 >= 8 * 7**3)))
