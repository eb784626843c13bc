"""Rounds: claims are proven pair by pair, for any question but the best arm in the design's own way.

`claims` is the same for independent pulls. An arm about which nothing will be asked any more is out for good.

    told  (HEADS + K, K): what orders the arms, their labels, and the claims that are proven
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array
from .paired import ITEMS, OUT, PAIR_LEVEL, QUESTION, lead, pair_evidence, rounds_taken
from .questions import ASKED, is_settled, label, margin

STANDING, LABELS, HEADS = range(3)


@kernel("b1(const(f8[::1]), const(f8[:, ::1]), const(f8[:, ::1]), i8, i8, f8)")
def is_shown(params: Array, pairs: Array, arms: Array, b: int, i: int, d: float) -> bool:
    """Whether the evidence for claim (b, i) exceeds the level.

    Without a limit to the items, there is none where b is not ahead by d in each round.
    """
    if params[ITEMS] == math.inf and lead(pairs, arms, b, i) <= d * rounds_taken(arms):
        return False
    return bool(pair_evidence(params, pairs, arms, b, i, d) > params[PAIR_LEVEL])


@kernel("void(const(f8[::1]), const(f8[:, ::1]), f8[:, ::1], f8[:, ::1])", apart=True)
def judge(params: Array, pairs: Array, arms: Array, told: Array) -> None:
    """After a round: prove what can be proven, and leave out the arms of which nothing more need be known."""
    K, n, ask = arms.shape[1], rounds_taken(arms), params[QUESTION : QUESTION + ASKED]
    labels, proven = told[LABELS], told[HEADS:]
    label(ask, told[STANDING], proven, labels)
    for b in range(K):
        for i in range(K):
            d = margin(ask, proven, labels, b, i)
            if math.isnan(d) or arms[OUT, b] > 0.0 or arms[OUT, i] > 0.0:
                continue
            if is_shown(params, pairs, arms, b, i, d):
                proven[b, i] = n
                if d >= 0.0 and proven[i, i] == 0.0:
                    proven[i, i] = n
    label(ask, told[STANDING], proven, labels)
    for a in range(K):
        if arms[OUT, a] <= 0.0 and is_settled(ask, proven, labels, a):
            arms[OUT, a] = n
