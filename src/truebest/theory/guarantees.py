"""Theorems 5 and 14 as numbers, as printed and as corrected.

The corrections to Theorem 5 concern its proof. The biased bandit is within 2 L(t) of the true one, not
L(t), and Σ s^(-1/2) is at most 2 sqrt(t), not sqrt(t); so 224 becomes 448 in T_0 and 640 becomes 2560
in T_1 and δ_0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from ..errors import InvalidInputError
from .complexity import optimal_weights
from .stopping import GK16

VERSIONS = ("corrected", "printed")


@dataclass(frozen=True)
class NonAsymptoticBound:
    """Theorem 5: how long Exploration-Biased Sampling takes, for all small delta.

    δ_0 is far below the smallest double (log(1/δ_0) is about 5e12 for an easy bandit), which is why
    everything here takes and gives log(1/δ).

    Attributes
    ----------
    t_0, t_1
        from t_0 on the target weights, from t_1 on the sampled proportions are near w(μ)
    log_inverse_delta_0
        log(1/δ_0): the theorem speaks of delta <= δ_0 only
    time, min_weight
        T(μ) and w_min(μ); all these have the shape (...)
    num_arms, eta
        K and η of the statement
    """

    t_0: Array
    t_1: Array
    log_inverse_delta_0: Array
    time: Array
    min_weight: Array
    num_arms: int
    eta: float

    def tail(self, t: npt.ArrayLike, log_inverse_delta: npt.ArrayLike) -> Array:
        """A bound on P(τ > t and E), the right side of equation (5); 1 where the theorem says nothing.

        Parameters
        ----------
        t
            broadcasts with (...)
        log_inverse_delta
            log(1/δ), broadcasts with (...)
        """
        when = _args.numbers("t", t)
        _args.finite("t", when)
        log_inverse = _log_inverse_delta(log_inverse_delta)
        with np.errstate(all="ignore"):
            rate = self.min_weight / (4.0 * np.square(self.time)) * log_inverse ** (-2.0 / 3.0)
            claimed = when > (1.0 + self.eta) * self.time * log_inverse
            log_bound = np.log(2.0 * self.num_arms) + np.log(np.maximum(when, 1.0)) - rate * when
            claimed = claimed & (log_inverse >= self.log_inverse_delta_0)
            return np.where(claimed, np.exp(np.minimum(log_bound, 0.0)), 1.0)[()]

    def expectation(self, log_inverse_delta: npt.ArrayLike) -> Array:
        """A bound on E[τ 1_E], the right side of equation (6); inf where the theorem says nothing."""
        log_inverse = _log_inverse_delta(log_inverse_delta)
        with np.errstate(all="ignore"):
            main = (1.0 + self.eta) * self.time * log_inverse
            exponent = -self.min_weight / (4.0 * self.time) * np.cbrt(log_inverse)
            log_factor = (
                np.log(128.0 * self.num_arms) + 4.0 * np.log(self.time) - 2.0 * np.log(self.min_weight)
            )
            second = np.exp(log_factor + exponent + 2.0 * np.log(log_inverse))
            return np.where(log_inverse >= self.log_inverse_delta_0, main + second, np.inf)[()]


def non_asymptotic_bound(
    means: npt.ArrayLike,
    *,
    gamma: float = 0.05,
    eta: float = 1.0,
    alpha: float = 1.2,
    version: str = "corrected",
) -> NonAsymptoticBound:
    """The constants T_0, T_1, δ_0 and the two bounds of Theorem 5.

    Parameters
    ----------
    means
        (..., K), in an interval of length one, the best arm unique, no gap below 1e-30; unit variance
    gamma
        the parameter of Exploration-Biased Sampling
    eta
        how far above T(μ) log(1/δ) the bound may lie, from 1e-30 to 1
    alpha
        the exponent of the threshold, in (1, 2]
    version
        "corrected", or "printed": the paper's constants, and R without δ

    Returns
    -------
    NonAsymptoticBound

    Raises
    ------
    InvalidInputError
    """
    gaps = _args.gaps(means, None)
    printed = _args.choice("version", version, VERSIONS) == "printed"
    log_miss = np.log(_args.gamma(gamma))
    slack = _in_range("eta", eta, 0.0, 1.0)
    rule = GK16(_in_range("alpha", alpha, 1.0, 2.0), printed=printed)
    d_min = np.where(gaps > 0, gaps, np.inf).min(axis=-1)
    if ((gaps == 0).sum(axis=-1) > 1).any():
        raise InvalidInputError(
            "means must have one best arm, got several equal ones; Theorem 5 says nothing about ties."
        )
    if (gaps > 1.0).any() or (d_min < 1e-30).any() or slack < 1e-30:
        raise InvalidInputError(
            f"means must lie in an interval of length 1 with no gap below 1e-30, and eta be at least "
            f"1e-30, got gaps from {d_min.min()} to {gaps.max()} and eta {slack}; rescale the means."
        )
    K = gaps.shape[-1]
    solution = optimal_weights(gaps=gaps)
    w_min = solution.weights.min(axis=-1)
    a, b = (224.0, 640.0) if printed else (448.0, 2560.0)
    x = d_min**2 * w_min
    t_0 = np.maximum(a**2 / x * (np.log(2.0 * a**2 * np.e * K / x) - log_miss), 2.0 * K / w_min)
    y = slack**2 * x
    inside = np.log(2.0 * b**2 * np.e * K / y) - log_miss
    t_1 = max(b**2, 8.0 * K) / (y * w_min) * inside
    # The last display of Appendix D.
    front = 7.0**3 * max(b**2 / 8.0, K) / (slack**3 * d_min * w_min**2)
    level = [
        _log_inverse_delta_0(rule, K, one, other + np.log(49.0))
        for one, other in zip(np.ravel(front), np.ravel(inside), strict=True)
    ]
    log_inverse = np.array(level).reshape(d_min.shape)[()]
    return NonAsymptoticBound(t_0, t_1, log_inverse, solution.time, w_min, K, slack)


def _log_inverse_delta_0(rule: GK16, num_arms: int, front: float, inside: float) -> float:
    """front (inside + ½ log R); in the corrected form R depends on δ_0 itself.

    log R grows only with log log(1/δ), so iterating converges at once.
    """
    level = 1.0
    for _ in range(100):
        previous = level
        level = float(front * (inside + 0.5 * rule.log_constant(num_arms, previous)))
        if abs(level - previous) <= 1e-13 * level:
            break
    return level


@dataclass(frozen=True)
class RegularityBounds:
    """Factors between which T'/T and every w'_a/w_a lie (Theorem 14)."""

    time_lower: float
    time_upper: float
    weight_lower: float
    weight_upper: float


def regularity_bounds(epsilon: float, *, version: str = "sharper") -> RegularityBounds:
    """How far T and w can move when every squared gap moves by a factor in [1-ε, 1+ε] (Theorem 14).

    Parameters
    ----------
    epsilon
        in [0, 1) for "sharper", in [0, 1/7] for "printed"
    version
        "sharper": T/(1+ε) <= T' <= T/(1-ε) and w'_a/w_a within ((1+ε)/(1-ε))^(±1.403); "printed": (1-3ε) T <=
        T' <= (1+6ε) T and w'_a/w_a within 1 ± 10ε

    Returns
    -------
    RegularityBounds

    Raises
    ------
    InvalidInputError
    """
    eps = _args.scalar("epsilon", epsilon)
    printed = _args.choice("version", version, ("sharper", "printed")) == "printed"
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
    number = _args.scalar(name, value)
    if not low < number <= high:
        raise InvalidInputError(
            f"{name} must lie above {low:g} and at most {high:g}, got {number}; Theorem 5 is for "
            f"such values only."
        )
    return number


def _log_inverse_delta(value: npt.ArrayLike) -> Array:
    number = _args.numbers("log_inverse_delta", value)
    _args.finite("log_inverse_delta", number)
    if (number <= 0.0).any():
        raise InvalidInputError(
            f"log_inverse_delta must be positive, got {number.min()}; it is log(1/delta)."
        )
    return number
