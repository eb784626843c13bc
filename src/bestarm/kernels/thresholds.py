"""Stopping rules and confidence widths, in units of σ.

A stopping rule compares the leader with each other arm: stop when the smallest of the pair statistics
exceeds a threshold. For a given number of arms and delta a rule is three numbers:

    code    one of the constants below
    level   the part of the threshold that does not depend on the time; never above the threshold
    scale   alpha for GK16, c for MIXTURE, unused by the others
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array, Indices
from .glr import leading_arm, pair_cost

PRACTICAL, GK16, KAUFMANN_KOOLEN, MIXTURE = 0, 1, 2, 3
WIDTH_PAPER, WIDTH_EXPERIMENTS, WIDTH_MIXTURE = 0, 1, 2
MIXTURE_C = 20.0  # default of the rule and of the width: the prior has the weight of 20 pulls


@kernel("f8(i8, f8, f8, f8)")
def threshold(code: int, level: float, scale: float, t: float) -> float:
    """The threshold at time t >= 1."""
    if code == PRACTICAL:
        return level + math.log(1.0 + math.log(t))
    if code == GK16:
        return level + scale * math.log(t)
    if code == KAUFMANN_KOOLEN:
        return level + 4.0 * math.log(4.0 + math.log(0.5 * t))
    return level


@kernel("void(i8, f8, f8, const(f8[::1]), f8[::1])")
def threshold_rows(code: int, level: float, scale: float, t: Array, value: Array) -> None:
    """`threshold` for every entry."""
    for i in range(t.size):
        value[i] = threshold(code, level, scale, t[i])


@kernel("f8(f8, f8, f8)")
def mixture_penalty(n_b: float, n_a: float, c: float) -> float:
    """½ log((1 + N_b/c)(1 + N_a/c)): what mixing over a normal prior of variance 1/c costs."""
    return 0.5 * (math.log1p(n_b / c) + math.log1p(n_a / c))


@kernel("f8(i8, f8, f8, f8, f8)")
def pair_statistic(code: int, scale: float, n_b: float, n_a: float, gap: float) -> float:
    """The statistic of one pair: Z_{b,a}, or for MIXTURE the logarithm of its supermartingale."""
    if code != MIXTURE:
        return pair_cost(n_b, n_a, gap)
    m_b = n_b * (n_b / (n_b + scale))
    m_a = n_a * (n_a / (n_a + scale))
    return pair_cost(m_b, m_a, gap) - mixture_penalty(n_b, n_a, scale)


@kernel("f8(i8, f8, f8, f8, f8)")
def pair_half_width(code: int, scale: float, bound: float, n_b: float, n_a: float) -> float:
    """Half-width of the interval for μ_b - μ_a that excludes 0 exactly when the pair exceeds `bound`."""
    if n_b == 0.0 or n_a == 0.0:
        return math.inf
    if code != MIXTURE:
        return math.sqrt(2.0 * bound * (1.0 / n_b + 1.0 / n_a))
    inverse = (1.0 + scale / n_b) / n_b + (1.0 + scale / n_a) / n_a  # 1/N'_b + 1/N'_a
    return math.sqrt(2.0 * inverse * (bound + mixture_penalty(n_b, n_a, scale)))


@kernel("void(i8, f8, const(f8[::1]), const(f8[::1]), const(f8[::1]), f8[::1])")
def pair_half_width_rows(code: int, scale: float, bound: Array, n_b: Array, n_a: Array, half: Array) -> None:
    """`pair_half_width` for every entry."""
    for i in range(n_b.size):
        half[i] = pair_half_width(code, scale, bound[i], n_b[i], n_a[i])


@kernel("Tuple((f8, i8))(i8, f8, const(f8[::1]), const(f8[::1]))")
def rule_statistic(code: int, scale: float, pulls: Array, means: Array) -> tuple[float, int]:
    """The smallest pair statistic of the leader, and the leader."""
    b = leading_arm(pulls, means)
    least = math.inf
    for a in range(means.size):
        if a != b:
            gap = means[b] - means[a]
            least = min(least, pair_statistic(code, scale, pulls[b], pulls[a], gap))
    return least, b


@kernel("b1(i8, f8, f8, i8, const(f8[::1]), const(f8[::1]), const(f8[::1]))")
def may_stop(
    code: int, bound: float, scale: float, leader: int, pulls: Array, means: Array, penalty: Array
) -> bool:
    """A cheap necessary condition for stopping, where the threshold is at least `bound`.

    Every pair's cost must exceed the bound and the pair's penalties: `penalty` is ½ log(1 + N/c) per arm
    for MIXTURE, zero for the others. No logarithm, no division but for MIXTURE, and usually the first or
    second arm answers. The tiny allowance keeps rounding from ruling out what `rule_statistic` admits.
    """
    b = leader
    mixture = code == MIXTURE
    n_b = pulls[b] * (pulls[b] / (pulls[b] + scale)) if mixture else pulls[b]
    at_least = 2.0 * (1.0 - 1e-12) * (bound + penalty[b])
    for a in range(means.size):
        if a != b:
            gap = means[b] - means[a]
            n_a = pulls[a]
            if mixture:
                n_a *= n_a / (n_a + scale)
            if n_b * n_a * gap * gap <= (at_least + 2.0 * penalty[a]) * (n_b + n_a):
                return False
    return True


@kernel("void(i8, f8, const(f8[:, ::1]), const(f8[:, ::1]), f8[::1], i8[::1])")
def rule_statistic_rows(
    code: int, scale: float, pulls: Array, means: Array, statistic: Array, leader: Indices
) -> None:
    """`rule_statistic` for every row."""
    for i in range(means.shape[0]):
        statistic[i], leader[i] = rule_statistic(code, scale, pulls[i], means[i])


@kernel("f8(i8, f8, f8)")
def half_width(code: int, level: float, n: float) -> float:
    """Half-width of an arm's confidence interval after n pulls, inf after none.

    level is log(K/γ) for every code; the constants inside the logarithm are added here.
    """
    if n == 0.0:
        return math.inf
    if code == WIDTH_PAPER:
        return 2.0 * math.sqrt((level + math.log(4.0) + math.log(n)) / n)  # (3)
    if code == WIDTH_EXPERIMENTS:
        return math.sqrt((level + math.log(n)) / n)
    c = MIXTURE_C
    return math.sqrt(2.0 * (level + 0.5 * math.log1p(n / c)) * (1.0 + c / n) / n)


@kernel("void(i8, f8, const(f8[::1]), f8[::1])")
def half_width_rows(code: int, level: float, pulls: Array, width: Array) -> None:
    """`half_width` for every entry."""
    for i in range(pulls.size):
        width[i] = half_width(code, level, pulls[i])
