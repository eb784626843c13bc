"""Read the URL of a PostgreSQL store without ever repeating its password.

libpq reads it, but its messages quote whatever it could not read, and a `/` or `@` that is not
percent-encoded makes it take a piece of the password for the host or the database. So none of its messages
is passed on, and what is ambiguous is refused before a piece of it gets into an error or to a name server.
"""

from __future__ import annotations

import re

import psycopg
from psycopg.conninfo import conninfo_to_dict

from ...errors import InvalidInputError

# How libpq begins to say what is wrong, and what to make of it; the rest of its sentence is not shown.
REASONS = {
    "invalid percent-encoded token": "a % is not followed by two hexadecimal digits",
    "forbidden value %00": "there is a %00",
    "unexpected spaces found": "there is a space",
    "end of string reached": "the [ of an IPv6 address has no ]",
    "IPv6 host address may not be empty": "an IPv6 address is empty",
    "unexpected character": "there is a character where none is allowed",
    "invalid URI query parameter": "a parameter after the ? is unknown",
    "missing key/value separator": "a parameter after the ? has no =",
    "extra key/value separator": "a parameter after the ? has more than one =",
}


def read_url(url: str) -> dict[str, str]:
    """The parameters of a connection, by libpq's names for them.

    Raises  InvalidInputError without any part of the URL: what cannot be read may be a password
    """
    found, reason = _parsed(url)
    reason = reason or _ambiguity(url, found)
    if reason:  # raised here and not above, so that no exception of the driver stands behind it
        raise InvalidInputError(
            "a PostgreSQL store must be postgresql://USER@HOST:PORT/DATABASE, got one that cannot be read:"
            f" {reason}; in names and passwords write % as %25, / as %2F, @ as %40, : as %3A and a space as"
            " %20, or keep the password in ~/.pgpass"
        )
    return found


def _parsed(url: str) -> tuple[dict[str, str], str]:
    """The parameters, or why there are none."""
    try:
        return {name: str(value) for name, value in conninfo_to_dict(url).items()}, ""
    except UnicodeError:
        return {}, "not all of its characters are Unicode"
    except psycopg.Error as error:
        said = str(error)
        return {}, next(
            (ours for begin, ours in REASONS.items() if said.startswith(begin)), "libpq refuses it"
        )


def _ambiguity(url: str, found: dict[str, str]) -> str:
    """Why a piece of the password may have been taken for something else, or ""."""
    _, _, rest = url.partition("://")
    path = rest.partition("/")[2].partition("?")[0]
    if url.count("@") > 1 or "@" in path or "=" in path:
        return "there is an @ or = where none is allowed"
    if not re.fullmatch(r"[0-9,]*", found.get("port", "")):
        return "the port is not a number"
    return ""
