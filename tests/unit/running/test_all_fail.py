"""A run in which everything fails finds nothing, and failures stand wherever something is said."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from support.commands import refused, run
from support.told import column
from truebest import ArmError, Experiment, aidentify, identify
from truebest.telling.words import paragraph


def fails(item: Any) -> float:
    """An arm whose key has expired."""
    raise PermissionError(f"key expired at {item}")


def works(item: int) -> float:
    """An arm that gives a value on every item."""
    return float(item % 2)


async def fails_later(item: Any) -> float:
    """The same, asynchronous."""
    return fails(item)


async def one_later(item: Any) -> float:
    """An arm that always gives 1."""
    return 1.0


def in_threads(arms: dict[str, Callable[..., Any]], **options: Any) -> Any:
    """`identify` with several workers."""
    return identify(arms, workers=4, **options)


def awaited(arms: dict[str, Callable[..., Any]], **options: Any) -> Any:
    """`aidentify` with the asynchronous one in the place of the failing arm."""
    return asyncio.run(aidentify({a: fails_later if f is fails else f for a, f in arms.items()}, **options))


RUNS = [identify, in_threads, awaited]


@pytest.mark.parametrize("how", RUNS)
@pytest.mark.parametrize("failures", [0, "worst"])
def test_a_run_in_which_all_arms_fail_stops(how: Callable[..., Any], failures: Any) -> None:
    """After ten calls, with the last failure; and on so few items that it would end before."""
    arms = {"a": fails, "b": fails, "c": fails}
    for items in (200, 2):
        with pytest.raises(ArmError, match=r"all \d+ calls failed, .*PermissionError: key expired at \d+"):
            how(arms, items=items, bounds=(0, 1), failures=failures, rng=1)


@pytest.mark.parametrize("how", RUNS)
def test_an_arm_that_fails_until_the_decision_finds_nothing(how: Callable[..., Any]) -> None:
    """Before its tenth call, where failures count and soon decide; with the permission they do."""
    good: Callable[..., Any] = one_later if how is awaited else lambda item: 1.0
    arms = {"good": good, "bad": fails}
    given: dict[str, Any] = {"items": 60, "bounds": (0, 1), "failures": 0, "rng": 1}
    with pytest.raises(ArmError, match=r"arm 'bad' failed in all of its [5-9] calls, .*key expired"):
        how(arms, **given)
    assert how(arms, **given, allow_failing=True).best == "good"
    given |= {"max_samples": 6}
    assert how(arms, **given).best is None


@pytest.mark.parametrize("how", RUNS)
def test_an_arm_that_fails_ten_times_from_the_start_stops_the_run(how: Callable[..., Any]) -> None:
    """Its name and its last failure; with the permission, the others go on and its failures count."""
    arms = {"good": works, "bad": fails}
    given = {"items": 60, "bounds": (0, 1), "failures": "worst", "rng": 1}
    with pytest.raises(ArmError, match=r"arm 'bad' failed in all of its first 10 calls, .*key expired"):
        how(arms, **given)
    result = how(arms, **given, allow_failing=True)
    assert column(result, "failures")["bad"] >= 10
    assert column(result, "failures")["good"] == 0


def test_an_arm_that_fails_at_times_does_not_stop_a_run() -> None:
    """Nine failures first, then values: no error, which is the control of the tests above."""
    left = iter(range(9))

    def late(item: int) -> float:
        return fails(item) if next(left, None) is not None else 0.0

    result = identify({"good": works, "late": late}, items=60, bounds=(0, 1), failures=0, rng=1)
    assert column(result, "failures") == {"good": 0, "late": 9}


def test_failures_stand_in_every_sentence_and_table() -> None:
    """The status, the result, both tables, Markdown, the report and the records."""
    made = Experiment.create("memory:", "x", ["a", "b"], items=20, bounds=(0, 1), failures=0, seed=1)
    for pull in made.ask(8):
        if pull.arm == "b":
            made.fail(pull, "broken")
        else:
            made.tell(pull, 1.0)
    now = made.status()
    said = "pulls that gave no value, counted as 0: 4 (b 4)"
    assert column(now, "failures") == {"a": 0, "b": 4}
    assert said in str(now)
    assert "ulls that gave no value, counted as 0: 4 (b 4)." in paragraph(now)
    header, rows = now.table()
    assert [row[header.index("failed")] for row in sorted(rows)] == ["", "4"]
    assert said in now.to_markdown().replace("\\", "")
    assert type(now).from_dict(now.to_dict(), now.settings) == now


def test_the_command_stops_too(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence with the end of stderr, exit code 1, and no winner."""
    monkeypatch.chdir(tmp_path)
    arms = ["--shell", *(w for a in "ab" for w in ("--arm", f"{a}=echo no key >&2; exit 3"))]
    given = ["--items", "40", "--bounds", "0,1", "--failures", "0", "--seed", "1"]
    refused(run("identify", *arms, *given), "no key", code=1)
    assert run("identify", *arms, *given, "--allow-failing").code == 0
