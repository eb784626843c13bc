"""What is shown of each arm, on a terminal and in a notebook alike."""

from __future__ import annotations

import math

from ..experiment.status import Interval, Status
from ..experiment.tables import FINE

UNKNOWN = (-math.inf, math.inf)


def chosen(status: Status, most: int) -> tuple[list[str], list[int]]:
    """The arms to show, in their own order: all, or the leader and its rivals; pulls of the rest.

    Rivals are the arms that get the samples: those that are hard to tell from the leader.
    """
    if len(status.arms) <= most:
        return list(status.arms), []
    rivals = sorted(status.arms, key=lambda arm: (arm != status.leader, -status.pulls[arm]))
    shown = set(rivals[:most])
    return [arm for arm in status.arms if arm in shown], [status.pulls[arm] for arm in rivals[most:]]


def rest_words(pulls: list[int]) -> str:
    return f"... and {len(pulls)} more, with {sum(pulls)} samples"


def axis_of(status: Status, arms: list[str]) -> Interval:
    """What an interval bar spans: 0 and all intervals, unless some are far wider than the narrowest."""
    ends = [status.intervals[arm] for arm in arms if arm in status.intervals]
    ends = [(low, high) for low, high in ends if math.isfinite(high - low)]
    if not ends:
        return -1.0, 1.0
    reach = 6.0 * min(high - low for low, high in ends)
    left, right = min(0.0, *(low for low, _ in ends)), max(0.0, *(high for _, high in ends))
    axis = max(left, -reach), min(right, reach)
    return axis if axis[0] < axis[1] else (-1.0, 1.0)


def places_of(status: Status, arms: list[str]) -> int | None:
    """Decimal places that fit the narrowest interval; None without one, and where it is one of wins."""
    if status.compare == "wins":
        return None
    widths = [high - low for low, high in (status.intervals.get(arm, UNKNOWN) for arm in arms)]
    least = min((w for w in widths if math.isfinite(w) and w > 0.0), default=0.0)
    return min(max(1 - math.floor(math.log10(least)), 0), 12) if least else None


def mean_words(status: Status, arm: str, places: int | None) -> str:
    mean = status.means[arm]
    return "" if mean is None else _number(mean, None if places is None else places + 1)


def deviation_words(status: Status, arm: str) -> str:
    """The observed standard deviation, to three digits."""
    deviation = status.deviations.get(arm)
    return "" if deviation is None else f"{deviation:.3g}"


def interval_words(status: Status, arm: str, places: int | None) -> str:
    """By how much the leader is better; and that an arm is out, as long as others are not."""
    low, high = status.intervals.get(arm, UNKNOWN)
    finite = math.isfinite(low) and math.isfinite(high)
    fine = FINE * (high - low) if finite else 0.0
    low = 0.0 if 0.0 < low < fine else low
    words = f"{_number(low, places)} to {_number(high, places)}" if finite else ""
    if finite and status.compare == "wins":
        words = "wins {} - {}".format(*status.wins.get(arm, (0, 0)))
    out = "ruled out" if arm in status.ruled_out and status.decision is None else ""
    return ", ".join(part for part in (words, out) if part)


def _number(value: float, places: int | None) -> str:
    """With so many decimal places; more for what would look like 0 and is not. No zero has a sign."""
    value += 0.0
    if places is None or abs(value) >= 1e12:
        return f"{value:.4g}"
    return f"{value:.1g}" if value and abs(value) < 0.5 * 10.0**-places else f"{value:.{places}f}"
