"""A comparison as one HTML page without scripts or requests: the answer first, then all that it rests on."""

from __future__ import annotations

import importlib.util
import io
from html import escape

from ... import __version__
from ..._html import Cell, table, whole_page
from ..._page_style import STYLE
from ..._text import harmless
from . import tables
from .results import Comparison
from .tables import Table

WIDER = """
body { max-width: 76rem; }
th, td { white-space: nowrap; }
th:not(:first-child), td:not(:first-child) { text-align: right; }
.settings td:not(:first-child), .settings th:not(:first-child) { text-align: left; white-space: normal; }
figure svg { max-width: 100%; height: auto; background: #fff; }
"""
MEANINGS = (
    ("geo mean", "geometric mean, over the bandits, of the mean samples as multiples of the fewest"),
    ("worst", "the largest of these multiples"),
    ("95%", "geometric mean of the multiples of the 95% quantile of the samples: how bad an unlucky run is"),
    (
        "100 log ± runs ± bandits",
        "difference of mean logarithms to the reference, times 100; what other runs would change, as all "
        "strategies share rewards; and what other bandits would",
    ),
    (
        "below, first",
        "on how many bandits it took fewer samples than the reference; on how many none took fewer",
    ),
    (
        "wrong, cut off",
        "runs with a wrong answer; runs without an answer at the largest number of samples, and how many of "
        "these a wrong arm led",
    ),
    (
        "targets, pulls move",
        "per 1000 samples, ½ Σ|change| of the target weights, and of the shares of pulls between windows of "
        "20 K pulls; mean over three bandits",
    ),
)


def page(found: Comparison) -> str:
    """The page."""
    parts = [
        f"<header><p class='faint'>Strategies compared</p><h1>{escape(headline(found))}</h1>",
        *(f"<p class='lead'>{_text(note)}</p>" for note in found.notes()),
        "</header><h2>The strategies</h2>",
        _scroll(found.table()),
        "<details><summary>What the columns mean</summary>",
        f"{table(['column', 'meaning'], MEANINGS)}</details>".replace("<table>", "<table class='settings'>"),
    ]
    for delta in found.deltas:
        parts += _at(found, delta)
    if found.movements:
        parts += [
            "<h2>How much targets and pulls move, per 1000 samples</h2>",
            _scroll(tables.movements(found)),
        ]
    settings = [[key, _words(value)] for key, value in found.settings.items()]
    parts += ["<h2>How it was made</h2>", _scroll((["setting", "value"], settings), "settings")]
    parts.append(f"<footer class='faint'>truebest {escape(__version__)}</footer>")
    return whole_page(headline(found), parts, f"{STYLE}{WIDER}")


def headline(found: Comparison) -> str:
    """The answer in a few words."""
    first = {row.delta: row.strategy for row in reversed(found.standings)}
    if len(set(first.values())) == 1:
        return f"{harmless(first[found.deltas[0]])} takes the fewest samples"
    return "The fewest samples: " + ", ".join(
        f"{harmless(name)} at {d:g}" for d, name in sorted(first.items())
    )


def _at(found: Comparison, delta: float) -> list[str]:
    """All about one risk."""
    at = f" at delta {delta:g}" if len(found.deltas) > 1 else ""
    parts = [f"<h2>How often a strategy is near the best{at}</h2>", _picture(found, delta)]
    parts.append(_scroll(tables.profile(found, delta)))
    parts.append(f"<h2>Where {_text(found.reference_at(delta))} loses{at}</h2>")
    lost = tables.losses(found, delta)
    parts.append(_scroll(lost) if lost[1] else "<p>On no bandit by more than two standard errors.</p>")
    if found.groups:
        parts += [f"<h2>Geometric means by kind of bandit{at}</h2>", _scroll(tables.groups(found, delta))]
    parts += [
        f"<h2>Every bandit{at}</h2>",
        "<p>The fewest samples, and each strategy as a multiple of it.</p>",
    ]
    return [*parts, _scroll(tables.bandits(found, delta))]


def _picture(found: Comparison, delta: float) -> str:
    """The profile, where it can be drawn."""
    if importlib.util.find_spec("matplotlib") is None:
        return ""
    from matplotlib import rc_context

    file = io.StringIO()
    with rc_context({"svg.hashsalt": f"truebest {delta}"}):  # the same page again, and no name twice in it
        found.plot(delta).savefig(file, format="svg", metadata={"Date": None})
    svg = file.getvalue()
    caption = "The share of bandits on which a strategy takes at most so many times the fewest samples:"
    return f"<figure>{svg[svg.index('<svg') :]}<figcaption>{caption}</figcaption></figure>"


def _scroll(content: Table, kind: str = "") -> str:
    header, rows = content
    shown: list[list[str | Cell]] = [[harmless(word) for word in row] for row in rows]
    return f"<div class='scroll {kind}'>{table([*map(harmless, header)], shown)}</div>"


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _text(words: str) -> str:
    return escape(harmless(words))
