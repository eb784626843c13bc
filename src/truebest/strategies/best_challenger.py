"""Best Challenger: the leader or the arm that is hardest to tell from it, whichever adds more evidence.

    b = argmax m,   c = argmin_a W(b, a),   W the transport cost of a pair
    if some N_a < √t - K/2: pull the arm with the fewest pulls
    else pull b if d(m_b, m_bc) > d(m_c, m_bc), else c;   m_bc = (N_b m_b + N_c m_c)/(N_b + N_c)

For Gaussian arms of one variance that is b if N_b < N_c.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .. import _args
from ..kernels._jit import kernel
from ..kernels._types import Array
from ..kernels.families import cheapest, slopes
from ..kernels.layout import OWN, PULLS, SELECT, TOLERANCE, Select
from ..kernels.random import Words
from ..kernels.tracking import TIE, rarest
from ._base import TIES, Strategy


@kernel(SELECT)
def select(
    t: float, last: int, leader: int, state: Array, params: Array, memory: Array, random: Words
) -> int:
    """As the module says."""
    pulls, starved = state[PULLS], rarest(state)
    reach = pulls[starved] + 0.5 * pulls.size
    if reach * reach < t:  # N_a < sqrt(t) - K/2
        return starved
    challenger = cheapest(params, state, leader, params[TOLERANCE], False, params[OWN] != 0.0, random)
    if challenger < 0:
        return leader
    d_b, d_c = slopes(params, state, leader, challenger, pulls[leader], pulls[challenger])
    return leader if d_b > d_c * (1.0 + TIE) else challenger


@dataclass(frozen=True)
class BestChallenger(Strategy):
    """Best Challenger of Garivier & Kaufmann 2016, Section 6.

    Cheap, for nothing is solved, and good in their experiments; there is no proof that it is optimal. Without
    forced exploration, which their code has, an unlucky best arm may never be pulled again. In place of the
    comparison of divergences their code has also one of optimal weights.

    Attributes
    ----------
    ties
        "random" draws among challengers of equal cost; with "first" the lowest index wins, as it once did
    """

    ties: str = "random"

    adds_up: ClassVar[str | None] = ""
    older: ClassVar[Mapping[str, object]] = {"ties": "first"}

    def __post_init__(self) -> None:
        _args.choice("ties", self.ties, TIES)

    @property
    def name(self) -> str:
        return "bc" + "(ties=first)" * (self.ties == "first")

    @property
    def select(self) -> Select:
        return select

    def once(self) -> BestChallenger:
        return BestChallenger(ties="first")

    def parameters(self, num_arms: int, sigma: float) -> npt.NDArray[np.float64]:
        return np.array([1.0 if self.ties == "random" else 0.0])
