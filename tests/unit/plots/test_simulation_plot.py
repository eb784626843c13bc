"""The pictures of simulations and traces: complete, true to the data, and without effects on Matplotlib."""

from __future__ import annotations

import base64
import builtins
import dataclasses
import re
from collections.abc import Callable
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

import truebest
from support.later import later
from truebest import InvalidInputError, Simulation, Trace
from truebest.plots.simulation import ABOVE, MOST_ROWS

MEANS = [0.9, 0.5, 0.3]
PNG = b"\x89PNG"


def simulated(strategies: Any = "tas-d", delta: Any = 0.1, runs: int = 40, **more: Any) -> Simulation:
    return truebest.simulate(strategies, MEANS, delta, runs=runs, **more)


def inside(figure: Any) -> bool:
    """Whether every text lies on the page."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    renderer, page = canvas.get_renderer(), figure.bbox
    texts = [figure._suptitle, *figure.legends[0].get_texts()]
    texts += [label for axes in figure.axes for label in axes.get_yticklabels()]
    texts += [axes.xaxis.label for axes in figure.axes] + [axes.yaxis.label for axes in figure.axes]
    boxes = [text.get_window_extent(renderer) for text in texts if text.get_visible() and text.get_text()]
    assert len(boxes) > 4
    return all(b.x0 >= -1 and b.y0 >= -1 and b.x1 <= page.x1 + 1 and b.y1 <= page.y1 + 1 for b in boxes)


@later(rows=("target",))
def one_target(t, memory):  # type: ignore[no-untyped-def]
    """Aims at one arm alone in every step."""
    arm = int(t) % 3
    memory[0, :] = 0.0
    memory[0, arm] = 1.0
    return arm


LIKE_OTHERS = ("twelve", "summary", "far", "at once")
SHOWN: dict[str, Callable[[], Simulation | Trace]] = {
    "one": simulated,
    "several": lambda: simulated(["tas-d", "ebs-d(gamma=0.01|0.2)", "uniform"], [0.1, 0.01, 0.001]),
    "twelve": lambda: simulated([f"ebs-d(gamma={0.01 * i:g})" for i in range(1, 13)], runs=10),
    "summary": lambda: simulated(keep="summary"),
    "bandits": lambda: truebest.simulate("tas-d", [MEANS, [0.5, 0.2]], [0.1, 0.2], runs=20),
    "censored": lambda: simulated(["tas-d", "uniform"], max_samples=30),
    "far": lambda: truebest.simulate("tas-d", [[3.0, 0.0, 0.0], MEANS], 0.01, runs=20),
    "two arms": lambda: truebest.trace("tas-d", [0.5, 0.1], 0.1),
    "fifty arms": lambda: truebest.trace("ebs-d", 0.9 - 0.01 * np.arange(50), 0.1, max_samples=3000),
    "at once": lambda: truebest.trace("uniform", [9.0, 0.0], 0.1),
    "ruled out": lambda: truebest.trace("ebs-open-need", MEANS, 0.1, stopping="tilt"),
    "one target": lambda: truebest.trace(one_target(), MEANS, 0.1, max_samples=60),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LIKE_OTHERS else name for name in SHOWN]
)
def test_a_picture_is_whole_and_leaves_matplotlib_alone(name: str) -> None:
    """Nothing is cut off or warned of; backend, settings and pyplot's figures stay; a notebook shows it."""
    shown, usual = SHOWN[name](), matplotlib.get_backend()
    matplotlib.use("svg")  # not the one that we would choose
    try:
        before = matplotlib.get_backend(), plt.get_fignums(), dict(matplotlib.rcParams)
        figure, page = shown.plot(), shown._repr_html_()
        assert (matplotlib.get_backend(), plt.get_fignums(), dict(matplotlib.rcParams)) == before
    finally:
        matplotlib.use(usual)
    assert inside(figure)
    assert figure._repr_png_().startswith(PNG)
    found = re.search(r'src="data:image/png;base64,([^"]+)"', page)
    assert found is not None
    assert base64.b64decode(found[1]).startswith(PNG)


def test_rows_are_the_cells() -> None:
    """In order, with strategies and risks by name; the lines are the exact intervals and the quantiles."""
    found = simulated(["tas-d", "uniform"], [0.1, 0.01], runs=60)
    samples, errors = found.plot().axes
    names = [label.get_text() for label in samples.get_yticklabels()]
    assert names == [f"{name}   δ = {delta}" for name in ("tas-d", "uniform") for delta in (0.1, 0.01)]
    deltas = [line for line in errors.lines if line.get_color() == "black"]
    assert [line.get_xdata()[0] for line in deltas] == [cell.delta for cell in found]
    spans = [line.get_xdata() for line in errors.lines if line.get_lw() == 2.0]
    for cell, (low, high) in zip(found, spans, strict=True):
        assert (max(cell.error_interval()[0], 1e-12), cell.error_interval()[1]) == (low, high)
    means = [line.get_xdata()[0] for line in samples.lines if line.get_marker() == "D"]
    assert means == [cell.mean_samples for cell in found]
    assert "60 runs, stopping rule practical" in found.plot()._suptitle.get_text()


def test_errors_above_delta_show() -> None:
    """Where even the lower end is above delta: in another colour and with another marker."""
    cell = simulated(runs=50).cells[0]
    wrong = dataclasses.replace(cell, recommended=np.ones(50, dtype=np.int64))
    errors = Simulation((wrong,)).plot().axes[1]
    marked = [(line.get_marker(), line.get_color()) for line in errors.lines if line.get_marker() in "so"]
    assert marked == [("s", ABOVE)]
    right = simulated(runs=50).plot().axes[1]
    assert not [line for line in right.lines if line.get_color() == ABOVE]


def test_what_is_missing_is_said() -> None:
    """Runs that were cut off, an interruption, a row without runs, and rows beyond the most."""
    cut = simulated("uniform", max_samples=20)
    assert [text.get_text() for text in cut.plot().axes[0].texts] == [
        f"{cut.cells[0].censored} cut off, {cut.cells[0].wrong_leaders} with a wrong leader"
    ]
    cell = simulated(runs=10).cells[0]
    empty = np.zeros(0, dtype=np.int64)
    none = dataclasses.replace(cell, samples=empty, recommended=empty, spans=((0, 0, 0),), complete=False)
    figure = Simulation((none, dataclasses.replace(cell, strategy="other"))).plot()
    assert [text.get_text() for text in figure.axes[0].texts] == [" no run is complete"]
    assert "0 to 10 runs" in figure._suptitle.get_text()
    assert "interrupted" in figure._suptitle.get_text()
    assert inside(Simulation((none,)).plot())
    many = Simulation(tuple(dataclasses.replace(cell, strategy=f"s{i}") for i in range(MOST_ROWS + 3)))
    assert "3 more rows are not shown" in many.plot()._suptitle.get_text()


def test_panels_are_those_that_have_data() -> None:
    """Targets and intervals only where the strategy has some; lines are the arrays of the trace."""
    full = truebest.trace("ebs-d", MEANS, 0.1)
    labels = [axes.get_ylabel() for axes in full.plot().axes]
    assert labels == ["evidence", "mean, interval", "target weight", "share of pulls"]
    plain = truebest.trace("uniform", MEANS, 0.1)
    figure = plain.plot()
    assert [axes.get_ylabel() for axes in figure.axes] == ["evidence", "mean", "share of pulls"]
    z, beta = figure.axes[0].lines
    np.testing.assert_array_equal(z.get_ydata(), plain.statistic)
    np.testing.assert_array_equal(beta.get_ydata(), plain.threshold)
    for a, line in enumerate(figure.axes[2].lines):
        np.testing.assert_array_equal(line.get_ydata(), plain.pulls[:, a] / plain.time)
    assert figure._suptitle.get_text() == plain.sentence


def test_of_many_arms_the_most_pulled_have_colours() -> None:
    """Seven, with the recommended one among them; the legend says how many others there are."""
    path = truebest.trace("uniform", 0.9 - 0.01 * np.arange(50), 0.1, max_samples=2000)
    labels = [text.get_text() for text in path.plot().legends[0].get_texts()]
    assert labels[0] == "43 others"
    assert len(labels) == 8
    decided = truebest.trace("tas-d", [2.0, *np.zeros(20)], 0.1)
    labels = [text.get_text() for text in decided.plot().legends[0].get_texts()]
    assert f"arm {decided.recommended}" in labels


def test_texts_are_short_or_whole() -> None:
    """repr is one line, str has the table, HTML has table and notes, with names as data."""
    found = simulated(["tas-d", "uniform"], [0.1, 0.01], runs=10, max_samples=50)
    assert repr(found) == "<Simulation of 2 strategies at delta 0.1, 0.01, 10 runs>"
    assert str(found).splitlines()[0].split()[0] == "strategy"
    assert "censored" in found._repr_html_()
    assert repr(Simulation(())).startswith("<Simulation of")
    bold = truebest.strategy(lambda leader: leader, name="<b>")
    path = truebest.trace(bold, MEANS, 0.1, max_samples=20)
    assert repr(path) == f"<Trace: {path.sentence}>"
    assert "cut off after 20 samples" in path.sentence or "recommends" in path.sentence
    assert str(path).splitlines()[1].split() == ["arm", "pulls", "share", "mean"]
    assert "<p>&lt;b&gt; at delta 0.1" in path._repr_html_()
    out = truebest.trace("ebs-open-need", MEANS, 0.1, stopping="tilt")
    assert any(row[3] == "ruled out" for row in out.table()[1])


def test_without_matplotlib_there_is_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture is refused in a sentence, and a notebook shows the table alone."""
    found, path = simulated(runs=5), truebest.trace("uniform", MEANS, 0.1)
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.setattr("truebest.simulation.pictures.find_spec", lambda name: None)
    for shown in (found, path):
        with pytest.raises(InvalidInputError, match=r"install truebest\[plots\]"):
            shown.plot()
        assert "<table>" in shown._repr_html_()
        assert "<img" not in shown._repr_html_()
