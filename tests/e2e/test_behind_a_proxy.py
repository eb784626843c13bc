"""`truebest serve` behind nginx: the plainest configuration, a prefix, TLS."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.devtools import browser
from support.service import READ_TOKEN, TOKEN, Service, serving
from support.system import require
from truebest import Experiment, StoreError, connect
from truebest.server.way import Way

pytestmark = pytest.mark.slow

NAME = "runs.example.org"
FORWARDED = (
    "proxy_set_header X-Forwarded-Host $http_host;"
    " proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"
)


@contextmanager
def nginx(listen: str, location: str, extra: str = "") -> Iterator[None]:
    """A proxy with one location."""
    program = require("nginx")["nginx"]
    folder = Path(tempfile.mkdtemp(prefix="nginx-", dir="/tmp"))
    places = " ".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ access_log off; {places} server {{ listen {listen}; {extra} {location} }} }}\n"
    )
    port = int(listen.split()[0].rpartition(":")[2])
    with subprocess.Popen([program, "-p", folder, "-c", folder / "nginx.conf"]) as process:
        try:
            for _ in range(200):
                with socket.socket() as raw:
                    if raw.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield
        finally:
            process.terminate()
    shutil.rmtree(folder)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@pytest.fixture
def url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/runs.db"
    Experiment.create(url, "prompts", ["a", "b"], bounds=(0, 1))
    return url


@pytest.mark.parametrize("prefix", ["", "/runs", "/deep/runs"])
@pytest.mark.parametrize("stripped", [True, False])
def test_login_and_calls_through_the_plainest_proxy(url: str, prefix: str, stripped: bool) -> None:
    """With the name allowed, a page that came from the proxy may log in; others may not, nor without it."""
    port = free_port()
    with serving(url, way=Way("", [f"{NAME}:{port}"], prefix)) as server:
        target = f"{server.url}/" if stripped else server.url
        with nginx(f"127.0.0.1:{port}", f"location {prefix}/ {{ proxy_pass {target}; }}"):
            proxy = Service(port)
            own = f"http://{NAME}:{port}"
            got = proxy.post(f"{prefix}/v1/session", None, Host=f"{NAME}:{port}", Origin=own)
            assert got.status == 204, got.body
            assert f"Path={prefix or '/'}" in got.headers["set-cookie"]
            cookie = got.headers["set-cookie"].partition(";")[0]
            listed = proxy.ask("GET", f"{prefix}/v1/experiments", Cookie=cookie, Origin=own)
            assert listed.json["total"] == 1
            for other in ("http://evil.example.org", f"http://{NAME}", f"http://{NAME}:{port}1"):
                assert proxy.post(f"{prefix}/v1/session", None, Origin=other).status == 403
            with connect(f"http://127.0.0.1:{port}{prefix}", token=TOKEN) as service:
                assert service.names() == ["prompts"]
    with serving(url) as server, nginx(f"127.0.0.1:{port}", f"location / {{ proxy_pass {server.url}; }}"):
        refused = Service(port).post("/v1/session", None, Origin=f"http://{NAME}:{port}")
        assert (refused.status, refused.json["code"]) == (403, "wrong-origin")
        assert "--allow-host" in refused.json["detail"]


def test_what_a_proxy_says_is_believed_only_if_that_was_switched_on(url: str) -> None:
    """Where a request was sent, and by whom: wrong tokens of one address do not keep out another."""
    port = free_port()
    for trusted in (True, False):
        with serving(url, way=Way("", [f"runs.example.org:{port}"], trusted=trusted)) as server:
            location = f"location / {{ proxy_pass {server.url}; {FORWARDED} }}"
            with nginx(f"127.0.0.1:{port}", location):
                proxy = Service(port)
                stranger = proxy.get("/v1/experiments", Host="evil.example.org")
                assert stranger.status == (421 if trusted else 200)
                assert proxy.get("/v1/experiments", Host=f"runs.example.org:{port}").status == 200
            direct = server.get("/v1/experiments", X_Forwarded_Host="evil.example.org")
            assert direct.status == (421 if trusted else 200)
            guesses = [
                server.get(
                    "/v1/experiments", f"guess-number-{i}-and-more", X_Forwarded_For=f"9.9.9.9, 8.8.8.{i}"
                )
                for i in range(40)
            ]
            assert ({answer.status for answer in guesses} == {401}) == trusted


@pytest.mark.parametrize("prefix", ["", "/runs"])
def test_the_page_works_behind_a_proxy(url: str, tmp_path: Path, prefix: str) -> None:
    """Signed in through nginx, with its files, the list and the live view, and nothing on the console."""
    require("chromium")
    port = free_port()
    with (
        serving(url, way=Way("", [f"127.0.0.1:{port}"], prefix)) as server,
        nginx(f"127.0.0.1:{port}", f"location {prefix}/ {{ proxy_pass {server.url}/; }}"),
        browser(tmp_path) as tab,
    ):
        tab.open(f"http://127.0.0.1:{port}{prefix}/")
        tab.until("document.querySelector('#token')")
        tab.run(f"document.querySelector('#token').value = {json.dumps(READ_TOKEN)}")
        tab.click("form button")
        tab.until("document.querySelector('.list a')")
        tab.click(".list a")
        tab.until("document.querySelector('#live').textContent === 'Live'")
        experiment = Experiment.open(url, "prompts")
        experiment.tell([(pull, 0.5) for pull in experiment.ask(4)])
        tab.until("document.querySelector('.tiles').textContent.includes('4')")
        assert tab.problems == []


def test_a_self_signed_certificate_is_the_cause(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said at once, with what to do; and that helps."""
    program, port = require("openssl")["openssl"], free_port()
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    words += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([program, *words], check=True, capture_output=True)
    secure = f"ssl_certificate {certificate}; ssl_certificate_key {key};"
    with serving(url) as server:
        location = f"location / {{ proxy_pass {server.url}; }}"
        with nginx(f"127.0.0.1:{port} ssl", location, secure):
            begun = time.monotonic()
            with pytest.raises(StoreError, match="not trusted: it is self-signed; nothing was sent"):
                connect(f"https://localhost:{port}", token=TOKEN)
            assert time.monotonic() - begun < 100, "trying again does not help"
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
            with connect(f"https://localhost:{port}", token=TOKEN) as service:
                assert service.names() == ["prompts"]
