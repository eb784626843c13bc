"""`bestarm stop`: end an experiment by hand."""

from __future__ import annotations

from typing import Annotated

import typer

from . import say
from ._experiment import Listing, Name, StoreUrl, opened
from ._listing import show
from ._output import ListingFormat

Why = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept in the log.")]


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
