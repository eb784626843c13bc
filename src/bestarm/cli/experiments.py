"""`bestarm status`, `forecast`, `history`, `list` and `export`: look at experiments, change nothing."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._text import harmless
from ..errors import BestarmError
from ._experiment import Listing, Name, StoreUrl, opened, say, store_url, without_compiling
from ._listing import ARM, arm_rows, show, write_csv
from ._numbers import to_whole
from ._output import ListingFormat, number, plain, print_json, print_table

if TYPE_CHECKING:
    from ..experiment.events import Event
    from ..experiment.status import Status

EVENT = ["seq", "time", "kind", "pull", "arm", "value", "data"]


class ExportFormat(StrEnum):
    """What `bestarm export --format` takes."""

    jsonl = "jsonl"
    table = "table"
    json = "json"
    csv = "csv"


def status(
    name: Name,
    store: StoreUrl = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with code 3 while there is no decision.")
    ] = False,
    format: Listing = ListingFormat.table,
) -> int:
    """Where an experiment stands: the decision, or who leads so far, which is only a guess.

    Ends with code 0 when the question could be answered; with --exit-code, 3 while it is undecided.

    Example: bestarm status prompts --store sqlite:///runs.db
    """
    with opened(store, name) as experiment:
        now = experiment.status()
    if format is ListingFormat.json:
        print_json(now.to_dict())
    elif format is ListingFormat.csv:
        write_csv(arm_rows(now), ARM)
    else:
        _print_status(now)
    return 3 if exit_code and now.decision is None else 0


def _print_status(now: Status) -> None:
    decision = now.decision if now.decision is not None else "none yet"
    leader = "none, there is no result yet" if now.leader is None else f"{now.leader} (a guess, no decision)"
    why = "came after the decision" if now.decision is not None else "wait for earlier pulls"
    waiting = f"; {now.waiting} more {why}" if now.waiting else ""
    lines = [("decision", decision)]
    if now.decision is None:
        lines.append(("leader", leader))
    lines.append(("samples", f"{now.samples}{waiting}"))
    if now.statistic is not None and now.threshold is not None:
        verb = "exceeded" if now.decision is not None else "decides above"
        lines.append(("statistic", f"{number(now.statistic, 4)} ({verb} {number(now.threshold, 4)})"))
    lines.append(("promise", now.assumes))
    if now.suspended:
        lines.append(("SUSPENDED", now.suspended))
    lines += [("note", caveat) for caveat in now.caveats]
    for key, text in lines:
        print(harmless(f"{key:<11}{text}"))
    print()
    header = ["arm", "samples", "mean", f"{now.leader or 'leader'} is better by", "pending"]
    print_table([harmless(cell) for cell in header], [_arm_cells(row) for row in arm_rows(now)])


def _arm_cells(row: dict[str, Any]) -> list[str]:
    low, high = row["behind_at_least"], row["behind_at_most"]
    better = "" if low is None or high is None else f"{number(low, 4)} to {number(high, 4)}"
    mean = "" if row["mean"] is None else number(row["mean"], 4)
    return [harmless(row["arm"]), str(row["samples"]), mean, better, str(row["pending"])]


def forecast(name: Name, store: StoreUrl = None, format: Listing = ListingFormat.table) -> None:
    """How many more samples the decision needs, and of which arms, if the estimated means are true.

    Example: bestarm forecast prompts --store sqlite:///runs.db
    """
    with opened(store, name) as experiment:
        found = experiment.forecast()
        decided = experiment.status().decision is not None
    if format is ListingFormat.json:
        print_json(found.to_dict())
        return
    known = found.samples is not None
    rows = [{"arm": arm, "samples": n if known else None} for arm, n in found.pulls.items()]
    if format is ListingFormat.csv:
        write_csv(rows, ["arm", "samples"])
        return
    if decided:
        print("no more samples: it is decided")
    elif found.reason:
        print(harmless(found.reason))
    else:
        print(f"about {found.samples} more samples, if the estimated means are the true ones\n")
        show(rows, ["arm", "samples"], format)


def history(
    name: Name,
    store: StoreUrl = None,
    after: Annotated[str, typer.Option(metavar="SEQ", help="Only what came after this line.")] = "0",
    format: Listing = ListingFormat.table,
) -> None:
    """Everything that happened, line by line.

    Example: bestarm history prompts --after 100 --format json --store sqlite:///runs.db
    """
    line = to_whole(after, "after")
    with opened(store, name) as experiment:
        events = experiment.history(line)
    show([_event(event) for event in events], EVENT, format)


def _event(event: Event) -> dict[str, Any]:
    return {key: getattr(event, key) for key in EVENT}


def list_experiments(store: StoreUrl = None, format: Listing = ListingFormat.table) -> None:
    """The experiments of a store, with their decisions.

    Example: bestarm list --store sqlite:///runs.db
    """
    url = store_url(store)
    without_compiling()
    from ..experiment.experiment import Experiment
    from ..experiment.store import open_store

    place = open_store(url)
    rows = []
    try:
        names = place.names()
        for name in names:
            try:
                rows.append(_summary(Experiment.open(place, name).status()))
            except BestarmError as error:  # made by another version; the others are still worth a look
                say(f"experiment {name!r} cannot be read: {error}")
    finally:
        place.close()
    if not names:
        say("the store has no experiments yet.")
    show(rows, ["name", "arms", "delta", "samples", "decision", "leader", "suspended"], format)


def _summary(now: Status) -> dict[str, Any]:
    leader = now.leader if now.decision is None else None
    return {
        "name": now.name,
        "arms": len(now.arms),
        "delta": now.delta,
        "samples": now.samples,
        "decision": now.decision,
        "leader": leader,
        "suspended": bool(now.suspended),
    }


def export(
    name: Name,
    store: StoreUrl = None,
    format: Annotated[
        ExportFormat, typer.Option(help="JSON lines, a table, one JSON document, or CSV.")
    ] = ExportFormat.jsonl,
) -> None:
    """The whole history with the settings: everything that the store knows of an experiment.

    The first line, of the kind created, holds the settings.

    Example: bestarm export prompts --store sqlite:///runs.db > prompts.jsonl
    """
    with opened(store, name) as experiment:
        events = [{"experiment": name, **_event(event)} for event in experiment.history()]
        settings = experiment.settings.to_record()
    if format is ExportFormat.csv:
        write_csv(events, ["experiment", *EVENT])
    elif format is ExportFormat.table:
        show(events, EVENT, ListingFormat.table)
    elif format is ExportFormat.json:
        print_json({"name": name, "settings": settings, "events": [_without_name(e) for e in events]})
    else:
        for event in events:
            print(json.dumps(plain(event), allow_nan=False))


def _without_name(event: dict[str, Any]) -> dict[str, Any]:
    return {key: event[key] for key in EVENT}
