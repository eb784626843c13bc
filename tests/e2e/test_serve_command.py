"""`truebest serve` as a process: what it prints, and how it ends."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.commands import refused, run
from truebest import Experiment

TOKEN = "a-token-for-these-tests"


def start(store: str, *words: str, **environment: str) -> tuple[subprocess.Popen[str], int, str]:
    """A server, its port, and what it printed until it listened."""
    process = subprocess.Popen(
        [sys.executable, "-m", "truebest", "serve", "--store", store, "--port", "0", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TRUEBEST_JIT": "0", **environment},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stderr is not None
    said = process.stderr.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+);", said)
    assert found, said + process.stderr.read()
    return process, int(found.group(1)), said


def get(port: int, path: str, token: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}", "Connection": "close"})
    return connection.getresponse()


@pytest.fixture
def store(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/runs.db"
    Experiment.create(url, "prompts", ["a", "b"], bounds=(0, 1))
    return url


def test_a_token_is_made_and_shown_once(store: str) -> None:
    """On stderr, when none is given; it works, and is in no other line, whatever is asked."""
    process, port, _ = start(store)
    assert process.stderr is not None
    token = process.stderr.readline().rsplit(" ", 1)[1].strip()
    assert len(token) >= 40
    with get(port, "/v1/experiments", token) as answer:
        assert answer.status == 200
    with get(port, "/nothing", token) as answer:
        assert answer.status == 404
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out) == (0, "")
    assert token not in err


def test_sigterm_ends_it_cleanly_though_somebody_watches(store: str) -> None:
    """Within seconds, with code 0, and those who watch see the end of their stream."""
    process, port, said = start(store, TRUEBEST_TOKEN=TOKEN)
    assert TOKEN not in said
    with get(port, "/v1/live?experiment=prompts", TOKEN) as stream:
        assert stream.readline() == b"event: whole\n"
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        stream.read()
    out, err = process.communicate(timeout=600)
    assert time.monotonic() - begun < 4.0
    assert (process.returncode, out) == (0, "")
    assert err == "truebest: the server has ended; everything that it acknowledged is stored.\n"


def test_ctrl_c_ends_it_with_code_130(store: str) -> None:
    """As every command, without a traceback."""
    process, port, _ = start(store, "--token", TOKEN)
    with get(port, "/v1/experiments", TOKEN) as answer:
        assert answer.status == 200
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err


def test_it_listens_on_loopback_only(store: str) -> None:
    """Unless told: another address of this machine gets no answer."""
    process, port, _ = start(store, TRUEBEST_TOKEN=TOKEN)
    try:
        with socket.create_connection(("127.0.0.1", port), 5):
            pass
        with pytest.raises(OSError), socket.create_connection(("127.0.0.2", port), 5):
            pass
    finally:
        process.terminate()
        process.communicate(timeout=600)


def test_what_cannot_be_served_is_said_in_a_sentence(store: str) -> None:
    """A port that is taken, a weak token, no store."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        refused(run("serve", "--store", store, "--port", port, "--token", TOKEN), f"port {port}")
    refused(run("serve", "--store", store, "--token", "guess"), "at least 16 visible ASCII characters")
    refused(run("serve", "--store", store, "--token", TOKEN, "--read-token", TOKEN), "must differ")
    refused(run("serve", "--store", store, "--port", "99999"), "port must be a whole number from 0 to 65535")
    refused(run("serve", "--store", store, "--host", "no such host", "--token", TOKEN), "cannot listen on")
    refused(run("serve"), "no store was given")
