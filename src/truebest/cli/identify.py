"""`truebest identify`: which of several commands prints the best number?"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from .._text import harmless
from ..errors import ArmError, InvalidInputError, TruebestError
from . import say
from ._experiment import Worker, remarks, store_url
from ._numbers import read_number
from ._output import Format, answering, code_of, output_of, print_arms, put
from ._settings import SETTINGS, with_settings

if TYPE_CHECKING:
    from ..experiment.pulls import Pull
    from ..running.result import Result
    from ._commands import CommandArm, Commands

SHOWN_FAILURES = 3  # of an arm, each with a line of its own
MOST_WORKERS = 1000


class OnError(StrEnum):
    """What `--on-error` takes."""

    stop = "raise"
    retry = "retry"


Arms = Annotated[
    list[str],
    typer.Option(
        metavar="NAME=COMMAND",
        help="An arm and the command that samples it; at least two, or one beside --known.",
    ),
]
KeptIn = Annotated[
    str | None,
    typer.Option(
        envvar="TRUEBEST_STORE",
        metavar="URL",
        help="Store the run, so that the same command can resume it: sqlite:///FILE, or postgresql://...",
    ),
]
RunName = Annotated[
    str | None, typer.Option(help="The experiment's name in the store; default: that of the command.")
]
MaxSamples = Annotated[
    str | None, typer.Option(metavar="INT", help="Give up after so many samples in total.")
]
Timeout = Annotated[str | None, typer.Option(metavar="SECONDS", help="Give up after so many seconds.")]
PullTimeout = Annotated[
    str | None,
    typer.Option(metavar="SECONDS", help="Stop a command that takes longer; the pull counts as failed."),
]
Workers = Annotated[str, typer.Option(metavar="INT", help="How many commands to run at a time.")]
Failing = Annotated[
    OnError, typer.Option(help="What to do when a command gives no number: stop, or repeat the same pull.")
]
AllowFailing = Annotated[
    bool,
    typer.Option(
        "--allow-failing", help="Go on though an arm fails in all of its first ten calls, or in all of them."
    ),
]
About = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ARM=TEXT",
        help="With --store, what an arm is, stored in place of a shortened form and a hash of its command.",
    ),
]
Shell = Annotated[bool, typer.Option("--shell", help="Run the commands with sh.")]
Quiet = Annotated[bool, typer.Option("--quiet", "--no-progress", help="Show no live view and no remarks.")]
Printed = Annotated[Format, typer.Option(help="Output format of the result; csv lists the arms.")]
Expected = Annotated[
    str | None,
    typer.Option(
        metavar="ARM",
        help="Exit with code 0 only if this arm is proven to be the best (or within the tolerance of it), "
        "with 5 if another one is.",
    ),
]


@with_settings(*(name for name in SETTINGS if name not in ("lease", "max_samples")))
def identify(
    context: typer.Context,
    arm: Arms,
    *,
    settings: dict[str, Any],
    store: KeptIn = None,
    name: RunName = None,
    max_samples: MaxSamples = None,
    timeout: Timeout = None,
    pull_timeout: PullTimeout = None,
    workers: Workers = "1",
    worker: Worker = None,
    on_error: Failing = OnError.stop,
    allow_failing: AllowFailing = False,
    about: About = None,
    shell: Shell = False,
    quiet: Quiet = False,
    expect: Expected = None,
    format: Printed = Format.table,
) -> int:
    """Find which of several noisy commands gives the best number, wrong with probability at most delta.

    A command prints its value as the last line of its output. It runs without a shell and without input, or
    with --items with the item as its input, its index in TRUEBEST_ITEM and in place of {item} in the command.

    Every call gets its own seed in the variable TRUEBEST_SEED, along with TRUEBEST_ARM and TRUEBEST_PULL, but
    not TRUEBEST_STORE, which may hold a password.

    Exits with code 0 when decided, 3 when a budget ran out, 5 when --expect names another arm, or where it is
    asked by --gate, --against or --at-least, when an arm fails. With --store,
    the same command resumes the run; settings that are then left out are those of the stored run.

    Example: truebest identify --arm short='./evaluate short' --arm long='./evaluate long' --bounds 0,1 \
        --max-samples 5000
    """
    from ._commands import Commands

    _check_start(context.args)
    commands = Commands()
    arms = _arms(arm, commands, shell, _patience(pull_timeout))
    options = _place(store, name, context.command.name, arms, about or [])
    options |= {"rng": settings.pop("seed", None), "on_error": _policy(on_error, quiet), "worker": worker}
    options |= {"max_samples": read_number(max_samples), "timeout": read_number(timeout)}
    options |= {"allow_failing": allow_failing, **settings}
    _check_expected(expect, [*arms, *settings.get("known", ())], settings)
    with _resumable(store is not None), _workers(commands, _width(workers)) as pool, remarks(quiet):
        result = _run(arms, workers=pool, progress=_progress(quiet), **options)
    with answering():
        _show(result, format)
    _say_more(result, store is not None, quiet)
    return code_of(result, expect)


def _check_expected(expect: str | None, arms: list[str], settings: dict[str, Any]) -> None:
    if expect is not None and "question" in settings:
        raise InvalidInputError(
            f"--expect names the best arm, and {settings['question']} asks for none, got --expect "
            f"{expect!r:.60}; leave it out, as the exit code is 5 if an arm fails."
        )
    if expect is not None and expect not in arms:
        raise InvalidInputError(f"--expect must name one of the arms {', '.join(arms)}, got {expect!r:.60}.")


def _say_more(result: Result, stored: bool, quiet: bool) -> None:
    """What was there before, and how to continue."""
    if quiet:
        return
    if result.resumed:
        _say_what_was_there(result)
    if not result.decided:
        _say_how_to_go_on(result, stored)


def _check_start(unread: list[str]) -> None:
    """Refuse a system on which commands cannot be controlled, and words that belong to no option."""
    if not hasattr(os, "killpg"):
        raise TruebestError(
            "commands can be run on Linux and macOS only; elsewhere use truebest.identify in Python."
        )
    if unread:
        raise InvalidInputError(
            f"unexpected argument {unread[0][:60]!r}; a command of several words needs quotes, "
            f"like short='./evaluate short'."
        )


def _place(
    store: str | None, name: str | None, usual: str | None, arms: dict[str, CommandArm], given: list[str]
) -> dict[str, Any]:
    """Where the run is stored, and what its arms are; nothing, if it is not stored."""
    from ..experiment.about import abbreviated

    texts = dict(word.partition("=")[::2] for word in given)
    wrong = [word for word in given if word.partition("=")[0] not in arms or "=" not in word]
    if wrong or (given and store is None):
        raise InvalidInputError(
            f"--about must be ARM=TEXT with one of the arms {', '.join(arms)}, and needs --store, got "
            f"{(wrong or given)[0]!r:.60}."
        )
    if store is not None:
        about = {arm.name: texts.get(arm.name, abbreviated(arm.command)) for arm in arms.values()}
        return {"store": store_url(store), "name": name or usual, "about": about}
    if name is not None:
        raise InvalidInputError(f"the name {name!r} needs a store; add --store sqlite:///runs.db.")
    return {"name": usual} if usual else {}


def _say_what_was_there(result: Result) -> None:
    if result.resumed >= result.samples and result.decided:
        say(f"{result.name!r} was already decided, so nothing was run; give another --name for a new run.")
    else:
        say(f"{result.name!r} was resumed at {result.resumed} samples.")


def _run(arms: dict[str, CommandArm], **options: Any) -> Result:
    from ..running.identify import identify as run

    return run(arms, **options)


def _arms(words: list[str], commands: Commands, shell: bool, timeout: float | None) -> dict[str, CommandArm]:
    from ._commands import CommandArm

    arms: dict[str, CommandArm] = {}
    for word in words:
        name, equals, command = word.partition("=")
        if not equals or not name.strip() or not command.strip():
            raise InvalidInputError(
                f"an arm must be NAME=COMMAND, got {word[:60]!r}; write it like short='./evaluate short'."
            )
        if name in arms:
            raise InvalidInputError(f"the names of the arms must differ, got {name!r} twice; rename one.")
        arms[name] = CommandArm(name, command, commands, shell, timeout)
    return arms


def _progress(quiet: bool) -> Literal["lines", False] | None:
    """The live view on a terminal, lines elsewhere."""
    if quiet:
        return False
    return None if sys.stderr is not None and sys.stderr.isatty() else "lines"


def _patience(word: str | None) -> float | None:
    """The timeout of a command."""
    from ..experiment.checks import seconds

    return None if word is None else seconds("pull_timeout", read_number(word))


def _width(word: str) -> int:
    from .._args import whole

    return whole("workers", read_number(word), 1, MOST_WORKERS, "it is how many commands run at a time")


def _policy(on_error: OnError, quiet: bool) -> Callable[[Pull, BaseException], None]:
    """Stop with a message, or repeat the pull with a remark."""
    failures: Counter[str] = Counter()
    last: dict[int, str] = {}

    def decide(pull: Pull, error: BaseException) -> None:
        what = f"arm {pull.arm!r} failed in pull {pull.id}: {getattr(error, 'shown', error)}"
        if on_error is OnError.stop:
            raise ArmError(f"{what}; fix the command, or give --on-error retry to repeat such a pull.")
        failures[pull.arm] += 1
        if failures[pull.arm] <= SHOWN_FAILURES and not quiet:
            enough = failures[pull.arm] == SHOWN_FAILURES
            more = "; further failures of this arm are counted but not shown" if enough else ""
            same = ", as before with the same seed" if last.get(pull.id) == str(error) else ""
            say(f"{what}{same}; the pull is repeated{more}.")
        last[pull.id] = str(error)

    return decide


@contextmanager
def _workers(commands: Commands, width: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that wait for commands; at the end, however it comes, no command is left running."""
    from ._commands import ended_by_signals

    pool = ThreadPoolExecutor(width)
    with commands.guarded():
        try:
            with ended_by_signals():
                yield pool
        finally:
            commands.close()
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _resumable(stored: bool) -> Iterator[None]:
    """After Ctrl-C or a signal that ends the run, say what is stored."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        with suppress(OSError):  # the terminal may be gone
            if stored:
                say("every result so far is stored; the same command resumes the run.")
            else:
                could = "with --store sqlite:///runs.db the same command could resume the run"
                say(f"no result was stored; {could}.")
        raise


def _show(result: Result, format: Format) -> None:
    def people() -> None:
        from ..telling.words import beyond

        for line in [result.sentence, *beyond(result)]:
            print(harmless(line))
        print()
        print_arms(result)

    put(format, output_of(result, people=people))


def _say_how_to_go_on(result: Result, stored: bool) -> None:
    budget = "--timeout" if result.ended == "timeout" else "--max-samples"
    if result.ended == "stopped":
        say("the run was stopped by hand, for good; give another --name for a new run.")
    elif result.ended == "items":
        say("values are missing; with those, or on more items, a run under another --name can be decided.")
    elif not stored:
        say(f"give a larger {budget}; with --store sqlite:///runs.db the run could be resumed.")
    elif result.ended == "timeout":
        say("the same command resumes the run.")
    else:
        say(f"the same command with a larger {budget} resumes the run.")
