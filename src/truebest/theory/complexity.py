"""How many samples a bandit needs: the optimal weights w(μ), the characteristic time T(μ), bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from ..errors import InvalidInputError
from ..kernels import weights as kernels
from ..kernels.family_weights import family_weights_rows
from ..kernels.layout import MODEL, OWN, UNIT
from .models import ExponentialFamily, Gaussian, Model

METHODS = ("newton", "paper")


@dataclass(frozen=True)
class OptimalWeights:
    """Sampling proportions that attain the lower bound, and what they attain.

    Attributes
    ----------
    weights
        w, (..., K): they sum to one
    time
        T, (...): inf where several arms are best, and beyond double range
    log_time
        log T, (...): finite wherever the best arm is unique
    ratio
        r, (...): the root of equation (11); for other models than Gaussian() of one scale, what it is there:
        w_b T/2, with b the best arm
    """

    weights: Array
    time: Array
    log_time: Array
    ratio: Array


def optimal_weights(
    means: npt.ArrayLike | None = None,
    *,
    gaps: npt.ArrayLike | None = None,
    model: Model | None = None,
    method: str = "newton",
) -> OptimalWeights:
    """Sampling proportions that attain the lower bound.

    Solves φ_μ(r) = 0 (Proposition 8) by Newton on an equivalent, nearly linear equation.

    Several best arms share the weight, and T is inf: the paper's convention.
    Numerics: relative error below 1e-13 for gaps from 1e-300 to 1e150 and up to ten million arms.
    Means cancel in the subtraction; give gaps where that matters. For exponential families the time is as
    exact, and weights to 1e-12.

    Parameters
    ----------
    means
        (..., K), the arms on the last axis
    gaps
        instead of means: (..., K), zero at the best arm; not for Bernoulli, Poisson and Exponential
    model
        what a sample is, Gaussian() if it is not given; Bounded counts as the Gaussian of its scale
    method
        "newton", or "paper": Algorithm 4 as printed, with its tolerance of 1e-10 on φ

    Returns
    -------
    OptimalWeights(weights (..., K), time (...), log_time (...), ratio (...))

    Raises
    ------
    InvalidInputError
    """
    delta = _args.gaps(means, gaps)
    printed = _args.choice("method", method, METHODS) == "paper"
    assumed = model or Gaussian()
    if isinstance(assumed, ExponentialFamily):
        return _family_weights(means, assumed, printed)
    if means is not None:
        assumed.check_means(_args.numbers("means", means))
    flat = _args.rows(delta / assumed.unit)
    w = np.empty_like(flat)
    summary = np.empty((flat.shape[0], 4))
    with np.errstate(all="ignore"):
        if isinstance(assumed, Gaussian) and isinstance(assumed.sigma, tuple):
            _refuse_printed(printed, assumed)
            kernels.unequal_weights_rows(flat, assumed.variances(flat.shape[1]), w, summary)
        else:
            kernels.optimal_weights_rows(flat, printed, w, summary)
        scaled_r, w_best, smallest, _ = summary.T
        log_time = np.log(2.0 * scaled_r / w_best) - 2.0 * np.log(smallest)
        time = _over_square(2.0 * scaled_r / w_best, smallest)  # (14)
        ratio = _over_square(scaled_r, smallest)
    shape = delta.shape[:-1]
    return OptimalWeights(
        w.reshape(delta.shape),
        time.reshape(shape)[()],
        log_time.reshape(shape)[()],
        ratio.reshape(shape)[()],
    )


def _family_weights(means: npt.ArrayLike | None, model: ExponentialFamily, printed: bool) -> OptimalWeights:
    """`optimal_weights` where the divergence depends on the means themselves."""
    if means is None:
        raise InvalidInputError(
            f"the model {model} needs means, got gaps; how hard a gap is depends on where the means are."
        )
    _refuse_printed(printed, model)
    mu = _args.per_arm("means", means)
    model.check_means(mu)
    flat, params = _args.rows(mu), np.zeros(OWN)
    params[MODEL], params[UNIT] = model.code, model.unit
    w, rate, best = np.empty_like(flat), np.empty(flat.shape[0]), flat.argmax(axis=-1)
    with np.errstate(all="ignore"):
        family_weights_rows(params, flat, best, w, rate)
        time = 1.0 / rate
        ratio = np.where(rate > 0.0, 0.5 * time * np.take_along_axis(w, best[:, None], -1)[:, 0], np.inf)
        shape = mu.shape[:-1]
        return OptimalWeights(
            w.reshape(mu.shape),
            time.reshape(shape)[()],
            np.log(time).reshape(shape)[()],
            ratio.reshape(shape)[()],
        )


def _refuse_printed(printed: bool, model: Model) -> None:
    if printed:
        raise InvalidInputError(
            f"method 'paper' is for Gaussian values of one scale, got the model {model}; leave the method "
            f"out."
        )


def characteristic_time(
    means: npt.ArrayLike | None = None,
    *,
    gaps: npt.ArrayLike | None = None,
    model: Model | None = None,
) -> Array:
    """T(μ), equation (1): no δ-correct strategy needs fewer than about T log(1/δ) samples.

    Parameters
    ----------
    means, gaps
        as in `optimal_weights`: one of them, (..., K)
    model
        what a sample is, as in `optimal_weights`

    Returns
    -------
    Array of shape (...)
        inf where several arms are best
    """
    return optimal_weights(means, gaps=gaps, model=model).time


def lower_bound(
    means: npt.ArrayLike | None = None,
    delta: float = 0.05,
    *,
    gaps: npt.ArrayLike | None = None,
    model: Model | None = None,
) -> Array:
    """T(μ) kl(δ, 1-δ): no δ-correct strategy has a smaller mean number of samples.

    Parameters
    ----------
    means, gaps
        as in `optimal_weights`: one of them, (..., K)
    delta
        the accepted probability of a wrong answer; from 1/2 on the argument gives nothing: 0
    model
        what a sample is, as in `optimal_weights`

    Returns
    -------
    Array of shape (...)
    """
    risk = _args.delta(delta)
    time = np.asarray(characteristic_time(means, gaps=gaps, model=model))
    if risk >= 0.5:
        return np.zeros_like(time)[()]
    kl = float((1.0 - 2.0 * risk) * (np.log1p(-risk) - np.log(risk)))
    with np.errstate(over="ignore"):
        return np.multiply(time, kl)[()]


@dataclass(frozen=True)
class ComplexityBounds:
    """Both sides of Proposition 10, from the gaps alone; every field has the shape (...).

    min_weight_lower is the corrected bound (Δ_min/Δ_max)²/(1+sqrt(K-1))².
    """

    ratio_lower: Array
    ratio_upper: Array
    max_weight_lower: Array
    max_weight_upper: Array
    time_lower: Array
    time_upper: Array
    min_weight_lower: Array


def complexity_bounds(
    means: npt.ArrayLike | None = None, *, gaps: npt.ArrayLike | None = None
) -> ComplexityBounds:
    """Bounds on r, w_max, T (Proposition 10) and w_min in closed form.

    Differs from the paper: Lemma 28 prints w_min >= Δ_min/(2K), which fails for the paper's own first
    bandit (0.00972 < 0.01).

    Parameters
    ----------
    means, gaps
        as in `optimal_weights`: one of them, (..., K)

    Returns
    -------
    ComplexityBounds
        where several arms are best, T and r are inf, w_min is bounded by 0 and w_max lies between 1/K and 1/2
    """
    delta = _args.gaps(means, gaps)
    num_arms = delta.shape[-1]
    s = np.sqrt(num_arms - 1.0)
    unique = (delta == 0).sum(axis=-1) == 1
    positive = np.where(delta > 0, delta, np.inf)
    smallest = np.where(unique, positive.min(axis=-1), 1.0)
    with np.errstate(all="ignore"):
        scaled = delta / smallest[..., None]
        average = (scaled**2).sum(axis=-1) / (num_arms - 1.0)
        ratio_lower = np.maximum(2.0, (1.0 + s) / average)
        time_lower = np.maximum(8.0, 4.0 * (1.0 + s) / average)
        bounds = ComplexityBounds(
            ratio_lower=_over_square(ratio_lower, smallest),  # (16)
            ratio_upper=_over_square(1.0 + s, smallest),
            max_weight_lower=np.full(smallest.shape, 1.0 / (1.0 + s)),  # (17)
            max_weight_upper=np.full(smallest.shape, 0.5),
            time_lower=_over_square(time_lower, smallest),  # (18)
            time_upper=_over_square(2.0 * (1.0 + s) ** 2, smallest),
            min_weight_lower=1.0 / (scaled.max(axis=-1) * (1.0 + s)) ** 2,
        )
    tied = {
        "max_weight_lower": 1.0 / num_arms,
        "max_weight_upper": 0.5,
        "min_weight_lower": 0.0,
    }
    return ComplexityBounds(
        **{name: np.where(unique, value, tied.get(name, np.inf))[()] for name, value in vars(bounds).items()}
    )


def _over_square(x: Array | float, unit: Array) -> Array:
    """x / unit², through the square where it is in range, else one division at a time."""
    square = unit * unit
    normal = (square > 1e-290) & (square < 1e290)
    return np.where(normal, x / np.where(normal, square, 1.0), x / unit / unit)
