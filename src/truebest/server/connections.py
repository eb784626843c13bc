"""Connections: as many as the process has files for, and none that waits for ever.

A request that comes slowly, or not at all, must not keep others out. So its connection is closed after a
while, and at once where another one needs its place: of those that wait for a request, the one that has
completed none for longest has to go. One address takes no more than its part of all places.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections import Counter, OrderedDict
from contextlib import suppress
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

try:
    from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
except ImportError:  # Windows, where sockets are not files
    getrlimit = None  # type: ignore[assignment]

HEAD = (
    10.0  # seconds from the first byte of a request, or from the opening of a connection, to its last header
)
SLOWEST = 60.0  # and to its last byte
MOST = 2_000  # connections
AT_ONCE = 32  # that are accepted before the first of them is looked at
SPARE = 128  # files for these, and for what else the process opens
PAUSE = 60.0  # seconds between two lines of the same kind
_log = logging.getLogger("truebest")


def most_connections() -> int:
    """How many connections the files that this process may open are enough for."""
    if getrlimit is None:
        return MOST
    files = getrlimit(RLIMIT_NOFILE)[0]
    return MOST if files == RLIM_INFINITY else min(MOST, max(files - SPARE, files // 2))


class Seldom:
    """Says something at most once per minute, however often it happens."""

    def __init__(self) -> None:
        self._count, self._due = 0, 0.0

    def say(self, words: str) -> None:
        """Count it, and say it if it was not said lately."""
        self._count += 1
        now = time.monotonic()
        if now >= self._due:
            self._due = now + PAUSE
            _log.warning("%s (%d so far)", words, self._count)


class Crowd:
    """The connections of a server.

    most     how many there may be
    for_one  how many of them may come from one address
    """

    def __init__(self, most: int, for_one: int) -> None:
        self.most, self.for_one = most, for_one
        self._open: OrderedDict[Connection, str] = OrderedDict()  # by when they last completed a request
        self._of: Counter[str] = Counter()
        self._closed = Seldom()

    def enter(self, connection: Connection, address: str) -> None:
        """Let a connection in; where there are too many, one that waits for a request is closed for it."""
        self._open[connection] = address
        self._of[address] += 1
        if self._of[address] > self.for_one:
            self._close_one(address)
        elif len(self._open) > self.most:
            self._close_one(None)

    def completed(self, connection: Connection) -> None:
        """A request has come as a whole."""
        self._open.move_to_end(connection)

    def leave(self, connection: Connection) -> None:
        """A connection is gone."""
        address = self._open.pop(connection, None)
        if address is not None:
            self._of[address] -= 1
            if not self._of[address]:
                del self._of[address]

    def _close_one(self, address: str | None) -> None:
        """Close the connection that waits for longest, of an address or of all; the last one always waits."""
        chosen = next(one for one, whose in self._open.items() if one.waits and address in (None, whose))
        self.leave(chosen)
        chosen.transport.abort()
        self._closed.say(
            f"connections that waited for a request were closed: at most {self.most} may be open, "
            f"{self.for_one} of one address"
        )


class Connection(H11Protocol):
    """One of uvicorn's, which is closed if a request has not come as a whole in time."""

    _timer: asyncio.TimerHandle  # one for all requests: to begin and cancel one for each takes longer
    _begun: float | None  # when a request began that is not there yet, or the waiting for the first one

    def __init__(self, crowd: Crowd, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._crowd = crowd

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        with suppress(OSError):  # asyncio does so only for sockets made with the number of the protocol
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._begun = self.loop.time()
        self._crowd.enter(self, self.client[0] if self.client else "")
        self._look()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a request, unless it is there."""
        if self._begun is None:
            self._begun = self.loop.time()
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._begun = None
            self._crowd.completed(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._timer.cancel()
        self._crowd.leave(self)
        super().connection_lost(exc)

    @property
    def waits(self) -> bool:
        """Whether a request has not come as a whole, and none is being answered."""
        return self._begun is not None or self.cycle is None or self.cycle.response_complete

    def _look(self) -> None:
        """Close the connection if the time for a request is over, or look again when it would be."""
        now = self.loop.time()
        patience = HEAD if self.conn.their_state is h11.IDLE else SLOWEST
        end = (now if self._begun is None else self._begun) + patience
        if end <= now:
            self.transport.close()
        else:
            self._timer = self.loop.call_at(end, self._look)
