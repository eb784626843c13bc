"""How a server is reached: directly, or through a proxy, under other names and perhaps under a prefix.

A proxy's plainest configuration hands on requests with the server's own name as Host, while the browser says
as Origin where it got the page. So a page belongs to the server if it comes from where the request was sent,
or from a name that was allowed. What a proxy says in X-Forwarded-Host and X-Forwarded-For is believed only
if it was switched on: anyone can send these headers to a server that no proxy protects.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import Scope

from ..errors import InvalidInputError

_NAME = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")
_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)*")


class Way:
    """How a server is reached.

    own      the address on which it listens, as it was given
    allowed  names under which it is reached besides, each with a port if it is not the usual one
    prefix   the path under which a proxy shows it, such as /runs; "" for none
    trusted  whether to believe a proxy that says where a request was sent, and by whom
    """

    def __init__(
        self, own: str = "", allowed: Collection[str] = (), prefix: str = "", trusted: bool = False
    ) -> None:
        self._allowed, self.trusted = {_checked(name.lower()) for name in allowed}, trusted
        self.names = {own.lower(), *(_host_of(name) for name in self._allowed)} - {""}
        self.prefix = prefix.rstrip("/")
        if not _PREFIX.fullmatch(self.prefix):
            raise InvalidInputError(
                f"--root-path must be a path such as /runs, got {prefix!r:.100}; it is the one under which "
                f"the proxy shows the page."
            )

    def within(self, scope: Scope) -> Scope:
        """A request without the prefix, whether the proxy leaves it or takes it away."""
        path = scope["path"]
        if not self.prefix or not path.startswith(self.prefix + "/"):
            return scope
        return {**scope, "path": path.removeprefix(self.prefix)}

    def host(self, headers: Headers) -> str:
        """Where a request was sent."""
        forwarded = headers.get("x-forwarded-host") if self.trusted else None
        return headers.get("host", "") if forwarded is None else forwarded

    def address(self, headers: Headers, scope: Scope) -> str:
        """Who sent it; of several proxies the last one says by whom it was called."""
        forwarded = headers.getlist("x-forwarded-for") if self.trusted else []
        if forwarded:
            return forwarded[-1].rpartition(",")[2].strip()
        return str(scope["client"][0]) if scope.get("client") else ""

    def is_own(self, origin: str, host: str) -> bool:
        """Whether a page of that origin may send a request to that host."""
        scheme, _, place = origin.lower().partition("://")
        return scheme in ("http", "https") and (place == host.lower() or place in self._allowed)


def _host_of(name: str) -> str:
    found = _NAME.fullmatch(name)
    assert found is not None
    return found.group(1)


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidInputError(
            f"--allow-host must be a name, with a port if it is not the usual one, got {name!r:.100}; "
            f"write for example runs.example.org."
        )
    return name
