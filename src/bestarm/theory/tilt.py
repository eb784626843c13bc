"""The tilt rule: it adapts to the values, and needs a fraction of the samples where they vary little."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .. import _door
from .._door import Array
from ..errors import InvalidInputError
from ..kernels import families, rules, tilt
from ..kernels.layout import MEANS, PULLS
from .models import Bounded, Gaussian, Model
from .stopping import StoppingRule


@dataclass(frozen=True)
class Tilt(StoppingRule):
    """Stop with leader b when, for every other arm i, Λ_{b,i} > log((K-1)/δ).

    Λ is the logarithm of a mixture of exponential tilts of both arms, b upwards and i downwards, at the
    common mean that makes it least. With the true means the mixture is a nonnegative martingale that starts
    at 1, whatever chooses the arms; Ville's inequality and a union over the K-1 wrong leaders bound the error
    by δ. For values between bounds nothing else is assumed: where they vary less than they could, or lie near
    an end, as rates do, a fraction of the samples of `mixture` is enough. For a known sigma it needs fewer.

    spacing  0 asks the rule after every sample; s again after max(1, s t) samples, so that a simulation takes
             less time: 1/400 delays a stop by a four-hundredth at most

    From counts and means alone (`evaluate`, `intervals`) values between bounds are judged as successes and
    failures of the same mean, which is exact for these and needs more evidence for all others.
    """

    spacing: float = 0.0

    name = "tilt"
    proofs = (Gaussian, Bounded)
    reference = "mixtures of tilts with Ville's inequality, for each pair of arms; docs/proofs.md"
    code = rules.TILT

    def __post_init__(self) -> None:
        spacing = _door.scalar("spacing", self.spacing)
        if not 0.0 <= spacing <= 0.1:
            raise InvalidInputError(
                f"spacing must lie between 0 and 0.1, got {spacing:g}; 0 asks the rule after every sample."
            )
        object.__setattr__(self, "spacing", spacing)

    @property
    def tuning(self) -> float:
        return self.spacing

    def level(self, num_arms: int, delta: float) -> float:
        return float(np.log(num_arms - 1.0) - np.log(delta))

    def simulated(self) -> Tilt:
        return replace(self, spacing=1 / 400)

    def blank(self, model: Model, num_arms: int) -> Array:
        return model.blank(num_arms, tilt.OWN_ROWS if model.code == families.BOUNDED else 0)

    def summarise(self, model: Model, states: Array) -> None:
        if model.code == families.BOUNDED:
            pulls, means = states[:, PULLS], states[:, MEANS]
            top = np.where(pulls > 0, 0.5 * means, 0.0) * pulls  # means are in units from the lower end
            states[:, tilt.TOP], states[:, tilt.BOTTOM] = top, pulls - top
