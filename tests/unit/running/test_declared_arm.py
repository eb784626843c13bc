"""What is shown of a decision is about the arm that was declared, even if another one leads by now."""

from __future__ import annotations

from support.older import without_alarm
from support.told import intervals


def test_intervals_are_those_of_the_declared_arm() -> None:
    """Racing has dropped c, whose mean then rises, which its values should not do; a is declared."""
    experiment = without_alarm(
        ["a", "b", "c"], sigma=1.0, stopping="tilt", strategy="racing", seed=1, tolerance=0.5
    )
    values, told = {"a": 2.0, "b": 2.0, "c": 0.0}, 0
    while pulls := experiment.ask():
        experiment.tell(pulls[0], values[pulls[0].arm])
        told += 1
        if told == 60:
            experiment.observe("c", [30.0] * 300)
    status = experiment.status()
    assert status.best == status.leader == "a"
    assert set(intervals(status)) == {"b", "c"}
    low, high = intervals(status)["b"]
    assert low < 0.0 < high < 1.0  # a and b have the same mean
    assert intervals(status)["c"][1] < -20.0
    assert status.shortfall == 0.5
