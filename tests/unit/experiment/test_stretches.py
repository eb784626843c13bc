"""A stretch of plain lines that is taken in at once leads to what its lines lead to one by one."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import pytest

from truebest import Bernoulli, Experiment, Gate, Poisson, Student
from truebest.errors import DamagedLogError, StoreError, SuspendedError
from truebest.experiment.admission import Order
from truebest.experiment.events import ASKED, TOLD, Entry
from truebest.experiment.settings import Settings
from truebest.experiment.snapshots import as_dict
from truebest.experiment.state import new_state
from truebest.experiment.store import open_store
from truebest.experiment.stretches import replay

KINDS: dict[str, dict[str, Any]] = {
    "bounded": {"bounds": (0, 1)},
    "bounded, by arrival": {"bounds": (0, 1), "order": "arrival", "stopping": "mixture"},
    "gaussian, smallest": {"sigma": 1.0, "minimize": True},
    "unequal": {"sigma": {"a": 1.0, "b": 2.0, "c": 0.5}, "stopping": "mixture"},
    "bernoulli": {"model": Bernoulli()},
    "poisson": {"model": Poisson()},
    "student": {"model": Student()},
    "in pairs": {"bounds": (0, 1), "strategy": "ebs-c"},
    "rounds": {"bounds": (0, 1), "items": float("inf")},
    "rounds on few items": {"bounds": (0, 1), "items": 12, "failures": 0.0},
    "rounds, a decision": {"bounds": (0, 1), "items": float("inf"), "tolerance": 0.4},
    "wins": {"compare": "wins", "direct": True},
    "several answers": {"bounds": (0, 1), "items": 20, "epochs": 2},
    "cells": {"bounds": (0, 1), "items": float("inf"), "question": Gate("b", margin=0.2)},
}


def value(rng: random.Random, kind: str) -> float:
    """One that is allowed, now and then one far from the others."""
    if kind == "bernoulli":
        return float(rng.random() < 0.5)
    if kind == "poisson":
        return float(rng.randrange(5))
    if "bounds" in KINDS[kind]:
        return rng.choice([rng.random(), 0.0, 1.0])
    return rng.gauss(0.0, 1.0) + 1e8 * (rng.random() < 0.005)


def live_on(one: Experiment, out: list[Any], kind: str, rng: random.Random) -> None:
    """One of the things that can happen."""
    what = rng.random()
    if what < 0.1 and one.settings.order == "ask" and not one.settings.design.only_asked:
        one.observe(rng.choice("abc"), [value(rng, kind) for _ in range(rng.randrange(1, 4))])
    elif what < 0.5 or not out:
        out += one.ask(rng.randrange(1, 5))
    elif what < 0.93:
        one.tell(out.pop(rng.randrange(len(out))), value(rng, kind))
    elif what < 0.96:
        one.fail(out.pop(), "lost")
    else:
        told = [line.pull for line in one.events() if line.kind == TOLD and line.pull]
        if told:
            one.retract(rng.choice(told), "mistyped", value=value(rng, kind))


def log_of(kind: str, seed: int) -> tuple[Settings, list[Entry]]:
    """What a life of asking, telling, failing, correcting and observing leaves."""
    rng, store = random.Random(seed), open_store("memory:")
    one = Experiment.create(store, "x", ["a", "b", "c"], 1e-6, seed=seed, lease=60.0, **KINDS[kind])
    out: list[Any] = []
    with suppress(SuspendedError):  # by a value that is too far away
        for _ in range(150):
            live_on(one, out, kind, rng)
    with store.reading("x") as log:
        return one.settings, log.entries()


def found(settings: Settings, entries: list[Entry], at_once: bool) -> tuple[Any, int]:
    """The state after the lines, or what was wrong with one of them."""
    state = new_state(settings, chooses=False, recall=lambda until: entries[:until])
    order = Order(state)
    try:
        if at_once:
            replay(state, entries, order)
        else:
            for entry in entries:
                state.replay(order.checked([entry]))
    except (DamagedLogError, StoreError) as error:
        return str(error), order.seq
    kept = as_dict(state)
    return {key: kept[key] for key in kept if key not in ("chosen", "called", "last", "changed")}, order.seq


@pytest.mark.parametrize("kind", KINDS)
def test_plain_lines_at_once_lead_to_what_they_lead_to_one_by_one(kind: str) -> None:
    """For logs with all that can happen, in every model and order; in the log as it goes on, too."""
    for seed in range(4):
        settings, entries = log_of(kind, seed)
        assert found(settings, entries, at_once=True) == found(settings, entries, at_once=False)


@pytest.mark.parametrize("kind", ["bounded", "gaussian, smallest", "rounds", "rounds, a decision"])
def test_a_line_that_is_wrong_is_found_at_once_as_one_by_one(kind: str) -> None:
    """Whatever was changed in one of the lines: the same words at the same line, or the same state."""
    rng = random.Random(7)
    changes: list[dict[str, Any]] = [
        {"pull": 1}, {"pull": 2}, {"pull": 10**6}, {"pull": None}, {"pull": 7.0}, {"pull": "7"},
        {"arm": 0}, {"arm": 3}, {"arm": -1}, {"arm": None}, {"arm": True},
        {"value": None}, {"value": 0.5}, {"value": 2.0}, {"value": -1e300}, {"value": float("inf")},
        {"value": 1}, {"value": "1"}, {"kind": TOLD}, {"kind": ASKED}, {"kind": "late"}, {"kind": "lapsed"},
        {"data": None}, {"data": {}}, {"data": {"deadline": "soon"}}, {"data": {"deadline": float("nan")}},
        {"data": {"worker": "a\nb"}}, {"data": {"worker": 3}}, {"data": {"check": 1}},
        {"data": {"together": True}}, {"data": {"observed": True}}, {"data": {"observed": False}},
        {"data": {"round": 1}}, {"data": {"item": 1}}, {"data": {"more": 1}}, {"data": [1]},
        *({"data": {"round": number}} for number in (1, 4, 9, 500, -1, "4", 1e400)),
        {"data": {"round": 4, "item": 7}}, {"data": {"round": 9, "item": None, "epoch": 1}},
    ]  # fmt: skip
    for seed in range(2):
        settings, entries = log_of(kind, seed)
        for change in changes:
            at = rng.randrange(1, len(entries))
            edited = [*entries[:at], entries[at]._replace(**change), *entries[at + 1 :]]
            assert found(settings, edited, at_once=True) == found(settings, edited, at_once=False), change


@pytest.mark.parametrize("kind", ["bounded", "rounds", "rounds, a decision", "cells", "wins"])
def test_lines_that_are_lost_doubled_or_exchanged_are_found_at_once_as_one_by_one(kind: str) -> None:
    """The same words at the same line, or the same state."""
    rng, wrong = random.Random(11), 0
    settings, entries = log_of(kind, 1)
    for _ in range(60):
        at, to = rng.randrange(1, len(entries)), rng.randrange(1, len(entries))
        line = entries[at]
        rest = [*entries[:at], *entries[at + 1 :]]
        for edited in (rest, [*rest[:to], line, *rest[to:]], [*entries[:to], line, *entries[to:]]):
            once = found(settings, edited, at_once=True)
            assert once == found(settings, edited, at_once=False)
            wrong += isinstance(once[0], str)
    assert wrong > 60
