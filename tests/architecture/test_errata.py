"""docs/errata.md and `truebest reproduce claims` say the same of every statement."""

from __future__ import annotations

import re
from pathlib import Path

from truebest.studies.paper import claims

PAGE = (Path(__file__).parents[2] / "docs" / "errata.md").read_text()


def anchor(title: str) -> str:
    """The anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def test_the_page_has_every_statement_with_its_verdict() -> None:
    """The table lists the statements of `truebest.studies.paper.claims`, in order, with the same verdicts."""
    rows = re.findall(r"^\| (\w+ \d+) \| ([^|]+) \| [^|]+ \|$", PAGE, re.MULTILINE)
    assert rows == list(claims.verdicts().items())


def test_every_failing_statement_has_a_section() -> None:
    """A heading, what is corrected, and a proof of it."""
    failing = [number for number, verdict in claims.verdicts().items() if verdict == claims.FAILS]
    assert len(failing) >= 3
    for number in failing:
        section = PAGE.split(f"\n### {number}: ")[1].split("\n### ")[0]
        assert "```python" in section
        assert section.index("**Corrected.**") < section.rindex("*Proof.*") < section.rindex("∎")


def test_links_within_the_page_lead_somewhere() -> None:
    """Every link to a heading."""
    anchors = {anchor(title) for title in re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)}
    targets = re.findall(r"\]\(#([^)]+)\)", PAGE)
    assert len(targets) > 10
    assert set(targets) <= anchors
