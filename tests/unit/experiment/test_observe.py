"""Values from before: rows are judged one after the other, values by arm once, when all are in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.told import ruled_out, suspended
from truebest.cli._pilot import read_pilot, read_values
from truebest.errors import InvalidInputError, SuspendedError
from truebest.experiment.events import CREATED, Entry
from truebest.experiment.experiment import Experiment
from truebest.experiment.independent import IndependentState
from truebest.experiment.settings import new_settings
from truebest.experiment.snapshots import as_dict, packed, unpacked
from truebest.experiment.store.memory import MemoryStore
from truebest.experiment.verification import verify
from truebest.kernels.rules.tilt import COUNT, comparator_row

HALF = [0.0, 1.0] * 20  # .5 of 40
NINE = [0.0] * 14 + [1.0] * 300 + [0.0] * 16  # .91 of 330, which begin badly
Rows = list[tuple[str, float]]


def make(arms: str = "ab", **settings: Any) -> Experiment:
    given = {"bounds": (0, 1), "seed": 1, **settings}
    return Experiment.create(MemoryStore(), "x", list(arms), 0.05, **given)


def rows_of(values: dict[str, list[float]]) -> Rows:
    return [(arm, value) for arm, some in values.items() for value in some]


def in_turn(values: dict[str, list[float]]) -> Rows:
    return [(arm, some[i]) for i in range(len(next(iter(values.values())))) for arm, some in values.items()]


def known(experiment: Experiment) -> IndependentState:
    experiment.status()
    assert isinstance(experiment._journal.known, IndependentState)
    return experiment._journal.known


def comparators(experiment: Experiment) -> list[float]:
    state = known(experiment)
    row: list[float] = state.bodies.evidence[comparator_row(state.bodies.params) + COUNT].tolist()
    return row


@pytest.mark.parametrize("order", ["ask", "arrival"])
@pytest.mark.parametrize("stopping", ["tilt", "mixture"])
def test_values_by_arm_are_judged_when_all_are_in(stopping: str, order: str) -> None:
    """The better arm of 370 values is declared, not the worse one on those that happen to come first."""
    experiment = make(stopping=stopping, order=order)
    experiment.observe({"a": HALF, "b": NINE})
    assert (experiment.status().best, experiment.status().samples) == ("b", 370)
    lines = [entry.kind for entry in experiment.history()]
    assert lines.index("decided") == len(lines) - 1
    assert experiment.verify().sound


def test_rows_are_judged_one_after_the_other() -> None:
    """The negative control: what is said to be the order of sampling is taken as that."""
    experiment = make()
    experiment.observe(rows_of({"a": HALF, "b": NINE}))
    assert (experiment.status().best, experiment.status().samples) == ("a", 54)


def test_the_order_of_values_by_arm_does_not_matter() -> None:
    """The same decision and, but for rounding, the same statistic."""
    values = {"a": HALF * 2, "b": [*NINE, *HALF], "c": [0.25, 0.5] * 50}
    found = []
    for some in (values, dict(reversed(values.items())), {arm: v[::-1] for arm, v in values.items()}):
        experiment = make("abc", tolerance=0.01)
        experiment.observe(some)
        found.append((experiment.status().best, pytest.approx(experiment.status().progress.statistic)))
    assert found[0] == found[1] == found[2]


def test_the_alarm_looks_when_all_are_in() -> None:
    """Two values far apart refute sigma, and would not have, had they come among many that are alike."""
    values = {"a": [10.0, -10.0, *[0.0, 0.1] * 150], "b": [0.0, 0.1] * 150}
    by_arm, by_row = make(bounds=None, sigma=1.0), make(bounds=None, sigma=1.0)
    by_arm.observe(values)
    assert suspended(by_arm.status()) == ""
    assert by_arm.status().samples == 602
    with pytest.raises(SuspendedError, match="sigma"):
        by_row.observe(rows_of(values))
    assert by_arm.verify().sound


def test_no_comparator_counts_values_by_arm() -> None:
    """Rows in turn are counted, as they are when they are asked for."""
    values = {"a": [0.0, 0.5] * 8, "b": [1.0, 0.5] * 8, "c": [0.5, 0.25] * 8}
    by_arm, by_row = make("abc"), make("abc")
    by_arm.observe(values)
    by_row.observe(in_turn(values))
    assert comparators(by_arm) == [0.0, 0.0, 0.0]
    assert sum(comparators(by_row)) > 0.0


def test_rows_are_judged_as_if_they_had_been_asked_for() -> None:
    """The same decision after the same number of values."""
    values = {"a": [0.0, 0.5] * 40, "b": [1.0, 0.5] * 40, "c": [0.5, 0.25] * 40}
    asked, given = make("abc", strategy="uniform"), make("abc")
    rows = in_turn(values)
    while pulls := asked.ask():
        arm, value = rows[pulls[0].id - 1]
        if pulls[0].arm != arm:
            break
        asked.tell(pulls[0], value)
    given.observe(rows[: asked.status().samples])
    assert given.status().progress.statistic == asked.status().progress.statistic
    assert ruled_out(given.status()) == ruled_out(asked.status())


def test_the_rule_is_asked_though_the_last_arm_is_out() -> None:
    """Its values are ignored, and those before them are judged."""
    experiment = make("abc")
    experiment.observe({"a": [1.0, 0.5] * 20, "b": [1.0, 0.5] * 20, "c": [0.0] * 40})
    assert list(ruled_out(experiment.status())) == ["c"]
    experiment.observe({"a": [1.0] * 200, "b": [0.0] * 200, "c": [1.0]})
    assert experiment.status().best == "a"


def test_a_slip_among_them_holds_the_look_back() -> None:
    """The rule is not asked where the slip was, also not after another retraction; then about all of them."""
    experiment = make()
    with pytest.raises(SuspendedError):
        experiment.observe({"a": HALF, "b": [*NINE[:14], 7.0, *NINE[15:100], 8.0, *NINE[101:]]})
    experiment.retract(55, "a slip", 1.0)
    assert experiment.status().best is None
    state = known(experiment)
    assert as_dict(unpacked(experiment.settings, packed(state))) == as_dict(state)
    experiment.retract(141, "a slip", 1.0)
    assert experiment.status().best == "b"
    assert experiment.verify().sound


def test_a_decision_taken_back_in_the_middle_is_taken_again_at_the_end() -> None:
    """Under a rule that starts over, the replayed values have no order either."""
    experiment = make("abc")
    experiment.observe({"a": HALF, "b": NINE, "c": [0.0] * 40})
    assert experiment.status().best == "b"
    experiment.retract(1, "typing error", 1.0)
    assert experiment.status().best == "b"
    assert experiment.verify().sound


def test_a_charted_course_has_no_point_among_them() -> None:
    """There the rule was not asked, and its intervals are not proven."""
    experiment = make()
    experiment.observe({"a": HALF, "b": NINE})
    course = experiment.course()
    course.advance()
    assert [point.samples for point in course.points.all] == [370]


@pytest.mark.parametrize("version", [1, 2])
def test_an_experiment_of_an_earlier_version_takes_rows_alone(version: int) -> None:
    """It judges after every value, as it did, and an earlier truebest must agree."""
    store = MemoryStore()
    record = new_settings(["a", "b"], 0.05, bounds=(0, 1), seed=1).to_record()
    store.create("x", Entry(CREATED, data={**record, "decisions": version}))
    experiment = Experiment.open(store, "x")
    with pytest.raises(InvalidInputError, match="earlier version"):
        experiment.observe({"a": HALF, "b": NINE})
    assert experiment.status().samples == 0
    experiment.observe("b", 1.0)  # one value has an order
    experiment.observe(rows_of({"a": HALF, "b": NINE}))
    assert experiment.status().best is not None
    assert verify(store, "x").sound


@pytest.mark.parametrize("given", [5, [1.0, 2.0], ["ab"], [("a",)], [("a", 0.5, 1.0)], None])
def test_other_forms_are_refused(given: Any) -> None:
    """In a sentence, with nothing stored."""
    experiment = make()
    with pytest.raises(InvalidInputError):
        experiment.observe(given)
    assert experiment.status().samples == 0


def test_a_file_of_rows_keeps_their_order(tmp_path: Path) -> None:
    """A file with a column for each arm has none."""
    long, wide = tmp_path / "long.csv", tmp_path / "wide.csv"
    long.write_text("arm,value\na,0.1\nb,0.2\na,0.3\n")
    wide.write_text("a,b\n0.1,0.2\n0.3,\n")
    assert read_values(str(long)) == [("a", 0.1), ("b", 0.2), ("a", 0.3)]
    assert read_values(str(wide)) == {"a": [0.1, 0.3], "b": [0.2]} == read_pilot(str(long))
