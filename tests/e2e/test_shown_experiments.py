"""Any stored experiment can be watched, drawn, and sent to a colleague as one page."""

from __future__ import annotations

import random
import re
import subprocess
import threading
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from e2e.test_solve_command import COMMAND
from support.browser import visit
from support.commands import refused, run
from support.system import require
from truebest import Experiment

RATES = {"none": 0.45, "short": 0.55, "<b>long</b>": 0.8}


def work(experiment: Experiment, most: int = 10**6) -> None:
    """Ask and tell."""
    while most > 0 and (pulls := experiment.ask(3)):
        experiment.tell([(p, float(random.Random(p.seed).random() < RATES[p.arm])) for p in pulls])
        most -= 3


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with an experiment that is not decided."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRUEBEST_STORE", "sqlite:///runs.db")
    with Experiment.create("sqlite:///runs.db", "x", list(RATES), bounds=(0, 1), seed=3) as experiment:
        work(experiment, 30)
    return "sqlite:///runs.db"


def test_the_report_answers_in_every_state(url: str) -> None:
    """What is best or how near the leader is, how sure, under what, what it took; and nothing is run."""
    assert run("report", "x", "--output", "page.html").err == "truebest: the report is in page.html.\n"
    page = Path("page.html").read_text()
    assert "Not decided yet: &lt;b&gt;long&lt;/b&gt; leads" in page
    assert re.search(
        r"No option is proven to be the best after 30 samples. The leader is at most 0.\d+ below", page
    )
    assert "holds with probability at least 95%" in page
    experiment = Experiment.open(url, "x")
    work(experiment)
    page = experiment.report()
    decided = experiment.status()
    assert "&lt;b&gt;long&lt;/b&gt; is the best option" in page
    assert f"Decided after {decided.samples} samples; {decided.promise.words}." in page
    assert "was ruled out after" in page
    lines = len(experiment.history())
    assert f"The log: {lines} lines" in page
    assert page.count("<td><bdi>asked</bdi></td>") == sum(e.kind == "asked" for e in experiment.history())
    short = experiment.report(log_lines=10)
    assert f"... {lines - 10} lines are left out ..." in short
    assert "<b>long" not in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_report_says_what_went_wrong(url: str) -> None:
    """A suspension, a stop, failures and a void promise, in words."""
    experiment = Experiment.open(url, "x")
    pulls = experiment.ask(2)
    experiment.fail(pulls[0], "out of memory")
    experiment.stop("good enough")
    page = experiment.report()
    assert "Stopped undecided: &lt;b&gt;long&lt;/b&gt; leads" in page
    assert "It was stopped by hand (good enough)." in page
    assert "pulls that gave no value: 1" in page
    run("create", "y", "--arm", "a", "--arm", "b", "--bounds", "0,1")
    assert "There is no result yet" in Experiment.open(url, "y").report()
    run("ask", "y")
    run("tell", "y", "1", "7")
    page = Experiment.open(url, "y").report()
    assert "Suspended: the values are not as assumed" in page
    assert "Nothing is promised: values outside the bounds" in page
    assert "not proven" in page


@pytest.mark.slow
@pytest.mark.parametrize("state", ["undecided", "decided"])
def test_the_report_opens_in_a_browser(url: str, state: str, tmp_path: Path) -> None:
    """No message on the console, no request to the network, text and coloured lines."""
    require("chromium")
    experiment = Experiment.open(url, "x")
    if state == "decided":
        work(experiment)
    experiment.report("page.html")
    seen = visit(Path("page.html"), tmp_path, height=1600)
    assert (seen.console, seen.requests) == ([], [])
    image = matplotlib.image.imread(seen.screenshot)[..., :3]
    assert 0.01 < (image.min(axis=-1) < 0.9).mean() < 0.5
    assert 0.001 < (np.ptp(image, axis=-1) > 0.3).mean() < 0.2


def test_plot_writes_a_picture(url: str) -> None:
    """By the ending of its name; another ending, or a folder that is not there, is refused."""
    for name, begin in (("x.svg", b"<?xml"), ("x.png", b"\x89PNG"), ("x.pdf", b"%PDF")):
        assert run("plot", "x", "--output", name).code == 0
        assert Path(name).read_bytes().startswith(begin)
    refused(run("plot", "x", "--output", "x.txt"), "name it like x.svg")
    refused(run("plot", "x", "--output", "none/x.svg"), "cannot write")
    refused(run("report", "x", "--output", "none/x.html"), "cannot write")
    figure = Experiment.open(url, "x").plot()
    assert figure.axes


def test_watch_follows_an_experiment_of_others(url: str) -> None:
    """Until it is decided by another process; then it prints the status and exits with 0."""
    watching = subprocess.Popen(
        [*COMMAND, "watch", "x"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert watching.stderr is not None
    assert "undecided after" in watching.stderr.readline()
    worker = threading.Thread(target=lambda: work(Experiment.open(url, "x")))
    worker.start()
    out, err = watching.communicate(timeout=600)
    worker.join()
    assert watching.returncode == 0, err
    assert "decision   <b>long</b>" in out


def test_watch_gives_up_in_time(url: str) -> None:
    """With the code for undecided; a stopped one is over, too."""
    ran = run("watch", "x", "--timeout", "0.5")
    assert ran.code == 3
    assert "decision   none yet" in ran.out
    Experiment.open(url, "x").stop("enough")
    ran = run("watch", "x")
    assert ran.code == 3
    assert "stopped    enough" in ran.out
