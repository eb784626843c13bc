"""What is shown of each arm where there is little room, on a terminal, in a notebook and in a report."""

from __future__ import annotations

import math

from .account import Account
from .answers import Open
from .columns import FINE
from .standings import Interval, Lead, Standing

UNKNOWN = Lead()


def chosen(now: Account, most: int) -> tuple[list[Standing], list[int]]:
    """The arms to show, in their own order: all, or the leader and its rivals; samples of the rest.

    Rivals are the arms that get the samples: those that are hard to tell from the leader.
    """
    if len(now.standings) <= most:
        return list(now.standings), []
    rivals = sorted(now.standings, key=lambda one: (one.arm != now.leader, -one.samples))
    kept = {one.arm for one in rivals[:most]}
    return [one for one in now.standings if one.arm in kept], [one.samples for one in rivals[most:]]


def rest_words(samples: list[int]) -> str:
    return f"... and {len(samples)} more, with {sum(samples)} samples"


def axis_of(arms: list[Standing]) -> Interval:
    """What an interval bar spans: 0 and all intervals, unless some are far wider than the narrowest."""
    ends = [one.lead.ends for one in arms if one.lead is not None and one.lead.known]
    if not ends:
        return -1.0, 1.0
    reach = 6.0 * min(high - low for low, high in ends)
    left, right = min(0.0, *(low for low, _ in ends)), max(0.0, *(high for _, high in ends))
    axis = max(left, -reach), min(right, reach)
    return axis if axis[0] < axis[1] else (-1.0, 1.0)


def places_of(now: Account, arms: list[Standing]) -> int | None:
    """Decimal places that fit the narrowest interval; None without one, and where it is one of wins."""
    if not now.settings.design.averages:
        return None
    widths = [one.lead.high - one.lead.low for one in arms if one.lead is not None]
    least = min((w for w in widths if math.isfinite(w) and w > 0.0), default=0.0)
    return min(max(1 - math.floor(math.log10(least)), 0), 12) if least else None


def mean_words(one: Standing, places: int | None) -> str:
    return "" if one.mean is None else _number(one.mean, None if places is None else places + 1)


def deviation_words(one: Standing) -> str:
    """The observed standard deviation, to three digits."""
    return "" if one.sd is None else f"{one.sd:.3g}"


def interval_words(now: Account, one: Standing, places: int | None) -> str:
    """By how much the leader is better; and that an arm is out, as long as others are not."""
    lead, said = one.lead or UNKNOWN, ""
    if lead.known:
        low = 0.0 if 0.0 < lead.low < FINE * (lead.high - lead.low) else lead.low
        said = f"{_number(low, places)} to {_number(lead.high, places)}"
        said = now.settings.design.lead_words(said, lead.won, lead.lost)
        said = said if now.settings.design.averages else f"wins {said}"
    out = "ruled out" if one.out is not None and (isinstance(now.answer, Open) or now.best is None) else ""
    return ", ".join(part for part in (said, out) if part)


def _number(value: float, places: int | None) -> str:
    """With so many decimal places; more for what would look like 0 and is not. No zero has a sign."""
    value += 0.0
    if places is None or abs(value) >= 1e12:
        return f"{value:.4g}"
    return f"{value:.1g}" if value and abs(value) < 0.5 * 10.0**-places else f"{value:.{places}f}"
