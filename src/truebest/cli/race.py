"""`truebest race`: which of several commands is the fastest?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._records import plain
from .._text import harmless
from ..errors import InvalidInputError, TruebestError
from . import OTHER, say
from ._experiment import Listing
from ._numbers import read_number
from ._output import Format, Output, answering, code_of, print_table, put
from ._settings import Option, with_settings

if TYPE_CHECKING:
    from ..running.standings import Race
    from ._timed import Timed

MOST = 200
SHELL = "/bin/sh"
COLUMNS = ["name", "mean", "deviation", "median", "least", "most", "won", "lost", "ratio"]
_SYNTAX = re.compile(r"[|&;<>()$`*?\[\]{}~#\n]|^\s*\w+=")  # what a shell would do something about
_QUOTED = re.compile(r"'[^']*'|\\.")


class Clock(StrEnum):
    """What `--measure` takes."""

    wall = "wall"
    cpu = "cpu"


Lines = Annotated[list[str], typer.Argument(metavar="COMMAND...", help="The commands; quote each of them.")]
Names = Annotated[
    list[str] | None,
    typer.Option("--command-name", "-n", metavar="NAME", help="A name for a command, in their order."),
]


def _tolerance(word: str) -> Any:
    """5% or 0.05."""
    found = read_number(word.removesuffix("%"))
    return found / 100.0 if word.endswith("%") and not isinstance(found, str) else found


RACED = {
    "tolerance": Option("5%: up to 1.05 times as long as the fastest is good enough.", "PERCENT", _tolerance),
    "max_rounds": Option(
        "Give up after so many rounds.", "INT", read_number, names=("--max-rounds", "--runs", "-r")
    ),
    "timeout": Option("Give up after so many seconds.", "SECONDS", read_number),
    "run_timeout": Option("Stop a run that takes longer; it counts as a loss.", "SECONDS", read_number),
    "warmup": Option(
        "Runs of each before the race that do not count.", "INT", read_number, "1", ("--warmup", "-w")
    ),
    "ignore_failure": Option(
        "A run that fails counts as a loss, and does not end the race.", names=("--ignore-failure", "-i")
    ),
    "direct": Option("Also find out that there is no fastest, if who beats whom is circular."),
}
Measured = Annotated[Clock, typer.Option(help="Time by the clock, or of the processor.")]
Prepare = Annotated[
    list[str] | None,
    typer.Option(
        "--prepare",
        "-p",
        metavar="COMMAND",
        help="Do this before each run, not timed; once for all commands, or one for each, in their order.",
    ),
]
Expect = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Exit with code 5 if it is found that another one is fastest."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no live view and no remarks.")]


@with_settings("delta", "seed", own=RACED)
def race(
    command: Lines,
    *,
    settings: dict[str, Any],
    prepare: Prepare = None,
    measure: Measured = Clock.wall,
    command_name: Names = None,
    expect: Expect = None,
    quiet: Quiet = False,
    format: Listing = Format.table,
) -> int:
    """Find the fastest of several commands, wrong with probability at most delta; nothing to configure.

    Fastest means: faster than each other command in more than half of all rounds. That is not the smallest
    mean: a command that is usually faster and now and then very slow wins.

    In each round every command that may still be the fastest runs once, in random order, one at a time. The
    race ends when the answer is proven, whatever the distributions of times; equal commands race for ever
    without --max-rounds, --timeout or --tolerance. A shell runs them only if one of them needs it.

    Exits with code 0 when decided (also if no command is the fastest), 3 when a budget ran out, 5 when
    --expect names a command that is not the fastest.

    Example: truebest race 'sort -n big' 'sort -g big'
    """
    lines = _named(command, command_name or [])
    if expect is not None and expect not in lines:
        raise InvalidInputError(
            f"--expect must name a command of the race, got {expect!r}; choose from "
            f"{', '.join(map(repr, list(lines)[:8]))}."
        )
    from ..running.race import RaceRun

    patience, delta = settings.pop("run_timeout", None), settings.pop("delta", None)
    options = {"rng": settings.pop("seed", None), "progress": False if quiet else None, **settings}
    with _track(lines, patience, prepare or []) as timed:
        course = RaceRun(timed, delta, measure=measure.value, **options)
        for one in timed.values():
            one.left = lambda: course.left
        found = course.run()
    return _finish(found, expect, quiet, format)


def _named(lines: list[str], names: list[str]) -> dict[str, str]:
    """Name -> command; a command without a name of its own is called what it is."""
    if not 2 <= len(lines) <= MOST:
        raise InvalidInputError(
            f"a race needs 2 to {MOST} commands, got {len(lines)}; write them like: "
            f"truebest race 'sort -n big' 'sort -g big'."
        )
    if len(names) > len(lines):
        raise InvalidInputError(
            f"there are {len(names)} names for {len(lines)} commands; give at most one --command-name each."
        )
    found: dict[str, str] = {}
    for name, line in zip([*names, *lines[len(names) :]], lines, strict=True):
        number, shown = 2, name
        while shown in found:
            shown, number = f"{name} ({number})", number + 1
        found[shown] = line
    return found


def needs_shell(line: str) -> bool:
    """Whether a line has something that only a shell understands, outside of single quotes."""
    return _SYNTAX.search(_QUOTED.sub("", line)) is not None


@contextmanager
def _track(lines: dict[str, str], run_timeout: Any, prepare: list[str]) -> Iterator[dict[str, Timed]]:
    """The commands, ready to be timed; at the end none is left running."""
    if not hasattr(os, "killpg"):
        raise TruebestError(
            "commands can be timed on Linux and macOS only; elsewhere use truebest.race in Python."
        )
    from ..experiment.checks import seconds
    from ._commands import Commands, ended_by_signals
    from ._timed import Timed

    if len(prepare) not in (0, 1, len(lines)):
        raise InvalidInputError(
            f"give --prepare once for all commands or once for each, got {len(prepare)}; add or remove some."
        )
    patience = None if run_timeout is None else seconds("run_timeout", run_timeout)
    commands = Commands()
    shell = SHELL if any(map(needs_shell, lines.values())) else ""
    timed = {name: Timed(line, commands, shell, patience) for name, line in lines.items()}
    for one, line in zip(timed.values(), prepare * (len(lines) if len(prepare) == 1 else 1), strict=False):
        one.prepare = Timed(line, commands, SHELL if needs_shell(line) else "")
    with ExitStack() as stack:
        stack.enter_context(commands.guarded())
        stack.callback(commands.close)
        stack.enter_context(ended_by_signals())
        yield timed


def _finish(found: Race, expect: str | None, quiet: bool, format: Format) -> int:
    """Print what was found; the exit code."""
    with answering():
        _show(found, format)
    if not quiet:
        for warning in found.warnings():
            say(f"{warning}.")
        if not found.result.decided:
            say("give a larger --max-rounds or --timeout, or a --tolerance within which two are the same.")
    code = code_of(found.result, expect)
    if code == OTHER:
        say(f"expected {expect}, but {found.best or 'none'} is {'faster' if found.best else 'the fastest'}.")
    return code


def _show(found: Race, format: Format) -> None:
    def people() -> None:
        print(harmless(str(found)))
        print()
        print_table(*table)

    rows = [plain({**one._asdict(), "ratio": one.ratio.estimate}) for one in found.standings]
    header, cells = found.table()
    table = list(map(harmless, header)), [list(map(harmless, row)) for row in cells]
    put(format, Output(rows, COLUMNS, found.to_dict(), table, people))
