"""Between which numbers the mean of each arm lies, at all times at once.

The intervals are those of the normal mixture for values of a known sub-Gaussian scale; values between bounds
have half their distance. They say nothing of differences, for which the rule's own intervals are far
narrower, and no decision depends on them.
"""

from __future__ import annotations

import numpy as np

from ..theory.models import Bounded, Gaussian
from ..theory.statistics import confidence_width
from .findings import Findings
from .settings import Settings

Interval = tuple[float, float]


def mean_intervals(settings: Settings, seen: Findings) -> list[Interval | None]:
    """Per arm, in the values' own units; None without pulls, and where no scale is known."""
    model, pulls = settings.model.wider, np.array(seen.pulls, np.float64)
    if not isinstance(model, Gaussian | Bounded):
        return [None] * pulls.size
    scales = model.unit * np.sqrt(model.variances(pulls.size))
    widths = (scales * confidence_width(pulls, settings.delta, pulls.size, "mixture")).tolist()
    low, high = model.limits or (-np.inf, np.inf)
    return [
        None if mean is None else (max(low, mean - width), min(high, mean + width))
        for mean, width in zip(seen.means, widths, strict=True)
    ]
