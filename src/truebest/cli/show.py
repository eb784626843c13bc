"""`truebest watch`, `plot` and `report`: an experiment live, as a picture, as a page for a colleague."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InvalidInputError
from . import say
from ._experiment import Name, StoreUrl, opened
from ._numbers import read_number
from ._output import check_writable, code_of

PICTURES = (".svg", ".png", ".pdf")


def watch(
    name: Name,
    store: StoreUrl = None,
    timeout: Annotated[
        str | None, typer.Option(metavar="SECONDS", help="Stop looking after so many seconds.")
    ] = None,
) -> int:
    """Show live how an experiment goes, until it is decided or stopped.

    Where there is no terminal, it prints a line every ten seconds. Exits with code 0 if the experiment is
    decided, 3 if not.

    Example: truebest watch prompts --store sqlite:///runs.db
    """
    with opened(store, name) as experiment:
        now = experiment.watch(timeout=read_number(timeout))
    from .experiments import print_status

    print_status(now)
    return code_of(now)


def plot(
    name: Name,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="An .svg, .png or .pdf file.")
    ],
    store: StoreUrl = None,
) -> None:
    r"""Draw how much better the leader is than each other arm, and where the samples went.

    Needs truebest\[plots].

    Example: truebest plot prompts --output prompts.svg --store sqlite:///runs.db
    """
    check_picture(output)
    with opened(store, name) as experiment:
        figure = experiment.plot()
    save_picture(figure, output)


def check_picture(output: str) -> None:
    """Refuse, before the work, a file that cannot be written or is not a picture."""
    if Path(output).suffix.lower() not in PICTURES:
        raise InvalidInputError(
            f"a picture must be a file that ends in {', '.join(PICTURES)}, got {output!r}; name it like "
            f"{Path(output).stem}.svg."
        )
    check_writable(output)


def save_picture(figure: Any, output: str) -> None:
    """Write a Matplotlib figure, and say where it is."""
    dated = Path(output).suffix.lower() == ".svg"
    figure.savefig(output, dpi=150, metadata={"Date": None} if dated else None)
    say(f"the picture is in {output}.")


def report(
    name: Name,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="An .html file.")],
    store: StoreUrl = None,
) -> None:
    """Write one HTML page for the people who decide: what is best, how sure that is, what it took.

    The page needs no network and can be sent to anyone.

    Example: truebest report prompts --output prompts.html --store sqlite:///runs.db
    """
    check_writable(output)
    with opened(store, name) as experiment:
        experiment.report(output)
    say(f"the report is in {output}.")
