"""What a live identification found: how much better its leader is, and where the samples went."""

from __future__ import annotations

import math
import textwrap
import unicodedata
from typing import Any, Protocol

from . import new_figure

MOST_ARMS = 100
WIDTH = 10.0  # inches
NAME_WIDTH, NAME_LINES = 32, 3  # characters; names may have 1000
TITLE_WIDTH, TITLE_LINES = 105, 8
CERTAIN, OPEN, BARS = "#2e7d4f", "#c77700", "#4c8fbd"


class Identification(Protocol):
    """What `draw` needs of a result or a status; see `truebest.experiment`."""

    @property
    def arms(self) -> tuple[str, ...]: ...
    @property
    def leader(self) -> str | None: ...
    @property
    def decision(self) -> str | None: ...
    @property
    def pulls(self) -> dict[str, int]: ...
    @property
    def means(self) -> dict[str, float | None]: ...
    @property
    def intervals(self) -> dict[str, tuple[float, float]]: ...
    @property
    def minimize(self) -> bool: ...
    @property
    def verdict(self) -> str: ...
    @property
    def sentence(self) -> str: ...
    @property
    def compare(self) -> str: ...
    @property
    def ends(self) -> str: ...
    def lead(self, arm: str) -> float | None: ...
    def is_behind(self, arm: str) -> bool: ...


def draw(result: Identification) -> Any:
    """A Matplotlib figure: left the leader's lead over every other arm, right the samples per arm.

    The intervals are the rule's own: it decides when all of them are above 0. Each end holds by itself.
    """
    figure = new_figure(WIDTH, 1.0)
    arms = _order(result)[:MOST_ARMS]
    fonts, unknown = _fonts(set("".join([result.sentence, *arms])))
    names = [_wrapped(_readable(arm, unknown), NAME_WIDTH, NAME_LINES) for arm in arms]
    title = _wrapped(_readable(result.sentence, unknown), TITLE_WIDTH, TITLE_LINES)
    data: dict[str, Any] = {"parse_math": False, "usetex": False, "family": fonts}  # names are no formulas
    rows = sum(max(1.0, 0.75 * (1 + name.count("\n"))) for name in names)
    figure.set_figheight(1.5 + 0.3 * max(rows, 3.0) + 0.2 * title.count("\n"))
    leads, samples = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    _draw_leads(leads, result, arms)
    _draw_samples(samples, result, arms)
    leads.set_yticks(range(len(arms)), names, fontsize=9, **data)
    leads.set_ylim(len(arms) - 0.4, -0.6)
    hidden = len(result.arms) - len(arms)
    if hidden:
        samples.set_title(f"{hidden} more arms are not shown", fontsize=9)
    figure.suptitle(title, fontsize=11, **data)
    return figure


def _order(result: Identification) -> list[str]:
    """The leader, then the others from the best mean to the worst, then those without one."""
    sign = 1.0 if result.minimize else -1.0

    def key(arm: str) -> tuple[bool, float]:
        mean = result.means[arm]
        return arm != result.leader, math.inf if mean is None else sign * mean

    return sorted(result.arms, key=key)


def _draw_leads(axes: Any, result: Identification, arms: list[str]) -> None:
    axes.axvline(0.0, color="black", lw=0.8)
    for y, arm in enumerate(arms):
        if arm == result.leader:
            words = result.verdict
            axes.annotate(words, (0.0, y), (6, 0), textcoords="offset points", va="center", weight="bold")
            continue
        low, high = result.intervals.get(arm, (-math.inf, math.inf))
        lead = result.lead(arm)
        if lead is None or not (math.isfinite(low) and math.isfinite(high)):
            words = "no result" if result.means[arm] is None else "not bounded yet"
            axes.annotate(words, (0.0, y), (6, 0), textcoords="offset points", va="center", color="grey")
            continue
        certain = result.is_behind(arm)  # a full marker on a full line, so that it shows without colour too
        look = {"color": CERTAIN, "ls": "-"} if certain else {"color": OPEN, "ls": (0, (4, 1.5))}
        axes.plot([low, high], [y, y], lw=2.0, solid_capstyle="butt", **look)
        axes.plot(
            lead, y, "o", ms=6, color=look["color"], mfc=look["color"] if certain else "white", zorder=3
        )
    what = "difference of means, in the values' units"
    if result.compare == "wins":
        what = "how likely it is to win a round, less to lose it"
    sure = f"\n{_wrapped(result.ends, NAME_WIDTH * 2, NAME_LINES)}" if result.ends else ""
    axes.set_xlabel(f"the leader is better by ({what}){sure}")
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)


def _draw_samples(axes: Any, result: Identification, arms: list[str]) -> None:
    counts = [result.pulls[arm] for arm in arms]
    bars = axes.barh(range(len(arms)), counts, color=BARS, height=0.7)
    axes.bar_label(bars, padding=3, fontsize=8)
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
