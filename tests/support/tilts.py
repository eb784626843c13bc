"""The prior of the tilt rule as it is written down, with 40 digits: a weight for each pair of tilts.

Nothing is shared with the kernels. Tilt 16 is the one of size 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import mpmath as mp

TILTS = 17
W = ("0.5", "1", "3", "4", "3", "1", "0.5")
Matrix = list[list[mp.mpf]]


def sizes() -> list[mp.mpf]:
    """The sixteen tilts."""
    return [mp.mpf(8) / 2**k for k in range(16)]


def by_scale(least: float = 0.0) -> Matrix:
    """Version 2: both tilts have one scale, or the first arm's is one step finer."""
    none, found = mp.mpf("0.02"), [[mp.mpf(0)] * TILTS for _ in range(TILTS)]
    q = []
    for s in (mp.mpf(8) / 4**j for j in range(7)):
        row = [e * mp.exp(-(e**2) / (2 * s**2)) for e in sizes()]
        q.append([(1 - none) * x / sum(row) for x in row] + [none])
    w = [mp.mpf(x) for x in W]
    w = [
        x if mp.mpf(8) / 4**j >= mp.mpf("0.8") * mp.mpf(least) else x * mp.mpf("0.15")
        for j, x in enumerate(w)
    ]
    for j in range(7):
        for i, part in ((j, "0.7"), (j - 1, "0.3")) if j else ((0, "1"),):
            for k in range(TILTS):
                for m in range(TILTS):
                    found[k][m] += w[j] / sum(w) * mp.mpf(part) * q[j][k] * q[i][m]
    return found


def near(num_arms: int) -> Matrix:
    """The part that is new in version 3: both tilts are equal, or nearly."""
    steps = {0: "0.6", 1: "0.2", -1: "0.2"}
    if num_arms > 2:
        steps = {-1: "0.15", 0: "0.35", 1: "0.25", 2: "0.2", 3: "0.05"}
    w, none = [mp.mpf(x) for x in W], mp.mpf("0.02")
    found = [[mp.mpf(0)] * TILTS for _ in range(TILTS)]
    for k in range(16):
        for m in range(16):
            j, rest = divmod(k + m, 4)  # between the scales j and j + 1
            v = mp.mpf("0.25") if k + m > 24 else w[j] + (w[min(j + 1, 6)] - w[j]) * rest / 4
            found[k][m] = v * mp.mpf(steps.get(k - m, "0"))
    whole = sum(map(sum, found))
    found = [[(1 - none) ** 2 * x / whole for x in row] for row in found]
    for k in range(16):
        found[k][16] = none * sum(found[k]) / (1 - none)
        found[16][k] = none * sum(row[k] for row in found[:16]) / (1 - none)
    found[16][16] = none**2
    return found


@cache
def weights(num_arms: int, version: int = 3, least: float = 0.0) -> Matrix:
    """W_kl; tilts below 0.8 times `least` are too small to decide in time."""
    with mp.workdps(40):
        former = by_scale(least)
        if version == 2:
            return former
        new = near(num_arms)
        eps = [*sizes(), None]
        for k, row in enumerate(new):
            for m in range(TILTS):
                known = [one for one in (eps[k], eps[m]) if one is not None]
                if known and mp.sqrt(known[0] * known[-1]) < mp.mpf("0.8") * mp.mpf(least):
                    row[m] *= mp.mpf("0.15")
        whole = sum(map(sum, new))
        new = [[x / whole for x in row] for row in new]
        return [
            [mp.mpf("0.8") * x + mp.mpf("0.2") * y for x, y in zip(*rows, strict=True)]
            for rows in zip(new, former, strict=True)
        ]


def mixed(matrix: Matrix, up: Sequence[mp.mpf], down: Sequence[mp.mpf]) -> mp.mpf:
    """log Σ W_kl up_k down_l, of sixteen products each."""
    p, q = [*up, mp.mpf(1)], [*down, mp.mpf(1)]
    return mp.log(sum(w * p[k] * q[m] for k, row in enumerate(matrix) for m, w in enumerate(row)))
