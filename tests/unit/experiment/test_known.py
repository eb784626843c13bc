"""Arms whose scores are known: what is asked, what is stored, what is refused, and what is said."""

from __future__ import annotations

import asyncio
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truebest
from truebest import Experiment, InvalidInputError, StoreError
from truebest.experiment.exports import exported
from truebest.experiment.known import find_known, known_record, recall_known
from truebest.experiment.settings import new_settings, read_settings
from truebest.experiment.store.memory import MemoryStore

ITEMS = [{"id": f"case {i}", "text": "x" * i} for i in range(60)]
RNG = np.random.default_rng(2)
OLD = (RNG.random(60) < 0.4).astype(float).tolist()
NEW = [float(np.clip(x + (RNG.random() < 0.35), 0.0, 1.0)) for x in OLD]
BY_ID = {f"case {i}": score for i, score in enumerate(OLD)}
GIVEN: dict[str, Any] = {"items": ITEMS, "bounds": (0, 1), "known": {"old": OLD}}


def score(item: dict[str, str]) -> float:
    return NEW[int(item["id"].split()[1])]


def played(experiment: Experiment, most: int = 100) -> list[tuple[str, int]]:
    """What was asked for, up to a decision."""
    asked: list[tuple[str, int]] = []
    while len(asked) < most and (pulls := experiment.ask(3)):
        for pull in pulls:
            assert pull.item is not None
            asked.append((pull.arm, pull.item))
            experiment.tell(pull, NEW[pull.item])
    return asked


def test_only_the_others_are_asked_and_counted() -> None:
    """The known arm makes no calls; its scores are its values, and it is shown as known."""
    calls: list[str] = []

    def run(item: dict[str, str]) -> float:
        calls.append(item["id"])
        return score(item)

    found = truebest.identify({"new": run}, rng=4, **GIVEN)
    assert found.best == "new"
    assert len(calls) == len(set(calls)) == found.samples == found.pulls["new"]
    assert found.pulls["old"] == 0
    assert found.means["old"] == pytest.approx(np.mean(OLD))
    assert [row[1] for row in found.table()[1]] == [str(len(calls)), "known"]
    assert found.sentence.count("the scores of old as they were given") == 1
    assert f"{len(calls)} samples on {len(calls)} of 60 items, with old known" in found.sentence
    both = {"new": run, "old": lambda item: BY_ID[item["id"]]}
    assert found.samples < truebest.identify(both, rng=4, items=ITEMS, bounds=(0, 1)).samples


def test_asynchronous_arms_are_compared_with_it_too() -> None:
    """As any others."""

    async def run(item: dict[str, str]) -> float:
        return score(item)

    assert asyncio.run(truebest.aidentify({"new": run}, rng=4, **GIVEN)).best == "new"


@pytest.mark.parametrize(
    ("known", "items"),
    [
        (OLD, ITEMS),
        (np.array(OLD), ITEMS),
        (BY_ID, ITEMS),
        (dict(reversed(BY_ID.items())), ITEMS),
        (dict(enumerate(OLD)), 60),
        ({str(i): x for i, x in enumerate(OLD)}, 60),
        ({name: OLD[i] for i, name in enumerate("abc")}, ["a", "b", "c"]),
    ],
)
def test_scores_are_one_per_item_in_order_or_by_item(known: Any, items: Any) -> None:
    """An item that is a record is known by its id, one without by itself, and a number by itself."""
    found = find_known({"old": known}, None, items)
    assert found is not None
    assert list(found.scores["old"]) == OLD[: found.size]


def test_files_are_read(tmp_path: Path) -> None:
    """JSON lines and CSV with an id and a score, in any order; or a number per line, in the items' order."""
    rows = list(enumerate(OLD))
    texts = {
        "a.jsonl": "\n".join(json.dumps({"id": f"case {i}", "score": x}) for i, x in reversed(rows)),
        "b.csv": "id,score\n" + "\n".join(f"case {i},{x}" for i, x in rows),
        "c.txt": "\n".join(map(str, OLD)),
    }
    table = "id,m1,m2\n" + "\n".join(f"case {i},{x},{'' if i else 1}" for i, x in rows)
    (tmp_path / "table.csv").write_text(table)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        found = find_known({"old": tmp_path / name}, str(tmp_path / "table.csv"), ITEMS)
        assert found is not None
        assert list(found.scores["old"]) == OLD
        assert found.means is not None
        assert found.models == 2
        assert found.means[1:] == tuple(OLD[1:])
        assert found.means[0] == 0.5 * (OLD[0] + 1.0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"known": {"old": OLD[:-1]}}, "one score per item, 60 of them, got 59"),
        ({"known": {"old": [*OLD[:-1], None]}}, "finite score on every item, got nan on item 60"),
        ({"known": {"old": [*OLD[:-1], math.inf]}}, "finite score on every item, got inf on item 60"),
        ({"known": {"old": [*OLD[:-1], 1.5]}}, "known 'old' must have scores .* got 1.5 on item 60"),
        ({"known": {"old": "nowhere.jsonl"}}, "cannot read the scores from 'nowhere.jsonl'"),
        ({"known": {"old": 0.5}}, "known 'old' must be one number per item"),
        ({"known": {"old": {**BY_ID, "other": 1.0}}}, "got 1 score of other items, the first 'other'"),
        ({"known": {"old": {"case 0": 1.0}}}, "got 59 without a score, the first 'case 1'"),
        ({"known": {}}, "known must be the scores of one or more arms"),
        ({"known": OLD}, "known must be the scores of one or more arms"),
        ({"known": {"new": OLD}}, "got 'new' as both"),
        ({"known": None, "proxies": [OLD]}, "got proxies beside no known arm"),
        ({"proxies": [OLD[:-1]]}, "row 1 of proxies must have one score per item"),
        ({"proxies": 7}, "proxies must be rows of stored scores"),
        ({"items": math.inf}, "known= needs the means of a closed set"),
        ({"items": None}, "known= needs the means of a closed set"),
        ({"bounds": None, "compare": "wins"}, "known= needs the means of a closed set"),
        ({"bounds": None, "sigma": 1.0}, "items= needs bounds"),
    ],
)
def test_what_is_not_right_is_refused_in_a_sentence(given: dict[str, Any], words: str) -> None:
    """Nothing is stored then."""
    store = MemoryStore()
    with pytest.raises(InvalidInputError, match=words) as found:
        Experiment.create(store, "x", ["new"], **{**GIVEN, **given})
    assert "\n" not in str(found.value)
    assert store.names() == []


def test_all_known_is_refused_and_so_is_a_score_twice(tmp_path: Path) -> None:
    """Nothing is left to find out; and which of two scores counts nobody knows."""
    with pytest.raises(InvalidInputError, match="got none beside the known old, older"):
        new_settings([], **{**GIVEN, "known": {"old": OLD, "older": OLD}})
    lines = [{"id": "a", "score": 1}, {"id": "b", "score": 0}, {"id": "a", "score": 0}]
    (tmp_path / "old.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(InvalidInputError, match=r"lines 1 and 3 of .* are both scores of the item 'a'"):
        find_known({"old": tmp_path / "old.jsonl"}, None, ["a", "b"])


def test_changed_scores_are_refused_and_nothing_is_lost() -> None:
    """On resume, by their hash, in one sentence; the same ones resume, and so does their hash alone."""
    store = MemoryStore()
    made = Experiment.create(store, "x", ["new"], seed=3, **GIVEN)
    pull = made.ask()[0]
    made.tell(pull, 1.0)
    other = [*OLD[:-1], 1.0 - OLD[-1]]
    for changed in ({"known": {"old": other}}, {"known": {"older": OLD}}, {"proxies": [OLD]}):
        with pytest.raises(InvalidInputError, match=r"scores of|compares new, old, got") as found:
            Experiment.create(store, "x", ["new"], **{**GIVEN, **changed})
        assert "\n" not in str(found.value)
    again = Experiment.create(store, "x", ["new"], **{**GIVEN, "known": {"old": BY_ID}})
    assert again.settings == made.settings
    assert again.ask()[0].id == 2
    assert Experiment.open(store, "x").status().samples == 1


def test_damaged_scores_are_noticed() -> None:
    """The hash beside them does not fit."""
    record = new_settings(["new"], **GIVEN).to_record()
    assert read_settings(json.loads(json.dumps(record))).to_record() == record
    record["known"]["scores"]["old"][0] = 1.0 - record["known"]["scores"]["old"][0]
    with pytest.raises(StoreError, match="known of the experiment cannot be read"):
        read_settings(record)
    assert recall_known(known_record(None)) is None


def test_the_version_of_the_rule_is_another_one_only_beside_known_scores() -> None:
    """So an earlier truebest refuses such an experiment, and judges all others as before."""
    assert new_settings(["new"], **GIVEN).to_record()["items"]["version"] == 3
    plain = new_settings(["new", "old"], items=60, bounds=(0, 1))
    assert plain.to_record()["items"]["version"] == 2
    assert plain.design.strata is None  # type: ignore[attr-defined]


@pytest.mark.parametrize("question", [None, truebest.BestArm(pairs=True)])
@pytest.mark.parametrize("minimize", [False, True])
def test_what_is_decided_does_not_depend_on_when_values_arrive(question: Any, minimize: bool) -> None:
    """Nor on snapshots, or on who reads the log: three arms, one of them known, and proxies."""
    answers = []
    for seed in (0, 1, 2):
        rng, store = np.random.default_rng(seed), MemoryStore()
        asked = {"minimize": minimize, "question": question}
        experiment = Experiment.create(
            store, "x", ["new", "bad"], seed=7, proxies=[OLD, NEW], **asked, **GIVEN
        )
        waiting: list[Any] = []
        while pulls := [*waiting, *experiment.ask(1 + seed * 4)]:
            waiting = []
            for place in rng.permutation(len(pulls)):
                pull = pulls[place]
                if len(waiting) < 3 * seed and rng.random() < 0.4:
                    waiting.append(pull)
                    continue
                value = NEW[pull.item] if pull.arm == "new" else 0.3 * OLD[pull.item]
                experiment.tell(pull, value)
        now = experiment.status()
        assert experiment.verify().sound
        answers.append((now.best, now.samples, now.pulls, [one.lead for one in now.standings]))
    assert answers[0][0] == ("bad" if minimize else "new")
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][2]["old"] == 0


def test_an_export_is_read_back(tmp_path: Path) -> None:
    """With the scores, and the decision follows from them alone."""
    store = MemoryStore()
    with Experiment.create(store, "x", ["new"], seed=3, **GIVEN) as experiment:
        asked = played(experiment)
        assert {arm for arm, _ in asked} == {"new"}
        before = experiment.status()
        (tmp_path / "x.jsonl").write_text("\n".join(exported(experiment, "jsonl")))
    found = Experiment.import_log("memory:", tmp_path / "x.jsonl")
    assert found.status() == before
    assert found.verify().follows


@pytest.mark.parametrize("question", [None, truebest.Against("old")])
def test_a_known_arm_is_shown_by_what_is_known_of_it(question: Any) -> None:
    """By its mean over all items, from the beginning, and also if it is out; and so is its deviation."""
    worse = [0.5 * x for x in OLD]
    known = {"old": OLD, "older": worse}
    given = {**GIVEN, "known": known, "question": question}
    before = Experiment.create("memory:", "x", ["new"], **given).status()
    found = truebest.identify({"new": score}, rng=4, **given)
    assert found["older"].out is not None
    for arm, scores in known.items():
        for one in (found[arm], next(row for row in before.standings if row.arm == arm)):
            assert one.mean == pytest.approx(np.mean(scores))
            assert one.sd == pytest.approx(np.std(scores, ddof=1))
    lead = found["old" if question is None else "new"].lead  # of the same items, which differ less
    assert lead is not None
    assert lead.estimate is not None


def test_a_used_up_set_is_compared_exactly() -> None:
    """With the decimals that were given: arms with the same sum are tied."""
    known = [0.1, 0.2, 0.7]
    found = truebest.identify(
        {"new": lambda item: [0.7, 0.1, 0.2][item]}, items=3, bounds=(0, 1), known={"old": known}, rng=1
    )
    assert isinstance(found.answer, truebest.Tied)
    assert found.samples == 3


@pytest.mark.parametrize(
    ("old", "margin", "passes", "said"),
    [
        ([1.0] * 35 + [0.0] * 15, 28, True, "0.14"),
        ([1.0] * 35 + [0.0] * 15, 27, False, "0.14"),
        ([1.0] * 15 + [0.0] * 5, 12, True, "0.15"),
        ([1.0] * 20 + [0.0] * 10, 16, True, "0.133334"),
        ([1.0] * 20 + [0.0] * 10, 15, False, "0.133333"),
    ],
)
def test_a_margin_of_a_part_is_exactly_that(old: list[float], margin: int, passes: bool, said: str) -> None:
    """20% of what the old one has in total; the stored experiment has it, too."""
    store, new = MemoryStore(), [1.0] * margin + [0.0] * (len(old) - margin)
    given: dict[str, Any] = {"items": len(old), "bounds": (0, 1), "known": {"old": old}, "seed": 1}
    question = truebest.Gate("old", "20%")
    experiment = Experiment.create(store, "x", ["new"], 1e-9, question=question, **given)
    while pulls := experiment.ask(1):
        experiment.tell(pulls[0], new[pulls[0].item or 0])
    assert experiment.status().answer == truebest.Verdicts(*((("new",), ()) if passes else ((), ("new",))))
    sentence = Experiment.create(store, "x", ["new"], question=question, **given).status().sentence
    assert sentence.startswith(f"new is {'not ' * passes}worse than old by more than {said}; ")


def test_a_forecast_counts_the_calls_of_the_others() -> None:
    """The known arm needs none."""
    experiment = Experiment.create("memory:", "x", ["new"], seed=3, **GIVEN)
    for pull in experiment.ask(12):
        experiment.tell(pull, NEW[pull.item or 0])
    found = experiment.forecast()
    assert found.pulls["old"] == 0
    assert found.samples == found.pulls["new"]


def test_what_was_observed_lies_inside_its_interval() -> None:
    """The interval is of all items, also of known scores; the estimate is of the items drawn so far."""
    inside = []
    for seed in range(8):
        old = np.where(np.random.default_rng(seed).random(400) < 0.93, 1.0, 0.0).tolist()
        given: dict[str, Any] = {"items": 400, "bounds": (0, 1), "known": {"old": old}, "seed": seed}
        question = truebest.Gate("old", margin=0.02)
        experiment = Experiment.create(MemoryStore(), "x", ["new"], 0.1, question=question, **given)
        for _ in range(40):
            for pull in experiment.ask(1):
                experiment.tell(pull, 1.0)
            (lead,) = (one.lead for one in experiment.status().standings if one.arm == "new")
            assert lead is not None
            assert lead.estimate is None or lead.low <= lead.estimate <= lead.high
            assert all(type(end) is float and str(end) != "-0.0" for end in lead.ends)
            inside.append(lead.estimate in lead.ends)
    assert any(inside)


# -- a number ----------------------------------------------------------------------------------------------


def test_a_known_arm_is_compared_with_a_number_at_once() -> None:
    """By its sum, at no risk: in exact decimals, and the others at the level of the others alone."""
    old = [0.1, 0.2, 0.6] * 20
    for number, passes in ((0.3, True), (0.3000001, False), (0.7, False)):
        given = {**GIVEN, "known": {"old": old}, "question": truebest.AtLeast(number)}
        experiment = Experiment.create(MemoryStore(), "x", ["new"], 0.1, seed=1, **given)
        (pull,) = experiment.ask(1)
        experiment.tell(pull, 1.0)
        now = experiment.status()
        (row,) = (one for one in now.standings if one.arm == "old")
        assert str(row.role) == ("passed" if passes else "failed")
        assert row.lead is not None
        assert row.lead.ends == row.between == (0.3, 0.3)
        assert now.progress.threshold == pytest.approx(math.log(1.0 / 0.1))


@pytest.mark.parametrize("given", [{}, {"epochs": 2}, {"proxies": [NEW]}])
def test_a_number_beside_known_scores_is_decided_by_the_table_alone(given: dict[str, Any]) -> None:
    """In any order of arrival, with two readers; what is asked is only the new one."""
    answers = []
    for seed in (0, 1):
        store, rng = MemoryStore(), np.random.default_rng(seed)
        experiment = Experiment.create(
            store, "x", ["new"], seed=7, question=truebest.AtLeast(0.45), **{**GIVEN, **given}
        )
        while pulls := experiment.ask(1 + 6 * seed):
            for place in rng.permutation(len(pulls)):
                experiment.tell(pulls[place], NEW[pulls[place].item or 0])
        now = Experiment.open(store, "x").status()
        assert experiment.verify().sound
        answers.append((now.answer, now.samples, [one.lead for one in now.standings]))
    assert answers[0] == answers[1]
    assert answers[0][0] == truebest.Verdicts(("new",), ("old",))


# -- another experiment --------------------------------------------------------------------------------------


def scored(store: MemoryStore, name: str = "before", most: int = 60, **given: Any) -> Experiment:
    """An experiment in which an arm has been scored on items: of two that are tied, so that none is out."""
    options: dict[str, Any] = {"items": ITEMS, "bounds": (0, 1), "seed": 3, **given}
    experiment = Experiment.create(store, name, ["old", "twin"], 1e-9, **options)
    while pulls := [pull for pull in experiment.ask(2) if (pull.round or 0) <= most]:
        for pull in pulls:
            experiment.tell(pull, OLD[pull.item or 0])
    return experiment


@pytest.mark.parametrize("epochs", [1, 2])
def test_the_scores_of_another_experiment_are_known(epochs: int) -> None:
    """By itself or by its name in the store; the values that count are those after a retraction."""
    store = MemoryStore()
    before = scored(store, epochs=epochs)
    for name, given in (("a", before), ("b", "before")):
        experiment = Experiment.create(store, name, ["new"], items=ITEMS, bounds=(0, 1), known={"old": given})
        assert experiment.settings.known == find_known({"old": OLD}, None, ITEMS)
    changed = next(event.pull for event in before.events() if event.kind == "told" and event.arm == "old")
    assert changed is not None
    before.retract(changed, "a typing error", 0.5)
    again = find_known({"old": before}, None, ITEMS)
    assert again is not None
    assert sum(one != two for one, two in zip(again.scores["old"], OLD, strict=True)) == 1
    with pytest.raises(InvalidInputError, match="resume it with those that it keeps"):
        Experiment.create(store, "b", ["new"], items=ITEMS, bounds=(0, 1), known={"old": "before"})
    known = Experiment.open(store, "b")  # in which the arm was known itself
    assert find_known({"old": known}, None, ITEMS) == find_known({"old": OLD}, None, ITEMS)


@pytest.mark.parametrize(
    ("epochs", "answers"),
    [(3, [[1.0, 0.0, 1.0]] * 6), (2, [[0.1, 0.2]] * 3), (3, [[1.0, 0, 0], [1.0, 1, 0]])],
)
@pytest.mark.parametrize("weigh", [None, "items", "clusters"])
def test_means_of_several_answers_are_known_exactly(
    epochs: int, answers: list[list[float]], weigh: str | None
) -> None:
    """No third is rounded: the same answers are tied, and a mean is what it is, also after a replay."""
    store, size = MemoryStore(), len(answers)
    items = [{"id": i, "of": i // 2} for i in range(size)]
    given: dict[str, Any] = {"items": items, "bounds": (0, 1), "seed": 3}
    given |= {} if weigh is None else {"cluster": "of", "weigh": weigh}

    def told(experiment: Experiment) -> Experiment:
        while pulls := experiment.ask(4):
            for pull in pulls:
                experiment.tell(pull, answers[pull.item or 0][(pull.epoch or 0) - 1])
        return experiment

    told(Experiment.create(store, "before", ["old", "twin"], 1e-9, epochs=epochs, **given))
    given |= {"known": {"old": "before"}}
    mean = float(sum(Fraction(str(one)) for each in answers for one in each) / (epochs * size))
    for times in (epochs, 2 * epochs):
        for minimize in (False, True):
            asked: dict[str, Any] = {"question": truebest.Gate("old", 0.0), "minimize": minimize}
            experiment = Experiment.create(
                store, f"{times} {minimize}", ["new"], 1e-9, epochs=times, **asked, **given
            )
            while pulls := experiment.ask(4):
                for pull in pulls:
                    experiment.tell(pull, answers[pull.item or 0][((pull.epoch or 0) - 1) % epochs])
            now = experiment.status()
            assert now.answer == truebest.Verdicts((), ("new",))
            (lead,) = (one.lead for one in now.standings if one.arm == "new")
            assert lead is not None
            assert lead.ends == (0.0, 0.0)
            assert experiment.verify().sound
    for at, passes in ((mean, True), (math.nextafter(mean, 2), False)):
        question = truebest.AtLeast(at)
        experiment = Experiment.create(store, f"at {at}", ["new"], question=question, **given)
        while pulls := experiment.ask(1):
            experiment.tell(pulls[0], 1.0)
        if mean == round(mean, 6):
            row = next(one for one in experiment.status().standings if one.arm == "old")
            assert str(row.role) == ("passed" if passes else "failed")
    record = json.loads(json.dumps(known_record(experiment.settings.known)))
    assert recall_known(record) == experiment.settings.known
    assert ("exact" in record) == (epochs == 3)  # the means of two answers are doubles here
    if epochs == 3:
        record["exact"]["old"][0] = "1/7"
        with pytest.raises(ValueError, match="not those of the hash"):
            recall_known(record)


def test_failures_that_count_as_a_number_are_scores() -> None:
    """And others leave the item without one."""
    for failures, words in ((0.25, ""), ("worst", "1 have none")):
        store = MemoryStore()
        experiment = Experiment.create(
            store, "x", ["old", "twin"], 1e-9, items=4, bounds=(0, 1), failures=failures, seed=1
        )
        while pulls := experiment.ask(2):
            for pull in pulls:
                if pull.item == 2:
                    experiment.fail(pull, "no answer")
                else:
                    experiment.tell(pull, 1.0)
        if words:
            with pytest.raises(InvalidInputError, match=words):
                find_known({"old": experiment}, None, 4)
        else:
            found = find_known({"old": experiment}, None, 4)
            assert found is not None
            assert found.scores["old"] == (1.0, 1.0, 0.25, 1.0)


def test_an_experiment_whose_scores_will_not_do_is_refused(tmp_path: Path) -> None:
    """In one sentence; a file of its name is read, and not the experiment."""
    store = MemoryStore()
    scored(store, "short", most=40)
    scored(store, "other", items=[{"id": f"case {i}"} for i in range(60)])
    scored(store, "smaller", items=ITEMS[:20])
    Experiment.create(store, "pulls", ["old", "new"], bounds=(0, 1))
    Experiment.create(store, "source", ["old", "new"], bounds=(0, 1), items=math.inf)
    for known, words in (
        (
            {"old": "short"},
            "score on each of the 60 items, got the experiment 'short', in which 20 have none",
        ),
        (
            {"old": "other"},
            "scores on the same items, 60 items with the hash .* got the experiment 'other' on",
        ),
        ({"old": "smaller"}, "got the experiment 'smaller' on 20 items"),
        ({"old": "pulls"}, "a closed set of items, got the experiment 'pulls' on independent pulls"),
        ({"old": "source"}, "got the experiment 'source' on an unlimited source of items"),
        (
            {"older": "short"},
            "must be an arm of the experiment 'short', whose arms are old and twin, got 'older'.*'short:old'",
        ),
        ({"old": "nothing"}, "cannot read the scores from 'nothing'.*or an experiment of the store"),
    ):
        with pytest.raises(InvalidInputError, match=words) as found:
            Experiment.create(store, "x", ["new"], items=ITEMS, bounds=(0, 1), known=known)
        assert "\n" not in str(found.value)
    assert "x" not in store.names()


def test_an_arm_of_another_name_becomes_the_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As "prev:twin", or beside the experiment; a file comes first, a folder of the name hides nothing."""
    monkeypatch.chdir(tmp_path)
    store = MemoryStore()
    before = scored(store, "prev")
    (tmp_path / "prev").mkdir()
    right = find_known({"old": OLD}, None, ITEMS)
    given: dict[str, Any] = {"items": ITEMS, "bounds": (0, 1)}
    for number, source in enumerate(("prev", "prev:twin", (before, "twin"))):
        experiment = Experiment.create(store, f"x{number}", ["new"], known={"old": source}, **given)
        assert experiment.settings.known == right
    found = truebest.gate("prev:twin", score, margin=0.1, items=ITEMS, store=store, rng=1)
    assert found.answer == truebest.Verdicts(("new",), ())
    scored(store, "prev:twin", seed=4)
    (tmp_path / "prev:old").write_text("\n".join(map(str, NEW)))
    for source, scores in (("prev:twin", OLD), ("prev:old", NEW)):
        known = Experiment.create(
            store, f"x {source}", ["new"], known={"old": source}, **given
        ).settings.known
        assert known == find_known({"old": scores}, None, ITEMS)
    with pytest.raises(InvalidInputError, match="are old and twin, got 'none'; say which one, like"):
        Experiment.create(store, "y", ["new"], known={"old": "prev:none"}, **given)


@pytest.mark.parametrize(
    ("known", "words"),
    [([1, 2], r"arm's name, got \[1, 2\]"), ({"old": OLD}, "other ones of it too; leave one out")],
)
def test_a_gate_refuses_what_is_said_twice(known: Any, words: str) -> None:
    """The first argument is not dropped, and what else is known must be by name."""
    with pytest.raises(InvalidInputError, match=words):
        truebest.gate(NEW, score, margin=0.1, items=ITEMS, known=known)


@pytest.mark.parametrize("proxies", [None, [NEW]])
def test_a_run_keeps_its_scores_when_their_source_is_gone(tmp_path: Path, proxies: Any) -> None:
    """The same command resumes it, and so does one without them, or one that names the run itself."""
    store, file = MemoryStore(), tmp_path / "old.txt"
    scored(store, "prev")
    file.write_text("\n".join(map(str, OLD)))
    question = truebest.Gate("old", 0.1)
    given: dict[str, Any] = {"items": ITEMS, "bounds": (0, 1), "question": question}
    for number, source in enumerate(("prev", "prev:twin", file, str(file))):
        known = {"known": {"old": source}, "proxies": proxies}
        made = Experiment.create(store, f"x{number}", ["new"], **known, **given)
        made.tell(made.ask(1)[0], 1.0)
    store.delete("prev")
    file.unlink()
    for number, source in enumerate(("prev", "prev:twin", file, str(file))):
        name = f"x{number}"
        again: list[dict[str, Any]] = [{"known": {"old": one}, "proxies": proxies} for one in (source, name)]
        for known in (*again, {"known": {"old": name}}, {}):
            resumed = Experiment.create(store, name, iter(["new"]), **known, **given)
            assert resumed.status().samples == 1
            assert resumed.settings.known == Experiment.open(store, name).settings.known
        with pytest.raises(InvalidInputError, match="by leaving known= and proxies= out, or by its own name"):
            Experiment.create(store, name, ["new"], known={"old": NEW}, **given)
        with pytest.raises(InvalidInputError, match=r"cannot read the scores|of an arm that|must be"):
            Experiment.create(store, name, ["new"], known={"older": source}, **given)
    with pytest.raises(InvalidInputError, match="cannot read the scores from 'prev'"):
        Experiment.create(store, "new", ["new"], known={"old": "prev"}, **given)


@pytest.mark.parametrize(
    ("theirs", "own", "fits"),
    [
        (8, 8, True),
        (list("abcdefgh"), list("abcdefgh"), True),
        (8, list("hgfedcba"), False),
        (list("abcdefgh"), 8, False),
        (list("abcdefgh"), list("hgfedcba"), False),
        ([object() for _ in range(8)], [object() for _ in range(8)], False),
        (8, 9, False),
    ],
)
def test_scores_are_taken_by_place_only_where_items_are_surely_the_same(
    theirs: Any, own: Any, fits: bool
) -> None:
    """Their hash is the same, or they are numbers on both sides."""
    store = MemoryStore()
    before = Experiment.create(store, "before", ["old", "twin"], 1e-9, items=theirs, bounds=(0, 1))
    while pulls := before.ask(2):
        for pull in pulls:
            before.tell(pull, OLD[pull.item or 0])
    if fits:
        assert find_known({"old": before}, None, own) == find_known({"old": OLD[:8]}, None, own)
    else:
        with pytest.raises(InvalidInputError, match="must be scores on the same items"):
            find_known({"old": before}, None, own)
