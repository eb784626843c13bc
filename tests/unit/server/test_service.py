"""The service: what the commands do, over HTTP."""

from __future__ import annotations

import http.client
import itertools
import json
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from support.service import READ_TOKEN, TOKEN, Answer, Service, serving
from support.told import flat
from truebest import Experiment
from truebest.experiment.forecast import Forecast
from truebest.server import desks
from truebest.server.live import Live

NAMES = [
    "prompts",
    "a/b",
    "..",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "größer als 50% & mehr?",
    ".",
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('service')}/runs.db"


@pytest.fixture(scope="module")
def service(url: str) -> Iterator[Service]:
    with serving(url) as found:
        yield found


def create(service: Service, name: str, **settings: Any) -> Answer:
    body = {"experiment": name, "arms": ["a", "b"], "bounds": [0, 1], "seed": 7, **settings}
    return service.post("/v1/create", body)


def problem(answer: Answer, status: int, code: str, *words: str) -> None:
    """An error as it must be: problem+json, with a sentence of at least two clauses."""
    assert answer.status == status, answer.body
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json
    assert (found["status"], found["code"]) == (status, code)
    assert all(word in found["detail"] for word in words), found["detail"]
    assert ";" in found["detail"]
    assert "Traceback" not in found["detail"]


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_from_creation_to_decision(service: Service, url: str, name: str) -> None:
    """Whatever its name: the log is that of an experiment in this process, but for times and workers."""
    assert create(service, name).status == 200
    own = Experiment.create("memory:", name, ["a", "b"], bounds=(0, 1), seed=7)
    here, reason = f"experiment={quote(name, safe='')}", ""
    while not reason:
        asked = service.post("/v1/ask", {"experiment": name, "n": 20, "worker": "w"}).json
        results = [{"pull": pull["id"], "value": float(pull["arm"] == "b")} for pull in asked["pulls"]]
        told = service.post("/v1/tell", {"experiment": name, "results": results}).json
        assert [one["outcome"] for one in told["outcomes"]] == ["told"] * len(results)
        own.tell([(pull, float(pull.arm == "b")) for pull in own.ask(20)])
        reason = asked["reason"]
    assert reason == "decided"
    found = service.get(f"/v1/status?{here}").json
    assert found["best"] == "b"
    expected = own.status().to_dict()
    assert {key: found[key] for key in expected} == json.loads(json.dumps(expected))
    log = service.get(f"/v1/history?{here}").json["events"]
    kept = [(event.kind, event.pull, event.arm, event.value) for event in own.history()]
    assert [(e["kind"], e["pull"], e["arm"], e["value"]) for e in log] == kept
    assert Experiment.open(url, name).verify().sound
    assert service.get(f"/v1/verify?{here}").json["sound"]
    assert service.get(f"/v1/forecast?{here}").json["samples"] == 0
    assert name in [one["name"] for one in service.get("/v1/experiments").json["experiments"]]


def test_a_repeated_tell_does_no_harm(service: Service) -> None:
    """Idempotent by pull: told, then repeated; another value is late and not counted."""
    create(service, "twice")
    service.post("/v1/ask", {"experiment": "twice", "n": 2, "worker": "w"})
    body = {"experiment": "twice", "results": [{"pull": 1, "value": 1.0}]}
    outcomes = [service.post("/v1/tell", body).json["outcomes"][0]["outcome"] for _ in range(3)]
    assert outcomes == ["told", "repeated", "repeated"]
    other = {"experiment": "twice", "results": [{"pull": 1, "value": 0.0}]}
    assert service.post("/v1/tell", other).json["outcomes"] == [{"pull": 1, "outcome": "late"}]
    assert flat(service.get("/v1/status?experiment=twice").json)["means"]["a"] == 1.0
    assert create(service, "twice").status == 200  # as is creating it again


def test_the_other_verbs(service: Service) -> None:
    """observe, fail, renew, retract, reclaim and stop do what the methods do."""
    create(service, "verbs", about={"a": "the old one", "b": "the new one"})

    def post(verb: str, **body: Any) -> Any:
        answer = service.post(f"/v1/{verb}", {"experiment": "verbs", **body})
        assert answer.status == 200, answer.body
        return answer.json

    assert post("observe", values={"a": [0, 1], "b": [1]}) == {"observed": {"a": 2, "b": 1}}
    assert post("observe", values=[["b", 1], ["a", 0], ["b", 0.5]]) == {"observed": {"b": 2, "a": 1}}
    wrong = {"experiment": "verbs", "values": [["a", "1"]]}
    assert service.post("/v1/observe", wrong).status == 400
    ids = [pull["id"] for pull in post("ask", n=4, worker="w")["pulls"]]
    assert post("fail", pull=ids[0], reason="no answer") == {"pull": ids[0], "outcome": "failed"}
    assert post("renew", pulls=ids) == {"renewed": 3}
    assert post("reclaim", worker="w") == {"reclaimed": 3}
    assert [pull["id"] for pull in post("ask", n=4, worker="x")["pulls"]] == ids
    post("tell", results=[{"pull": ids[1], "value": 1}])
    assert post("retract", pull=ids[1], reason="a slip", value=0.5)["outcome"] == "retracted"
    assert post("stop", reason="enough")["answer"]["reason"] == "enough"
    assert post("ask", n=1, worker="w") == {"pulls": [], "reason": "stopped"}
    settings = service.get("/v1/settings?experiment=verbs").json["settings"]
    assert settings["about"] == ["the old one", "the new one"]
    kinds = [event["kind"] for event in service.get("/v1/history?experiment=verbs&after=7").json["events"]]
    assert kinds[-1] == "stopped"
    assert {"failed", "lapsed", "retracted"} <= set(kinds)


def test_settings_with_parameters(service: Service) -> None:
    """Models, strategies and rules as the log has them; what is not truebest's own is refused."""
    student = {"class": "Student", "parameters": {}}
    made = create(service, "student", bounds=None, model=student).json
    assert made["settings"]["model"] == student
    racing = {"class": "Racing", "parameters": {}}
    assert create(service, "racing", strategy=racing).json["settings"]["strategy"]["class"] == "Racing"
    kept = made["settings"]["stopping"]
    assert create(service, "rule", bounds=None, model=student, stopping=kept).status == 200
    for wrong in ({"model": {"class": "os.system", "parameters": {}}}, {"strategy": {"custom": "mine"}}):
        problem(create(service, "wrong", **{"bounds": None, **wrong}), 400, "invalid", "must be a name")
    for key, kind in (("model", "class"), ("strategy", "class"), ("stopping", "name")):
        names: list[Any] = ["Student", "EBS", "mixture", 1, None, [], {}]
        given: list[Any] = [[], [1], "x", None, 1, {"gamma": {}}, {"no": 1}]
        for name, parameters in itertools.product(names, given):
            for record in ({kind: name, "parameters": parameters}, {kind: name}, {"custom": name}, {}):
                answer = create(service, "wrong", **{key: record, "bounds": None, "sigma": None})
                problem(answer, 400, "invalid")
    problem(create(service, "wrong", no_such_setting=1), 400, "invalid", "no_such_setting")


def test_a_store_that_is_gone_is_no_empty_store(tmp_path: Path) -> None:
    """503 to every call, with a sentence; nothing is made in its place, and all is there when it is back."""
    file = tmp_path / "runs.db"
    with serving(f"sqlite:///{file}") as service:
        assert service.get("/v1/experiments").json["total"] == 0, "it is still to be made"
        assert create(service, "one").status == 200
        assert service.post("/v1/ask", {"experiment": "one", "worker": "w"}).status == 200
        moved = [(part, part.with_name(f"{part.name}.moved")) for part in tmp_path.iterdir()]
        for part, away in moved:
            part.rename(away)
        for answer in (
            service.get("/v1/experiments"),
            service.get("/v1/status?experiment=one"),
            service.get("/v1/status?experiment=another"),
            service.get("/v1/export?experiment=one"),
            service.post("/v1/ask", {"experiment": "one", "worker": "w"}),
            service.post("/v1/stop", {"experiment": "one"}),
            create(service, "two"),
        ):
            problem(answer, 503, "store", str(file), "is gone", "put it back")
        assert not file.exists()
        for part, away in moved:
            away.rename(part)
        assert service.get("/v1/status?experiment=one").status == 200
        assert service.get("/v1/experiments").json["total"] == 1


def test_errors_are_problems_with_the_same_sentences(service: Service) -> None:
    """As the library says them, with a code for programs."""
    create(service, "errors")
    problem(service.get("/v1/status?experiment=nobody"), 404, "missing", "there is no experiment 'nobody'")
    problem(service.get("/v1/live?experiment=nobody"), 404, "missing", "there is no experiment 'nobody'")
    problem(service.get("/v1/status"), 400, "invalid", "experiment", "field required")
    problem(service.get("/v1/nothing"), 404, "no-such-page", "/docs")
    problem(service.get("/v1/ask"), 405, "wrong-method", "does not take GET")
    problem(service.get("/v1/history?experiment=errors&limit=0"), 400, "invalid", "limit", "after=SEQ")
    problem(service.get("/v1/history?experiment=errors&after=-1"), 400, "invalid", "after", "-1")
    problem(service.post("/v1/ask", b"{not json"), 400, "invalid", "must be JSON")
    problem(service.post("/v1/ask", b"\xff\xfe"), 400, "invalid")
    asked = {"experiment": "errors", "worker": "w"}
    problem(service.post("/v1/ask", {**asked, "n": 0}), 400, "invalid", "n must be", "got 0")
    problem(service.post("/v1/ask", {**asked, "n": "3"}), 400, "invalid", "n is not as it must be", "got '3'")
    problem(service.post("/v1/ask", {**asked, "m": 3}), 400, "invalid", "m is not as it must be")
    problem(service.post("/v1/ask", asked, Content_Type="text/plain"), 400, "invalid", "application/json")
    told = {"experiment": "errors", "results": [{"pull": 99, "value": 0.5}]}
    problem(service.post("/v1/tell", told), 400, "invalid", "there is no pull 99")
    nan = b'{"experiment": "errors", "results": [{"pull": 1, "value": NaN}]}'
    service.post("/v1/ask", {**asked, "n": 1})
    problem(service.post("/v1/tell", nan), 400, "invalid", "a value must be a finite number")
    problem(create(service, "errors", delta=0.2), 400, "invalid", "exists with delta 0.05")
    problem(create(service, ""), 400, "invalid", "the name of an experiment")
    told = {"experiment": "errors", "results": [{"pull": 1, "value": 7.0}]}
    problem(service.post("/v1/tell", told), 409, "suspended", "outside the bounds", "is recorded")
    problem(service.post("/v1/ask", {**asked, "n": 1}), 409, "suspended")


def test_what_others_do_is_seen_and_a_deleted_experiment_is_missing(service: Service, url: str) -> None:
    """The store is the truth: the server keeps nothing that it does not compare with it."""
    create(service, "shared")
    other = Experiment.open(url, "shared")
    other.observe("a", [1.0, 1.0])
    assert service.get("/v1/status?experiment=shared").json["progress"]["samples"] == 2
    other.delete()
    problem(service.get("/v1/status?experiment=shared"), 404, "missing")
    Experiment.create(url, "shared", ["x", "y", "z"], bounds=(0, 1))
    assert service.get("/v1/status?experiment=shared").json["settings"]["arms"] == ["x", "y", "z"]


def test_exports_and_the_report(service: Service) -> None:
    """Files under harmless names."""
    create(service, "ex/../port")
    service.post("/v1/observe", {"experiment": "ex/../port", "values": {"a": [0, 1], "b": [1]}})
    here = f"experiment={quote('ex/../port', safe='')}"
    for format, kind in (
        ("csv", "text/csv"),
        ("json", "application/json"),
        ("jsonl", "application/x-ndjson"),
    ):
        answer = service.get(f"/v1/export?{here}&format={format}")
        assert answer.headers["content-type"].startswith(kind)
        said = answer.headers["content-disposition"]
        assert said.startswith(f'attachment; filename="ex_port.{format}"')
        assert "/" not in said
        assert answer.body.count(b"told") == 3
    assert json.loads(service.get(f"/v1/export?{here}&format=json").body)["name"] == "ex/../port"
    report = service.get(f"/v1/report?{here}")
    assert report.headers["content-disposition"].startswith("attachment")
    assert b"<!doctype html>" in report.body
    problem(service.get(f"/v1/export?{here}&format=exe"), 400, "invalid", "format")


def test_the_list_is_searched(service: Service) -> None:
    """By a part of the name, in small or capital letters."""
    create(service, "Find-Me-1")
    create(service, "find-me-2")
    found = service.get("/v1/experiments?search=FIND-ME").json
    assert [one["name"] for one in found["experiments"]] == ["Find-Me-1", "find-me-2"]
    assert found["total"] == 2
    assert [one["state"] for one in found["experiments"]] == ["empty", "empty"]
    assert len(service.get("/v1/experiments?search=find-me&limit=1").json["experiments"]) == 1


def test_the_list_follows_the_store(service: Service, url: str) -> None:
    """What it remembers of an experiment it forgets when the log grows."""
    create(service, "grows")

    def listed() -> int:
        (one,) = service.get("/v1/experiments?search=grows").json["experiments"]
        return int(one["samples"])

    assert [listed(), listed()] == [0, 0]
    Experiment.open(url, "grows").observe("a", [0.5])
    assert listed() == 1


def test_it_serves_a_postgresql_store(postgres_url: str) -> None:
    """Create, ask, tell, list and watch, as with a file; no password is ever said."""
    with serving(postgres_url) as service:
        create(service, "prompts")
        connection, stream = watch(service, "prompts")
        assert message(stream)[1]["view"]["state"] == "empty"
        asked = service.post("/v1/ask", {"experiment": "prompts", "n": 2, "worker": "w"}).json["pulls"]
        results = [{"pull": pull["id"], "value": 1.0} for pull in asked]
        assert service.post("/v1/tell", {"experiment": "prompts", "results": results}).status == 200
        while (news := message(stream)[1])["view"]["now"]["samples"] < [2]:
            pass
        assert news["points"]["samples"][-1] == 2
        connection.close()
        assert service.get("/v1/experiments").json["experiments"][0]["samples"] == 2
        problem(service.get("/v1/status?experiment=nobody"), 404, "missing", "there is no experiment")


def test_a_call_on_a_kept_connection_waits_for_no_acknowledgement(service: Service) -> None:
    """An answer is two packets; the second must not wait for the first to be acknowledged, 40 ms later."""
    connection, taken = http.client.HTTPConnection("127.0.0.1", service.port, timeout=600), []
    for _ in range(50):
        begun = time.perf_counter()
        connection.request("GET", "/static/words.js")
        assert connection.getresponse().read()
        taken.append(time.perf_counter() - begun)
    connection.close()
    assert sorted(taken)[len(taken) // 4] < 0.02  # the others may have waited for the processor


def test_many_clients_at_once_lose_nothing(service: Service, url: str) -> None:
    """Calls that wait are made as one: every client gets its own pulls, every value is told once."""
    create(service, "many", delta=1e-9)
    failures: list[object] = []

    def client(number: int) -> None:
        for _ in range(5):
            asked = service.post("/v1/ask", {"experiment": "many", "n": 3, "worker": f"w{number}"})
            results = [{"pull": pull["id"], "value": 0.5} for pull in asked.json["pulls"]]
            told = service.post("/v1/tell", {"experiment": "many", "results": results})
            if told.status != 200 or [o["outcome"] for o in told.json["outcomes"]] != ["told"] * 3:
                failures.append((asked.body, told.body))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    log = Experiment.open(url, "many").history()
    assert sorted(e.pull or 0 for e in log if e.kind == "told") == list(range(1, 241))
    asked = [e for e in log if e.kind == "asked"]
    assert len(asked) == 240
    assert {(e.data or {})["worker"] for e in asked} == {f"w{n}" for n in range(16)}


def test_the_mistake_of_one_is_not_that_of_others() -> None:
    """If calls that were gathered are refused together, each is made alone."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    calls: list[list[int]] = []

    def answers(items: Sequence[int]) -> list[int]:
        calls.append(list(items))
        if 0 in items:
            from truebest import InvalidInputError

            raise InvalidInputError("0 is not allowed, got 0; give another.")
        time.sleep(0.05)
        return [10 * item for item in items]

    async def main() -> list[Any]:
        with ThreadPoolExecutor(1) as pool:
            call: desks.Gathered[int, int] = desks.Gathered(answers, pool)
            return await asyncio.gather(*(call(item) for item in (5, 1, 0, 2)), return_exceptions=True)

    found = asyncio.run(main())
    assert [found[0], found[1], found[3]] == [50, 10, 20]
    assert str(found[2]).startswith("0 is not allowed")
    assert calls in ([[5], [1, 0, 2], [1], [0], [2]], [[5, 1, 0, 2], [5], [1], [0], [2]])


def test_a_call_that_takes_long_keeps_no_other_waiting() -> None:
    """The next one is made beside it; but no more than three at once."""
    import asyncio
    import threading
    from concurrent.futures import ThreadPoolExecutor

    decide, at_once, most, lock = threading.Event(), 0, 0, threading.Lock()

    def answers(items: Sequence[int]) -> list[int]:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        if 0 in items:
            assert decide.wait(600)
        with lock:
            at_once -= 1
        return [10 * item for item in items]

    async def main() -> list[int]:
        with ThreadPoolExecutor(8) as pool:
            call: desks.Gathered[int, int] = desks.Gathered(answers, pool)
            slow = []
            for number in range(1, desks.AT_ONCE + 1):
                slow.append(asyncio.ensure_future(call(0)))
                while at_once < number:
                    await asyncio.sleep(0.01)
                if number == 1:
                    assert await call(1) == 10
            late = asyncio.ensure_future(call(2))
            await asyncio.sleep(2 * desks.SLOW)
            decide.set()
            return [await late, *await asyncio.gather(*slow)]

    assert asyncio.run(main()) == [20, 0, 0, 0]
    assert most == desks.AT_ONCE


def watch(service: Service, name: str) -> tuple[http.client.HTTPConnection, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=600)
    headers = {"Authorization": f"Bearer {READ_TOKEN}"}
    connection.request("GET", f"/v1/live?experiment={quote(name, safe='')}", headers=headers)
    return connection, connection.getresponse()


def message(stream: Any) -> tuple[str, Any]:
    """The next event, soon: its kind and its data."""
    kind, data, end = "", [], time.monotonic() + 600.0
    while True:
        assert time.monotonic() < end, "there was none"
        line = stream.readline().decode().rstrip("\n")
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            data.append(line.removeprefix("data: "))
        elif not line and kind:
            return kind, json.loads("\n".join(data))


def test_an_event_is_seen_by_all(service: Service, url: str) -> None:
    """All who watch see it, whether it comes through the server or from another process."""
    create(service, "watched")
    watchers = [watch(service, "watched") for _ in range(5)]
    for _, stream in watchers:
        kind, first = message(stream)
        assert kind == "whole"
        assert first["view"]["state"] == "empty"
        assert [line["kind"] for line in first["lines"]] == ["created"]
    other = Experiment.open(url, "watched", worker="elsewhere")
    for change in (
        lambda: service.post("/v1/ask", {"experiment": "watched", "n": 1, "worker": "w"}),
        lambda: other.tell(other.ask(1)[0], 1.0),
        lambda: other.tell(1, 0.0),
    ):
        change()
        last = 0
        for _, stream in watchers:
            _, news = message(stream)
            while news["seq"] != Experiment.open(url, "watched").history()[-1].seq:
                _, news = message(stream)
            last = news["seq"]
        assert last
    assert news["view"]["now"]["samples"] == [2]
    assert [worker["worker"] for worker in news["view"]["workers"]] == ["w", "elsewhere"]
    assert news["points"]["samples"] == [2]
    for connection, _ in watchers:
        connection.close()


def test_what_happened_while_nobody_watched_is_drawn(
    service: Service, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that was open before the first result, and again after the end, has the whole course."""
    follow, noticed = Live._follow, threading.Event()

    async def followed(live: Live) -> None:
        await follow(live)
        noticed.set()

    monkeypatch.setattr(Live, "_follow", followed)
    create(service, "left alone")
    connection, stream = watch(service, "left alone")
    assert message(stream)[1]["points"]["samples"] == []
    connection.close()
    assert noticed.wait(600), "the server follows an experiment that nobody watches"
    experiment = Experiment.open(url, "left alone", worker="w")
    for pull in experiment.ask(60):
        experiment.tell(pull, 0.1 * (pull.id % 7))
    experiment.stop("long enough")
    samples = experiment.status().samples
    connection, stream = watch(service, "left alone")
    kind, news = message(stream)
    while kind != "whole" or len(news["points"]["samples"]) < 10:
        kind, news = message(stream)
    assert news["points"]["samples"][-1] == samples
    assert news["points"]["samples"][0] < 10
    assert news["view"]["workers"][0]["results"] == samples
    assert news["view"]["reading"] == ""
    connection.close()


def test_what_happened_between_two_looks_is_drawn(service: Service, url: str) -> None:
    """Many values that come at once, while a page is open, are more than one point of its charts."""
    create(service, "at once")
    connection, stream = watch(service, "at once")
    assert message(stream)[1]["points"]["samples"] == []
    Experiment.open(url, "at once").observe([("ab"[i % 2], 0.5) for i in range(200)])
    kind, news = message(stream)
    while kind != "whole" or news["view"]["reading"]:
        kind, news = message(stream)
    drawn = news["points"]["samples"]
    assert (drawn[0] < 10, drawn[-1]) == (True, 200)
    assert len(drawn) > 50
    connection.close()


def test_the_end_of_a_long_log_is_shown_first(
    service: Service, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And soon the charts of all of it, with everybody who worked on it."""
    monkeypatch.setattr("truebest.experiment.course.CHUNK", 20)
    experiment = Experiment.create(url, "long", ["a", "b"], bounds=(0, 1), seed=1, worker="early")
    experiment.tell([(pull, 0.5) for pull in experiment.ask(100)])
    other = Experiment.open(url, "long", worker="late")
    other.tell([(pull, 0.5) for pull in other.ask(150)])
    connection, stream = watch(service, "long")
    kind, first = message(stream)
    assert kind == "whole"
    assert (first["seq"], first["view"]["now"]["samples"]) == (501, [250])
    assert [line["seq"] for line in first["lines"]] == list(range(302, 502))
    assert first["points"]["samples"] == [250]
    assert "still being read" in first["view"]["reading"]
    other.tell(other.ask(1)[0], 0.25)
    while kind != "whole" or len(first["points"]["samples"]) < 5:
        kind, first = message(stream)
    assert first["points"]["samples"][-1] == 251
    workers = {one["worker"]: one["results"] for one in first["view"]["workers"]}
    assert workers == {"early": 100, "late": 151}
    assert first["lines"][-1]["value"] == 0.25
    connection.close()


def test_another_experiment_of_the_same_name_is_shown_anew(service: Service, url: str) -> None:
    """Whoever watches is told that the old one is gone, and finds the new one."""
    create(service, "replaced")
    connection, stream = watch(service, "replaced")
    assert message(stream)[1]["arms"] == ["a", "b"]
    Experiment.open(url, "replaced").delete()
    Experiment.create(url, "replaced", ["x", "y", "z"], bounds=(0, 1))
    assert message(stream)[0] == "broken"
    stream.read()  # to its end
    connection.close()
    connection, stream = watch(service, "replaced")
    assert message(stream)[1]["arms"] == ["x", "y", "z"]
    connection.close()


def test_a_damaged_log_is_a_state_of_its_own(tmp_path: Path) -> None:
    """The list says so, status says which line, and whoever watches is told."""
    import sqlite3

    url = f"sqlite:///{tmp_path}/damaged.db"
    Experiment.create(url, "bad", ["a", "b"], bounds=(0, 1)).observe("a", [0.5, 0.25])
    Experiment.create(url, "good", ["a", "b"], bounds=(0, 1))
    with sqlite3.connect(tmp_path / "damaged.db") as raw:
        raw.execute("UPDATE events SET value = 0.75 WHERE value = 0.25")
    raw.close()
    with serving(url) as service:
        for look in ("status", "export"):
            answer = service.get(f"/v1/{look}?experiment=bad")
            problem(answer, 500, "damaged", "line 5 of the log", "truebest verify")
        listed = service.get("/v1/experiments").json["experiments"]
        assert {one["name"]: one["state"] for one in listed} == {"bad": "broken", "good": "empty"}
        connection, stream = watch(service, "bad")
        kind, said = message(stream)
        assert kind == "broken"
        assert "line 5 of the log" in said["problem"]
        connection.close()


def test_openapi_describes_every_verb(service: Service) -> None:
    """For programs, and as a page without a script."""
    found = service.get("/openapi.json").json
    verbs = {"create", "ask", "tell", "observe", "fail", "renew", "retract", "reclaim", "stop"}
    looks = {"experiments", "status", "settings", "forecast", "history", "export", "report", "verify", "live"}
    assert {f"/v1/{word}" for word in verbs | looks | {"session"}} == set(found["paths"])
    page = service.get("/docs").body.decode()
    assert all(f"/v1/{word}" in page for word in verbs | looks)
    assert "<script" not in page
    assert "style=" not in page
    assert TOKEN not in page


def test_the_short_way_says_the_same(service: Service) -> None:
    """Asks and tells that are not plainly right take the usual way, whatever is wrong with them."""
    create(service, "short")
    asked = {"experiment": "short", "worker": "w", "n": 1}
    plain = service.post("/v1/ask", asked).json
    usual = service.post("/v1/ask", asked, Content_Type="application/json; charset=utf-8").json
    assert plain.keys() == usual.keys() == {"pulls", "reason"}
    assert [pull["id"] for pull in plain["pulls"] + usual["pulls"]] == [1, 2]
    bodies: list[Any] = [{**asked, "n": "1"}, {**asked, "more": 1}, {"experiment": "short"}, [], None]
    for body in bodies:
        text = json.dumps(body).encode()
        ways = [
            service.post("/v1/ask", text, Content_Type=kind)
            for kind in ("application/json", "application/json; charset=utf-8")
        ]
        assert ways[0].status == 400
        assert ways[0].body == ways[1].body
    problem(service.post("/v1/tell", {"experiment": "nobody", "results": []}), 404, "missing", "nobody")
    chunks = iter([b'{"experiment": "short", ', b'"results": [{"pull": 1, "value": 0.5}]}'])
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=600)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    connection.request("POST", "/v1/tell", chunks, headers, encode_chunked=True)
    assert json.loads(connection.getresponse().read()) == {"outcomes": [{"pull": 1, "outcome": "told"}]}
    connection.close()


def test_an_unexpected_error_is_a_problem_on_the_short_way(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """With nothing of its text in the answer, and a traceback in the log of the server."""
    create(service, "unexpected")

    def fails(*_: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(Experiment, "ask_for", fails)
    answer = service.post("/v1/ask", {"experiment": "unexpected", "worker": "w"})
    problem(answer, 500, "unexpected", "RuntimeError")
    assert b"secret" not in answer.body


def test_a_forecast_counts_down_until_the_next_one() -> None:
    """With many arms one takes seconds: what came since is taken off."""
    from concurrent.futures import ThreadPoolExecutor

    from truebest.server.live import Live

    with ThreadPoolExecutor(1) as pool:
        live = Live(Experiment.create("memory:", "e", ["a", "b"], bounds=(0, 1)), pool)
    assert live._left(5).samples is None
    live._forecast, live._predicted = Forecast(100, {}, low=20, high=200), 10
    left = live._left(40)
    assert (left.samples, left.low, left.high) == (70, 0, 170)
    assert left.words == "up to 170 more samples"
