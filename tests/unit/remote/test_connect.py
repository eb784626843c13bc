"""`truebest.connect`: an experiment behind a server is used like one in this process."""

from __future__ import annotations

import http.server
import inspect
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truebest
from support.service import READ_TOKEN, TOKEN, serving
from support.service import Service as Server
from support.told import suspended
from truebest import Experiment, InvalidInputError, StoreError, SuspendedError
from truebest.remote import wire
from truebest.remote.experiment import RemoteExperiment
from truebest.remote.service import Service
from truebest.server.run import listen, make_server
from truebest.server.tokens import Tokens


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(f"sqlite:///{tmp_path_factory.mktemp('connect')}/runs.db") as found:
        yield found


@pytest.fixture
def service(server: Server) -> Iterator[Service]:
    with truebest.connect(server.url, token=TOKEN, patience=5.0) as found:
        yield found


def life(experiment: Any, rng: np.random.Generator) -> list[Any]:
    """Everything that can happen, and what is answered."""
    said: list[Any] = [experiment.status(), experiment.forecast(), experiment.ask(1)[0].arm]
    experiment.observe("a", [0.25, 0.5])
    experiment.observe({"b": [1.0], "c": 0.75})
    experiment.observe([("c", 0.5), ("a", 0.25), ("c", 0.25)])  # judged in this order
    said.append(experiment.fail(1, "no answer"))
    said.append(experiment.reclaim())
    pulls = experiment.ask(3)
    said += [[(pull.id, pull.arm, pull.seed) for pull in pulls], pulls.reason]
    said.append(experiment.tell(pulls[0], 0.5))
    said.append(experiment.tell([(pull, 0.5) for pull in pulls]))
    said.append(experiment.renew(pulls))
    experiment.retract(pulls[1], "a slip", 0.25)
    said += [experiment.status(), experiment.forecast(), experiment.uniform_samples(), experiment.decided]
    while not pulls.reason:
        pulls = experiment.ask(10)
        experiment.tell([(p, float(rng.random() < {"a": 0.1, "b": 0.9, "c": 0.2}[p.arm])) for p in pulls])
    said += [pulls.reason, experiment.decided, experiment.stopped, experiment.status()]
    said += [str(experiment.stop("late")), experiment.settings.to_record()]
    return said


def test_the_scores_of_an_experiment_behind_a_server_are_known(service: Service) -> None:
    """By its name there, or by itself."""
    before = service.create("before", ["old", "same"], 1e-9, items=3, bounds=(0, 1), seed=1)
    while pulls := before.ask(2):
        before.tell([(pull, 0.5 * (pull.item or 0)) for pull in pulls])
    for name, known in (("by name", "before"), ("by itself", before)):
        after = service.create(name, ["new"], items=3, bounds=(0, 1), known={"old": known})
        assert after.settings.known is not None
        assert after.settings.known.scores == {"old": (0.0, 0.5, 1.0)}


def test_it_behaves_like_an_experiment(service: Service) -> None:
    """The same calls have the same answers, and leave the same log."""
    given: dict[str, Any] = {"bounds": (0, 1), "seed": 5, "about": {"a": "1", "b": "2", "c": "3"}}
    local = Experiment.create("memory:", "same", ["a", "b", "c"], 0.1, worker="w", **given)
    remote = service.create("same", ["a", "b", "c"], 0.1, worker="w", **given)
    assert life(remote, np.random.default_rng(1)) == life(local, np.random.default_rng(1))
    one, other = remote.history(), local.history()
    seen = [
        [(e.kind, e.pull, e.arm, e.value, (e.data or {}).get("together")) for e in log]
        for log in (one, other)
    ]
    assert seen[0] == seen[1]
    assert remote.verify().sound
    assert "same" in service.names("SAM")
    again = service.open("same")
    assert again.status().best == "b"
    assert again.history(len(one) - 1) == one[-1:]
    assert "is the best option" in again.report()
    assert again.watch(timeout=10).best == "b"


def test_the_interface_is_that_of_experiment() -> None:
    """Every public method, with the same parameters, but for those that need the store itself."""
    needs_the_store = {
        "create",
        "open",
        "import_log",
        "delete",
        "take_over",
        "ask_within",
        "ask_for",
        "course",
    }
    own = {n for n, _ in inspect.getmembers(Experiment) if not n.startswith("_")} - needs_the_store
    assert {n for n, _ in inspect.getmembers(RemoteExperiment) if not n.startswith("_")} == own
    for name in own:
        method = getattr(Experiment, name)
        if callable(method):
            same = inspect.signature(getattr(RemoteExperiment, name)).parameters
            assert list(same) == list(inspect.signature(method).parameters), name


def test_models_strategies_and_rules_are_sent(service: Service) -> None:
    """As objects; what is the user's own is refused."""
    gaussian = truebest.Gaussian((1.0, 2.0))
    made = service.create("g", ["a", "b"], model=gaussian, strategy=truebest.TrackAndStop(), lease=None)
    assert made.settings.model == gaussian
    assert made.settings.lease is None
    assert service.create("s", ["a", "b"], model=truebest.Student()).settings.model == truebest.Student()
    assert service.create("u", ["a", "b"], model=truebest.Bounded(0, 2)).settings.allows(2.0)
    assert service.create("t", ["a", "b"], sigma={"a": 1, "b": 2}, stopping=truebest.Tilt()).name == "t"

    asked = truebest.BestArm(pairs=True)
    made = service.create("q", ["a", "b"], sigma=1.0, question=asked)
    assert (made.settings.question, made.settings.strategy_name) == (asked, "uniform")
    gate = service.create("gate", ["a", "b"], bounds=(0, 1), question=truebest.Gate("b", margin=0.1))
    assert gate.settings.question == truebest.Gate(1, margin=0.1)
    while pulls := gate.ask():
        gate.tell([(pull, float(pull.arm == "a")) for pull in pulls])
    assert gate.status().answer == truebest.Verdicts(("a",))

    @truebest.strategy
    def mine(pulls):  # type: ignore[no-untyped-def]
        return int(np.argmin(pulls))

    with pytest.raises(InvalidInputError, match="cannot be sent to a server"):
        service.create("m", ["a", "b"], bounds=(0, 1), strategy=mine)


def test_errors_are_the_same_exceptions(service: Service, server: Server) -> None:
    """With the same sentences."""
    experiment = service.create("errors", ["a", "b"], bounds=(0, 1))
    with pytest.raises(InvalidInputError, match="there is no experiment 'nobody'"):
        service.open("nobody")
    with pytest.raises(InvalidInputError, match="exists with delta"):
        service.create("errors", ["a", "b"], 0.5)
    with pytest.raises(InvalidInputError, match="there is no pull 9"):
        experiment.tell(9, 0.5)
    with pytest.raises(InvalidInputError, match="a value must be a finite number"):
        experiment.tell(1, float("nan"))
    with pytest.raises(InvalidInputError, match="n must be"):
        experiment.ask(0)
    with pytest.raises(SuspendedError, match="outside the bounds"):
        experiment.tell(experiment.ask()[0], 7.0)
    reader = truebest.connect(server.url, token=READ_TOKEN)
    assert suspended(reader.open("errors").status())
    with pytest.raises(InvalidInputError, match="permits reading only"):
        reader.open("errors").stop()
    reader.close()
    with pytest.raises(InvalidInputError, match="this needs a token"):
        truebest.connect(server.url, token="not-the-token-of-it")
    for bad in ("ftp://host", "127.0.0.1:8000", "http://", "http://me:pw@host/", "", None):
        with pytest.raises(InvalidInputError, match="a server must be given as"):
            truebest.connect(bad, token=TOKEN)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="a token must be"):
        truebest.connect(server.url, token="a\nb")
    assert TOKEN not in repr(service) + repr(experiment)


def test_nobody_answers() -> None:
    """A sentence, after the time that was given."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        begun = time.monotonic()
        with pytest.raises(StoreError, match=r"does not answer .* nothing was sent"):
            truebest.connect(url, token=TOKEN, patience=0.7)
        assert time.monotonic() - begun > 0.6


def begin(url: str, port: int) -> tuple[Any, threading.Thread, int]:
    listening = listen("127.0.0.1", port)
    server = make_server(url, Tokens(TOKEN), listening)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    return server, thread, listening.getsockname()[1]


def test_a_restart_is_waited_for(tmp_path: Path) -> None:
    """What does no harm twice is sent again by itself; and so is what surely did not arrive."""
    url = f"sqlite:///{tmp_path}/runs.db"
    server, thread, port = begin(url, 0)
    service = truebest.connect(f"http://127.0.0.1:{port}", token=TOKEN)
    experiment = service.create("e", ["a", "b"], bounds=(0, 1))
    pulls, answers = experiment.ask(4), []
    for call in (lambda: experiment.tell([(pulls[0], 0.5)]), lambda: [pull.id for pull in experiment.ask(1)]):
        server.should_exit = True
        thread.join(600)
        caller = threading.Thread(target=lambda call=call: answers.append(call()))
        caller.start()
        time.sleep(0.7)
        assert caller.is_alive()
        server, thread, _ = begin(url, port)
        caller.join(600)
    assert answers == [["told"], [5]]
    service.close()
    server.should_exit = True
    thread.join(600)


class Dropping(http.server.BaseHTTPRequestHandler):
    """Takes a request, and hangs up without an answer."""

    seen: list[str]

    def do_POST(self) -> None:
        self.seen.append(self.path)
        self.close_connection = True

    def do_GET(self) -> None:
        self.seen.append(self.path)
        self.close_connection = True

    def log_message(self, *words: Any) -> None:
        pass


def test_what_may_have_arrived_is_not_asked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ask whose answer was lost is an error that says what to do; a tell is sent again."""
    monkeypatch.setattr(wire, "PAUSE", 0.01)
    Dropping.seen = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Dropping) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        there = wire.Wire(f"http://127.0.0.1:{server.server_port}", TOKEN, 5.0, 0.3)
        with pytest.raises(StoreError, match="whether the call was carried out is not known"):
            there.post("/v1/ask", {})
        assert Dropping.seen == ["/v1/ask"]
        with pytest.raises(StoreError):
            there.post("/v1/tell", {}, harmless=True)
        assert Dropping.seen.count("/v1/tell") > 1
        there.close()
        server.shutdown()
        thread.join()


def test_items_in_clusters_stay_here_and_are_answered_several_times(service: Service) -> None:
    """Clusters by a function, several answers each, and clusters like these: as in this process."""
    items = [{"id": i, "talk": i // 3} for i in range(30)]
    given: dict[str, Any] = {
        **{"arms": ["a", "b"], "items": items, "cluster": lambda item: item["talk"], "weigh": "clusters"},
        **{"bounds": (0, 1), "epochs": 2, "sampled": True, "seed": 4},
    }
    here = Experiment.create("memory:", "clusters", **given)
    there = service.create("clusters", **given)
    assert there.settings == here.settings
    while pulls := here.ask(7):
        asked = there.ask(7)
        assert [(pull.item, pull.epoch, pull.seed) for pull in asked] == [
            (pull.item, pull.epoch, pull.seed) for pull in pulls
        ]
        values = [float(items[pull.item or 0]["id"] % 5 > (pull.arm == "a")) for pull in pulls]
        for one, batch in ((here, pulls), (there, asked)):
            one.tell(list(zip(batch, values, strict=True)))
    assert there.status().population == here.status().population is not None
    assert there.status().answer == here.status().answer
