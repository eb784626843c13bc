"""The command line's front page: which commands there are, and what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, NamedTuple

import typer

from .. import __version__
from . import CODES

CHOOSE, RUN = "Choose the best", "Run an experiment from any language"
LOOK, STUDY = "Look at experiments", "Study the method"


class Command(NamedTuple):
    """Where a command is, under which heading the help shows it, how its words are read."""

    module: str
    function: str
    panel: str
    reading: str = ""


# Negative numbers look like options: what is no known option is handed on as a word.
NUMBERS = "ignore_unknown_options"
# Unexpected arguments are passed on: the command knows what the user forgot.
EXTRA = "allow_extra_args"


COMMANDS = {
    "identify": Command("identify", "identify", CHOOSE, EXTRA),
    "plan": Command("plan", "plan", CHOOSE),
    "race": Command("race", "race", CHOOSE),
    "create": Command("ask_tell", "create", RUN),
    "ask": Command("ask_tell", "ask", RUN),
    "tell": Command("ask_tell", "tell", RUN, NUMBERS),
    "fail": Command("ask_tell", "fail", RUN),
    "retract": Command("ask_tell", "retract", RUN),
    "observe": Command("ask_tell", "observe", RUN, NUMBERS),
    "renew": Command("upkeep", "renew", RUN),
    "reclaim": Command("upkeep", "reclaim", RUN),
    "stop": Command("upkeep", "stop", RUN),
    "import": Command("upkeep", "import_", RUN),
    "delete": Command("upkeep", "delete", RUN),
    "status": Command("experiments", "status", LOOK),
    "watch": Command("show", "watch", LOOK),
    "plot": Command("show", "plot", LOOK),
    "report": Command("show", "report", LOOK),
    "forecast": Command("experiments", "forecast", LOOK),
    "list": Command("experiments", "list_experiments", LOOK),
    "export": Command("experiments", "export", LOOK),
    "verify": Command("experiments", "verify", LOOK),
    "serve": Command("serve", "serve", LOOK),
    "solve": Command("solve", "solve", STUDY, NUMBERS),
    "simulate": Command("simulate", "simulate", STUDY),
    "compare": Command("compare", "compare", STUDY),
    "reproduce": Command("reproduce", "reproduce", STUDY),
    "warm-up": Command("warm_up", "warm_up", STUDY),
}


def app_for(words: Sequence[str]) -> typer.Typer:
    """The application, with only the command that is called: to read the options of all takes a while."""
    app = typer.Typer(
        name="truebest",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        help="Find the best of several noisy options, from few samples and with a guarantee.",
        epilog="Exit codes: " + "; ".join(f"{code} {words}" for code, words in CODES.items()) + ".",
    )
    app.callback()(common)
    for name in words[:1] if words and words[0] in COMMANDS else COMMANDS:
        command = COMMANDS[name]
        function = getattr(import_module(f"{__package__}.{command.module}"), command.function)
        settings = {command.reading: True} if command.reading else None
        app.command(name, rich_help_panel=command.panel, context_settings=settings)(function)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        print(f"truebest {__version__}")
        raise typer.Exit


def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Find the best of several noisy options, from few samples and with a guarantee."""
    del version, debug  # the first acts by itself; `main` has taken the second
