"""Read numbers from words on the command line, from a file or from standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ..errors import InvalidInputError


def read_words(words: list[str], file: str | None) -> list[str]:
    """The words themselves, or those of a file (`-`: standard input), cut at commas and blanks."""
    if words == ["-"] and file is None:
        words, file = [], "-"
    if file is None:
        return [part for word in words for part in cut(word)]
    if words:
        raise InvalidInputError(
            f"give numbers either on the command line or with --file, got both ({words[0]!r} and "
            f"--file {file}); leave one out."
        )
    return [part for line in read_text(file).splitlines() for part in cut(line)]


def cut(line: str) -> list[str]:
    """The words of a line, between commas or blanks; an empty cell between commas is refused."""
    cells = [cell.split() for cell in line.split(",")]
    if not cells[-1]:
        cells.pop()  # a comma at the end of a line
    if cells and not all(cells):
        raise InvalidInputError(
            f"there is an empty cell between commas in {line.strip()[:40]!r}; fill it or remove it."
        )
    return [word for cell in cells for word in cell]


def read_text(file: str, advice: str = "give numbers separated by commas or lines") -> str:
    """What a file says, or standard input (`-`)."""
    try:
        if file != "-":
            data = Path(file).read_bytes()
        elif sys.stdin is None:
            raise OSError(0, "it is closed")
        else:
            data = sys.stdin.buffer.read()
        return data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        name = "standard input" if file == "-" else repr(file)
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise InvalidInputError(f"cannot read {name}: {reason}; {advice}.") from None


LONGEST = 3.2e9  # seconds; that of experiment.settings, which would load the numerics
EXAMPLES = {
    "bounds": "them like 0,1",
    "means": "them like 0.9 0.8 or 0.9,0.8",
    "gaps": "them like 0 0.1 0.3",
    "noise": "it like 1 or 1,2",
    "timeout": "seconds like 300",
    "pull-timeout": "seconds like 30",
    "lease": "seconds like 3600, or never",
    "a value": "it like 0.73, with a point",
}


def to_number(word: str, what: str) -> float:
    """One number, or a refusal that quotes the word."""
    if word.startswith("--"):
        raise InvalidInputError(f"there is no option {word!r}; see 'truebest --help'.")
    try:
        if not word.isascii() or "_" in word:
            raise ValueError
        return float(word)
    except ValueError:
        example = EXAMPLES.get(what, "it like 0.05")
        raise InvalidInputError(f"{what} must be numeric, got {word[:40]!r}; write {example}.") from None


def to_numbers(text: str, what: str) -> list[float]:
    """One or more numbers, between commas or blanks."""
    words = cut(text)
    if not words:
        raise InvalidInputError(f"{what} must be one or more numbers, got nothing; write them like 0.9,0.8.")
    return [to_number(word, what) for word in words]


def to_seconds(word: str, what: str, for_ever: str = "leave it out") -> float:
    """A time that can be waited for, or a refusal that says how to ask for no limit."""
    time = to_number(word, what)
    if not 0.0 < time <= LONGEST:
        raise InvalidInputError(
            f"{what} must be positive and at most {LONGEST:g} seconds (a hundred years), got {word}; for no "
            f"limit {for_ever}."
        )
    return time


def to_whole(word: str, what: str) -> int:
    """One whole number, or a refusal that quotes the word; 1e6 is a whole number too."""
    try:
        number = to_number(word, what)
    except InvalidInputError:
        number = float("nan")
    if number != number or number in (float("inf"), float("-inf")) or number != int(number):
        raise InvalidInputError(f"{what} must be a whole number, got {word[:40]!r}; write it like 1000.")
    return int(word) if word.lstrip("+-").isdigit() else int(number)


def number(word: str | None) -> Any:
    """A number, whole if it is; any other word, or None, as it is, for the check of what it is given to."""
    if word is None:
        return None
    try:
        if not word.isascii() or "_" in word:
            raise ValueError
        found = float(word)
    except ValueError:
        return word
    if word.lstrip("+-").isdigit():
        return int(word)
    return int(found) if found == found // 1 else found


def numbers(words: str) -> tuple[Any, ...]:
    """Several of them, between commas or blanks."""
    return tuple(number(word) for word in cut(words))


def per_arm(words: str) -> Any:
    """One number, or one for each arm: old=1,new=2.5."""
    if "=" not in words:
        return number(words)
    each: dict[str, Any] = {}
    for word in cut(words):
        arm, _, value = word.rpartition("=")
        if arm in each:
            raise InvalidInputError(f"sigma= has the arm {arm!r} twice, got {words!r}; name each arm once.")
        each[arm] = number(value)
    return each
