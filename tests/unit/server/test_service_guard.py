"""Nobody in who does not belong: tokens, cookies, hosts, origins, sizes, rates and headers of the service."""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path

import pytest

from support.service import READ_TOKEN, TOKEN, Answer, Service, serving
from truebest import Experiment, InvalidInputError
from truebest.server import connections, guard
from truebest.server.connections import HEAD
from truebest.server.guard import MOST_ADDRESSES, Rate
from truebest.server.tokens import DAYS, Role, Tokens, new_token
from truebest.server.way import Way

READS = [
    *("/openapi.json", "/docs", "/v1/experiments", "/v1/status?experiment=e", "/v1/settings?experiment=e"),
    *("/v1/forecast?experiment=e", "/v1/history?experiment=e", "/v1/export?experiment=e"),
    *("/v1/report?experiment=e", "/v1/verify?experiment=e", "/v1/live?experiment=e"),
]
WRITES = [
    f"/v1/{verb}"
    for verb in ["create", "ask", "tell", "observe", "fail", "renew", "retract", "reclaim", "stop"]
]
ELSEWHERE = [
    "/nothing",
    "/static/",
    "/static/../app.py",
    "/static/%2e%2e/app.py",
    "//",
    "/v1",
    "/favicon.ico",
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    url = f"sqlite:///{tmp_path_factory.mktemp('guard')}/runs.db"
    Experiment.create(url, "e", ["a", "b"], bounds=(0, 1))
    with serving(url, way=Way("", ["runs.example.org"]), rate=10_000.0) as found:
        yield found


def code(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json["code"]


def page_cookie(service: Service, token: str = TOKEN) -> str:
    answer = service.post("/v1/session", None, token)
    assert answer.status == 204
    return answer.headers["set-cookie"].partition(";")[0]


@pytest.mark.parametrize("path", [*READS, *WRITES, *ELSEWHERE, "/v1/session"])
def test_without_a_token_everything_is_401(service: Service, path: str) -> None:
    """By any method, whether it exists or not; nothing says which."""
    for method in ("GET", "POST", "DELETE", "OPTIONS"):
        answer = service.ask(method, path, Content_Type="application/json")
        assert code(answer) == (401, "unauthorized"), (method, path)
        assert answer.headers["www-authenticate"].startswith("Bearer")


def test_only_the_empty_page_and_its_files_are_public(service: Service) -> None:
    """They hold no data; and only to look at."""
    assert service.ask("GET", "/").status == 200
    assert service.ask("GET", "/static/style.css").status == 200
    assert service.ask("HEAD", "/").status == 200
    for path in ("/", "/static/style.css"):
        assert code(service.ask("POST", path)) == (401, "unauthorized")


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"bearer{TOKEN}"]
)
def test_a_wrong_token_is_401(header: str, tmp_path: Path) -> None:
    """Nearly right is wrong."""
    with serving(f"sqlite:///{tmp_path}/a.db") as fresh:
        assert code(fresh.ask("GET", "/v1/experiments", Authorization=header)) == (401, "unauthorized")
        cookie = f"truebest-{fresh.port}=9999999999.{'0' * 64}"
        assert code(fresh.ask("GET", "/v1/experiments", Cookie=cookie)) == (401, "unauthorized")
        assert fresh.ask("GET", f"/v1/experiments?token={TOKEN}").status == 401, "never in a URL"


def test_the_token_for_reading_reads(service: Service) -> None:
    """Everything that can be read, and nothing else."""
    for path in READS[:-1]:
        assert service.get(path, READ_TOKEN).status == 200, path
    for path in WRITES:
        assert code(service.post(path, {"experiment": "e"}, READ_TOKEN)) == (403, "read-only"), path


def test_the_page_exchanges_its_token_for_a_cookie(service: Service) -> None:
    """Strictly same-site, http-only, not the token; it reads, and cannot write whatever the token could."""
    for token in (TOKEN, READ_TOKEN):
        given = service.post("/v1/session", None, token).headers["set-cookie"]
        morsel = next(iter(SimpleCookie(given).values()))
        assert morsel.key == f"truebest-{service.port}"
        assert morsel["httponly"]
        assert morsel["samesite"].lower() == "strict"
        assert token not in given
        cookie = given.partition(";")[0]
        assert service.ask("GET", "/v1/experiments", Cookie=cookie).status == 200
        for path in WRITES:
            answer = service.ask("POST", path, b"{}", Cookie=cookie, Content_Type="application/json")
            assert code(answer) == (403, "read-only")
        again = service.ask("POST", "/v1/session", Cookie=cookie)
        assert again.status == 204
        assert "set-cookie" not in again.headers, "a cookie does not make another one"
    gone = service.ask("DELETE", "/v1/session", Cookie=page_cookie(service))
    assert "truebest-" in gone.headers["set-cookie"]
    assert "Max-Age=0" in gone.headers["set-cookie"]


def test_behind_https_the_cookie_is_secure(service: Service) -> None:
    """The page's origin says how the browser reached it."""
    host = f"127.0.0.1:{service.port}"
    plain = service.post("/v1/session", None, Origin=f"http://{host}")
    secure = service.post("/v1/session", None, Origin=f"https://{host}")
    assert "secure" not in plain.headers["set-cookie"].lower()
    assert "secure" in secure.headers["set-cookie"].lower()


def test_cookies_end_and_hang_on_the_token() -> None:
    """After seven days; another token, or a changed time, makes them void."""
    tokens, other = Tokens("a" * 20, "b" * 20), Tokens("c" * 20)
    for token in ("a" * 20, "b" * 20):
        cookie = tokens.cookie(token, now=1e9)
        assert tokens.accepts(cookie, now=1e9 + DAYS - 10)
        assert not tokens.accepts(cookie, now=1e9 + DAYS + 10)
        assert not other.accepts(cookie, now=1e9)
        end, _, rest = cookie.partition(".")
        assert not tokens.accepts(f"{int(end) + 1}.{rest}", now=1e9)
    for bad in ("", ".", "x.y", "nan.", "9e9.ü"):
        assert not tokens.accepts(bad)


def test_tokens_are_long_and_differ() -> None:
    """One that could be guessed is refused, with a sentence that does not repeat it."""
    assert Tokens("a" * 20, "b" * 20).role("b" * 20) is Role.READ
    assert Tokens("a" * 20).role("ü") is None
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token()) >= 40
    for bad in ("short-secret", "with space and more of it", "ümlaut" * 5, ""):
        with pytest.raises(InvalidInputError, match="at least 16 visible ASCII") as error:
            Tokens(bad)
        assert not bad or bad not in str(error.value)
    with pytest.raises(InvalidInputError, match="must differ"):
        Tokens("a" * 20, "a" * 20)


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("127.0.0.1", True),
        ("127.0.0.1:9000", True),
        ("localhost:8000", True),
        ("[::1]:8000", True),
        ("192.168.1.7", True),
        ("RUNS.example.org", True),
        ("runs.example.org:443", True),
        ("evil.example.org", False),
        ("localhost.evil.org", False),
        ("127.0.0.1.evil.org", False),
        ("", False),
        ("localhost:8000@evil.org", False),
        ("127.0.0.1, evil.org", False),
    ],
)
def test_a_stranger_s_name_is_refused(service: Service, host: str, allowed: bool) -> None:
    """DNS rebinding: a page whose name was made to point here. Not even the empty page is given."""
    for path in ("/", "/v1/experiments"):
        answer = service.get(path, Host=host)
        assert (answer.status == 200) == allowed, answer.body
        assert allowed or code(answer) == (421, "wrong-host")


@pytest.mark.parametrize(
    "origin", ["http://evil.example.org", "null", "http://127.0.0.1:1", "http://localhost"]
)
def test_another_page_s_requests_are_refused(service: Service, origin: str) -> None:
    """CSRF: with or without a token, to read or to write, also of another port of this host."""
    cookie = page_cookie(service)
    for method, path in (("GET", "/v1/experiments"), ("POST", "/v1/stop"), ("POST", "/v1/session")):
        answer = service.ask(method, path, Origin=origin, Cookie=cookie, Authorization=f"Bearer {TOKEN}")
        assert code(answer) == (403, "wrong-origin")
    own = f"http://127.0.0.1:{service.port}"
    assert service.ask("GET", "/v1/experiments", Origin=own, Cookie=cookie).status == 200


@pytest.mark.parametrize(("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 200)])
def test_what_the_browser_says_of_a_request_counts(service: Service, site: str, status: int) -> None:
    """Sec-Fetch-Site, which no page can set; a link to the page itself works from anywhere."""
    cookie = page_cookie(service)
    assert service.ask("GET", "/v1/experiments", Cookie=cookie, Sec_Fetch_Site=site).status == status
    assert service.ask("GET", "/", Sec_Fetch_Site=site).status == 200


def test_every_answer_has_the_headers(service: Service) -> None:
    """Also errors: a strict policy without inline scripts and styles, no sniffing, no framing."""
    for answer in (
        service.ask("GET", "/"),
        service.get("/v1/experiments"),
        service.ask("GET", "/v1/experiments"),
        service.get("/nothing"),
        service.get("/docs"),
    ):
        policy = answer.headers["content-security-policy"]
        assert policy == guard.POLICY
        assert "unsafe" not in policy
        assert policy.startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers


def test_a_body_that_is_too_long_is_refused(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what it says of itself, and by what comes, if it says nothing."""
    monkeypatch.setattr(guard, "LARGEST", 1000)
    assert code(service.post("/v1/tell", b"x" * 1001)) == (413, "too-large")
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=600)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    connection.request("POST", "/v1/tell", iter([b"x" * 600, b"x" * 600]), headers, encode_chunked=True)
    answer = connection.getresponse()
    assert answer.status == 413
    connection.close()
    assert service.post("/v1/tell", b"x" * 999).status == 400


def sent(service: Service, text: str) -> bytes:
    """What is answered to a request as it stands, until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", service.port), 30) as raw:
        raw.sendall(text.encode())
        return b"".join(iter(lambda: raw.recv(65536), b""))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Host: localhost", "Host: evil.example.org"),
        ("Origin: http://localhost", "Origin: http://evil.example.org"),
        ("Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"),
        (f"Authorization: Bearer {READ_TOKEN}", f"Authorization: Bearer {TOKEN}"),
    ],
)
def test_a_header_that_is_said_twice_is_refused(service: Service, first: str, second: str) -> None:
    """Or one check would see one of them, and what comes after it the other."""
    head = "" if first.startswith("Host") else "Host: localhost\r\n"
    token = "" if first.startswith("Auth") else f"Authorization: Bearer {TOKEN}\r\n"
    for one in (f"{first}\r\n{second}", f"{second}\r\n{first}"):
        text = f"GET /v1/experiments HTTP/1.1\r\n{head}{token}{one}\r\nConnection: close\r\n\r\n"
        assert sent(service, text).startswith(b"HTTP/1.1 400 ")
    text = f"GET /v1/experiments HTTP/1.1\r\n{head}{token}{first}\r\nConnection: close\r\n\r\n"
    assert sent(service, text).startswith(b"HTTP/1.1 200 "), "once it is fine"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "GET / HTTP/1.1\r\nHost: local",
        f"POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
        "Content-Length: 99\r\n\r\n{",
    ],
)
def test_a_request_that_does_not_come_is_not_waited_for(
    service: Service, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing, half a head, half a body, at first or later: the connection is closed without an answer."""
    monkeypatch.setattr(connections, "HEAD", 0.1)
    monkeypatch.setattr(connections, "SLOWEST", 0.2)
    assert sent(service, text) == b""
    with socket.create_connection(("127.0.0.1", service.port), 30) as raw:
        raw.sendall(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert raw.recv(65536).startswith(b"HTTP/1.1 200 ")
        raw.sendall(text.encode() or b"G")
        assert raw.recv(65536) == b""


def test_a_stream_outlives_the_time_for_a_request(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is slow is the answer then, not the request."""
    monkeypatch.setattr(connections, "HEAD", 0.1)
    monkeypatch.setattr(connections, "SLOWEST", 0.2)
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=600)
    connection.request("GET", "/v1/live?experiment=e", headers={"Authorization": f"Bearer {READ_TOKEN}"})
    stream = connection.getresponse()
    assert stream.readline() == b"event: whole\n"
    time.sleep(0.6)
    assert service.post("/v1/ask", {"experiment": "e", "worker": "w"}).status == 200
    while stream.readline() != b"event: more\n":
        pass
    connection.close()


def half_sent(port: int, source: str, count: int) -> list[socket.socket]:
    """Connections from an address of this machine that will never say what they want."""
    made = []
    for _ in range(count):
        raw = socket.create_connection(("127.0.0.1", port), 30, (source, 0))
        with contextlib.suppress(OSError):  # it may be closed already
            raw.sendall(b"GET / HTTP/1.1\r\nHost: local")
        made.append(raw)
    return made


@pytest.mark.parametrize("sources", [["127.0.0.9"], [f"127.0.0.{i}" for i in range(10, 20)]])
def test_requests_that_are_half_sent_keep_nobody_out(tmp_path: Path, sources: list[str]) -> None:
    """More than there are files, from one address or from many: others are answered, one line is logged."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256));"
        "from truebest.__main__ import main; sys.argv[1:] = ['serve', '--port', '0', *sys.argv[1:]]; main()"
    )
    words = ["--store", f"sqlite:///{tmp_path}/a.db", "--token", TOKEN]
    with subprocess.Popen([sys.executable, "-c", code, *words], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r":(\d+);", process.stderr.readline())
        assert found is not None
        service = Service(int(found.group(1)))
        stuck: list[socket.socket] = []
        try:
            for _ in range(3):
                for source in sources:
                    stuck += half_sent(service.port, source, 150 // len(sources))
                begun = time.monotonic()
                assert service.get("/v1/experiments", TOKEN).status == 200
                assert time.monotonic() - begun < HEAD / 2, "it did not wait for their end"
        finally:
            for raw in stuck:
                raw.close()
            process.terminate()
            said = process.stderr.read()
    lines = [line for line in said.splitlines() if "truebest: " not in line]
    assert len(lines) == 1, said
    assert "connections that waited for a request were closed: at most 128 may be open" in lines[0]


def test_a_stream_is_not_closed_for_a_newcomer() -> None:
    """Nor is a call that is being answered: only who waits for a request has to go, the longest first."""
    crowd = connections.Crowd(3, 2)

    class Place:
        def __init__(self, waits: bool) -> None:
            self.waits, self.transport, self.closed = waits, self, False

        def abort(self) -> None:
            self.closed = True

    stream, first, second, newcomer, last = (Place(waits) for waits in (False, True, True, True, True))
    for one, address in ((stream, "a"), (first, "a"), (second, "b"), (newcomer, "c")):
        crowd.enter(one, address)  # type: ignore[arg-type]
    assert (stream.closed, first.closed, second.closed) == (False, True, False)
    crowd.completed(second)  # type: ignore[arg-type]
    crowd.enter(last, "b")  # type: ignore[arg-type]
    assert (newcomer.closed, second.closed) == (True, False), "it has completed a request since"


def test_a_length_beside_an_encoding_is_refused(service: Service) -> None:
    """A proxy and the server could see different ends of the request, and so different requests."""
    head = f"POST /v1/tell HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    both = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    answer = sent(service, head + both)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1") == 1
    assert b"must have Content-Length or Transfer-Encoding" in answer


def test_no_file_of_the_server_is_read(service: Service, tmp_path: Path) -> None:
    """Items are a path in Python; here one would tell what files there are, and what is in them."""
    (tmp_path / "secret.txt").write_text("the same line\nthe same line\n")
    path = str(tmp_path / "secret.txt")
    for items in (path, {"size": path, "digest": "", "version": 1}, {"size": -1, "digest": "", "version": 1}):
        body = {"experiment": "files", "arms": ["a", "b"], "bounds": [0, 1], "items": items}
        answer = service.post("/v1/create", body)
        assert code(answer) == (400, "invalid")
        assert "same line" not in answer.json["detail"]
        assert "items" in answer.json["detail"]


def test_headers_that_are_too_long_are_refused(service: Service) -> None:
    """Nobody fills the memory without a token."""
    with socket.create_connection(("127.0.0.1", service.port), 30) as raw:
        raw.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        with pytest.raises(OSError):  # noqa: PT012 - one of many sends fails, once the server has closed
            for _ in range(10_000):
                raw.sendall(b"X-Filler: " + b"x" * 1000 + b"\r\n")
    assert service.ask("GET", "/").status == 200


def test_too_many_requests_are_refused(tmp_path: Path) -> None:
    """Per address, with the time to wait; wrong tokens far sooner."""
    with serving(f"sqlite:///{tmp_path}/a.db", rate=5.0) as slow:
        answers = [slow.get("/v1/experiments") for _ in range(30)]
        assert {answer.status for answer in answers} == {200, 429}
        late = next(answer for answer in answers if answer.status == 429)
        assert code(late) == (429, "too-many")
        assert int(late.headers["retry-after"]) >= 1
    with serving(f"sqlite:///{tmp_path}/a.db") as guessed:
        wrong = [guessed.get("/v1/experiments", f"guess-number-{i}-and-more") for i in range(15)]
        assert [answer.status for answer in wrong[:10]] == [401] * 10
        assert wrong[-1].status == 429
        assert guessed.get("/v1/experiments").status == 200, "who has the token is not kept out"


def test_a_rate_recovers_and_forgets() -> None:
    """By the clock; a million addresses take no more memory than ten thousand."""
    rate = Rate(2.0, 3.0)
    assert [rate.wait("a", now=0.0) for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert rate.wait("b", now=0.0) == 0.0
    assert rate.wait("a", now=0.5) == 0.0
    assert rate.wait("a", now=0.5) > 0.0
    for i in range(MOST_ADDRESSES + 5):
        rate.wait(str(i), now=1.0)
    assert rate.wait("a", now=1.0) == 0.0
