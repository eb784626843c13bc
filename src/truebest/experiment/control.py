"""Against a control: which arms are better than a given one, and by how much.

The control is chosen before any value is seen, so K - 1 pairs contain it, as many as contain the best arm.
The intervals are therefore those of the stopping rule's pairs, at the level for so many: with probability at
least 1 - delta all lower ends hold at once, at all times, and so does "better than the control" of every arm
that it is said of. All upper ends do so, too. Deciding does not depend on the control, and has a delta of its
own.
"""

from __future__ import annotations

from .state import State

Interval = tuple[float, float]


def against_control(state: State) -> dict[str, Interval]:
    """By how much each other arm is better than the control, in the values' units; {} without a control."""
    arms, control = state.settings.arms, state.settings.control
    if control is None:
        return {}
    lower, upper = state.leads(arms.index(control))
    found = zip(arms, lower, upper, strict=True)
    return {arm: (-high, -low) for arm, low, high in found if arm != control}
