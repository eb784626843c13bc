"""What is said of items like these, of a live experiment: a function of the table, beside the answer."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import truebest
from truebest import Account, Experiment, InvalidInputError
from truebest.experiment.snapshots import as_dict, from_dict
from truebest.experiment.store.memory import MemoryStore
from truebest.telling import words
from truebest.telling.standings import Population

ARMS = ("a", "b", "c")
PAIRS = truebest.BestArm(pairs=True)


def scores(items: int, seed: int) -> Any:
    """Items x arms: how hard an item is moves all arms alike."""
    rng = np.random.default_rng(seed)
    return (0.6 * rng.random((items, 1)) + 0.4 * rng.random((items, 3)) < [0.75, 0.6, 0.4]).astype(float)


def make(store: Any = None, items: Any = 80, **given: Any) -> Experiment:
    given = {"bounds": (0, 1), "seed": 5, "sampled": True, **given}
    return Experiment.create(store or MemoryStore(), "x", list(ARMS), 0.1, items=items, **given)


def value_of(table: Any, pull: truebest.Pull) -> float:
    assert pull.item is not None
    return float(table[pull.item, ARMS.index(pull.arm)])


def run(experiment: Experiment, table: Any, wild: int | None = None) -> Account:
    """One pull after the other; or many under way, told in any order, some of which fail."""
    rng = np.random.default_rng(wild)
    out: list[truebest.Pull] = []
    while True:
        out += experiment.ask(1 if wild is None else int(rng.integers(1, 9)))
        if not out:
            return experiment.status()
        pull = out.pop(0 if wild is None else int(rng.integers(len(out))))
        if wild is not None and rng.random() < 0.1:
            experiment.fail(pull, "no answer")
        else:
            experiment.tell(pull, value_of(table, pull))


def population(now: Account) -> Population:
    assert now.population is not None
    return now.population


@pytest.mark.parametrize("given", [{}, {"question": PAIRS}, {"failures": "worst"}, {"minimize": True}])
def test_it_is_a_function_of_the_table_alone(given: dict[str, Any]) -> None:
    """One worker or many, and in whatever order answers come."""
    table = scores(80, 1)
    one = run(make(**given), table)
    if given.get("failures") is None:
        assert population(one) == population(run(make(**given), table, wild=3))
    assert population(one).arm == one.leader
    assert population(one).rows == one.progress.rounds


def test_the_answer_is_the_same_with_and_without_it() -> None:
    """It decides nothing, and takes no call."""
    table = scores(80, 2)
    with_it, without = run(make(), table), run(make(sampled=False), table)
    assert (with_it.answer, with_it.standings) == (without.answer, without.standings)
    assert with_it.promise == without.promise
    assert without.population is None


def test_it_is_what_an_unlimited_source_would_have_proven() -> None:
    """Of two arms, the values told to an experiment on unlimited items: the same, at the level of both."""
    names, table = ["a", "b"], scores(60, 4)
    closed = Experiment.create(MemoryStore(), "x", names, 0.1, items=60, bounds=(0, 1), seed=5, sampled=True)
    source = Experiment.create(MemoryStore(), "y", names, 0.05, items=math.inf, bounds=(0, 1), seed=5)
    while pulls := closed.ask(2):
        values = [value_of(table, pull) for pull in pulls]
        closed.tell(list(zip(pulls, values, strict=True)))
        source.tell(list(zip(source.ask(2), values, strict=True)))
    lead, expected = population(closed.status()).leads[1], source.status()["b"].lead
    assert lead is not None
    assert expected is not None
    assert (lead.low, lead.high) == (expected.low, expected.high)


@pytest.mark.parametrize("given", [{}, {"question": PAIRS}])
def test_replay_snapshot_and_resume_give_it_again(given: dict[str, Any], tmp_path: Any) -> None:
    """From the first line, from a snapshot in the middle, and in another process: bit for bit."""
    table, url = scores(80, 6), f"sqlite:///{tmp_path}/x.db"
    experiment = make(url, **given)
    for _ in range(25):
        pull = experiment.ask()[0]
        experiment.tell(pull, value_of(table, pull))
    state = experiment._journal.known
    assert state is not None
    twin = from_dict(experiment.settings, json.loads(json.dumps(as_dict(state))))
    assert as_dict(twin) == as_dict(state)
    assert twin.population(0) == state.population(0)
    experiment.close()
    with make(url, **given) as again:
        end = run(again, table)
        assert again.verify().sound
    assert population(end) == population(run(make(**given), table))
    with Experiment.open(url, "x") as opened:
        assert opened.status().population == end.population


def test_a_retraction_changes_it_and_its_level() -> None:
    """A value taken back is gone from it, too, and every reading of the data adds delta."""
    table = scores(80, 7)
    right, wrong = make(), make()
    for experiment in (right, wrong):
        for pull in experiment.ask(30):
            flipped = experiment is wrong and pull.id == 4
            experiment.tell(pull, 1.0 - value_of(table, pull) if flipped else value_of(table, pull))
    before = population(wrong.status())
    wrong.retract(4, "a typing error")
    pull = wrong.ask()[0]
    assert pull.id == 4
    wrong.tell(pull, value_of(table, pull))
    assert population(wrong.status()) == population(right.status()) != before
    assert "at most 20%" in words.beyond(wrong.status())[0]


def test_it_is_stored_as_plain_values() -> None:
    """And read back, infinite ends included."""
    experiment = make()
    assert words.beyond(experiment.status())[0].endswith(": not decided.")
    for now in (experiment.status(), run(experiment, scores(80, 8))):
        again = Account.from_dict(json.loads(json.dumps(now.to_dict())), now.settings)
        assert again.population == now.population


def test_every_surface_shows_it_as_a_line_of_its_own() -> None:
    """Text, Markdown, HTML, report and page; the one-line sentence does not."""
    experiment = make()
    now = run(experiment, scores(80, 8))
    (line,) = words.beyond(now)
    assert line.startswith("For items like these, drawn at random (unit: item; ")
    assert f" {now.progress.rounds} units): " in line
    assert line not in now.sentence
    assert line not in words.paragraph(now)
    arms = {arm: lambda item, k=k: float(scores(80, 8)[item, k]) for k, arm in enumerate(ARMS)}
    found = truebest.identify(arms, 0.1, items=80, bounds=(0, 1), rng=5, sampled=True)
    assert line in str(found).splitlines()
    assert line in found.to_markdown().splitlines()
    assert line in now._repr_html_()
    assert line in experiment.report()
    assert ("population", line[0].lower() + line[1:-1]) in words.facts(now)


def test_a_gate_is_judged_against_its_baseline() -> None:
    """At log(2(K-1)/delta), whichever arm leads: every arm by its interval, and the margin is the mark."""
    table = scores(400, 3)[:, [0, 0, 2]]
    table[:40, 1] = 1.0
    experiment = make(items=400, question=truebest.Gate("a", margin=0.2))
    now = run(experiment, table)
    found = population(now)
    assert found.arm == "a"
    assert found.leads[0] is None
    (line,) = words.beyond(now)
    for arm, lead in zip(("b", "c"), found.leads[1:], strict=True):
        assert lead is not None
        passes, fails = lead.low > -0.2, lead.high < -0.2
        said = f"{arm} is {'not ' * passes}worse than a by more than 0.2 ("
        assert (said if passes or fails else f"not decided for {arm} (") in line
    assert run(make(items=400, question=truebest.Gate("a", margin=0.2)), table, wild=1).population == found


@pytest.mark.parametrize(
    "given",
    [
        {"question": truebest.AtLeast(0.5), "items": [{"of": 1, "i": i} for i in "ab"], "cluster": "of"},
        {"items": math.inf},
        {"items": None},
        {"bounds": None, "compare": "wins"},
        {"sampled": 2},
    ],
)
def test_it_is_refused_where_there_is_no_sample(given: dict[str, Any]) -> None:
    """An unlimited source, independent pulls, wins: in one sentence."""
    with pytest.raises(InvalidInputError, match="sampled"):
        make(**given)


def test_an_experiment_keeps_what_it_was_created_with() -> None:
    """A claim about the population cannot be added once values are known."""
    store = MemoryStore()
    make(store, sampled=None)
    with pytest.raises(InvalidInputError, match="sampled"):
        make(store, sampled=True)


@pytest.mark.parametrize("question", [truebest.AtLeast(0.5), truebest.AtMost(0.5)])
def test_a_number_is_asked_of_items_like_these_too(question: truebest.AtLeast) -> None:
    """In a line of its own, whatever the order of arrival; and of clusters that count alike."""
    table = scores(400, 6)
    for more in ({}, {"cluster": "of", "weigh": "clusters"}):
        items = [{"id": i, "of": i // 2} for i in range(400)]
        given = {"items": items, "question": question, **more}
        now = run(make(**given), table)
        found = population(now)
        assert found.arm is None
        assert run(make(**given), table, wild=1).population == found
        (line,) = words.beyond(now)
        assert line.startswith(f"For {'clusters' if more else 'items'} like these, drawn at random")
        for arm, lead in zip(ARMS, found.leads, strict=True):
            assert lead is not None
            assert lead.estimate is not None
            assert lead.low <= lead.estimate <= lead.high
            side = question.sides[0 if (lead.low > 0.5) is question.upwards else 1]
            proven = f"the mean of {arm} is {side} 0.5 ("
            assert (proven if lead.low > 0.5 or lead.high < 0.5 else f"not decided for {arm} (") in line
    known = {"c": table[:, 2].tolist()}
    beside = Experiment.create(
        MemoryStore(),
        "x",
        ARMS[:2],
        0.1,
        items=400,
        bounds=(0, 1),
        sampled=True,
        question=question,
        known=known,
    )
    leads = population(run(beside, table)).leads
    assert [lead is None for lead in leads] == [False, False, True]
    assert "not decided" not in line or any(lead and lead.low < 0.5 < lead.high for lead in found.leads)


@pytest.mark.parametrize("clusters", [{}, {"largest": 2}, {"weigh": "clusters"}])
def test_known_scores_are_rows_like_any_other(clusters: dict[str, Any]) -> None:
    """Beside an arm whose scores are stored, the line is what it is if that arm is asked for them."""
    table, found = scores(80, 9), []
    given: dict[str, Any] = {"items": 80, "bounds": (0, 1), "seed": 5, "sampled": True}
    if clusters:
        given |= {"items": [{"id": i, "of": i // 2} for i in range(80)], "cluster": "of", **clusters}
    asked = Experiment.create(MemoryStore(), "x", ARMS, 1e-6, **given)
    known = Experiment.create(MemoryStore(), "x", ARMS[:2], 1e-6, known={"c": table[:, 2].tolist()}, **given)
    for experiment, arms in ((asked, 3), (known, 2)):
        experiment.tell([(pull, value_of(table, pull)) for pull in experiment.ask(12 * arms)])
        assert experiment.status().progress.rounds == (6 if clusters else 12)
        state = experiment._journal.known
        assert state is not None
        found.append([state.population(arm) for arm in range(3)])
    assert found[0] == found[1]
