"""The paper's pseudo-code as printed, compiled by the same Numba: what a straightforward port costs."""

from __future__ import annotations

import math

import numba
import numpy as np

from truebest.kernels._types import Array
from truebest.kernels.random import GAUSSIAN, Words, open_stream, reward

_jit = numba.njit(nogil=True, error_model="numpy")


@_jit
def optimal_weights(mu: Array, w: Array) -> None:
    """Algorithm 4, to a tolerance of 1e-10; several best arms share the weight."""
    K, best, ties = mu.size, 0, 0
    for a in range(K):
        if mu[a] > mu[best]:
            best = a
    smallest, total = math.inf, 0.0
    for a in range(K):
        gap = mu[best] - mu[a]
        if gap == 0.0:
            ties += 1
        else:
            smallest = min(smallest, gap * gap)
            total += gap * gap
    if ties > 1:
        for a in range(K):
            w[a] = 1.0 / ties if mu[a] == mu[best] else 0.0
        return
    r = max(2.0 / smallest, (1.0 + math.sqrt(K - 1.0)) / (total / (K - 1.0)))
    for _ in range(100):
        phi, slope = -1.0, 0.0
        for a in range(K):
            if a != best:
                d = (mu[best] - mu[a]) ** 2
                phi += 1.0 / (r * d - 1.0) ** 2
                slope -= 2.0 * d / (r * d - 1.0) ** 3
        if abs(phi) < 1e-10:
            break
        r -= phi / slope
    total = 1.0
    for a in range(K):
        if a != best:
            total += 1.0 / (r * (mu[best] - mu[a]) ** 2 - 1.0)
    for a in range(K):
        w[a] = 1.0 / total / (r * (mu[best] - mu[a]) ** 2 - 1.0)
    w[best] = 1.0 / total


@_jit
def exploration_biased_weights(lower: Array, upper: Array, w: Array, test: Array, v: Array) -> None:
    """Algorithm 1: every potential best arm is tried."""
    K = lower.size
    max_lower, min_upper = lower.max(), upper.min()
    if min_upper >= max_lower:
        w[:] = 1.0 / K
        return
    w[:] = 0.0
    for a in range(K):
        if upper[a] > max_lower:
            for b in range(K):
                test[b] = max(lower[b], min_upper)
            test[a] = upper[a]
            optimal_weights(test, v)
            if v.min() > w.min():
                w[:] = v


@_jit
def statistic(pulls: Array, means: Array) -> float:
    """Z(t) as printed: over all pairs of arms."""
    K, z = means.size, -math.inf
    for a in range(K):
        least = math.inf
        for b in range(K):
            if b != a:
                gap = means[a] - means[b]
                least = min(least, 0.5 * pulls[a] * pulls[b] / (pulls[a] + pulls[b]) * gap * abs(gap))
        z = max(z, least)
    return z


@_jit
def run(ebs: bool, seed: int, index: int, mu: Array, delta: float, gamma: float, limit: int) -> int:
    """Algorithm 2 or 3 with D-tracking; returns the number of samples."""
    K = mu.size
    pulls, sums, means, w = np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(K)
    lower, upper, test, v = np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(K)
    streams = np.zeros((K, 2), dtype=np.uint64)
    for a in range(K):
        open_stream(np.uint64(seed), np.uint64(index), np.uint64(a), streams[a])
        sums[a] = means[a] = reward(GAUSSIAN, mu[a], 1.0, streams[a])
        pulls[a] = 1.0
    t = K
    while t < limit and statistic(pulls, means) <= math.log((math.log(t) + 1.0) / delta):
        arm = np.argmin(pulls)
        if ebs:
            for a in range(K):
                width = math.sqrt(math.log(K * pulls[a] / gamma) / pulls[a])
                lower[a], upper[a] = means[a] - width, means[a] + width
            exploration_biased_weights(lower, upper, w, test, v)
            arm = np.argmin(pulls - t * w)
        elif pulls[arm] >= math.sqrt(t) - K / 2.0:
            optimal_weights(means, w)
            arm = np.argmin(pulls - t * w)
        sums[arm] += reward(GAUSSIAN, mu[arm], 1.0, streams[arm])
        pulls[arm] += 1.0
        means[arm] = sums[arm] / pulls[arm]
        t += 1
    return t


@_jit
def total_samples(ebs: bool, runs: int, seed: int, mu: Array, delta: float, gamma: float, limit: int) -> int:
    """The samples of so many runs together."""
    total = 0
    for index in range(runs):
        total += run(ebs, seed, index, mu, delta, gamma, limit)
    return total


@_jit
def draw(stream: Words, count: int) -> float:
    """The sum of so many Gaussian rewards: the cost of drawing alone."""
    total = 0.0
    for _ in range(count):
        total += reward(GAUSSIAN, 0.5, 1.0, stream)
    return total
