"""The tilt rule: it adapts to the values, and needs a fraction of the samples where they vary little."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .. import _args
from .._args import Array
from ..errors import InvalidInputError
from ..kernels import families
from ..kernels.layout import (
    CUT,
    HEAD_START,
    LEVEL,
    LIMITS,
    MEANS,
    NEAR,
    PAIR_LEVEL,
    PULLS,
    ROWS,
    SCALED,
    SHARE,
)
from ..kernels.rules import tilt
from .models import Bounded, Gaussian, Model
from .stopping import StoppingRule


@dataclass(frozen=True)
class Tilt(StoppingRule):
    """Stop with leader b when, for every other arm i, Λ_{b,i} > log((K-1)/δ); or rule arms out one by one.

    Λ is the logarithm of a mixture of exponential tilts of both arms, b upwards and i downwards, at the
    common mean that makes it least. With the true means the mixture is a nonnegative martingale that starts
    at 1, whatever chooses the arms; Ville's inequality and a union over the K-1 wrong leaders bound the error
    by δ. For values between bounds nothing else is assumed: where they vary less than they could, or lie near
    an end, as rates do, a fraction of the samples of `mixture` is enough. For a known sigma it needs fewer.

    From counts and means alone (`evaluate`, `intervals`), without an order, pairs are compared, and values
    between bounds are judged as successes and failures of the same mean, which is exact for these and needs
    more evidence for all others.

    Attributes
    ----------
    spacing
        0 asks the rule after every sample. Else, so that a simulation takes less time, it is asked again when
        the evidence may have come to the threshold: after s t samples at least, or 1, and 3% of t at most
    share
        from three arms on, and without a tolerance: every arm is tested for being the best, against a
        comparator with this weight, and is out for ever when that is refuted at the level log(1/δ); the last
        arm is declared. 0 compares pairs of arms alone
    budget
        how many samples there can be, 0 for any number: what could not decide within them has less weight. It
        limits nothing; if it is wrong, that costs samples, and never the promise
    """

    spacing: float = 0.0
    share: float = 0.75
    budget: int = 0

    name = "tilt"
    version = 3  # version 1, in which no arm was ruled out, was never released
    guard: ClassVar[float] = 0.2
    watches = numbers = pools = True
    models = proofs = (Gaussian, Bounded)
    reference = "mixtures of tilts with Ville's inequality; docs/proofs.md"
    code = tilt.TILT

    def __post_init__(self) -> None:
        spacing = _args.scalar("spacing", self.spacing)
        if not 0.0 <= spacing <= 0.1:
            raise InvalidInputError(
                f"spacing must lie between 0 and 0.1, got {spacing:g}; 0 asks the rule after every sample."
            )
        share = _args.scalar("share", self.share)
        if not 0.0 <= share < 1.0:
            raise InvalidInputError(
                f"share must be at least 0 and below 1, got {share:g}; 0 compares pairs of arms alone."
            )
        budget = _args.whole(
            "budget", self.budget, 0, 2**53, "it is how many samples can be taken, 0 for any"
        )
        object.__setattr__(self, "budget", budget)
        object.__setattr__(self, "spacing", spacing)
        object.__setattr__(self, "share", share)

    @property
    def tuning(self) -> float:
        return self.spacing

    @property
    def eliminates(self) -> bool:
        return self.share > 0.0 or super().eliminates

    def form_for(
        self, num_arms: int, tolerance: float = 0.0, stops_itself: bool = False, open_only: bool = False
    ) -> Tilt:
        paired = num_arms < 3 or tolerance > 0.0 or stops_itself
        form = replace(self, share=0.0) if paired else self
        return form.settling() if open_only else form

    def prepared_for(self, max_samples: int | None) -> Tilt:
        return self if max_samples is None or self.budget else replace(self, budget=max_samples)

    def pairwise(self, params: Array) -> Array:
        paired = params.copy()
        paired[LIMITS] = self.settles or self.question is not None
        if self.share > 0.0:  # as if the comparator of every arm had all values of the leader
            paired[SHARE], paired[LEVEL] = 0.0, params[LEVEL] - np.log(self.share)
        return paired

    def level(self, num_arms: int, delta: float) -> float:
        return float((0.0 if self.share > 0.0 else np.log(num_arms - 1.0)) - np.log(delta))

    def parameters(
        self, model: Model, num_arms: int, delta: float, tolerance: float = 0.0, offset: float = 0.0
    ) -> Array:
        params = super().parameters(model, num_arms, delta, tolerance, offset)
        params[CUT] = self._cut(model, delta, tolerance)
        params[NEAR], params[SCALED] = tilt.weights_of(num_arms, self.guard, params[CUT])
        params[SHARE], params[HEAD_START] = self.share, 0.5 * math.log(max(num_arms - 1.0, 1.0))
        if self.share > 0.0:
            params[PAIR_LEVEL] = np.log(num_arms - 1.0) - np.log(delta) - np.log1p(-self.share)
        return params

    def _cut(self, model: Model, delta: float, tolerance: float) -> float:
        """How often the largest tilt can be halved before it is too small for the tolerance or the budget.

        Equal tilts of two arms with M values in all have evidence of M ε²/8 at most. And what is told apart
        within a tolerance is at least as far apart as the tolerance, in units of the scale.
        """
        least = tolerance / model.unit
        if self.budget:
            least = max(least, math.sqrt(-8.0 * math.log(delta) / self.budget))
        if least == 0.0 or self.version < 3:
            return math.inf
        return float(np.log2(tilt.EPSILON[0] / (0.8 * least)))

    def for_simulation(self) -> Tilt:
        return replace(self, spacing=1 / 400)

    def own_blank(self, model: Model, num_arms: int) -> Array:
        bounded = model.code == families.BOUNDED
        compared = (tilt.BOUNDED_ROWS if bounded else tilt.OTHER_ROWS) if self.share > 0.0 else 0
        blank = model.blank(num_arms, (tilt.OWN_ROWS if bounded else 0) + compared)
        if bounded and self.share > 0.0:
            blank[ROWS + tilt.OWN_ROWS + tilt.C_RANK] = 0.5
        return blank

    def summarise(self, model: Model, states: Array) -> None:
        if model.code == families.BOUNDED:
            pulls, means = states[:, PULLS], states[:, MEANS]
            top = np.where(pulls > 0, 0.5 * means, 0.0) * pulls  # means are in units from the lower end
            states[:, tilt.TOP], states[:, tilt.BOTTOM] = top, pulls - top


@dataclass(frozen=True)
class FormerTilt(Tilt):
    """Version 2, by which experiments that began with it are judged: both arms' tilts have a common scale."""

    version = 2
    guard = 1.0


Tilt.former = (FormerTilt,)
