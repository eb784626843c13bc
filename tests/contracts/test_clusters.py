"""Items that belong together: a row is a cluster, and each item counts alike, or each cluster."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import truebest
from support.told import findings, tied
from truebest import Account, Experiment, InvalidInputError
from truebest.errors import DamagedLogError
from truebest.experiment.exports import exported
from truebest.experiment.rounds import RoundsState
from truebest.experiment.snapshots import as_dict, from_dict
from truebest.experiment.store.memory import MemoryStore
from truebest.kernels import paired
from truebest.telling import words

ARMS = ("a", "b", "c")
PAIRS = truebest.BestArm(pairs=True)
SIZES = [1, 4, 2, 7, 3, 1, 5, 2, 6, 3] * 3


def items_of(sizes: list[int]) -> list[dict[str, Any]]:
    """One after the other from each cluster, so that those of one lie apart."""
    found = [(k, c) for c, size in enumerate(sizes) for k in range(size)]
    return [{"turn": k, "talk": f"talk {c}"} for k, c in sorted(found)]


def scores(items: list[dict[str, Any]], seed: int) -> Any:
    """Items x arms: right or wrong, alike within a cluster."""
    rng = np.random.default_rng(seed)
    hard = {item["talk"]: rng.random() for item in items}
    chance = [0.4 * hard[item["talk"]] + np.array([0.5, 0.35, 0.2]) for item in items]
    return (rng.random((len(items), 3)) < chance).astype(float)


def make(sizes: list[int] = SIZES, store: Any = None, **given: Any) -> Experiment:
    given = {"bounds": (0, 1), "seed": 5, "items": items_of(sizes), "cluster": "talk", **given}
    return Experiment.create(store or MemoryStore(), "x", list(ARMS), 0.1, **given)


def run(experiment: Experiment, table: Any, wild: int | None = None) -> Account:
    """One pull after the other; or many under way, told in any order, some of which fail."""
    out: list[truebest.Pull] = []
    rng = np.random.default_rng(wild)
    while True:
        known = {one.id for one in out}
        asked = experiment.ask(1 if wild is None else int(rng.integers(1, 30)))
        out += [pull for pull in asked if pull.id not in known]
        if not out:
            return experiment.status()
        pull = out.pop(0 if wild is None else int(rng.integers(len(out))))
        if wild is not None and rng.random() < 0.05:
            experiment.fail(pull, "no answer")
        else:
            experiment.tell(pull, float(table[pull.item, ARMS.index(pull.arm)]))


def rows_of(items: list[dict[str, Any]], table: Any) -> Any:
    """Clusters x arms: the sum over the items, and how many these are; in the order of the first items."""
    talks = list(dict.fromkeys(item["talk"] for item in items))
    which = np.array([talks.index(item["talk"]) for item in items])
    sums = np.array([table[which == c].sum(axis=0) for c in range(len(talks))])
    return sums, np.array([(which == c).sum() for c in range(len(talks))])


COMPARED = [
    lambda unit: truebest.Gate("c", 0.1 / unit),
    lambda unit: truebest.AtLeast(0.6 / unit),
    lambda unit: truebest.AtMost(0.6 / unit),
]
WEIGHTS = [
    {},
    {"weigh": "clusters"},
    {"question": PAIRS},
    {"sampled": True, "largest": 9},
    {"sampled": True, "weigh": "clusters"},
    {"epochs": 2},
]


@pytest.mark.parametrize("given", WEIGHTS)
def test_the_decision_depends_on_the_table_alone(given: dict[str, Any]) -> None:
    """One worker or many, in whatever order answers come, with failures: the same findings."""
    table = scores(items_of(SIZES), 1)
    one, other = run(make(**given), table), run(make(**given), table, wild=2)
    assert findings(one) == findings(other)
    assert one.population == other.population
    assert (one.population is None) == ("sampled" not in given)


@pytest.mark.parametrize("tolerance", [0.0, 0.1])
@pytest.mark.parametrize("question", [None, PAIRS])
def test_where_clusters_count_alike_a_cluster_is_its_mean(question: Any, tolerance: float) -> None:
    """Told the means of clusters, one per item, an experiment finds the same in as many rounds."""
    if question and tolerance:
        return
    items, given = items_of(SIZES), {"question": question, "tolerance": tolerance, "sampled": True}
    table = scores(items, 3)
    sums, sizes = rows_of(items, table)
    one = run(make(weigh="clusters", **given), table)
    other = run(make(items=len(SIZES), cluster=None, **given), sums / sizes[:, None])
    assert one.answer == other.answer
    assert one.population == other.population
    assert one.progress.rounds == other.progress.rounds
    for mine, its in zip(one.standings, other.standings, strict=True):
        assert (mine.mean, mine.role) == (its.mean, its.role)
        if mine.lead is not None and its.lead is not None:
            assert mine.lead.ends == pytest.approx(its.lead.ends, abs=1e-15)


@pytest.mark.parametrize("question", [None, PAIRS])
def test_where_items_count_alike_a_cluster_is_its_sum(question: Any) -> None:
    """Told sums, divided by the largest size, an experiment finds the same, but for the unit."""
    items = items_of(SIZES)
    table = scores(items, 4)
    sums, sizes = rows_of(items, table)
    one = run(make(question=question), table)
    other = run(make(items=len(SIZES), cluster=None, question=question), sums / sizes.max())
    unit = len(sizes) * sizes.max() / sizes.sum()
    assert one.answer == other.answer
    assert one.progress.rounds == other.progress.rounds
    for mine, its in zip(one.standings, other.standings, strict=True):
        if mine.lead is not None and its.lead is not None:
            ends = [min(max(unit * end, -1.0), 1.0) for end in its.lead.ends]
            assert mine.lead.ends == pytest.approx(ends, abs=1e-12)
    order = [pull for pull in make().ask(300) if pull.arm == "a"]
    taken = [table[pull.item or 0, 0] for pull in order][: one["a"].samples]
    assert one["a"].mean == pytest.approx(np.mean(taken))


@pytest.mark.parametrize("margin", [0.2, 0.03, -0.05])
def test_a_margin_is_one_of_items(margin: float) -> None:
    """Told sums, divided by the largest size, a gate says the same, with the margin in that unit."""
    items = items_of(SIZES)
    table = scores(items, 4)
    sums, sizes = rows_of(items, table)
    unit = len(sizes) * sizes.max() / sizes.sum()
    one = run(make(question=truebest.Gate("b", margin)), table)
    asked = truebest.Gate("b", margin / unit)
    other = run(make(items=len(SIZES), cluster=None, question=asked), sums / sizes.max())
    assert one.answer == other.answer
    assert one.progress.rounds == other.progress.rounds


@pytest.mark.parametrize("number", [0.3, 0.62, 0.9])
def test_a_number_is_asked_of_items(number: float) -> None:
    """Told sums, divided by the largest size, verdicts are the same, with the number in that unit."""
    items = items_of(SIZES)
    table = scores(items, 4)
    sums, sizes = rows_of(items, table)
    unit = len(sizes) * sizes.max() / sizes.sum()
    one = run(make(question=truebest.AtLeast(number)), table)
    asked = truebest.AtLeast(number / unit)
    other = run(make(items=len(SIZES), cluster=None, question=asked), sums / sizes.max())
    assert one.answer == other.answer
    assert one.progress.rounds == other.progress.rounds
    for mine, its in zip(one.standings, other.standings, strict=True):
        assert mine.lead is not None
        assert its.lead is not None
        assert mine.lead.ends == pytest.approx([min(unit * end, 1.0) for end in its.lead.ends], abs=1e-9)
        assert 0.0 <= mine.lead.low <= mine.lead.high <= 1.0
    truth = dict(zip(ARMS, table.mean(axis=0), strict=True))
    answer = one.answer
    assert isinstance(answer, truebest.Verdicts)
    assert all(truth[arm] >= number for arm in answer.passed)
    assert all(truth[arm] < number for arm in answer.failed)


def beside(table: Any, **given: Any) -> Experiment:
    """The third arm is not asked: its scores are known."""
    known = {"c": table[:, 2].tolist()}
    given = {
        "bounds": (0, 1),
        "seed": 5,
        "items": items_of(SIZES),
        "cluster": "talk",
        "known": known,
        **given,
    }
    return Experiment.create(MemoryStore(), "x", ["a", "b"], 0.1, **given)


@pytest.mark.parametrize("given", [*WEIGHTS, {"question": truebest.AtLeast(0.6)}, {"proxies": True}])
def test_known_scores_of_items_in_clusters_decide_by_the_table_alone(given: dict[str, Any]) -> None:
    """One worker or many, in whatever order answers come, with failures: the same findings."""
    table = scores(items_of(SIZES), 1)
    given = given | ({"proxies": [table[:, 0].tolist()]} if "proxies" in given else {})
    one, other = run(beside(table, **given), table), run(beside(table, **given), table, wild=2)
    assert findings(one) == findings(other)
    assert one.population == other.population
    assert one["c"].samples == 0


@pytest.mark.parametrize("weigh", ["clusters", "items"])
@pytest.mark.parametrize("ask", [lambda unit: None, lambda unit: PAIRS, *COMPARED])
def test_known_scores_of_a_cluster_are_its_mean_or_its_sum(weigh: str, ask: Any) -> None:
    """Told means of clusters, or sums divided by the largest size, an experiment finds the same."""
    items = items_of(SIZES)
    table = scores(items, 4)
    sums, sizes = rows_of(items, table)
    rows, unit = sums / sizes[:, None], 1.0
    if weigh == "items":
        rows, unit = sums / sizes.max(), len(sizes) * sizes.max() / sizes.sum()
    one = run(beside(table, weigh=weigh, question=ask(1.0)), table)
    other = run(beside(rows, items=len(SIZES), cluster=None, question=ask(unit)), rows)
    assert one.answer == other.answer
    assert one.progress.rounds == other.progress.rounds
    mean = (table if weigh == "items" else rows).mean(axis=0)[2]
    assert one["c"].mean == pytest.approx(mean)
    for mine, its in zip(one.standings, other.standings, strict=True):
        if mine.lead is not None and its.lead is not None:
            ends = [min(max(unit * end, -1.0), 1.0) for end in its.lead.ends]
            assert mine.lead.ends == pytest.approx(ends, abs=1e-9)


def test_a_part_of_a_known_mean_is_one_of_what_counts_alike() -> None:
    """Of the mean over all items, or of the mean of the means of clusters."""
    table = scores(items_of(SIZES), 4)
    sums, sizes = rows_of(items_of(SIZES), table)
    for weigh, mean in (("items", table[:, 2].mean()), ("clusters", (sums / sizes[:, None])[:, 2].mean())):
        asked = beside(table, weigh=weigh, question=truebest.Gate("c", "10%")).settings.question
        assert isinstance(asked, truebest.Gate)
        assert asked.margin == pytest.approx(0.1 * mean)


def test_clusters_of_one_size_count_as_their_items_do() -> None:
    """Then it is the same what counts alike."""
    sizes = [3] * 25
    table = scores(items_of(sizes), 5)
    one, other = run(make(sizes), table), run(make(sizes, weigh="clusters"), table)
    assert (one.answer, one.pulls) == (other.answer, other.pulls)
    assert [row.lead for row in one.standings] == [row.lead for row in other.standings]


def test_a_round_asks_for_every_item_of_a_cluster() -> None:
    """Of every arm; each a pull of its own."""
    pulls = make(epochs=2).ask(3 * 2 * sum(SIZES))
    items = items_of(SIZES)
    for number in range(1, len(SIZES) + 1):
        asked = [pull for pull in pulls if pull.round == number]
        talk = {items[pull.item or 0]["talk"] for pull in asked}
        assert len(talk) == 1
        members = [i for i, item in enumerate(items) if item["talk"] in talk]
        seen = sorted((pull.arm, pull.item or 0, pull.epoch or 0) for pull in asked)
        assert seen == sorted((arm, i, e) for arm in ARMS for i in members for e in (1, 2))


@pytest.mark.parametrize(
    ("weigh", "right"),
    [("items", ({0: 3}, {0: 1, 1: 2})), ("clusters", ({0: 3, 1: 0}, {0: 0, 1: 7}))],
)
def test_what_is_used_up_is_compared_exactly(weigh: str, right: tuple[dict[int, int], ...]) -> None:
    """As many items right, or as large a share of clusters of 3 and of 7: tied, whatever thirds add up to."""
    sizes = [3, 7, 1, 1, 1]
    items = items_of(sizes)
    table = np.zeros((len(items), 3))
    for arm, counts in enumerate(right):
        for cluster, count in counts.items():
            of_it = [i for i, item in enumerate(items) if item["talk"] == f"talk {cluster}"]
            table[of_it[:count], arm] = 1.0
    now = run(make(sizes, weigh=weigh), table)
    assert set(tied(now)) == {"a", "b"}
    assert f"all 13 items in 5 clusters, each {weigh[:-1]} counting alike" in now.sentence


def test_what_counts_alike_can_decide_who_is_best() -> None:
    """One arm is right on the one large cluster, another on all small ones."""
    sizes = [20] + [1] * 10
    items = items_of(sizes)
    large = np.array([item["talk"] == "talk 0" for item in items])
    table = np.stack([large, ~large, np.zeros(len(items))], axis=1).astype(float)
    assert run(make(sizes), table).best == "a"
    assert run(make(sizes, weigh="clusters"), table).best == "b"


@pytest.mark.parametrize("given", WEIGHTS)
def test_half_a_cluster_is_taken_up_again(given: dict[str, Any], tmp_path: Any) -> None:
    """In another process, from a snapshot, from the first line and from an export: the same end."""
    table, url = scores(items_of(SIZES), 6), f"sqlite:///{tmp_path}/x.db"
    experiment = make(store=url, **given)
    for _ in range(29):
        pull = experiment.ask()[0]
        experiment.tell(pull, float(table[pull.item or 0, ARMS.index(pull.arm)]))
    state = experiment._journal.known
    assert isinstance(state, RoundsState)
    assert state.parts
    twin = from_dict(experiment.settings, json.loads(json.dumps(as_dict(state))))
    assert as_dict(twin) == as_dict(state)
    assert twin.next() == state.next()
    assert twin.population(0) == state.population(0)
    experiment.close()
    with make(store=url, **given) as again:
        end = run(again, table, wild=4)
        assert again.verify().sound
    whole = run(make(**given), table)
    assert findings(end) == findings(whole)
    assert end.population == whole.population
    with Experiment.open(url, "x") as opened:
        (tmp_path / "x.jsonl").write_text("\n".join(exported(opened, "jsonl")))
    copied = Experiment.import_log(MemoryStore(), tmp_path / "x.jsonl")
    assert findings(copied.status()) == findings(whole)


def test_a_pull_of_another_cluster_is_no_line_of_its_log(tmp_path: Any) -> None:
    """An edited export is refused."""
    experiment = make()
    experiment.ask(3)
    lines = list(exported(experiment, "jsonl"))
    item = json.loads(lines[1])["data"]["item"]
    other = next(i for i, one in enumerate(items_of(SIZES)) if one["talk"] != items_of(SIZES)[item]["talk"])
    lines[1] = lines[1].replace(f'"item": {item}', f'"item": {other}')
    head, *_ = json.loads(lines[0]), None
    head.pop("export")
    file = tmp_path / "x.jsonl"
    file.write_text("\n".join([json.dumps(head), *lines[1:-1]]))
    with pytest.raises((InvalidInputError, DamagedLogError)):
        Experiment.import_log(MemoryStore(), file)


@pytest.mark.parametrize("given", [{}, {"question": PAIRS}])
def test_an_answer_can_be_put_right(given: dict[str, Any]) -> None:
    """After its cluster counts: as if it had been told right at once."""
    table = scores(items_of(SIZES), 7)
    right, wrong = make(**given), make(**given)
    for experiment in (right, wrong):
        for pull in experiment.ask(40):
            value = float(table[pull.item or 0, ARMS.index(pull.arm)])
            experiment.tell(pull, 1.0 - value if experiment is wrong and pull.id == 2 else value)
    run(wrong, table)
    wrong.retract(2, "a typing error")
    (pull,) = wrong.ask()
    wrong.tell(pull, float(table[pull.item or 0, ARMS.index(pull.arm)]))
    assert run(wrong, table).answer == run(right, table).answer
    assert [one.lead for one in wrong.status().standings] == [one.lead for one in right.status().standings]


def test_missing_answers_are_taken_at_their_worst_one_by_one() -> None:
    """The others of the cluster count as they are."""
    sizes = [4, 4]
    experiment = make(sizes, failures="worst")
    for pull in experiment.ask(12):
        if (pull.arm, pull.id) == ("a", 1):
            experiment.fail(pull, "no answer")
        else:
            experiment.tell(pull, float(pull.arm == "a"))
    experiment.status()
    state = experiment._journal.known
    assert isinstance(state, RoundsState)
    assert [float(x) for x in state.pairs[paired.LEAD][:4]] == [0.0, 0.75, 0.75, -1.0]


def test_words_name_clusters() -> None:
    """In the sentence, in the line on clusters like these, and in its assumption."""
    now = run(make(sampled=True, largest=9), scores(items_of(SIZES), 1))
    assert f"on {now.progress.rounds} of 30 clusters" in now.sentence
    assert "these 102 items in 30 clusters, each item counting alike" in now.sentence
    assert "clusters in random order" in now.sentence
    (line,) = words.beyond(now)
    assert line.startswith("For clusters like these, drawn at random (unit: cluster, each item counting")


def test_a_function_and_a_file_say_the_same(tmp_path: Any) -> None:
    """And so does what is stored."""
    file = tmp_path / "tests.jsonl"
    file.write_text("\n".join(map(json.dumps, items_of(SIZES))))
    one, other = make(), make(cluster=lambda item: item["talk"].split()[1])
    assert one.settings.items == other.settings.items == make(items=str(file)).settings.items
    store = MemoryStore()
    make(store=store)
    assert make(store=store, cluster=None).settings.items == one.settings.items
    with pytest.raises(InvalidInputError, match="102 items in 7 clusters"):
        make(store=store, cluster="turn")
    with pytest.raises(InvalidInputError, match="weigh 'items'"):
        make(store=store, weigh="clusters")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"items": 20}, "the items themselves"),
        ({"items": None}, "items="),
        ({"items": math.inf}, "the items themselves"),
        ({"cluster": "conversation"}, "a key that every item has"),
        ({"cluster": lambda item: {1}}, "a plain value|another plain value"),
        ({"cluster": None, "weigh": "clusters"}, "cluster="),
        ({"cluster": None, "largest": 3}, "cluster="),
        ({"weigh": "talks"}, "weigh"),
        ({"largest": 9}, "sampled=True"),
        ({"sampled": True}, "largest="),
        ({"sampled": True, "largest": 6}, "at least the size of the largest"),
        ({"sampled": True, "largest": 9, "weigh": "clusters"}, "weigh='items'"),
        ({"bounds": None, "compare": "wins"}, "cluster="),
    ],
)
def test_what_is_not_proven_is_refused(given: dict[str, Any], said: str) -> None:
    """In one sentence."""
    with pytest.raises(InvalidInputError, match=said):
        make(**given)
