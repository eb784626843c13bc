"""What every public function does first: turn its arguments into clean arrays, or refuse them.

Each refusal says what was given, what is allowed and what to do.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from .errors import InvalidInputError

Array = npt.NDArray[np.float64]


def numbers(name: str, value: npt.ArrayLike) -> Array:
    """A float64 array, or a refusal that names the argument."""
    try:
        if "numpy.ma" in sys.modules and np.ma.is_masked(value):
            raise TypeError  # a masked value is not a number
        with np.errstate(all="ignore"):
            array = np.asarray(value)
            if array.dtype.kind not in "fiub":
                if array.dtype.kind not in "OUS":
                    raise TypeError
                array = np.array([float(x) for x in array.ravel()]).reshape(array.shape)
            return np.require(array, np.float64, ["C", "A", "W"])  # kernels take no read-only arrays
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(
            f"{name} must be real numbers in an array with the arms on the last axis, got "
            f"{short(value)}; give a list such as [0.9, 0.8, 0.6]."
        ) from None


def per_arm(name: str, value: npt.ArrayLike, fewest: int = 2) -> Array:
    """Finite numbers with at least two arms on the last axis, or one."""
    array = numbers(name, value)
    if array.ndim == 0 or array.shape[-1] < fewest:
        arms = 1 if array.ndim == 0 else array.shape[-1]
        raise InvalidInputError(
            f"{name} must have at least two arms, got {arms}; with fewer there is nothing to choose between."
        )
    finite(name, array)
    return array


def finite(name: str, array: Array) -> None:
    """Refuse NaN and infinities."""
    bad = ~np.isfinite(array)
    if bad.any():
        raise InvalidInputError(
            f"{name} must be finite, got {array[bad][0]} at index {_first(bad)}; remove or replace it."
        )


def gaps(means: npt.ArrayLike | None, given: npt.ArrayLike | None) -> Array:
    """Gaps Δ = max μ - μ from means, or the gaps themselves."""
    if (means is None) == (given is None):
        raise InvalidInputError(
            f"give either means or gaps=, got {'both' if given is not None else 'neither'}; "
            f"gaps= is for gaps too small to survive the subtraction of means."
        )
    if given is None:
        assert means is not None
        mu = per_arm("means", means)
        with np.errstate(over="ignore"):
            array: Array = mu.max(axis=-1, keepdims=True) - mu
        if np.isinf(array).any():
            raise InvalidInputError(
                "means must differ by less than 1.8e308, got a difference beyond double range; rescale them."
            )
        return array
    array = per_arm("gaps", given)
    if (array < 0).any():
        raise InvalidInputError(
            f"gaps must be at least 0, got {array.min()}; a gap is the best mean minus the arm's."
        )
    if not (array == 0).any(axis=-1).all():
        raise InvalidInputError(
            f"gaps must be 0 at the best arm, got a smallest gap of {array.min(axis=-1).max()}; "
            f"include the best arm with gap 0."
        )
    return array


def box(lower: npt.ArrayLike, upper: npt.ArrayLike) -> tuple[Array, Array]:
    """Finite interval ends of one shape, none inverted."""
    low, high = per_arm("lower", lower), per_arm("upper", upper)
    same_shape("lower", low, "upper", high)
    inverted = low > high
    if inverted.any():
        raise InvalidInputError(
            f"every interval must have lower <= upper, got [{low[inverted][0]}, "
            f"{high[inverted][0]}] at index {_first(inverted)}; swap its ends."
        )
    with np.errstate(over="ignore"):
        if np.isinf(high.max(axis=-1) - low.min(axis=-1)).any():
            raise InvalidInputError(
                "interval ends must differ by less than 1.8e308, got a difference beyond double "
                "range; rescale them."
            )
    return low, high


def pulls(value: npt.ArrayLike, name: str = "pulls") -> Array:
    """Counts: whole numbers from 0 to 2⁵³, beyond which doubles skip some."""
    array = numbers(name, value)
    finite(name, array)
    bad = (array < 0) | (array > 2.0**53) | (array != np.floor(array))
    if bad.any():
        raise InvalidInputError(
            f"{name} must be whole numbers from 0 to 2**53, got {array[bad].ravel()[0]}; they count samples."
        )
    return array


def observations(given_pulls: npt.ArrayLike, given_means: npt.ArrayLike) -> tuple[Array, Array]:
    """Pulls and means of one shape; the mean of an arm without pulls is ignored and may be NaN."""
    count = pulls(given_pulls)
    means = numbers("means", given_means)
    same_shape("pulls", count, "means", means)
    means = per_arm("means", np.where(count == 0, 0.0, means))
    if not (count > 0).any(axis=-1).all():
        raise InvalidInputError(
            "pulls must be positive for at least one arm, got none; sample some arm first."
        )
    gaps(means, None)  # refuses differences beyond double range
    return count, means


def same_shape(name: str, array: Array, other_name: str, other: Array) -> None:
    """Refuse two arrays of different shape."""
    if array.shape != other.shape:
        raise InvalidInputError(
            f"{name} and {other_name} must have the same shape, got {array.shape} and "
            f"{other.shape}; give one number per arm in both."
        )


def probability(name: str, value: float, meaning: str) -> float:
    """A number strictly between 0 and 1."""
    number = scalar(name, value)
    if not 0.0 < number < 1.0:
        raise InvalidInputError(f"{name} must lie strictly between 0 and 1, got {number}; it is {meaning}.")
    return number


def delta(value: float) -> float:
    """The accepted probability of a wrong answer."""
    return probability("delta", value, "the accepted probability of a wrong answer, 0.05 is common")


def gamma(value: float) -> float:
    """The accepted probability that some confidence interval misses."""
    return probability("gamma", value, "the accepted probability of a miss, 0.05 is common")


def sigma(value: float) -> float:
    """A positive finite standard deviation."""
    number = scalar("sigma", value)
    if not 0.0 < number < np.inf:
        raise InvalidInputError(
            f"sigma must be positive and finite, got {number}; it is the standard deviation "
            f"(sub-Gaussian scale) of one sample."
        )
    return number


def tolerance(value: float) -> float:
    """How far below the best a declared arm may be."""
    number = scalar("tolerance", value)
    if not 0.0 <= number < np.inf:
        raise InvalidInputError(
            f"tolerance must be at least 0 and finite, got {number:g}; it is how far below the best the "
            f"answer may be, in the units of the values."
        )
    return number


def scale(sigma: float) -> float:
    """A scale far enough from the ends of double precision that no reward overflows or loses bits."""
    if not 1e-150 < sigma < 1e150:
        raise InvalidInputError(
            f"the scale of the values must lie between 1e-150 and 1e150, got {sigma:g}; use other units."
        )
    return sigma


def num_arms(value: int, fewest: int = 2) -> int:
    """A whole number of at least two, or one."""
    number = scalar("num_arms", value)
    if number < fewest or number != np.floor(number) or number == np.inf:
        raise InvalidInputError(
            f"num_arms must be a whole number of at least {fewest}, got {value}; it is the number of "
            f"options that are compared."
        )
    return int(number)


def whole(name: str, value: int, low: int, high: int, advice: str) -> int:
    """A whole number in a range."""
    if (
        isinstance(value, bool | np.bool_)
        or not isinstance(value, int | np.integer)
        or not low <= value <= high
    ):
        raise InvalidInputError(
            f"{name} must be a whole number from {low} to {high}, got {short(value)}; {advice}."
        )
    return int(value)


def seed(value: int) -> int:
    """The seed of a simulation."""
    return whole("seed", value, 0, 2**64 - 1, "any number will do, and the same one gives the same result")


def scalar(name: str, value: float) -> float:
    """One real number, not NaN."""
    try:
        if isinstance(value, str | bytes):
            raise TypeError
        number = float(value)
        if number != number:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(
            f"{name} must be one real number, got {short(value)}; give a single number."
        ) from None
    return number


def flag(name: str, value: bool) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInputError(f"{name} must be True or False, got {short(value)}; choose one.")
    return bool(value)


def choice(name: str, value: str, allowed: Sequence[str]) -> str:
    """One of a few words; the refusal names the closest."""
    if isinstance(value, str) and value in allowed:
        return value
    import difflib

    near = difflib.get_close_matches(str(value), allowed, n=1, cutoff=0.5)
    advice = f"did you mean {near[0]!r}?" if near else "choose one of them."
    words = ", ".join(repr(word) for word in allowed)
    raise InvalidInputError(f"{name} must be one of {words}, got {short(value)}; {advice}")


def known_arguments(caller: str, given: Iterable[str], allowed: Sequence[str]) -> None:
    """Refuse a keyword that a function does not take, as Python would, but suggest the closest one."""
    for name in given:
        if name not in allowed:
            import difflib

            near = difflib.get_close_matches(name, allowed, n=1, cutoff=0.5)
            advice = f"did you mean {near[0]!r}?" if near else "leave it out."
            raise TypeError(
                f"{caller} got an unexpected argument {name!r}; it takes {', '.join(allowed)}; {advice}"
            )


def rows(array: Array) -> Array:
    """Merge the leading batch axes into one, for a kernel that loops over rows."""
    return np.ascontiguousarray(array).reshape(-1, array.shape[-1])


def _first(bad: npt.NDArray[np.bool_]) -> str:
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    return str(index[0]) if len(index) == 1 else str(index)


def short(value: object) -> str:
    """How a refusal quotes what it was given: one line, not long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
