"""Whatever prints an interval says how sure its ends are: each by itself, or all of them together."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import truebest
from support.commands import run
from support.told import intervals
from truebest.plots.identification import draw
from truebest.running.frame import Frame
from truebest.server.views import Roster, view
from truebest.telling import words
from truebest.theory.stopping import rules

SOURCE = Path(truebest.__file__).parent
BY_ITSELF = "each end of an interval holds by itself, at all times with probability at least 95%"
# What prints intervals, and what of it is called below.
SURFACES: dict[str, Callable[[Any, truebest.Account], str]] = {
    "telling/columns.py": lambda _, now: now.to_markdown() + now._repr_html_(),
    "running/terminal.py": lambda e, now: Frame(now, e.forecast(), 1.0).text(400),
    "running/page.py": lambda e, now: Frame(now, e.forecast(), 1.0).html(),
    "running/report.py": lambda e, _: str(e.report()),
    "plots/identification.py": lambda _, now: draw(now).axes[0].get_xlabel().replace("\n", " "),
    "server/views.py": lambda e, now: json.dumps(view(now, e.forecast(), Roster(), [], False)),
    "cli/_output.py": lambda e, _: run("status", "x", "--store", e.store_url).out,
}
USES = re.compile(r"\b(?:one|\w+\[\w+\])\.(?:lead|over_control)\b|rows = now\.table\(\)")
MAKERS = {"telling/words.py", "telling/numbers.py", "telling/drawing.py", "running/standings.py"}
KINDS: dict[str, dict[str, Any]] = {
    "independent": {"bounds": (0, 1)},
    "two arms": {"bounds": (0, 1)},
    "tolerance": {"bounds": (0, 1), "tolerance": 0.01},
    "student": {"model": truebest.Student()},
    "rounds": {"bounds": (0, 1), "items": 500},
    "wins": {"compare": "wins"},
}


class Kept:
    """An experiment in a file, and where that is."""

    def __init__(self, store: str, kind: str, decided: bool) -> None:
        arms, self.store_url = list("ab" if kind == "two arms" else "abc"), store
        self.experiment = truebest.Experiment.create(store, "x", arms, control="a", seed=1, **KINDS[kind])
        told = 0
        while (decided or told < 45) and (pulls := self.experiment.ask(1)):
            noise = ((7 * pulls[0].id) % 11) / 55.0
            apart = 0.3 if decided else 0.01
            self.experiment.tell(pulls[0], 0.1 + noise + apart * "abc".index(pulls[0].arm))
            told += 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self.experiment, name)


@pytest.fixture(scope="module", params=[(kind, end) for kind in KINDS for end in (False, True)])
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Undecided, and decided."""
    kind, decided = request.param
    made = Kept(f"sqlite:///{tmp_path_factory.mktemp('ends')}/runs.db", kind, decided)
    assert made.status().decided == decided
    yield made
    made.close()


def test_every_surface_says_so(kept: Any) -> None:
    """Undecided, and after a decision: besides that."""
    status = kept.status()
    want = ("besides the decision, " if status.decided else "") + BY_ITSELF
    assert words.ends(status) == want
    for file, shown in SURFACES.items():
        found = re.sub(r"\s+", " ", html.unescape(shown(kept, status)))
        assert want.lower() in found.lower(), file


def test_a_run_on_the_command_line_says_so() -> None:
    """Below its table, decided or not."""
    for samples, begin in ((3, "\nEach end"), (100, "\nBesides the decision, each end")):
        given = ("--shell", "--bounds", "0,1", "--arm", "a=echo 0.2", "--arm", "b=echo 0.9", "--seed", "1")
        out = run("identify", *given, "--max-samples", str(samples), "--quiet").out
        assert out.endswith(f"{begin}{BY_ITSELF[len('each end') :]}.\n")


def test_against_the_control_all_of_one_side_hold(kept: Any) -> None:
    """In the report and on the page, apart from the answer."""
    status = kept.status()
    want = "Apart from the answer above, all lower ends hold together with probability at least 95%"
    assert want in str(kept.report())
    assert want in view(status, kept.forecast(), Roster(), [], False)["control"]["note"]


def test_no_surface_is_forgotten() -> None:
    """A file that uses intervals is among them, or makes them."""
    users = {
        path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if USES.search(path.read_text())
    }
    assert users == set(SURFACES) | MAKERS


@pytest.mark.parametrize("name", list(rules()))
def test_the_docstring_of_intervals_says_so(name: str) -> None:
    """Of each rule's own function."""
    assert "by itself" in (type(rules()[name]).intervals.__doc__ or "")


def test_without_a_promise_nothing_is_said(tmp_path: Path) -> None:
    """The intervals of a rule without a proof."""
    experiment = truebest.Experiment.create(
        f"sqlite:///{tmp_path}/runs.db", "x", list("ab"), bounds=(0, 1), stopping="practical", control="a"
    )
    experiment.observe({"a": [0.1, 0.3] * 5, "b": [0.2, 0.4] * 5})
    status = experiment.status()
    assert intervals(status)
    assert words.ends(status) == words.control_ends(status) == ""
    assert "by itself" not in status.to_markdown() + str(experiment.report())
    experiment.close()
