"""Means drawn from their posterior, and drawn given that another arm than the leader is best.

A mean is drawn from N(m_a, v_a/N_a); for successes from Beta(1 + successes, 1 + failures); for counts and
times from a normal distribution of their variance.

To draw until another arm than B is best takes e^W draws for evidence W. The same law, exactly, in a few:

    λ_a   tilts the densities of θ_a and θ_B by e^(λT), T = θ, or logit θ for successes, to one common mean
    M_a   E e^(λ_a D), D = T(θ_a) - T(θ_B); 1 if a is ahead of B, where λ_a = 0
    propose a in proportion to M_a, (θ_a, θ_B) tilted, all other θ as they are
    accept if D > 0, with probability e^(-λ_a D) over the number of arms above θ_B; the answer is argmax θ

A proposal's density times its acceptance is f(θ)/Σ M over the number of arms above θ_B, for each of these.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array
from .divergences import BERNOULLI_MODEL, side, variance
from .layout import MEANS, MODEL, NO_ARM, OUT, PULLS, VARIANCES
from .random import BETA, Words, next_word, normal, other_reward, uniform

PROPOSALS = 10_000  # at most; evidence of W nats takes some 4 √W


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]), i8)")
def posterior(params: Array, state: Array, arm: int) -> tuple[float, float]:
    """Mean and variance; for successes the mean, less its sign, and 1 + successes + failures + 2."""
    n, mean = state[PULLS, arm], state[MEANS, arm]
    if params[MODEL] < BERNOULLI_MODEL:
        return mean, state[VARIANCES, arm] / n
    if params[MODEL] == BERNOULLI_MODEL:
        return (n * abs(mean) + 1.0) / (n + 2.0), n + 2.0
    spread, _ = variance(params[MODEL], (n * abs(mean) + 1.0) / (n + 1.0))
    return mean, spread / n


@kernel("f8(const(f8[::1]), f8, f8, u8[::1])", apart=True)
def draw_from(params: Array, mean: float, width: float, random: Words) -> float:
    """A mean from a posterior, as `posterior` describes it."""
    if params[MODEL] != BERNOULLI_MODEL:
        return float(mean + normal(random) * math.sqrt(width))
    return side(params) * other_reward(
        BETA, mean, math.sqrt(mean * (1.0 - mean) / (width + 1.0)), next_word(random)
    )


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, u8[::1])")
def draw(params: Array, state: Array, arm: int, random: Words) -> float:
    """A mean from the posterior of an arm."""
    mean, width = posterior(params, state, arm)
    return draw_from(params, mean, width, random)


@kernel("UniTuple(f8, 4)(const(f8[::1]), const(f8[:, ::1]), i8, i8)")
def tilted(params: Array, state: Array, b: int, a: int) -> tuple[float, float, float, float]:
    """The means of b and of a as they are tilted, λ, and log M."""
    m_b, w_b = posterior(params, state, b)
    m_a, w_a = posterior(params, state, a)
    if params[MODEL] == BERNOULLI_MODEL:
        rise = side(params) * (m_b - m_a) / (w_b + w_a)
        if rise <= 0.0:
            return m_b, m_a, 0.0, 0.0
        m = (m_b * w_b + m_a * w_a) / (w_b + w_a)
        log_m = math.lgamma(m * w_b) + math.lgamma((1.0 - m) * w_b)
        log_m += math.lgamma(m * w_a) + math.lgamma((1.0 - m) * w_a)
        log_m -= math.lgamma(m_b * w_b) + math.lgamma((1.0 - m_b) * w_b)
        log_m -= math.lgamma(m_a * w_a) + math.lgamma((1.0 - m_a) * w_a)
        return m, m, rise * w_b * w_a, log_m
    gap, width = m_b - m_a, w_b + w_a
    if gap <= 0.0 or width == math.inf:
        return m_b, m_a, 0.0, 0.0
    m = (m_b * w_a + m_a * w_b) / width
    return m, m, gap / width, -0.5 * gap * gap / width


@kernel("f8(const(f8[::1]), f8, f8)")
def ahead_by(params: Array, one: float, other: float) -> float:
    """D: T(one) - T(other)."""
    if params[MODEL] != BERNOULLI_MODEL:
        return one - other
    p, q = min(abs(one), 1.0 - 1e-16), max(abs(other), 1e-300)
    if side(params) < 0.0:
        p, q = max(abs(one), 1e-300), min(abs(other), 1.0 - 1e-16)
    return float(side(params) * math.log(p / q * ((1.0 - q) / (1.0 - p))))


@kernel("i8(const(f8[::1]), const(f8[:, ::1]), i8, f8[::1], u8[::1])", apart=True)
def best_of_others(params: Array, state: Array, b: int, room: Array, random: Words) -> int:
    """The best arm in a draw in which b is not; NO_ARM where b is alone, or no proposal was accepted.

    room  (K,) to work in
    """
    top, total = -math.inf, 0.0
    for a in range(room.size):
        room[a] = -math.inf
        if a != b and state[OUT, a] == 0.0:
            _, _, _, room[a] = tilted(params, state, b, a)
            top = max(top, room[a])
    if top == -math.inf:
        return NO_ARM
    for a in range(room.size):
        room[a] = math.exp(room[a] - top)
        total += room[a]
    for _ in range(PROPOSALS):
        a, left = NO_ARM, uniform(random) * total
        for c in range(room.size):
            if room[c] > 0.0 and left >= 0.0:
                a = c
                left -= room[c]
        m_b, m_a, rate, _ = tilted(params, state, b, a)
        _, w_b = posterior(params, state, b)
        _, w_a = posterior(params, state, a)
        floor, value = draw_from(params, m_b, w_b, random), draw_from(params, m_a, w_a, random)
        if value <= floor:
            continue
        if rate > 0.0 and uniform(random) >= math.exp(-rate * ahead_by(params, value, floor)):
            continue
        best, above = a, 1.0
        for c in range(room.size):
            if c != a and c != b and state[OUT, c] == 0.0:
                other = draw(params, state, c, random)
                if other > floor:
                    above += 1.0
                if other > value:
                    best, value = c, other
        if uniform(random) * above < 1.0:
            return best
    return NO_ARM
