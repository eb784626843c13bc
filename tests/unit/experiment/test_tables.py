"""What people see of a status: tables as text, HTML, Markdown and records; the forecast; long names."""

from __future__ import annotations

import math
import random
import sys
import types
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.amounts import amount, once_more
from support.told import against_control, column, intervals, made
from truebest import Experiment, Forecast, InvalidInputError, Poisson, identify
from truebest.experiment.store.memory import MemoryStore
from truebest.running.terminal import _told_apart
from truebest.telling import columns, words
from truebest.telling.answers import Answer, Best, Tied, Undecided, Within
from truebest.telling.numbers import places_of
from truebest.telling.standings import Lead


def begun(samples: int = 60, **settings: Any) -> Experiment:
    """Three arms with some values."""
    given = {"bounds": (0, 1), "seed": 2, **settings}
    experiment = Experiment.create(MemoryStore(), "x", ["a", "<b>", "c"], **given)
    rng = random.Random(4)
    for arm, mean in (("a", 0.3), ("<b>", 0.5), ("c", 0.6)):
        experiment.observe(arm, [float(rng.random() < mean) for _ in range(samples // 3)])
    return experiment


def test_a_result_prints_its_table() -> None:
    """The sentence, then a line per arm with mean, its interval, deviation and lead; `sentence` is alone."""
    result = identify({"a": lambda: 0.2, "b": lambda: 0.9}, bounds=(0, 1), max_samples=100)
    lines = str(result).splitlines()
    assert lines[0] == result.sentence
    assert lines[0].startswith("b is best; wrong with probability at most 5%")
    assert lines[2].split("  ")[0] == "arm"
    assert "mean between" in lines[2]
    assert [line.split()[0] for line in lines[3:5]] == ["b", "a"]
    assert lines[5:] == ["", f"B{words.ends(result)[1:]}."]
    assert "mean between" not in result.table()[0]


def test_a_status_is_html_in_a_notebook() -> None:
    """With what was given escaped."""
    page = begun().status()._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "mean between" in page


def test_to_frame_has_a_row_per_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    """From records of plain values; without pandas the message says what to do."""
    status = begun(control="a").status()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InvalidInputError, match="needs pandas"):
        status.to_frame()

    class Frame(list):  # type: ignore[type-arg]
        def set_index(self, column: str) -> dict[str, Any]:
            return {row[column]: row for row in self}

    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=Frame))
    found = status.to_frame()
    assert list(found) == ["a", "<b>", "c"]
    assert found["c"]["role"] == "leads"
    assert found["c"]["samples"] == 20
    assert found["a"]["lead_at_least"] == intervals(status)["a"][0]
    assert found["c"]["over_control_at_least"] == against_control(status)["c"][0]
    assert found["c"]["mean_at_most"] == pytest.approx(status["c"].between[1])  # type: ignore[index]


@once_more
def test_intervals_for_means_hold() -> None:
    """At all looks at once in all but delta of the experiments; half as wide, they do not.

    300 experiments at delta = 0.2, or 100, with looks after every ten values of three arms: more than 82
    misses, or 33, would have probability 1e-3. The negative control cuts the intervals to 0.4 of their width.
    """
    rng = np.random.default_rng(8)
    missed = narrow = 0
    for _ in range(amount(100, 300)):
        experiment = Experiment.create(
            MemoryStore(), "x", ["a", "b", "c"], 0.2, sigma=1.0, stopping="mixture", seed=1
        )
        values = rng.normal(size=(3, 100))
        out = cut = False
        for end in range(10, 101, 10):
            new = {arm: values[i, end - 10 : end] for i, arm in enumerate(experiment.settings.arms)}
            experiment.observe(new)
            status = experiment.status()
            for arm in status.settings.arms:
                ends, mean = status[arm].between, status.means[arm]
                assert ends is not None
                assert mean is not None
                out = out or not ends[0] <= 0.0 <= ends[1]
                cut = cut or abs(mean) > 0.4 * (ends[1] - mean)
        missed, narrow = missed + out, narrow + cut
    assert missed <= amount(33, 82) < narrow


def test_intervals_for_means_know_their_limits() -> None:
    """Within the bounds; none for a model without a scale, without pulls, or without a promise."""
    status = begun(30).status()
    assert all(
        ends is not None and 0.0 <= ends[0] <= ends[1] <= 1.0 for ends in column(status, "between").values()
    )
    counts = Experiment.create(MemoryStore(), "x", ["a", "b"], model=Poisson())
    counts.observe("a", [1, 2])
    assert set(column(counts.status(), "between").values()) == {None}
    new = Experiment.create(MemoryStore(), "x", ["a", "b"], bounds=(0, 1))
    assert set(column(new.status(), "between").values()) == {None}
    assert set(column(begun(stopping="practical").status(), "between").values()) == {None}


LEAD = Lead(0.25, 5e-07, 0.48)


@pytest.mark.parametrize(
    ("answer", "lead", "said", "ends"),
    [
        (Undecided("c"), LEAD, "0.25 (0.00 to 0.48)", "0.00 to 0.48"),
        (Undecided("c"), LEAD._replace(low=-0.076), "0.25 (-0.08 to 0.48)", "-0.08 to 0.48"),
        (Undecided("c"), LEAD._replace(low=-math.inf), "", ""),
        (Best("c"), LEAD, "0.25 (more than 0, at most 0.48)", "up to 0.48"),
        (Best("c"), LEAD._replace(low=-0.076), "0.25 (more than 0, at most 0.48)", "up to 0.48"),
        (Best("c"), LEAD._replace(low=0.05), "0.25 (0.05 to 0.48)", "0.05 to 0.48"),
        (Within("c", 0.1), LEAD._replace(low=-0.1), "0.25 (more than -0.1, at most 0.48)", "up to 0.48"),
        (Tied("c", ("b", "c")), Lead(0.0, 0.0, -0.0), "0", "0"),
    ],
)
def test_a_lead_is_what_was_observed_with_its_ends(answer: Answer, lead: Lead, said: str, ends: str) -> None:
    """After a decision a lower end that says no more is written as what the decision means."""
    now = made(("b", "c"), answer, means={"b": 0.25, "c": 0.5}, ends={})
    now = replace(now, standings=(now["b"]._replace(lead=lead, out=None), now["c"]))
    places = places_of(now)
    assert columns.lead_text(now, now["b"], places) == said
    assert columns.ends_text(now, now["b"], places) == ends


def test_an_arm_that_is_out_says_since_when() -> None:
    """As long as others are not, and of those that went before the end."""
    now = made(("a", "b", "c"), means={"a": 0.1, "b": 0.2, "c": 0.5}, ends={"a": (-0.076, 0.86)})
    out = replace(now, standings=(now["a"]._replace(out=75), *now.standings[1:]))
    assert out.table()[1][2][-1] == "0.40, ruled out after 75 samples"
    over = replace(out, answer=Best("c"))
    assert over.table()[1][2][-1] == "0.40 (more than 0, at most 0.86), ruled out after 75 samples"
    last = replace(over, standings=(now["a"]._replace(out=300), *now.standings[1:]))
    assert last.table()[1][2][-1] == "0.40 (more than 0, at most 0.86)"


def test_the_forecast_is_a_range() -> None:
    """It holds the point, narrows with the data, and is silent while the lead is within its error."""
    new = Experiment.create(MemoryStore(), "x", ["a", "b"], bounds=(0, 1))
    new.observe({"a": [0, 1, 0, 1], "b": [0, 1, 1, 1]})
    early, late = new.forecast(), begun(3000, stopping="mixture", delta=1e-60).forecast()
    assert early.samples is not None
    assert early.low is None
    assert early.words == "too early for a forecast"
    assert late.samples is not None
    assert late.low is not None
    assert late.high is not None
    assert late.low <= late.samples <= late.high
    assert f"{late.low:,}"[0] == late.words[0]
    assert " to " in late.words
    assert (
        str(Forecast(1234, {"a": 1000, "b": 234}, "", 987, 4321))
        == "980 to 4,400 more samples: a 1000, b 234"
    )
    assert Forecast(3, {"a": 3}, "", 0, 1234).words == "up to 1,300 more samples"
    assert str(Forecast(3, {"a": 3}, "", 3, 3)) == "about 3 more samples: a 3"


def test_names_that_look_alike_are_told_apart() -> None:
    """When they are cut off: by what they do not have in common, or by a number."""
    begin = "a long name that all of them share "
    names = [begin + middle + " and a long end that they share as well" for middle in ("one", "two", "three")]
    assert _told_apart(names, 20, "…") == ["…one…", "…two…", "…three…"]
    assert _told_apart(["a", "b"], 20, "…") == ["a", "b"]
    long = [begin + "x" * 30 + letter + "y" * 30 for letter in "pq"] + ["z" * 50]
    apart = _told_apart(long, 12, "…")
    assert len(set(apart)) == 3
    assert all(len(name) <= 12 for name in apart)


def test_results_that_wait_are_not_no_result() -> None:
    """The sentence says that they wait."""
    experiment = Experiment.create(MemoryStore(), "x", ["a", "b"], bounds=(0, 1), seed=1)
    pulls = experiment.ask(5)
    experiment.tell([(pull, 0.5) for pull in pulls[1:]])
    assert str(experiment.status()) == "no result counts yet: 4 results waiting for an earlier pull"
