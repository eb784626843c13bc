"""`truebest compare`: strategies on a whole suite of bandits, on the same rewards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._catalogue import STOPPING_RULES
from . import say
from ._experiment import Listing, OutputFile, remarks
from ._numbers import read_number
from ._output import Format, check_writable, print_result, print_table, printed_into
from ._settings import SEED, THREADS, Option, with_settings
from .show import check_picture, save_picture
from .simulate import DELTAS, WHICH, strategies_and_rule

if TYPE_CHECKING:
    from ..studies.comparison.results import Comparison

COMPARED = {
    "strategy": Option(f"{WHICH}; default: all but ttts, and tas-d(open_only=True).", "S1,S2,..."),
    "suite": Option(
        "The bandits: standard (46), paper (4), practice (12 with rewards of 0 or 1, in [0, 1] and with "
        "unequal noise), random:NUMBER:SEED (held out), or a .json file; or several.",
        "NAME,...",
        lambda words: [word.strip() for word in words.split(",")],
        "standard,random:24:3",
    ),
    "delta": DELTAS,
    "runs": Option("Number of runs of each strategy on each bandit.", "INT", read_number, "100"),
    "seed": SEED,
    "stopping": Option(
        f"When to stop: {', '.join(STOPPING_RULES)}; or your own rule, my_file.py:my_rule. Live "
        "experiments use tilt.",
        "NAME",
        default="mixture",
    ),
    "max_samples": Option("Where to cut a run off.", "INT", read_number, "200000"),
    "reference": Option(
        "The strategy that others are compared with; default: the first in the table.", "NAME"
    ),
    "stability_runs": Option(
        "Runs that measure how much targets and pulls move; 0: do not.", "INT", read_number, "10"
    ),
    "threads": THREADS,
    "resume": Option("Keep finished parts in this file, and take over those that it has.", "FILE"),
}
PerBandit = Annotated[bool, typer.Option("--per-bandit", help="Print the ratios on every bandit, too.")]
Page = Annotated[str | None, typer.Option(metavar="FILE", help="Write one HTML page with all of it.")]
Picture = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Draw the performance profile, as .svg, .png or .pdf; needs Matplotlib."
    ),
]


@with_settings("tolerance", own=COMPARED)
def compare(
    *,
    settings: dict[str, Any],
    per_bandit: PerBandit = False,
    html: Page = None,
    plot: Picture = None,
    format: Listing = Format.table,
    output: OutputFile = None,
) -> int:
    """Compare strategies on a suite of bandits: how many times the fewest samples each takes.

    Every strategy sees the same rewards, so differences are far more certain than the numbers of samples
    themselves. The whole suite takes a few minutes; --resume keeps what is finished.

    Example: truebest compare --strategy ebs-open-need,tas-d,racing --suite standard --html compare.html
    """
    for file in filter(None, (output, html)):
        check_writable(file)
    if plot is not None:
        check_picture(plot)
    from ..studies.comparison.compare import compare as run

    strategy, resume = settings.pop("strategy", None), settings.get("resume")
    chosen, settings["stopping"] = strategies_and_rule(strategy or "", settings["stopping"])
    suite, delta = settings.pop("suite"), settings.pop("delta")
    try:
        with remarks():
            found = run(None if strategy is None else chosen, suite, delta, **settings)
    except KeyboardInterrupt:
        _say_how_to_go_on(resume)
        return 130
    with printed_into(output):
        print_result(found, found.per_bandit(), format, None)
        if format is Format.table:
            _print_more(found, per_bandit)
    for note in found.notes():
        say(note)
    if html is not None:
        found.save_html(html)
        say(f"the page is in {html}.")
    if plot is not None:
        save_picture(found.plot(), plot)
    if not found.complete:
        _say_how_to_go_on(resume)
    return 0 if found.complete else 130


def _print_more(found: Comparison, per_bandit: bool) -> None:
    from ..studies.comparison import tables

    for delta in found.deltas:
        at = f" at delta {delta:g}" if len(found.deltas) > 1 else ""
        if found.groups:
            print(f"\nGeometric mean by kind of bandit{at}")
            print_table(*tables.groups(found, delta))
        print(f"\nShare of bandits within a factor of the fewest samples{at}")
        print_table(*tables.profile(found, delta))
        name, lost = found.reference_at(delta), tables.losses(found, delta)
        many = f"{len(lost[1])} of {len(found.bandits)} bandits{at}"
        print(f"\n{name} loses by more than two standard errors on {many}")
        if lost[1]:
            print_table(*lost)
        if per_bandit:
            print(f"\nFewest samples on every bandit, and multiples of it{at}")
            print_table(*tables.bandits(found, delta))


def _say_how_to_go_on(resume: str | None) -> None:
    if resume is None:
        say("nothing was kept; with --resume FILE an interrupted comparison goes on where it was.")
    else:
        say(f"finished parts are in {Path(resume)}; the same command goes on from there.")
