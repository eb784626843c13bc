"""Where the logs of experiments live. A store is chosen by a URL.

    memory:                     in this process; a new and empty one each time
    sqlite:///runs.db           a file, relative to the current folder; several processes may use it
    sqlite:////home/me/runs.db  the same, absolute
    postgresql://host/database  a server, for many machines; any URL that libpq understands

A file's name is everything after `sqlite:///`, letter for letter: `%20` and `?` mean themselves.

A store of your own is a subclass of `Store` whose blocks give a subclass of `Log`. `to_rows` makes the
columns of lines, with their hashes, `checked_entries` the lines again; `truebest.testing` checks the store.
"""

from __future__ import annotations

import os

from ..._text import quoted_store
from ...errors import InvalidInputError
from ..events import Entry
from ._base import Log, Store
from ._rows import checked_entries, to_rows

__all__ = ["Entry", "Log", "Store", "checked_entries", "open_store", "to_rows"]


def open_store(url: str | Store) -> Store:
    """The store at a URL; a store itself is returned as it is.

    A SQLite file is created with the first experiment, not before.
    Raises  InvalidInputError if that is no such URL, StoreError if the store cannot be opened
    """
    if isinstance(url, Store):
        return url
    if not isinstance(url, str) or "\0" in url:
        raise _not_a_url(url)
    if url == "memory:":
        from .memory import MemoryStore

        return MemoryStore(url)
    if url.startswith("sqlite:///") and _is_file(url.removeprefix("sqlite:///")):
        from .sqlite import SqliteStore

        return SqliteStore(url)
    if url.startswith(("postgresql://", "postgres://")):
        return _open_postgres(url)
    raise _not_a_url(url)


def _is_file(name: str) -> bool:
    """Whether the operating system can have such a file; another URL, say from a variable, is none."""
    try:
        os.fsencode(name)
    except UnicodeError:
        return False
    return bool(name.strip("/")) and "://" not in name


def _open_postgres(url: str) -> Store:
    try:
        from .postgres import PostgresStore
    except ImportError as error:
        raise InvalidInputError(
            "a store on PostgreSQL needs the package psycopg, which cannot be imported"
            f" ({error}); install it with `pip install 'truebest[postgres]'`"
        ) from error
    return PostgresStore(url)


def _not_a_url(given: object) -> InvalidInputError:
    return InvalidInputError(
        f"a store must be memory:, sqlite:///FILE or postgresql://HOST/DATABASE, got {quoted_store(given)};"
        " for a file in the current folder write for example sqlite:///runs.db"
    )
