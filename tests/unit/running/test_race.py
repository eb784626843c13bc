"""`truebest.race` on functions: what it finds, what it says, and what it refuses."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import truebest
from support.told import no_winner
from truebest import ArmError, InvalidInputError
from truebest.running.race import CLOCKS, RaceRun
from truebest.running.standings import Lap, Race, ratio_words, seconds
from truebest.theory.ratios import Ratio, median_ratio


def drawn(scales: dict[str, float], cv: float = 0.2, seed: int = 1) -> dict[str, Callable[[], Lap]]:
    """Measurements with lognormal times."""
    rng = np.random.default_rng(seed)

    def measure(scale: float) -> Callable[[], Lap]:
        return lambda: Lap(scale * math.exp(cv * rng.normal()), user=scale, system=0.5 * scale)

    return {name: measure(scale) for name, scale in scales.items()}


def listed(times: dict[str, list[float]]) -> dict[str, Callable[[], Lap]]:
    """Measurements that are known beforehand; NaN is a failure."""

    def lap(value: float) -> Lap:
        return Lap(value, failed="it broke" if math.isnan(value) else "")

    def measure(values: Iterator[float]) -> Callable[[], Lap]:
        return lambda: lap(next(values))

    return {name: measure(iter(values)) for name, values in times.items()}


def course(measures: dict[str, Any], **options: Any) -> Race:
    return RaceRun(measures, **{"warmup": 0, "rng": 1, "progress": False, **options}).run()


def test_the_answer_is_a_sentence_with_its_promise() -> None:
    """What is proven, how sure it is, what it took; two competitors need no condition."""
    found = course(drawn({"old": 2.0, "new": 1.0}))
    assert found.best == "new"
    n = found.rounds
    assert str(found) == (
        f"new is faster than old in more than half of all rounds; wrong with probability at most 5%; "
        f"{2 * n} measurements in {n} rounds"
    )
    three = course(drawn({"a": 2.0, "b": 1.0, "c": 3.0}))
    assert str(three).startswith("b is faster than each other one in more than half of all rounds; ")
    assert "at most 5%, if one of them is the fastest;" in str(three)


def test_standings_are_what_was_measured() -> None:
    """Means, deviations, ends, wins against the best, and the ratio with its interval; the best one first."""
    fast, slow = (
        [1.0, 2.0, 1.5, 1.0, 1.2, 1.1, 1.3, 1.0, 1.0, 1.0],
        [2.0, 3.0, 3.0, 2.0, 4.0, 2.0, 3.0, 2.0, 2.0, 2.0],
    )
    found = course(listed({"slow": slow, "fast": fast}))
    n = found.rounds
    best, other = found.standings
    assert (best.name, best.times, other.name, other.times) == (
        "fast",
        tuple(fast[:n]),
        "slow",
        tuple(slow[:n]),
    )
    assert best.mean == pytest.approx(np.mean(fast[:n]))
    assert other.deviation == pytest.approx(np.std(slow[:n], ddof=1))
    assert (best.least, best.most, other.median) == (1.0, 2.0, np.median(slow[:n]))
    assert (best.won, other.won, other.lost) == (None, 0, n)
    assert other.ratio.estimate == np.median(np.array(slow[:n]) / fast[:n])
    assert found.ratio("slow", "fast") == other.ratio
    header, rows = found.table()
    assert len(header) == len(rows[0])
    assert rows[1][0] == "slow"
    assert rows[1][4] == f"0 of {n}"


def test_a_ratio_has_an_interval_as_soon_as_rounds_allow() -> None:
    """With a tolerance of nothing two equal ones race on: the interval then narrows around 1."""
    found = course(drawn({"a": 1.0, "b": 1.0}, cv=0.05), max_rounds=150)
    assert found.best is None
    ratio = found.standings[1].ratio
    assert (
        0.95 < ratio.low < 1.0 < ratio.high < 1.05 or 0.95 < ratio.low <= ratio.estimate <= ratio.high < 1.05
    )
    assert str(found).startswith("undecided after 300 measurements in 150 rounds; the rounds ran out; ")
    assert "leads, not proven faster than" in str(found)


def test_ratios_are_at_the_level_of_all_pairs() -> None:
    """Whoever leads, as which one that is depends on the times."""
    found = course(drawn(dict.fromkeys("abcdefgh", 1.0)), max_rounds=60)
    level = math.log(8 * 7 / 0.05)
    for one in found.standings[1:]:
        expected = median_ratio(found.times(one.name), found.times(found.standings[0].name), level)
        assert one.ratio == expected
        assert expected.low > 0.0


def test_a_tolerance_ends_a_race_of_equals() -> None:
    """And the sentence says what was proven."""
    found = course(drawn({"a": 1.0, "b": 1.0}, cv=0.05), tolerance=0.1)
    assert found.best is not None
    assert "takes at most 1.1 times as long as the fastest in more than half of all rounds" in str(found)


def test_processor_time_may_count_instead() -> None:
    """User and system time together, whatever the clock says."""
    found = course(drawn({"a": 1.0, "b": 2.0}), measure="cpu")
    assert found.best == "a"
    assert set(found.times("b")) == {3.0}


def test_a_handicap_asks_for_more() -> None:
    """5 % slower is proven faster than 1.2 times the old one, and not faster than the old one itself."""
    measures = {"old": 1.0, "new": 1.05}
    assert course(drawn(measures, cv=0.01)).best == "old"
    found = course(drawn(measures, cv=0.01), handicap={"old": 1.2})
    assert found.best == "new"
    assert max(found.times("old")) < 1.1
    assert str(found).startswith("new is faster than 1.2 times old in more than half of all rounds; ")
    for given, part in (({"other": 2.0}, "no competitor 'other'"), ({"old": 0.0}, "positive factor, got 0")):
        with pytest.raises(InvalidInputError, match=part):
            course(drawn(measures), handicap=given)


def test_failures_end_the_race_or_count_as_losses() -> None:
    """As it was said beforehand; a run that took too long counts as a loss in any case."""
    broken = {"good": [1.0] * 20, "bad": [math.nan] * 20}
    with pytest.raises(
        ArmError, match=r"^'bad' failed in round 1: it broke; fix it, or let failures count as"
    ):
        course(listed(broken))
    with pytest.raises(ArmError, match=r"^'bad' failed in its warm-up: it broke; fix it"):
        course(listed(broken), warmup=1)
    found = course(listed(broken), ignore_failure=True)
    assert (found.best, found.rounds) == ("good", 7)
    assert found.standings[1].failed == 7
    assert math.isnan(found.standings[1].mean)
    assert found.warnings()[-1] == "runs that failed count as losses: bad 7; look into them"
    late = {"good": lambda: Lap(1.0), "bad": lambda: Lap(9.0, failed="too long", late=True)}
    assert course(late).best == "good"


def test_a_circle_has_no_fastest() -> None:
    """Direct: each beats the next in two of three rounds."""
    rng = np.random.default_rng(2)
    rounds = [np.roll([1.0, 2.0, 3.0], int(k)) for k in rng.integers(0, 3, 2000)]
    measures = listed({name: [float(one[i]) for one in rounds] for i, name in enumerate("abc")})
    found = course(measures, direct=True)
    assert found.best is None
    assert no_winner(found.result)
    assert str(found).startswith("there is no winner: each arm loses to another one; wrong with ")
    assert re.search(r"at most 5%.*; \d+ measurements in \d+ rounds$", str(found))


def test_warnings_end_in_a_remedy() -> None:
    """A slow first run, outliers, runs that are too short for a process; none without a reason."""
    rng = np.random.default_rng(3)
    noise = [float(x) for x in 1.0 + 0.01 * rng.normal(size=40)]
    cold = course(listed({"a": [5.0, *noise[1:]], "b": [2.0 * x for x in noise]}))
    assert any("first run of a took 5 s" in one and "warm-up" in one for one in cold.warnings())
    spoiled = course(listed({"a": [*noise[:3], 9.0, *noise[4:]], "b": [2.0 * x for x in noise]}))
    assert any("a has 1 outlier among" in one and "quiet machine" in one for one in spoiled.warnings())
    short = course(listed({"a": [1e-4 * x for x in noise], "b": [2e-4 * x for x in noise]}))
    assert any("start of a process; repeat the work" in one for one in short.warnings())
    assert course(listed({"a": noise, "b": [2.0 * x for x in noise]})).warnings() == []


def test_functions_are_called_as_timeit_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """So often that a measurement takes 20 ms by the clock; what is given as the number is taken."""
    now = [0.0]

    def takes(seconds: float) -> Callable[[], None]:
        return lambda: now.append(now.pop() + seconds)

    monkeypatch.setitem(CLOCKS, "wall", lambda: now[0])
    found = truebest.race({"slow": takes(0.0015), "quick": takes(0.00015)}, max_rounds=60, progress=False)
    assert found.best == "quick"
    assert found.numbers == {"slow": 20, "quick": 200}
    assert found.standings[0].mean == pytest.approx(0.00015)
    calls: list[int] = []
    truebest.race([lambda: calls.append(1), lambda: None], number=3, warmup=2, max_rounds=4, progress=False)
    assert len(calls) == 3 * (2 + 4)


def test_a_function_that_raises_is_named() -> None:
    """Before the race, in one sentence."""
    with pytest.raises(ArmError, match=r"'b' failed before the race \(ZeroDivisionError: division by zero\)"):
        truebest.race({"a": lambda: None, "b": lambda: 1 / 0}, progress=False)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"number": "many"}, "number must be 'auto'"),
        ({"number": 0}, "number must be a whole number from 1"),
        ({"warmup": -1}, "warmup must be a whole number"),
        ({"measure": "gpu"}, "measure must be one of 'wall', 'cpu'"),
        ({"max_rounds": 0}, "max_rounds must be a whole number from 1"),
        ({"timeout": 0}, "timeout must be positive"),
        ({"delta": 2.0}, "delta must lie strictly between 0 and 1"),
        ({"tolerance": -1.0}, "tolerance must be at least 0"),
        ({"progress": "yes"}, "progress must be True, False or"),
    ],
)
def test_what_a_race_refuses(options: dict[str, Any], part: str) -> None:
    """One sentence each, before anything is measured for long."""
    with pytest.raises(InvalidInputError, match=part):
        truebest.race([lambda: None, lambda: 1], **options)
    with pytest.raises(TypeError, match="did you mean 'max_rounds'"):
        truebest.race([lambda: None, lambda: 1], **{"max_round": 3})  # type: ignore[arg-type]


def test_times_and_ratios_in_words() -> None:
    """Four digits and a unit; an interval where there is one."""
    shown = [seconds(x) for x in (12.0, 0.0123456, 3.2e-5, 4e-8, math.nan, math.inf)]
    assert shown == ["12 s", "12.35 ms", "32 µs", "40 ns", "-", "inf"]
    assert ratio_words(Ratio(1.234, 1.1, 1.4)) == "1.23 (1.1 to 1.4)"
    assert ratio_words(Ratio(1.234, 0.0, math.inf)) == "1.23"


def test_a_race_is_plain_data() -> None:
    """As JSON, apart from infinities, which the command writes as null; and as HTML, escaped."""
    found = course(drawn({"a<b>": 1.0, "c": 2.0}))
    again = json.loads(json.dumps(found.to_dict()))
    assert again["best"] == "a<b>"
    assert again["result"]["settings"]["compare"] == "wins"
    assert len(again["standings"][0]["times"]) == found.rounds
    assert "a&lt;b&gt;" in found._repr_html_()
    assert "a<b>" not in found._repr_html_()
