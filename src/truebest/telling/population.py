"""What is said of items like these: a line of its own, never mixed up with the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._text import percent, plural
from .numbers import downwards, fitting, number, upwards
from .standings import Lead, per_arm

if TYPE_CHECKING:
    from ..questions import PerArm
    from .account import Account

MOST_SHOWN = 3  # arms of which the interval is said; of all others how far they are behind at least


def population_words(now: Account) -> str:
    """What holds for items like these, as a sentence without its full stop; "" where that is not asked."""
    found = now.population
    if found is None or now.promise.bound is None:
        return ""
    design, units = now.settings.design, plural(found.rows, "unit")
    which = f"for {design.units.unit}s like these, drawn at random (unit: {design.units.words}; {units})"
    if not found.leads:
        return f"{which}: not decided"
    leads = (
        (lead, arm) for lead, arm in zip(found.leads, now.settings.arms, strict=True) if lead is not None
    )
    others = sorted(leads, key=lambda one: one[0].low)
    asked = per_arm(now.settings)
    if asked is None:
        said = _best(str(found.arm), others)
    else:
        said = _judged(found.arm, others, asked, now.settings.arms)
    sure = f"wrong with probability at most {percent(now.promise.bound)}, apart from the answer"
    return f"{which}: {said}; {sure}"


def _best(leader: str, others: list[tuple[Lead, str]]) -> str:
    """Whether the leader is better than each other arm, and by how much."""
    places = fitting(lead for lead, _ in others)
    said = [f"{_compared(lead, places)} {arm}{_by(lead, places)}" for lead, arm in others[:MOST_SHOWN]]
    said += _rest([lead for lead, _ in others[MOST_SHOWN:]], places)
    first = "" if all(lead.low > 0.0 for lead, _ in others) else "not decided; "
    return f"{first}{leader} is {', '.join(said)}"


def _judged(old: str | None, others: list[tuple[Lead, str]], asked: PerArm, arms: tuple[str, ...]) -> str:
    """Whether each arm passes, and how it compares."""
    said, places = [], fitting(lead for lead, _ in others)
    for lead, arm in others[:MOST_SHOWN]:
        above, below = lead.low > asked.mark, lead.high < asked.mark
        passes, fails = (above, below) if asked.upwards else (below, above)
        verdict = f"{asked.subject(arm)} is {asked.verdict(passes, arms)}"
        between = f"{_down(lead.low, places)} to {_up(lead.high, places)}"
        beside = between if old is None else f"{_compared(lead, places)} {old}{_by(lead, places)}"
        said.append(f"{verdict if passes or fails else f'not decided for {arm}'} ({beside})")
    more = len(others) - MOST_SHOWN
    return "; ".join(said) + (f"; and {more} more" if more > 0 else "")


def _compared(lead: Lead, places: int | None) -> str:
    """Better, worse, or how much of both."""
    if lead.low > 0.0:
        return "better than"
    if lead.high < 0.0:
        return "worse than"
    return f"between {_up(-lead.low, places)} worse and {_up(lead.high, places)} better than"


def _by(lead: Lead, places: int | None) -> str:
    """By how much, where it is known which is better."""
    if lead.low <= 0.0 <= lead.high:
        return ""
    low, high = sorted(map(abs, lead.ends))
    return f" by {_down(low, places)} to {_up(high, places)}"


def _rest(leads: list[Lead], places: int | None) -> list[str]:
    """What holds for all arms but those of which more is said."""
    if not leads:
        return []
    least, others = min(lead.low for lead in leads), f"{plural(len(leads), 'other arm')}"
    if least > 0.0:
        return [f"better than {others} by at least {_down(least, places)}"]
    return [f"at most {_up(-least, places)} worse than {others}"]


def _down(value: float, places: int | None) -> str:
    return number(downwards(value, places), places)


def _up(value: float, places: int | None) -> str:
    return number(upwards(value, places), places)
