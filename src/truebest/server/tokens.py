"""Who may do what: a token for everything, another one for reading, and a cookie for the page.

A cookie only ever permits reading, so that no other page in the same browser can change an experiment through
it. It is not the token: it holds the time of its end and a code that only who knows the token can make, so it
outlives a restart of the server with the same token.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from enum import IntEnum

from ..errors import InvalidInputError

SHORTEST = 16
DAYS = 7 * 86_400.0


class Role(IntEnum):
    """What a request may do."""

    READ = 1
    WRITE = 2


class Tokens:
    """The tokens of a server.

    write  permits everything
    read   permits reading, None if there is none
    """

    def __init__(self, write: str, read: str | None = None) -> None:
        check_token("token", write)
        if read is not None:
            check_token("read-token", read)
            if hmac.compare_digest(read, write):
                raise InvalidInputError(
                    "the token for reading must differ from the one that permits everything, got the same "
                    "twice; leave one of them out."
                )
        self._tokens = {Role.WRITE: write.encode()} | ({} if read is None else {Role.READ: read.encode()})

    def role(self, token: str) -> Role | None:
        """What a token permits; compared in a time that says nothing about it."""
        given = token.encode("utf-8", "replace")
        fits = [role for role, own in self._tokens.items() if hmac.compare_digest(own, given)]
        return fits[0] if fits else None

    def cookie(self, token: str, now: float | None = None) -> str:
        """For the page, once a token was shown."""
        end = f"{(time.time() if now is None else now) + DAYS:.0f}"
        return f"{end}.{_code(token.encode(), end)}"

    def accepts(self, cookie: str, now: float | None = None) -> bool:
        """Whether a cookie is one of ours, and has not ended."""
        end, _, code = cookie.partition(".")
        fits = [hmac.compare_digest(_code(own, end).encode(), code.encode()) for own in self._tokens.values()]
        return any(fits) and float(end) > (time.time() if now is None else now)


def _code(token: bytes, end: str) -> str:
    return hmac.new(hashlib.sha256(token).digest(), f"truebest page {end}".encode(), "sha256").hexdigest()


def new_token() -> str:
    """One that cannot be guessed."""
    return secrets.token_urlsafe(32)


def check_token(name: str, token: str) -> str:
    """Long enough, and fit for a header."""
    if len(token) < SHORTEST or not all("!" <= character <= "~" for character in token):
        raise InvalidInputError(
            f"--{name} must have at least {SHORTEST} visible ASCII characters without spaces, got "
            f"{len(token)} characters; leave it out, and one is made."
        )
    return token
