"""What rewards are: of a kind, which is a name with means and noise, or drawn from values for each arm.

To add a kind: a line in KINDS, and a branch in `kernels/random.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from .._catalogue import MODELS
from ..errors import InvalidInputError
from ..kernels.random import BERNOULLI, BETA, EXPONENTIAL, GAUSSIAN, POISSON, SAMPLED, UNIFORM
from ..theory.models import Gaussian, Model

LARGEST = 1e150  # value to draw from; its square is a double
MOST = 1e12  # mean of a Poisson reward, well below where doubles skip counts


class Kind(NamedTuple):
    """A kind of rewards.

    family   its number in the kernels
    low      the least mean, high the largest
    closed   whether a mean may be one of these
    meaning  what a mean is, for the refusal of one
    model    assumed by default, with its arguments; "" for Gaussian of the largest noise
    moves    whether a constant can be subtracted from mean and rewards
    """

    family: int
    low: float = -math.inf
    high: float = math.inf
    closed: bool = False
    meaning: str = ""
    model: str = ""
    arguments: tuple[float, ...] = ()
    moves: bool = False


UNIT = ("Bounded", (0.0, 1.0))
KINDS = {
    "gaussian": Kind(GAUSSIAN, moves=True),
    "bernoulli": Kind(BERNOULLI, 0.0, 1.0, True, "they are probabilities of a success", *UNIT),
    "uniform": Kind(UNIFORM, moves=True),
    "beta": Kind(BETA, 0.0, 1.0, False, "at an end rewards would be constant", *UNIT),
    "poisson": Kind(POISSON, 0.0, MOST, True, "they are mean counts", "Poisson"),
    "exponential": Kind(EXPONENTIAL, 0.0, math.inf, False, "they are mean times", "Exponential"),
}
NAMES = {"bernoulli": "Bernoulli", "poisson": "Poisson"}  # which are not written in small letters


@dataclass(frozen=True)
class Rewards:
    """The rewards of a bandit, checked.

    kind    a key of KINDS, or "" where rewards are drawn from values
    means   (K,)
    noise   (K,) as given; the standard deviations of values
    values  for each arm, None where there is a kind
    """

    kind: str
    means: Array
    noise: Array
    values: tuple[Array, ...] | None = None

    @property
    def family(self) -> int:
        """The number in the kernels."""
        return KINDS[self.kind].family if self.kind else SAMPLED

    @property
    def moves(self) -> bool:
        """Whether a constant can be subtracted from all rewards."""
        return not self.kind or KINDS[self.kind].moves

    @property
    def largest(self) -> float:
        """The largest number, in absolute value, that rewards are made of."""
        values = () if self.values is None else self.values
        return float(max(np.abs(part).max() for part in (self.means, self.noise, *values)))

    def assumed(self) -> Model:
        """The model of values that is assumed if none is given."""
        name = KINDS[self.kind].model if self.kind else ""
        if name:
            model: Model = MODELS[name].load()(*KINDS[self.kind].arguments)
            return model
        sigma = float(self.noise.max())
        if sigma == 0.0:
            what = "noise must be positive" if self.kind else "the values to draw from must differ"
            raise InvalidInputError(
                f"{what} for some arm, got {'0 for' if self.kind else 'the same ones within'} all; "
                f"{'raise it' if self.kind else 'add values'}, or give the sigma to assume."
            )
        return Gaussian(sigma)

    def check(self, model: Model) -> None:
        """Refuse values that the model excludes."""
        if self.values is None or model.limits is None:
            return
        low, high = model.limits
        for a, part in enumerate(self.values):
            outside = (part < low) | (part > high)
            if outside.any():
                raise InvalidInputError(
                    f"the values to draw from must lie in [{low:g}, {high:g}], as the model says, got "
                    f"{part[outside][0]:g} for arm {a + 1}; correct it, or give wider bounds."
                )

    def source(self, offset: float) -> tuple[Array, Array]:
        """What the kernels draw rewards less the offset from: nature and pool of `kernels.random.pull`."""
        if self.values is None:
            return np.array([self.means - offset, self.noise]), np.zeros(0)
        sizes = np.array([part.size for part in self.values], dtype=np.float64)
        return np.array([np.cumsum(sizes) - sizes, sizes]), np.concatenate(self.values) - offset


def make_rewards(
    rewards: str | Sequence[npt.ArrayLike],
    means: npt.ArrayLike | None,
    noise: npt.ArrayLike,
    fewest: int = 2,
) -> Rewards:
    """Check what `simulate` and `trace` are given about rewards: a kind with its means, or values."""
    if isinstance(rewards, list | tuple | np.ndarray):
        if means is not None:
            raise InvalidInputError(
                f"means must be left out where rewards are values to draw from, whose means they are, got "
                f"{_args.short(means)}; leave them out, or give the kind of rewards."
            )
        return _from_values(rewards, fewest)
    kind = _args.choice("rewards", rewards, tuple(KINDS))  # type: ignore[arg-type]
    if means is None:
        raise InvalidInputError(
            f"means must be given for {kind} rewards, got none; give one for each arm, such as [0.9, 0.8], "
            f"or give as rewards the values to draw from."
        )
    mu = _args.per_arm("means", means, fewest)
    if mu.ndim != 1:
        raise InvalidInputError(
            f"means must be one bandit of shape (K,), got shape {mu.shape}; give several as a list of such."
        )
    spread = _noise(noise, mu.size)
    _check_means(kind, mu)
    if kind == "beta":
        _check_beta(mu, spread)
    return Rewards(kind, mu, spread)


def _from_values(given: Sequence[npt.ArrayLike] | npt.NDArray[np.generic], fewest: int) -> Rewards:
    """Values for each arm, which are drawn from with replacement: they are the population."""
    values = tuple(_values(part, a) for a, part in enumerate(given))
    if len(values) < fewest:
        raise InvalidInputError(
            f"rewards must have values for at least two arms, got {len(values)}; with fewer there is nothing "
            f"to choose between."
        )
    means, deviations = zip(*map(_moments, values), strict=True)
    return Rewards("", np.array(means), np.array(deviations), values)


def _values(part: npt.ArrayLike, a: int) -> Array:
    """The values of one arm."""
    try:
        array = _args.numbers("rewards", part)
    except InvalidInputError:
        array = np.zeros(())
    if array.ndim != 1:
        raise InvalidInputError(
            f"rewards must be the name of a kind, or a list of numbers for each arm, got "
            f"{_args.short(part)} for arm {a + 1}; give for example [[0.7, 0.9], [0.4, 0.6, 0.5]]."
        )
    bad = ~(np.abs(array) <= LARGEST)
    if bad.any() or not array.size:
        found = f"{array[bad][0]} at index {np.flatnonzero(bad)[0]}" if array.size else "nothing"
        raise InvalidInputError(
            f"the values to draw from must be one or more finite numbers below {LARGEST:g} for each arm, got "
            f"{found} for arm {a + 1}; remove or replace it."
        )
    return np.array(array)


def _moments(x: Array) -> tuple[float, float]:
    """Mean and standard deviation of a population; exactly 0 if its values are equal."""
    if x.min() == x.max():
        return float(x[0]), 0.0
    mean = math.fsum(x.tolist()) / x.size
    apart = x - mean
    widest = float(np.abs(apart).max())
    return mean, widest * math.sqrt(float(np.mean((apart / widest) ** 2)))


def _check_means(kind: str, mu: Array) -> None:
    low, high, closed = KINDS[kind].low, KINDS[kind].high, KINDS[kind].closed
    inside = (mu >= low) & (mu <= high) if closed else (mu > low) & (mu < high)
    if not inside.all():
        allowed = f"lie {'' if closed else 'strictly '}between {low:g} and {high:g}"
        if math.isinf(high):
            allowed = "be positive"
        raise InvalidInputError(
            f"means of {NAMES.get(kind, kind)} rewards must {allowed}, got {mu.min()} to {mu.max()}; "
            f"{KINDS[kind].meaning}."
        )


def _check_beta(mu: Array, noise: Array) -> None:
    """Values between 0 and 1 deviate from their mean by less than those that are 0 or 1."""
    bad = noise * noise >= mu * (1.0 - mu)
    if bad.any():
        m, given = mu[bad][0], noise[bad][0]
        raise InvalidInputError(
            f"noise of beta rewards must be below sqrt(m (1 - m)), which is {math.sqrt(m * (1.0 - m)):.4g} "
            f"for the mean m = {m:g}, got {given:g}; lower it, or take bernoulli rewards."
        )


def _noise(value: npt.ArrayLike, num_arms: int) -> Array:
    given = _args.numbers("noise", value)
    if given.shape not in ((), (num_arms,)) or not (np.isfinite(given) & (given >= 0)).all():
        raise InvalidInputError(
            f"noise must be one number of at least 0, or one per arm, got {given.tolist()}; it is the "
            f"standard deviation of a reward, or the half-width of a uniform one."
        )
    return np.array(np.broadcast_to(given, (num_arms,)))
