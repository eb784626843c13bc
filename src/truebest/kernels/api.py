"""What your own strategy or stopping rule may call: compiled functions that work inside of either.

    uniform(random), normal(random)            the next draw from the strategy's stream
    first_largest(x)                           the lowest index among the largest entries of x
    furthest_behind(pulls, target, t)          the arm whose pulls lie furthest behind t times its target
    transport(n_b, n_a, gap)                   the evidence that an arm whose mean is larger by gap is better,
                                               for values of variance 1: ½ n_b n_a/(n_b+n_a) gap²
    optimal_weights(means, leader, warm, w)    the optimal weights of these means, for variance 1, into the
                                               row w; returns what the next call may take as warm, 0 at first
    cost(model, state, b, a, v_b, v_a)         `transport` as the model of values has it; v are pulls
    weights(model, state, leader, warm, w)     `optimal_weights` as the model of values has them
    evidence(params, state)                    for a stopping rule: the smallest cost of telling the leader
                                               from another arm, which our rules compare with thresholds

`cost` and `weights` take the arguments `model` and `state` of a strategy, or `params` and `state` of a
stopping rule, as they are.
"""

from __future__ import annotations

from ._jit import kernel
from ._types import Array
from .best import statistic
from .families import cost, weights
from .families import pair_cost as transport
from .random import normal, uniform
from .tracking import first_largest, furthest_behind
from .weights import solve_scaled, untied_squares

__all__ = [
    "cost",
    "evidence",
    "first_largest",
    "furthest_behind",
    "normal",
    "optimal_weights",
    "transport",
    "uniform",
    "weights",
]


@kernel("f8(const(f8[::1]), i8, f8, f8[::1])")
def optimal_weights(means: Array, leader: int, warm: float, w: Array) -> float:
    """The optimal weights of these means for variance 1 into `w`; arms within TIE share them."""
    for a in range(means.size):
        w[a] = means[leader] - means[a]
    return solve_scaled(w, leader, warm) if untied_squares(w, leader) else warm


@kernel("f8(const(f8[::1]), const(f8[:, ::1]))")
def evidence(params: Array, state: Array) -> float:
    """The statistic of a stopping rule."""
    return statistic(params, state)[0]
