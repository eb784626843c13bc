"""What the rule sees, and how it is stored with a decision."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from truebest import Experiment
from truebest.experiment.events import DECIDED
from truebest.experiment.findings import Findings, same_decision
from truebest.experiment.independent import IndependentState
from truebest.experiment.settings import new_settings
from truebest.experiment.store import open_store

GOLDEN = Path(__file__).parents[2] / "golden"
SOME = Findings(
    arm=1,
    pulls=(3, 5, 0),
    means=(0.25, 0.5, None),
    statistic=None,
    threshold=4.5,
    lower=(-0.5, 0.0, -math.inf),
    upper=(1.0, 0.0, math.inf),
    deviations=(0.125, 0.25, None),
)


def test_infinity_is_none_in_the_record_and_nowhere_else() -> None:
    """There and back, through JSON that has no infinity."""
    record = SOME.to_record(("a", "b", "c"))
    assert (record["best"], record["samples"]) == ("b", 8)
    assert (record["lower"][2], record["upper"][2]) == (None, None)
    assert Findings.from_record(json.loads(json.dumps(record, allow_nan=False))) == SOME


@pytest.mark.parametrize("change", [{"samples": 9}, {"pulls": None}, {"lower": 1.0}])
def test_a_record_that_contradicts_itself_is_refused(change: dict[str, object]) -> None:
    """With an error that a log turns into the number of the damaged line."""
    with pytest.raises((TypeError, ValueError)):
        Findings.from_record({**SOME.to_record(("a", "b", "c")), **change})


def test_a_record_without_deviations_has_none() -> None:
    """As version 0.1 stored it; and what has none is stored like that."""
    record = SOME.to_record(("a", "b", "c"))
    del record["deviations"]
    old = Findings.from_record(record)
    assert old == replace(SOME, deviations=(None, None, None))
    assert old.to_record(("a", "b", "c")) == record


def test_the_same_decision_has_the_same_arm_on_the_same_samples() -> None:
    """The rest follows from these, up to rounding."""
    record = SOME.to_record(("a", "b", "c"))
    assert same_decision(SOME, {**record, "statistic": 9.0})
    for change in ({"arm": 0}, {"samples": 9}, {"pulls": [5, 3, 0]}):
        assert not same_decision(SOME, {**record, **change})
    assert not same_decision(None, record)
    assert not same_decision(SOME, None)
    assert not same_decision(SOME, {})


def test_before_the_first_result_nothing_leads_and_nothing_is_known() -> None:
    """No leader, no means, intervals from -inf to inf."""
    seen = IndependentState(new_settings(["a", "b"], sigma=1.0)).findings()
    assert (seen.arm, seen.samples, seen.means) == (-1, 0, (None, None))
    assert (seen.statistic, seen.lower, seen.upper) == (None, (-math.inf,) * 2, (math.inf,) * 2)


def test_decisions_of_version_0_1_are_written_as_they_were(tmp_path: Path) -> None:
    """Every decided line of the stored experiments, read and written again: to the last character."""
    path = tmp_path / "runs.db"
    shutil.copy(GOLDEN / "version_0_1.db", path)
    store, seen = open_store(f"sqlite:///{path}"), 0
    for name in store.names():
        experiment = Experiment.open(store, name)
        for event in experiment.events():
            if event.kind == DECIDED:
                assert event.data is not None
                again = Findings.from_record(event.data).to_record(experiment.settings.arms)
                assert json.dumps(again) == json.dumps(event.data)
                seen += 1
    store.close()
    assert seen == 3
