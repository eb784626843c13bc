"""`bestarm renew`, `reclaim` and `stop`: keep an experiment going, or end it by hand."""

from __future__ import annotations

from typing import Annotated

import typer

from . import say
from ._experiment import Listing, Name, StoreUrl, opened, pull_of
from ._listing import show
from ._output import ListingFormat

Why = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept in the log.")]


def renew(
    name: Name,
    pulls: Annotated[
        list[str],
        typer.Argument(metavar="PULL...", help="Ids of pulls, as printed by ask.", show_default=False),
    ],
    store: StoreUrl = None,
    format: Listing = ListingFormat.table,
) -> None:
    """Say that pulls are still being evaluated: their leases begin anew. For pulls that take long.

    A pull that is no longer pending, since it was settled or has lapsed, is not renewed.

    Example: bestarm renew prompts 3 --store sqlite:///runs.db
    """
    numbers = [pull_of(word) for word in pulls]
    with opened(store, name) as experiment:
        rows = [{"pull": n, "outcome": "renewed" if experiment.renew(n) else "not pending"} for n in numbers]
    show(rows, ["pull", "outcome"], format)


def reclaim(
    name: Name,
    store: StoreUrl = None,
    worker: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only the pulls of this worker; default: all.")
    ] = None,
    format: Listing = ListingFormat.table,
) -> None:
    """Take back pulls whose worker is gone, so that ask issues them again first.

    If that worker lives after all, a pull is evaluated twice, and the first value counts.

    Example: bestarm reclaim prompts --worker build-7:4711 --store sqlite:///runs.db
    """
    with opened(store, name) as experiment:
        count = experiment.reclaim(worker)
    show([{"reclaimed": count}], ["reclaimed"], format)


def stop(
    name: Name,
    store: StoreUrl = None,
    reason: Why = "no reason given",
    format: Listing = ListingFormat.table,
) -> None:
    """End an experiment undecided, for good: nothing more is asked, and no result counts any more.

    The leader, and how far below the best it can be, are recorded.

    Example: bestarm stop prompts --reason "good enough" --store sqlite:///runs.db
    """
    with opened(store, name) as experiment:
        before = experiment.status()
        now = experiment.stop(reason)
    outcome = "decided" if now.decision is not None else "stopped"
    row = {"outcome": outcome, "leader": now.leader, "shortfall": now.shortfall, "samples": now.samples}
    show([row], list(row), format)
    if before.stopped is not None or before.decision is not None:
        say(f"nothing was changed: {name!r} was {outcome} before.")
