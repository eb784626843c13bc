"""An experiment as older versions stored it: without a check of sigma, so that values may vary at will."""

from __future__ import annotations

from typing import Any

from truebest.experiment.events import CREATED, Entry
from truebest.experiment.experiment import Experiment
from truebest.experiment.settings import new_settings
from truebest.experiment.store.memory import MemoryStore


def without_alarm(arms: list[str], delta: float = 0.05, **settings: Any) -> Experiment:
    """A new experiment whose record does not say that there is an alarm."""
    record = new_settings(arms, delta, **settings).to_record()
    assert record.pop("alarm") is True
    store = MemoryStore()
    store.create("x", Entry(CREATED, data=record))
    return Experiment.open(store, "x")
