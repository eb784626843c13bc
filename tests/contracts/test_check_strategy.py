"""`check_strategy`: for every demand a strategy that breaks it, which is caught with a useful message."""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import pytest

import truebest
from support.later import later
from support.processes import run_python
from truebest.errors import InvalidInputError, TruebestError
from truebest.kernels.layout import DELTA, MEANS, OWN, PULLS
from truebest.testing import STRATEGY_DEMANDS, ContractError, check_strategy

count = 0


@ctypes.CFUNCTYPE(ctypes.c_int64)  # type: ignore[untyped-decorator,unused-ignore]
def tick() -> int:
    """A state that is not the run's: how often anybody has asked."""
    global count
    count += 1
    return count * count // 7


@pytest.fixture(autouse=True)
def from_zero() -> None:
    """Whatever ran before."""
    global count
    count = 0


ARM = 0


@later()
def leaking(pulls):  # type: ignore[no-untyped-def]
    """Chooses by a state outside of its memory."""
    return tick() % pulls.size


@later()
def no_such_arm(t, pulls):  # type: ignore[no-untyped-def]
    """Returns an arm beyond the last."""
    return 0 if t < 20.0 else -1 - pulls.size


@later()
def stopping(t, leader, pulls):  # type: ignore[no-untyped-def]
    """Stops, without having said that it does."""
    return leader if t < 20.0 else pulls.size + leader


@later()
def out_of_memory(leader, memory):  # type: ignore[no-untyped-def]
    """Writes to a row that it has not asked for."""
    memory[0, leader] = 1.0
    return leader


@later()
def afraid_of_ties(leader, means):  # type: ignore[no-untyped-def]
    """Finds no arm where two are equal."""
    return leader if means[0] != means[1] else 9


@later()
def absolute(t, means):  # type: ignore[no-untyped-def]
    """Asks whether a mean is above a half, wherever the values are."""
    return 1 if means[0] > 0.5 else int(t) % means.size


@truebest.strategy
def constant(pulls):  # type: ignore[no-untyped-def]
    """Refers to a global, which is compiled in, and changes below."""
    return ARM


@later(rows=("seen",))
def wrapping(t, pulls, memory):  # type: ignore[no-untyped-def]
    """Multiplies whole numbers beyond 64 bits, where Numba wraps and Python does not."""
    memory[0, 0] = float(int(t) * 4611686018427387904)
    return int(t) % pulls.size


ARM = 1


@numba.njit
def by_delta(t, last, leader, state, params, memory, random):  # type: ignore[no-untyped-def]
    """Pulls the leader more often at a small delta."""
    return leader if t % 2.0 < 1.0 and params[DELTA] < 0.05 else int(t) % state.shape[1]


@numba.njit
def by_sigma(t, last, leader, state, params, memory, random):  # type: ignore[no-untyped-def]
    """Asks whether a mean in units is above sigma."""
    return leader if state[MEANS, leader] > params[OWN] else int(t) % state.shape[1]


@numba.njit
def overwriting(t, last, leader, state, params, memory, random):  # type: ignore[no-untyped-def]
    """Writes to the statistics."""
    state[PULLS, 0] += 1.0
    return leader


@dataclass(frozen=True)
class Own(truebest.Strategy):
    """A class of a user's own."""

    name: str = ""
    select: Any = None
    numbers: Callable[[float], Any] = lambda sigma: np.zeros(0)

    def parameters(self, num_arms: int, sigma: float) -> Any:
        return self.numbers(sigma)


@numba.njit
def any_arm(t, last, leader, state, params, memory, random):  # type: ignore[no-untyped-def]
    """In turn."""
    return int(t) % state.shape[1]


COUNTED = iter(range(1000))
BROKEN = [
    ("form", Own("", any_arm), "its name is ''; give it a text"),
    ("form", Own("counting", any_arm, lambda _: np.array([float(next(COUNTED))])), "then"),
    ("form", Own("matrix", any_arm, lambda _: np.zeros((2, 2))), "return a row of numbers"),
    ("form", Own("overwriting", overwriting), "writes to state, which it may only read"),
    ("arms", no_such_arm, "returned -5 in run 0; it must return an arm from 0 to 3"),
    ("arms", stopping, "allowed only with stops_itself=True"),
    ("arms", out_of_memory, "an index out of range often means that rows="),
    ("runs", leaking, "and when repeated"),
    ("trace", leaking, "traced and simulated gave"),
    ("isolation", leaking, "keep all state in memory and take all chance from random"),
    (
        "ties",
        afraid_of_ties,
        r"on gaussian rewards of means \(0.5, .* noise 0 .* returned 9 in run 0",
    ),
    ("risks", Own("by delta", by_delta), "it says uses_delta = False; say uses_delta=True"),
    ("scale", Own("by sigma", by_sigma, lambda sigma: np.array([sigma])), "compute in units of sigma"),
    ("shift", absolute, "with -256 added to every reward, choice .* use differences of means only"),
    (
        "order",
        truebest.TopTwo("ucb", tracked=True, ties="first"),
        "samples with the best arm first, .* with it last, .*; draw lots among equals",
    ),
    ("compiled", constant, "it chose 0 compiled and 1 interpreted; refer to no global that changes"),
    ("compiled", wrapping, "memory is another one when interpreted"),
    ("live", leaking, "was of arm . live and . simulated"),
    ("restarts", leaking, "parts from the uninterrupted one at pull"),
]


@pytest.mark.parametrize(
    ("demand", "given", "words"), BROKEN, ids=lambda x: getattr(x, "name", getattr(x, "__name__", x))
)
def test_a_broken_strategy_is_caught(demand: str, given: Any, words: str) -> None:
    """By that demand, in one sentence that names the strategy, the demand, what was found and what to do."""
    strategy = given if isinstance(given, truebest.Strategy) else given()
    with pytest.raises(ContractError, match=words) as caught:
        check_strategy(strategy, only=demand)
    said = str(caught.value)
    assert said.startswith(f"the strategy {strategy.name!r} breaks the demand {demand!r} (")
    assert "\n" not in said
    assert said.count(";") >= 1
    assert caught.value.demand == demand


def test_every_demand_has_a_strategy_that_breaks_it() -> None:
    """So no demand is one that cannot fail."""
    assert {demand for demand, _, _ in BROKEN} == set(STRATEGY_DEMANDS)


def test_all_demands_together_find_it_too() -> None:
    """Without `only`, the first that is broken is told."""
    with pytest.raises(ContractError) as caught:
        check_strategy(leaking())
    assert caught.value.demand in ("runs", "arms")
    assert isinstance(caught.value, TruebestError)
    assert isinstance(caught.value, AssertionError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.demand) == (str(caught.value), caught.value.demand)


def test_the_report_is_a_table() -> None:
    """A line per demand: its name, what it claims, on what it was checked, or why it was not."""
    report = check_strategy(truebest.EBS(clip=(-5.0, 5.0)), invariant=False, runs=10)
    assert tuple(check.demand for check in report.checks) == STRATEGY_DEMANDS
    assert [check.demand for check in report.checks if not check.checked] == ["scale", "shift"]
    first, *lines = str(report).splitlines()
    assert first == f"{report.subject} meets 11 demands"
    assert len(lines) == len(STRATEGY_DEMANDS)
    for line, check in zip(lines, report.checks, strict=True):
        assert line.split()[0] == check.demand
        assert check.claim in line
        assert line.endswith(check.evidence)
    assert "not checked: it has a place among the values" in str(report)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"strategy": "ebs"}, "strategy must be one of"),
        ({"strategy": lambda leader: leader}, "turn your own function into one with @truebest.strategy"),
        ({"means": [0.5, 0.5], "max_samples": 1}, "max_samples"),
        ({"means": [1e6, 0.0]}, "means must be near 0"),
        ({"delta": 2.0}, "delta"),
        ({"runs": 1}, "runs"),
        ({"only": "speed"}, "only must be one of"),
    ],
)
def test_what_cannot_be_checked_is_refused(given: dict[str, Any], words: str) -> None:
    """As input, not as a broken contract."""
    with pytest.raises(InvalidInputError, match=words):
        check_strategy(**{"strategy": "uniform", **given})


def test_it_works_without_a_compiler() -> None:
    """Uncompiled, a strategy can keep a list: that is found, and what cannot be compared is said."""
    script = """
import truebest
from truebest.testing import ContractError, check_strategy
calls = []

@truebest.strategy
def listing(pulls):
    calls.append(0)
    return len(calls) * len(calls) // 7 % pulls.size

try:
    check_strategy(listing, runs=3, max_samples=50)
except ContractError as error:
    print(error.demand)
few = check_strategy("uniform", runs=3, max_samples=50)
print([check.demand for check in few.checks if not check.checked])
"""
    said = run_python(script, TRUEBEST_JIT="0").splitlines()
    assert said[0] in ("runs", "arms")
    assert said[1:] == ["['compiled']"]
