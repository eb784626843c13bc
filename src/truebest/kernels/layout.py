"""Where everything stands: the rows of a run's state, the places in its parameters, the code of an action.

A run is `state` (rows, K), which is about the values, and `memory` (rows, K), which is the strategy's. What
does not change during a run is `params`: numbers about the model, the stopping rule, and the strategy.

An action is an arm to pull; ~arm to pull that arm and not to check for stopping after it; or K + arm to stop
and recommend that arm, from a strategy that stops by itself.

What stands in the place of an arm where there is none, or not yet one:

    NO_ARM                   none leads, was pulled last, is the baseline, or has won
    UNFINISHED - a           of a run that was cut off: a led, or a would have been answered
    GO_ON, UNDECIDED,        verdicts of rounds, see `paired`; the last only where wins count. A simulated run
    NO_WINNER                puts NO_ARM in the place of the last, and UNFINISHED - a in that of the others
"""

from __future__ import annotations

from collections.abc import Callable

from ._jit import kernel
from ._types import Array

# Rows of state. The first three are what a strategy is told of; rows of a rule's own follow the last.
PULLS = 0  # how many values each arm has
MEANS = 1  # of its values, less the offset, in units; -inf before the first
VARIANCES = 2  # of one value, in squared units
SUMS = 3  # of its values as they came
LOST = 4  # what rounding took from the sums
SQUARES = 5  # Σ (x - mean)² of its values, in squared units, if params[WATCHED]
OUT = 6  # 0 for an arm in the race; for one that the rule has ruled out, after how many samples
PENALTY = 7  # what the stopping rule charges for the arm's pulls; for TILT, first, when it looks again
SETTLED = 8  # 0 for an open arm; for one that the rule has settled, for good or for now, its statistic then
ROWS = 9
# Rows behind the rule's own, where a question is asked, see `claims`; then K of claims about pairs, and
# ABOUT_ONE of claims about one arm.
NEXT, HELPFUL, LAST_LABELS, LABELS, HEADS = range(5)
ABOUT_ONE = 2

# Places in params; the strategy's own numbers follow the last.
DELTA = 0  # the accepted probability of a wrong answer
TOLERANCE = 1  # how far below the best a declared arm may be, in units
MODEL = 2  # code of the model of values, see `families`
UNIT = 3  # the scale of the values
OFFSET = 4  # subtracted from them before means are taken
LOW, HIGH = 5, 6  # between which they lie, infinite for none
RULE = 7  # code of the stopping rule, see `rules`
LEVEL = 8  # the part of the rule's threshold that does not depend on the time
TUNING = 9  # the rule's own parameter
WATCHED = 10  # 1 where SQUARES are kept
ALARM = 11  # 1 where they may refute sigma, see `alarm`
SHARE = 12  # for TILT: the weight of comparators, 0 where arms are compared in pairs
PAIR_LEVEL = 13  # what a pair must exceed for its interval to lie above 0; LEVEL but where SHARE is positive
HEAD_START = 14  # for TILT: by how many nats a leader must be ahead for its values to count, see `comparator`
LIMITS = 15  # 1 where the evidence says which arms may be sampled: arms are ruled out, or rest
UNSHOWN = 16  # 1 where nobody is shown with which statistic an arm was ruled out: in simulations
NEAR, SCALED = 17, 18  # for TILT: the weights of tilts that are nearly equal, and of a common scale
CUT = 19  # for TILT: after how many halvings tilts are too small to decide in time, and have less weight
QUESTION = 20  # what is asked, ASKED numbers, see `questions`; 0 for the best arm in the rule's way
OWN = 23

NO_ARM, UNFINISHED = -1, -2

Select = Callable[..., int]
SELECT = "i8(f8, i8, i8, const(f8[:, ::1]), const(f8[::1]), f8[:, ::1], u8[::1])"  # of a strategy's kernel


@kernel("i8(i8, i8)")
def arm_of(action: int, num_arms: int) -> int:
    """The arm of an action; not one of 0 to K-1 where the action is none."""
    if action < 0:
        return ~action
    return action - num_arms if action >= num_arms else action


@kernel("i8(const(f8[::1]), const(f8[:, ::1]))")
def own_rows(params: Array, state: Array) -> int:
    """The first row that is not about values: where a question is asked, its rows are the last ones."""
    rows, K = state.shape
    return int(rows if params[QUESTION] == 0.0 else rows - K - ABOUT_ONE - HEADS)
