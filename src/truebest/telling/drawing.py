"""Which arms are shown where there is little room, and on which axis: on a terminal, a page, in a chart."""

from __future__ import annotations

from .account import Account
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
