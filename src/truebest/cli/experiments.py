"""`truebest status`, `forecast`, `list`, `export` and `verify`: look at experiments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._records import plain
from .._text import harmless
from ..errors import InvalidInputError, TruebestError
from . import say
from ._experiment import Listing, Name, StoreUrl, opened, store_url
from ._listing import ARM, arm_rows, show, stream
from ._output import (
    Format,
    ListingFormat,
    number,
    print_csv,
    print_csv_lines,
    print_ends,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from ..experiment.status import Status
    from ..experiment.store import Store
    from ..experiment.verification import Verification

FORMAT = typer.Option("--format", help="Output format.")
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
        bool, typer.Option("--exit-code", help="Exit with code 3 while there is no decision.")
    ] = False,
    format: Listing = ListingFormat.table,
) -> int:
    """Show where an experiment stands: the decision, or which arm leads so far (a guess).

    Exits with code 0 if the experiment could be read; with --exit-code, with 3 while it is undecided.

    Example: truebest status prompts --store sqlite:///runs.db
    """
    with opened(store, name) as experiment:
        now = experiment.status()
    if format is ListingFormat.json:
        print_json(now.to_dict())
    elif format is ListingFormat.csv:
        print_csv(arm_rows(now), ARM)
    else:
        print_status(now)
    return 3 if exit_code and not now.decided else 0


def print_status(now: Status) -> None:
    """Where an experiment stands, for people."""
    undecided = "there is no winner" if now.no_winner else "none yet"
    decision = now.decision if now.decision is not None else undecided
    leader = "none, there is no result yet"
    if now.waiting:
        leader = f"none yet, {now.waiting} results wait for an earlier pull"
    if now.leader is not None:
        leader = f"{now.leader} (a guess, not a decision)" + (f"; {now.at_most}" if now.at_most else "")
    why = "came after the decision" if now.decided else "waiting for earlier pulls"
    waiting = f"; {now.waiting} more {why}" if now.waiting else ""
    lines = [("decision", decision)]
    if not now.decided:
        lines.append(("leader", leader))
    lines.append(("samples", f"{now.samples}{waiting}"))
    if now.stopped is not None:
        lines.append(("stopped", now.stopped))
    if now.hold:
        lines.append(("waits for", now.hold.removeprefix("the decision waits for ")))
    if now.statistic is not None and now.threshold is not None:
        verb = "exceeded" if now.statistic > now.threshold else "decides above"
        if now.decision is not None and now.statistic <= now.threshold:  # it dropped the others one by one
            verb = f"{now.strategy} stopped by itself; the rule would need"
        lines.append(("statistic", f"{number(now.statistic, 4)} ({verb} {number(now.threshold, 4)})"))
    if not now.decided and now.in_the_race is not None:
        lines.append(("candidates", ", ".join(now.in_the_race)))
    if now.ruled_out:
        out = now.ruled_out.items()
        said = [f"{arm} after {one.samples} samples" for arm, one in out]
        lines.append(("ruled out", "; ".join(said)))
    if now.versus_control:
        lines.append(("control", now.versus_control))
    lines.append(("promise", now.assumes))
    if now.suspended:
        lines.append(("SUSPENDED", now.suspended))
    lines += [("note", note) for note in now.notes(True)]
    for key, text in lines:
        print(harmless(f"{key:<11}{text}"))
    print()
    failed = any(now.failures.values())
    header = [
        "arm",
        "samples",
        *(["failed"] if failed else []),
        "mean",
        "sd",
        f"{now.leader or 'leader'} is better by",
        "pending",
    ]
    cells = [_arm_cells(row, failed) for row in arm_rows(now)]
    if now.control is not None:
        header.append(f"better than {now.control} by")
        for arm, row in zip(now.arms, cells, strict=True):
            row.append(_ends(*plain(now.against_control.get(arm, (None, None)))))
    print_table([harmless(cell) for cell in header], cells)
    print_ends(now)


def _arm_cells(row: dict[str, Any], failed: bool) -> list[str]:
    better = _ends(row["behind_at_least"], row["behind_at_most"])
    mean, deviation = ("" if row[key] is None else number(row[key], 4) for key in ("mean", "deviation"))
    counts = [str(row["samples"]), *([str(row["failed"] or "")] if failed else [])]
    return [harmless(row["arm"]), *counts, mean, deviation, better, str(row["pending"])]


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{number(low, 4)} to {number(high, 4)}"


def forecast(name: Name, store: StoreUrl = None, format: Listing = ListingFormat.table) -> None:
    """Estimate how many more samples are needed, and of which arms, if the estimated means are true.

    Example: truebest forecast prompts --store sqlite:///runs.db
    """
    with opened(store, name) as experiment:
        found = experiment.forecast()
        decided = experiment.status().decided
    if format is ListingFormat.json:
        print_json(found.to_dict())
        return
    known = found.samples is not None
    rows = [{"arm": arm, "samples": n if known else None} for arm, n in found.pulls.items()]
    if format is ListingFormat.csv:
        print_csv(rows, ["arm", "samples"])
        return
    if decided:
        print("no more samples are needed: it is decided")
    elif found.reason:
        print(harmless(found.reason))
    else:
        print(f"{found.words}; {found.samples:,} if the estimated means are the true ones\n")
        show(rows, ["arm", "samples"], format)


def list_experiments(store: StoreUrl = None, format: Listing = ListingFormat.table) -> None:
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
            "arms": len(now.arms),
            "delta": now.delta,
            "samples": now.samples,
            "failed": now.failed,
            "decision": now.decision,
            "promise": now.promise,
            "leader": now.leader if now.decision is None else None,
            "stopped": now.stopped is not None,
            "suspended": now.suspended,
        }


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
            show([event_record(event) for event in experiment.events()], EVENT, ListingFormat.table)
        elif format is ExportFormat.csv:
            print_csv_lines(exported(experiment, format))
        else:
            for line in exported(experiment, format):
                print(line)


def verify(name: Name, store: StoreUrl = None, format: Annotated[Format, FORMAT] = Format.table) -> int:
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
    if format is Format.json:
        print_json(found.to_dict())
    else:
        _print_verification(found)
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
