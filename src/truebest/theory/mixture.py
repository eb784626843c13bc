"""The mixture rule: pairwise normal mixtures, for values of a known scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from ..errors import InvalidInputError
from ..kernels.rules import mixture
from .models import Bounded, Gaussian, Model
from .stopping import StoppingRule


@dataclass(frozen=True)
class Mixture(StoppingRule):
    """Stop with leader b when, for every other arm i,

        ½ N'_b N'_i/(N'_b+N'_i) (μ̂_b-μ̂_i)²/σ² - ½ log((1+N_b/c)(1+N_i/c)) > log((K-1)/δ),

    where N' = N²/(N+c). For each pair, exp of Σ N²(μ̂-μ)²/(2σ²(N+c)) - ½ log(1+N/c) over its two arms
    is a nonnegative supermartingale of mean at most 1 whatever chooses the arms; Ville's inequality
    and a union over the K-1 wrong leaders bound the error by δ.

    Attributes
    ----------
    c
        how many pulls the prior is worth; 20 suits a few hundred to a few ten thousand samples
    """

    c: float = mixture.MIXTURE_C

    name = "mixture"
    numbers = pools = True
    models = proofs = (Gaussian, Bounded)
    reference = "Robbins 1970, normal mixtures with Ville's inequality, for each pair of arms"
    code = mixture.MIXTURE

    def __post_init__(self) -> None:
        c = _args.scalar("c", self.c)
        if not 0.0 < c < np.inf:
            raise InvalidInputError(
                f"c must be positive and finite, got {c}; it is the number of pulls that the prior "
                f"is worth; 20 is a good choice."
            )
        object.__setattr__(self, "c", c)

    @property
    def tuning(self) -> float:
        return self.c

    def level(self, num_arms: int, delta: float) -> float:
        return float(np.log(num_arms - 1.0) - np.log(delta))

    def intervals(
        self,
        pulls: npt.ArrayLike,
        means: npt.ArrayLike,
        delta: float,
        sigma: float = 1.0,
        *,
        model: Model | None = None,
        tolerance: float = 0.0,
        all_pairs: bool = False,
    ) -> tuple[Array, Array]:
        """As for every rule, but both ends of all that contain the best arm hold with probability 1-δ.

        Parameters
        ----------
        pulls, means, delta, sigma, model, tolerance
            as for every rule
        all_pairs
            widen them so that all K(K-1)/2 hold at once; otherwise each other end holds by itself
        """
        more = float(np.log(np.shape(pulls)[-1] / 2.0)) if all_pairs else 0.0
        allowed = _args.tolerance(tolerance)
        return self._intervals(pulls, means, delta, model or Gaussian(sigma), more, allowed)
