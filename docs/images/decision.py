"""Draw docs/images/decision.svg: what a terminal shows while the README's first example is being decided.

    python -m docs.images.decision

The picture depends on nothing but the package: each call is taken to last a quarter of a second. It is an
animation; where nothing moves, it shows the result.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

import truebest
from truebest.experiment.store import open_store
from truebest.running.frame import Frame

FILE = Path(__file__).with_suffix(".svg")
MOMENTS = (45, 120, 240, 330)  # numbers of calls after which the view is drawn; then the result
CALL, SHOWN, RESULT = 0.25, 1.6, 5.0  # seconds: a call, how long a moment is shown, and the result
WIDTH, CELL, LINE, SIZE, EDGE = 84, 8.4, 20, 14, 18  # cells; then pixels
COLOURS = {"green": "#4ac26b", "cyan": "#39c5cf", "yellow": "#d4a72c"}
PAPER, INK, PALE = "#0d1117", "#e6edf3", "#8b949e"


def prompt(skill: float) -> Callable[[int], bool]:
    """The README's: right or wrong on a test case."""
    return lambda test: random.Random(test).random() < skill


def moments() -> list[RenderableType]:
    """The live view at some moments of the run, and its result."""
    arms = {"short": prompt(0.6), "long": prompt(0.7), "step by step": prompt(0.75)}
    store, due, found = open_store("memory:"), list(MOMENTS), list[RenderableType]()

    def look(status: truebest.Account) -> None:
        if due and status.samples >= due[0] and not status.decided:
            forecast = truebest.Experiment.open(store, "prompts").forecast()
            found.append(Frame(status, forecast, CALL * due.pop(0)))

    result = truebest.identify(
        arms, items=range(500), bounds=(0, 1), rng=1, store=store, name="prompts", callbacks=[look]
    )
    sentence, table = str(result).split("\n", 1)
    return [*found, Text(sentence, "bold").append(f"\n{table}", "not bold")]


def drawn(lines: list[list[Segment]]) -> str:
    """The text of one moment; each word is stretched to its cells, so that columns meet in any font."""
    words = []
    for row, line in enumerate(lines):
        column = 0
        for piece in line:
            for found in re.finditer(r"\S+( \S+)*", piece.text):
                place = (EDGE + CELL * (column + found.start()), EDGE + LINE * (row + 2))
                words.append(_word(piece.style or Style(), found.group(), *place))
            column += piece.cell_length
    return "\n".join(words)


def _word(style: Style, text: str, x: float, y: int) -> str:
    fill = COLOURS.get(style.color.name, INK) if style.color else PALE if style.dim else INK
    bold = ' font-weight="bold"' if style.bold else ""
    place = f'x="{x:.1f}" y="{y}" textLength="{CELL * len(text):.1f}" lengthAdjust="spacingAndGlyphs"'
    return f'<text {place} fill="{fill}"{bold}>{escape(text)}</text>'


def picture() -> str:
    """The animation as SVG."""
    console = Console(width=WIDTH, height=40, color_system="standard", force_terminal=True, highlight=False)
    shown = [console.render_lines(one, pad=False) for one in moments()]
    height = 2 * EDGE + LINE * (1 + max(map(len, shown)))
    whole = SHOWN * (len(shown) - 1) + RESULT
    groups, rules = [], []
    for number, lines in enumerate(shown):
        last = number == len(shown) - 1
        start, end = (100 * SHOWN * number / whole, 100 if last else 100 * SHOWN * (number + 1) / whole)
        states = [(0, int(number == 0)), (start, 1), (end, int(last))]
        frames = " ".join(f"{at:.2f}% {{ opacity: {seen} }}" for at, seen in states[number == 0 :])
        rules.append(f"@keyframes m{number} {{ {frames} }}")
        moving = f"animation: m{number} {whole:g}s step-end infinite"
        rules.append(f"#m{number} {{ opacity: {int(last)}; {moving} }}")
        groups.append(f'<g id="m{number}">\n{drawn(lines)}\n</g>')
    width = 2 * EDGE + round(CELL * WIDTH)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" '
            f'font-size="{SIZE}">',
            "<title>A decision comes in: the live view of truebest on a terminal, then its result</title>",
            "<style>",
            *rules,
            "@media (prefers-reduced-motion: reduce) { g { animation: none !important } }",
            "</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>',
            f'<text x="{EDGE}" y="{EDGE + 12}" fill="{PALE}">$ python choose.py</text>',
            *groups,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    FILE.write_text(picture(), encoding="utf-8")
