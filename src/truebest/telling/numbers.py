"""Numbers as people read them: with as many decimal places as the intervals beside them call for."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .standings import Lead


def fitting(leads: Iterable[Lead]) -> int | None:
    """Decimal places that fit the narrowest interval; None without one."""
    widths = (lead.high - lead.low for lead in leads if lead.known and lead.high > lead.low)
    least = min(widths, default=0.0)
    return min(max(1 - math.floor(math.log10(least)), 0), 12) if least else None


def number(value: float, places: int | None) -> str:
    """With so many decimal places; more for what would look like 0 and is not. No zero has a sign."""
    value += 0.0
    if places is None or abs(value) >= 1e12:
        return f"{value:.4g}"
    return f"{value:.1g}" if value and abs(value) < 0.5 * 10.0**-places else f"{value:.{places}f}"
