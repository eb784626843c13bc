"""The command line's front page: which commands there are, and what they have in common."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from .. import __version__
from ..errors import InvalidInputError
from ..experiment.verbs import VERBS
from . import CODES

CHOOSE, RUN = "Choose the best", "Run an experiment from any language"
LOOK, STUDY = "Look at experiments", "Study the method"


class Command(NamedTuple):
    """Where a command is ("": it is a plain verb), under which heading help shows it, how words are read."""

    module: str
    function: str
    panel: str
    reading: str = ""


# Negative numbers look like options: what is not a known option is handed on as a word.
NUMBERS = "ignore_unknown_options"
# Unexpected arguments are passed on: the command knows what the user forgot.
EXTRA = "allow_extra_args"


COMMANDS = {
    "identify": Command("identify", "identify", CHOOSE, EXTRA),
    "gate": Command("gate", "gate", CHOOSE, EXTRA),
    "check": Command("gate", "check", CHOOSE, EXTRA),
    "plan": Command("plan", "plan", CHOOSE),
    "race": Command("race", "race", CHOOSE),
    "create": Command("ask_tell", "create", RUN),
    "ask": Command("ask_tell", "ask", RUN),
    "tell": Command("ask_tell", "tell", RUN, NUMBERS),
    **{name: Command("", name, RUN) for name, plain in VERBS.items() if not plain.looks},
    "retract": Command("ask_tell", "retract", RUN),
    "observe": Command("ask_tell", "observe", RUN, NUMBERS),
    "renew": Command("upkeep", "renew", RUN),
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
    **{name: Command("", name, LOOK) for name, plain in VERBS.items() if plain.looks},
    "verify": Command("experiments", "verify", LOOK),
    "serve": Command("serve", "serve", LOOK),
    "solve": Command("solve", "solve", STUDY, NUMBERS),
    "simulate": Command("simulate", "simulate", STUDY),
    "compare": Command("compare", "compare", STUDY),
    "reproduce": Command("reproduce", "reproduce", STUDY),
    "warm-up": Command("warm_up", "warm_up", STUDY),
}


class Once(TyperCommand):
    """A command that refuses an option given twice, unless it may be."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See the class."""
        said = Counter(one for one in self.make_parser(ctx).parse_args(args=list(args))[2] if _is_once(one))
        twice = next((one for one, times in said.items() if times > 1), None)
        if twice is not None:
            raise InvalidInputError(
                f"{twice.opts[0]} may be given once, got it {said[twice]} times; leave the others out."
            )
        return super().parse_args(ctx, args)


def _is_once(one: Any) -> bool:
    """Whether it is an option with a value that is not one of several."""
    return one.param_type_name == "option" and not (one.multiple or one.is_flag)


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
        function = _function(command)
        settings = {command.reading: True} if command.reading else None
        text = _paragraphs(function)
        panel = command.panel
        app.command(name, cls=Once, help=text, rich_help_panel=panel, context_settings=settings)(function)
    return app


def _function(command: Command) -> Callable[..., Any]:
    """What a command does: written by hand, or derived from a plain verb."""
    if command.module:
        found: Callable[..., Any] = getattr(
            import_module(f"{__package__}.{command.module}"), command.function
        )
        return found
    from ._verbs import command_of

    return command_of(VERBS[command.function])


def _paragraphs(function: Callable[..., Any]) -> str:
    """What help says of a command, with a paragraph in one line each, to be broken where the screen ends."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(text.split()) for text in paragraphs)


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
