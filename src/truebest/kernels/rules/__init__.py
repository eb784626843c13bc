"""Stopping rules: how much evidence the values of a pair of arms are, and how much suffices.

For a given model, number of arms and delta a rule is three numbers in params: RULE, its code; LEVEL, the part
of the threshold that does not depend on the time and is never above it; and TUNING, alpha for GK16, c for
MIXTURE, the spacing of checks for TILT and STUDENT_RULE, unused by the others.

Every rule has a file, and here is the switch between them. A rule has `pair_evidence` and `pair_interval`;
`pair_ceiling`, if its evidence needs a search; `note` and `grow`, if it keeps anything; `growth`, if its
threshold grows. The rule TILT may also test each arm against all others at once, see `comparator`.
"""

from __future__ import annotations

import math

from .._jit import kernel
from .._types import Array
from ..layout import LEVEL, PULLS, QUESTION, ROWS, RULE, SHARE, SQUARES, TOLERANCE, own_rows
from ..questions import THRESHOLD
from .ceilings import pair_ceiling as tilt_ceiling
from .comparator import rank
from .likelihood import growth
from .likelihood import pair_evidence as likelihood_evidence
from .likelihood import pair_interval as likelihood_interval
from .mixture import MIXTURE
from .mixture import note as mixture_note
from .mixture import pair_evidence as mixture_evidence
from .mixture import pair_interval as mixture_interval
from .student import STUDENT_RULE
from .student import grow as student_grow
from .student import pair_ceiling as student_ceiling
from .student import pair_evidence as student_evidence
from .student import pair_interval as student_interval
from .tilt import TILT
from .tilt import grow as tilt_grow
from .tilt import note as tilt_note
from .tilt import pair_evidence as tilt_evidence
from .tilt import pair_interval as tilt_interval

SEARCHES = (TILT, STUDENT_RULE)  # rules whose evidence is a minimum that is searched for
CUSTOM = 6  # a user's, which is asked elsewhere; the statistic is the likelihood ratio, without a threshold


@kernel("f8(const(f8[::1]), f8)")
def threshold(params: Array, t: float) -> float:
    """The threshold at time t >= 1; of one arm and a number, the growth is in the evidence."""
    return float(params[LEVEL]) + (0.0 if params[QUESTION] == THRESHOLD else growth(params, t))


@kernel("void(const(f8[::1]), f8[:, ::1], i8, f8, f8)")
def note(params: Array, state: Array, arm: int, count: float, value: float) -> None:
    """Keep what the rule needs of a value."""
    if params[RULE] == MIXTURE:
        mixture_note(params, state, arm)
    elif params[RULE] == TILT:
        tilt_note(params, state, arm, count, value)
        if params[SHARE] > 0.0:
            rank(params, state, arm)


@kernel("void(const(f8[::1]), f8[:, ::1], i8, f8)")
def grow(params: Array, state: Array, arm: int, pulls: float) -> None:
    """As if an arm had so many pulls of the values that it has."""
    if params[RULE] == TILT:
        tilt_grow(params, state, arm)
    if state[PULLS, arm] > 0.0:
        factor = pulls / state[PULLS, arm]
        for row in range(ROWS, own_rows(params, state)):
            state[row, arm] *= factor
        if params[RULE] == STUDENT_RULE:
            student_grow(state, arm, factor)
        elif params[RULE] == TILT:
            state[SQUARES, arm] *= factor
    state[PULLS, arm] = pulls
    if params[RULE] == MIXTURE:
        mixture_note(params, state, arm)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)")
def pair_evidence(params: Array, state: Array, b: int, a: int, tolerance: float, enough: float) -> float:
    """The statistic of one pair: its cost, or for MIXTURE and TILT the logarithm of a supermartingale.

    For TILT and STUDENT_RULE it may be any number on the same side of `enough`: up to that, or for TILT above
    it.
    """
    if params[RULE] == STUDENT_RULE:
        return student_evidence(params, state, b, a, tolerance, enough)
    if params[RULE] == TILT:
        return tilt_evidence(params, state, b, a, tolerance, enough)
    if params[RULE] == MIXTURE:
        return mixture_evidence(params, state, b, a, tolerance)
    return likelihood_evidence(params, state, b, a, tolerance)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8)")
def pair_statistic(params: Array, state: Array, b: int, a: int) -> float:
    """The statistic of one pair."""
    return pair_evidence(params, state, b, a, params[TOLERANCE], -math.inf)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def pair_ceiling(params: Array, state: Array, b: int, a: int, tolerance: float) -> float:
    """At least the statistic of one pair, without a search; inf where that needs none."""
    if params[RULE] == TILT:
        return tilt_ceiling(params, state, b, a, tolerance)
    if params[RULE] == STUDENT_RULE:
        return student_ceiling(params, state, b, a, tolerance)
    return math.inf


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8, f8)")
def pair_exceeds(params: Array, state: Array, b: int, a: int, tolerance: float, bound: float) -> bool:
    """Whether the statistic of one pair is above a bound; for SEARCHES often without a search."""
    if pair_ceiling(params, state, b, a, tolerance) <= bound:
        return False
    return pair_evidence(params, state, b, a, tolerance, bound) > bound


@kernel("UniTuple(f8, 2)(const(f8[::1]), const(f8[:, ::1]), i8, i8, f8)")
def pair_interval(params: Array, state: Array, b: int, a: int, bound: float) -> tuple[float, float]:
    """The interval for μ_b - μ_a, in units, that lies above 0 exactly when the pair exceeds `bound`."""
    if state[PULLS, b] == 0.0 or state[PULLS, a] == 0.0:
        return -math.inf, math.inf
    if params[RULE] == TILT:
        return tilt_interval(params, state, b, a, bound)
    if params[RULE] == STUDENT_RULE:
        return student_interval(params, state, b, a, bound)
    if params[RULE] == MIXTURE:
        return mixture_interval(params, state, b, a, bound)
    return likelihood_interval(params, state, b, a, bound)
