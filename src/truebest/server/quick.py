"""The two calls that come most often, answered without the framework's detours.

`/v1/ask` and `/v1/tell` are routes like the others, and described like them. But much of the time of such a
request goes into finding the route, its dependencies and the form of its answer, and a server of many workers
does little else. So a request that is as it must be goes from here to the same method at once; any other one
takes the usual way, which says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import TruebestError
from .answers import problem_of

Verb = Callable[[Any], Awaitable[Response]]


class Quick:
    """Wraps an application.

    app    what it wraps
    verbs  path -> what a body must be, and what is done with it
    """

    def __init__(self, app: ASGIApp, verbs: Mapping[str, tuple[type[BaseModel], Verb]]) -> None:
        self._app, self._verbs = app, verbs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        found = self._verbs.get(scope.get("path", ""))
        plain = (b"content-type", b"application/json")
        if found is None or scope["method"] != "POST" or plain not in scope["headers"]:
            await self._app(scope, receive, send)
            return
        kind, verb = found
        body = await _whole(receive)
        try:
            given = kind.model_validate_json(body)
        except ValidationError:
            await self._app(scope, _again(body, receive), send)
            return
        try:
            response = await verb(given)
        except Exception as error:
            await problem_of(error).response()(scope, receive, send)
            if not isinstance(error, TruebestError):
                raise
        else:
            await response(scope, receive, send)


async def _whole(receive: Receive) -> bytes:
    """The body; what has come of it, if whoever sends it is gone."""
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _again(body: bytes, receive: Receive) -> Receive:
    """Receives a body that was already read, and then what comes after it."""
    left = [body]

    async def received() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return received
