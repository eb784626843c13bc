"""Stored courses of experiments: the same results are judged as they were when the courses were written.

A store outlives the truebest that wrote it. If a test here fails, results would be judged otherwise than
before: raise DECISIONS in settings.py, let the experiments of the versions before it be judged as they were
(`Settings.decisions` tells them apart), and only then write the courses of the new version with

    python tests/golden/test_decisions_version.py

So far every version that is read judges these courses alike, as version 1 did when they were written.
Version 3 differs in values from before without an order, which earlier ones refuse (`test_observe.py`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from truebest._catalogue import STRATEGIES
from truebest.experiment.events import CREATED, Entry
from truebest.experiment.experiment import Experiment
from truebest.experiment.settings import DECISIONS, NEWER_DECISIONS, READ, new_settings
from truebest.experiment.store.memory import MemoryStore
from truebest.strategies import find_strategy
from truebest.theory.mixture import Mixture
from truebest.theory.models import Student
from truebest.theory.stopping import StoppingRule, rules

FILE = Path(__file__).with_name("decisions_version.json")
MEANS = {"a": 0.5, "b": 0.0, "c": 1.75, "d": 0.25}
ADVICE = "results would be judged otherwise than before: raise DECISIONS in settings.py"


def value_of(pull: int, arm: str) -> float:
    """Eighths, exact in floating point: the arm's mean and something between -1 and 1."""
    return MEANS[arm] + ((pull * pull + 5 * pull) % 17 - 8) / 8


def course(
    strategy: str,
    stopping: str | StoppingRule,
    batch: int = 1,
    order: str = "ask",
    trouble: bool = False,
    version: int = DECISIONS,
    former: int | None = None,
    bounded: bool = False,
) -> dict[str, Any]:
    """Asks, statistic after every tenth result, and decision of an experiment.

    batch    so many are asked at a time, and told from the last to the first
    trouble  some pulls fail once, some values are corrected or taken back, and some are brought along
    version  of DECISIONS; the record of 1 is that of truebest 0.1, without the version of a rule and an alarm
    former   the version of the rule, if it is not today's
    bounded  values are known to lie between -2 and 3, and the strategy is today's
    """
    given: dict[str, Any] = {"model": Student()} if stopping == "student" else {"sigma": 1.0}
    given = {"bounds": (-2, 3)} if bounded else given
    chosen = find_strategy(strategy)
    settings = new_settings(
        list(MEANS),
        0.1,
        strategy=chosen if bounded else chosen.once(),
        stopping=stopping,
        order=order,
        seed=5,
        **given,
    )
    record = {**settings.to_record(), "decisions": version}
    if former is not None:
        record["stopping"]["version"] = former
    for parameter in () if bounded else chosen.older:  # which no record had when the courses were written
        del record["strategy"]["parameters"][parameter]
    if version == 1:
        del record["alarm"]
        if record["stopping"]["version"] == 1:
            del record["stopping"]["version"]
    store = MemoryStore()
    store.create("x", Entry(CREATED, data=record))
    experiment = Experiment.open(store, "x")
    assert experiment.settings.decisions == version
    if trouble:
        experiment.observe([("b", 0.25), ("b", -0.5)])
    asked, statistic, told = "", [], 0
    while told < 1000 and (pulls := experiment.ask(batch)):
        asked += "".join(pull.arm for pull in pulls)
        for pull in reversed(pulls):
            if trouble and pull.id % 7 == 0 and experiment.fail(pull, "once") == "failed":
                pull = experiment.ask()[0]
            experiment.tell(pull, value_of(pull.id, pull.arm))
            if trouble and pull.id % 11 == 0:
                experiment.retract(pull, "twice", None if pull.id % 2 else value_of(pull.id + 1, pull.arm))
            told += 1
            if told % 10 == 0:
                statistic.append(
                    experiment.status().progress.statistic or 0.0
                )  # None before variances are seen
    status = experiment.status()
    return {
        "asked": asked,
        "statistic": [*statistic, status.progress.statistic],
        "threshold": status.progress.threshold,
        "decision": status.best,
        "samples": status.samples,
        "pulls": list(status.pulls.values()),
    }


BY = "tas-c"  # the rules' courses, as they were written
COURSES: dict[str, dict[str, Any]] = {
    **{strategy: {"strategy": strategy, "stopping": "mixture"} for strategy in STRATEGIES},
    **{rule: {"strategy": BY, "stopping": rule} for rule in rules()},
    "tilt": {"strategy": BY, "stopping": "tilt", "former": 2},
    "tilt, version 3": {"strategy": BY, "stopping": "tilt"},
    "student": {"strategy": BY, "stopping": "student", "former": 1},
    "student, version 2": {"strategy": BY, "stopping": "student"},
    "tilt with trouble": {"strategy": "ebs-d", "stopping": "tilt", "former": 2, "batch": 3, "trouble": True},
    "tilt with trouble, version 3": {"strategy": "ebs-d", "stopping": "tilt", "batch": 3, "trouble": True},
    "ebs-open-need, by variances": {"strategy": "ebs-open-need", "stopping": "tilt", "bounded": True},
    "ebs-open-gaps, by variances": {"strategy": "ebs-open-gaps", "stopping": "tilt", "bounded": True},
    "racing by the practical rule": {"strategy": "racing", "stopping": "practical"},
    "batches of 5": {"strategy": "tas-d", "stopping": "mixture", "batch": 5},
    "batches of 5, by arrival": {"strategy": "ebs-c", "stopping": "mixture", "batch": 5, "order": "arrival"},
    "pairs in batches of 3": {"strategy": "lucb++", "stopping": "mixture", "batch": 3},
    "with trouble": {"strategy": "ebs-d", "stopping": "mixture", "trouble": True},
}


def stored() -> dict[str, Any]:
    return dict(json.loads(FILE.read_text()))


def agree(found: dict[str, Any], want: dict[str, Any]) -> bool:
    """Exactly but for statistic and threshold, which may differ by rounding."""
    close = all(found[key] == pytest.approx(want[key], rel=1e-9) for key in ("statistic", "threshold"))
    rest = ("asked", "decision", "samples", "pulls")
    return close and all(found[key] == want[key] for key in rest)


@pytest.mark.parametrize("version", READ)
@pytest.mark.parametrize("name", COURSES)
def test_results_are_judged_as_before(name: str, version: int) -> None:
    """The same asks, the same statistic and the same decision as when the courses were written."""
    found, want = course(**COURSES[name], version=version), stored()["courses"][name]
    assert found["asked"] == want["asked"], ADVICE
    assert agree(found, want), ADVICE
    assert want["decision"] == "c"


def test_the_courses_are_of_a_version_that_is_read() -> None:
    """Of one that is read; and for every strategy and every rule."""
    assert stored()["decisions"] in READ
    assert max(READ) == max(DECISIONS, NEWER_DECISIONS)
    assert set(stored()["courses"]) == set(COURSES)
    assert {given["strategy"] for given in COURSES.values()} == set(STRATEGIES)
    assert {given["stopping"] for given in COURSES.values()} == set(rules())


def test_a_slightly_different_rule_is_noticed() -> None:
    """The negative control: a prior worth 20.001 pulls in place of 20."""
    want = stored()["courses"][BY]
    assert agree(course(BY, Mixture()), want)
    assert not agree(course(BY, Mixture(c=20.001)), want)


if __name__ == "__main__":
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(course(**COURSES[name]))}" for name in COURSES)
    FILE.write_text(f'{{"decisions": {DECISIONS}, "courses": {{\n{lines}\n}}}}\n')
