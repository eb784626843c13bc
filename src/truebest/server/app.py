"""The application: all addresses behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .. import __version__
from ..errors import TruebestError
from ..experiment.store import Store
from . import requests
from .answers import ProblemError, answer, answer_invalid, no_such_page, problem_of
from .desks import Desks
from .guard import SESSION, Guard
from .pages import add_pages, static_files
from .reads import Reads
from .tokens import DAYS, Tokens
from .way import Way
from .writes import Writes

RATE = 1000.0  # requests a second per address
Verb = Callable[[Any], Awaitable[Response]]
ABOUT = (
    "Everything that the commands of truebest do, as JSON over HTTP. Every request needs a token, as "
    "Authorization: Bearer TOKEN; what changes an experiment needs the one that permits everything. "
    "Errors are application/problem+json, with a sentence in `detail` and a code for programs: invalid "
    "(400), missing (404), suspended (409), store (503: nothing is lost, send it again)."
)


class Quick:
    """Wraps an application: the two calls that come most often are answered without the framework's detours.

    `/v1/ask` and `/v1/tell` are routes like the others, and described like them. But much of the time of such
    a request goes into finding the route, its dependencies and the form of its answer, and a server of many
    workers does little else. So a request that is as it must be goes from here to the same method at once;
    any other one takes the usual way, which says what is wrong with it.

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


def make_app(
    store: Store, tokens: Tokens, way: Way, port: int = 0, rate: float = RATE
) -> tuple[ASGIApp, Desks]:
    """The application, and the desks of its experiments.

    way    how the server is reached
    port   where it listens: names its cookie, since a browser sends a cookie to all ports of a host
    rate   requests a second per address
    """
    desks = Desks(store)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:  # noqa: ARG001
        yield
        desks.close()

    app = FastAPI(
        title="truebest",
        version=__version__,
        description=ABOUT,
        servers=[{"url": way.prefix or "/"}],
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        exception_handlers={
            TruebestError: answer,
            RequestValidationError: answer_invalid,
            StarletteHTTPException: _answer_http,
            Exception: answer,
        },
    )
    cookie = f"truebest-{port}"
    static = static_files()
    add_pages(app, static)
    _add_session(app, tokens, cookie, way.prefix or "/")
    verbs = Writes(desks)
    app.include_router(verbs.router())
    app.include_router(Reads(desks).router())
    quick = Quick(app, {"/v1/ask": (requests.Ask, verbs.ask), "/v1/tell": (requests.Tell, verbs.tell)})
    return Guard(quick, tokens, static.keys(), way, cookie, rate), desks


def _add_session(app: FastAPI, tokens: Tokens, cookie: str, path: str) -> None:
    """A cookie in exchange for a token, for the page."""

    @app.post(SESSION, tags=["the page"])
    async def begin(request: Request) -> Response:
        """Get a cookie that permits reading, in exchange for the token in the header."""
        _, _, token = request.headers.get("authorization", "").partition(" ")
        response = Response(status_code=204)
        if token:  # a cookie alone is not renewed
            response.set_cookie(
                cookie,
                tokens.cookie(token.strip()),
                max_age=int(DAYS),
                path=path,
                httponly=True,
                samesite="strict",
                secure=request.headers.get("origin", "").startswith("https:"),
            )
        return response

    @app.delete(SESSION, tags=["the page"])
    async def end() -> Response:
        """Forget the cookie."""
        response = Response(status_code=204)
        response.delete_cookie(cookie, path, httponly=True, samesite="strict")
        return response


async def _answer_http(request: Request, error: Exception) -> Response:
    """What Starlette itself refuses; and what the guard found while the body was read."""
    assert isinstance(error, HTTPException | StarletteHTTPException)
    cause = error.__cause__
    if isinstance(cause, ProblemError):
        return cause.response()
    if error.status_code == 404:
        return no_such_page(request.url.path).response()
    path = request.url.path
    if error.status_code == 405:
        words = f"{path} does not take {request.method}; /docs says what it takes."
        return ProblemError(405, "wrong-method", words, error.headers).response()
    words = f"the request to {path} cannot be read ({error.detail}); /docs says what it takes."
    return ProblemError(error.status_code, "invalid", words).response()


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
