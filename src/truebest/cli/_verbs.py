"""Plain verbs as commands: their parameters are words, their records a table."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any, get_origin

import typer

from ..experiment.verbs import Verb
from ._experiment import Listing, Name, StoreUrl, opened
from ._numbers import read_number
from ._output import Format, show


def command_of(verb: Verb) -> Callable[..., None]:
    """The command: the experiment's name, what the verb takes, the store, the format."""

    def command(*, name: str, store: str | None, format: Format, **words: Any) -> None:
        given = {key: _read(verb.kinds[key][0], word) for key, word in words.items()}
        with opened(store, name) as experiment:
            found = verb.function(experiment, **given)
        show([found], list(found), format)

    parameters = [
        Parameter("name", Parameter.KEYWORD_ONLY, annotation=Name),
        *(_word(verb, one) for one in verb.parameters),
        Parameter("store", Parameter.KEYWORD_ONLY, default=None, annotation=StoreUrl),
        Parameter("format", Parameter.KEYWORD_ONLY, default=Format.table, annotation=Listing),
    ]
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__doc__ = verb.function.__doc__
    return command


def _word(verb: Verb, parameter: Parameter) -> Parameter:
    """How a parameter is said."""
    kind, word = verb.kinds[parameter.name]
    said = typer.Option if word.option else typer.Argument
    shown = said(
        metavar=word.metavar, help=word.help, show_default=parameter.default not in (None, Parameter.empty)
    )
    text: Any = (
        list[str] if get_origin(kind) is list else str if parameter.default is Parameter.empty else str | None
    )
    return parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=Annotated[text, shown])


def _read(kind: Any, word: Any) -> Any:
    """A word, or words, as what the verb takes; what it may be, the experiment checks."""
    if get_origin(kind) is list:
        return [read_number(one) for one in word] if kind == list[int] else word
    return word if kind in (str, str | None) else read_number(word)
