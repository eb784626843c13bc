"""`truebest status`, `forecast`, `list`, `export` and `verify`: look at experiments."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._text import aligned, column_widths, harmless
from ..errors import InvalidInputError, TruebestError
from . import DONE, say
from ._experiment import Listing, Name, StoreUrl, opened, store_url
from ._output import (
    ROWS_ON_A_TERMINAL,
    Format,
    Output,
    answering,
    code_of,
    output_of,
    print_arms,
    print_csv_lines,
    print_hidden,
    put,
    show,
)

if TYPE_CHECKING:
    from ..experiment.store import Store
    from ..experiment.verification import Verification
    from ..telling.account import Account

AT_ONCE = 1.0  # seconds for which the rows of a long table are collected
LISTED = [
    *("name", "arms", "delta", "samples", "failed", "decision"),
    *("promise", "leader", "stopped", "suspended"),
]


class ExportFormat(StrEnum):
    """What `truebest export --format` takes."""

    jsonl = "jsonl"
    table = "table"
    json = "json"
    csv = "csv"


def status(
    name: Name,
    store: StoreUrl = None,
    exit_code: Annotated[
        bool,
        typer.Option(
            "--exit-code",
            help="Exit with code 3 while there is no decision, and with 5 if an arm has failed.",
        ),
    ] = False,
    format: Listing = Format.table,
) -> int:
    """Show where an experiment stands: the decision, or which arm leads so far (a guess).

    Exits with code 0 if the experiment could be read; with --exit-code, with 3 while it is undecided, and
    with 5 if it is asked which arms pass, and one has failed.

    Example: truebest status prompts --store sqlite:///runs.db
    """
    with opened(store, name) as experiment:
        now = experiment.status()
    with answering():
        put(format, output_of(now, people=lambda: print_status(now)))
    return code_of(now) if exit_code else DONE


def print_status(now: Account) -> None:
    """Where an experiment stands, for people."""
    from ..telling.words import facts

    for key, text in facts(now):
        print(harmless(f"{key:<11}{text}"))
    print()
    print_arms(now)


def forecast(name: Name, store: StoreUrl = None, format: Listing = Format.table) -> None:
    """Estimate how many more samples are needed, and of which arms, if the estimated means are true.

    Example: truebest forecast prompts --store sqlite:///runs.db
    """
    with opened(store, name) as experiment:
        found = experiment.forecast()
        decided = experiment.status().decided
    samples = found.pulls if found.samples is not None else dict.fromkeys(found.pulls)
    rows = [{"arm": arm, "samples": n} for arm, n in samples.items()]

    def people() -> None:
        if decided:
            print("no more samples are needed: it is decided")
        elif found.reason:
            print(harmless(found.reason))
        else:
            print(f"{found.words}; {found.samples:,} if the estimated means are the true ones\n")
            show(rows, ["arm", "samples"], Format.table)

    put(format, Output(rows, ["arm", "samples"], found.to_dict(), people=people))


def list_experiments(store: StoreUrl = None, format: Listing = Format.table) -> None:
    """List the experiments of a store, with their decisions.

    Example: truebest list --store sqlite:///runs.db
    """
    url = store_url(store)
    from ..experiment.store import open_store

    place = open_store(url)
    if not place.exists():
        raise InvalidInputError(
            f"there is no file {place.place}; check the name, or begin with `truebest create`."
        )
    try:
        names = place.names()
        stream(_summaries(place, names), LISTED, format, len(names))
    finally:
        place.close()
    if not names:
        say("the store has no experiments yet.")


def _summaries(place: Store, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    from ..experiment.overview import overview
    from ..telling.answers import Open, Stopped, Suspended
    from ..telling.words import decision

    for name in names:
        try:
            now = overview(place, name)
        except TruebestError as error:  # made by another version; the others are still worth a look
            say(f"experiment {name!r} cannot be read: {error}")
            continue
        except Exception as error:  # what is stored was not made by any version
            say(f"experiment {name!r} cannot be read ({type(error).__name__}: {error}); delete it.")
            continue
        yield {
            "name": now.name,
            "arms": len(now.settings.arms),
            "delta": now.settings.delta,
            "samples": now.samples,
            "failed": now.failed,
            "decision": decision(now.answer, now.settings),
            "promise": now.bound,
            "leader": now.answer.leader if isinstance(now.answer, Open) else None,
            "stopped": isinstance(now.answer, Stopped),
            "suspended": isinstance(now.answer, Suspended),
        }


def stream(rows: Iterator[Mapping[str, Any]], columns: Sequence[str], format: Format, total: int) -> None:
    """`show` for a long list whose rows take a while: they are printed as they come.

    In a table, those of a second are printed at once, and a column may become wider from one second to the
    next. A terminal gets the first rows only.
    """
    if format is not Format.table:
        put(format, Output(rows, columns))
    elif sys.stdout.isatty():
        show(list(islice(rows, ROWS_ON_A_TERMINAL)), columns, format)
        print_hidden(total - ROWS_ON_A_TERMINAL)
    else:
        header: Sequence[str] = []
        for block in _by_the_second(rows):
            titles, rest = Output(block, columns).cells()
            cells = list(rest)
            first, header = not header, header or titles
            print("\n".join(aligned(header, cells)[0 if first else 1 :]), flush=True)
            widths = column_widths(header, cells)
            header = [name.ljust(width) for name, width in zip(header, widths, strict=True)]


def _by_the_second(rows: Iterator[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Rows in lists, each with those that come within a second."""
    for first in rows:
        block, end = [first], time.monotonic() + AT_ONCE
        for row in rows:
            block.append(row)
            if time.monotonic() >= end:
                break
        yield block


def export(
    name: Name,
    store: StoreUrl = None,
    format: Annotated[
        ExportFormat, typer.Option(help="JSON lines, a table, one JSON document, or CSV.")
    ] = ExportFormat.jsonl,
) -> None:
    """Write out the whole history with the settings: all that the store knows about an experiment.

    The first line, of kind 'created', contains the settings; the last one says how many there are, and their
    hash, so that import refuses a log that was cut off. The table is for reading and CSV for spreadsheets:
    they have no such line, and import does not read them back.

    Example: truebest export prompts --store sqlite:///runs.db > prompts.jsonl
    """
    with opened(store, name) as experiment:
        from ..experiment.exports import EVENT, event_record, exported

        if format is ExportFormat.table:
            show([event_record(event) for event in experiment.events()], EVENT, Format.table)
        elif format is ExportFormat.csv:
            print_csv_lines(exported(experiment, format))
        else:
            for line in exported(experiment, format):
                print(line)


def verify(name: Name, store: StoreUrl = None, format: Listing = Format.table) -> int:
    """Check the whole log: is every line intact, and does the decision follow from it?

    Exits with code 1 if anything is not intact. Every line carries a hash of itself and of all lines before
    it. This detects damage, but not forgery: anyone who can write to the store can also compute the hashes.
    To detect forgery, keep the hash of the last line (the head) elsewhere.

    Example: truebest verify prompts --store sqlite:///runs.db
    """
    url = store_url(store)
    from ..experiment.store import open_store
    from ..experiment.verification import verify as replayed

    place = open_store(url)
    try:
        found = replayed(place, name)
    finally:
        place.close()
    record = found.to_dict()
    put(format, Output([record], list(record), record, people=lambda: _print_verification(found)))
    return 0 if found.sound else 1


def _print_verification(found: Verification) -> None:
    unhashed = f", {found.unhashed} of them without a hash (written by version 0.1)" if found.unhashed else ""
    follows = {True: "follows from the log", False: "does NOT follow from the log", None: "cannot be checked"}
    decision = "none, and the log leads to none" if found.decision is None else found.decision
    if found.decision is not None or not found.follows:
        decision = f"{found.decision or 'none'} ({follows[found.follows]})"
    lines = [
        ("lines", f"{found.intact} of {found.lines} intact{unhashed}"),
        ("head", found.head or "none: the last line has no hash"),
        ("decision", decision),
    ]
    lines += [("NOT INTACT", text) for text in (found.problem, found.snapshot) if text]
    for key, text in lines:
        print(harmless(f"{key:<11}{text}"))
