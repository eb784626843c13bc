"""`truebest gate`: is a new command not worse than the old one?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..errors import InvalidInputError
from ._settings import like
from .identify import identify

Baseline = Annotated[
    str | None,
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
SCALES = ("bounds", "sigma", "model", "student")


@like(identify, "arm", "gate", "expect", "tolerance", "control", "compare", "direct", "strategy")
def gate(
    context: typer.Context,
    *,
    baseline: Baseline = None,
    candidate: Candidates,
    margin: Annotated[
        str | None,
        typer.Option(metavar="FLOAT", help="By how much a new one may be worse; 0 if it must be better."),
    ] = None,
    at_least: Annotated[
        str | None, typer.Option(metavar="FLOAT", help="By how much a new one must be better.")
    ] = None,
    bounds: Annotated[
        str | None,
        typer.Option(
            metavar="LO,HI", help="Bounds that every value respects; default: 0,1, or as --sigma says."
        ),
    ] = None,
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
    if margin is None and at_least is None:
        raise InvalidInputError(
            "give --margin, by how much a new one may be worse, such as --margin 0.02; --margin 0 asks "
            "whether it is better."
        )
    old = [word for word in (baseline,) if word is not None]
    names = [word.partition("=")[0] for word in [*old, *(options.get("known") or [])]]
    if len(names) != 1:
        raise InvalidInputError(
            f"give either --baseline, the old one and its command, or --known with its scores, got "
            f"{' and '.join(names) or 'neither'}; the others are compared with it."
        )
    scaled = any(options.get(name) for name in SCALES)
    code: int = identify(
        context=context,
        arm=[*old, *candidate],
        gate=names[0],
        margin=margin,
        at_least=at_least,
        bounds=bounds if bounds or scaled else "0,1",
        **options,
    )
    return code
