"""The report as a reader opens it, in headless Chromium."""

from __future__ import annotations

from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from e2e.test_solve_command import truebest
from support.browser import visit
from support.system import require

pytestmark = pytest.mark.slow


def coloured(picture: Path) -> tuple[float, float]:
    """The share of pixels that are not white, and of those that have a colour."""
    image = matplotlib.image.imread(picture)[..., :3]
    return float((image.min(axis=-1) < 0.9).mean()), float((np.ptp(image, axis=-1) > 0.3).mean())


def test_the_report_opens_in_a_browser(tmp_path: Path) -> None:
    """No message on the console, no request to the network, and a picture with text and coloured lines."""
    require("chromium")
    report = tmp_path / "report"
    assert truebest("reproduce", "all", "--runs", "5", "--output", str(report)).returncode == 0
    seen = visit(report / "index.html", tmp_path)
    assert (seen.console, seen.requests) == ([], [])
    dark, colour = coloured(seen.screenshot)
    assert 0.01 < dark < 0.5
    assert 0.001 < colour < 0.5


@pytest.mark.parametrize(
    ("body", "console", "requests"),
    [
        ("<script>throw new Error('broken')</script>", 1, []),
        ("<script>undefined_name()</script>", 1, []),
        ("<img src='http://example.invalid/a.png'>", 0, ["http://example.invalid/a.png"]),
        ("<style>@import 'https://example.invalid/b.css'</style>", 0, ["https://example.invalid/b.css"]),
        ("<script>new WebSocket('ws://example.invalid/c')</script>", 0, ["ws://example.invalid/c"]),
    ],
)
def test_a_bad_page_is_noticed(body: str, console: int, requests: list[str], tmp_path: Path) -> None:
    """Negative control: errors, requests of several kinds, and a blank picture are seen by the same check."""
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><meta charset='utf-8'><title>bad</title>{body}")
    seen = visit(page, tmp_path, height=400)
    assert len(seen.console) >= console
    assert seen.requests == requests
    assert coloured(seen.screenshot)[1] < 0.001
