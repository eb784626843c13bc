"""What the commands on experiments share: the store, how they open one, and remarks."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from .._text import quoted_store
from ..errors import InvalidInputError
from . import say
from ._numbers import read_number
from ._output import Format

if TYPE_CHECKING:
    from ..experiment.experiment import Experiment

Name = Annotated[str, typer.Argument(metavar="NAME", help="The experiment's name.", show_default=False)]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        envvar="TRUEBEST_STORE",
        metavar="URL",
        help="sqlite:///FILE, or postgresql://HOST/DATABASE.",
    ),
]
Worker = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The name of this worker, kept with its pulls; default: the host and the process.",
    ),
]
OutputFile = Annotated[
    str | None, typer.Option("--output", help="Write the output to a file instead of stdout.")
]
Listing = Annotated[Format, typer.Option("--format", help="Output format.")]


@contextmanager
def opened(store: str | None, name: str, worker: str | None = None) -> Iterator[Experiment]:
    """An experiment of a store, closed at the end."""
    url = store_url(store)
    from ..experiment.experiment import Experiment

    with Experiment.open(url, name, worker=worker) as experiment:
        yield experiment


def store_url(given: str | None) -> str:
    """A URL of a store that outlives the command, or a refusal that says how to write one."""
    if not given:
        raise InvalidInputError(
            "no store was given; write for example --store sqlite:///runs.db, or set TRUEBEST_STORE."
        )
    if given == "memory:":
        raise InvalidInputError(
            "the store memory: ends with this command; write for example --store sqlite:///runs.db."
        )
    if ":" not in given:
        file = "FILE" if "=" in given else given  # or a connection string, with a password in it
        raise InvalidInputError(
            f"a store must be a URL, got {quoted_store(given)}; for a file write sqlite:///{file}, for a "
            f"server postgresql://HOST/DATABASE."
        )
    return given


def pull_of(word: str) -> int:
    """The id of a pull."""
    from .._args import whole

    return whole("a pull", read_number(word), 1, 2**53, "give the id of a pull that ask issued")


@contextmanager
def remarks(quiet: bool = False) -> Iterator[None]:
    """Warnings of the library as remarks, in the words of the command line."""

    def remark(message: Warning | str, *_: object, **__: object) -> None:
        if not quiet:
            say(str(message).replace("max_samples", "--max-samples").replace("timeout", "--timeout"))

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = remark
        yield
