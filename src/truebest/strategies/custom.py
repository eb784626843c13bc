"""A user's own strategy: a plain Python function, compiled, in the same engine as the built-in ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidInputError
from ..kernels.layout import Select
from ._admit import BY_NAME, Form, admit, taken
from ._base import Strategy


@dataclass(frozen=True)
class CustomStrategy(Strategy):
    """What `strategy` makes of a function."""

    name: str = "custom"
    select: Select = field(default=lambda *_: 0, repr=False)
    params: tuple[float, ...] = ()
    rows: tuple[str, ...] = ()  # type: ignore[misc]
    uses_delta: bool = False  # type: ignore[misc]
    stops_itself: bool = False  # type: ignore[misc]
    function: Callable[..., int] | None = field(default=None, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:  # for another process, which compiles the function itself
        return _again, (self.function, self.name, self.rows, self.params, self.uses_delta, self.stops_itself)

    def parameters(self, num_arms: int, sigma: float) -> npt.NDArray[np.float64]:
        return np.array(self.params, dtype=np.float64)


def strategy(
    function: Callable[..., int] | None = None,
    *,
    name: str | None = None,
    rows: Sequence[str] = (),
    params: Sequence[float] = (),
    uses_delta: bool = False,
    stops_itself: bool = False,
) -> Any:
    """Turn a plain function into a strategy; use it as a decorator, with or without brackets.

    Once each arm has been pulled once, the function is called before every pull. It takes whichever of these
    it needs, in any order:

        t          number of samples so far, a float
        last       the arm pulled last; -1 at the first call of a run, and in a live experiment whenever
                   results of other arms came in too
        leader     the arm with the largest mean; among ties the lowest index
        pulls      (K,) how often each arm was pulled, floats; read-only
        means      (K,) empirical means in units of sigma; read-only
        variances  (K,) the variance of one value, in squared units: 1 unless scales differ; read-only
        delta      the accepted probability of a wrong answer; a function that takes it is run for each delta
        params     the numbers given to the decorator; read-only
        memory     (rows, K) zero at the first call of a run, then the function's to use; all its state
        random     a stream for `uniform(random)` and `normal(random)` of `truebest.kernels.api`
        state, model  (rows, K), (n,): for `cost` and `weights` of `truebest.kernels.api`, which ask the model
                   of values; the model knows delta, so a function that takes it is run for each delta

    and returns the arm to pull, 0 to K-1; ~arm to pull an arm and not to check for stopping after it; or
    K + arm to stop and recommend that arm. It is compiled by Numba, so it is limited to what Numba can
    compile: numbers, loops, arrays, math, NumPy; functions that it calls need @numba.njit.

    Parameters
    ----------
    function
        as described above
    name
        shown in tables; the function's own by default
    rows
        names of the rows of memory; "target", "lower" and "upper" appear in a trace
    params
        numbers to pass to the function
    uses_delta
        True gives every delta its own runs, even if the function does not take delta
    stops_itself
        True if the function decides when to stop, in place of the stopping rule

    Raises
    ------
    InvalidInputError
        if it takes anything else, if it does not compile, if it writes to what is read-only, or if it draws
        from any generator but `random`
    """
    numbers, words = _lists(params, rows)

    def decorate(plain: Callable[..., int]) -> CustomStrategy:
        arguments = taken(plain, BY_NAME, Form.kind)
        label = name or plain.__name__
        select = admit(plain, Form(arguments), label)
        depends = uses_delta or stops_itself or not {"delta", "model"}.isdisjoint(arguments)
        return CustomStrategy(label, select, numbers, words, depends, stops_itself, plain)

    return decorate if function is None else decorate(function)


def _again(
    function: Callable[..., int],
    name: str,
    rows: tuple[str, ...],
    params: tuple[float, ...],
    uses_delta: bool,
    stops_itself: bool,
) -> CustomStrategy:
    """The same strategy, made of its function once more."""
    options = {"rows": rows, "params": params, "uses_delta": uses_delta, "stops_itself": stops_itself}
    made: CustomStrategy = strategy(function, name=name, **options)  # type: ignore[arg-type]
    return made


def _lists(params: Sequence[float], rows: Sequence[str]) -> tuple[tuple[float, ...], tuple[str, ...]]:
    try:
        numbers, words = tuple(float(x) for x in params), tuple(rows)
        if isinstance(rows, str) or not all(isinstance(word, str) for word in words):
            raise TypeError
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"rows must be a list of names and params a list of numbers, got {rows!r} and {params!r}; write "
            f"rows=('target',), params=(0.5,)."
        ) from None
    return numbers, words
