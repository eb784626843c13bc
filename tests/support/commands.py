"""Run a command of `truebest` inside the test's own process: as from a shell, without the start-up."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Sequence
from typing import NamedTuple

from truebest.cli import main


class Ran(NamedTuple):
    """How a command ended, and what it said where."""

    code: int
    out: str
    err: str


def run(*words: str, stdin: str | bytes = b"") -> Ran:
    """`truebest WORDS < stdin`."""
    data = stdin if isinstance(stdin, bytes) else stdin.encode()
    out, err, before = io.StringIO(), io.StringIO(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(data))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(list(words))
    finally:
        sys.stdin = before
    return Ran(code, out.getvalue(), err.getvalue())


def instead(words: Sequence[str], *more: str) -> list[str]:
    """The words, but for those options that are said again in more, behind them."""
    places = [i for i, word in enumerate(words) if word.startswith("--") and word in more]
    return [word for i, word in enumerate(words) if i not in places and i - 1 not in places] + list(more)


def refused(ran: Ran, part: str, code: int = 2) -> None:
    """Nothing on stdout, one sentence on stderr that says this."""
    assert (ran.code, ran.out) == (code, ""), ran
    assert ran.err.startswith("truebest: ")
    assert ran.err.count("\n") == 1
    assert part in ran.err, ran.err
    assert "please report it" not in ran.err
