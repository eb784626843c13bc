"""`truebest gate` and `truebest check`: is a command not worse than the old one; is its mean high enough?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..errors import InvalidInputError
from ._experiment import store_url
from ._settings import like
from .identify import identify

Baseline = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=COMMAND",
        help="The old one, and the command that samples it; or its scores, by --known.",
    ),
]
Candidates = Annotated[
    list[str],
    typer.Option(
        "--candidate", metavar="NAME=COMMAND", help="A new one, and the command that samples it; or several."
    ),
]
Bounds = Annotated[
    str | None,
    typer.Option(metavar="LO,HI", help="Bounds that every value respects; default: 0,1, or as --sigma says."),
]
UNASKED = ("tolerance", "control", "compare", "direct", "strategy")  # what a question leaves no room for
SCALES = ("bounds", "sigma", "model", "student")


@like(identify, "arm", "gate", "against", "at_most", "only", "expect", *UNASKED)
def gate(
    context: typer.Context,
    *,
    baseline: Baseline = None,
    candidate: Candidates,
    margin: Annotated[
        str | None,
        typer.Option(
            metavar="FLOAT",
            help="By how much a new one may be worse; 0 if it must be better, below 0 if by more than that; "
            "beside --known also a part of the old mean, such as 5%.",
        ),
    ] = None,
    at_least: Annotated[
        str | None, typer.Option(metavar="FLOAT", help="By how much a new one must be better.")
    ] = None,
    bounds: Bounds = None,
    **options: Any,
) -> int:
    """Find out whether a new command is not worse than the old one, wrong with probability at most delta.

    A command prints its value as the last line of its output; larger is better, unless --minimize is given.
    All else is as in `truebest identify`: with --items both get the same items, which takes far fewer calls.

    Exits with code 0 if every candidate passes, 5 if one fails, 3 if a budget ran out first. Of two equal
    commands, neither is better, and neither is worse.

    Example: truebest gate --baseline old='./score old' --candidate new='./score new' --margin 0.02 \
        --items tests.jsonl

    Example: truebest gate --known old=old.jsonl --candidate new='./score new' --margin 0.02 \
        --items tests.jsonl
    """
    old = baseline or []
    names = [word.partition("=")[0] for word in [*old, *(options.get("known") or [])]]
    if len(names) != 1:
        raise InvalidInputError(
            f"give one baseline, by --baseline with its command or by --known with its scores, got "
            f"{' and '.join(names) or 'neither'}; the others are compared with it."
        )
    code: int = identify(
        context=context,
        arm=[*old, *candidate],
        gate=names[0],
        margin=margin,
        at_least=at_least,
        bounds=_bounds(context, bounds, options),
        **options,
    )
    return code


@like(identify, "gate", "against", "margin", "only", "expect", *UNASKED, "minimize", "largest")
def check(
    context: typer.Context,
    *,
    arm: Annotated[
        list[str],
        typer.Option(metavar="NAME=COMMAND", help="A name, and the command that is sampled; or several."),
    ],
    at_least: Annotated[
        str | None, typer.Option(metavar="FLOAT", help="What its mean must be at least; or else --at-most.")
    ] = None,
    bounds: Bounds = None,
    **options: Any,
) -> int:
    """Find out whether a mean is at least a number, or at most; wrong with probability at most delta.

    A command prints its value as the last line of its output, such as 1 for a success and 0 for a failure.
    All else is as in `truebest identify`; with --items it is asked of these items, each used at most once.

    Exits with code 0 if every arm passes, 5 if one fails, 3 if a budget ran out first.

    Example: truebest check --arm agent='./run' --at-least 0.9 --max-samples 2000
    """
    if (at_least is None) == (options.get("at_most") is None):
        raise InvalidInputError(
            f"check compares means with one number, got {'none' if at_least is None else 'two'}; give either "
            f"--at-least 0.9, say, or --at-most 0.1."
        )
    code: int = identify(
        context=context, arm=arm, at_least=at_least, bounds=_bounds(context, bounds, options), **options
    )
    return code


def _bounds(context: typer.Context, said: str | None, options: dict[str, Any]) -> str | None:
    """The bounds of values: 0,1 if nothing else says what they are."""
    if said or any(options.get(name) for name in SCALES):
        return said
    from ..running.gate import is_stored

    store = options.get("store") and store_url(options["store"])
    return None if is_stored(store, options.get("name") or context.command.name or "") else "0,1"
