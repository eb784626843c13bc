"""Settings: given or not, checked, stored, read back, and compared when an experiment is resumed."""

from __future__ import annotations

import inspect
import json
import math
from dataclasses import replace
from typing import Any

import pytest

import truebest
from truebest import Experiment, InvalidInputError, StoreError
from truebest._catalogue import DEFAULT_STRATEGY
from truebest.experiment import settings as module
from truebest.experiment.events import CREATED, Entry
from truebest.experiment.settings import DECLARED, Given, Settings, new_settings, read_settings
from truebest.experiment.store.memory import MemoryStore

ARMS = ["a", "b", "c"]
# One value for each argument that is not the default.
OTHER: dict[str, Any] = {
    "delta": 0.1,
    "sigma": 2.0,
    "strategy": truebest.EBS(tracking="C", gamma=0.2, clip=(0.0, 1.0)),
    "stopping": truebest.Mixture(c=5.0),
    "tolerance": 0.01,
    "minimize": True,
    "order": "arrival",
    "seed": 7,
    "lease": 5.0,
    "max_samples": 900,
    "about": {"a": "./a", "c": "./c"},
    "control": "b",
}

ROUNDS: dict[str, Any] = {"bounds": (0, 1), "items": 20, "failures": "worst", "sampled": True, "epochs": 3}
CLUSTERS: dict[str, Any] = {
    "bounds": (0, 1),
    "items": [{"q": 1, "of": "x"}, {"q": 2, "of": "y"}, {"q": 3, "of": "x"}],
    "cluster": "of",
    "weigh": "items",
    "sampled": True,
    "largest": 4,
}
WINS: dict[str, Any] = {"compare": "wins", "direct": True}
ASKED: dict[str, Any] = {"sigma": 2.0, "question": truebest.BestArm(pairs=True)}
KNOWN: dict[str, Any] = {
    "bounds": (0, 1),
    "items": 3,
    "known": {"old": [0, 1, 0.5]},
    "proxies": [[1, 1, None]],
}


def stored(store: MemoryStore) -> dict[str, Any]:
    with store.reading("x") as log:
        return dict(log.first().data or {})


def test_every_setting_is_an_argument_of_create_and_the_other_way_round() -> None:
    """Declared once: what `create` takes is what the fields of Settings are given by."""
    arguments = {name for how in DECLARED.values() for name in how.arguments}
    assert arguments == {"arms", "delta"} | set(Given.__annotations__)
    assert arguments == set(inspect.signature(Experiment.create).parameters) - {"store", "name", "worker"}
    given = (OTHER, ROUNDS, CLUSTERS, WINS, ASKED, KNOWN)
    assert {"arms", "model"}.union(*given) == arguments


def test_a_new_experiment_has_the_documented_defaults() -> None:
    """Those that the docstring of `create` names."""
    made = Experiment.create("memory:", "x", ARMS, bounds=(0, 1)).settings
    assert (made.delta, made.strategy_name, made.rule_name) == (0.05, DEFAULT_STRATEGY, "tilt")
    assert (made.minimize, made.order, made.lease, made.about) == (False, "ask", 3600.0, None)
    assert (made.model.limits, made.model.unit) == ((0.0, 1.0), 0.5)
    assert made.seed != Experiment.create("memory:", "x", ARMS, bounds=(0, 1)).settings.seed


def test_none_is_not_given() -> None:
    """But for a lease, which may be endless: None and inf both say so."""
    nothing: Any = dict.fromkeys(set(Given.__annotations__) - {"lease", "seed"})
    one = new_settings(ARMS, None, **{**nothing, "bounds": (0, 1), "seed": 1})
    assert one == new_settings(ARMS, bounds=(0, 1), seed=1)
    for never in (None, math.inf):
        assert new_settings(ARMS, sigma=1.0, lease=never).lease is None


@pytest.mark.parametrize(
    "given", [{"sigma": 1.0}, {"bounds": (-1, 1)}, OTHER, ROUNDS, CLUSTERS, WINS, ASKED, KNOWN]
)
def test_what_is_stored_is_read_back(given: dict[str, Any]) -> None:
    """Through JSON, equal in every field; and its record is that of what was read."""
    made = new_settings(ARMS, **given)
    read = read_settings(json.loads(json.dumps(made.to_record())))
    assert read == made
    assert read.to_record() == made.to_record()
    assert read.are_of(made.to_record())
    assert not replace(read, delta=0.5).are_of(made.to_record())


def test_what_is_not_given_comes_from_the_store() -> None:
    """An experiment without one default is resumed by its name and its arms alone."""
    store = MemoryStore()
    made = Experiment.create(store, "x", ARMS, **OTHER)
    made.ask(4)
    again = Experiment.create(store, "x", ARMS)
    assert again.settings == made.settings
    assert again.ask()[0].id == 5
    for key, value in OTHER.items():
        assert Experiment.create(store, "x", ARMS, **{key: value}).settings == made.settings


@pytest.mark.parametrize("key", sorted(set(OTHER) - {"lease", "max_samples"}))
def test_what_is_given_and_differs_is_refused_by_name(key: str) -> None:
    """Each alone, with everything else left out; the experiment stays as it was."""
    store = MemoryStore()
    Experiment.create(store, "x", ARMS, sigma=1.0, seed=1, about=dict.fromkeys(ARMS, "./x"))
    words = rf"^experiment 'x' exists with {key} .*, got .*; resume it"
    if key == "about":
        words = r"^arm 'a' of experiment 'x' was './x' when it was created, got "
    with pytest.raises(InvalidInputError, match=words):
        Experiment.create(store, "x", ARMS, **{key: OTHER[key]})
    with pytest.raises(InvalidInputError, match="exists with bounds None, got "):
        Experiment.create(store, "x", ARMS, bounds=(0, 1))
    with store.reading("x") as log:
        assert log.last == 1


def test_an_experiment_keeps_its_budget_without_a_word() -> None:
    """The rule is prepared for the one of the beginning, whoever resumes it with another, or with none."""
    store = MemoryStore()
    assert Experiment.create(store, "x", ARMS, bounds=(0, 1), max_samples=900).settings.max_samples == 900
    for other in (5000, None):
        kept = Experiment.create(store, "x", ARMS, bounds=(0, 1), max_samples=other).settings
        assert (kept.max_samples, kept.rule) == (900, truebest.Tilt(budget=900))
    with Experiment.open(store, "x") as again:
        assert again.settings.rule == truebest.Tilt(budget=900)
    said = new_settings(ARMS, bounds=(0, 1), stopping=truebest.Tilt(budget=70), max_samples=900)
    assert said.rule == truebest.Tilt(budget=70)
    assert new_settings(ARMS, sigma=1.0, stopping="mixture", max_samples=900).rule == truebest.Mixture()
    assert new_settings(ARMS, bounds=(0, 1), items=20, max_samples=900).rule is None
    with pytest.raises(InvalidInputError, match="max_samples must be a whole number from 3 to"):
        new_settings(ARMS, bounds=(0, 1), max_samples=2)


def test_an_experiment_keeps_its_lease_without_a_word() -> None:
    """It concerns who works on it, not what is concluded."""
    store = MemoryStore()
    Experiment.create(store, "x", ARMS, sigma=1.0, lease=5.0)
    assert Experiment.create(store, "x", ARMS, lease=None).settings.lease == 5.0


def test_new_defaults_do_not_collide_with_old_experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later truebest with other defaults resumes what this one has made, and makes new ones its own way."""
    store = MemoryStore()
    old = Experiment.create(store, "x", ARMS, bounds=(0, 1)).settings
    changes = {
        "delta": 0.01,
        "chosen": "racing",
        "stopping": "kaufmann-koolen",
        "tolerance": 0.01,
        "minimize": True,
        "order": "arrival",
        "lease": 9.0,
    }
    for name, default in changes.items():
        monkeypatch.setitem(DECLARED, name, replace(DECLARED[name], default=default))
    assert Experiment.create(store, "x", ARMS).settings == old
    assert Experiment.create(store, "x", ARMS, bounds=(0, 1)).settings == old
    new = Experiment.create(store, "y", ARMS, bounds=(0, 1)).settings
    assert (new.delta, new.strategy_name, new.rule_name) == (0.01, "racing", "kaufmann-koolen")
    assert (new.minimize, new.order, new.lease) == (True, "arrival", 9.0)


def test_a_setting_that_an_old_log_lacks_has_its_older_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if `order` were new: a log without it means "arrival" here, whatever the default has become."""
    record = new_settings(ARMS, sigma=1.0).to_record()
    del record["order"]
    with pytest.raises(StoreError, match="lack order, which every truebest stores; restore"):
        read_settings(record)
    monkeypatch.setitem(DECLARED, "order", replace(DECLARED["order"], older={"order": "arrival"}))
    assert read_settings(record).order == "arrival"
    assert read_settings({**record, "order": "ask"}).order == "ask"
    assert dict(DECLARED["values"].older) == {"model": None}


JSON: list[Any] = [[1], {}, "zzz", None, 0, 4, 2.5]


@pytest.mark.parametrize(
    "given",
    [OTHER, ROUNDS, CLUSTERS, WINS, ASKED],
    ids=["means", "rounds", "clusters", "wins", "asked"],
)
def test_settings_that_cannot_be_are_refused_in_a_sentence(given: dict[str, Any]) -> None:
    """Any JSON in the place of any setting, beside a hash that is right: it is refused, or does no harm."""
    record = new_settings(ARMS, **{**given, "seed": 7}).to_record()
    refused: dict[str, list[Any]] = {key: [] for key in record}
    for key, value in ((key, value) for key in record for value in JSON):
        store = MemoryStore()
        store.create("x", Entry(CREATED, data={**record, key: value}))
        try:
            experiment = Experiment.open(store, "x")
            experiment.tell(experiment.ask()[0], 0.5)
            said = str(experiment.status())
        except StoreError as error:
            said = str(error)
            refused[key].append(value)
        assert said
        assert "\n" not in said
    assert all([1] in refused[key] for key in ("arms", "delta", "tolerance", "order", "seed", "lease"))
    assert all(2.5 in refused[key] for key in ("minimize", "alarm", "about", "control", "compare"))
    assert read_settings({**record, "lease": 1e12}).lease == 3.2e9


def test_keys_that_are_not_known_are_passed_over() -> None:
    """A later version may store more, as long as decisions are the same."""
    record = new_settings(ARMS, sigma=1.0).to_record()
    assert read_settings({**record, "colour": "blue"}).to_record() == record


def test_without_a_scale_only_what_exists_is_found() -> None:
    """A new experiment needs one, and the refusal leaves nothing behind."""
    store = MemoryStore()
    with pytest.raises(InvalidInputError, match=r"give one of sigma= .* or model=, got none; without"):
        Experiment.create(store, "x", ARMS)
    assert store.names() == []
    Experiment.create(store, "x", ARMS, sigma=1.0)
    assert Experiment.create(store, "x", ARMS).settings.model.unit == 1.0
    with pytest.raises(InvalidInputError, match="got sigma= and bounds=; without"):
        Experiment.create(store, "x", ARMS, sigma=1.0, bounds=(0, 1))


def test_two_that_create_at_once_get_one_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second finds it when it would store its own, and is resumed with the settings of the first."""
    store = MemoryStore()
    complete = module.Request.complete

    def slower(request: module.Request) -> Settings:
        made = complete(request)
        monkeypatch.setattr(module.Request, "complete", complete)
        Experiment.create(store, "x", ARMS, 0.1, sigma=1.0, seed=5)
        return made

    monkeypatch.setattr(module.Request, "complete", slower)
    assert Experiment.create(store, "x", ARMS, sigma=1.0).settings.delta == 0.1
    assert stored(store)["seed"] == 5


def test_identify_resumes_with_what_it_is_not_told() -> None:
    """Sigma, delta and direction from the store; another one is refused before anything is run."""
    store = MemoryStore()
    values = {"a": lambda: 0.0, "b": lambda: 2.0}
    first = truebest.identify(values, 0.1, sigma=1.0, minimize=True, store=store, max_samples=4, rng=1)
    assert (first.best, first.samples) == (None, 4)
    again = truebest.identify(values, store=store, max_samples=5000)
    assert (again.best, again.settings.delta, again.resumed) == ("a", 0.1, 4)
    with pytest.raises(InvalidInputError, match=r"exists with delta 0.1, got 0.05"):
        truebest.identify(values, 0.05, store=store, max_samples=5000)


def test_settings_of_another_kind_are_not_mistaken_for_damage() -> None:
    """A rule and a strategy that this truebest does not have: what was stored, and what to do."""
    record = new_settings(ARMS, sigma=1.0).to_record()
    unknown: list[dict[str, Any]] = [
        {"stopping": {"name": "tomorrow", "parameters": {"eta": 0.5}}},
        {"stopping": {"name": "mixture", "version": 2, "parameters": {"eta": 0.5}}},
        {"stopping": {**record["stopping"], "parameters": {"c": 20.0, "eta": 0.5}}},
        {"strategy": {"class": "Tomorrow", "parameters": {"eta": 0.5}}},
        {"strategy": {**record["strategy"], "parameters": {"eta": 0.5}}},
    ]
    for change in unknown:
        store = MemoryStore()
        store.create("x", Entry(CREATED, data={**record, **change}))
        with pytest.raises(StoreError, match=r"created with the .* eta=0.5, which this .*; resume it with"):
            Experiment.open(store, "x")


def test_a_rule_is_stored_with_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later version of a rule is another rule, and does not judge what an earlier one began."""
    record = new_settings(ARMS, sigma=1.0, stopping="mixture").to_record()
    assert record["stopping"] == {"name": "mixture", "version": 1, "parameters": {"c": 20.0}}
    monkeypatch.setattr(truebest.Mixture, "version", 2)
    assert new_settings(ARMS, sigma=1.0, stopping="mixture").to_record()["stopping"]["version"] == 2
    with pytest.raises(StoreError, match=r"the rule 'mixture', version 1, c=20.0, which this truebest"):
        read_settings(record)


def test_an_experiment_keeps_the_version_of_its_decisions() -> None:
    """Versions 1, of truebest 0.1, to 4 are read; one that would be judged by unknown rules is refused."""
    store = MemoryStore()
    record = new_settings(ARMS, sigma=1.0).to_record()
    assert record["decisions"] == 3
    old = {**record, "decisions": 1, "stopping": {"name": "mixture", "parameters": {"c": 20.0}}}
    store.create("x", Entry(CREATED, data=old))
    read = Experiment.create(store, "x", ARMS, sigma=1.0, stopping="mixture").settings
    assert (read.decisions, read.stopping) == (1, truebest.Mixture())
    assert read.are_of(old)
    assert not read.are_of(record)
    for version in (0, 5, "2", None):
        with pytest.raises(
            StoreError, match=rf"version {version} of the rules, and this .* knows 1, 2, 3 and 4; "
        ):
            read_settings({**record, "decisions": version})
