"""`truebest plan`: how many calls a decision would take, before the first one is paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import say
from ._experiment import remarks
from ._numbers import read_number, read_numbers
from ._output import ListingFormat, check_writable, number, print_result
from ._pilot import read_pilot, read_table
from ._settings import with_settings

if TYPE_CHECKING:
    from ..simulation.planned import Plan


Table = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="A table of scores: CSV with a line for each item and a named column for each arm; - for "
        "standard input.",
    ),
]
Means = Annotated[
    str | None, typer.Option(metavar="M1,M2,...", help="Guessed rates of success of the arms; or --table.")
]
Correlation = Annotated[
    str | None,
    typer.Option(
        metavar="FLOAT",
        help="With --means: the correlation of the two best arms' scores on one item; without it only "
        "independent samples are planned.",
    ),
]
Items = Annotated[
    str | None,
    typer.Option(metavar="INT", help="With --correlation: how many items there are; default: no limit."),
]
Pilot = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Values that do not belong together, for independent samples: CSV with a named column per arm, "
        "or with the columns arm,value.",
    ),
]
Unlimited = Annotated[
    bool,
    typer.Option("--unlimited", help="Draw the table's items with replacement, as from an unlimited source."),
]
Bounds = Annotated[str, typer.Option(metavar="LO,HI", help="Bounds that every score respects.")]
Failures = Annotated[
    str | None,
    typer.Option(
        metavar="worst|loss|FLOAT", help="What an empty cell of the table counts as; default: it is refused."
    ),
]
Runs = Annotated[str, typer.Option(metavar="INT", help="Number of runs of each design.")]
Seed = Annotated[str, typer.Option(metavar="INT", help="The same seed gives the same result.")]
MaxRounds = Annotated[
    str | None,
    typer.Option(
        metavar="INT", help="Where to cut a run off; default: 50000, or when the items are used up."
    ),
]
Threads = Annotated[str | None, typer.Option(metavar="INT", help="Threads; default: one per core.")]
Format = Annotated[ListingFormat, typer.Option(help="Output format.")]
Output = Annotated[str | None, typer.Option(help="Write the output to a file instead of stdout.")]


@with_settings("delta", "minimize", "tolerance", "compare")
def plan(
    *,
    table: Table = None,
    means: Means = None,
    correlation: Correlation = None,
    items: Items = None,
    pilot: Pilot = None,
    unlimited: Unlimited = False,
    settings: dict[str, Any],
    bounds: Bounds = "0,1",
    failures: Failures = None,
    runs: Runs = "1000",
    seed: Seed = "0",
    max_rounds: MaxRounds = None,
    threads: Threads = None,
    format: Format = ListingFormat.table,
    output: Output = None,
) -> int:
    """How many calls would a decision take, on common items or not, and how often would it be wrong?

    Example: truebest plan --table scores.csv --delta 0.05

    Example: truebest plan --means 0.8,0.75,0.7 --correlation 0.6 --items 500
    """
    if output is not None:
        check_writable(output)
    given: dict[str, Any] = {
        "table": None if table is None else read_table(table),
        "pilot": None if pilot is None else read_pilot(pilot),
        "means": None if means is None else read_numbers(means),
        "correlation": read_number(correlation),
        "items": read_number(items),
        "bounds": read_numbers(bounds),
        "failures": "repeat" if failures is None else read_number(failures),
        "max_rounds": read_number(max_rounds),
        "threads": read_number(threads),
    }
    from ..simulation.plan import plan as run

    with remarks():
        result = run(unlimited=unlimited, runs=read_number(runs), seed=read_number(seed), **given, **settings)
    print_result(result, format, output)
    for note in [_about(result), *result.notes()]:
        say(note)
    return 0 if result.complete else 130


def _about(result: Plan) -> str:
    """The scores that were simulated: the two best arms, and how much these have in common."""
    order = sorted(range(len(result.arms)), key=lambda a: result.means[a], reverse=not result.minimize)
    first, second = (f"arm {result.arms[a]}, of mean {number(result.means[a], 4)}" for a in order[:2])
    text = f"{first}, is the best of {len(result.arms)} in these scores, then {second}"
    if result.correlation is not None and result.correlation == result.correlation:
        text += f"; the correlation of both is {result.correlation:.2f}"
    return text + "."
