"""Models: what a value is. A rule's proof, a strategy's costs and a promise in words all start from one.

    Gaussian   independent values that are normal, or sub-Gaussian: with one known scale, or one per arm
    Bounded    independent values between two known ends
    Bernoulli, Poisson, Exponential
               independent successes and failures, counts, waiting times: one-parameter exponential families
    Student    independent normal values of unknown variances

To add one: a class here, a branch in `kernels/families.py` where its kernels differ.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from .._catalogue import MODELS, NAMED_MODELS
from .._text import exactly
from ..errors import InvalidInputError
from ..kernels import divergences, families
from ..kernels.exact import FARTHEST, round_offset
from ..kernels.layout import MEANS, ROWS, VARIANCES

Flags = npt.NDArray[np.bool_]

MOST_UNEQUAL = 1e4  # scales: means are compared, and tie, in units of the largest


class Values(ABC):
    """What numbers are values, and what is known of their scale."""

    @property
    def unit(self) -> float:
        """What differences are measured in."""
        return 1.0

    @property
    def smallest_scale(self) -> float:
        """The smallest scale of a value; inf where no scale is known, and means are counted from 0."""
        return math.inf

    @property
    def needs_origin(self) -> bool:
        """Whether it matters where values lie, and not only how far they are from each other."""
        return False

    @property
    @abstractmethod
    def words(self) -> str:
        """What a promise assumes of the values."""

    @property
    def limits(self) -> tuple[float, float] | None:
        """Between which every value lies, if there are such limits."""
        return None

    def allows(self, value: float) -> bool:
        """Whether a value is possible."""
        limits = self.limits
        return limits is None or limits[0] <= value <= limits[1]

    @property
    def demand(self) -> str:
        """What `allows` asks of a value, in words."""
        low, high = self.limits or (-np.inf, np.inf)
        return f"within the bounds [{exactly(low)}, {exactly(high)}]"

    @abstractmethod
    def check(self, number: float, given: object) -> None:
        """Refuse a number that can be no value; the limits are not checked."""


class Model(Values):
    """What is assumed of a value, so that means can be computed with."""

    @property
    @abstractmethod
    def code(self) -> int:
        """The model's number in the kernels."""

    @property
    @abstractmethod
    def unit(self) -> float:
        """What means are measured in: the (largest) scale of a value."""

    @property
    def smallest_scale(self) -> float:
        return self.unit

    @property
    def rule(self) -> str | None:
        """The only stopping rule that can judge such values, if there is only one."""
        return None

    def check(self, number: float, given: object) -> None:
        largest = 1e100 * self.unit  # at most 1e250
        if not math.isfinite(number) or abs(number) > largest:
            raise InvalidInputError(
                f"a value must be a finite number up to {largest:.3g}, got {_args.short(given)}; if the pull "
                f"gave none, say so with fail; nothing was stored."
            )
        if self.limits is None:
            refuse_distant("a value", number, self.smallest_scale)

    @property
    def relaxed(self) -> Model:
        """A model that assumes less, for rules that do not know this one; or the model itself."""
        return self

    def origin(self, sign: float) -> float | None:  # noqa: ARG002
        """From where the means of values sign * x are counted; None if that depends on the values."""
        return None

    def placed(self, offset: float, sign: float = 1.0) -> Model:  # noqa: ARG002
        """The same model for values sign * x - offset."""
        return self

    def check_means(self, mu: Array) -> None:
        """Refuse means that the model does not have."""
        if self.limits is None:
            return
        low, high = self.limits
        slack = 1e-9 * (high - low) if np.isfinite(high) else 0.0
        outside = ~((mu >= low - slack) & (mu <= high + slack))
        if outside.any():
            raise InvalidInputError(
                f"means must lie within the bounds [{low:g}, {high:g}], got {mu[outside].flat[0]:g}; give "
                f"the bounds that the values respect."
            )

    def variances(self, num_arms: int) -> Array:
        """The variance of one value of each arm, in squared units."""
        return np.ones(num_arms)

    def blank(self, num_arms: int, more: int = 0) -> Array:
        """A state without pulls, with so many more rows."""
        state = np.zeros((ROWS + more, num_arms))
        state[MEANS], state[VARIANCES] = -np.inf, self.variances(num_arms)
        return state


@dataclass(frozen=True)
class Gaussian(Model):
    """Independent normal values of known standard deviation, or sub-Gaussian ones of that scale.

    Attributes
    ----------
    sigma
        one number, or one per arm
    """

    sigma: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        given: Any = self.sigma
        if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes):
            scales = tuple(_args.sigma(one) for one in given)
            if len(scales) < 2:
                raise InvalidInputError(
                    f"sigma must be one number or one per arm, got {list(scales)}; give one for all arms."
                )
            if max(scales) > MOST_UNEQUAL * min(scales):
                raise InvalidInputError(
                    f"the sigmas of arms may differ by a factor of {MOST_UNEQUAL:g} at most, got "
                    f"{min(scales):g} to {max(scales):g}; take a larger one for the arm of the smallest."
                )
            object.__setattr__(self, "sigma", scales[0] if len(set(scales)) == 1 else scales)
        else:
            object.__setattr__(self, "sigma", _args.sigma(given))

    @property
    def code(self) -> int:
        return families.UNEQUAL if isinstance(self.sigma, tuple) else families.GAUSSIAN

    @property
    def unit(self) -> float:
        return max(self.sigma) if isinstance(self.sigma, tuple) else self.sigma

    @property
    def smallest_scale(self) -> float:
        return min(self.sigma) if isinstance(self.sigma, tuple) else self.sigma

    @property
    def words(self) -> str:
        if isinstance(self.sigma, tuple):
            shown = ", ".join(f"{one:g}" for one in self.sigma)
            return f"independent values of sub-Gaussian scales {shown}"
        return f"independent values of sub-Gaussian scale {self.sigma:g}"

    def variances(self, num_arms: int) -> Array:
        if not isinstance(self.sigma, tuple):
            return super().variances(num_arms)
        if len(self.sigma) != num_arms:
            raise InvalidInputError(
                f"sigma must be one number or one per arm, got {len(self.sigma)} for {num_arms} arms; give "
                f"one for each."
            )
        return (np.array(self.sigma) / self.unit) ** 2


@dataclass(frozen=True)
class Bounded(Model):
    """Independent values between lo and hi: sub-Gaussian of scale (hi - lo)/2 by Hoeffding's lemma."""

    lo: float
    hi: float

    def __post_init__(self) -> None:
        try:
            if isinstance(self.lo, str | bytes) or isinstance(self.hi, str | bytes):
                raise TypeError
            low, high = float(self.lo), float(self.hi)
            if not (np.isfinite(low) and np.isfinite(high) and low < high and np.isfinite(high - low)):
                raise ValueError
        except (TypeError, ValueError):
            raise InvalidInputError(
                f"bounds must be (lo, hi) with lo < hi, both finite, got "
                f"({_args.short(self.lo)}, {_args.short(self.hi)}); every value must lie between them, such "
                f"as (0, 1) for a score or a success."
            ) from None
        object.__setattr__(self, "lo", low)
        object.__setattr__(self, "hi", high)

    @property
    def code(self) -> int:
        return families.BOUNDED

    @property
    def unit(self) -> float:
        return (self.hi - self.lo) / 2.0

    @property
    def words(self) -> str:
        return f"independent values in [{exactly(self.lo)}, {exactly(self.hi)}]"

    @property
    def limits(self) -> tuple[float, float]:
        return self.lo, self.hi

    def origin(self, sign: float) -> float:
        return round_offset(sign * (self.lo + self.hi) / 2, self.unit)

    def placed(self, offset: float, sign: float = 1.0) -> Bounded:
        low, high = sorted(sign * end - offset for end in self.limits)
        return Bounded(low, high)


class ExponentialFamily(Model):
    """A one-parameter exponential family, by its mean: one number says all about an arm.

    Means are compared, and tie, in units of 1: arms whose means differ by less than 1e-9 count as equal.

    kind     of a value
    allowed  for a mean
    ends     between which values lie
    rewards  of a simulation that are such values
    sign     -1 where they are negated
    """

    kind: ClassVar[str]
    allowed: ClassVar[str]
    number: ClassVar[int]
    rewards: ClassVar[tuple[str, ...]]
    ends: ClassVar[tuple[float, float]] = (0.0, math.inf)
    sign: ClassVar[float] = 1.0

    @property
    def code(self) -> int:
        return self.number

    @property
    def unit(self) -> float:
        return 1.0

    @property
    def words(self) -> str:
        return f"independent {self.kind}"

    @property
    def limits(self) -> tuple[float, float]:
        low, high = sorted(self.sign * end for end in self.ends)
        return low, high

    @property
    def needs_origin(self) -> bool:
        return True

    def origin(self, sign: float) -> float:  # noqa: ARG002
        return 0.0

    def placed(self, offset: float, sign: float = 1.0) -> Model:
        if offset != 0.0:
            raise ValueError("the means of an exponential family are counted from 0")
        moved = copy(self)
        object.__setattr__(moved, "sign", sign * self.sign)
        return moved

    @abstractmethod
    def has_mean(self, mu: Array) -> Flags:
        """Whether there is a member of such a mean."""

    def check_means(self, mu: Array) -> None:
        outside = ~self.has_mean(mu)
        if outside.any():
            raise InvalidInputError(
                f"means of {type(self).__name__} values must be {self.allowed}, got "
                f"{mu[outside].flat[0]:g}; give such means, or another model."
            )


@dataclass(frozen=True)
class Bernoulli(ExponentialFamily):
    """Independent successes (1) and failures (0)."""

    kind = "successes and failures"
    allowed = "between 0 and 1"
    number = divergences.BERNOULLI_MODEL
    rewards = ("bernoulli",)
    ends = (0.0, 1.0)

    @property
    def demand(self) -> str:
        return "0 or 1"

    @property
    def relaxed(self) -> Bounded:
        return Bounded(0.0, 1.0)

    def allows(self, value: float) -> bool:
        return value in (0.0, 1.0)

    def has_mean(self, mu: Array) -> Flags:
        return (mu >= 0.0) & (mu <= 1.0)


@dataclass(frozen=True)
class Poisson(ExponentialFamily):
    """Independent Poisson counts."""

    kind = "Poisson counts"
    allowed = "at least 0"
    number = divergences.POISSON_MODEL
    rewards = ("poisson", "bernoulli")

    @property
    def demand(self) -> str:
        return "a whole number of at least 0"

    def allows(self, value: float) -> bool:
        return value >= 0.0 and value == math.floor(value)

    def has_mean(self, mu: Array) -> Flags:
        return mu >= 0.0


@dataclass(frozen=True)
class Exponential(ExponentialFamily):
    """Independent exponential values, such as waiting times.

    Values of any scale: but as means within 1e-9 tie, give them in a unit in which they are not tiny.
    """

    kind = "exponential values"
    allowed = "above 0"
    number = divergences.EXPONENTIAL_MODEL
    rewards = ("exponential", "uniform")

    @property
    def demand(self) -> str:
        return "above 0"

    def allows(self, value: float) -> bool:
        return value > 0.0

    def has_mean(self, mu: Array) -> Flags:
        return mu > 0.0


@dataclass(frozen=True)
class Student(Model):
    """Independent normal values whose variances are not known, and may differ between arms.

    Only the rule "student" judges them, and its proof needs normal values: others with the same mean and
    variance are not enough. No scale is known, so the unit is far below that of any values: what counts as
    1e-9 of it, as ties do, is nothing, and means and squares stay within the range of doubles.
    """

    @property
    def code(self) -> int:
        return families.STUDENT

    @property
    def unit(self) -> float:
        return 2.0**-100

    @property
    def smallest_scale(self) -> float:
        return np.inf

    def origin(self, sign: float) -> float:  # noqa: ARG002
        return 0.0

    @property
    def words(self) -> str:
        return "independent Gaussian values of unknown variances"

    @property
    def rule(self) -> str:
        return "student"

    def variances(self, num_arms: int) -> Array:
        return np.full(num_arms, np.inf)


def find_model(given: str | Model) -> Model:
    """A model by name, if it has no parameters; or the model itself."""
    if not isinstance(given, str):
        return given
    model: Model = MODELS[_args.choice("model", given.lower(), NAMED_MODELS).capitalize()].load()()
    return model


def refuse_distant(what: str, value: float, unit: float) -> None:
    """Refuse what is so far from 0 that a double no longer holds the noise: 2^-53 of it is 2^-10 sigma."""
    if abs(value) > FARTHEST * unit:
        raise InvalidInputError(
            f"{what} must lie within 2**43 sigma ({FARTHEST * unit:.3g}) of 0, got {value:g}, where "
            f"rounding takes more than a thousandth of sigma from a value; subtract a constant from all "
            f"values, such as the first of them."
        )
