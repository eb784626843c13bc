"""Against a control: which arms are better than it, with intervals for K - 1 pairs."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.amounts import amount, once_more
from support.commands import run
from support.told import against_control, intervals
from truebest import Against, BestArm, Experiment, InvalidInputError, identify
from truebest.experiment.store.memory import MemoryStore
from truebest.telling import words


def begin(**settings: Any) -> Experiment:
    """Three arms, of which old is what there is."""
    given = {"bounds": (0, 1), "control": "old", "seed": 1, **settings}
    return Experiment.create(MemoryStore(), "x", ["old", "new", "newer"], **given)


@pytest.mark.parametrize("settings", [{}, {"stopping": "mixture"}, {"bounds": None, "sigma": 0.5}])
@pytest.mark.parametrize("minimize", [False, True])
def test_the_pair_with_the_leader_has_one_interval(settings: dict[str, Any], minimize: bool) -> None:
    """What the leader is better by than the control is what it is better by in the other table.

    Under the rule that shares delta with comparators it is known more closely: within the other interval.
    """
    rng = random.Random(3)
    experiment = begin(minimize=minimize, **settings)
    for arm, mean in (("old", 0.3), ("new", 0.5), ("newer", 0.55)):
        experiment.observe(arm, [min(max(rng.gauss(mean, 0.2), 0.0), 1.0) for _ in range(20)])
    status = experiment.status()
    assert status.best is None
    assert set(against_control(status)) == {"new", "newer"}
    assert status.leader is not None
    if status.leader == "old":
        pairs = [
            (intervals(status)[arm], (-high, -low)) for arm, (low, high) in against_control(status).items()
        ]
    else:
        pairs = [(intervals(status)["old"], against_control(status)[status.leader])]
    for shown, own in pairs:
        if experiment.settings.rule_name == "mixture":
            np.testing.assert_allclose(shown, own)
        else:
            assert shown[0] < own[0] < own[1] < shown[1]


def test_an_arm_that_is_better_than_the_control_is_named_before_the_decision() -> None:
    """Two good arms that cannot be told apart, and both better than the control."""
    experiment = begin()
    experiment.observe({"old": [0.1, 0.2] * 40, "new": [0.8, 0.9] * 40, "newer": [0.9, 0.8] * 40})
    status = experiment.status()
    assert status.best is None
    assert words.better_than_control(status) == ["new", "newer"]
    assert words.versus_control(status) == "new, newer are better than the control old"
    assert all(low > 0.0 for low, _ in against_control(status).values())
    assert words.versus_control(begin().status()) == "no arm is proven to be better than the control old"


def test_it_is_a_setting_that_decides_nothing() -> None:
    """Stored, compared, refused if it is no arm; the log without it is the same but for that key."""
    with pytest.raises(InvalidInputError, match="control must be one of the arms old, new, newer, got 'odl'"):
        begin(control="odl")
    courses = []
    for control in ("old", "new", None):
        experiment = begin(control=control)
        while pulls := experiment.ask(2):
            rates = {"old": 0.2, "new": 0.5, "newer": 0.8}
            experiment.tell([(p, float(random.Random(p.seed).random() < rates[p.arm])) for p in pulls])
        courses.append([(e.kind, e.pull, e.arm, e.value) for e in experiment.history()])
        assert (experiment.status().settings.control, experiment.status().best) == (control, "newer")
    assert courses[0] == courses[1] == courses[2]
    assert words.better_than_control(begin(control=None).status()) is None
    store = MemoryStore()
    Experiment.create(store, "x", ["a", "b"], bounds=(0, 1), control="a")
    with pytest.raises(InvalidInputError, match="exists with control 'a', got 'b'"):
        Experiment.create(store, "x", ["a", "b"], control="b")


def test_a_void_promise_proves_nothing_against_the_control() -> None:
    """The intervals are shown, but no arm is said to be better."""
    experiment = begin(stopping="practical")
    experiment.observe({"old": [0.1, 0.2] * 40, "new": [0.8, 0.9] * 40, "newer": [0.9, 0.8] * 40})
    assert words.better_than_control(experiment.status()) is None
    assert against_control(experiment.status())["new"][0] > 0.0


@once_more
def test_equal_arms_are_rarely_called_better() -> None:
    """At delta = 0.2, looking after every ten values, in 300 experiments with three equal arms, or 100.

    At most 0.2 of them may call an arm better: more than 82, or 33, would do so with probability 1e-3. The
    negative control calls an arm better when its mean is two standard errors above the control's.
    """
    rng = np.random.default_rng(5)
    called = naive = 0
    runs, most = amount(100, 300), amount(33, 82)
    for _ in range(runs):
        experiment = begin(delta=0.2, bounds=None, sigma=1.0, seed=int(rng.integers(2**40)))
        values = {arm: rng.normal(size=60) for arm in ("old", "new", "newer")}
        found = fooled = False
        for end in range(10, 61, 10):
            experiment.observe({arm: some[end - 10 : end] for arm, some in values.items()})
            found = found or bool(words.better_than_control(experiment.status()))
            gaps = [values[arm][:end].mean() - values["old"][:end].mean() for arm in ("new", "newer")]
            fooled = fooled or max(gaps) > 1.2 * (2.0 / end) ** 0.5
        called, naive = called + found, naive + fooled
    assert called <= most < naive


def test_commands_and_results_show_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A column in tables, a line in status, fields in JSON, a section in the report."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRUEBEST_STORE", "sqlite:///runs.db")
    words = ("--arm", "old", "--arm", "new", "--bounds", "0,1", "--control", "old")
    assert run("create", "x", *words).code == 0
    run("observe", "x", "old", *["0.1", "0.2"] * 4)
    run("observe", "x", "new", *["0.8", "0.9"] * 2)
    out = run("status", "x").out
    assert "better than old by" in out
    assert "control    " in out
    assert json.loads(run("status", "x", "--format", "json").out)["settings"]["control"] == "old"
    from truebest import Experiment as Shown

    assert "Against the control" in Shown.open("sqlite:///runs.db", "x").report()
    arms = {"old": lambda: 0.0, "new": lambda: 1.0}
    result = identify(arms, bounds=(0, 1), max_samples=100, control="old")
    assert "; new is better than the control old" in str(result)
    assert result.table()[0][-1] == "better than old by"
    assert result.table()[1][0][-1].startswith("1.00 (0.")


@pytest.mark.parametrize("items", [None, 200])
def test_beside_another_question_the_control_keeps_its_own_level(items: int | None) -> None:
    """A list of which a false claim needs no union leaves the intervals against the control as they are."""
    ends = []
    for question in (Against("a", only="better"), BestArm(pairs=True)):
        settings: dict[str, Any] = {"bounds": (0, 1), "seed": 1, "items": items, "question": question}
        experiment = Experiment.create("memory:", "x", ["a", "b", "c"], control="c", **settings)
        if items is None:
            experiment.observe({arm: [0.0, 1.0] * 5 for arm in "abc"})
        for number in range(30 if items else 0):
            (pull,) = experiment.ask()
            experiment.tell(pull, float(number // 3 % 2))
        ends.append(against_control(experiment.status()))
    assert ends[0] == ends[1]
    assert set(ends[0]) == {"a", "b"}
