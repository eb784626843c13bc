"""Connections that do not wait for ever: whoever sends a request slowly must not keep others out."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

SLOWEST = 60.0  # seconds from the first byte of a request, or from the opening of a connection, to its last


class Connection(H11Protocol):
    """One of uvicorn's, which is closed if a request has not come as a whole in time."""

    _timer: asyncio.TimerHandle  # one for all requests: to begin and cancel one for each takes longer
    _begun: float | None  # when a request began that is not there yet, or the waiting for the first one

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        with suppress(OSError):  # asyncio does so only for sockets made with the number of the protocol
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._begun = self.loop.time()
        self._look()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a request, unless it is there."""
        if self._begun is None:
            self._begun = self.loop.time()
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._begun = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._timer.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Close the connection if the time for a request is over, or look again when it would be."""
        now = self.loop.time()
        end = (now if self._begun is None else self._begun) + SLOWEST
        if end <= now:
            self.transport.close()
        else:
            self._timer = self.loop.call_at(end, self._look)
