"""Which arms are shown where there is little room, and on which axis: on a terminal, a page, in a chart."""

from __future__ import annotations

import math

from .account import Account
from .standings import Interval, Lead, Role, Standing, per_arm

UNKNOWN = Lead()
LOOKS = {Role.OUT: "sure", Role.PASSED: "sure", Role.FAILED: "bad"}  # of an interval, by what is known


def look_of(one: Standing) -> str:
    """Green, red, or that of what is open."""
    return LOOKS.get(one.role, "open")


def mark_of(now: Account) -> float:
    """Where the line across a picture of intervals is: no difference, or where an arm begins to pass."""
    asked = per_arm(now.settings)
    return 0.0 if asked is None else asked.mark


def chosen(now: Account, most: int) -> tuple[list[Standing], list[int]]:
    """The arms to show, in their own order: all, or the leader and its rivals; samples of the rest.

    Rivals are the arms that get the samples: those that are hard to tell from the leader.
    """
    if len(now.standings) <= most:
        return list(now.standings), []
    rivals = sorted(now.standings, key=lambda one: (one.arm != now.centre, -one.samples))
    kept = {one.arm for one in rivals[:most]}
    return [one for one in now.standings if one.arm in kept], [one.samples for one in rivals[most:]]


def rest_words(samples: list[int]) -> str:
    return f"... and {len(samples)} more, with {sum(samples)} samples"


def axis_of(now: Account, arms: list[Standing]) -> Interval:
    """What an interval bar spans: the mark, no difference, and all intervals; less if some are far wider."""
    ends, mark = [one.lead.ends for one in arms if one.lead is not None and one.lead.known], mark_of(now)
    if not ends:
        return mark - 1.0, mark + 1.0
    asked = per_arm(now.settings)
    also = [mark] if asked is not None and asked.of_number else [mark, 0.0]
    reach = 6.0 * min((high - low for low, high in ends if high > low), default=math.inf)
    left, right = min(*also, *(low for low, _ in ends)), max(*also, *(high for _, high in ends))
    middle = also[-1]
    axis = min(max(left, middle - reach), mark), max(min(right, middle + reach), mark)
    return axis if axis[0] < axis[1] else (mark - 1.0, mark + 1.0)


def beyond_words(axis: Interval, arms: list[Standing]) -> str:
    """What a line means that ends where the axis does, if one of these does."""
    ends = [one.lead.ends for one in arms if one.lead is not None and one.lead.known]
    cut = any(low < axis[0] or high > axis[1] for low, high in ends)
    return "A line up to an edge goes on beyond it. " if cut else ""
