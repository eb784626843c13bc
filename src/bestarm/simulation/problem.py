"""What is simulated: the arms and their rewards, the risks and the stopping rule, checked on entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _door
from .._door import Array
from ..errors import InvalidInputError
from ..kernels.exact import round_offset
from ..kernels.random import BERNOULLI, GAUSSIAN, UNIFORM
from ..kernels.tracking import TIE
from ..theory.models import Bounded, Gaussian, Model
from ..theory.stopping import StoppingRule, stopping_rule

FAMILIES = {"gaussian": GAUSSIAN, "bernoulli": BERNOULLI, "uniform": UNIFORM}


@dataclass(frozen=True)
class Problem:
    """A bandit, its rewards, the risks and the rule that stops.

    offset         a round number near the largest mean, 0 near 0, that is left out of means and rewards
    means, noise   (K,), the means less the offset
    model          what is assumed of a reward
    deltas         in the order given
    best           the arms whose recommendation is right: within the tolerance of the largest mean
    max_samples    where a run is cut off, inf for never
    """

    offset: float
    means: Array
    noise: Array
    rewards: str
    model: Model
    deltas: tuple[float, ...]
    rule: StoppingRule
    tolerance: float
    max_samples: float
    best: frozenset[int]

    @property
    def family(self) -> int:
        """The reward's number in the kernels."""
        return FAMILIES[self.rewards]

    @property
    def num_arms(self) -> int:
        """K."""
        return int(self.means.size)


def make_problem(
    means: npt.ArrayLike,
    delta: float | Sequence[float],
    rewards: str,
    noise: npt.ArrayLike,
    sigma: float | Sequence[float] | None,
    model: Model | None,
    stopping: str | StoppingRule,
    max_samples: int | None,
    tolerance: float = 0.0,
) -> Problem:
    """Check everything that `simulate` and `trace` are given about the bandit."""
    mu = _door.per_arm("means", means)
    if mu.ndim != 1:
        raise InvalidInputError(
            f"means must be one bandit of shape (K,), got shape {mu.shape}; simulate one at a time."
        )
    family = _door.choice("rewards", rewards, tuple(FAMILIES))
    spread = _noise(noise, mu.size)
    if family == "bernoulli" and not ((mu >= 0) & (mu <= 1)).all():
        raise InvalidInputError(
            f"means of Bernoulli rewards must lie between 0 and 1, got {mu.min()} to {mu.max()}; they "
            f"are probabilities of a success."
        )
    assumed = _model(model, sigma, family, spread)
    unit = assumed.unit
    assumed.variances(mu.size)  # refuses another number of arms
    with np.errstate(over="ignore"):
        largest = max(np.abs(mu).max(), spread.max()) / unit
    if largest > 1e100:
        raise InvalidInputError(
            f"means and noise must be below 1e100 in units of sigma, got {largest:g}; rescale "
            f"them, or give the right sigma."
        )
    _door.scale(unit)
    limit = np.inf if max_samples is None else _limit(max_samples, mu.size)
    allowed = _door.tolerance(tolerance)
    best = frozenset(np.flatnonzero(mu >= mu.max() - allowed).tolist())
    near = int((mu >= mu.max() - TIE * unit).sum())
    if near > 1 and allowed == 0.0 and not np.isfinite(limit):
        raise InvalidInputError(
            f"the largest mean must be unique, got {mu.max()} for {near} arms (within 1e-9 sigma), with "
            f"which a run would never end; give max_samples."
        )
    deltas = tuple(_door.delta(x) for x in np.atleast_1d(_door.numbers("delta", delta)).ravel())
    if not deltas or len(set(deltas)) != len(deltas):
        raise InvalidInputError(
            f"delta must be one or more different risks, got {list(deltas)}; 0.05 is common."
        )
    rule = stopping_rule(stopping)
    rule = rule.simulated() if isinstance(stopping, str) else rule
    offset = 0.0 if family == "bernoulli" else round_offset(float(mu.max()), unit)
    return Problem(offset, mu - offset, spread, family, assumed, deltas, rule, allowed, limit, best)


def _model(model: Model | None, sigma: float | Sequence[float] | None, family: str, spread: Array) -> Model:
    """What is assumed: given, or values in [0, 1] if they are Bernoulli, or else the largest noise."""
    if model is not None:
        if sigma is not None:
            raise InvalidInputError(
                f"give either sigma or model, got sigma {_door.short(sigma)} and model {model}; sigma is "
                f"short for model=Gaussian(sigma)."
            )
        if not isinstance(model, Model):
            raise InvalidInputError(
                f"model must be a model of values, got {_door.short(model)}; give bestarm.Gaussian(2.0), say."
            )
        return model
    if sigma is None:
        if family == "bernoulli":
            return Bounded(0.0, 1.0)
        sigma = float(spread.max())
        if sigma == 0.0:
            raise InvalidInputError(
                "noise must be positive for some arm, got 0 for all; raise it, or give the sigma to assume."
            )
    return Gaussian(sigma)  # type: ignore[arg-type]


def _noise(value: npt.ArrayLike, num_arms: int) -> Array:
    given = _door.numbers("noise", value)
    if given.shape not in ((), (num_arms,)) or not (np.isfinite(given) & (given >= 0)).all():
        raise InvalidInputError(
            f"noise must be one number of at least 0, or one per arm, got {given.tolist()}; it is the "
            f"standard deviation of a reward, or the half-width of a uniform one."
        )
    return np.array(np.broadcast_to(given, (num_arms,)))


def _limit(max_samples: int, num_arms: int) -> float:
    limit = _door.scalar("max_samples", max_samples)
    if limit != np.floor(limit) or not num_arms <= limit <= 2.0**53:
        raise InvalidInputError(
            f"max_samples must be a whole number from {num_arms} (one per arm) to 2**53, got "
            f"{max_samples}; it is where a run is cut off."
        )
    return limit
