"""The picture of an identification: complete, nothing cut off, names are data."""

from __future__ import annotations

import builtins
import pickle
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from support.told import intervals, made
from truebest import Account, Best, Undecided
from truebest.errors import InvalidInputError
from truebest.plots import save
from truebest.plots.identification import draw
from truebest.telling.standings import Caveat

STRANGE = (
    "短いプロンプト",
    "$x_1$ and $ and \\frac",
    "a_very-long-name-" * 20 + "one",
    "a_very-long-name-" * 20 + "two",
    "αβγ naïve <b>&",
    "👩‍👩‍👧",
)


def found(arms: tuple[str, ...], decided: bool = True, **changes: Any) -> Account:
    """As `identify` finds it: the arms get worse by 0.1 each, the first is the best."""
    gaps = {arm: 0.1 * i for i, arm in enumerate(arms)}
    sign = -1.0 if changes.get("minimize") else 1.0
    width = 0.05 if decided else 0.5
    fields: dict[str, Any] = {
        "answer": Best(arms[0]) if decided else Undecided(arms[0]),
        "pulls": {arm: 1000 - i for i, arm in enumerate(arms)},
        "means": {arm: 0.9 - sign * gap for arm, gap in gaps.items()},
        "ends": {arm: (gap - width, gap + width) for arm, gap in gaps.items() if gap},
        "caveats": (Caveat("failed", "informs", "and more " * 30),),
    }
    return made(arms, **{**fields, **changes})


def inside(figure: Any) -> bool:
    """Whether every text lies on the page."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    renderer, page = canvas.get_renderer(), figure.bbox
    texts = [figure._suptitle, *(label for axes in figure.axes for label in axes.get_yticklabels())]
    texts += [axes.xaxis.label for axes in figure.axes]
    texts += [text for axes in figure.axes for text in axes.texts]
    boxes = [text.get_window_extent(renderer) for text in texts if text.get_visible() and text.get_text()]
    assert len(boxes) > 4
    return all(
        box.x0 >= -1 and box.y0 >= -1 and box.x1 <= page.x1 + 1 and box.y1 <= page.y1 + 1 for box in boxes
    )


@pytest.mark.parametrize("count", [2, 5, 50])
@pytest.mark.parametrize("decided", [True, False])
def test_it_shows_every_arm(count: int, decided: bool) -> None:
    """Both panels have a row per arm, the leader on top, axes have labels, and nothing is cut off."""
    arms = tuple(f"configuration {i}" for i in range(count))
    figure = draw(found(arms, decided))
    leads, samples = figure.axes
    assert [label.get_text() for label in leads.get_yticklabels()] == list(arms)
    assert [bar.get_width() for bar in samples.patches] == [1000 - i for i in range(count)]
    assert "better by" in leads.get_xlabel()
    assert samples.get_xlabel() == "samples"
    said = "configuration 0 is best" if decided else "configuration 0 leads"
    assert said in figure._suptitle.get_text().replace("\n", " ")
    assert [text.get_text() for text in leads.texts] == ["is best" if decided else "leads"]
    assert leads.get_ylim()[0] > leads.get_ylim()[1]
    assert inside(figure)


def test_the_intervals_are_the_rules_own() -> None:
    """Lines run from end to end, dots stand at the differences, and 0 is marked and on the axis."""
    result = found(("a", "b", "c"))
    leads = draw(result).axes[0]
    zero, *rest = leads.lines
    assert list(zero.get_xdata()) == [0.0, 0.0]
    for arm, line, dot in zip("bc", rest[::2], rest[1::2], strict=True):
        assert tuple(line.get_xdata()) == intervals(result)[arm]
        assert dot.get_xdata()[0] == pytest.approx(sum(intervals(result)[arm]) / 2)
    low, high = leads.get_xlim()
    assert low < 0.0 < 0.25 < high


def test_the_smallest_mean_may_be_best() -> None:
    """With minimize the order and the differences are turned."""
    leads = draw(found(("a", "b", "c"), minimize=True)).axes[0]
    assert [label.get_text() for label in leads.get_yticklabels()] == ["a", "b", "c"]
    assert leads.lines[2].get_xdata()[0] == pytest.approx(0.1)


@pytest.mark.parametrize("decided", [True, False])
def test_names_are_data(decided: bool, tmp_path: Path) -> None:
    """Long, wide and formula-like names are shown as they are, without a warning, and none is cut off."""
    figure = draw(found(STRANGE, decided))
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert len(set(names)) == len(STRANGE)
    assert names[1] == STRANGE[1]
    assert all(label.get_parse_math() is False for label in figure.axes[0].get_yticklabels())
    assert names[2].replace("\n", "").endswith("one")
    assert inside(figure)
    files = save(figure, tmp_path / "x")
    assert ElementTree.parse(files[0]).getroot().tag.endswith("svg")
    assert files[1].read_bytes().startswith(b"\x89PNG")


def test_before_every_arm_has_a_result() -> None:
    """Arms without a result say so; without any result there is no leader."""
    arms = ("a", "b", "c")
    some = found(
        arms,
        False,
        means={"a": 0.5, "b": 0.5, "c": None},
        ends={"b": (-3.0, 3.0)},
    )
    assert [text.get_text() for text in draw(some).axes[0].texts] == ["leads", "no result"]
    none = found(
        arms,
        False,
        answer=Undecided(),
        means=dict.fromkeys(arms),
        pulls=dict.fromkeys(arms, 0),
        ends={},
    )
    figure = draw(none)
    assert [text.get_text() for text in figure.axes[0].texts] == ["no result"] * 3
    assert inside(figure)


def test_of_very_many_arms_the_best_are_shown() -> None:
    """Beyond 100 arms the picture says how many it leaves out."""
    figure = draw(found(tuple(f"arm {i}" for i in range(130))))
    assert len(figure.axes[1].patches) == 100
    assert "30 more arms" in figure.axes[1].get_title()


def test_the_figure_is_a_value() -> None:
    """It belongs to no window, changes no setting, shows in a notebook, and can be pickled."""
    import matplotlib
    import matplotlib.pyplot as plt

    before = matplotlib.get_backend(), plt.get_fignums(), dict(matplotlib.rcParams)
    figure = draw(found(("a", "b")))
    assert (matplotlib.get_backend(), plt.get_fignums(), dict(matplotlib.rcParams)) == before
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert len(pickle.loads(pickle.dumps(figure)).axes) == 2


def test_the_users_backend_stays(tmp_path: Path) -> None:
    """Drawing and saving, the paper's figures too, leave backend, settings and pyplot's figures alone."""
    import matplotlib
    import matplotlib.pyplot as plt

    from truebest.studies.paper.figures import candidates
    from truebest.studies.paper.pictures import figure_1

    usual = matplotlib.get_backend()
    matplotlib.use("svg")  # not the one that we would choose
    try:
        before = matplotlib.get_backend(), plt.get_fignums(), dict(matplotlib.rcParams)
        save(draw(found(("a", "b"))), tmp_path / "one")
        save(figure_1(candidates()), tmp_path / "two")
        assert (matplotlib.get_backend(), plt.get_fignums(), dict(matplotlib.rcParams)) == before
        assert before[0] == "svg"
    finally:
        matplotlib.use(usual)


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, not an ImportError."""
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InvalidInputError, match=r"install truebest\[plots\]"):
        draw(found(("a", "b")))
