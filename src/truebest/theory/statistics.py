"""The statistic Z that decides when to stop, the rate at which it grows, and confidence widths."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from ..errors import InvalidInputError
from ..kernels import best as kernels
from ..kernels import exploration
from ..kernels.layout import MEANS, MODEL, OWN, PULLS, UNIT
from .models import Gaussian, Model

WIDTHS = {
    "paper": exploration.PAPER,
    "experiments": exploration.EXPERIMENTS,
    "mixture": exploration.NORMAL_MIXTURE,
}


@dataclass(frozen=True)
class GLR:
    """The generalised likelihood ratio statistic.

    Attributes
    ----------
    statistic
        Z, (...)
    leader
        (...): the arm of largest mean, the lowest index among equals
    against
        (..., K): Z of the leader against each arm, inf at the leader
    """

    statistic: Array
    leader: npt.NDArray[np.int64]
    against: Array


def glr(pulls: npt.ArrayLike, means: npt.ArrayLike, sigma: float = 1.0, *, model: Model | None = None) -> GLR:
    """How strongly the data contradict that another arm is the best.

    Z = min over a of ½ N_b N_a/(N_b+N_a) (μ̂_b - μ̂_a)²/σ² with b the leader, which is t g(μ̂, N/t). For other
    models the least N_b d(μ̂_b, x) + N_a d(μ̂_a, x), with the divergence d of the model.

    Parameters
    ----------
    pulls
        (..., K), counts; the mean of an arm without pulls is ignored, and Z is 0
    means
        (..., K), the empirical means
    sigma
        standard deviation (sub-Gaussian scale) of one sample, short for model=Gaussian(sigma)
    model
        what a sample is; Bounded counts as the Gaussian of its scale

    Returns
    -------
    GLR(statistic (...), leader (...), against (..., K))

    Raises
    ------
    InvalidInputError
    """
    assumed = model or Gaussian(sigma)
    count, flat, _ = states(pulls, means, assumed)
    shape = count.shape[:-1]
    leader = np.empty(flat.shape[0], dtype=np.int64)
    with np.errstate(all="ignore"):
        kernels.leader_rows(flat, leader)
    statistic, against = _costs(assumed, flat, _args.rows(count), leader)
    return GLR(statistic.reshape(shape)[()], leader.reshape(shape)[()], against.reshape(count.shape))


def states(
    pulls: npt.ArrayLike, means: npt.ArrayLike, model: Model, blank: Array | None = None
) -> tuple[Array, Array, float]:
    """Checked counts (..., K), the flat states (n, rows, K) of the kernels, and the offset of their means.

    These are in units, from the lower end of the values if they have one, otherwise from the largest mean.
    """
    count, mu = _args.observations(pulls, means)
    model.check_means(mu[count > 0])
    origin = 0.0 if model.limits is None else model.limits[0]
    top = np.where(count > 0, mu, -np.inf).max(axis=-1, keepdims=True) if model.limits is None else origin
    with np.errstate(over="ignore"):
        unit = np.where(count > 0, (mu - top) / model.unit, -np.inf)
    num_arms = count.shape[-1]
    empty = model.blank(num_arms) if blank is None else blank
    flat = np.repeat(empty[None], count.size // num_arms, axis=0)
    flat[:, PULLS], flat[:, MEANS] = count.reshape(-1, num_arms), unit.reshape(-1, num_arms)
    return count, flat, origin


def _costs(model: Model, flat: Array, v: Array, leader: npt.NDArray[np.int64]) -> tuple[Array, Array]:
    """The least cost of the leader against another arm, and all of them, for counts or weights v."""
    params = np.zeros(OWN)
    params[MODEL], params[UNIT] = model.code, model.unit
    least, costs = np.empty(flat.shape[0]), np.empty(v.shape)
    with np.errstate(all="ignore"):
        kernels.cost_rows(params, flat, v, leader, least, costs)
    return least, costs


def evidence_rate(means: npt.ArrayLike, weights: npt.ArrayLike, *, model: Model | None = None) -> Array:
    """How fast evidence grows per sample with the proportions v: ½ min over a of v_b v_a/(v_b+v_a) Δ_a².

    The paper's g(μ, v), equation (8); over all proportions its largest value is 1/T(μ), at v = w(μ).

    Parameters
    ----------
    means
        (..., K)
    weights
        (..., K), at least 0 with sum one
    model
        what a sample is, Gaussian() if it is not given; for other models the least v_b d(μ_b, x) + v_a d(μ_a,
        x), with the divergence d of the model

    Returns
    -------
    (...)
        0 where several arms are best

    Raises
    ------
    InvalidInputError
    """
    gaps = _args.gaps(means, None)
    v = _args.per_arm("weights", weights)
    _args.same_shape("means", gaps, "weights", v)
    with np.errstate(over="ignore"):
        total = v.sum(axis=-1)
    if (v < 0).any() or (abs(total - 1.0) > 1e-6).any():
        raise InvalidInputError(
            f"weights must be at least 0 and sum to 1, got a smallest of {v.min()} and sums from "
            f"{total.min()} to {total.max()}; divide them by their sum."
        )
    assumed = model or Gaussian()
    placed = means if assumed.limits is not None else -gaps  # gaps lose nothing, and need no place
    _, flat, _ = states(np.ones_like(gaps), placed, assumed)
    best = gaps.reshape(-1, gaps.shape[-1]).argmin(axis=-1)
    value, _ = _costs(assumed, flat, _args.rows(v), best)
    return value.reshape(v.shape[:-1])[()]


def g(means: npt.ArrayLike, weights: npt.ArrayLike) -> Array:
    """The name of `evidence_rate` in version 0.1."""
    warnings.warn(
        "truebest.g was renamed in version 0.2 and will be removed; call truebest.evidence_rate, which takes "
        "the same arguments.",
        DeprecationWarning,
        stacklevel=2,
    )
    return evidence_rate(means, weights)


def confidence_width(
    pulls: npt.ArrayLike,
    gamma: float,
    num_arms: int,
    kind: str = "paper",
    sigma: float = 1.0,
) -> Array:
    """Half-width of the confidence interval of an arm's mean after so many pulls.

    Parameters
    ----------
    kind
        "paper"        2 sqrt(log(4KN/γ)/N), equation (3): all intervals hold at all times with probability at
        least 1-γ "experiments"  sqrt(log(KN/γ)/N), the paper's Section 4: they do not "mixture"      sqrt(2
        (log(K/γ) + log(1+N/c)/2)/N'), N' = N²/(N+c), c = 20: they hold too, and are narrower from 20 pulls on
    pulls
        any shape; inf where it is 0
    gamma
        the accepted probability of a miss
    num_arms
        K
    sigma
        standard deviation (sub-Gaussian scale) of one sample

    Returns
    -------
    the shape of pulls

    Raises
    ------
    InvalidInputError
    """
    count = _args.pulls(pulls)
    level = np.log(_args.num_arms(num_arms, 1)) - np.log(_args.gamma(gamma))
    code = WIDTHS[_args.choice("kind", kind, tuple(WIDTHS))]
    scale = _args.sigma(sigma)
    flat = np.ascontiguousarray(count).ravel()
    width = np.empty_like(flat)
    with np.errstate(all="ignore"):
        exploration.half_width_rows(code, level, flat, width)
        return (scale * width).reshape(count.shape)[()]
