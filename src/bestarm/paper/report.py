"""One self-contained page: the table, the figures, the stability, the claims and the settings."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from .. import __version__
from .claims import Claim
from .published import STRATEGIES, TABLE_1
from .stability import Stability
from .table1 import JointTest, TableCell

CAPTIONS = {
    "figure1": "Figure 1. The bandits that Algorithm 1 tries; intervals in red. The box is ours.",
    "figure2": "Figure 2. Sampling frequencies of one run on the same rewards; w(μ) dotted.",
    "figure3": "Figure 3. Target weights over the first 1200 rounds: EBS separates late and stays put, "
    "Track-and-Stop jumps with the estimates and spikes at every forced step.",
    "figure4": "Figure 4. The transformations in the proof of Proposition 1: w_min never falls. Box ours.",
    "figure5": "Figure 5. Mean number of draws against δ, all deltas from one trajectory; the grid is ours.",
}

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .9rem; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: right; vertical-align: top; }
th:first-child, td:first-child, td.text { text-align: left; }
td:first-child, td small { white-space: nowrap; }
small { color: #666; }
figure { margin: 2rem 0; } figure svg { max-width: 100%; height: auto; }
"""


def page(
    cells: list[TableCell],
    joint: JointTest,
    figures: dict[str, str],
    stability: list[Stability],
    claims: list[Claim],
    settings: Mapping[str, object],
) -> str:
    """The report as HTML; `figures` maps names to SVG text, which is put into the page."""
    parts = [
        "<h1>The paper, reproduced</h1>",
        "<p><i>A Non-asymptotic Approach to Best-Arm Identification for Gaussian Bandits</i> (Barrier, "
        f"Garivier, Kocák), by bestarm {escape(__version__)}.</p>",
        "<h2>Table 1: expected number of draws</h2>",
        _table_1(cells),
        f"<p>All {joint.cells} distinct cells together: {joint}.</p>",
        "<h2>Figures</h2>",
        *(_figure(name, svg) for name, svg in figures.items()),
        "<h2>Stability of the target weights, first 1200 rounds</h2>",
        _stability(stability),
        "<p>Total variation is half the sum of all changes of the target weights: 1 moves the whole weight "
        "once. A forced step of Track-and-Stop targets one arm alone, and counts.</p>",
        "<h2>Claims</h2>",
        _claims(claims),
        "<h2>Settings</h2>",
        _rows([["setting", "value"], *([key, str(value)] for key, value in settings.items())]),
    ]
    head = f"<meta charset='utf-8'><title>The paper, reproduced</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(parts)}</body></html>\n"


def _figure(name: str, svg: str) -> str:
    """The picture itself, without the XML prologue of its file, and its caption."""
    picture = svg[svg.index("<svg") :]
    return f"<figure>{picture}<figcaption>{escape(CAPTIONS[name])}</figcaption></figure>"


def _rows(rows: list[list[str]]) -> str:
    head, *body = rows
    lines = ["<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in body]
    return "<table>" + "".join(lines) + "</table>"


def _table_1(cells: list[TableCell]) -> str:
    lines = ["<tr><th>bandit</th><th>δ</th><th>γ</th><th>T kl</th>"]
    lines += [f"<th>{escape(name)}</th>" for name in STRATEGIES]
    lines.append("</tr>")
    for i, row in enumerate(TABLE_1):
        lines.append(
            f"<tr><td>{row.bandit}</td><td>{row.delta:g}</td><td>{row.gamma:g}</td><td>{row.lower_bound}</td>"
        )
        for c in (cell for cell in cells if cell.row == i):
            ours = f"{c.mean_samples:.0f} ± {c.standard_error:.0f}"
            notes = (f"published {c.published}", f"z {c.z:+.2f}", f"error rate {c.error_rate:.4f}")
            lines.append(f"<td>{ours}<br><small>{'<br>'.join(notes)}</small></td>")
        lines.append("</tr>")
    return "<table>" + "".join(lines) + "</table>"


def _stability(found: list[Stability]) -> str:
    rows = [["strategy", "total variation", "changes of the most-targeted arm", "uniform rounds", "runs"]]
    for s in found:
        rows.append(
            [
                s.strategy,
                f"{s.total_variation:.1f} ± {s.total_variation_error:.1f}",
                f"{s.leader_changes:.1f} ± {s.leader_changes_error:.1f}",
                f"{s.uniform_rounds:.0f} ± {s.uniform_rounds_error:.0f}",
                str(s.runs),
            ]
        )
    return _rows(rows)


def _claims(claims: list[Claim]) -> str:
    names = ("statement", "says", "verdict", "instances", "broken", "note")
    lines = ["<tr>" + "".join(f"<th>{name}</th>" for name in names) + "</tr>"]
    for claim in claims:
        lines.append(
            f"<tr><td>{escape(claim.number)}</td><td class='text'>{escape(claim.statement)}</td>"
            f"<td class='text'>{escape(claim.verdict)}</td><td>{claim.instances}</td><td>{claim.broken}</td>"
            f"<td class='text'>{escape(claim.note)}</td></tr>"
        )
    return "<table>" + "".join(lines) + "</table>"
