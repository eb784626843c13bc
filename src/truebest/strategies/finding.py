"""From a word to strategies: `ebs-d`, `ebs-d(gamma=0.01)`, `ebs-d(gamma=0.01|0.05|0.2)`, `my_file.py:mine`.

A word is a name, of ours or of an installed package, or a Python file and a name in it. In brackets follow
parameters, separated by commas; values that a bar separates are alternatives, and the word then stands for a
strategy for each of them. A value is a number, a word, True, False, None, or several in brackets.

A file runs when it is read. So only those read one who run what the user typed, never one who was sent a word
or found it in a store: `find_strategy` refuses a file unless it is told otherwise.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import entry_points
from itertools import product
from typing import Any, NamedTuple

from .. import _args
from .._catalogue import STRATEGIES
from ..errors import InvalidInputError
from ..theory.stopping import StoppingRule
from ._base import Strategy
from .custom import CustomStrategy

ENTRY_POINTS = "truebest.strategies"
EXAMPLE = "write it like ebs-d(gamma=0.01) or ebs-d(gamma=0.01|0.05)"

_WORD = re.compile(r"(?P<name>[^(]*)(?:\((?P<given>.*)\))?", re.DOTALL)
_FILE = re.compile(r"(?P<file>.+\.py):(?P<name>\w+)(?:\((?P<given>.*)\))?", re.DOTALL)
_BARE = re.compile(r"[A-Za-z][\w+.-]*")


class Word(NamedTuple):
    """What was written.

    file         the Python file that has the strategy, "" for none
    name         of a strategy
    parameters   the values of each, of which several are alternatives
    """

    file: str
    name: str
    parameters: dict[str, list[Any]]

    @property
    def place(self) -> str:
        """How messages name the strategy."""
        return f"{self.file}:{self.name}" if self.file else self.name


def strategy_names() -> list[str]:
    """The names of strategies: the built-in ones, then those of installed packages."""
    return [*STRATEGIES, *sorted(set(entry_points(group=ENTRY_POINTS).names) - set(STRATEGIES))]


def find_strategy(given: str | Strategy, files: bool = False) -> Strategy:
    """The one strategy that a word stands for; a strategy itself is returned as it is.

    files   whether the word may name a file, which then runs
    Raises  InvalidInputError
    """
    if not files and isinstance(given, str) and _FILE.fullmatch(given.strip()):
        raise InvalidInputError(
            f"a strategy in a file can be simulated and traced, got {given.strip()!r:.60} for something "
            f"else; import it in Python and pass the strategy itself."
        )
    found = find_strategies(given)
    if len(found) != 1:
        raise InvalidInputError(
            f"one strategy is needed here, got {given!r:.60}, which stands for {len(found)}; give each "
            f"parameter one value."
        )
    return found[0]


def find_strategies(given: str | Strategy) -> list[Strategy]:
    """All strategies that a word stands for, in the order of their values; a file that it names runs.

    Raises  InvalidInputError
    """
    if isinstance(given, Strategy):
        return [given]
    if not isinstance(given, str):
        raise InvalidInputError(
            f"a strategy must be a name or a Strategy, got {given!r:.60}; construct one, or "
            f"turn your own function into one with @truebest.strategy."
        )
    word = read_word(given)
    kind = _in_file(word, "strategy", _is_strategy) if word.file else _named(word.name)
    _check_names(word, kind)
    chosen = product(*word.parameters.values())
    return [_made(word, kind, dict(zip(word.parameters, values, strict=True))) for values in chosen]


def rule_of_word(given: str) -> str | StoppingRule:
    """The stopping rule in a file that a word names, which runs; any other word is returned as it is.

    Raises  InvalidInputError
    """
    if not _FILE.fullmatch(given.strip()):
        return given
    word = read_word(given)
    if word.parameters:
        raise InvalidInputError(
            f"a stopping rule in a file takes no parameters, got {given!r:.60}; leave the brackets out."
        )
    found: StoppingRule = _in_file(word, "stopping rule", lambda value: isinstance(value, StoppingRule))
    return found


# -- words ---------------------------------------------------------------------------------------------


def split_words(text: str) -> list[str]:
    """The words of a list, between commas or blanks, but not those in brackets."""
    cells = [cell.strip() for cell in _cut(text, ",")]
    if cells and not cells[-1]:
        cells.pop()  # a comma at the end
    if not all(cells):
        raise InvalidInputError(
            f"there is an empty cell between commas in {text.strip()[:40]!r}; fill it or remove it."
        )
    return [word for cell in cells for word in _cut(cell, " ") if word]


def read_word(text: str) -> Word:
    """The parts of a word; InvalidInputError if it is none."""
    match = _FILE.fullmatch(text.strip()) or _WORD.fullmatch(text.strip())
    if match is None:
        raise InvalidInputError(
            f"a strategy must be a name, with parameters in brackets behind it, got {text!r:.60}; {EXAMPLE}."
        )
    parts: dict[str, list[Any]] = {}
    for item in _cut(match["given"] or "", ",") if match["given"] else ():
        name, equals, values = (part.strip() for part in item.partition("="))
        if not name.isidentifier() or not equals or name in parts:
            raise InvalidInputError(
                f"the parameters of a strategy must be name=value, each once, got {item.strip()!r:.40} in "
                f"{text!r:.60}; {EXAMPLE}."
            )
        parts[name] = [_value(name, value.strip()) for value in _cut(values, "|")]
    return Word(match.groupdict().get("file") or "", match["name"].strip(), parts)


def _value(name: str, text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        if _BARE.fullmatch(text):
            return text
    raise InvalidInputError(
        f"a value must be a number, a word, True, False, None, or several in brackets, got "
        f"{name}={text:.40}; {EXAMPLE}."
    )


def _cut(text: str, at: str) -> list[str]:
    """The parts between separators that are outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if depth < 0:
            break
        if letter == at and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    if depth:
        raise InvalidInputError(f"every bracket must be closed, got {text.strip()[:60]!r}; {EXAMPLE}.")
    return parts


# -- what they stand for -------------------------------------------------------------------------------


def _named(name: str) -> Any:
    """What a name stands for: an entry of ours, a class, or a strategy."""
    if name in STRATEGIES:
        return STRATEGIES[name]
    name = _args.choice("strategy", name, strategy_names())
    try:
        loaded = next(iter(entry_points(group=ENTRY_POINTS, name=name))).load()
    except Exception as error:
        raise _unloadable(name, error) from error
    if not _is_strategy(loaded):
        raise InvalidInputError(
            f"the entry point {name!r} must give a truebest Strategy, got {type(loaded).__name__}; "
            f"make it one with @truebest.strategy."
        )
    return loaded


def _in_file(word: Word, what: str, is_one: Callable[[Any], bool]) -> Any:
    """What a name in a Python file stands for, a strategy or a stopping rule; the file runs."""
    if not os.path.isfile(word.file):
        raise InvalidInputError(
            f"the {what} {word.place!r} must be in a Python file, got {word.file!r}, which is not there; "
            f"correct its path."
        )
    with _folder_of(word.file):
        try:
            space = runpy.run_path(word.file)
        except InvalidInputError:
            raise  # something in it that was refused
        except (Exception, SystemExit) as error:
            lines = [
                at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == word.file
            ]
            where = f" in line {lines[-1]}" if lines else ""
            raise InvalidInputError(
                f"the file {word.file!r} raised {type(error).__name__}{where}: {error}; fix it, and put what "
                f"only a script should do under if __name__ == '__main__'."
            ) from error
    known = [name for name, value in space.items() if is_one(value) and not _is_ours(value)]
    if word.name not in space:
        raise InvalidInputError(
            f"the file {word.file!r} offers {', '.join(known) or f'no {what}'}, got the name {word.name!r}; "
            f"correct the name, or define it."
        )
    if not is_one(space[word.name]):
        raise InvalidInputError(
            f"{word.place!r} must be a {what}, got a {type(space[word.name]).__name__}; put "
            f"@truebest.{what.replace(' ', '_')} above the definition of a function."
        )
    return space[word.name]


@contextmanager
def _folder_of(file: str) -> Iterator[None]:
    """Inside, modules beside the file can be imported, as when Python runs it."""
    folder = os.path.dirname(os.path.abspath(file))
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


def _is_strategy(value: Any) -> bool:
    return isinstance(value, Strategy) or (isinstance(value, type) and issubclass(value, Strategy))


def _is_ours(value: Any) -> bool:
    """Whether it is a class of truebest's, which a file has only imported."""
    return isinstance(value, type) and value.__module__.startswith("truebest.")


def _check_names(word: Word, kind: Any) -> None:
    """Refuse parameters that a strategy does not have."""
    if isinstance(kind, CustomStrategy):
        allowed = ["params"]
    else:
        made_by = type(kind) if isinstance(kind, Strategy) else getattr(kind, "load", lambda: kind)()
        allowed = list(inspect.signature(made_by).parameters)
    for name in word.parameters:
        if not allowed:
            raise InvalidInputError(
                f"the strategy {word.place!r} has no parameters, got {name!r}; leave the brackets out."
            )
        _args.choice(f"a parameter of {word.place!r}", name, allowed)


def _made(word: Word, kind: Any, parameters: Mapping[str, Any]) -> Strategy:
    """The strategy with these parameters."""
    try:
        if isinstance(kind, CustomStrategy) and parameters:
            return _with_params(kind, parameters["params"])
        if isinstance(kind, Strategy):
            return replace(kind, **parameters) if parameters else kind  # type: ignore[type-var]
        if isinstance(kind, type):
            made: Strategy = kind(**parameters)
        else:
            made = kind.load()(**{**kind.arguments, **parameters})
        return made
    except InvalidInputError:
        raise
    except Exception as error:
        if not parameters and not word.file:
            raise _unloadable(word.name, error) from error
        shown = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
        raise InvalidInputError(
            f"the strategy {word.place!r} must accept its parameters, got {type(error).__name__}: {error}, "
            f"for ({shown}); correct them."
        ) from error


def _with_params(given: CustomStrategy, params: Any) -> Strategy:
    """A user's function with other numbers, which show in its name."""
    numbers = tuple(map(float, params if isinstance(params, tuple | list) else (params,)))
    shown = ", ".join(f"{number:g}" for number in numbers)
    text = shown if len(numbers) == 1 else f"({shown})"
    return replace(given, params=numbers, name=f"{given.name}(params={text})")


def _unloadable(name: str, error: Exception) -> InvalidInputError:
    return InvalidInputError(
        f"the strategy {name!r} of an installed package cannot be loaded: {type(error).__name__}: {error}; "
        f"fix or remove that package."
    )
