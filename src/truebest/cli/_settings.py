"""The settings of experiments as options: what --help says of each, and how its word is read.

This loads no numerical code, so `--help` is quick. A word is only turned into a number or a list here; what
it may be is checked where the setting is declared, and that refusal is said in the names of options.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer

from .._catalogue import DEFAULT_RULE, DEFAULT_STRATEGY, NAMED_MODELS, STOPPING_RULES, STRATEGIES
from ..errors import InvalidInputError
from ._numbers import read_files, read_number, read_numbers, read_per_arm, read_text

if TYPE_CHECKING:
    from ..questions import Question


class Option(NamedTuple):
    """An option.

    help     what --help says
    metavar  what a word is; "" for a switch
    read     from the word to what is given for it
    default  the word that is taken if none is said
    names    on the command line, if not its own alone
    many     whether it may be said several times; then all words are read together
    """

    help: str
    metavar: str = ""
    read: Callable[[Any], Any] = str
    default: str | None = None
    names: tuple[str, ...] = ()
    many: bool = False

    def parameter(self, name: str) -> inspect.Parameter:
        """The parameter of a command."""
        metavar, names = self.metavar or None, self.names or (f"--{name.replace('_', '-')}",)
        option = typer.Option(*names, metavar=metavar, help=self.help)
        said: Any = (str if self.default else str | None) if metavar else bool
        kind: Any = Annotated[list[str] | None if self.many else said, option]
        default = self.default if metavar else False
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


SETTINGS = {
    "delta": Option("Accepted probability of a wrong answer; default: 0.05.", "FLOAT", read_number),
    "bounds": Option("Bounds that every value respects, like 0,1; or --sigma.", "LO,HI", read_numbers),
    "sigma": Option(
        "The known standard deviation (sub-Gaussian scale) of one value, or one for each arm like "
        "old=1,new=2.5; or --bounds. Values that vary more than it allows suspend the run.",
        "FLOAT",
        read_per_arm,
    ),
    "model": Option(
        f"What values are, if neither bounds nor a scale say it: {', '.join(NAMED_MODELS)} (Gaussian, of "
        f"unknown variances).",
        "NAME",
    ),
    "student": Option("Short for --model student."),
    "strategy": Option(
        f"How to choose the next arm: {', '.join(STRATEGIES)}, or an installed one, with parameters as in "
        f"'ebs-d(gamma=0.01)'; default: {DEFAULT_STRATEGY}, see docs/guides/live.md.",
        "NAME",
    ),
    "stopping": Option(
        f"When to stop: {', '.join(STOPPING_RULES)}; default: {DEFAULT_RULE}, which is proven, and another "
        f"one for a --model that has its own.",
        "NAME",
    ),
    "minimize": Option("Look for the smallest mean instead of the largest."),
    "order": Option(
        "Order in which results count: ask (the default), or arrival if durations do not depend on values.",
        "ORDER",
    ),
    "tolerance": Option("How far below the best the answer may be; default: 0.", "FLOAT", read_number),
    "items": Option(
        "Compare all arms on the same items, each used at most once, in random order: a file with one per "
        "line (JSON lines, CSV or text), or how many there are; inf for an unlimited source.",
        "FILE|INT|inf",
        read_number,
    ),
    "known": Option(
        "With --items, an arm that is not asked, and its scores: a file with an id and a score per line "
        "(JSON lines or CSV), or one number per line in the order of the items; with --store also the name "
        "of an experiment on the same items that has this arm, or with :ARM one of another name there.",
        "NAME=FILE",
        read_files,
        many=True,
    ),
    "proxies": Option(
        "With --known, stored scores of other models on the same items, so that fewer calls are needed: CSV "
        "with a column per model, and perhaps one of ids.",
        "FILE",
    ),
    "failures": Option(
        "With --items, what counts if there is no number: repeat (the default) asks again, a number is the "
        "value, worst takes the worst for whatever is claimed; with wins, loss (the default there).",
        "HOW",
        read_number,
    ),
    "sampled": Option(
        "With --items: they are a random sample of all that could come, neither chosen by hand nor used to "
        "make an arm; also say what holds for items like these."
    ),
    "cluster": Option(
        "With --items: the key by which they belong together, such as conversation. A round is then a "
        "cluster, and the cluster is what counts as one.",
        "KEY",
    ),
    "weigh": Option("With --cluster, what counts alike: items (the default) or clusters.", "WHAT"),
    "largest": Option(
        "With --cluster and --sampled: the most items that any cluster can have; not needed with --weigh "
        "clusters.",
        "INT",
        read_number,
    ),
    "epochs": Option(
        "With --items, how often each arm answers an item; its value there is the mean. Default: 1.",
        "INT",
        read_number,
    ),
    "control": Option("Also say which arms are better than this one; does not affect the decision.", "ARM"),
    "gate": Option("Ask which other arms are not worse than this one by more than --margin.", "ARM"),
    "against": Option("Ask which other arms are better than this one, and which are not.", "ARM"),
    "margin": Option(
        "With --gate: by how much an arm may be worse, 0 if it must be better, below 0 if by more than that, "
        "and beside --known also a part of the old mean, such as 5%; with --against: by how much it must be "
        "better.",
        "FLOAT",
        read_number,
    ),
    "at_least": Option(
        "Ask which arms have a mean of at least this; with --gate: by how much an arm must be better.",
        "FLOAT",
        read_number,
    ),
    "at_most": Option("Ask which arms have a mean of at most this.", "FLOAT", read_number),
    "only": Option("With --against: better, if only the list of the arms that are better counts.", "better"),
    "compare": Option(
        "means (the default), or wins: only who is better in each round counts, and no bounds are needed; "
        "see docs/guides/race.md.",
        "HOW",
    ),
    "direct": Option("With --compare wins: also find out that there is no winner."),
    "seed": Option("The same seed and results give the same pulls; default: a new seed.", "INT", read_number),
    "lease": Option(
        "Seconds after which an unanswered pull is issued again, or never; default: 3600.",
        "SECONDS",
        lambda word: read_number("inf" if word == "never" else word),
    ),
    "max_samples": Option(
        "How many samples there will be at most: the stopping rule prepares for it; limits nothing here.",
        "INT",
        read_number,
    ),
}


QUESTION = ("gate", "against", "margin", "at_least", "at_most", "only")  # options that make a question
# What several commands on simulations take
SEED = Option("The same seed gives the same result.", "INT", read_number, "0")
ANSWERS = {  # what a round on common items is made of
    "epochs": Option(
        "On common items: how often each arm answers an item, of which the mean counts; data then have as "
        "many lines for each item, one after the other. Default: 1.",
        "INT",
        read_number,
    ),
    "clusters": Option(
        "With a table of a closed set: the label of each item's cluster, one per line; a round is then a "
        "cluster. - for standard input.",
        "FILE",
        lambda file: read_text(file, "give a label per line").splitlines(),
    ),
    "weigh": Option("With --clusters, what counts alike: items (the default) or clusters.", "WHAT"),
}
THREADS = Option("Threads; default: one per core.", "INT", read_number)


def with_settings(
    *names: str, own: Mapping[str, Option] = MappingProxyType({})
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command these options of settings, and some of its own.

    It gets what they say as a dictionary, `settings`, without what was not said and has no default.
    """
    options = {**own, **{name: SETTINGS[name] for name in names}}

    def give(function: Callable[..., Any]) -> Callable[..., Any]:
        hints = get_type_hints(function, include_extras=True)
        parameters: list[inspect.Parameter] = []
        for one in inspect.signature(function).parameters.values():
            if one.name == "settings":
                parameters += [option.parameter(name) for name, option in options.items()]
            else:
                kind = inspect.Parameter.KEYWORD_ONLY
                parameters.append(one.replace(kind=kind, annotation=hints[one.name]))

        @functools.wraps(function)
        def command(**words: Any) -> Any:
            said = {name: words.pop(name, None) for name in options}
            with in_options({one.name for one in parameters}):
                return function(settings=_read(said, options), **words)

        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return give


def _read(words: dict[str, str | list[str] | bool | None], options: Mapping[str, Option]) -> dict[str, Any]:
    """What was said, and nothing for the rest."""
    found: dict[str, Any] = {}
    for name, word in words.items():
        if isinstance(word, str | list):
            found[name] = options[name].read(word)
        elif word:
            found[name] = True
    _ask(found)
    if found.pop("student", False):
        if "model" in found:
            raise InvalidInputError("--student is short for --model student, got --model too; leave one out.")
        found["model"] = "student"
    return found


def _ask(found: dict[str, Any]) -> None:
    """Put the question in the place of the options that make it."""
    said = {name: found.pop(name) for name in QUESTION if name in found}
    if not said:
        return
    from .._args import scalar
    from ..questions import Against, AtLeast, AtMost

    kinds: dict[frozenset[str], Callable[..., Any]] = {
        frozenset(("gate",)): _gate,
        frozenset(("against",)): lambda against, margin=0.0, only=None: Against(against, margin, only),
        frozenset(("at_least",)): lambda at_least: AtLeast(scalar("at_least", at_least)),
        frozenset(("at_most",)): lambda at_most: AtMost(scalar("at_most", at_most)),
    }
    named = frozenset(said) & {"gate", "against"} or frozenset(said) & {"at_least", "at_most"}
    make = kinds.get(named)
    if make is None or not set(said) <= set(inspect.signature(make).parameters):
        given = " and ".join(f"{name}=" for name in said)
        raise InvalidInputError(
            f"{given} make{'s' * (len(said) == 1)} no question; ask gate= with margin= or "
            f"at_least=, against= with margin= or only=, or at_least= or at_most= alone."
        )
    found["question"] = make(**said)


def asked_words(question: Any, arms: Sequence[str], known: Mapping[str, float] | None = None) -> list[str]:
    """What is asked of each arm, as a remark; the known means are what a margin may be a part of."""
    from ..questions import PerArm

    if not isinstance(question, PerArm):
        return []
    asked: Any = question.bound(arms, None if known is None else known.get)
    return [f"Asked: {asked.asked('arm', arms)}."]


def _gate(gate: str, margin: float | str | None = None, at_least: float | None = None) -> Question:
    from ..questions import UNSAID, Gate

    if margin is None and at_least is None:
        raise InvalidInputError(UNSAID)
    return Gate(gate, margin, at_least)


def like(command: Callable[..., Any], *without: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of another one, but for some; it gets their words, to pass on."""
    theirs = inspect.signature(command).parameters

    def give(function: Callable[..., Any]) -> Callable[..., Any]:
        hints = get_type_hints(function, include_extras=True)
        named = [
            one for one in inspect.signature(function).parameters.values() if one.kind is not one.VAR_KEYWORD
        ]
        own = [one.replace(kind=one.KEYWORD_ONLY, annotation=hints[one.name]) for one in named]
        rest = [one for name, one in theirs.items() if name not in (*without, *(one.name for one in own))]

        @functools.wraps(function)
        def shown(**words: Any) -> Any:
            return function(**words)

        shown.__signature__ = inspect.Signature([*own, *rest])  # type: ignore[attr-defined]
        shown.__annotations__ = {one.name: one.annotation for one in (*own, *rest)}
        return shown

    return give


_ARGUMENT = re.compile(
    r"(?<!\w\()\b([a-z_]+)=(True\b|truebest\.(\w+)\(\)|\((\w+), (\w+)\)|'([^']*)'|(?=\w|-|\.\d)"
    r"|\{'([^':]*)': (\w+)\})?"
    r"|\b(?P<plain>[a-z]+_[a-z_]+)\b"
    # a question as Python shows it
    r"|\b(?:At(?P<side>Least|Most)\(threshold=(?P<number>[\w.+-]+)\)|[A-Z]\w+\([^()]*\))"
)


@contextmanager
def in_options(names: Collection[str]) -> Iterator[None]:
    """A refusal of arguments by these names as one of options: compare='wins' is --compare wins."""
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(as_options(str(error), names)) from error


def as_options(text: str, names: Collection[str]) -> str:
    """A sentence about arguments as one about options."""

    def said(found: re.Match[str]) -> str:
        if found["side"] and f"at_{found['side'].lower()}" in names:
            return f"--at-{found['side'].lower()} {float(found['number']):g}"
        name = found[1] or found["plain"]
        if name not in names:
            return found[0]
        model, low, high, word = found[3], found[4], found[5], found[6]
        value = model.lower() if model else f"{low},{high}" if low else word or ""
        value = f"{found[7]}={found[8]}" if found[7] else value
        gap = " " if value or found[2] == "" else ""
        return f"--{name.replace('_', '-')}{gap}{value}"

    return _ARGUMENT.sub(said, text)
