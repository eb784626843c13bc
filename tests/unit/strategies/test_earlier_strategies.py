"""Experiments stored when a strategy's name stood for something else go on as they were."""

from __future__ import annotations

from typing import Any

import pytest

from truebest import Experiment, InvalidInputError
from truebest.experiment.events import CREATED, Entry
from truebest.experiment.settings import new_settings
from truebest.experiment.store.memory import MemoryStore
from truebest.strategies import find_strategy

ARMS = tuple("abcdefghij")
EARLIER = {  # what was stored before there were these parameters
    "bc": {},
    "lucb++": {},
    "eb-tci": {
        **{"leader": "best", "challenger": "penalised", "split": 0.5, "slack": 0.0},
        **{"tracked": False, "forced": False},
    },
    "ttucb": {
        "leader": "ucb",
        "challenger": "cost",
        "split": 0.5,
        "slack": 0.0,
        "tracked": True,
        "forced": False,
    },
    "ttts": {
        **{"leader": "thompson", "challenger": "resampled", "split": 0.5, "slack": 0.0},
        **{"tracked": False, "forced": False},
    },
    "eb-tc-eps": {
        **{"leader": "best", "challenger": "cost", "split": 0.5, "slack": 0.1},
        **{"tracked": True, "forced": False},
    },
}
NOW = {
    "bc": "bc(ties=first)",
    "lucb++": "lucb++(ties=first)",
    "eb-tci": "eb-tci(ties=first)",
    "ttucb": "ttucb(ties=first)",
    "ttts": "ttts(ties=first, draws=100)",
    "eb-tc-eps": "eb-tc-eps(tracked=True, ties=first)",
}


def stored(name: str) -> tuple[MemoryStore, dict[str, Any]]:
    """An experiment as it was stored, and its record."""
    settings = new_settings(ARMS, 0.1, strategy=name, stopping="mixture", sigma=1.0, seed=3)
    record = settings.to_record()
    record["strategy"] = {**record["strategy"], "parameters": EARLIER[name]}
    store = MemoryStore()
    store.create("x", Entry(CREATED, data=record))
    return store, record


def asked(experiment: Experiment, pulls: int = 300) -> str:
    """The arms of so many pulls, on values of which many are equal."""
    found = ""
    for _ in range(pulls):
        (pull,) = experiment.ask()
        found += pull.arm
        experiment.tell(pull, float((pull.id * 7919) % 11 < 5))
    return found


@pytest.mark.parametrize("name", EARLIER)
def test_it_asks_for_the_arms_of_the_lowest_index(name: str) -> None:
    """The record stays as it is, and a new experiment with the strategy of then asks for the same."""
    store, record = stored(name)
    experiment = Experiment.open(store, "x")
    assert experiment.settings.strategy == find_strategy(NOW[name]) == find_strategy(name).once()
    assert experiment.settings.to_record() == record
    assert experiment.settings.strategy_name == NOW[name]
    options: dict[str, Any] = {"stopping": "mixture", "sigma": 1.0, "seed": 3}
    then, today = (
        Experiment.create("memory:", "y", ARMS, delta=0.1, strategy=one, **options)
        for one in (NOW[name], name)
    )
    arms = asked(experiment)
    assert arms == asked(then)
    assert arms != asked(today)


@pytest.mark.parametrize("name", EARLIER)
def test_it_may_be_resumed_by_either_name(name: str) -> None:
    """By the one that it was created with, or the one that it has now; another strategy is refused."""
    store, _ = stored(name)
    for given in (name, NOW[name]):
        again = Experiment.create(store, "x", ARMS, delta=0.1, strategy=given, sigma=1.0)
        assert again.settings.strategy_name == NOW[name]
    with pytest.raises(InvalidInputError, match="resume it without giving its settings"):
        Experiment.create(store, "x", ARMS, delta=0.1, strategy="t3c(forced=True)", sigma=1.0)


def test_what_is_stored_today_is_kept_whole() -> None:
    """With every parameter, so that a later default changes nothing."""
    for name in EARLIER:
        record = new_settings(ARMS, 0.1, strategy=name, sigma=1.0).to_record()["strategy"]
        assert record["parameters"]["ties"] == "random"
    assert new_settings(ARMS, 0.1, strategy="eb-tc-eps", sigma=1.0).to_record()["strategy"]["parameters"][
        "tracked"
    ] == "pairs"  # fmt: skip
