"""Nobody in who does not belong: what is checked of every request before anything else sees it.

In this order: is it meant for this server (Host: a page that made its own name point here has another one);
does another page send it (Origin, Sec-Fetch-Site); does its address ask too much; does it come with a token,
or with the page's cookie; may it do that; is it small enough. Only the empty page and its files need none.
"""

from __future__ import annotations

import ipaddress
import re
import time
from collections import OrderedDict
from collections.abc import Collection
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .answers import ProblemError
from .tokens import Role, Tokens
from .way import Way

LARGEST = 4 * 2**20  # bytes of a body
MOST_ADDRESSES = 10_000
READING = ("GET", "HEAD")
SAID_ONCE = (
    *(b"host", b"origin", b"sec-fetch-site", b"authorization", b"cookie", b"content-length"),
    b"x-forwarded-host",
)
SESSION = "/v1/session"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_RAW_HEADERS = tuple((name.lower().encode(), value.encode()) for name, value in HEADERS.items())
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")


class Rate:
    """So many requests a second per address, and somewhat more at once.

    rate   a second
    burst  at once
    """

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # address -> how many, when

    def wait(self, address: str, now: float | None = None) -> float:
        """Count a request; how many seconds it is too early, 0 if it may be answered."""
        now = time.monotonic() if now is None else now
        left, then = self._left.pop(address, (self.burst, now))
        left = min(self.burst, left + self.rate * (now - then))
        late = left >= 1.0
        self._left[address] = (left - 1.0 if late else left, now)
        if len(self._left) > MOST_ADDRESSES:
            self._left.popitem(last=False)
        return 0.0 if late else (1.0 - left) / self.rate


class Guard:
    """Wraps an application.

    app      what it wraps
    tokens   who may do what
    public   paths that need no token
    way      how the server is reached
    cookie   the name of the page's cookie
    rate     requests a second per address
    """

    def __init__(
        self,
        app: ASGIApp,
        tokens: Tokens,
        public: Collection[str],
        way: Way,
        cookie: str,
        rate: float,
    ) -> None:
        self._app, self._tokens, self._public = app, tokens, public
        self._way, self._cookie = way, cookie
        self._rate, self._wrong = Rate(rate, 2.0 * rate), Rate(1.0, 10.0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and hand it on or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # a web socket: closed by the server
        scope = self._way.within(scope)
        send = _with_headers(send, scope["path"])
        try:
            headers = Headers(scope=scope)
            self._check_origin(headers, scope)
            self._check(headers, scope)
            receive = _limited(receive, headers)
            await self._app(scope, receive, send)
        except ProblemError as problem:
            await problem.response()(scope, receive, send)

    def _check_origin(self, headers: Headers, scope: Scope) -> None:
        """Refuse what is meant for another server, what another page sends, and what says both."""
        names = [name for name, _ in scope["headers"]]
        twice = [name.decode() for name in SAID_ONCE if names.count(name) > 1]
        if twice:
            words = f"the header {twice[0]} must be sent at most once, got it twice; leave one out."
            raise ProblemError(400, "invalid", words)
        if b"content-length" in names and b"transfer-encoding" in names:  # a proxy may see another end
            words = "a request must have Content-Length or Transfer-Encoding, got both; leave one out."
            raise ProblemError(400, "invalid", words, {"Connection": "close"})
        host = self._way.host(headers)
        if not self._is_ours(host):
            raise ProblemError(
                421,
                "wrong-host",
                f"this server is not {host!r:.200}; use its address, or start it with --allow-host NAME.",
            )
        if scope["path"] in self._public and scope["method"] in READING:
            return  # the same for everybody, and without data
        origin = headers.get("origin")
        if origin is not None and not self._way.is_own(origin, host):
            raise ProblemError(
                403,
                "wrong-origin",
                f"requests of other pages are refused, got one of {origin!r:.200}; call the service from a "
                f"program, or from its own page; behind a proxy, start it with --allow-host NAME.",
            )
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise ProblemError(
                403, "wrong-origin", "requests of other pages are refused, got one; open the page itself."
            )

    def _is_ours(self, host: str) -> bool:
        """Whether a Host header names an address, localhost, or a name that was allowed."""
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = match.group(1).lower()
        if name == "localhost" or name in self._way.names:
            return True
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    def _check(self, headers: Headers, scope: Scope) -> None:
        """Refuse whoever asks too much, has no token, or may not do that."""
        address = self._way.address(headers, scope)
        early = self._rate.wait(address)
        if early:
            raise _too_many(early, "requests")
        path, reads = scope["path"], scope["method"] in READING
        if path in self._public and reads:
            return
        role = self._role(headers, address)
        if role < Role.WRITE and not reads and path != SESSION:
            raise ProblemError(
                403,
                "read-only",
                "this token permits reading only, got a request to change something; send the other token, "
                "as Authorization: Bearer TOKEN.",
            )

    def _role(self, headers: Headers, address: str) -> Role:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme:
            role = self._tokens.role(token.strip()) if scheme.lower() == "bearer" else None
        else:
            role = Role.READ if self._has_cookie(headers) else None
        if role is not None:
            return role
        early = self._wrong.wait(address) if scheme else 0.0
        if early:
            raise _too_many(early, "wrong tokens")
        got = "another one" if scheme else "none"
        raise ProblemError(
            401,
            "unauthorized",
            f"this needs a token, got {got}; send the one that `truebest serve` printed or was given, as "
            f"Authorization: Bearer TOKEN.",
            {"WWW-Authenticate": 'Bearer realm="truebest"'},
        )

    def _has_cookie(self, headers: Headers) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return False
        return found is not None and self._tokens.accepts(found.value)


def _too_many(early: float, what: str) -> ProblemError:
    return ProblemError(
        429,
        "too-many",
        f"too many {what} from this address; wait {early:.2g} s, then send fewer of them, "
        f"with more pulls each.",
        {"Retry-After": f"{max(1.0, early):.0f}"},
    )


def _limited(receive: Receive, headers: Headers) -> Receive:
    """Refuse a body that is too long, by what it says of itself or by what comes."""
    said = headers.get("content-length", "0")
    if not said.isdecimal() or int(said) > LARGEST:
        raise _too_large()
    got = 0

    async def counted() -> Message:
        nonlocal got
        message = await receive()
        got += len(message.get("body", b""))
        if got > LARGEST:
            raise _too_large()
        return message

    return counted


def _too_large() -> ProblemError:
    return ProblemError(
        413,
        "too-large",
        f"a body must have at most {LARGEST} bytes, got more; send it in several parts.",
        {"Connection": "close"},
    )


def _with_headers(send: Send, path: str) -> Send:
    """Add what every answer says, unless it says otherwise itself."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            said = {name for name, _ in message["headers"]}
            kept = b"no-cache" if path.startswith("/static/") else b"no-store"
            every = (*_RAW_HEADERS, (b"cache-control", kept))
            message["headers"] = [*message["headers"], *(one for one in every if one[0] not in said)]
        await send(message)

    return sent
