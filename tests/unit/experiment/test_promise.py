"""The promise of an experiment: its number, its caveats, and every text that is made of them."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import truebest
from support.clock import Clocked
from support.later import later
from support.told import in_the_race, intervals, suspended
from truebest import Best
from truebest._text import percent
from truebest.errors import SuspendedError
from truebest.experiment.experiment import Experiment
from truebest.experiment.forecast import Forecast
from truebest.experiment.promise import TABLE
from truebest.experiment.snapshots import as_dict
from truebest.running.frame import Frame
from truebest.running.result import Result
from truebest.telling.standings import INFORMS, VOIDS, WEAKENS

GUIDE = (Path(__file__).parents[3] / "docs" / "guides" / "live.md").read_text()


def make(**settings: object) -> Experiment:
    given = {"bounds": (0, 1), "strategy": "uniform", "seed": 1, "lease": 60.0, **settings}
    store = given.pop("store", None) or Clocked()
    return Experiment.create(store, "x", ["a", "b"], **given)  # type: ignore[arg-type]


def begun(**settings: object) -> Experiment:
    """Four pulls: the first three are in the evidence, the fourth is out."""
    experiment = make(**settings)
    experiment.tell([(pull, 0.5) for pull in experiment.ask(4)[:3]])
    return experiment


@later(name="eager", stops_itself=True)
def eager(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
    return leader + pulls.size


def violate(experiment: Experiment, pull: int, value: float = 7.0) -> None:
    with pytest.raises(SuspendedError):
        experiment.tell(pull, value)


def decided() -> Experiment:
    experiment = make()
    experiment.tell([(pull, float(pull.arm == "b")) for pull in experiment.ask(200)[:-1]])
    assert experiment.status().best == "b"
    return experiment


def too_late() -> Experiment:
    experiment = decided()
    assert experiment.tell(200, 7.0) == "late"
    return experiment


def retracted(times: int, pull: int = 1, settings: dict[str, object] | None = None) -> Experiment:
    experiment = begun(**(settings or {}))
    for n in range(times):
        experiment.retract(pull, "wrong line", n / 100)
    return experiment


def suspension() -> Experiment:
    experiment = begun()
    violate(experiment, 4)
    return experiment


def varied() -> Experiment:
    experiment = begun(bounds=None, sigma=0.25)
    with pytest.raises(SuspendedError):
        experiment.tell(4, 7.0)
    return experiment


def corrected() -> Experiment:
    experiment = suspension()
    experiment.retract(4, "a point was lost", 0.7)
    return experiment


def failed() -> Experiment:
    experiment = begun()
    experiment.fail(4, "no luck")
    experiment.ask()
    return experiment


def lapsed() -> Experiment:
    experiment = begun()
    assert isinstance(experiment._store, Clocked)
    experiment._store.time += 61.0
    experiment.ask()
    return experiment


def reclaimed() -> Experiment:
    experiment = begun()
    experiment.reclaim()
    return experiment


def late() -> Experiment:
    experiment = begun()
    experiment.tell(1, 0.25)
    return experiment


def observed() -> Experiment:
    experiment = begun()
    experiment.observe("a", 0.5)
    return experiment


# how each comes about -> the codes that it leaves
CASES: dict[str, tuple[Callable[[], Experiment], list[str]]] = {
    "nothing": (begun, []),
    "an unproven rule": (lambda: begun(stopping="practical"), ["unproven-rule"]),
    "a strategy that stops": (lambda: make(strategy=eager()), ["stops-itself"]),
    "both": (lambda: make(strategy=eager(), stopping="practical"), ["unproven-rule", "stops-itself"]),
    "a violation": (suspension, ["suspended"]),
    "values that vary too much": (varied, ["sigma-refuted"]),
    "a violation after the decision": (too_late, ["outside-bounds", "late"]),
    "20 readings": (lambda: retracted(19), ["too-many-readings", "readings"]),
    "19 readings": (lambda: retracted(18), ["readings"]),
    "a retraction": (lambda: retracted(1), ["readings"]),
    "a failure": (failed, ["failed"]),
    "a lapse": (lapsed, ["lapsed"]),
    "a takeover": (reclaimed, ["reclaimed"]),
    "a late answer": (late, ["late"]),
    "a corrected violation": (corrected, ["corrected"]),
    "a retracted pull that was out": (lambda: retracted(1, pull=4), ["retracted"]),
    "data that existed before": (observed, ["observed"]),
}


def texts(experiment: Experiment) -> list[str]:
    """Everything that is shown of an experiment as it is, and as it would be shown if it were decided."""
    found = []
    for answer in (experiment.status().answer, Best("a")):
        status = replace(experiment.status(), answer=answer)
        result = Result.of(status, ended="decided", seconds=0.0, resumed=0)
        frame = Frame(result, Forecast(None, {}), 0.0)
        found += [str(result), result._repr_html_(), frame.text(500), frame.html()]
        found.append(json.dumps(result.to_dict()))
    return [html.unescape(text) for text in found]


@pytest.mark.parametrize("name", CASES)
def test_every_text_follows_from_the_promise_and_the_caveats(name: str) -> None:
    """What voids the promise removes every percentage; every caveat is in every text."""
    make_one, codes = CASES[name]
    experiment = make_one()
    status = experiment.status()
    assert [caveat.code for caveat in status.promise.caveats] == codes
    void = any(caveat.effect == VOIDS for caveat in status.promise.caveats)
    assert (status.promise.bound is None) == void
    for text in texts(experiment):
        assert not (void and "%" in text)
        for _, _, sentence in status.promise.caveats:
            assert sentence in text
    said = str(replace(status, answer=Best("a")))
    assert ("no guarantee (" in said) == void
    assert ("; wrong with probability at most " in said) == (not void)


def test_every_code_of_the_table_comes_about() -> None:
    """The cases here leave none out; and each code says what it does."""
    assert {code for _, codes in CASES.values() for code in codes} == set(TABLE)
    assert {kind.effect for kind in TABLE.values()} == {VOIDS, WEAKENS, INFORMS}
    caveat = retracted(1).status().promise.caveats[0]
    assert (caveat.code, caveat.effect, caveat.sentence) == tuple(caveat)
    assert retracted(1).status().to_dict()["promise"]["caveats"] == [
        {"code": "readings", "effect": "weakens", "sentence": caveat.sentence}
    ]


@pytest.mark.parametrize(
    ("times", "promise", "words"),
    [
        (0, 0.05, "at most 5%, assuming independent values in [0, 1]"),
        (
            1,
            0.1,
            "at most 10%: 5% for each of 2 readings, assuming independent values in [0, 1], and",
        ),
        (
            2,
            0.15,
            "at most 15%: 5% for each of 3 readings, assuming independent values in [0, 1], and",
        ),
        (18, 0.95, "at most 95%: 5% for each of 19 readings, assuming independent values in [0, 1], and"),
        (19, None, "no guarantee (20 readings of the data at 0.05 each leave nothing"),
    ],
)
def test_each_retraction_from_the_evidence_costs_delta(times: int, promise: float | None, words: str) -> None:
    """The number is the product of the decimals, and the sentence has its parts; from 1 on there is none."""
    status = retracted(times).status()
    assert status.promise.bound == promise
    assert words in status.promise.words


def test_what_the_evidence_did_not_hold_costs_nothing() -> None:
    """A pull that is out, a result that waits, a value outside the bounds, and what changes nothing."""
    experiment = make()
    first, second, third = experiment.ask(3)
    experiment.tell(second, 0.5)
    experiment.retract(second, "it waits for the first", 0.25)
    experiment.retract(third, "it is out")
    violate(experiment, first.id)
    experiment.retract(first, "a point was lost", 0.7)
    assert experiment.status().samples == 2
    experiment.retract(first, "the same again, after a lost connection", 0.7)
    experiment.retract(third, "void as it was")
    assert experiment.status().promise.bound == 0.05
    experiment.retract(third, "found after all", 0.5)
    assert experiment.status().promise.bound == 0.1
    experiment.retract(first, "it was right", 0.5)
    assert experiment.status().promise.bound == 0.15


def test_a_result_that_came_after_the_decision_may_be_retracted() -> None:
    """The evidence never held it, so the decision is taken again at once, with the same promise."""
    experiment = decided()
    experiment.retract(199, "it came too late")
    status = experiment.status()
    assert (status.best, status.promise.bound) == ("b", 0.05)
    experiment.retract(1, "from the evidence")
    assert experiment.status().promise.bound == 0.1


def test_a_late_value_outside_the_bounds_voids_until_it_is_corrected() -> None:
    """For a pull that has its value, before the decision: the values are not what was assumed."""
    experiment = begun()
    assert experiment.tell(1, 7.0) == "late"
    assert experiment.status().promise.bound is None
    assert suspended(experiment.status()) == ""
    experiment.retract(1, "7 was a typing error", 0.5)  # the value that it has
    assert experiment.status().promise.bound == 0.05
    unbounded = begun(bounds=None, sigma=1.0)
    unbounded.tell(1, 7.0)
    assert unbounded.status().promise.bound == 0.05


@pytest.mark.parametrize("name", CASES)
def test_the_promise_is_a_function_of_the_log(name: str) -> None:
    """From the log alone, from a snapshot, and from a snapshot that version 0.1 left: the same."""
    experiment = CASES[name][0]()
    status, store = experiment.status(), experiment._store
    assert experiment._journal.known is not None
    saved = as_dict(experiment._journal.known)
    counts = {key: [0, 0] for key in ("failed", "retracted", "violated")}
    for snapshot in ("gone", json.dumps(saved), json.dumps({**saved, "snapshot": 2, "counts": counts})):
        with store.writing("x") as log:
            log.save_snapshot(saved["seq"], snapshot)
        again = Experiment.open(
            store, "x", strategy=eager() if status.settings.strategy_name == "eager" else None
        )
        assert again.status() == status


def test_racing_keeps_its_promise_and_others_that_stop_do_not() -> None:
    """Racing drops arms by the same pairwise rule; of others nothing is known."""
    assert make(strategy="racing").status().promise.bound == 0.05
    assert make(strategy="racing", stopping="practical").status().promise.bound is None
    assert make(strategy=eager()).status().promise.bound is None


@given(st.floats(1e-300, 1.0, exclude_max=True))
def test_a_printed_percentage_is_never_rounded_down(probability: float) -> None:
    """And is off by a hundred-thousandth of itself at most."""
    shown = Fraction(percent(probability).removesuffix("%")) / 100
    exact = Fraction(repr(probability))
    assert exact <= shown <= exact * Fraction(100_001, 100_000)


def test_the_guide_has_the_table() -> None:
    """Every code with its effect, in the order of the table, and nothing else."""
    rows = re.findall(r"^\| `([a-z-]+)` \| (voids|weakens|informs) \|", GUIDE, re.MULTILINE)
    assert rows == [(code, kind.effect) for code, kind in TABLE.items()]


@later(name="mine")
def in_turn(pulls):  # type: ignore[no-untyped-def]
    """Leaves the decision to the rule."""
    return int(pulls.argmin())


@later(name="mine", stops_itself=True)
def in_turn_to_six(t, pulls, leader):  # type: ignore[no-untyped-def]
    """The same, and stops after six samples."""
    return pulls.size + leader if t >= 6 else int(pulls.argmin())


@pytest.mark.parametrize("stops_first", [False, True])
def test_a_strategy_that_has_begun_to_stop_by_itself_is_refused(stops_first: bool) -> None:
    """Under the same name it would decide, and the promise would be that of the rule; or the reverse."""
    other, first = (in_turn(), in_turn_to_six()) if stops_first else (in_turn_to_six(), in_turn())
    experiment = make(strategy=first)
    with pytest.raises(truebest.InvalidInputError, match=r"'mine' does.* stop by itself, and the one that"):
        Experiment.open(experiment._store, "x", strategy=other)
    assert Experiment.open(experiment._store, "x", strategy=first).ask()


def test_a_stop_is_heard_although_another_client_told_the_results() -> None:
    """One without the strategy lets no rule decide in its place; the next ask with it records the stop."""
    experiment = make(strategy=in_turn_to_six(), delta=0.2)
    other = Experiment.open(experiment._store, "x")
    for _ in range(6):
        pull = experiment.ask()[0]
        other.tell(pull, float(pull.arm == "b"))
        assert other.status().best is None
    assert experiment.ask() == []
    status = experiment.status()
    assert (status.best, status.samples, status.promise.bound) == ("b", 6, None)
    assert experiment.verify().sound


def test_how_far_the_leader_can_be_from_the_best() -> None:
    """Always, decided or not: at most what the intervals allow; and who may still be the best."""
    for minimize, word in ((False, "below"), (True, "above")):
        experiment = Experiment.create(
            "memory:", "x", ["a", "b", "c"], bounds=(0, 1), strategy="uniform", seed=1, minimize=minimize
        )
        before = experiment.status()
        assert (before.shortfall, in_the_race(before)) == (None, ("a", "b", "c"))
        values = {"a": 0.9, "b": 0.85, "c": 0.0}
        for _ in range(30):
            for pull in experiment.ask(3):
                experiment.tell(pull, 1.0 - values[pull.arm] if minimize else values[pull.arm])
        status = experiment.status()
        assert in_the_race(status) == ("a", "b")
        assert status.shortfall == -intervals(status)["b"][0] > 0.0
        shown = float(re.findall(rf"a leads and is at most (\S+) {word} the best", str(status))[0])
        assert status.shortfall <= shown <= 1.01 * status.shortfall  # never rounded down
        assert [one["role"] for one in status.to_dict()["standings"]] == ["leads", "in the race", "ruled out"]
    finished = decided().status()
    assert (finished.shortfall, in_the_race(finished)) == (0.0, ("b",))
    unproven = begun(stopping="practical").status()
    assert unproven.shortfall is None
    assert str(unproven).endswith("leads")


def test_the_best_is_as_near_as_it_says() -> None:
    """Over 200 runs of equal means but one: the leader is never farther from the best than the shortfall.

    False alarm: each run errs with probability at most 0.05; more than 20 of 200 has probability below 1e-3.
    """
    misses = 0
    for seed in range(200):
        experiment = Experiment.create("memory:", "x", ["a", "b"], sigma=1.0, strategy="uniform", seed=seed)
        rng, means = np.random.default_rng(seed), {"a": 0.0, "b": 0.4}
        for _ in range(8):
            experiment.tell([(pull, float(rng.normal(means[pull.arm]))) for pull in experiment.ask(10)])
        status = experiment.status()
        assert status.leader is not None
        assert status.shortfall is not None
        misses += 0.4 - means[status.leader] > status.shortfall
    assert misses <= 20
