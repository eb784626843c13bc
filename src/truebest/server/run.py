"""Listen, say where, and end cleanly: what is being done is finished, and those who watch are let go."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import socket
import threading
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any, cast

import uvicorn

from ..errors import InvalidInputError
from ..experiment.store import open_store
from .app import RATE, make_app
from .connections import AT_ONCE, Connection, Crowd, Seldom, most_connections
from .desks import Desks
from .tokens import Tokens
from .way import Way

BACKLOG = 512  # connections that may wait to be accepted
USED_UP = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
PATIENCE = 5  # seconds for what is being done when the end comes


class Server(uvicorn.Server):
    """Ends when it is told to, and says by which signal, instead of raising it again."""

    def __init__(self, config: uvicorn.Config, desks: Desks) -> None:
        super().__init__(config)
        self._desks = desks
        self._used_up = Seldom()
        self.ended_by: int | None = None

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals as long as it runs, if this is the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def handle_exit(self, sig: int, frame: object) -> None:  # noqa: ARG002
        """A second signal does not wait for what is being done."""
        self.force_exit = self.should_exit
        self.should_exit, self.ended_by = True, sig

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept a few connections at once, though many more may wait."""
        asyncio.get_running_loop().set_exception_handler(self._failed)
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(BACKLOG)

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """One line per minute, and no traceback, where no file is left for a connection."""
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in USED_UP:
            self._used_up.say(f"no connection can be accepted for a second ({error.strerror})")
        else:
            loop.default_exception_handler(context)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """First let those go who watch: their connections would never end."""
        self._desks.end()
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """A socket to listen on; port 0 for any.

    Raises  InvalidInputError if the address or the port cannot be had
    """
    try:
        kind, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address, family=kind, backlog=BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        raise InvalidInputError(
            f"cannot listen on {host!r:.100}, port {port} ({error}); give another --port, or --host."
        ) from error


def make_server(
    store: str, tokens: Tokens, listening: socket.socket, way: Way | None = None, rate: float = RATE
) -> Server:
    """A server for experiments of a store; `run(sockets=[listening])` serves until a signal ends it."""
    way = way or Way()
    most = most_connections()
    of_one = most if way.trusted else most // 2  # all connections are the proxy's
    app, desks = make_app(open_store(store), tokens, way, listening.getsockname()[1], rate)
    config = uvicorn.Config(
        app,
        log_level="error",  # what strangers send is no line of the log
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        # of h11, which limits the length of headers
        http=cast(type[asyncio.Protocol], partial(Connection, Crowd(most, of_one))),
        backlog=AT_ONCE,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=PATIENCE,
    )
    return Server(config, desks)


def serve(
    store: str,
    tokens: Tokens,
    ready: Callable[[str], None],
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    allowed: Collection[str] = (),
    prefix: str = "",
    trusted: bool = False,
    rate: float = RATE,
) -> int | None:
    """Serve until a signal ends it; returns the signal.

    ready  called with the server's URL as soon as it listens; for the others see `Way`
    """
    way = Way(host, allowed, prefix, trusted)
    with listen(host, port) as listening:
        server = make_server(store, tokens, listening, way, rate)
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listening.getsockname()[1]}")
        server.run(sockets=[listening])
    return server.ended_by
