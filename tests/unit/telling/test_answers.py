"""Every answer on every surface: none is forgotten, and each says what was found."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import pytest

from support.told import made
from truebest import (
    Account,
    AtLeast,
    Best,
    BestArm,
    Gate,
    NoWinner,
    Result,
    Stopped,
    Suspended,
    Tied,
    Undecided,
    UsedUp,
    Verdicts,
    Within,
)
from truebest.cli import DONE, OTHER, UNDECIDED
from truebest.cli._output import code_of
from truebest.experiment.forecast import Forecast
from truebest.experiment.settings import new_settings
from truebest.plots.identification import draw
from truebest.running.frame import Frame
from truebest.running.report import page
from truebest.server import views
from truebest.telling import words
from truebest.telling.answers import Answer
from truebest.telling.standings import Lead, Role

ARMS = ("old", "new", "newer")
ANSWERS: dict[str, Answer] = {
    "nothing yet": Undecided(),
    "undecided": Undecided("newer", 0.2),
    "used up": UsedUp("newer", 0.2),
    "stopped": Stopped("newer", 0.2, "good enough"),
    "suspended": Suspended("newer", None, "pull 3 gave 7"),
    "best": Best("newer"),
    "within": Within("newer", 0.05),
    "tied": Tied("newer", ("new", "newer")),
    "no winner": NoWinner((("old", "new"), ("new", "newer"), ("newer", "old"))),
}
GATE: dict[str, Any] = {"bounds": (0, 1), "question": Gate("old", margin=0.05)}
SETTINGS: dict[str, dict[str, Any]] = {
    "independent": {"bounds": (0, 1)},
    "rounds": {"bounds": (0, 1), "items": 90},
    "wins": {"compare": "wins"},
    "wins on items": {"compare": "wins", "items": 90},
}
VERDICTS: dict[str, Answer] = {
    "nothing judged": Undecided(so_far=Verdicts()),
    "some judged": Undecided(so_far=Verdicts(("new",))),
    "judged and used up": UsedUp(so_far=Verdicts((), ("newer",))),
    "judged and stopped": Stopped(None, None, "good enough", so_far=Verdicts()),
    "judged and suspended": Suspended(None, None, "pull 3 gave 7", so_far=Verdicts()),
    "passed": Verdicts(("new", "newer")),
    "one of each": Verdicts(("new",), ("newer",)),
}
GATES: dict[str, dict[str, Any]] = {"gate": GATE, "gate in rounds": {**GATE, "items": 90}}
ASKED = [(name, design) for name in ANSWERS for design in SETTINGS]
ASKED += [(name, design) for name in ("nothing yet", *VERDICTS) for design in GATES]


def account(answer: Answer, design: str = "independent") -> Account:
    """Of three arms, the last of which leads."""
    if design in GATES:
        return gate(answer, design)
    none = answer in (Undecided(), ANSWERS["no winner"])
    means: dict[str, float | None] = {"old": 0.25, "new": 0.5, "newer": 0.75}
    ends = {} if none else {"old": (0.25, 0.75), "new": (-0.0625, 0.5)}
    now = made(ARMS, answer, means=means, ends=ends, rounds=None if design == "independent" else 90)
    rows = now.standings
    if "wins" in design:
        rows = tuple(one._replace(lead=one.lead and one.lead._replace(won=30, lost=7)) for one in rows)
    return replace(now, settings=new_settings(ARMS, 0.05, seed=1, **SETTINGS[design]), standings=rows)


def gate(answer: Answer, design: str) -> Account:
    """Of the same arms, the first of which is the baseline: each interval is an arm's own, and fits it."""
    none = answer == Undecided()
    found = answer if isinstance(answer, Verdicts) else getattr(answer, "so_far", None) or Verdicts()
    means: dict[str, float | None] = {"old": 0.5, "new": 0.5625, "newer": 0.25}
    now = made(ARMS, answer, means=dict.fromkeys(ARMS) if none else means, ends={}, rounds=90)
    ends = {Role.PASSED: (-0.0375, 0.25), Role.FAILED: (-0.5, -0.0625), Role.OPEN: (-0.5, 0.25)}
    roles = {"old": Role.BASELINE, **dict.fromkeys(found.passed, Role.PASSED)}
    roles |= dict.fromkeys(found.failed, Role.FAILED)
    rows = []
    for one in now.standings:
        role = roles.get(one.arm, Role.OPEN)
        lead = (
            None if role is Role.BASELINE else Lead() if none else Lead((one.mean or 0.0) - 0.5, *ends[role])
        )
        rows.append(one._replace(role=role, lead=lead))
    return replace(now, settings=new_settings(ARMS, 0.05, seed=1, **GATES[design]), standings=tuple(rows))


def report(now: Account) -> str:
    """The words of the page."""
    return html.unescape(re.sub("<[^>]+>", " ", page(now, now.settings, [], None, 0)))  # type: ignore[arg-type]


SURFACES: dict[str, Callable[[Account], str]] = {
    "sentence": str,
    "result": lambda now: str(Result.of(now, ended="decided", seconds=1.0, resumed=0)),
    "status": lambda now: "\n".join(f"{key} {text}" for key, text in words.facts(now)),
    "markdown": lambda now: now.to_markdown(),
    "notebook": lambda now: html.unescape(now._repr_html_()),
    "live view": lambda now: " ".join(Frame(now, Forecast(None, {}, "none"), 1.0).text(300).split()),
    "live view in a notebook": lambda now: html.unescape(Frame(now, Forecast(None, {}), 1.0).html()),
    "report": report,
    "picture": lambda now: draw(now).get_suptitle().replace("\n", " "),
    "page": lambda now: json.dumps(views.view(now, Forecast(None, {}, "none"), views.Roster(), ARMS, False)),
    "json": lambda now: json.dumps(now.to_dict()),
}
SAID = {
    "nothing yet": "no result yet|no result|nothing can be said|none yet",
    "undecided": "undecided|not decided|newer leads|none yet",
    "used up": "undecided|not decided|newer leads|none yet",
    "stopped": "good enough",
    "suspended": "pull 3 gave 7",
    "best": "newer is (the )?best|newer wins|decision +newer",
    "within": "newer is within|decision +newer",
    "tied": "tied|equally good|decision +newer",
    "no winner": "no winner|loses to another|no option wins",
    "nothing judged": "undecided|not decided|open",
    "some judged": "new is not worse than old by more than 0.05|passed.*new|new.*passed",
    "judged and used up": "newer is worse than old by more than 0.05|failed.*newer|newer.*failed",
    "judged and stopped": "good enough",
    "judged and suspended": "pull 3 gave 7",
    "passed": "new, newer are not worse than old by more than 0.05|passed.*new.*newer",
    "one of each": "new is not worse than old by more than 0.05; newer is worse|passed.*new",
}


def test_every_answer_is_tried() -> None:
    """A new class of answers must come here, too."""
    every = ANSWERS | VERDICTS
    assert {type(answer) for answer in every.values()} == set(get_args(Answer))
    assert SAID.keys() == every.keys()


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(("name", "design"), ASKED)
def test_every_surface_says_every_answer(name: str, surface: str, design: str) -> None:
    """What was found, or why nothing was."""
    said = SURFACES[surface](account((ANSWERS | VERDICTS)[name], design))
    assert re.search(SAID[name], said, re.IGNORECASE), said


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(("name", "design"), [one for one in ASKED if one[1] in GATES])
def test_no_surface_of_a_gate_says_what_it_is_not_about(name: str, surface: str, design: str) -> None:
    """An arm that passes is neither best nor a leader, and one that is done with is not ruled out."""
    said = SURFACES[surface](account((ANSWERS | VERDICTS)[name], design))
    said = re.sub('"(best|leader|may)[^,]*,', "", said)  # keys of JSON
    assert not re.search(r"\b(best|leads|leader|ruled out|in the race|winner)\b", said, re.IGNORECASE), said


@pytest.mark.parametrize(("name", "design"), ASKED)
def test_an_account_comes_back_from_json(name: str, design: str) -> None:
    """Equal in every field, with infinite ends as null; what is not known is left out."""
    now = account((ANSWERS | VERDICTS)[name], design)
    record = json.loads(json.dumps(now.to_dict(), allow_nan=False))
    assert Account.from_dict(record, now.settings) == now
    assert Account.from_dict({**record, "of later": 1}, now.settings) == now
    result = Result.of(now, ended="decided", seconds=1.5, resumed=3, uniform=9)
    assert Result.from_dict(json.loads(json.dumps(result.to_dict())), now.settings) == result


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_has_an_exit_code(name: str) -> None:
    """An answer is one, also that there is no winner; of tied arms each may be expected."""
    answer = ANSWERS[name]
    over = not isinstance(answer, Undecided | UsedUp | Stopped | Suspended)
    now = account(answer)
    assert code_of(now) == (DONE if over else UNDECIDED)
    best = {"best": ["newer"], "within": ["newer"], "tied": ["new", "newer"]}.get(name, [])
    for arm in ARMS:
        assert code_of(now, arm) == (UNDECIDED if not over else DONE if arm in best else OTHER)


def test_a_threshold_is_worded_of_means() -> None:
    """On every surface: the mean and its ends, a line at the threshold, and no other arm."""
    answer = Undecided(so_far=Verdicts(("new",), ("newer",)))
    now = replace(
        gate(answer, "gate"), settings=new_settings(ARMS, 0.05, bounds=(0, 1), question=AtLeast(0.5))
    )
    lead = {"old": Lead(0.5, 0.25, 0.75), "new": Lead(0.75, 0.5, 1.0), "newer": Lead(0.25, 0.0, 0.5)}
    roles = {"old": Role.OPEN, "new": Role.PASSED, "newer": Role.FAILED}
    rows = [
        one._replace(role=roles[one.arm], lead=lead[one.arm], between=lead[one.arm].ends)
        for one in now.standings
    ]
    now = replace(now, standings=tuple(rows))
    assert now.centre is None
    for name, surface in SURFACES.items():
        said = surface(now)
        assert re.search(
            "of new is at least 0.5; the mean of newer is below|passed.*new|new.*passed", said
        ), (
            name,
            said,
        )
        assert not re.search("better than|baseline", said), (name, said)
    assert "the mean of old is 0.50 so far (0.25 to 0.75)" in str(now)
    assert ["old", "open", "100", "0.500", "0.25 to 0.75", ""] in now.table()[1]
    assert "mean (│ is 0.5)" in Frame(now, Forecast(None, {}, "none"), 1.0).text(100)


def test_a_gate_has_an_exit_code() -> None:
    """All passed, one failed, undecided."""
    assert code_of(gate(Verdicts(("new", "newer")), "gate")) == DONE
    assert code_of(gate(Verdicts(("new",), ("newer",)), "gate")) == OTHER
    assert code_of(gate(Undecided(so_far=Verdicts((), ("newer",))), "gate")) == UNDECIDED
    stored = new_settings(["new"], bounds=(0, 1), items=2, known={"newer": [0, 1]}, question=AtLeast(0.7))
    assert code_of(replace(gate(Verdicts(("new",), ("newer",)), "gate"), settings=stored)) == DONE


def test_a_line_that_is_cut_off_is_said_to_go_on() -> None:
    """An axis is at most six times as long as the shortest line."""
    for high, said in ((0.3, False), (0.12, True)):
        ends = {"old": (0.1, high), "new": (0.1, 0.9)}
        now = made(ARMS, ANSWERS["best"], means=dict.fromkeys(ARMS, 0.5), ends=ends)
        assert ("goes on beyond it" in report(now)) is said


def test_a_forgotten_answer_is_an_error() -> None:
    """The negative control: a class that no sentence knows."""

    class New:
        pass

    now = replace(account(Best("newer")), answer=New())  # type: ignore[arg-type]
    for say in (words.sentence, words.paragraph):
        with pytest.raises(AssertionError):
            say(now)
    with pytest.raises(AssertionError):
        words.headline(New(), now.settings, 0)  # type: ignore[arg-type]
    with pytest.raises(AssertionError):
        views.state_of(New(), 0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Undecided(so_far=Verdicts()), "Not decided yet"),
        (
            Undecided(so_far=Verdicts((), ("newer",))),
            "Not decided yet for new; newer is worse than old by more than 0.05",
        ),
        (
            UsedUp(so_far=Verdicts(("new",))),
            "No items left, and not decided for newer; new is not worse than old by more than 0.05",
        ),
        (
            Stopped(None, None, "good enough", so_far=Verdicts(("new",))),
            "Stopped undecided for newer; new is not worse than old by more than 0.05",
        ),
    ],
)
def test_a_headline_says_for_which_options_nothing_is_decided(answer: Answer, said: str) -> None:
    """A verdict stands beside it, and is not what is undecided."""
    now = account(answer, next(iter(GATES)))
    assert words.headline(answer, now.settings, 0) == said


def test_a_caption_says_where_the_samples_of_a_question_went() -> None:
    """In turn to what was open, and to a baseline that is asked; for the best, to what is close."""
    assert words.spread(account(VERDICTS["passed"], "gate")) == (
        "Where the samples went: in turn to the options whose verdict was open, and to old."
    )
    best = account(ANSWERS["best"])
    assert words.spread(best) == "Where the samples went: to the options that are hard to tell apart."
    pairs = new_settings(ARMS, 0.05, bounds=(0, 1), question=BestArm(pairs=True))
    assert "in turn to the options in the race" in words.spread(replace(best, settings=pairs))
    number = new_settings(ARMS, 0.05, bounds=(0, 1), question=AtLeast(0.5))
    assert words.spread(replace(best, settings=number)).endswith("whose verdict was open.")


def test_nothing_is_pending_once_it_is_over() -> None:
    """What is out then is not waited for; the number is kept."""
    for answer, shown in (("undecided", True), ("best", False), ("stopped", False)):
        now = account(ANSWERS[answer])
        now = replace(now, standings=tuple(one._replace(pending=2) for one in now.standings))
        assert ("pending" in now.table()[0]) == shown
        assert ("6 pending" in Frame(now, Forecast(None, {}, "none"), 1.0).facts()) == shown
        assert now["new"].pending == 2
