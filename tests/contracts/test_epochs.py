"""Several answers to an item: an arm's value there is their mean, and the item is what counts as one."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import truebest
from support.told import findings, tied
from truebest import Account, Experiment, InvalidInputError
from truebest.experiment.exports import exported
from truebest.experiment.rounds import RoundsState
from truebest.experiment.snapshots import as_dict, from_dict
from truebest.experiment.store.memory import MemoryStore
from truebest.kernels import paired
from truebest.telling import words

ARMS, EPOCHS, ITEMS = ("a", "b", "c"), 4, 40
PAIRS = truebest.BestArm(pairs=True)


def answers(seed: int, items: int = ITEMS, epochs: int = EPOCHS) -> Any:
    """Items x arms x epochs: right or wrong, with the same chance every time."""
    rng = np.random.default_rng(seed)
    chance = 0.5 * rng.random((items, 1)) + np.array([0.45, 0.3, 0.15])
    return (rng.random((items, 3, epochs)) < chance[:, :, None]).astype(float)


def make(store: Any = None, items: Any = ITEMS, epochs: int | None = EPOCHS, **given: Any) -> Experiment:
    given = {"bounds": (0, 1), "seed": 5, **given}
    return Experiment.create(
        store or MemoryStore(), "x", list(ARMS), 0.1, items=items, epochs=epochs, **given
    )


def value_of(table: Any, pull: truebest.Pull) -> float:
    """An answer; without epochs the mean of all."""
    assert pull.item is not None
    cell = table[pull.item % len(table), ARMS.index(pull.arm)]
    return float(cell.mean() if pull.epoch is None else cell[pull.epoch - 1])


def run(experiment: Experiment, table: Any, wild: int | None = None, fail: bool = True) -> Account:
    """One pull after the other; or many under way, told in any order, some of which fail or lapse."""
    out: list[truebest.Pull] = []
    rng = np.random.default_rng(wild)
    while True:
        known = {one.id for one in out}
        asked = experiment.ask(1 if wild is None else int(rng.integers(1, 20)))
        out += [pull for pull in asked if pull.id not in known]
        if not out:
            return experiment.status()
        pull = out.pop(0 if wild is None else int(rng.integers(len(out))))
        fate = 1.0 if wild is None else rng.random()
        if fate < 0.1 and fail:
            experiment.fail(pull, "no answer")
        elif fate < 0.11:
            experiment.reclaim()
        else:
            experiment.tell(pull, value_of(table, pull))


@pytest.mark.parametrize("given", [{}, {"question": PAIRS}, {"sampled": True}, {"minimize": True}])
def test_the_decision_depends_on_the_table_alone(given: dict[str, Any]) -> None:
    """One worker or many, in whatever order answers come, with failures and lapses: the same findings."""
    table = answers(1)
    one, other = run(make(**given), table), run(make(**given), table, wild=2)
    assert one.best is not None
    assert findings(one) == findings(other)
    assert one.population == other.population


@pytest.mark.parametrize("items", [ITEMS, math.inf])
@pytest.mark.parametrize("given", [{}, {"question": PAIRS}, {"tolerance": 0.1}])
def test_it_is_what_their_means_would_have_been(items: Any, given: dict[str, Any]) -> None:
    """Told the means of the answers, one per item, an experiment finds the same on as many items."""
    table = answers(3)
    several, means = (
        run(make(items=items, **given), table),
        run(make(items=items, epochs=None, **given), table),
    )
    assert several.answer == means.answer
    assert several.progress.rounds == means.progress.rounds
    assert several.pulls == {arm: EPOCHS * n for arm, n in means.pulls.items()}
    for one, other in zip(several.standings, means.standings, strict=True):
        assert (one.lead, one.mean, one.sd, one.role) == (other.lead, other.mean, other.sd, other.role)
        assert one.out == (None if other.out is None else EPOCHS * other.out)


def test_every_answer_is_a_pull_with_a_seed_of_its_own() -> None:
    """All arms once, then all arms once more; the item stays the same."""
    pulls = make().ask(2 * 3 * EPOCHS)
    assert [pull.epoch for pull in pulls] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4] * 2
    assert [pull.round for pull in pulls] == [1] * 12 + [2] * 12
    assert len({pull.item for pull in pulls[:12]}) == 1
    assert len({pull.seed for pull in pulls}) == len(pulls)
    assert make(epochs=1).ask(1)[0].epoch is None


def test_a_round_counts_when_all_answers_are_in() -> None:
    """Until then they wait."""
    experiment = make()
    pulls = experiment.ask(3 * EPOCHS)
    experiment.tell([(pull, 1.0) for pull in pulls[:-1]])
    now = experiment.status()
    assert (now.samples, now.progress.waiting, now.progress.rounds) == (0, 11, 0)
    experiment.tell(pulls[-1], 1.0)
    now = experiment.status()
    assert (now.samples, now.progress.waiting, now.progress.rounds) == (12, 0, 1)


def test_a_missing_answer_is_between_its_ends_and_the_others_count() -> None:
    """Of four answers, one missing: the mean is within a quarter of what the others say."""
    experiment = make(failures="worst")
    for pull in experiment.ask(3 * EPOCHS):
        if (pull.arm, pull.epoch) == ("a", 2):
            experiment.fail(pull, "no answer")
        else:
            experiment.tell(pull, float(pull.arm == "a"))
    experiment.status()
    state = experiment._journal.known
    assert isinstance(state, RoundsState)
    K = len(ARMS)
    assert state.pairs[paired.LEAD].reshape(K, K).tolist() == [
        [0.0, 0.75, 0.75],
        [-1.0, 0.0, 0.0],
        [-1.0, 0.0, 0.0],
    ]
    scored = make(failures=0)
    for pull in scored.ask(3 * EPOCHS):
        if (pull.arm, pull.epoch) == ("a", 2):
            scored.fail(pull, "no answer")
        else:
            scored.tell(pull, float(pull.arm == "a"))
    assert scored.status()["a"].mean == 0.75


def test_sums_of_means_are_compared_exactly() -> None:
    """Of three answers, thirds: sums that are equal are tied, whatever binary thirds add up to."""
    table = np.zeros((9, 3, 3))
    table[:3, 0, 0] = 1.0  # three items of a third
    table[7, 1, :] = 1.0  # one item of three thirds
    experiment = make(items=9, epochs=3, bounds=(0, 0.7))
    now = run(experiment, 0.7 * table)
    assert set(tied(now)) == {"a", "b"}
    assert now.samples == 9 * 3 * 2 + sum(n for arm, n in now.pulls.items() if arm == "c")


@pytest.mark.parametrize("given", [{}, {"question": PAIRS, "sampled": True}])
def test_half_a_round_is_taken_up_again(given: dict[str, Any], tmp_path: Any) -> None:
    """In another process, from a snapshot, from the first line and from an export: the same end."""
    table, url = answers(6), f"sqlite:///{tmp_path}/x.db"
    experiment = make(url, **given)
    for _ in range(31):
        pull = experiment.ask()[0]
        experiment.tell(pull, value_of(table, pull))
    state = experiment._journal.known
    assert isinstance(state, RoundsState)
    assert state.parts
    twin = from_dict(experiment.settings, json.loads(json.dumps(as_dict(state))))
    assert as_dict(twin) == as_dict(state)
    assert twin.next() == state.next()
    experiment.close()
    with make(url, **given) as again:
        end = run(again, table, wild=4)
        assert again.verify().sound
    whole = run(make(**given), table)
    assert findings(end) == findings(whole)
    assert end.population == whole.population
    with Experiment.open(url, "x") as opened:
        (tmp_path / "x.jsonl").write_text("\n".join(exported(opened, "jsonl")))
    copied = Experiment.import_log(MemoryStore(), tmp_path / "x.jsonl")
    assert findings(copied.status()) == findings(whole)


@pytest.mark.parametrize("given", [{}, {"question": PAIRS}])
@pytest.mark.parametrize("late", [False, True])
def test_an_answer_can_be_put_right(given: dict[str, Any], late: bool) -> None:
    """Before and after its round counts, and after the decision: as if it had been told right at once."""
    table = answers(7)
    right, wrong = make(**given), make(**given)
    for experiment in (right, wrong):
        for pull in experiment.ask(20):
            value = value_of(table, pull)
            experiment.tell(pull, 1.0 - value if experiment is wrong and pull.id in (2, 17) else value)
    if late:
        run(wrong, table)
    for number in (2, 17):
        wrong.retract(number, "a typing error")
    for _ in range(2):
        (pull,) = wrong.ask()
        wrong.tell(pull, value_of(table, pull))
    assert findings(run(wrong, table))[:1] == findings(run(right, table))[:1]
    assert [one.lead for one in wrong.status().standings] == [one.lead for one in right.status().standings]


def test_words_count_calls_items_and_epochs() -> None:
    """In the sentence, and in how many samples an arm has."""
    now = run(make(sampled=True), answers(1))
    rounds = now.progress.rounds
    assert f"{now.samples} samples on {rounds} of 40 items, 4 epochs each" in now.sentence
    assert f"(unit: item, 4 epochs each; {rounds} units)" in words.beyond(now)[0]
    assert now.samples == sum(now.pulls.values()) == sum(one.samples for one in now.standings)
    assert all(n % EPOCHS == 0 for n in now.pulls.values())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"epochs": 0}, "epochs"),
        ({"epochs": 1.5}, "epochs"),
        ({"items": None}, "items="),
        ({"bounds": None, "compare": "wins"}, "epochs=4"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], said: str) -> None:
    """In one sentence."""
    with pytest.raises(InvalidInputError, match=said):
        make(**given)


def test_how_often_is_fixed_beforehand() -> None:
    """Another number is another experiment."""
    store = MemoryStore()
    make(store)
    with pytest.raises(InvalidInputError, match="epochs 4, got 5"):
        make(store, epochs=5)
    assert make(store, epochs=None).settings.epochs == EPOCHS


def test_forecasts_count_answers() -> None:
    """As many as its rounds will have."""
    table, several, means = answers(3), make(), make(epochs=None)
    for experiment, n in ((several, EPOCHS), (means, 1)):
        for _ in range(18 * n):
            (pull,) = experiment.ask()
            experiment.tell(pull, value_of(table, pull))
    one, other = several.forecast().samples, means.forecast().samples
    assert one is not None
    assert other is not None
    assert abs(one - EPOCHS * other) <= 3 * EPOCHS
