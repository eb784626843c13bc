"""The live view: what a frame says at any width, where it is shown, and that it leaves no trace."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
import types
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from support.told import made
from truebest import Account, Best, Suspended, Undecided
from truebest.errors import InvalidInputError, StoreError
from truebest.experiment.forecast import Forecast
from truebest.running import frame as frame_module
from truebest.running import page as page_module
from truebest.running import terminal as terminal_module
from truebest.running import view as view_module
from truebest.running.frame import Frame
from truebest.running.view import View
from truebest.telling.standings import Caveat, Hold

HIDE, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
STRANGE = (
    "短いプロンプト",
    "[bold red]x[/]",
    "[/]",
    "naïve " * 100,
    "👩‍👩‍👧 family ❤️",
    "turned\u202egnp",
    "c",
)


def status(arms: tuple[str, ...] = ("short", "long", "cot"), **changes: Any) -> Account:
    """Undecided; the last arm leads, the first is certainly worse, the others may not be."""
    others = arms[:-1]
    fields: dict[str, Any] = {
        "means": {**dict.fromkeys(others, 0.5), arms[-1]: 0.75},
        "ends": {arm: (-0.25 if i else 0.1, 0.75) for i, arm in enumerate(others)},
        "statistic": 3.125,
        "threshold": 5.25,
    }
    return made(arms, **{**fields, **changes})


def before_the_first() -> Account:
    arms = ("short", "long", "cot")
    none: dict[str, Any] = {"pulls": dict.fromkeys(arms, 0), "means": dict.fromkeys(arms), "ends": {}}
    return status(arms, answer=Undecided(), **none, statistic=None, threshold=None)


def more(samples: int | None = 317, reason: str = "") -> Forecast:
    return Forecast(samples, {}, reason, 240, 440)


def rendered(picture: Any, width: int, height: int = 40, encoding: str = "utf-8") -> list[str]:
    """The lines on a terminal of that size, without colours."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace")
    console = Console(file=file, width=width, height=height, force_terminal=True, color_system=None)
    console.print(picture, end="")
    file.seek(0)
    return file.read().splitlines()


def words(lines: list[str]) -> str:
    """All in one line."""
    return " ".join(" ".join(lines).split())


class Fake:
    """What a view needs of an experiment; counts how often it is asked."""

    def __init__(self, now: Account | None = None) -> None:
        self.now, self.asked = now or status(), 0

    def status(self) -> Account:
        self.asked += 1
        return self.now

    def forecast(self) -> Forecast:
        return more()


def view(experiment: Fake, progress: bool | None = None, max_samples: int | None = None) -> View:
    return View(experiment, progress, max_samples)


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """stderr as a terminal of 80 columns; not a fixture, since pytest sets stderr anew after those."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    stream = Screen()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


# -- a frame -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [40, 60, 80, 120, 300])
def test_a_frame_says_where_the_run_stands(width: int) -> None:
    """Sentence, arms, samples, means, evidence, forecast, time and budget, at any usual width."""
    now = status(
        pending={"short": 0, "long": 2, "cot": 1},
        waiting=4,
        caveats=(Caveat("failed", "informs", "1 pull failed"),),
    )
    lines = rendered(Frame(now, more(), 83.0, 5000), width)
    text = words(lines)
    for part in ("undecided after 300 samples; cot leads", "0.75", "evidence: 59 per cent", "at most 5000"):
        assert part in text
    for part in (
        "240 to 440 more samples",
        "1:06 to 2:01 at",
        "1:23 elapsed",
        "3 pending",
        "4 more waiting",
        "note: 1 pull failed",
    ):
        assert part in text
    for arm in now.settings.arms:
        assert sum(line.startswith(arm + " ") for line in lines) == 1
    assert "━" in text
    assert ("-0.25 to 0.75" in text) == (width >= 80)


@pytest.mark.parametrize("width", [1, 7, 20, 40, 61, 80, 120])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("arms", [STRANGE, tuple(f"a{i}" for i in range(57))])
def test_no_line_is_wider_than_the_terminal(width: int, encoding: str, arms: tuple[str, ...]) -> None:
    """A line that wraps would break the redrawing; wide letters and narrow terminals make none."""
    now = status(arms, caveats=(Caveat("failed", "informs", "x " * 900),), pending=dict.fromkeys(arms, 12345))
    for line in rendered(Frame(now, more(None, "no forecast"), 1e6), width, encoding=encoding):
        assert cell_len(line) <= max(width, 2)
        assert line.isascii() or encoding == "utf-8"


@pytest.mark.parametrize("width", [80, 120])
def test_columns_are_aligned_under_wide_names(width: int) -> None:
    """What stands behind the names begins in the same cell in every line."""
    lines = rendered(Frame(status(STRANGE), more(), 1.0), width)
    rows = [line for line in lines if " 100 " in line]
    assert len(rows) == len(STRANGE)
    assert len({cell_len(line[: line.index(" 100 ")]) for line in rows}) == 1


def test_markup_in_names_is_data() -> None:
    """Names that look like rich markup, and what would turn the writing around, are shown as text."""
    text = "\n".join(rendered(Frame(status(STRANGE), more(), 1.0), 120))
    assert "[bold red]x[/]" in text
    assert "\n[/] " in text
    assert "\u202e" not in text
    assert "\x1b" not in text


def test_long_names_stay_different() -> None:
    """A name that is too long loses its middle, not the end by which it differs."""
    arms = tuple("configuration-" * 9 + end for end in ("one", "two", "three"))
    text = "\n".join(rendered(Frame(status(arms), more(), 1.0), 60))
    assert all(end + " " in text for end in ("one", "two", "three"))


def test_the_bar_of_a_certain_arm_has_left_zero() -> None:
    """The zero mark stands alone exactly when the interval is above 0, however close to it."""
    lines = rendered(Frame(status(ends={"short": (1e-9, 0.75), "long": (-1e-9, 0.75)}), more(), 1.0), 80)
    short, long, cot = lines[2:5]
    assert "│━" in short
    assert "┿" not in short
    assert "┿" in long
    assert "│" not in long
    assert "leads" in cot
    assert "│" not in cot


def test_a_wide_interval_does_not_hide_the_narrow_ones() -> None:
    """Beyond six times the narrowest interval a bar is cut off, with a mark."""
    now = status(ends={"short": (0.01, 1000.0), "long": (-0.02, 0.2)})
    short, long = rendered(Frame(now, more(), 1.0), 100)[2:4]
    assert "━>" in short
    assert long.count("━") >= 4


def test_before_the_first_result() -> None:
    """There is no leader, no interval and no evidence, and the view says so."""
    for width in (40, 80):
        text = words(rendered(Frame(before_the_first(), more(None, "no forecast yet"), 0.0), width))
        assert "no result yet" in text
        assert "evidence: none yet" in text
        assert "no forecast yet" in text
        assert "leads " not in text.replace("leads by", "")


def test_observed_deviations_have_a_column_where_there_is_room() -> None:
    """On a wide terminal and on the page, to three digits; a narrow one has none."""
    deviations = {"short": 0.123456, "long": 2.0, "cot": None}
    frame = Frame(status(sd=deviations), more(), 9.0)
    lines = rendered(frame, 110)
    assert " mean     sd " in lines[1]
    assert ["0.123" in line for line in lines[2:5]] == [True, False, False]
    assert "sd" not in " ".join(rendered(frame, 40))
    assert "<th>sd</th>" in frame.html().replace(' style="text-align:right"', "")
    assert "0.123" in frame.html()


def test_decided_and_suspended() -> None:
    """A decision is called one, a suspension says why; neither has a forecast."""
    text = words(rendered(Frame(status(answer=Best("cot"), statistic=6.0), more(0), 9.0), 80))
    assert "cot is best; wrong with probability at most 5%" in text
    assert "is best" in text
    assert "more" not in text
    text = words(rendered(Frame(status(answer=Suspended("cot", None, "pull 7 gave 3")), more(), 9.0), 80))
    assert "suspended: pull 7 gave 3" in text
    assert "more" not in text


def test_a_forecast_beyond_the_budget_says_so() -> None:
    """300 samples and at least 240 more are beyond 500, and within 5000."""
    assert "beyond the budget" in Frame(status(), more(), 1.0, 500).text()
    assert "beyond the budget" not in Frame(status(), more(), 1.0, 5000).text()


def test_the_pace_is_that_of_this_run() -> None:
    """Samples that were there before do not count: 100 in 10 s make 240 to 440 in 24 to 44 s."""
    assert "0:24 to 0:44 at this pace" in Frame(status(), more(), 10.0, None, 200).text()
    assert "pace" not in Frame(status(), more(), 10.0, None, 300).text()


def test_many_arms_are_cut_to_those_that_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 1000 arms the leader and those with most samples are shown, in their order; others are not drawn."""
    arms = tuple(f"arm {i}" for i in range(1000))
    ends = dict.fromkeys(arms[:-1], (0.1, 0.9))
    pulls = dict.fromkeys(arms, 100) | dict.fromkeys(("arm 7", "arm 500", "arm 901"), 200)
    now = status(arms, ends=ends, pulls=pulls)
    drawn: list[str] = []

    def counted(name: str, real: Any) -> Any:
        def draw(*given: Any) -> Any:
            drawn.append(name)
            return real(*given)

        return draw

    for module, name in ((terminal_module, "_interval_bar"), (page_module, "_interval")):
        monkeypatch.setattr(module, name, counted(name, getattr(module, name)))
    lines = rendered(Frame(now, more(), 1.0), 80)
    html = Frame(now, more(), 1.0).html()
    assert (drawn.count("_interval_bar"), drawn.count("_interval")) == (19, 20)
    shown = [line.split("  ")[0] for line in lines if line.startswith("arm ")][1:]
    assert len(shown) == 20
    assert [arm for arm in shown if arm in {"arm 7", "arm 500", "arm 901", "arm 999"}] == [
        "arm 7",
        "arm 500",
        "arm 901",
        "arm 999",
    ]
    assert any(line.startswith("... and 980 more, with 98000 samples") for line in lines)
    assert "... and 980 more" in html


@pytest.mark.parametrize("height", [12, 16, 24])
def test_a_frame_fits_the_height(height: int) -> None:
    """On a low terminal fewer arms are shown."""
    arms = tuple(f"arm {i}" for i in range(57))
    lines = rendered(Frame(status(arms), more(), 1.0), 80, height)
    assert len(lines) <= height
    assert any("arm 56" in line for line in lines)


def test_means_far_from_zero_are_told_apart() -> None:
    """At 1e9 the means have the digits that the intervals call for."""
    now = status(means={"short": 1e9 + 0.25, "long": 1e9 + 0.5, "cot": 1e9 + 0.75})
    assert "1000000000.250" in Frame(now, more(), 1.0).text()


def test_an_end_above_zero_never_reads_as_zero() -> None:
    """Of an interval that decides, the lower end is shown with the digit that decides."""
    now = status(ends={"short": (0.003, 0.75), "long": (-0.0004, 0.75)})
    text = Frame(now, more(), 1.0).text()
    assert " 0.003 to 0.75" in text
    assert " -0.0004 to 0.75" in text


def test_the_smallest_mean_may_be_best() -> None:
    """With minimize the estimate lies within its interval, too."""
    now = status(minimize=True, means={"short": 0.9, "long": 0.8, "cot": 0.5})
    assert Frame(now, more(), 1.0).text().count("●") == 2


# -- HTML ----------------------------------------------------------------------------------------------


def test_html_is_well_formed_and_escaped() -> None:
    """Names are data there, too: the page parses, and its only elements are the view's own."""
    arms = ("<script>alert(1)</script>", "a&b\"'", *STRANGE)
    now = status(arms, caveats=(Caveat("failed", "informs", "<img src=x>"),), pending=dict.fromkeys(arms, 1))
    page = Frame(now, more(), 3.0, 500).html()
    assert "<script" not in page
    root = ElementTree.fromstring(page)
    own = {"div", "b", "bdi", "table", "thead", "tbody", "tr", "th", "td", "span", "svg", "line", "circle"}
    assert {element.tag for element in root.iter()} <= own
    text = "".join(root.itertext())
    for part in (
        *arms,
        "undecided after 900 samples",
        "evidence: 59 per cent of the way",
        "of at most 500",
        "<img src=x>",
    ):
        assert part in text


@pytest.mark.parametrize(
    "now", [before_the_first(), status(answer=Best("cot")), status(answer=Suspended("cot", None, "x < y"))]
)
def test_html_of_every_state(now: Account) -> None:
    """Before the first result, decided, suspended: a page with the sentence."""
    root = ElementTree.fromstring(Frame(now, more(None, "no forecast"), 0.0).html())
    assert str(now) in "".join(root.itertext())


# -- where and when ------------------------------------------------------------------------------------


def test_silence_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    """Without a terminal nothing is written and the experiment is not even asked."""
    experiment = Fake()
    with view(experiment) as shown:
        for _ in range(100):
            shown.update()
    assert not shown.shown
    assert experiment.asked == 0
    assert capfd.readouterr() == ("", "")


def test_false_is_silence_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """progress=False writes nothing."""
    screen = terminal(monkeypatch)
    with view(Fake(), False) as shown:
        shown.update()
    assert screen.getvalue() == ""


def test_lines_where_it_is_forced_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """progress=True writes plain lines to a file: one at the start, one at the end, no escape codes."""
    with view(Fake(status(STRANGE)), True) as shown:
        for _ in range(100):
            shown.update()
    out, err = capsys.readouterr()
    assert out == ""
    assert 1 <= err.count("\n") <= 2
    assert "undecided after 700 samples; c leads" in err
    assert "\x1b" not in err


def test_the_view_goes_when_all_is_well(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is drawn, and erased at the end; the cursor is back; nothing went to stdout."""
    screen = terminal(monkeypatch)
    with view(Fake(), max_samples=900) as shown:
        assert shown.shown
        assert "undecided after 300 samples" in screen.getvalue()
        shown.update()
    text = screen.getvalue()
    assert text.index(HIDE) < text.index(SHOW_CURSOR)
    assert text.count(HIDE) == text.count(SHOW_CURSOR)
    after = text[text.rindex(SHOW_CURSOR) :]
    assert after.count("\x1b[2K") >= 7  # a line erased for every line of the frame
    assert "samples" not in after
    assert sys.stderr is screen
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_the_view_stays_when_the_run_is_broken_off(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """After an exception the cursor is back, the last frame is left, and the exception goes on."""
    screen = terminal(monkeypatch)
    with pytest.raises(error), view(Fake()):
        raise error
    text = screen.getvalue()
    assert text.rindex(SHOW_CURSOR) > text.rindex(HIDE)
    assert "\x1b[2K" not in text[text.rindex(SHOW_CURSOR) :]
    assert "cot leads" in text
    assert sys.stderr is screen


def test_an_error_while_it_begins_restores_the_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the first drawing leaves the terminal as it was."""
    screen = terminal(monkeypatch)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(frame_module, "arm_lines", interrupt)
    with pytest.raises(KeyboardInterrupt), view(Fake()):
        pass
    text = screen.getvalue()
    assert text.rfind(SHOW_CURSOR) >= text.rfind(HIDE)
    assert sys.stderr is screen


def test_no_colour_when_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """NO_COLOR is respected; without it the view has colours."""
    screen = terminal(monkeypatch)
    for wanted in (True, False):
        if not wanted:
            monkeypatch.setenv("NO_COLOR", "1")
        screen.truncate(0)
        with view(Fake()):
            pass
        assert ("\x1b[32m" in screen.getvalue()) == wanted


def test_a_terminal_that_cannot_redraw_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """TERM=dumb has no escape codes."""
    screen = terminal(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    with view(Fake()) as shown:
        shown.update()
    assert "undecided after 300 samples; cot leads" in screen.getvalue()
    assert "\x1b" not in screen.getvalue()


def test_what_arms_print_goes_where_it_went(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a pipe stdout stays untouched; on the same screen lines appear above the view, markup and all."""
    screen = terminal(monkeypatch)
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stdout", pipe)
    with view(Fake()):
        print("data")
    assert pipe.getvalue() == "data\n"
    other = Screen()
    monkeypatch.setattr(sys, "stdout", other)
    with view(Fake()):
        print("[/] seen")
        print("[/] unfinished", end="")
    assert "[/] seen" in screen.getvalue()
    assert "[/] unfinished" in screen.getvalue()
    assert sys.stdout is other
    assert other.getvalue() == ""


def test_an_update_that_is_not_due_costs_a_look_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 100,000 updates within a fifth of a second none asks the experiment; the next one does, once."""
    terminal(monkeypatch)
    experiment = Fake()
    now, looks = 1000.0, 0

    def clock() -> float:
        nonlocal looks
        looks += 1
        return now

    monkeypatch.setattr(view_module, "time", types.SimpleNamespace(monotonic=clock))
    with view(experiment) as shown:
        asked, looks = experiment.asked, 0
        for _ in range(100_000):
            shown.update()
        assert (experiment.asked, looks) == (asked, 100_000)
        now += 0.2
        shown.update()
        shown.update()
        assert experiment.asked == asked + 1


def test_updates_come_when_they_are_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 0.2 s the next update draws what is new."""
    screen = terminal(monkeypatch)
    experiment = Fake()
    with view(experiment) as shown:
        experiment.now = status(answer=Undecided("long"), ends={})
        deadline = time.monotonic() + 60.0
        while "long leads" not in screen.getvalue() and time.monotonic() < deadline:
            shown.update()
        assert "long leads" in screen.getvalue()


def test_looking_does_not_end_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that cannot be read for a moment, and a terminal that is gone, are no reason to stop."""
    terminal(monkeypatch)
    experiment = Fake()

    def unreadable() -> Account:
        raise StoreError("locked")

    with view(experiment) as shown:
        shown._due = 0.0
        monkeypatch.setattr(experiment, "status", unreadable)
        shown.update()
        assert shown.shown
    gone = terminal(monkeypatch)

    def lost(_: str) -> int:
        raise OSError(5, "Input/output error")

    with view(Fake()) as shown:
        monkeypatch.setattr(gone, "write", lost)
        shown._due = 0.0
        shown.update()
        assert not shown.shown
        shown.update()
    assert sys.stderr is gone


def test_a_progress_that_is_neither_is_refused() -> None:
    """A number is no answer to whether to show something."""
    with pytest.raises(InvalidInputError, match="progress must be True, False or 'lines', got 3"):
        view(Fake(), 3)  # type: ignore[arg-type]


def test_without_stderr_there_is_no_view(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A process without stderr shows nothing, above all not on stdout."""
    monkeypatch.setattr(sys, "stderr", None)
    for progress in (None, True):
        with view(Fake(), progress) as shown:
            shown.update()
    monkeypatch.undo()
    assert capsys.readouterr().out == ""


def test_a_notebook_gets_one_output_that_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a Jupyter kernel the frame is displayed once, as HTML and text, and updated; the last one stays."""
    shown: list[dict[str, str]] = []

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        shown.append(data)
        return types.SimpleNamespace(update=lambda data, raw: shown.append(data))

    kernel = types.ModuleType("IPython")
    kernel.get_ipython = lambda: types.SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    part = types.ModuleType("IPython.display")
    part.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setitem(sys.modules, "IPython.display", part)
    experiment = Fake()
    with view(experiment):
        experiment.now = status(answer=Best("cot"))
    assert len(shown) == 2
    assert "cot leads" in shown[0]["text/plain"]
    assert "cot is best" in shown[-1]["text/html"]
    with view(experiment, False):
        pass
    assert len(shown) == 2


def test_ipython_without_a_kernel_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """IPython on a terminal, or merely imported, is treated as any program."""
    for shell in (None, types.SimpleNamespace()):
        module = types.ModuleType("IPython")
        module.get_ipython = lambda shell=shell: shell  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", module)
        assert not view(Fake()).shown


CHILD = """
import os, signal, sys
sys.path[:0] = [{folder!r}, {tests!r}]
from test_view import Fake, view
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
with view(Fake()) as shown:
    shown.update()
    os.kill(os.getpid(), signal.SIGINT)
    shown.update()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_ctrl_c_on_a_real_terminal() -> None:
    """On a pseudo-terminal the view appears on stderr alone, and Ctrl-C gives the cursor back."""
    import pty

    main, end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "60", "LINES": "24"}
    code = CHILD.format(
        folder=os.path.dirname(__file__), tests=os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=end, env=environment
    ) as child:
        os.close(end)
        seen = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            seen += part
        assert child.stdout is not None
        assert child.stdout.read() == b""
    os.close(main)
    text = seen.decode()
    assert child.returncode != 0
    assert "KeyboardInterrupt" in text
    assert "cot leads" in text
    assert text.rindex(SHOW_CURSOR) > text.rindex(HIDE)


def test_the_view_says_who_has_the_pull_that_all_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it has been out for a minute; before that, it is only being evaluated."""
    screen = terminal(monkeypatch)
    for age, said in ((5.0, False), (61.0, True)):
        hold = Hold(3, "cot", "build-7:4711", time.time() - age, None, True)
        screen.truncate(0)
        with view(Fake(status(waits_for=hold, waiting=4))):
            pass
        shown = " ".join(screen.getvalue().split())
        assert ("build-7:4711 has had" in shown) == said
