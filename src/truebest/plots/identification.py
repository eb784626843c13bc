"""What a live identification found: how much better its leader is, and where the samples went."""

from __future__ import annotations

import textwrap
import unicodedata
from typing import Any

from .._text import claimed
from ..telling import words
from ..telling.account import Account
from ..telling.columns import in_order, samples_text
from ..telling.drawing import look_of, mark_of
from ..telling.standings import Standing, per_arm
from . import new_figure

MOST_ARMS = 100
WIDTH = 10.0  # inches
NAME_WIDTH, NAME_LINES = 32, 3  # characters; names may have 1000
TITLE_WIDTH, TITLE_LINES = 105, 8
BARS, COLOURS = "#4c8fbd", {"sure": "#2e7d4f", "bad": "#b3261e", "open": "#c77700"}
ABOVE: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": 8}


def draw(now: Account) -> Any:
    """A Matplotlib figure: left the leader's lead over every other arm, right the samples per arm.

    The intervals are the rule's own: it decides when all of them are above 0. Each end holds by itself. Where
    it is asked of each arm whether it passes, left is what is asked, with a line where an arm begins to pass.
    """
    figure = new_figure(WIDTH, 1.0)
    arms = in_order(now)[:MOST_ARMS]
    fonts, unknown = _fonts(set("".join([now.sentence, *(one.arm for one in arms)])))
    names = [_wrapped(_readable(one.arm, unknown), NAME_WIDTH, NAME_LINES) for one in arms]
    title = _wrapped(_readable(now.sentence, unknown), TITLE_WIDTH, TITLE_LINES)
    data: dict[str, Any] = {"parse_math": False, "usetex": False, "family": fonts}  # names are no formulas
    rows = sum(max(1.0, 0.75 * (1 + name.count("\n"))) for name in names)
    figure.set_figheight(1.5 + 0.3 * max(rows, 3.0) + 0.2 * title.count("\n"))
    leads, samples = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    _draw_leads(leads, now, arms)
    _draw_samples(samples, now, arms)
    leads.set_yticks(range(len(arms)), names, fontsize=9, **data)
    leads.set_ylim(len(arms) - 0.4, -0.6)
    hidden = len(now.standings) - len(arms)
    if hidden:
        samples.set_title(f"{hidden} more arms are not shown", fontsize=9)
    figure.suptitle(title, fontsize=11, **data)
    return figure


def _draw_leads(axes: Any, now: Account, arms: list[Standing]) -> None:
    mark, asked = mark_of(now), per_arm(now.settings)
    axes.axvline(mark, color="black", lw=0.8)
    if mark and now.centre is not None:
        axes.axvline(0.0, color="grey", lw=0.8, ls=":")
    if asked is not None and mark:
        axes.annotate(claimed(asked.at), (mark, 1.0), (0, 2), xycoords=("data", "axes fraction"), **ABOVE)
    for y, one in enumerate(arms):
        if one.arm == now.centre:
            said = words.beside(now)
            axes.annotate(said, (0.0, y), (6, 0), textcoords="offset points", va="center", weight="bold")
            continue
        lead = one.lead
        if lead is None or lead.estimate is None or not lead.known:
            said = "no result" if one.mean is None else "not bounded yet"
            axes.annotate(said, (0.0, y), (6, 0), textcoords="offset points", va="center", color="grey")
            continue
        certain = look_of(one) != "open"  # a full marker on a full line: it shows without colour, too
        look = {"color": COLOURS[look_of(one)], "ls": "-" if certain else (0, (4, 1.5))}
        axes.plot(lead.ends, [y, y], lw=2.0, solid_capstyle="butt", **look)
        axes.plot(
            lead.estimate,
            y,
            "o",
            ms=6,
            color=look["color"],
            mfc=look["color"] if certain else "white",
            zorder=3,
        )
    ends = words.ends(now)
    sure = f"\n{_wrapped(ends, NAME_WIDTH * 2, NAME_LINES)}" if ends else ""
    axes.set_xlabel(f"{words.scale(now)}{sure}")
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)


def _draw_samples(axes: Any, now: Account, arms: list[Standing]) -> None:
    counts = [one.samples for one in arms]
    bars = axes.barh(range(len(arms)), counts, color=BARS, height=0.7)
    axes.bar_label(bars, [samples_text(now, one) for one in arms], padding=3, fontsize=8)
    axes.set_xlim(0.0, 1.15 * max(1, *counts))
    axes.locator_params(axis="x", integer=True)
    axes.set_xlabel("samples")
    axes.tick_params(axis="y", left=False, labelleft=False)


# -- words ---------------------------------------------------------------------------------------------


def _wrapped(text: str, width: int, lines: int) -> str:
    """In lines of so many letters, some of which are twice as wide; what is too long loses its middle."""
    if any(unicodedata.east_asian_width(c) in "WF" for c in text):
        width //= 2
    found = textwrap.wrap(text, width)
    if len(found) > lines:
        most = width * (lines - 1)  # lines that break at words are not full
        found = textwrap.wrap(f"{text[: most - most // 3]}...{text[-(most // 3) :]}", width)
    return "\n".join(found[:lines])


def _readable(text: str, unknown: set[str]) -> str:
    """Characters that no font has are written as their code points."""
    if not unknown.intersection(text):
        return text
    return "".join(f"\\u{ord(c):04x}" if c in unknown else c for c in text)


def _fonts(characters: set[str]) -> tuple[list[str], set[str]]:
    """Matplotlib's font, then installed ones until every character is covered; and what is not."""
    from matplotlib import font_manager, rcParams

    families = list(rcParams["font.family"])
    missing = {c for c in characters if not c.isspace()}
    missing -= _covered(font_manager.findfont(font_manager.FontProperties(family=families)))
    for font in font_manager.fontManager.ttflist:
        if not missing:
            break
        if font.style != "normal" or font.name.startswith("Last Resort") or font.name in families:
            continue
        covered = missing & _covered(font.fname)
        if covered:
            families.append(font.name)
            missing -= covered
    return families, missing


def _covered(file: str) -> set[str]:
    from matplotlib import ft2font

    try:
        return set(map(chr, ft2font.FT2Font(file).get_charmap()))
    except (OSError, RuntimeError):  # a file that is gone, or no outlines
        return set()
