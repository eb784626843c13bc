"""The command line's front page: which commands there are, and what they have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__
from . import demo, reproduce, simulate, solve

app = typer.Typer(
    name="bestarm",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Which of K noisy options is the best? An answer with a guarantee, from few samples.",
    epilog="Exit codes: 0 done, 1 failure, 2 bad input, 3 undecided, 130 interrupted.",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"bestarm {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Which of K noisy options is the best? An answer with a guarantee, from few samples."""
    del version, debug  # the first acts by itself; `main` has taken the second


# Negative numbers look like options: what is no known option is handed on as a number to read.
app.command("solve", context_settings={"ignore_unknown_options": True})(solve.solve)
app.command("simulate")(simulate.simulate)
app.command("reproduce")(reproduce.reproduce)
app.command("demo")(demo.demo)
