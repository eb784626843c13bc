"""The mixture rule: the likelihood ratio of a pair, averaged over normal priors of both means."""

from __future__ import annotations

import math

from .._jit import kernel
from .._types import Array
from ..families import cost_beyond, interval
from ..layout import MEANS, PENALTY, PULLS, RULE, TUNING, VARIANCES

MIXTURE = 3
MIXTURE_C = 20.0  # default of the rule and of the width: the prior has the weight of 20 pulls


@kernel("f8(const(f8[::1]), f8)")
def charge(params: Array, n: float) -> float:
    """What is taken off a pair's cost for n pulls of an arm: what its prior costs; 0 for other rules."""
    return 0.5 * math.log1p(n / params[TUNING]) if params[RULE] == MIXTURE else 0.0


@kernel("f8(const(f8[::1]), f8)")
def counted(params: Array, n: float) -> float:
    """How much n pulls count in a pair's cost: N²/(N + c); for other rules all of them."""
    return n * (n / (n + params[TUNING])) if params[RULE] == MIXTURE else n


@kernel("void(const(f8[::1]), f8[:, ::1], i8)")
def note(params: Array, state: Array, arm: int) -> None:
    """Keep what an arm is charged, so that `may_stop` needs no logarithm."""
    state[PENALTY, arm] = charge(params, state[PULLS, arm])


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def pair_evidence(params: Array, state: Array, b: int, a: int, tolerance: float) -> float:
    """The logarithm of a supermartingale."""
    n_b, n_a = state[PULLS, b], state[PULLS, a]
    likelihood = cost_beyond(params, state, b, a, counted(params, n_b), counted(params, n_a), tolerance)
    return likelihood - (charge(params, n_b) + charge(params, n_a))


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, f8)")
def number_evidence(params: Array, state: Array, arm: int, number: float) -> float:
    """The same of one arm, on the side of a number where its mean lies."""
    n, apart = state[PULLS, arm], state[MEANS, arm] - number
    return float(0.5 * counted(params, n) * apart * apart / state[VARIANCES, arm] - charge(params, n))


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def pair_interval(params: Array, state: Array, b: int, a: int, bound: float) -> tuple[float, float]:
    """The differences that the evidence leaves possible."""
    n_b, n_a = state[PULLS, b], state[PULLS, a]
    i_b, i_a = (1.0 + params[TUNING] / n_b) / n_b, (1.0 + params[TUNING] / n_a) / n_a
    return interval(params, state, b, a, i_b, i_a, bound + (charge(params, n_b) + charge(params, n_a)))
