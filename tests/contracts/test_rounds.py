"""Experiments in rounds on common items: what is decided is a function of the table of values alone."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest

import truebest
from support.told import findings, in_the_race, ruled_out, tied
from truebest import Experiment, InvalidInputError, SuspendedError
from truebest.designs.rounds import Rounds, shuffled
from truebest.experiment.rounds import AHEAD, RoundsState
from truebest.experiment.snapshots import as_dict, from_dict
from truebest.experiment.store.memory import MemoryStore
from truebest.kernels import paired

ARMS = ("a", "b", "c", "d")
SKILL = (0.5, 0.75, 0.6, 0.4)


def scores(items: int, seed: int, real: bool = False) -> Any:
    """Items x arms: how hard an item is moves all arms alike."""
    rng = np.random.default_rng(seed)
    hard = rng.random((items, 1))
    right = 0.6 * hard + 0.4 * rng.random((items, len(ARMS))) < np.array(SKILL)
    return np.clip(right - 0.5 * hard * rng.random((items, 4)), 0.0, 1.0) if real else right.astype(float)


def make(items: Any = 60, **given: Any) -> Experiment:
    given = {"bounds": (0, 1), "seed": 5, **given}
    return Experiment.create(MemoryStore(), "x", list(ARMS), 0.1, items=items, **given)


def known(experiment: Experiment) -> RoundsState:
    experiment.status()
    state = experiment._journal.known
    assert isinstance(state, RoundsState)
    return state


def value_of(table: Any, pull: truebest.Pull) -> float:
    assert pull.item is not None
    return float(table[pull.item, ARMS.index(pull.arm)])


def run(experiment: Experiment, table: Any) -> truebest.Account:
    """One pull after the other."""
    while pulls := experiment.ask():
        experiment.tell(pulls[0], value_of(table, pulls[0]))
    return experiment.status()


def run_wildly(experiment: Experiment, table: Any, seed: int) -> truebest.Account:
    """Many pulls under way, told in any order; some fail, some lapse, some are told twice."""
    rng = np.random.default_rng(seed)
    out: list[truebest.Pull] = []
    for _ in range(10_000):
        asked = experiment.ask(int(rng.integers(1, 12)))
        out += [pull for pull in asked if pull.id not in {one.id for one in out}]
        if not out:
            return experiment.status()
        pull = out.pop(int(rng.integers(len(out))))
        fate = rng.random()
        if fate < 0.1:
            experiment.fail(pull, "no answer")
        elif fate < 0.15:
            experiment.reclaim()
        else:
            experiment.tell(pull, value_of(table, pull))
            if fate > 0.95:
                assert experiment.tell(pull, value_of(table, pull)) == "repeated"
        if experiment.decided:
            return experiment.status()
    raise AssertionError


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_decision_depends_on_the_table_alone(seed: int, real: bool) -> None:
    """One worker or many, in whatever order answers come, with failures and lapses: the same findings."""
    table = scores(60, seed, real)
    one, other = run(make(), table), run_wildly(make(), table, seed)
    assert one.best is not None
    assert findings(one) == findings(other)


@pytest.mark.parametrize("items", [60, math.inf])
@pytest.mark.parametrize("tolerance", [0.0, 0.1])
def test_live_is_what_the_kernels_say(items: Any, tolerance: float) -> None:
    """The twin: the kernels on the rows of the same table, in the order of the seed."""
    table = scores(60, 9)
    experiment = make(items, tolerance=tolerance)
    design = Rounds(None if items == math.inf else items)
    params, (pairs, arms) = design.parameters(4, 0.1, tolerance), design.blank(4)
    order = shuffled(60, "items", 5) if items == 60 else None
    for number in itertools.count(1):
        race = np.flatnonzero(arms[paired.OUT_AFTER] == 0.0).tolist()
        pulls = experiment.ask(len(race))
        assert [ARMS.index(pull.arm) for pull in pulls] == race
        if order is not None:
            assert {pull.item for pull in pulls} == {order[number - 1]}
        row = table[(pulls[0].item or 0) % 60]
        experiment.tell([(pull, row[ARMS.index(pull.arm)]) for pull in pulls])
        found = paired.play_round(params, row, row, pairs, arms)
        assert np.array_equal(pairs, known(experiment).pairs)
        assert np.array_equal(arms, known(experiment).arms)
        if found != paired.GO_ON:
            break
    status = experiment.status()
    assert status.best == ARMS[found]
    assert status.progress.rounds == number


def test_a_replay_is_the_state_that_was_lived_through() -> None:
    """Line by line, at once, from a snapshot at every line: the same state, bit for bit."""
    table = scores(60, 2, real=True)
    experiment = make(failures="worst")
    rng = np.random.default_rng(1)
    for step in range(12):
        for pull in experiment.ask(5):
            if rng.random() < 0.1:
                experiment.fail(pull, "no answer")
            else:
                experiment.tell(pull, value_of(table, pull))
        if step == 6:
            experiment.retract(3, "typing error", 0.25)
    lines = list(experiment._journal.lines())
    recall = experiment._journal._recall
    fresh = RoundsState(experiment.settings, recall=recall)
    fresh.replay(lines)
    assert as_dict(fresh) == as_dict(known(experiment))
    for cut in range(1, len(lines), 7):
        part = RoundsState(experiment.settings, recall=recall)
        part.replay(lines[:cut])
        again = from_dict(experiment.settings, json.loads(json.dumps(as_dict(part))), recall)
        again.replay(lines[cut:])
        assert as_dict(again) == as_dict(fresh)
    assert experiment.verify().sound


def test_a_retraction_leaves_what_the_right_table_gives() -> None:
    """Wrong values of the first round: arms that come back catch up, and the end is as if never wrong."""
    table = scores(60, 3)
    wrong, right = make(), make()
    for _ in range(30):
        for pull in wrong.ask(4):
            value = value_of(table, pull)
            wrong.tell(pull, 1.0 - value if pull.round == 1 else value)
    for event in wrong.history():
        if event.kind == "told" and event.pull in (1, 2, 3, 4):
            assert event.value is not None
            wrong.retract(event.pull, "turned round", 1.0 - event.value)
    one, other = run(wrong, table), run(right, table)
    assert (one.answer, one.pulls, one.means) == (other.answer, other.pulls, other.means)
    assert (ruled_out(one), one.progress.rounds) == (ruled_out(other), other.progress.rounds)
    assert one.promise.bound == pytest.approx(0.5)  # five readings
    assert wrong.verify().sound


def test_a_value_taken_back_is_asked_for_again() -> None:
    """Nothing may be left out: the same pull, item and seed come first."""
    experiment = make()
    first = experiment.ask(4)
    experiment.tell([(pull, 1.0) for pull in first])
    experiment.retract(first[2], "wrong file")
    again = experiment.ask()[0]
    assert (again.id, again.item, again.seed) == (first[2].id, first[2].item, first[2].seed)
    assert experiment.status().progress.rounds == 0


def test_an_arm_that_is_out_is_not_waited_for() -> None:
    """Twenty rounds are under way when arm a is out: those behind count without its answers."""
    rng = np.random.default_rng(0)
    table = np.column_stack([np.zeros(60), *(rng.random((3, 60)) < 0.8)]).astype(float)
    experiment = make()
    for pull in experiment.ask(80):
        if pull.arm != "a" or (pull.round or 0) <= 14:
            experiment.tell(pull, value_of(table, pull))
    status = experiment.status()
    assert ruled_out(status)["a"] <= 4 * 14
    assert status.progress.rounds == 20
    assert status["a"].pending == 6
    assert all(pull.arm != "a" for pull in experiment.ask(9))


def test_ties_of_a_used_up_set_are_named() -> None:
    """Two arms with the same answers are both best, and the third is not among them."""
    table = scores(40, 1)
    table[:, 0] = table[:, 1]
    status = run(make(40), table)
    assert status.best == "a"
    assert tied(status) == in_the_race(status) == ("a", "b")
    assert status.progress.rounds == status.settings.design.items == 40
    assert str(status).startswith(
        "a is best, tied with b on all 40 items; wrong with probability at most 10%"
    )


def test_missing_values_at_their_worst_may_leave_it_open() -> None:
    """When the items are used up, an arm is declared only if it is best whatever is missing."""
    experiment = Experiment.create(
        MemoryStore(), "x", ["a", "b"], items=3, bounds=(0, 1), failures="worst", seed=1
    )
    for _ in range(3):
        one, two = experiment.ask(2)
        experiment.tell(one, 1.0 if one.round == 1 else 0.0)
        if one.round != 1:
            assert experiment.fail(two, "refused") == "failed"
        else:
            experiment.tell(two, 0.0)
    status = experiment.status()
    assert (status.best, status.progress.rounds) == (None, 3)
    assert experiment.ask() == []
    assert experiment.ask_within(1, None) == ([], True)
    assert status.shortfall == pytest.approx(1 / 3)
    assert any("taken at their worst" in caveat.sentence for caveat in status.promise.caveats)


def test_a_failure_counts_as_what_was_fixed_beforehand() -> None:
    """failures=0: an arm that never answers is one that scores 0."""
    experiment = make(failures=0)
    while pulls := experiment.ask():
        for pull in pulls:
            if pull.arm == "b":
                experiment.tell(pull, 1.0)
            else:
                experiment.fail(pull, "no answer")
    status = experiment.status()
    assert (status.best, status.progress.rounds) == ("b", 5)
    assert any("counted as 0" in caveat.sentence for caveat in status.promise.caveats)


def test_no_more_rounds_are_begun_behind_a_hole_than_workers_need() -> None:
    """A lost pull must not let a thousand rounds be paid for."""
    experiment = make(5000)
    experiment.ask()
    rounds = 0
    for _ in range(1000):
        for pull in experiment.ask(4):
            experiment.tell(pull, 0.5)
            rounds = max(rounds, pull.round or 0)
    assert rounds <= AHEAD + 3


def test_minimize_turns_everything_round() -> None:
    """Values 1 - x with minimize: the same course."""
    table = scores(60, 4)
    one, other = run(make(), table), run(make(minimize=True), 1.0 - table)
    assert (one.best, one.pulls, ruled_out(one)) == (other.best, other.pulls, ruled_out(other))


def test_a_value_outside_the_bounds_suspends() -> None:
    """As for independent pulls; a retraction with the right value goes on."""
    experiment = make()
    pull = experiment.ask()[0]
    with pytest.raises(SuspendedError, match=r"gave 3, outside the bounds \[0, 1\]"):
        experiment.tell(pull, 3.0)
    experiment.retract(pull, "typing error", 0.3)
    assert experiment.ask()[0].arm == "b"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"strategy": "uniform"}, "got strategy= too; leave strategy out"),
        ({"stopping": "mixture"}, "got stopping= too; leave stopping out"),
        ({"order": "arrival"}, "order of rounds"),
        ({"bounds": None, "sigma": 1.0}, "needs bounds"),
        ({"failures": 2.0}, "within the bounds"),
        ({"failures": "ignore"}, "must be 'repeat', 'worst' or the value"),
        ({"items": 0}, "must be a whole number from 1"),
        ({"items": []}, "give at least one"),
        ({"items": ["x", "y", "x"]}, "numbers 1 and 3 are equal"),
        ({"items": 2.5}, "items must be a number of items"),
        ({"items": "/no/such/file.jsonl"}, "cannot read the items"),
        ({"items": None, "failures": "worst"}, "needs items="),
    ],
)
def test_what_rounds_refuse(given: dict[str, Any], message: str) -> None:
    """One sentence each."""
    with pytest.raises(InvalidInputError, match=message):
        make(**{"items": 60, **given})


def test_values_from_before_belong_to_no_round() -> None:
    """They cannot be observed."""
    with pytest.raises(InvalidInputError, match="none of its rounds"):
        make().observe("a", 0.5)


def test_other_items_are_refused_on_resuming() -> None:
    """By their hash, if both are known, and by their number in any case."""
    store = MemoryStore()
    Experiment.create(store, "x", list(ARMS), items=["p", "q", "r"], bounds=(0, 1))
    assert Experiment.create(store, "x", list(ARMS), items=["p", "q", "r"]).settings.design.items == 3
    assert Experiment.create(store, "x", list(ARMS), items=3).settings.design.items == 3
    for items, words in ((["p", "q", "s"], "3 items with the hash"), (4, "4 items"), (math.inf, "unlimited")):
        with pytest.raises(InvalidInputError, match=f"compares arms on 3 items.*{words}.*same items"):
            Experiment.create(store, "x", list(ARMS), items=items)
    Experiment.create(store, "y", list(ARMS), bounds=(0, 1))
    with pytest.raises(InvalidInputError, match="compares arms on independent pulls, got 3 items"):
        Experiment.create(store, "y", list(ARMS), items=3)


def test_a_forecast_is_at_most_what_is_left_of_a_closed_set() -> None:
    """After every round: no range goes beyond the calls of scoring all that is in the race on all items."""
    table = scores(60, 6)
    experiment, ranges = make(60), 0
    while pulls := experiment.ask(4):
        experiment.tell([(pull, value_of(table, pull)) for pull in pulls])
        status, high = experiment.status(), experiment.forecast().high
        if high is not None and not status.decided and in_the_race(status):
            ranges += 1
            assert high <= (60 - (status.progress.rounds or 0)) * len(in_the_race(status))
    assert ranges > 5


def test_a_forecast_of_rounds() -> None:
    """It says nothing at first, then about what is left, and nothing at the end."""
    table = scores(2000, 6)
    experiment = make(2000)
    assert experiment.forecast().samples is None
    for _ in range(15):
        experiment.tell([(pull, value_of(table, pull)) for pull in experiment.ask(4)])
    guess = experiment.forecast().samples
    before = experiment.status().samples
    total = run(experiment, table).samples
    assert guess is not None
    assert 0.2 < (guess + 10) / (total - before + 10) < 5.0
    assert experiment.forecast().samples == 0
