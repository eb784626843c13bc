"""What is said of items like these: a line of its own, never mixed up with the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._text import percent, plural
from .numbers import fitting, number
from .standings import Lead

if TYPE_CHECKING:
    from .account import Account

MOST_SHOWN = 3  # arms of which the interval is said; of all others how far they are behind at least


def population_words(now: Account) -> str:
    """What holds for items like these, as a sentence without its full stop; "" where that is not asked."""
    found = now.population
    if found is None or now.promise.bound is None:
        return ""
    design, units = now.settings.design, plural(found.rows, "unit")
    which = f"for {design.unit}s like these, drawn at random (unit: {design.unit_words}; {units})"
    if found.arm is None or not found.leads:
        return f"{which}: not decided"
    others = sorted(
        ((lead, arm) for lead, arm in zip(found.leads, now.settings.arms, strict=True) if lead is not None),
        key=lambda one: one[0].low,
    )
    places = fitting(lead for lead, _ in others)
    said = [f"{_compared(lead, places)} {arm}{_by(lead, places)}" for lead, arm in others[:MOST_SHOWN]]
    said += _rest([lead for lead, _ in others[MOST_SHOWN:]], places)
    verdict = f"{found.arm} is " if found.decided else f"not decided; {found.arm} is "
    sure = f"wrong with probability at most {percent(now.promise.bound)}, apart from the answer"
    return f"{which}: {verdict}{', '.join(said)}; {sure}"


def _compared(lead: Lead, places: int | None) -> str:
    """Better, worse, or how much of both."""
    if lead.low > 0.0:
        return "better than"
    if lead.high < 0.0:
        return "worse than"
    return f"between {number(-lead.low, places)} worse and {number(lead.high, places)} better than"


def _by(lead: Lead, places: int | None) -> str:
    """By how much, where it is known which is better."""
    if lead.low <= 0.0 <= lead.high:
        return ""
    low, high = sorted(map(abs, lead.ends))
    return f" by {number(low, places)} to {number(high, places)}"


def _rest(leads: list[Lead], places: int | None) -> list[str]:
    """What holds for all arms but those of which more is said."""
    if not leads:
        return []
    least, others = min(lead.low for lead in leads), f"{plural(len(leads), 'other arm')}"
    if least > 0.0:
        return [f"better than {others} by at least {number(least, places)}"]
    return [f"at most {number(-least, places)} worse than {others}"]
