"""Theorems 5 and 14 as numbers, as printed and as corrected.

The corrections to Theorem 5 concern its proof. The biased bandit is within 2 L(t) of the true one, not
L(t), and Σ s^(-1/2) is at most 2 sqrt(t), not sqrt(t); so 224 becomes 448 in T_0 and 640 becomes 2560
in T_1 and δ_0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import InvalidInputError
from . import _door
from .complexity import optimal_weights
from .stopping import GK16

VERSIONS = ("corrected", "printed")


@dataclass(frozen=True)
class NonAsymptoticBound:
    """Theorem 5 for one bandit: how long Exploration-Biased Sampling takes, for all small delta.

    t_0, t_1               from t_0 on the target weights, from t_1 on the sampled proportions are near w(μ)
    log_inverse_delta_0    log(1/δ_0): the theorem speaks of delta <= δ_0 only
    num_arms, time, min_weight, eta   K, T(μ), w_min(μ) and η of the statement

    δ_0 is far below the smallest double (log(1/δ_0) is about 1e11 for an easy bandit), which is why
    everything here takes and gives log(1/δ).
    """

    t_0: float
    t_1: float
    log_inverse_delta_0: float
    num_arms: int
    time: float
    min_weight: float
    eta: float

    def tail(self, t: npt.ArrayLike, log_inverse_delta: float) -> npt.NDArray[np.float64]:
        """A bound on P(τ > t and E), the right side of equation (5); 1 where the theorem says nothing.

        t                  any shape
        log_inverse_delta  log(1/δ)
        """
        when = _door.numbers("t", t)
        _door.finite("t", when)
        log_inverse = _log_inverse_delta(log_inverse_delta)
        if log_inverse < self.log_inverse_delta_0:
            return np.ones_like(when)[()]
        rate = self.min_weight / (4.0 * self.time**2) * log_inverse ** (-2.0 / 3.0)
        claimed = when > (1.0 + self.eta) * self.time * log_inverse
        with np.errstate(over="ignore", under="ignore"):
            log_bound = np.log(2.0 * self.num_arms * np.maximum(when, 1.0)) - rate * when
            return np.where(claimed, np.exp(np.minimum(log_bound, 0.0)), 1.0)[()]

    def expectation(self, log_inverse_delta: float) -> float:
        """A bound on E[τ 1_E], the right side of equation (6); inf where the theorem says nothing."""
        log_inverse = _log_inverse_delta(log_inverse_delta)
        if log_inverse < self.log_inverse_delta_0:
            return np.inf
        main = (1.0 + self.eta) * self.time * log_inverse
        exponent = -self.min_weight / (4.0 * self.time) * np.cbrt(log_inverse)
        with np.errstate(over="ignore", under="ignore"):
            factor = 128.0 * self.num_arms * self.time**4 / self.min_weight**2
            return float(main + factor * np.exp(exponent) * log_inverse**2)


def non_asymptotic_bound(
    means: npt.ArrayLike,
    *,
    gamma: float = 0.05,
    eta: float = 1.0,
    alpha: float = 1.2,
    version: str = "corrected",
) -> NonAsymptoticBound:
    """The constants T_0, T_1, δ_0 and the two bounds of Theorem 5, for one bandit.

    means    (K,), in an interval of length one, the best arm unique; unit variance
    gamma    the parameter of Exploration-Biased Sampling
    eta      how far above T(μ) log(1/δ) the bound may lie, in (0, 1]
    alpha    the exponent of the threshold, in (1, 2]
    version  "corrected", or "printed": the paper's constants, and R without δ
    Returns  NonAsymptoticBound
    Raises   InvalidInputError
    """
    mu = _door.per_arm("means", means)
    if mu.ndim != 1:
        raise InvalidInputError(
            f"means must be one bandit of shape (K,), got shape {mu.shape}; call once for each."
        )
    printed = _door.choice("version", version, VERSIONS) == "printed"
    miss = _door.gamma(gamma)
    slack = _in_range("eta", eta, 0.0, 1.0)
    rule = GK16(_in_range("alpha", alpha, 1.0, 2.0), printed=printed)
    gaps = _door.gaps(mu, None)
    if gaps.max() > 1.0:
        raise InvalidInputError(
            f"means must lie in an interval of length 1 for Theorem 5, got a largest gap of "
            f"{gaps.max()}; rescale them."
        )
    if (gaps == 0).sum() > 1:
        raise InvalidInputError(
            f"means must have one best arm, got {(gaps == 0).sum()} equal ones; Theorem 5 says "
            f"nothing about ties."
        )
    K = mu.size
    solution = optimal_weights(mu)
    time, w_min = float(solution.time), float(solution.weights.min())
    d_min = float(gaps[gaps > 0].min())
    a, b = (224.0, 640.0) if printed else (448.0, 2560.0)
    x = d_min**2 * w_min
    t_0 = max(a**2 / x * np.log(2.0 * a**2 * np.e * K / (x * miss)), 2.0 * K / w_min)
    y = slack**2 * x
    t_1 = max(b**2, 8.0 * K) / (y * w_min) * np.log(2.0 * b**2 * np.e * K / (y * miss))
    # The last display of Appendix D. It contains R, which in the corrected form depends on δ_0 itself:
    # iterated, since log R grows only with log log(1/δ).
    front = 7.0**3 * max(b**2 / 8.0, K) / (slack**3 * d_min * w_min**2)
    inside = np.log(7.0**2 * 2.0 * b**2 * np.e * K / (y * miss))
    log_inverse = 1.0
    for _ in range(100):
        previous = log_inverse
        log_inverse = front * (inside + 0.5 * rule.log_constant(K, previous))
        if abs(log_inverse - previous) <= 1e-13 * log_inverse:
            break
    return NonAsymptoticBound(float(t_0), float(t_1), float(log_inverse), K, time, w_min, slack)


@dataclass(frozen=True)
class RegularityBounds:
    """Factors between which T'/T and every w'_a/w_a lie (Theorem 14)."""

    time_lower: float
    time_upper: float
    weight_lower: float
    weight_upper: float


def regularity_bounds(epsilon: float, *, version: str = "sharper") -> RegularityBounds:
    """How far T and w can move when every squared gap moves by a factor in [1-ε, 1+ε] (Theorem 14).

    epsilon  in [0, 1) for "sharper", in [0, 1/7] for "printed"
    version  "sharper": T/(1+ε) <= T' <= T/(1-ε) and w'_a/w_a within ((1+ε)/(1-ε))^(±1.403);
             "printed": (1-3ε) T <= T' <= (1+6ε) T and w'_a/w_a within 1 ± 10ε
    Returns  RegularityBounds
    Raises   InvalidInputError
    """
    eps = _door.scalar("epsilon", epsilon)
    printed = _door.choice("version", version, ("sharper", "printed")) == "printed"
    if not (0.0 <= eps <= 1.0 / 7.0 if printed else 0.0 <= eps < 1.0):
        allowed = "[0, 1/7]" if printed else "[0, 1)"
        raise InvalidInputError(
            f"epsilon must lie in {allowed} for the {version} bounds, got {eps}; it is the relative "
            f"change of the squared gaps."
        )
    if printed:
        return RegularityBounds(1 - 3 * eps, 1 + 6 * eps, 1 - 10 * eps, 1 + 10 * eps)
    factor = ((1.0 + eps) / (1.0 - eps)) ** 1.403
    return RegularityBounds(1.0 / (1.0 + eps), 1.0 / (1.0 - eps), 1.0 / factor, factor)


def _in_range(name: str, value: float, low: float, high: float) -> float:
    number = _door.scalar(name, value)
    if not low < number <= high:
        raise InvalidInputError(
            f"{name} must lie above {low:g} and at most {high:g}, got {number}; Theorem 5 is for "
            f"such values only."
        )
    return number


def _log_inverse_delta(value: float) -> float:
    number = _door.scalar("log_inverse_delta", value)
    if not 0.0 < number < np.inf:
        raise InvalidInputError(
            f"log_inverse_delta must be positive and finite, got {number}; it is log(1/delta)."
        )
    return number
