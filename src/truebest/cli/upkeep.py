"""`truebest renew`, `stop`, `delete` and `import`: keep experiments going, or end them by hand."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .._text import harmless
from ..errors import InvalidInputError
from . import say
from ._experiment import Listing, Name, StoreUrl, opened, pull_of, store_url
from ._output import Format, show

Why = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept in the log.")]


def renew(
    name: Name,
    pulls: Annotated[
        list[str],
        typer.Argument(metavar="PULL...", help="Ids of pulls, as printed by ask.", show_default=False),
    ],
    store: StoreUrl = None,
    format: Listing = Format.table,
) -> None:
    """Say that pulls are still being evaluated: their leases begin anew. For pulls that take long.

    A pull that is no longer pending, since it was settled or has lapsed, is not renewed.

    Example: truebest renew prompts 3 --store sqlite:///runs.db
    """
    numbers = [pull_of(word) for word in pulls]
    with opened(store, name) as experiment:
        rows = [{"pull": n, "outcome": "renewed" if experiment.renew(n) else "not pending"} for n in numbers]
    show(rows, ["pull", "outcome"], format)


def stop(
    name: Name,
    store: StoreUrl = None,
    reason: Why = "no reason given",
    format: Listing = Format.table,
) -> None:
    """End an experiment undecided, for good: nothing more is asked, and no result counts any more.

    The leader, and how far below the best it can be, are recorded.

    Example: truebest stop prompts --reason "good enough" --store sqlite:///runs.db
    """
    with opened(store, name) as experiment:
        before = experiment.status()
        now = experiment.stop(reason)
    outcome = "decided" if now.decided else "stopped"
    row = {"outcome": outcome, "leader": now.leader, "shortfall": now.shortfall, "samples": now.samples}
    show([row], list(row), format)
    if before.over:
        say(f"nothing was changed: {name!r} was {outcome} before.")


def delete(
    name: Name,
    store: StoreUrl = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete an experiment and its log, for good. It asks first; `truebest export` keeps a copy.

    Example: truebest delete prompts --store sqlite:///runs.db
    """
    with opened(store, name) as experiment:
        if not yes:
            if not sys.stdin.isatty():
                raise InvalidInputError(
                    f"cannot ask whether to delete {name!r}: standard input is not a terminal; give --yes to "
                    f"delete it."
                )
            question = harmless(f"Delete {name!r} ({experiment.status()}) for good?", strict=True)
            if not typer.confirm(question, err=True):
                say("nothing was deleted.")
                return
        experiment.delete()
    say(f"{name!r} was deleted.")


def import_(
    name: Name,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="What export has written, as jsonl or json; or comma-separated values of arms.",
            show_default=False,
        ),
    ],
    store: StoreUrl = None,
    format: Listing = Format.table,
) -> None:
    """Read an exported log into a new experiment, or values of arms into an existing one.

    A log (.jsonl, .json) is checked from its first line to its last, and then stored whole or not at all.
    Values come from a CSV file and must not have been chosen by value: all of an earlier experiment, in one
    file. With the columns arm and value, the rows must be in the order in which they were sampled, each arm
    chosen from the rows before, and are judged one after the other. With a column for each arm there is no
    order: they are judged once, when all are in.

    Example: truebest import prompts prompts.jsonl --store postgresql://host/runs
    """
    if Path(file).suffix.lower() in (".jsonl", ".json"):
        rows = _import_log(name, file, store)
    else:
        from ._pilot import by_arm, read_values

        values = read_values(file)
        with opened(store, name) as experiment:
            experiment.observe(values)
            now = experiment.status()
        columns = by_arm(values) if isinstance(values, list) else values
        rows = [{"arm": arm, "observed": len(some)} for arm, some in columns.items()]
        if now.decided:
            say(f"decided: {now}.")
    show(rows, list(rows[0]), format)


def _import_log(name: str, file: str, store: str | None) -> list[dict[str, Any]]:
    url = store_url(store)
    from ..experiment.imports import import_log
    from ..experiment.store import open_store

    place = open_store(url)
    try:
        _, found, complete = import_log(place, file, name)
    finally:
        place.close()
    if not complete:
        say(
            "this export does not say how many lines it has, as those of 0.1 and 0.2 do not: whether its "
            "last lines are missing cannot be checked."
        )
    return [{"experiment": name, "lines": found.lines, "decision": found.decision, "sound": found.sound}]
