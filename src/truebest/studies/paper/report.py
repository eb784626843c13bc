"""One self-contained page: table, figures, stability, error rates, claims and settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from html import escape

from ... import __version__
from ..._html import Cell, table, whole_page
from ..certified import DELTAS, VERDICTS, Certified, kept_certified, verdict_counts
from .claims import Claim
from .published import STRATEGIES, TABLE_1
from .stability import Stability
from .table1 import ENOUGH, JointTest, TableCell, bandits, joint_test, precise_table

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .9rem; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: right; vertical-align: top; }
th:first-child, td:first-child, .text { text-align: left; }
td:first-child, td small { white-space: nowrap; }
small, .faint { color: #666; }
.fails { color: #b00020; font-weight: 600; }
.scroll { overflow-x: auto; }
figure { margin: 2rem 0; } figure svg { max-width: 100%; height: auto; }
"""


def page(
    cells: list[TableCell],
    joint: JointTest,
    figures: Mapping[str, str],
    stability: list[Stability],
    claims: list[Claim],
    settings: Mapping[str, object],
) -> str:
    """The report as HTML; `figures` maps captions to SVG text, which is put into the page."""
    precise = precise_table()
    parts = [
        "<h1>The paper, reproduced</h1>",
        "<p><i>A Non-asymptotic Approach to Best-Arm Identification for Gaussian Bandits</i> (Barrier, "
        f"Garivier, Kocák), by truebest {escape(__version__)}.</p>",
        "<h2>Table 1: expected number of draws</h2>",
        "<p>Ours ± its standard error; z is the difference to the published number in standard errors of the "
        "difference, the published one being a mean of 1000 runs.</p>",
        f"<p>{'<br>'.join(map(escape, bandits()))}</p>",
        _table_1(cells),
        f"<p>All {joint.cells} distinct cells together: {joint}.{_caution(cells)}</p>",
        "<h3>The same from 100,000 runs per cell</h3>",
        _precise(precise),
        f"<p>Ours above the published number, as data in the package. All {joint.cells} distinct cells "
        f"together: {joint_test(precise)}.</p>",
        "<h2>Figures</h2>",
        *(_figure(caption, svg) for caption, svg in figures.items()),
        "<h2>Stability of the target weights, first 1200 rounds</h2>",
        _stability(stability),
        "<p>Total variation is half the sum of all changes of the target weights: 1 moves the whole weight "
        "once. A forced step of Track-and-Stop targets one arm alone, and counts.</p>",
        "<h2>Certified error rates</h2>",
        "<p>How often the answer is wrong under each stopping rule, from simulations that are kept as data "
        "in the package. An entry has the error rate, its exact 95% interval, what that says of delta, and "
        "the mean number of samples. Not told apart: there were too few runs to say.</p>",
        certified_rates(kept_certified()),
        "<h2>Claims</h2>",
        f"<p>Every numbered statement of the paper ({_verdicts(claims)}). A check counts the random "
        "instances that break the statement, in its corrected form where it fails as printed.</p>",
        _claims(claims),
        "<h2>Settings</h2>",
        table(["setting", "value"], [[key, str(value)] for key, value in settings.items()]),
    ]
    return whole_page("The paper, reproduced", parts, STYLE)


def _figure(caption: str, svg: str) -> str:
    """The picture itself, without the XML prologue of its file, and its caption."""
    picture = svg[svg.index("<svg") :]
    return f"<figure>{picture}<figcaption>{escape(caption)}</figcaption></figure>"


def _by_row(cells: list[TableCell], show: Callable[[TableCell], str]) -> str:
    """Six rows and six strategies, each cell as `show` writes it."""
    rows: list[list[str | Cell]] = [
        [
            *(row.bandit, f"{row.delta:g}", f"{row.gamma:g}", str(row.lower_bound)),
            *(Cell(show(cell)) for cell in cells if cell.row == i),
        ]
        for i, row in enumerate(TABLE_1)
    ]
    return f"<div class='scroll'>{table(['bandit', 'δ', 'γ', 'T kl(δ, 1-δ)', *STRATEGIES], rows)}</div>"


def _table_1(cells: list[TableCell]) -> str:
    def show(c: TableCell) -> str:
        notes = (f"published {c.published}", f"z {c.z:+.2f}", f"error rate {c.error_rate:.4f}")
        return f"{c.mean_samples:.0f} ± {c.standard_error:.0f}<br><small>{'<br>'.join(notes)}</small>"

    return _by_row(cells, show)


def _precise(cells: list[TableCell]) -> str:
    def show(c: TableCell) -> str:
        return f"{c.mean_samples:.0f} ± {c.standard_error:.1f}<br><small>{c.published}</small>"

    return _by_row(cells, show)


def _caution(cells: list[TableCell]) -> str:
    few = min(cell.runs for cell in cells) < ENOUGH
    return f" With fewer than {ENOUGH} runs z is far from normal, and this means little." if few else ""


def _stability(found: list[Stability]) -> str:
    header = ["strategy", "total variation", "changes of the most-targeted arm", "uniform rounds", "runs"]
    rows = [
        [
            s.strategy,
            f"{s.total_variation:.2f} ± {s.total_variation_error:.2f}",
            f"{s.leader_changes:.1f} ± {s.leader_changes_error:.1f}",
            f"{s.uniform_rounds:.0f} ± {s.uniform_rounds_error:.0f}",
            str(s.runs),
        ]
        for s in found
    ]
    return table(header, rows)


def certified_rates(rows: list[Certified]) -> str:
    """How many groups have which verdict, by rule, and each of them to be unfolded."""
    counts, risks = verdict_counts(rows), [f"δ = {delta:g}" for delta in DELTAS]
    summary = table(
        ["rule", *(f"{risk}: {' / '.join(VERDICTS)}" for risk in risks)],
        [[rule, *(" / ".join(map(str, one)) for one in each)] for rule, each in counts.items()],
    )
    parts = []
    for rule in counts:
        found = [row for row in rows if row.parts[1] == rule]
        lines = [
            [row.parts[2], row.parts[0], f"{row.runs:,}", *map(row.text, range(len(DELTAS))), row.device]
            for row in found
        ]
        inside = table(["bandit", "strategy", "runs", *risks, "device"], lines)
        parts.append(
            f"<details><summary>{escape(rule)}</summary><div class='scroll'>{inside}</div></details>"
        )
    return summary + "".join(parts)


def _verdicts(claims: list[Claim]) -> str:
    """How many statements have which verdict."""
    counts = Counter(claim.verdict for claim in claims)
    return "; ".join(f"{escape(verdict)}: {count}" for verdict, count in counts.most_common())


def _claims(claims: list[Claim]) -> str:
    def text(words: str, mark: str = "") -> Cell:
        return Cell(escape(words), f"class='text{mark}'")

    marks = {"fails": " fails", "not exercised": " faint"}
    rows: list[list[str | Cell]] = [
        [
            claim.number,
            text(claim.statement),
            text(claim.verdict, marks.get(claim.verdict, "")),
            *((str(claim.instances), str(claim.broken)) if claim.instances else ("", "")),
            text(claim.note),
        ]
        for claim in claims
    ]
    return table(["statement", text("says"), text("verdict"), "instances", "broken", text("note")], rows)
