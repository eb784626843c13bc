"""A server of the service for tests: in a thread of its own, on a port of its own."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from truebest.server.run import listen, make_server
from truebest.server.tokens import Tokens

TOKEN, READ_TOKEN = "test-token-for-everything", "test-token-for-reading"


@dataclass(frozen=True)
class Answer:
    """What came back: the status, the headers in small letters, the body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Service:
    """Where it is, and requests to it."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """A request as it is, with no token; the names of headers with _ for -."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        try:
            connection.request(method, path, data, given)
            got = connection.getresponse()
            return Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())
        finally:
            connection.close()

    def get(self, path: str, token: str = READ_TOKEN, **headers: str) -> Answer:
        """A request to read."""
        return self.ask("GET", path, None, Authorization=f"Bearer {token}", **headers)

    def post(self, path: str, body: Any, token: str = TOKEN, **headers: str) -> Answer:
        """A request to change something."""
        given = {"Content_Type": "application/json", "Authorization": f"Bearer {token}", **headers}
        return self.ask("POST", path, body, **given)


@contextmanager
def serving(store: str, **settings: Any) -> Iterator[Service]:
    """A server for the experiments of a store."""
    with listen("127.0.0.1", 0) as listening:
        server = make_server(store, Tokens(TOKEN, READ_TOKEN), listening, **settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield Service(listening.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(600)
            assert not thread.is_alive()
