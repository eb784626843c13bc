"""What the commands on experiments share: their options, the store, and how they start quickly."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._catalogue import DEFAULT_RULE, DEFAULT_STRATEGY, STOPPING_RULES, STRATEGIES
from .._text import quoted_store
from ..errors import InvalidInputError
from . import say
from ._numbers import cut, to_number, to_whole
from ._output import ListingFormat

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
Listing = Annotated[ListingFormat, typer.Option("--format", help="Output format.")]
Delta = Annotated[
    str | None,
    typer.Option(metavar="FLOAT", help="Accepted probability of a wrong answer; default: 0.05."),
]
Sigma = Annotated[
    str | None,
    typer.Option(
        metavar="FLOAT",
        help="The known standard deviation (sub-Gaussian scale) of one value, or one for each arm like "
        "old=1,new=2.5; or --bounds. Values that vary more than it allows suspend the run.",
    ),
]
Bounds = Annotated[
    str | None, typer.Option(metavar="LO,HI", help="Bounds that every value respects, like 0,1; or --sigma.")
]
Student = Annotated[
    bool,
    typer.Option("--student", help="Values are Gaussian, and their variances unknown; or --bounds, --sigma."),
]
StrategyName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"How to choose the next arm: {', '.join(STRATEGIES)}, or an installed one, with parameters as "
        f"in 'ebs-d(gamma=0.01)'; default: {DEFAULT_STRATEGY}, see docs/guides/live.md.",
    ),
]
StoppingName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"When to stop: {', '.join(STOPPING_RULES)}; default: {DEFAULT_RULE}, which is proven, and "
        f"student with --student.",
    ),
]
Minimize = Annotated[
    bool, typer.Option("--minimize", help="Look for the smallest mean instead of the largest.")
]
Tolerance = Annotated[
    str | None,
    typer.Option(metavar="FLOAT", help="How far below the best the answer may be; default: 0."),
]
Items = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|INT|inf",
        help="Compare all arms on the same items, each used once at most, in random order: a file with one a "
        "line (JSON lines, CSV or text), or how many there are; inf for an unlimited source.",
    ),
]
Failures = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        help="With --items, what counts if there is no number: repeat (the default) asks again, a number is "
        "the value, worst takes the worst for whatever is claimed; with wins, loss (the default there).",
    ),
]
Control = Annotated[
    str | None,
    typer.Option(metavar="ARM", help="Say which arms are better than this one, too; it decides nothing."),
]
Compare = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        help="means (the default), or wins: only who is better in each round counts, and no bounds are "
        "needed; see docs/guides/race.md.",
    ),
]
Direct = Annotated[
    bool, typer.Option("--direct", help="With --compare wins: also find out that there is no winner.")
]
Order = Annotated[
    str | None,
    typer.Option(
        metavar="ORDER",
        help="Order in which results count: ask (the default), or arrival if durations do not depend on "
        "values.",
    ),
]
Seed = Annotated[
    str | None,
    typer.Option(metavar="INT", help="The same seed and results give the same pulls; default: a new seed."),
]


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


def settings_of(
    delta: str | None,
    sigma: str | None,
    bounds: str | None,
    student: bool,
    strategy: str | None,
    stopping: str | None,
    minimize: bool,
    order: str | None,
    tolerance: str | None,
    control: str | None,
    items: str | None,
    failures: str | None,
    compare: str | None,
    direct: bool,
) -> dict[str, Any]:
    """What `Experiment.create` and `identify` are given, from the words of the command line."""
    scales = {"--bounds": bounds is not None, "--sigma": sigma is not None, "--student": student}
    if sum(scales.values()) > 1:
        raise InvalidInputError(_SCALE.format(" and ".join(name for name in scales if scales[name])))
    words = {"strategy": strategy, "stopping": stopping, "order": order, "control": control}
    words["compare"] = compare
    found: dict[str, Any] = {key: word for key, word in words.items() if word is not None}
    if delta is not None:
        found["delta"] = to_number(delta, "delta")
    if sigma is not None:
        found["sigma"] = _sigma(sigma)
    if bounds is not None:
        found["bounds"] = tuple(to_number(word, "bounds") for word in cut(bounds))
    if student:
        from ..theory.models import Student as Unknown

        found["model"] = Unknown()
    if tolerance is not None:
        found["tolerance"] = to_number(tolerance, "tolerance")
    found |= {name: True for name, given in (("minimize", minimize), ("direct", direct)) if given}
    if items is not None:
        found["items"] = _items(items)
    if failures is not None:
        named = failures in ("repeat", "worst", "loss")
        found["failures"] = failures if named else to_number(failures, "failures")
    return found


def _items(word: str) -> Any:
    """How many, or a source, or what a file holds."""
    if word == "inf":
        return math.inf
    if word.isascii() and word.isdigit():
        return to_whole(word, "items")
    from ..experiment.items import Items as Given

    return Given(word)


def _sigma(given: str) -> float | dict[str, float]:
    """One number, or one for each arm: old=1,new=2.5."""
    if "=" not in given:
        return to_number(given, "sigma")
    each: dict[str, float] = {}
    for word in cut(given):
        arm, _, number = word.rpartition("=")
        if arm in each:
            raise InvalidInputError(f"--sigma has the arm {arm!r} twice, got {given!r}; name each arm once.")
        each[arm] = to_number(number, "sigma")
    return each


def require_scale(settings: dict[str, Any], known: Callable[[], bool]) -> None:
    """Refuse an experiment without a scale, unless it is known, and has one, or counts wins."""
    if settings.get("compare") == "wins":
        return
    if not {"sigma", "bounds", "model"} & settings.keys() and not known():
        raise InvalidInputError(_SCALE.format("none"))


_SCALE = (
    "give either --bounds LO,HI that every value respects, like --bounds 0,1, or --sigma with the known "
    "standard deviation of one value, or --student if values are Gaussian, got {}; without one of them "
    "nothing can be promised."
)


def seed_of(word: str | None) -> int | None:
    """The seed, if one was given."""
    return None if word is None else to_whole(word, "seed")


def pull_of(word: str) -> int:
    """The id of a pull."""
    return to_whole(word, "a pull")


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
