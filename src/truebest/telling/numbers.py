"""How numbers are written: with as many decimal places as the narrowest interval calls for, everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

from .._text import claimed
from .standings import Lead, Standing, per_arm, sides_of

if TYPE_CHECKING:
    from .account import Account

FINE = 1e-3  # of an interval's width: a lower end that is barely above 0 is shown as 0


def places_of(now: Account, rows: Sequence[Standing] | None = None) -> int | None:
    """Decimal places that fit the narrowest interval; None without one, and where it is one of wins."""
    if not now.settings.design.averages:
        return None
    return fitting([one.lead for one in rows or now.standings if one.lead is not None])


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


def observed(lead: Lead, floor: float | None, places: int | None) -> str:
    """What was observed, and between which ends it lies; a lower end at the floor says no more than that."""
    if lead.low == lead.high:
        return number(lead.low, places)
    ends = f"{number(low_end(lead), places)} to {number(lead.high, places)}"
    if floor is not None and is_at(lead, floor):
        ends = f"more than {number(floor, None)}, at most {number(lead.high, places)}"
    return ends if lead.estimate is None else f"{number(lead.estimate, places)} ({ends})"


def is_at(lead: Lead, floor: float | None) -> bool:
    """Whether a lower end says no more than the decision."""
    return floor is not None and lead.low <= floor + FINE * (lead.high - lead.low)


def low_end(lead: Lead) -> float:
    """The lower end; 0 if it is barely above."""
    return 0.0 if 0.0 < lead.low < FINE * (lead.high - lead.low) else lead.low


def judged_ends(now: Account, one: Standing, places: int | None) -> str:
    """Between which ends an arm is of which it is asked whether it passes; "" if they are not known.

    They are rounded outwards, but not beyond what its verdict says.
    """
    asked, lead = per_arm(now.settings), one.lead
    if asked is None or lead is None or not lead.known:
        return ""
    if lead.low == lead.high:
        return number(lead.low, places)
    low, high = downwards(lead.low, places), upwards(lead.high, places)
    above, below = sides_of(asked)
    beyond = one.role is above and low < asked.mark, one.role is below and high > asked.mark
    texts = (
        claimed(asked.at, up) if at else number(end, places)
        for end, at, up in zip((low, high), beyond, (False, True), strict=True)
    )
    return " to ".join(texts)


def judged_text(now: Account, one: Standing, places: int | None) -> str:
    """The same behind what was observed; "" if nothing is known."""
    ends, seen, asked = judged_ends(now, one, places), judged_estimate(one, places), per_arm(now.settings)
    if not seen or (asked is not None and asked.of_number):  # the mean is said already
        return ends
    return seen + (f" ({ends})" if ends else "")


def judged_estimate(one: Standing, places: int | None) -> str:
    """What was observed; "" if that is nothing, or the ends say it."""
    lead = one.lead
    if lead is None or lead.estimate is None or lead.low == lead.high:
        return ""
    return number(lead.estimate, places)


def downwards(value: float, places: int | None) -> float:
    """With so many decimal places, never more than it is."""
    return _outwards(value, places, ROUND_FLOOR)


def upwards(value: float, places: int | None) -> float:
    """With so many decimal places, never less than it is."""
    return _outwards(value, places, ROUND_CEILING)


def _outwards(value: float, places: int | None, how: str) -> float:
    if places is None or not abs(value) < 1e12:
        return value
    return float(Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-places), how))
