"""The optimal weights w(μ): the root r of φ(r) = Σ (rΔ²-1)⁻² - 1, and what follows from it.

Squared gaps come as an array `d` in any unit, with `inf` at the best arm: there q = 1/(r d - 1) is
zero by itself, so that no loop has to step around that arm.
"""

from __future__ import annotations

import math

from ._jit import kernel
from ._types import Array
from .exact import two_sum
from .extremes import MANY, least
from .tracking import TIE

FEW = 12  # arms up to which a plain loop is faster than a vectorised one
BLOCK = 1024  # arms summed without compensation; the sums of blocks are added with it
MAX_STEPS = 64  # never reached: five steps are enough from the proven lower bound, six from any warm start
LAST_STEP = 1e-5  # a relative step below this needs no other
PAPER_MAX_STEPS = 1000
PAPER_TOLERANCE = 1e-10


@kernel("UniTuple(f8, 3)(const(f8[::1]), f8)", reorder=True)
def _block_power_sums(d: Array, r: float) -> tuple[float, float, float]:
    s2, s3, s4 = 0.0, 0.0, 0.0
    for a in range(d.size):
        q = 1.0 / (r * d[a] - 1.0)
        p = q * q
        s2 += p
        s3 += p * q
        s4 += p * p
    return s2, s3, s4


@kernel("f8(const(f8[::1]), f8)", reorder=True)
def _block_root_sum(d: Array, r: float) -> float:
    s = 0.0
    for a in range(d.size):
        s += 1.0 / (r * d[a] - 1.0)
    return s


@kernel("f8(f8[::1], f8)", reorder=True)
def _block_fill(d: Array, r: float) -> float:
    s = 0.0
    for a in range(d.size):
        q = 1.0 / (r * d[a] - 1.0)
        d[a] = q
        s += q
    return s


@kernel("f8(const(f8[::1]))", reorder=True)
def _block_sum(x: Array) -> float:
    s = 0.0
    for a in range(x.size):
        s += x[a]
    return s


@kernel("UniTuple(f8, 3)(const(f8[::1]), f8)")
def power_sums(d: Array, r: float) -> tuple[float, float, float]:
    """Σ q², Σ q³ and Σ q⁴ with q = 1/(r d - 1), one pass; φ(r) is the first minus one, equation (11)."""
    s2, s3, s4, lost2, lost3 = 0.0, 0.0, 0.0, 0.0, 0.0
    if d.size <= FEW:
        for a in range(d.size):
            q = 1.0 / (r * d[a] - 1.0)
            s2 += q * q
            s3 += q * q * q
            s4 += q * q * (q * q)
        return s2, s3, s4
    if d.size <= BLOCK:
        return _block_power_sums(d, r)
    for start in range(0, d.size, BLOCK):
        b2, b3, b4 = _block_power_sums(d[start : start + BLOCK], r)
        s2, e2 = two_sum(s2, b2)
        s3, e3 = two_sum(s3, b3)
        s4 += b4  # enters a correction of second order only
        lost2 += e2
        lost3 += e3
    return s2 + lost2, s3 + lost3, s4


@kernel("f8(const(f8[::1]), f8)")
def root_sum(d: Array, r: float) -> float:
    """Σ q with q = 1/(r d - 1): the best arm's weight is 1/(1 + Σ q), equation (12)."""
    if d.size <= BLOCK:
        return _block_root_sum(d, r)
    s, lost = 0.0, 0.0
    for start in range(0, d.size, BLOCK):
        s, e = two_sum(s, _block_root_sum(d[start : start + BLOCK], r))
        lost += e
    return s + lost


@kernel("f8(const(f8[::1]))")
def accurate_sum(x: Array) -> float:
    """Σ x to a few units in the last place, whatever the length; one pass."""
    if x.size <= BLOCK:
        return _block_sum(x)
    s, lost = 0.0, 0.0
    for start in range(0, x.size, BLOCK):
        s, e = two_sum(s, _block_sum(x[start : start + BLOCK]))
        lost += e
    return s + lost


@kernel("f8(f8, f8, f8)")
def newton_step(s2: float, s3: float, s4: float) -> float:
    """The relative step of Newton on ψ from Σ q², Σ q³, Σ q⁴; near the root of third order (Chebyshev).

    r ψ' is proportional to Σ q² + Σ q³, since r d = 1 + 1/q, and r² ψ'' to -3 (Σ q⁴ - (Σ q³)²/Σ q²) <= 0.
    """
    slope = 1.0 / (s2 + s3)
    change = s2 * (math.sqrt(s2) - 1.0) * slope
    if abs(change) < 1e-2:
        change += change * change * 1.5 * slope * (s4 - s3 * s3 / s2)
    return change


@kernel("Tuple((f8, i8))(const(f8[::1]), f8, f8)")
def newton_root(d: Array, start: float, floor: float) -> tuple[float, int]:
    """The root r of φ and the number of evaluations, by Newton on ψ(r) = (Σ q²)^(-1/2) = 1.

    ψ is increasing and concave, and linear when all gaps are equal. From below the root Newton's iterates
    increase towards it. A Newton step from above leads below the root, and `floor`, any lower bound of r
    that exceeds 1/min d, keeps it in the domain; a third-order step may end on either side, within |v|³,
    where v is the exact relative step. The relative error obeys e <- 0.26 e², and near the root it is
    cubed: a relative step under 1e-5 leaves less than 1e-15, so no evaluation confirms it. Proofs are in
    docs/errata.md.
    """
    r = start
    for step in range(1, MAX_STEPS + 1):
        s2, s3, s4 = power_sums(d, r)
        change = newton_step(s2, s3, s4)
        r = max(r + r * change, floor)
        if abs(change) < LAST_STEP:
            return r, step
    return r, MAX_STEPS


@kernel("Tuple((f8, i8))(const(f8[::1]), f8)")
def paper_root(d: Array, start: float) -> tuple[float, int]:
    """The root r of φ and the number of evaluations, by Algorithm 4 as printed.

    Differs from the paper: also ends when a step no longer increases r. The printed loop has no such end:
    where the sum is a plain one, rounding keeps |φ| of ten million equal gaps above the tolerance.
    """
    r = start
    for step in range(1, PAPER_MAX_STEPS + 1):
        s2, s3, _ = power_sums(d, r)
        phi = s2 - 1.0
        if abs(phi) < PAPER_TOLERANCE:
            return r, step
        larger = r + r * phi / (2.0 * (s2 + s3))
        if not larger > r:
            return r, step
        r = larger
    return r, PAPER_MAX_STEPS


@kernel("f8(f8[::1], i8, f8)")
def weights_from_root(w: Array, best: int, r: float) -> float:
    """Replace squared gaps by weights in place, equations (12) and (13); returns that of the best."""
    s, lost = 0.0, 0.0
    if w.size <= FEW:
        for a in range(w.size):
            w[a] = 1.0 / (r * w[a] - 1.0)
            s += w[a]
    else:
        for start in range(0, w.size, BLOCK):
            s, e = two_sum(s, _block_fill(w[start : start + BLOCK], r))
            lost += e
    w_best = 1.0 / (1.0 + (s + lost))
    for a in range(w.size):
        w[a] *= w_best
    w[best] = w_best
    return w_best


@kernel("Tuple((i8, i8, f8, f8))(const(f8[::1]))")
def gap_summary(gaps: Array) -> tuple[int, int, float, float]:
    """First arm with gap zero, how many there are, the smallest positive gap and the largest."""
    best, num_best, smallest, largest = -1, 0, math.inf, 0.0
    for a in range(gaps.size):
        if gaps[a] == 0.0:
            if num_best == 0:
                best = a
            num_best += 1
        else:
            smallest = min(smallest, gaps[a])
            largest = max(largest, gaps[a])
    return best, num_best, smallest, largest


@kernel("void(f8[::1], i8, f8)")
def scaled_squares(x: Array, best: int, smallest: float) -> None:
    """Replace gaps by (Δ/Δ_min)², inf at the best arm; in one array, or the loops would not be vectorised.

    Numerics: the ratio is taken before the square, so that neither 1e-300 nor 1e150 leaves the range.
    """
    inverse = 1.0 / smallest
    if inverse < math.inf:
        for a in range(x.size):
            ratio = x[a] * inverse
            x[a] = ratio * ratio
    else:  # a subnormal gap has no finite inverse
        for a in range(x.size):
            ratio = x[a] / smallest
            x[a] = ratio * ratio
    x[best] = math.inf


@kernel("b1(f8[::1], i8)")
def untied_squares(gaps: Array, best: int) -> bool:
    """`scaled_squares` in place; or, if arms lie within TIE of the best, False and the weights they share."""
    smallest, ties = math.inf, 1
    if gaps.size >= MANY:
        smallest = min(least(gaps[:best]), least(gaps[best + 1 :]))
    if gaps.size < MANY or smallest <= TIE:
        smallest = math.inf
        for a in range(gaps.size):
            if a != best:
                if gaps[a] <= TIE:
                    ties += 1
                else:
                    smallest = min(smallest, gaps[a])
    if ties == 1:
        scaled_squares(gaps, best, smallest)
        return True
    for a in range(gaps.size):
        gaps[a] = 1.0 / ties if a == best or gaps[a] <= TIE else 0.0
    return False


@kernel("f8(f8[::1], i8)")
def root_lower_bound(x: Array, best: int) -> float:
    """The lower bound of equation (16) for r, in the unit of `scaled_squares`."""
    x[best] = 0.0
    num_gaps = x.size - 1.0
    bound = (1.0 + math.sqrt(num_gaps)) * (num_gaps / accurate_sum(x))
    x[best] = math.inf
    return max(2.0, bound)


@kernel("f8(f8[::1], i8, f8)")
def scaled_root(x: Array, best: int, warm: float) -> float:
    """The root r in the unit of `scaled_squares`; `warm` is a guess of it, 0 for none."""
    start = warm if warm >= 2.0 else root_lower_bound(x, best)
    r, _ = newton_root(x, start, 2.0)
    return r


@kernel("f8(f8[::1], i8, f8)")
def solve_scaled(x: Array, best: int, warm: float) -> float:
    """Replace what `scaled_squares` left by the weights; returns the root, the next call's `warm`.

    For few arms the last step of Newton is folded into the weights: after a relative step u the new q is
    q/(1 + x) with x = u(1+q), so that its divisions need not wait for the root.

    Numerics: q(1 - x + x²) is taken for it. As |u| < 1e-5 and q <= 1, this is exact to (2e-5)³ = 8e-15.
    """
    if x.size > FEW or warm < 2.0:
        r = scaled_root(x, best, warm)
        weights_from_root(x, best, r)
        return r
    r, change, total = warm, 0.0, 0.0
    for _ in range(MAX_STEPS):
        s1, s2, s3, s4 = 0.0, 0.0, 0.0, 0.0
        for a in range(x.size):
            q = 1.0 / (r * x[a] - 1.0)
            p = q * q
            s1 += q
            s2 += p
            s3 += p * q
            s4 += p * p
        change = newton_step(s2, s3, s4)
        total = s1 - change * (s1 + s2) + change * change * (s1 + 2.0 * s2 + s3)
        if abs(change) < LAST_STEP:
            break
        r = max(r + r * change, 2.0)
    w_best = 1.0 / (1.0 + total)
    for a in range(x.size):
        q = 1.0 / (r * x[a] - 1.0)
        shift = change * (1.0 + q)
        x[a] = q * (1.0 - shift + shift * shift) * w_best
    x[best] = w_best
    return r + r * change


@kernel("f8(f8[::1], const(f8[::1]), i8, f8)")
def solve_unequal(x: Array, variances: Array, best: int, warm: float) -> float:
    """`solve_scaled` where each arm has its own variance.

    With ρ = variance_a/variance_best the costs are equal for w_a = ρ q w_best, and best where Σ ρ q² = 1: the
    same equation with weighted sums. One term of the sum is at most all of it, so r is at least
    (1 + sqrt(ρ))/x for every arm.
    """
    floor = 0.0
    for a in range(x.size):
        floor = max(floor, (1.0 + math.sqrt(variances[a] / variances[best])) / x[a])
    r = max(warm, floor)
    for _ in range(MAX_STEPS):
        s2, s3, s4 = 0.0, 0.0, 0.0
        for a in range(x.size):
            q = 1.0 / (r * x[a] - 1.0)
            p = variances[a] / variances[best] * q * q
            s2 += p
            s3 += p * q
            s4 += p * q * q
        change = newton_step(s2, s3, s4)
        r = max(r + r * change, floor)
        if abs(change) < LAST_STEP:
            break
    total = 0.0
    for a in range(x.size):
        x[a] = variances[a] / variances[best] / (r * x[a] - 1.0)
        total += x[a]
    for a in range(x.size):
        x[a] /= 1.0 + total
    x[best] = 1.0 / (1.0 + total)
    return r


@kernel("f8(f8[::1], i8)")
def equal_gap_weights(w: Array, best: int) -> float:
    """The weights when all gaps are equal, in closed form; returns r Δ² = 1 + sqrt(K-1)."""
    s = math.sqrt(w.size - 1.0)
    for a in range(w.size):
        w[a] = 1.0 / (s * (1.0 + s))
    w[best] = 1.0 / (1.0 + s)
    return 1.0 + s


@kernel("void(f8[::1])")
def tied_weights(w_and_gaps: Array) -> None:
    """The convention for several best arms: they share the weight, in place of their zero gaps."""
    _, num_best, _, _ = gap_summary(w_and_gaps)
    for a in range(w_and_gaps.size):
        w_and_gaps[a] = 1.0 / num_best if w_and_gaps[a] == 0.0 else 0.0


@kernel("Tuple((f8, f8, f8, i8))(const(f8[::1]), b1, f8[::1])")
def optimal_weights(gaps: Array, printed: bool, w: Array) -> tuple[float, float, float, int]:
    """Weights of one bandit into `w`, which also serves as scratch.

    Returns r Δ_min², the best arm's weight, Δ_min and the number of evaluations; r Δ_min² is inf where
    several arms are best. `printed` selects Algorithm 4 as printed.
    """
    best, num_best, smallest, largest = gap_summary(gaps)
    for a in range(w.size):
        w[a] = gaps[a]
    if num_best > 1:
        tied_weights(w)
        return math.inf, 1.0 / num_best, 0.0, 0
    if smallest == largest and not printed:
        r = equal_gap_weights(w, best)
        return r, w[best], smallest, 0
    scaled_squares(w, best, smallest)
    bound = root_lower_bound(w, best)
    if printed:
        r, evaluations = paper_root(w, bound)
    else:
        r, evaluations = newton_root(w, bound, 2.0)
    return r, weights_from_root(w, best, r), smallest, evaluations


@kernel("void(const(f8[:, ::1]), b1, f8[:, ::1], f8[:, ::1])")
def optimal_weights_rows(gaps: Array, printed: bool, w: Array, summary: Array) -> None:
    """`optimal_weights` for every row; the four returned numbers become a row of `summary`."""
    for i in range(gaps.shape[0]):
        r, w_best, smallest, evaluations = optimal_weights(gaps[i], printed, w[i])
        summary[i, 0] = r
        summary[i, 1] = w_best
        summary[i, 2] = smallest
        summary[i, 3] = evaluations


@kernel("void(const(f8[:, ::1]), const(f8[::1]), f8[:, ::1], f8[:, ::1])")
def unequal_weights_rows(gaps: Array, variances: Array, w: Array, summary: Array) -> None:
    """`optimal_weights_rows` where each arm has its own variance; r is times that of the best arm."""
    for i in range(gaps.shape[0]):
        best, num_best, smallest, _ = gap_summary(gaps[i])
        for a in range(gaps.shape[1]):
            w[i, a] = gaps[i, a]
        if num_best > 1:
            tied_weights(w[i])
            summary[i, 0], summary[i, 1], summary[i, 2] = math.inf, 1.0 / num_best, 0.0
        else:
            scaled_squares(w[i], best, smallest)
            r = solve_unequal(w[i], variances, best, 0.0)
            summary[i, 0], summary[i, 1], summary[i, 2] = r * variances[best], w[i, best], smallest
