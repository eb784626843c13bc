"""At which level statements hold together: each is exact at its hardest null, or simulated there.

The statements are those of docs/proofs.md; a negative control shows that a lower level would not do.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate

import truebest
from truebest.experiment.events import CREATED, Entry
from truebest.experiment.settings import new_settings
from truebest.experiment.store.memory import MemoryStore
from truebest.theory.models import Student
from truebest.theory.student import FormerStudentRule, StudentRule


def crossing(num_arms: int, x: float) -> float:
    """P(some 1/(U_b V) > e^x) for K-1 independent uniform U_b and a uniform V, the least that they may be."""

    def given(v: float) -> float:
        return float(-np.expm1((num_arms - 1) * np.log1p(-min(math.exp(-x) / v, 1.0))))

    with np.errstate(divide="ignore"):
        kink = math.exp(-x)
        return kink + float(
            integrate.quad(given, kink, 1.0, points=[min(num_arms * kink, 0.5)], limit=500)[0]
        )


@pytest.mark.parametrize("delta", [0.2, 0.05, 0.001])
@pytest.mark.parametrize("num_arms", [2, 3, 10, 50])
def test_the_best_arm_is_common_to_all_pairs(num_arms: int, delta: float) -> None:
    """At the hardest null, exactly: at most δ, and for two arms δ. Version 1 is farther below it.

    The negative control: without log(K-1) it is more than δ.
    """
    level = StudentRule().level(num_arms, delta)
    found = crossing(num_arms, level)
    assert found <= delta * (1.0 + 1e-9)
    assert found >= 0.8 * delta
    if num_arms == 2:
        assert found == pytest.approx(delta)
        return
    assert crossing(num_arms, FormerStudentRule().level(num_arms, delta)) < 0.95 * found
    assert crossing(num_arms, level - math.log(num_arms - 1)) > delta


def test_an_experiment_keeps_the_version_of_its_rule() -> None:
    """One of version 1 has its level, also where the rule is given again by name; a new one has version 2."""
    arms = list("abcde")
    store = MemoryStore()
    record = new_settings(arms, model=Student(), seed=1).to_record()
    assert record["stopping"]["version"] == 2
    store.create("new", Entry(CREATED, data=record))
    store.create("old", Entry(CREATED, data={**record, "stopping": {**record["stopping"], "version": 1}}))
    thresholds = {}
    for name in ("old", "new"):
        experiment = truebest.Experiment.create(store, name, arms, model=Student(), stopping="student")
        experiment.observe({arm: [0.0, 1.0] for arm in arms})
        thresholds[name] = experiment.status().threshold
    assert thresholds == {
        "old": FormerStudentRule().level(5, 0.05),
        "new": StudentRule().level(5, 0.05),
    }
    with pytest.raises(truebest.InvalidInputError, match=r"must be one of truebest's own"):
        truebest.Experiment.create(store, "x", arms, model=Student(), stopping=FormerStudentRule())
