"""A store that version 0.1 wrote is taken up, and every experiment in it goes on as it did under 0.1.

`version_0_1.db` was written by version 0.1.0 (commit 4de244c): 13 experiments with different strategies,
rules and orders, some with pulls out, failures, retractions, observations or a suspension, some decided.
`version_0_1.json` is how the same program went on from there, with values that depend on the pull's seed.
"""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.told import column, intervals, suspended
from truebest import Experiment
from truebest.experiment.pulls import Pull

HERE = Path(__file__).parent
EXPECTED: dict[str, dict[str, Any]] = json.loads((HERE / "version_0_1.json").read_text())
RATES = {"a": 0.35, "b": 0.55, "c": 0.75}
MEANS = {"a": -0.4, "b": 0.1, "c": 0.9}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A copy to work on."""
    path = tmp_path_factory.mktemp("old") / "runs.db"
    shutil.copy(HERE / "version_0_1.db", path)
    return f"sqlite:///{path}"


def value(pull: Pull, kind: str) -> float:
    rng = random.Random(pull.seed)
    if kind == "bernoulli":
        return float(rng.random() < RATES[pull.arm])
    return 1000.0 + 2.0 * (MEANS[pull.arm] + rng.gauss(0, 1))


@pytest.mark.parametrize("name", EXPECTED)
def test_an_experiment_of_0_1_is_decided_as_before(url: str, name: str) -> None:
    """The same asks, the same decision on the same samples, to the last bit; new lines are chained."""
    expected = EXPECTED[name]
    with Experiment.open(url, name) as experiment:
        before = experiment.status()
        assert (before.best, before.samples) == (expected["decision_before"], expected["samples_before"])
        assert len(experiment.history()) == expected["lines_before"]
        old = experiment.verify()
        assert old.sound
        assert old.intact == old.unhashed == expected["lines_before"]
        assert old.head == ""
        if suspended(before):
            violated = next(event.pull for event in experiment.history() if event.kind == "violated")
            assert violated is not None
            experiment.retract(violated, "typing error", 0.3)
        experiment.reclaim()
        asked = ""
        while pulls := experiment.ask(2):
            asked += "".join(pull.arm for pull in pulls)
            experiment.tell([(pull, value(pull, expected["values"])) for pull in pulls])
        after = experiment.status()
        assert asked == expected["asked"]
        assert (after.best, after.samples) == (expected["decision"], expected["samples"])
        assert (after.pulls, after.means) == (expected["pulls"], expected["means"])
        assert after.progress.statistic == expected["statistic"]
        assert not experiment.settings.alarm
        assert set(column(after, "sd")) == set(after.means)
        assert {arm: list(ends) for arm, ends in intervals(after).items()} == expected["intervals"]
        new = experiment.verify()
        assert new.sound
        assert new.unhashed == expected["lines_before"]
        assert bool(new.head) == (new.lines > expected["lines_before"])
