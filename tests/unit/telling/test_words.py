"""What the report and the page say of every kind of experiment."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from truebest import Account, Experiment, Gate, Pull
from truebest.telling import words
from truebest.telling.columns import table

ARMS = ["a", "b", "c"]


def run(value: Any, most: int = 10_000, **settings: Any) -> Experiment:
    """Pulls one at a time until the decision, or until there were so many."""
    experiment = Experiment.create("memory:", "x", ARMS, 0.1, seed=1, **settings)
    for _ in range(most):
        if not (pulls := experiment.ask()):
            break
        experiment.tell(pulls[0], value(pulls[0]))
    return experiment


def rising(pull: Pull) -> float:
    """c is the best."""
    return 0.1 + 0.4 * ARMS.index(pull.arm)


def round_the_circle(pull: Pull) -> float:
    return float((ARMS.index(pull.arm) + (pull.round or 0)) % 3)


def headline(now: Account) -> str:
    return words.headline(now.answer, now.settings, now.progress.waiting)


def said(now: Account) -> str:
    return " ".join([headline(now), words.paragraph(now), *words.sureness(now)])


@pytest.mark.parametrize(
    ("given", "value", "most", "expected", "part"),
    [
        ({"bounds": (0, 1)}, rising, 0, "There is no result yet", "before the first result counts"),
        ({"bounds": (0, 1)}, rising, 9, "Not decided yet: c leads", "after 9 samples. The leader is at most"),
        ({"bounds": (0, 1)}, rising, 10**4, "c is the best option", "assuming independent values in [0, 1]"),
        ({"bounds": (0, 1), "tolerance": 0.5}, rising, 10**4, "c is within 0.5 of the best", "Decided after"),
        (
            {"bounds": (0, 1), "items": 90},
            rising,
            9,
            "Not decided yet: c leads",
            "9 samples on 3 of 90 items",
        ),
        ({"bounds": (0, 1), "items": 90}, rising, 10**4, "c is the best option", "measured on the same item"),
        (
            {"bounds": (0, 1), "items": 5},
            lambda pull: (pull.item or 0) / 5,
            10**4,
            "a, b, c are equally good, and the best",
            "Decided after 15 samples on 5 of 5 items",
        ),
        (
            {"compare": "wins"},
            rising,
            9,
            "Not decided yet: c leads",
            "of rounds against the best",
        ),
        (
            {"compare": "wins"},
            rising,
            10**4,
            "c is the best option",
            "It wins against each other arm in",
        ),
        ({"compare": "wins"}, rising, 10**4, "c is the best option", "under the same conditions"),
        (
            {"compare": "wins", "minimize": True, "tolerance": 0.1},
            lambda pull: 1.0 - 0.01 * rising(pull),
            10**4,
            "c is within 1.1 times the best",
            "It is within 1.1 times the best in more than half of all rounds",
        ),
        (
            {"compare": "wins", "direct": True},
            round_the_circle,
            10**4,
            "No option wins against all others",
            "The answer is wrong with probability at most 10%",
        ),
    ],
)
def test_every_state_of_every_design(
    given: dict[str, Any], value: Any, most: int, expected: str, part: str
) -> None:
    """The answer in a few words, what it took, and what it rests on."""
    status = run(value, most, **given).status()
    assert headline(status) == expected
    assert part in said(status)
    assert status.decided or "once there is one" in said(status)


def test_what_has_ended_undecided_promises_no_answer() -> None:
    """It was stopped: there will be none."""
    experiment = run(rising, 9, bounds=(0, 1))
    experiment.stop("enough")
    assert "once there is one" not in said(experiment.status())
    assert "ended before there was an answer" in said(experiment.status())


def test_results_that_do_not_count_yet_are_named() -> None:
    """The first pull is out, others came back: the page says who has it, as a sentence."""
    experiment = Experiment.create("memory:", "x", ARMS, bounds=(0, 1), seed=1, worker="w")
    pulls = experiment.ask(3)
    experiment.tell([(pull, 0.5) for pull in pulls[1:]])
    status = experiment.status()
    assert headline(status) == "No result counts yet"
    assert "2 results waiting for an earlier pull" in said(status)
    assert words.hold(status).startswith("the decision waits for pull 1 of arm 'a', which w has had")
    assert words.hold(run(rising, 3, bounds=(0, 1)).status()) == ""


def test_the_control_is_spoken_of_in_sentences() -> None:
    """Whether something is proven or not."""
    undecided = run(rising, 6, bounds=(0, 1), control="a").status()
    assert words.control_sentence(undecided) == "No arm is proven to be better than the control a."
    decided = run(rising, bounds=(0, 1), control="a").status()
    assert words.control_sentence(decided) == "c is better than the control a, being the best."
    best = run(lambda pull: 1.0 - rising(pull), bounds=(0, 1), control="a").status()
    assert words.control_sentence(best) == "No arm is proven to be better than the control a."
    known = Experiment.create("memory:", "x", ARMS, bounds=(0, 1), control="a")
    known.observe({"a": [0.1, 0.2] * 40, "b": [0.8, 0.9] * 40, "c": [0.9, 0.8] * 40})
    assert words.control_sentence(known.status()) == "b, c are better than the control a."
    assert words.control_sentence(run(rising, 6, bounds=(0, 1)).status()) == ""


def test_a_control_that_is_the_baseline_has_no_column_of_its_own() -> None:
    """The question compares with it already; with another control both columns stand."""
    asked = Gate("a", margin=0.1)
    for control, compared in (("a", ["better than a by"]), ("b", ["better than a by", "better than b by"])):
        header, rows = table(run(rising, 6, bounds=(0, 1), question=asked, control=control).status())
        assert [title for title in header if title.startswith("better than")] == compared
        assert {len(row) for row in rows} == {len(header)}


def test_a_tie_is_no_difference() -> None:
    """Behind by 0, and not by 0 to -0."""
    page = run(lambda pull: (pull.item or 0) / 5, bounds=(0, 1), items=5).report()
    assert "behind by 0" in page


@pytest.mark.parametrize("compare", ["means", "wins"])
def test_the_report_says_what_its_lines_measure(compare: str) -> None:
    """Differences of means in the values' units, or of the chances to win and to lose a round."""
    given: dict[str, Any] = {"bounds": (0, 1)} if compare == "means" else {"compare": "wins"}
    page = html.unescape(re.sub(r"<[^>]+>", " ", run(rising, **given).report()))
    assert ("in the values' own units" in page) == (compare == "means")
    assert ("likelier the leader is to win a round" in page) == (compare == "wins")
    assert ("only who wins counts" in page) == (compare == "wins")
    assert "behind by wins" not in page
