"""Extremes of many numbers, along four chains: along one, each comparison waits for the last.

The result is the same in any order, to the bit. From MANY on this is faster than a plain loop; a comparison
in place of `max` is one instruction, since it need not mind NaN, which no caller has.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array

MANY = 16
CHUNK = 64  # entries that are counted before they are searched


@kernel("f8(const(f8[::1]))", apart=True)
def largest(x: Array) -> float:
    """The largest entry."""
    p, q, r, s = -math.inf, -math.inf, -math.inf, -math.inf
    whole = x.size - x.size % 4
    for a in range(0, whole, 4):
        p = x[a] if x[a] > p else p
        q = x[a + 1] if x[a + 1] > q else q
        r = x[a + 2] if x[a + 2] > r else r
        s = x[a + 3] if x[a + 3] > s else s
    for a in range(whole, x.size):
        p = x[a] if x[a] > p else p
    return max(max(p, q), max(r, s))


@kernel("f8(const(f8[::1]), const(f8[::1]), f8)", apart=True)
def least_surplus(pulls: Array, target: Array, t: float) -> float:
    """The least N_a - t target_a."""
    p, q, r, s = math.inf, math.inf, math.inf, math.inf
    whole = pulls.size - pulls.size % 4
    for a in range(0, whole, 4):
        d0, d1 = pulls[a] - t * target[a], pulls[a + 1] - t * target[a + 1]
        d2, d3 = pulls[a + 2] - t * target[a + 2], pulls[a + 3] - t * target[a + 3]
        p = d0 if d0 < p else p
        q = d1 if d1 < q else q
        r = d2 if d2 < r else r
        s = d3 if d3 < s else s
    for a in range(whole, pulls.size):
        d0 = pulls[a] - t * target[a]
        p = d0 if d0 < p else p
    return min(min(p, q), min(r, s))


@kernel("f8(const(f8[::1]), const(f8[::1]))", apart=True)
def least_unless(x: Array, out: Array) -> float:
    """The least entry where `out` is 0; inf if there is none."""
    p, q, r, s = math.inf, math.inf, math.inf, math.inf
    whole = x.size - x.size % 4
    for a in range(0, whole, 4):
        n0 = x[a] if out[a] == 0.0 else math.inf
        n1 = x[a + 1] if out[a + 1] == 0.0 else math.inf
        n2 = x[a + 2] if out[a + 2] == 0.0 else math.inf
        n3 = x[a + 3] if out[a + 3] == 0.0 else math.inf
        p = n0 if n0 < p else p
        q = n1 if n1 < q else q
        r = n2 if n2 < r else r
        s = n3 if n3 < s else s
    for a in range(whole, x.size):
        n0 = x[a] if out[a] == 0.0 else math.inf
        p = n0 if n0 < p else p
    return min(min(p, q), min(r, s))


@kernel("f8(const(f8[::1]))", apart=True)
def least(x: Array) -> float:
    """The least entry; inf if there is none."""
    p, q, r, s = math.inf, math.inf, math.inf, math.inf
    whole = x.size - x.size % 4
    for a in range(0, whole, 4):
        p = x[a] if x[a] < p else p
        q = x[a + 1] if x[a + 1] < q else q
        r = x[a + 2] if x[a + 2] < r else r
        s = x[a + 3] if x[a + 3] < s else s
    for a in range(whole, x.size):
        p = x[a] if x[a] < p else p
    return min(min(p, q), min(r, s))


@kernel("i8(const(f8[::1]), const(f8[::1]), f8, f8)", apart=True)
def first_surplus(pulls: Array, target: Array, t: float, bound: float) -> int:
    """The lowest index where N_a - t target_a is at most a bound; the size if there is none.

    A block is counted before it is searched: counting takes eight entries at a time, a search one.
    """
    for start in range(0, pulls.size, CHUNK):
        n, w, found = pulls[start : start + CHUNK], target[start : start + CHUNK], 0
        for a in range(n.size):
            found += 1 if n[a] - t * w[a] <= bound else 0
        if found > 0:
            for a in range(n.size):
                if n[a] - t * w[a] <= bound:
                    return start + a
    return pulls.size
