"""Requests to a server of truebest: connections that are kept, what is sent again, and errors as exceptions.

What does no harm twice is sent again when the connection or the server fails, until `patience` is over: to
read, to tell a value, to renew a lease. What would, such as asking for pulls, is sent again only if it surely
did not arrive.
"""

from __future__ import annotations

import http.client
import json
import selectors
import ssl
import threading
import time
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

from ..errors import InvalidInputError, StoreError, SuspendedError, TruebestError

IDLE = 30.0  # seconds after which a kept connection is not used again: the server may have closed it
PAUSE = 0.5  # seconds between two attempts
ERRORS: dict[str, type[TruebestError]] = {
    "invalid": InvalidInputError,
    "missing": InvalidInputError,
    "unauthorized": InvalidInputError,
    "read-only": InvalidInputError,
    "suspended": SuspendedError,
    "store": StoreError,
    "damaged": StoreError,
}
PASSING = (429, 502, 503, 504)  # answers that may be another one soon


class Wire:
    """One server; for many threads, with as many connections as are needed at once.

    url       http:// or https://, with a host
    token     that `truebest serve` printed or was given
    timeout   seconds to wait for an answer
    patience  seconds during which what failed is sent again
    """

    def __init__(self, url: str, token: str, timeout: float, patience: float) -> None:
        self.url, self._token, self._timeout, self._patience = url, token, timeout, patience
        self._place = urlsplit(url)
        self._idle: list[tuple[http.client.HTTPConnection, float]] = []  # and since when
        self._lock = threading.Lock()

    def get(self, path: str, **query: Any) -> Any:
        """Read something."""
        return self._send("GET", f"{path}?{urlencode(query)}", None, harmless=True)

    def post(self, path: str, body: Mapping[str, Any], *, harmless: bool = False) -> Any:
        """Change something.

        harmless  whether it does no harm to send it twice
        """
        return self._send("POST", path, json.dumps(body).encode(), harmless=harmless)

    def close(self) -> None:
        """Close the connections; they are opened again when they are needed."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _send(self, method: str, path: str, body: bytes | None, *, harmless: bool) -> Any:
        end = time.monotonic() + self._patience
        while True:
            connection, arrived = self._connection(), False
            try:
                if connection.sock is None:
                    connection.connect()
                arrived = True
                status, answer = self._exchange(connection, method, path, body)
                with self._lock:
                    self._idle.append((connection, time.monotonic()))
            except ssl.SSLCertVerificationError as error:
                connection.close()
                raise self._untrusted(error) from error
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if time.monotonic() >= end or (arrived and not harmless):
                    raise self._lost(error, arrived) from error
            else:
                if status == 429 or (status in PASSING and harmless and time.monotonic() < end):
                    if time.monotonic() >= end:
                        raise _error(status, answer)
                elif status >= 400:
                    raise _error(status, answer)
                else:
                    return answer
            time.sleep(PAUSE)

    def _connection(self) -> http.client.HTTPConnection:
        """One that is idle, or a new one."""
        now = time.monotonic()
        with self._lock:
            while self._idle:
                connection, since = self._idle.pop()
                if now - since < IDLE and not _is_closed(connection):
                    return connection
                connection.close()
        secure = self._place.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        return kind(self._place.netloc, timeout=self._timeout)

    def _exchange(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None
    ) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        connection.request(method, self._place.path.rstrip("/") + path, body, headers)
        with connection.getresponse() as response:
            text = response.read()
            try:
                return response.status, json.loads(text) if text else None
            except ValueError:
                return max(response.status, 502), {}

    def _untrusted(self, error: ssl.SSLCertVerificationError) -> StoreError:
        why = error.verify_message
        own = "it is self-signed" if "self-signed" in why or "self signed" in why else why
        return StoreError(
            f"the certificate of {self.url} is not trusted: {own}; nothing was sent. Put the certificate, or "
            f"that of its signer, into a file, and the path of the file into the variable SSL_CERT_FILE."
        )

    def _lost(self, error: Exception, arrived: bool) -> StoreError:
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        if not arrived:
            words = "nothing was sent; check the address, and that `truebest serve` runs there"
        else:
            words = (
                "whether the call was carried out is not known; look at the status, and `reclaim` the pulls "
                "of this worker if it was asking for some"
            )
        return StoreError(f"the server at {self.url} does not answer ({why}); {words}.")


class Wired:
    """What is reached through a wire, and closes it."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def close(self) -> None:
        """Close the connections; they are opened again when they are needed."""
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_closed(connection: http.client.HTTPConnection) -> bool:
    """Whether the server has closed an idle connection: then there is something to read, its end."""
    if connection.sock is None:
        return True
    with selectors.DefaultSelector() as waiting:
        waiting.register(connection.sock, selectors.EVENT_READ)
        return bool(waiting.select(0.0))


def _error(status: int, answer: Any) -> TruebestError:
    """The exception that the server met, or what its answer means."""
    problem = answer if isinstance(answer, dict) else {}
    said = problem.get("detail") or f"the server answered with {status}, and not as truebest does"
    kind = ERRORS.get(problem.get("code", ""), StoreError)
    return kind(said)
