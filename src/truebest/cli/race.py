"""`truebest race`: which of several commands is the fastest?"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._records import plain
from .._text import harmless
from ..errors import InvalidInputError, TruebestError
from . import say
from ._experiment import Delta, Seed, seed_of
from ._numbers import to_number, to_seconds, to_whole
from ._output import ListingFormat, check_writable, print_csv, print_json, print_table
from ._race_commands import Competitor, competitors, shell_for

if TYPE_CHECKING:
    from ..running.standings import Race
    from ._timed import Timed


class Clock(StrEnum):
    """What `--measure` takes."""

    wall = "wall"
    cpu = "cpu"


Lines = Annotated[list[str], typer.Argument(metavar="COMMAND...", help="The commands; quote each of them.")]
Names = Annotated[
    list[str] | None,
    typer.Option("--command-name", "-n", metavar="NAME", help="A name for a command, in their order."),
]
Tolerance = Annotated[
    str | None,
    typer.Option(metavar="PERCENT", help="5%: up to 1.05 times as long as the fastest is good enough."),
]
Warmup = Annotated[
    str, typer.Option("--warmup", "-w", metavar="INT", help="Runs of each before the race that do not count.")
]
Rounds = Annotated[
    str | None,
    typer.Option("--max-rounds", "--runs", "-r", metavar="INT", help="Give up after so many rounds."),
]
Timeout = Annotated[str | None, typer.Option(metavar="SECONDS", help="Give up after so many seconds.")]
RunTimeout = Annotated[
    str | None, typer.Option(metavar="SECONDS", help="Stop a run that takes longer; it counts as a loss.")
]
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
Setup = Annotated[
    str | None,
    typer.Option("--setup", "-s", metavar="COMMAND", help="Do this once for each, before all runs."),
]
Cleanup = Annotated[
    str | None,
    typer.Option("--cleanup", "-c", metavar="COMMAND", help="Do this once for each, after all runs."),
]
Shell = Annotated[
    str | None,
    typer.Option(
        "--shell",
        "-S",
        metavar="SHELL",
        help="Run all commands with this shell, like bash, or none; default: sh if any has shell syntax.",
    ),
]
Ignore = Annotated[
    bool,
    typer.Option(
        "--ignore-failure", "-i", help="A run that fails counts as a loss, and does not end the race."
    ),
]
Output = Annotated[
    str,
    typer.Option(metavar="WHERE", help="Where what commands print goes: null, inherit, or a file."),
]
Values = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--parameter-list", "-L", metavar="NAME V1,V2,...", help="Race a command with each value for {NAME}."
    ),
]
Scan = Annotated[
    tuple[str, str, str] | None,
    typer.Option(
        "--parameter-scan", "-P", metavar="NAME MIN MAX", help="The same, with the numbers from MIN to MAX."
    ),
]
Step = Annotated[
    str, typer.Option("--parameter-step-size", "-D", metavar="NUMBER", help="The step of --parameter-scan.")
]
Direct = Annotated[
    bool,
    typer.Option("--direct", help="Also find out that there is no fastest, if who beats whom is circular."),
]
Expect = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Exit with code 1 if it is found that another one is fastest."),
]
JsonFile = Annotated[str | None, typer.Option(metavar="FILE", help="Write all times and results as JSON.")]
CsvFile = Annotated[str | None, typer.Option(metavar="FILE", help="Write the results as CSV.")]
MarkdownFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write the results as a table in Markdown.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no live view and no remarks.")]
Printed = Annotated[ListingFormat, typer.Option(help="Output format of the result.")]


def race(
    command: Lines,
    delta: Delta = None,
    tolerance: Tolerance = None,
    max_rounds: Rounds = None,
    timeout: Timeout = None,
    run_timeout: RunTimeout = None,
    warmup: Warmup = "1",
    prepare: Prepare = None,
    setup: Setup = None,
    cleanup: Cleanup = None,
    measure: Measured = Clock.wall,
    shell: Shell = None,
    ignore_failure: Ignore = False,
    output: Output = "null",
    command_name: Names = None,
    parameter_list: Values = None,
    parameter_scan: Scan = None,
    parameter_step_size: Step = "1",
    direct: Direct = False,
    expect: Expect = None,
    export_json: JsonFile = None,
    export_csv: CsvFile = None,
    export_markdown: MarkdownFile = None,
    seed: Seed = None,
    quiet: Quiet = False,
    format: Printed = ListingFormat.table,
) -> int:
    """Find the fastest of several commands, wrong with probability at most delta; nothing to configure.

    Fastest means: faster than each other command in more than half of all rounds. That is not the smallest
    mean: a command that is usually faster and now and then very slow wins.

    In each round every command that may still be the fastest runs once, in random order, one at a time. The
    race ends when the answer is proven, whatever the distributions of times; equal commands race for ever
    without --max-rounds, --timeout or --tolerance.

    Exits with code 0 when decided, 3 when a budget ran out or there is no fastest one.

    Example: truebest race 'sort -n big' 'sort -g big'
    """
    files = {"json": export_json, "csv": export_csv, "markdown": export_markdown}
    for file in filter(None, files.values()):
        check_writable(file)
    racers = competitors(command, command_name or [], parameter_list, parameter_scan, parameter_step_size)
    if expect is not None and expect not in [one.name for one in racers]:
        raise InvalidInputError(
            f"--expect must name a command of the race, got {expect!r}; choose from "
            f"{', '.join(repr(one.name) for one in racers[:8])}."
        )
    options = {
        "delta": None if delta is None else to_number(delta, "delta"),
        "tolerance": None if tolerance is None else _tolerance(tolerance),
        "max_rounds": None if max_rounds is None else to_whole(max_rounds, "max-rounds"),
        "timeout": None if timeout is None else to_seconds(timeout, "timeout"),
        "warmup": to_whole(warmup, "warmup"),
        "measure": measure.value,
        "ignore_failure": ignore_failure,
        "direct": direct,
        "rng": seed_of(seed),
        "progress": False if quiet else None,
    }
    patience = None if run_timeout is None else to_seconds(run_timeout, "run-timeout")
    with _track(racers, shell, output, patience, prepare or []) as (timed, aside):
        _around(racers, aside, setup, "--setup")
        try:
            found = _run(timed, options)
        finally:
            _around(racers, aside, cleanup, "--cleanup")
    return _finish(found, {one.name: one.parameters for one in racers}, files, expect, quiet, format)


Aside = Callable[[str], "Timed"]


@contextmanager
def _track(
    racers: list[Competitor], shell: str | None, output: str, patience: float | None, prepare: list[str]
) -> Iterator[tuple[dict[str, Timed], Aside]]:
    """The commands, ready to be timed, and what makes others; at the end none is left running."""
    if not hasattr(os, "killpg"):
        raise TruebestError(
            "commands can be timed on Linux and macOS only; elsewhere use truebest.race in Python."
        )
    from ._commands import Commands, ended_by_signals
    from ._timed import Timed

    if len(prepare) not in (0, 1, 1 + max(one.place for one in racers)):
        raise InvalidInputError(
            f"give --prepare once for all commands or once for each, got {len(prepare)}; add or remove some."
        )
    used = shell_for(shell, [one.line for one in racers])
    commands = Commands()

    def aside(line: str) -> Timed:
        return Timed(line, commands, shell_for(shell, [line]))

    with ExitStack() as stack:
        target = _target(output, stack)
        timed = {}
        for one in racers:
            timed[one.name] = Timed(one.line, commands, used, target, patience)
            if prepare:
                line = one.filled(prepare[one.place if len(prepare) > 1 else 0])
                timed[one.name].prepare = aside(line)
        stack.enter_context(commands.guarded())
        stack.callback(commands.close)
        stack.enter_context(ended_by_signals())
        yield timed, aside


def _target(output: str, stack: ExitStack) -> int | None:
    if output == "null":
        return subprocess.DEVNULL
    if output == "inherit":
        return None
    check_writable(output)
    return stack.enter_context(open(output, "ab")).fileno()


def _around(racers: list[Competitor], aside: Aside, line: str | None, option: str) -> None:
    if line is not None:
        for one in racers:
            aside(one.filled(line)).do(option)


def _run(timed: dict[str, Timed], options: dict[str, Any]) -> Race:
    from ..running.race import Course

    course = Course(timed, options.pop("delta"), **options)
    for one in timed.values():
        one.left = lambda: course.left
    return course.run()


def _tolerance(word: str) -> float:
    """5% or 0.05."""
    if word.endswith("%"):
        return to_number(word[:-1], "tolerance") / 100.0
    return to_number(word, "tolerance")


def _finish(
    found: Race,
    parameters: dict[str, dict[str, str]],
    files: dict[str, str | None],
    expect: str | None,
    quiet: bool,
    format: ListingFormat,
) -> int:
    """Print and write what was found; the exit code."""
    from ._race_files import export

    if format is ListingFormat.json:
        print_json(found.to_dict())
    elif format is ListingFormat.csv:
        rows = [plain({**one._asdict(), "ratio": one.ratio.estimate}) for one in found.standings]
        columns = ["name", "mean", "deviation", "median", "least", "most", "won", "lost", "ratio"]
        print_csv(rows, columns)
    else:
        print(harmless(str(found)))
        print()
        header, cells = found.table()
        print_table(list(map(harmless, header)), [list(map(harmless, row)) for row in cells])
    export(found, parameters, files)
    if not quiet:
        for warning in found.warnings():
            say(f"{warning}.")
        if not found.result.decided:
            say("give a larger --max-rounds or --timeout, or a --tolerance within which two are the same.")
    if found.best is None:
        return 3
    if expect is not None and found.best != expect:
        say(f"expected {expect}, but {found.best} is faster.")
        return 1
    return 0
