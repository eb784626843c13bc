"""`truebest plan`: how many calls a decision would take, before the first one is paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import say
from ._experiment import Listing, OutputFile, remarks
from ._numbers import read_number, read_numbers
from ._output import Format, check_writable, number, print_result
from ._pilot import read_pilot, read_table, refuse_few
from ._settings import ANSWERS, QUESTION, SEED, THREADS, Option, asked_words, with_settings

if TYPE_CHECKING:
    from ..simulation.planned import Plan

PLANNED = {
    "table": Option(
        "A table of scores: CSV with a line for each item and a named column for each arm; - for standard "
        "input.",
        "FILE",
        read_table,
    ),
    "means": Option("Guessed rates of success of the arms; or --table.", "M1,M2,...", read_numbers),
    "correlation": Option(
        "With --means: the correlation of the two best arms' scores on one item; without it only "
        "independent samples are planned.",
        "FLOAT",
        read_number,
    ),
    "items": Option("With --correlation: how many items there are; default: no limit.", "INT", read_number),
    "pilot": Option(
        "Values that do not belong together, for independent samples: CSV with a named column per arm, "
        "or with the columns arm,value.",
        "FILE",
        read_pilot,
    ),
    "unlimited": Option("Draw the table's items with replacement, as from an unlimited source."),
    "bounds": Option("Bounds that every score respects.", "LO,HI", read_numbers, "0,1"),
    "failures": Option(
        "What an empty cell of the table counts as; default: it is refused.", "worst|loss|FLOAT", read_number
    ),
    "known": Option(
        "A column of the table whose arm is not asked, since its scores will be known; may be given several "
        "times.",
        "NAME",
        list,
        many=True,
    ),
    "proxies": Option(
        "With --known, a column that is not an arm, but the scores of another model; or several.",
        "NAME",
        list,
        many=True,
    ),
    **ANSWERS,
    "seconds_per_call": Option(
        "What one call takes: times are shown beside calls, made one after the other.", "SECONDS", read_number
    ),
    "cost_per_call": Option(
        "What one call costs, in any unit: costs are shown beside calls.", "FLOAT", read_number
    ),
    "runs": Option("Number of runs of each design.", "INT", read_number, "1000"),
    "seed": SEED,
    "max_rounds": Option(
        "Where to cut a run off; default: 50000, or when the items are used up.", "INT", read_number
    ),
    "max_samples": Option(
        "The budget of independent samples, as of identify; default: as many as --max-rounds for each arm.",
        "INT",
        read_number,
    ),
    "threads": THREADS,
}


@with_settings("delta", "minimize", "tolerance", "compare", *QUESTION, own=PLANNED)
def plan(*, settings: dict[str, Any], format: Listing = Format.table, output: OutputFile = None) -> int:
    """How many calls would a decision take, on common items or not, and how often would it be wrong?

    Example: truebest plan --table scores.csv --delta 0.05

    Example: truebest plan --means 0.8,0.75,0.7 --correlation 0.6 --items 500

    A gate: truebest plan --table scores.csv --gate old --margin 0.02; with --means arms are called 1, 2, ...
    """
    if output is not None:
        check_writable(output)
    refuse_few(settings.get("table") or settings.get("pilot"), settings)
    from ..simulation.plan import plan as run

    with remarks():
        result = run(**settings)
    print_result(result, result.records(), format, output)
    known = dict(zip(result.arms, result.means, strict=True))
    asked = asked_words(settings.get("question"), result.arms, known)
    for note in [_about(result, ranked=not asked), *asked, *result.notes()]:
        say(note)
    return 0 if result.complete else 130


def _about(result: Plan, ranked: bool) -> str:
    """The scores that were simulated: the two best arms, and how much these have in common.

    ranked  whether it is asked which arm is best
    """
    order = sorted(range(len(result.arms)), key=lambda a: result.means[a], reverse=not result.minimize)
    said = [f"arm {result.arms[a]}, of mean {number(result.means[a], 4)}" for a in order[:2]]
    if len(said) == 1:
        return f"{said[0]}, is the only one in these scores."
    text = f"{said[0]}, is the best of {len(result.arms)} in these scores, then {said[1]}"
    if not ranked:
        means = zip(result.arms, result.means, strict=True)
        text = "the means are " + ", ".join(f"{number(mean, 4)} of {arm}" for arm, mean in means)
    if result.correlation is not None and result.correlation == result.correlation:
        text += f"; the correlation of {'both' if ranked else 'the two best'} is {result.correlation:.2f}"
    return text + "."
