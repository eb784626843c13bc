"""Experiments that compare arms by wins: what is decided is a function of the table of values alone."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truebest
from support.told import column, findings, in_the_race, intervals, no_winner, ruled_out, tied, won_and_lost
from truebest import Experiment, InvalidInputError, NoWinner, SuspendedError
from truebest.designs import Wins
from truebest.designs.rounds import shuffled
from truebest.experiment.snapshots import as_dict, from_dict
from truebest.experiment.store.memory import MemoryStore
from truebest.experiment.wins import WinsState
from truebest.kernels import paired, wins
from truebest.kernels.round_claims import room
from truebest.plots.identification import draw
from truebest.running.frame import Frame

ARMS = ("a", "b", "c", "d")
SCALES = (1.3, 1.0, 1.15, 2.0)


def times(rounds: int, seed: int) -> Any:
    """Rounds x arms: what is common to a round, times noise of each arm."""
    rng = np.random.default_rng(seed)
    common = np.exp(rng.normal(size=(rounds, 1)))
    return np.array(SCALES) * common * np.exp(0.2 * rng.normal(size=(rounds, 4)))


def circle(rounds: int, seed: int) -> Any:
    """Three arms that beat one another in a circle in two of three rounds; all beat the fourth."""
    rng = np.random.default_rng(seed)
    table = np.zeros((rounds, 4))
    table[:, :3] = [np.roll([1.0, 2.0, 3.0], k) for k in rng.integers(0, 3, rounds)]
    table[:, 3] = 9.0
    return table


def make(store: Any = None, **given: Any) -> Experiment:
    given = {"compare": "wins", "minimize": True, "seed": 5, **given}
    return Experiment.create(store or MemoryStore(), "x", list(ARMS), 0.1, **given)


def known(experiment: Experiment) -> WinsState:
    experiment.status()
    state = experiment._journal.known
    assert isinstance(state, WinsState)
    return state


def value_of(table: Any, pull: truebest.Pull) -> float:
    number = pull.item if pull.item is not None else (pull.round or 0) - 1
    return float(table[number % len(table), ARMS.index(pull.arm)])


def run(experiment: Experiment, table: Any) -> truebest.Account:
    """One pull after the other."""
    while pulls := experiment.ask():
        experiment.tell(pulls[0], value_of(table, pulls[0]))
    return experiment.status()


def run_wildly(experiment: Experiment, table: Any, seed: int) -> truebest.Account:
    """Many pulls under way, told in any order; some lapse and are told later."""
    rng = np.random.default_rng(seed)
    out: list[truebest.Pull] = []
    while not experiment.decided:
        out += [p for p in experiment.ask(int(rng.integers(1, 12))) if p.id not in {one.id for one in out}]
        if not out:
            break
        pull = out.pop(int(rng.integers(len(out))))
        if rng.random() < 0.1:
            experiment.reclaim()
        else:
            experiment.tell(pull, value_of(table, pull))
    return experiment.status()


DESIGNS: list[dict[str, Any]] = [{}, {"direct": True}, {"tolerance": 0.1}, {"items": 80}]


@pytest.mark.parametrize("given", DESIGNS)
def test_the_decision_depends_on_the_table_alone(given: dict[str, Any]) -> None:
    """One worker or many, in whatever order answers come: the same findings."""
    table = times(80, 1)
    one, other = run(make(**given), table), run_wildly(make(**given), table, 3)
    assert one.decided
    assert findings(one) == findings(other)


@pytest.mark.parametrize("table", [times(80, 2), circle(80, 2)])
@pytest.mark.parametrize("given", [*DESIGNS, {"items": 80, "direct": True}])
def test_live_is_what_the_kernels_say(given: dict[str, Any], table: Any) -> None:
    """The twin: the kernels on the rows of the same table, and the arms of a round in the drawn order."""
    experiment = make(**given)
    items, tolerance = given.get("items"), given.get("tolerance", 0.0)
    design = Wins(items, direct=given.get("direct", False))
    params, (pairs, arms) = design.parameters(4, 0.1, tolerance), design.blank(4)
    near, told = np.zeros_like(pairs), room(4)
    for number in itertools.count(1):
        race = np.flatnonzero(arms[paired.OUT_AFTER] == 0.0).tolist()
        pulls = experiment.ask(len(race))
        order = [a for a in shuffled(4, "round", 5, number).tolist() if a in race]
        assert [ARMS.index(pull.arm) for pull in pulls] == order
        assert {pull.round for pull in pulls} == {number}
        assert all((pull.item is None) == (items is None) for pull in pulls)
        experiment.tell([(pull, value_of(table, pull)) for pull in pulls])
        row = -table[(number - 1 if items is None else pulls[0].item or 0) % 80]
        found = wins.play(params, row, row, pairs, near, arms, told)
        state = known(experiment)
        for mine, its in ((pairs, state.pairs), (near, state.near), (arms, state.arms), (told, state.told)):
            assert np.array_equal(mine, its)
        if found != paired.GO_ON or number == 300:
            break
    status = experiment.status()
    assert status.best == (ARMS[found] if found >= 0 else None)
    assert no_winner(status) == (found == paired.NO_WINNER)
    assert status.progress.rounds == number


def test_the_order_within_rounds_is_drawn() -> None:
    """Every arm is first in about a quarter of 400 rounds: outside 60 to 140 with probability below 1e-5."""
    first = [int(shuffled(4, "round", 1, number)[0]) for number in range(1, 401)]
    assert all(60 <= first.count(arm) <= 140 for arm in range(4))
    assert first != [int(shuffled(4, "round", 2, number)[0]) for number in range(1, 401)]


@pytest.mark.parametrize("given", [{}, {"direct": True}, {"tolerance": 0.1}, {"failures": "worst"}])
def test_a_replay_is_the_state_that_was_lived_through(given: dict[str, Any]) -> None:
    """Line by line, at once, from a snapshot at every line: the same state; with failures and infinities."""
    table = times(80, 4)
    table[3, 1] = table[8, 2] = math.inf
    experiment = make(**given)
    rng = np.random.default_rng(1)
    for step in range(10):
        for pull in experiment.ask(5):
            if rng.random() < 0.1:
                experiment.fail(pull, "no answer")
            else:
                experiment.tell(pull, value_of(table, pull))
        if step == 6:
            experiment.retract(3, "typing error", 0.25)
    lines, recall = list(experiment._journal.lines()), experiment._journal._recall
    fresh = WinsState(experiment.settings, recall=recall)
    fresh.replay(lines)
    assert as_dict(fresh) == as_dict(known(experiment))
    for cut in range(1, len(lines), 7):
        part = WinsState(experiment.settings, recall=recall)
        part.replay(lines[:cut])
        again = from_dict(experiment.settings, json.loads(json.dumps(as_dict(part))), recall)
        again.replay(lines[cut:])
        assert as_dict(again) == as_dict(fresh)
    assert experiment.verify().sound


def test_there_may_be_no_winner(tmp_path: Path) -> None:
    """It is said, for good, in words, in the log and by whoever reads it again."""
    store = f"sqlite:///{tmp_path / 'runs.db'}"
    experiment = make(store, direct=True)
    status = run(experiment, circle(3000, 1))
    assert (status.best, no_winner(status), status.leader) == (None, True, None)
    assert status.decided
    assert in_the_race(status) == ()
    assert isinstance(status.answer, NoWinner)
    assert dict(status.answer.beaten) == column(status, "beaten_by")
    assert str(status).startswith(
        "there is no winner: each arm loses to another one; wrong with probability at most 10%"
    )
    assert experiment.ask() == []
    experiment.close()
    with Experiment.open(store, "x") as again:
        assert again.status() == status
        found = again.verify()
        assert (found.sound, found.decision) == (True, "no winner")
        assert again.status().to_dict()["answer"]["kind"] == "no_winner"
        assert again.forecast().samples == 0


def test_a_race_may_name_an_arm_of_a_circle_and_does_not_promise_anything_then() -> None:
    """The words say so; two arms, and direct, need no such condition."""
    words = make().status().promise.words
    assert words.endswith("and that some arm wins against each other one")
    assert "some arm wins" not in make(direct=True).status().promise.words
    two = Experiment.create("memory:", "x", ["a", "b"], compare="wins").status()
    assert two.promise.words == ("wrong with probability at most 5%, assuming independent rounds")


@pytest.mark.parametrize("direct", [False, True])
def test_a_used_up_set_is_decided_by_its_sums(direct: bool) -> None:
    """Few items: an arm that is ahead of all others on them, all that tie, or none, exactly."""
    ahead = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 3.0, 4.0]])
    status = run(make(items=3, direct=direct), ahead)
    assert (status.best, status.progress.rounds) == ("a", 3)
    assert "in more than half of all 3 items" in str(status)
    even = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 3.0, 4.0]])
    status = run(make(items=2, direct=direct), even)
    assert status.best == "a"
    assert tied(status) == ("a", "b")
    round_about = np.array([[1.0, 2.0, 3.0, 9.0], [3.0, 1.0, 2.0, 9.0], [2.0, 3.0, 1.0, 9.0]])
    status = run(make(items=3, direct=direct), round_about)
    if direct:
        assert (status.best, no_winner(status), tied(status)) == (None, True, ())
    else:  # a race assumes that there is a winner, and names the last one that is not proven to lose
        assert "and that some arm wins against each other one" in status.promise.words


def test_a_failure_is_a_loss_and_at_its_worst_no_win_for_others() -> None:
    """Arm d fails in every round: it is out after as few rounds as if it were slow, unless taken at worst."""
    rounds = {}
    for failures in ("loss", "worst"):
        experiment = make(failures=failures)
        table = times(60, 7)
        for _ in range(100):
            pulls = experiment.ask()
            if not pulls:
                break
            if pulls[0].arm == "d":
                experiment.fail(pulls[0], "crashed")
            else:
                experiment.tell(pulls[0], value_of(table, pulls[0]))
        status = experiment.status()
        rounds[failures] = status.progress.rounds
        assert ("d" in ruled_out(status)) == (failures == "loss")
        assert next(c.sentence for c in status.promise.caveats if c.code == "failed").startswith(
            "pulls that gave no value, " + ("counted as losses" if failures == "loss" else "taken at their")
        )


def test_infinite_times_count_and_nan_does_not() -> None:
    """inf loses against everything but itself; NaN must be reported as a failure."""
    experiment = make()
    pulls = {pull.arm: pull for pull in experiment.ask(4)}
    with pytest.raises(InvalidInputError, match=r"number that can be compared, got nan; .* say so with fail"):
        experiment.tell(pulls["a"], math.nan)
    experiment.tell([(pulls[arm], t) for arm, t in zip(ARMS, (1.0, math.inf, 2.0, math.inf), strict=True)])
    status = experiment.status()
    assert status.leader == "a"
    assert won_and_lost(status) == {"b": (1, 0), "c": (1, 0), "d": (1, 0)}
    assert status.means == {"a": 1.0, "b": None, "c": 2.0, "d": None}
    assert known(experiment).pairs[paired.LEAD].reshape(4, 4)[1, 3] == 0.0


def test_a_tolerance_needs_values_of_one_sign() -> None:
    """A factor means nothing below 0, so such a value suspends, as one outside bounds does."""
    experiment = make(tolerance=0.1)
    with pytest.raises(SuspendedError, match="must be at least 0"):
        experiment.tell(experiment.ask()[0], -1.0)
    without = make()
    assert without.tell(without.ask()[0], -1.0) == "told"


def test_within_the_tolerance_equal_arms_are_decided() -> None:
    """Equal arms never end without one; with one the answer says what it means."""
    rng = np.random.default_rng(3)
    table = np.exp(0.05 * rng.normal(size=(2000, 4)))
    status = run(make(tolerance=0.1), table)
    assert status.best is not None
    assert "is within 1.1 times the best in more than half of all rounds" in str(status)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bounds": (0, 1)}, "needs no bounds, sigma or model, got Bounded"),
        ({"sigma": 1.0}, "needs no bounds, sigma or model, got Gaussian"),
        ({"strategy": "uniform"}, "compare='wins' .* got strategy= too; leave strategy out"),
        ({"order": "arrival"}, "order of rounds"),
        ({"direct": True, "tolerance": 0.1}, "knows no tolerance"),
        ({"direct": "yes"}, "direct must be True or False"),
        ({"failures": math.inf}, "failures must be"),
        ({"failures": "ignore"}, "or 'loss' if arms are compared by wins"),
        ({"compare": "medians", "bounds": (0, 1)}, "compare must be one of 'means', 'wins'"),
        ({"compare": "means", "bounds": (0, 1), "direct": True}, "direct=True needs compare='wins'"),
        (
            {"compare": "means", "bounds": (0, 1), "items": 9, "failures": "loss"},
            "if arms are compared by wins",
        ),
    ],
)
def test_what_wins_refuse(given: dict[str, Any], message: str) -> None:
    """One sentence each."""
    with pytest.raises(InvalidInputError, match=message) as refusal:
        make(**given)
    assert str(refusal.value).count("\n") == 0


def test_a_stored_experiment_is_resumed_as_it_is() -> None:
    """By its name alone; another way to compare is refused."""
    store = MemoryStore()
    run_a_little = make(store, direct=True)
    run_a_little.tell(run_a_little.ask()[0], 2.0)
    again = Experiment.create(store, "x", list(ARMS))
    assert again.settings == run_a_little.settings
    assert make(store, direct=True).settings == again.settings
    with pytest.raises(InvalidInputError, match="exists with compare 'wins', got 'means'"):
        Experiment.create(store, "x", list(ARMS), compare="means")


def test_identify_calls_arms_without_an_item_or_with_one() -> None:
    """As the items are given; the result says how often who won."""
    rng = np.random.default_rng(1)
    arms = {"slow": lambda: 2.0 + rng.random(), "fast": lambda: 1.5 + rng.random()}
    found = truebest.identify(arms, compare="wins", minimize=True, rng=1, timeout=60)
    assert found.best == "fast"
    won, lost = won_and_lost(found)["slow"]
    assert won > lost
    assert found.table()[0][-1] == "fast wins - loses"
    assert found.table()[1][1][-1] == f"{won} - {lost}"
    on_items = {"twice": lambda item: 2 * item, "once": lambda item: item}
    found = truebest.identify(on_items, compare="wins", items=[1, 2, 3, 4, 5, 6, 7, 8], rng=1)
    assert (found.best, found.settings.design.items) == ("twice", 8)


def test_what_is_shown_of_a_lead_is_in_wins() -> None:
    """Net wins per round, as the intervals count them: in the view, in the picture, and in the sentence."""
    experiment = make()
    table = times(3, 1)
    for _ in range(3):
        experiment.tell([(pull, value_of(table, pull)) for pull in experiment.ask(4)])
    status = experiment.status()
    won, lost = won_and_lost(status)["d"]
    assert column(status, "lead")["d"].estimate == (won - lost) / 3
    assert intervals(status)["d"][0] <= (won - lost) / 3 <= intervals(status)["d"][1]
    shown = Frame(status, experiment.forecast(), 1.0).text(120)
    assert f"wins {won} - {lost}" in shown
    assert f"{status.means['d']:.4g}" in shown
    assert "of rounds against the best" in str(status)
    label = draw(status).axes[0].get_xlabel()
    assert label.startswith("the leader is better by (how likely it is to win a round, less to lose it)\n")
