"""What a strategy is: a small frozen dataclass that a user constructs, and one kernel that chooses arms.

The kernel is called before every pull, once each arm has been pulled once:

    action = select(t, last, leader, state, params, memory, random)

    t        number of samples so far
    last     the arm pulled last; -1 at the first call of a run, and in a live experiment whenever other
             arms changed too, so that everything that was derived from pulls and means must be renewed
    leader   the arm with the largest mean; among ties the lowest index
    state    (rows, K): pulls, means in units, variances, and what else `kernels.layout` names; read-only
    params   what `kernels.layout` names; from `OWN` on `Strategy.parameters`; read-only
    memory   (rows, K): zero at the first call of a run, then the strategy's to write; all that it remembers
    random   a stream for `truebest.kernels.random.uniform` and `normal`

and answers with an arm to pull; with ~arm to pull that arm and not to check for stopping after it; or
with K + arm to stop and recommend that arm, if it says `stops_itself`. (Few arrays, because each costs two
nanoseconds a call.) A kernel outside of this package is compiled again for these arguments and inspected,
see `_admit`: it must be able to change nothing but its memory and its stream.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..kernels.layout import Select

TIES = ("random", "first")  # among arms of equal cost or index: one is drawn, or the lowest number wins


class Strategy(ABC):
    """A sampling rule.

    Attributes
    ----------
    rows
        names of the rows of its memory; "target", "lower" and "upper" appear in a trace
    uses_delta
        whether its choices depend on delta; if not, one run serves several deltas
    stops_itself
        whether it decides when to stop, in place of the stopping rule
    open_only
        whether it samples only arms that the rule has not settled; under every rule, an arm is then out for
        good once it is shown to be worse
    in_turn
        whether it samples in turn all arms that may be sampled: the only way that is meant where another
        question is asked than which arm is best
    adds_up
        the row that adds up a share per pull, "" for none, None if that is not known: so that a forecast can
        take many pulls in one step
    older
        what a stored experiment means that lacks a parameter, where that is not today's default
    """

    rows: ClassVar[tuple[str, ...]] = ()
    uses_delta: ClassVar[bool] = False
    stops_itself: ClassVar[bool] = False
    open_only: ClassVar[bool] = False
    in_turn: ClassVar[bool] = False
    adds_up: ClassVar[str | None] = None

    older: ClassVar[Mapping[str, object]] = {}

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in tables; parameters that are not the default appear in it."""

    @property
    def in_words(self) -> str:
        """How messages name it."""
        return f"the strategy {self.name!r}"

    @property
    @abstractmethod
    def select(self) -> Select:
        """The kernel, compiled with `numba.njit`."""

    def evidence_left(self, num_arms: int, delta: float) -> float | None:
        """With how much evidence against it an arm may be left alone for good; None if none ever is."""
        return None

    def once(self) -> Strategy:
        """What experiments mean by it that were stored when its name stood for something else."""
        return self

    def memory_rows(self, num_arms: int) -> int:
        """How many rows of memory it has: those with a name, and others behind them."""
        return len(self.rows)

    def placed(self, offset: float, sign: float = 1.0) -> Strategy:
        """The same strategy for values sign * x - offset: what has a place among the values moves along."""
        return self

    def parameters(self, num_arms: int, sigma: float) -> npt.NDArray[np.float64]:
        """The strategy's own numbers, which the kernel finds at the end of `params`."""
        return np.zeros(0)
