"""The page of `truebest serve` as people use it, in headless Chromium."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from support.devtools import Tab, browser
from support.service import TOKEN, Service, serving
from support.system import require
from truebest import Experiment, Pull, SuspendedError

pytestmark = pytest.mark.slow

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    '"><svg onload=window.hacked=3>',
    "javascript:window.hacked=4",
    "../../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "a&experiment=b#/?experiment=c",
    "\u202egnitteg",
    "{{constructor.constructor('window.hacked=5')()}}",
]


@pytest.fixture
def tab(tmp_path: Path) -> Iterator[Tab]:
    require("chromium")
    with browser(tmp_path) as found:
        found.size(1200, 900)
        yield found


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs.db"


def sign_in(tab: Tab, service: Service, token: str = TOKEN) -> None:
    tab.open(service.url)
    tab.until("document.querySelector('#token')")
    tab.run(f"document.querySelector('#token').value = {json.dumps(token)}")
    tab.click("form button")


def show(tab: Tab, name: str) -> None:
    tab.run(f"location.hash = '#/?' + new URLSearchParams({{experiment: {json.dumps(name)}}})")
    tab.until(f"document.querySelector('.where')?.textContent.endsWith({json.dumps(name)})")


def state(tab: Tab) -> str:
    return str(tab.run("document.querySelector('.verdict').className.split(' ')[1]"))


def fine(tab: Tab, service: Service) -> None:
    """No error on the console, nothing refused by the policy, no request to another host."""
    assert tab.problems == []
    assert len(tab.requests) > 5
    there = [urlsplit(one) for one in tab.requests]
    assert {one.netloc for one in there if one.scheme != "blob"} == {f"127.0.0.1:{service.port}"}
    assert TOKEN not in "".join(tab.requests), "never in a URL"


def work(url: str, name: str, samples: int) -> Experiment:
    """An experiment of which "b" is the best, with so many samples at most."""
    experiment = Experiment.create(url, name, ["a", "b", "c"], bounds=(0, 1), seed=1, worker="w-1")
    rng, rates = np.random.default_rng(1), {"a": 0.2, "b": 0.9, "c": 0.3}
    while experiment.status().samples < samples:
        pulls = experiment.ask(5)
        if not pulls:
            break
        experiment.tell([(pull, float(rng.random() < rates[pull.arm])) for pull in pulls])
    return experiment


def test_watch_an_experiment_decide(tab: Tab, url: str, tmp_path: Path) -> None:
    """Open, give the token, find it in the list, watch the decision come in; theme; downloads; sign out."""
    experiment = work(url, "prompts", 20)
    work(url, "another", 5)
    downloads = tmp_path / "downloads"
    with serving(url) as service:
        sign_in(tab, service)
        tab.until("document.querySelectorAll('.item').length === 2")
        tab.press("/")
        tab.call("Input.insertText", text="PROM")
        tab.until("document.querySelectorAll('.item').length === 1")
        tab.press("ArrowDown")
        assert tab.run("document.activeElement.className") == "item undecided"
        tab.run("document.activeElement.click()")
        tab.until("document.querySelector('.verdict.undecided')")
        tab.until("document.querySelectorAll('canvas').length >= 4")
        assert "Not decided yet: b leads" in tab.text()
        assert "at most 5%" in tab.text()

        worker = threading.Thread(target=work, args=(url, "prompts", 10**9))
        worker.start()
        tab.until("document.querySelector('.verdict.decided')")
        seen = time.time()
        worker.join()
        decided = next(event.time for event in experiment.history() if event.kind == "decided")
        assert seen - decided < 3.0, "a second, on a machine that has nothing else to do"
        assert "b is the best option" in tab.text()
        assert tab.run("document.title").startswith("b is the best option")
        assert tab.run("document.querySelectorAll('section table tbody tr').length") >= 3, (
            "for screen readers"
        )
        assert tab.run(
            "[...document.querySelectorAll('[role=img]')].every(e => e.getAttribute('aria-label'))"
        )

        background = "getComputedStyle(document.body).backgroundColor"
        light = tab.run(background)
        tab.press("t")
        tab.press("t")
        assert tab.run("document.documentElement.dataset.theme") == "dark"
        assert tab.run(background) != light

        downloads.mkdir()
        tab.download_to(downloads)
        for i in range(4):
            tab.run(f"document.querySelector('.downloads').children[{i}].click()")
            end = time.monotonic() + 30
            while len([f for f in downloads.iterdir() if f.suffix != ".crdownload"]) < i + 1:
                assert time.monotonic() < end, list(downloads.iterdir())
                tab.run("1")
                time.sleep(0.1)
        assert sorted(file.name for file in downloads.iterdir()) == [
            f"prompts.{ending}" for ending in ("csv", "html", "json", "png")
        ]
        assert (downloads / "prompts.png").read_bytes().startswith(b"\x89PNG")
        assert json.loads((downloads / "prompts.json").read_text())["name"] == "prompts"
        assert b"decided" in (downloads / "prompts.csv").read_bytes()
        assert "is the best option" in (downloads / "prompts.html").read_text()

        tab.press("Escape")
        tab.until("document.querySelectorAll('.item').length === 2")
        fine(tab, service)
        tab.click("#leave")
        tab.until("document.querySelector('#token')")
        assert "prompts" not in tab.text()


def test_it_can_be_used_by_keyboard_and_ear(tab: Tab, url: str) -> None:
    """The focus follows, the skip link does not lead away, and only a new answer is read out."""
    experiment = work(url, "prompts", 20)
    said = "document.querySelector('main [role=status]')"
    with serving(url) as service:
        sign_in(tab, service)
        tab.until("document.querySelector('.item')")
        tab.press("/")
        tab.press("ArrowDown")
        tab.run("document.activeElement.click()")
        tab.until("document.querySelector('.verdict.undecided')")
        assert tab.run("document.activeElement.id") == "main"
        tab.run("document.activeElement.blur()")
        tab.click(".skip")
        assert tab.run("document.activeElement.id") == "main"
        assert state(tab) == "undecided"
        tab.run(f"window.news = 0; new MutationObserver(() => news++).observe({said}, {{childList: true}})")
        before = tab.run("document.querySelector('.lead').textContent")
        work(url, "prompts", 25)
        tab.until(f"document.querySelector('.lead').textContent !== {json.dumps(before)}")
        assert tab.run("window.news") == 0
        experiment.stop("enough")
        tab.until("document.querySelector('.verdict.stopped')")
        assert tab.run("window.news") == 1
        assert tab.run(f"{said}.textContent").startswith("Stopped undecided")
        headings = tab.run("[...document.querySelectorAll('h1, h2, h3')].map(e => Number(e.tagName[1]))")
        assert all(after <= before + 1 for before, after in itertools.pairwise(headings))
        tables = "[...document.querySelectorAll('table')].every(e => e.caption && e.tHead)"
        assert tab.run(tables)
        fine(tab, service)


def test_a_wrong_token_shows_nothing(tab: Tab, url: str) -> None:
    """And says so; the page itself holds no data."""
    work(url, "secret", 5)
    with serving(url) as service:
        sign_in(tab, service, "not-the-token-of-it")
        tab.until("document.body.innerText.includes('That is not the token of this server.')")
        assert "secret" not in tab.text()
        assert len(tab.problems) == 1, "the browser itself reports the refusal"


@pytest.mark.parametrize("width", [1200, 360])
@pytest.mark.parametrize("dark", [False, True])
def test_every_state_is_shown(tab: Tab, url: str, tmp_path: Path, width: int, dark: bool) -> None:
    """Empty, undecided, decided, stopped, suspended and broken; nothing wider than the screen."""
    Experiment.create(url, "empty", ["a", "b"], bounds=(0, 1))
    work(url, "undecided", 20)
    work(url, "decided", 10**9)
    work(url, "stopped", 20).stop("good enough")
    suspended = work(url, "suspended", 20)
    with pytest.raises(SuspendedError):
        suspended.tell(suspended.ask(1)[0], 7.0)
    Experiment.create(url, "broken", ["a", "b"], bounds=(0, 1)).observe("a", [0.5, 0.25])
    damage(tmp_path / "runs.db")
    tab.size(width, 800, dark)
    with serving(url) as service:
        sign_in(tab, service)
        tab.until("document.querySelectorAll('.item').length === 6")
        for name in ("empty", "undecided", "decided", "stopped", "suspended", "broken"):
            show(tab, name)
            assert state(tab) == name
            assert tab.run("document.documentElement.scrollWidth") <= width
        assert "line 5 of the log" in tab.text()
        fine(tab, service)


def judged(url: str, name: str, most: int, value: Callable[[Pull], float], **settings: Any) -> None:
    """An experiment with so many results at most."""
    experiment = Experiment.create(url, name, ["a", "b", "c"], seed=1, **settings)
    for _ in range(most):
        if not (pulls := experiment.ask()):
            break
        experiment.tell(pulls[0], value(pulls[0]))


def test_rounds_wins_and_controls_have_words_of_their_own(tab: Tab, url: str) -> None:
    """A test set, one that ends in a tie, a control, wins, and a circle of preferences."""
    by_arm = {"a": 0.3, "b": 0.9, "c": 0.1}

    def best_is_b(pull: Pull) -> float:
        return by_arm[pull.arm]

    def circle(pull: Pull) -> float:
        return float(("abc".index(pull.arm) + (pull.round or 0)) % 3)

    judged(url, "test set", 30, best_is_b, items=500, bounds=(0, 1), control="a")
    judged(url, "tied", 99, lambda pull: float((pull.item or 0) % 2), items=5, bounds=(0, 1))
    judged(url, "wins", 15, best_is_b, compare="wins", control="a")
    judged(url, "circle", 10**4, circle, compare="wins", direct=True)
    shown = {
        "test set": ["on 9 of 500 items", "Against the control, a", "A larger mean is better."],
        "tied": ["a, b, c are equally good", "The best (3)", "best, tied"],
        "wins": [
            "wins - loses",
            "5 - 0",
            "in 5 rounds",
            "likelier to win a round against the control",
        ],
        "circle": [
            "No option wins against all others",
            "None: each option loses to another one.",
        ],
    }
    with serving(url) as service:
        sign_in(tab, service)
        tab.until("document.querySelectorAll('.item').length === 4")
        for name, words in shown.items():
            show(tab, name)
            tab.until("document.querySelectorAll('canvas').length >= 4")
            assert [one for one in words if one not in tab.text()] == [], tab.text()
            assert "null" not in tab.text()
        fine(tab, service)


def test_how_much_longer_is_a_range(tab: Tab, url: str) -> None:
    """That of `forecast`, with what its ends mean."""
    forecast = work(url, "later", 30).forecast()
    assert forecast.low is not None
    with serving(url) as service:
        sign_in(tab, service)
        tab.until("document.querySelectorAll('.item').length === 1")
        show(tab, "later")
        tab.until(f"document.querySelector('.tiles').innerText.includes({json.dumps(forecast.words)})")
        assert "one standard error (the usual size of chance) larger, or smaller" in tab.text()
        fine(tab, service)


def damage(file: Path) -> None:
    import sqlite3

    raw = sqlite3.connect(file)
    assert raw.execute("UPDATE events SET value = 0.75 WHERE value = 0.25").rowcount == 1
    raw.commit()
    raw.close()


def test_names_do_no_harm(tab: Tab, url: str) -> None:
    """Experiments, arms, workers and reasons that look like HTML, scripts or paths are shown as they are."""
    for name in HOSTILE:
        experiment = Experiment.create(url, name, HOSTILE, bounds=(0, 1), seed=1, worker=name, control=name)
        pulls = experiment.ask(12)
        experiment.tell([(pull, 0.5) for pull in pulls[:10]])
        experiment.fail(pulls[10], name)
    with serving(url) as service:
        sign_in(tab, service)
        tab.until(f"document.querySelectorAll('.item').length === {len(HOSTILE)}")
        shown = tab.run("[...document.querySelectorAll('.item .name')].map(e => e.textContent)")
        assert sorted(shown) == sorted(HOSTILE)
        for name in HOSTILE:
            show(tab, name)
            tab.until("document.querySelectorAll('canvas').length >= 2")
            tab.run("document.querySelectorAll('details').forEach(e => e.open = true)")
            assert state(tab) == "undecided"
        assert tab.run("window.hacked === undefined")
        assert tab.run("document.querySelectorAll('main script, main img, main iframe').length") == 0
        fine(tab, service)


def test_the_policy_stops_what_escaping_might_miss(tab: Tab, url: str) -> None:
    """Negative control: inline HTML, an inline style and a foreign request, put there on purpose, fail."""
    Experiment.create(url, "e", ["a", "b"], bounds=(0, 1))
    with serving(url) as service:
        sign_in(tab, service)
        tab.until("document.querySelector('.item')")
        assert tab.run(
            "(() => { try { document.body.innerHTML += '<p>'; return false } catch { return true } })()"
        )
        tab.run("document.body.setAttribute('style', 'color: red')")
        assert tab.run("getComputedStyle(document.body).color") != "rgb(255, 0, 0)"
        assert tab.run("fetch('http://127.0.0.1:9/').then(() => false, () => true)")
        tab.until("true")
        assert len(tab.problems) >= 3


def test_the_page_lives_through_a_restart(tab: Tab, url: str) -> None:
    """The server ends and another one begins at the same place: the page goes on by itself."""
    from truebest.server.run import listen, make_server
    from truebest.server.tokens import Tokens

    experiment = work(url, "prompts", 20)

    def begin(port: int) -> tuple[object, threading.Thread, int]:
        listening = listen("127.0.0.1", port)
        server = make_server(url, Tokens(TOKEN), listening)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        return server, thread, listening.getsockname()[1]

    server, thread, port = begin(0)
    sign_in(tab, Service(port))
    tab.until("document.querySelector('.item')")
    show(tab, "prompts")
    server.should_exit = True  # type: ignore[attr-defined]
    thread.join(600)
    tab.until("document.querySelector('#live').className.includes('waiting')")
    experiment.stop("while nobody looked")
    server, thread, _ = begin(port)
    tab.until("document.querySelector('.verdict.stopped')")
    assert "while nobody looked" in tab.text()
    server.should_exit = True  # type: ignore[attr-defined]
    thread.join(600)
