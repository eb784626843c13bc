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


EXAMPLES = {"means": "them like 0.9 0.8 or 0.9,0.8", "a value": "it like 0.73, with a point"}


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


def read_number(word: str | None) -> Any:
    """A number, whole if it is; any other word, or None, as it is, for the check of what it is given to."""
    if word is None:
        return None
    try:
        if not word.isascii() or "_" in word:
            raise ValueError
        if word.lstrip("+-").isdigit():
            return int(word)  # not above some thousands of digits
        found = float(word)
    except ValueError:
        return word
    return int(found) if found == found // 1 else found


def read_numbers(words: str) -> tuple[Any, ...]:
    """Several of them, between commas or blanks."""
    return tuple(read_number(word) for word in cut(words))


def read_files(words: list[str]) -> dict[str, str]:
    """A file for each arm: old=old.jsonl."""
    each: dict[str, str] = {}
    for word in words:
        arm, equals, file = word.partition("=")
        if not equals or not arm.strip() or not file.strip() or arm in each:
            twice = " a second time" if arm in each else ""
            raise InvalidInputError(
                f"known= must be NAME=FILE with a name of its own for each, got {word[:60]!r}{twice}; write "
                f"it like old=old.jsonl."
            )
        each[arm] = file
    return each


def read_per_arm(words: str) -> Any:
    """One number, or one for each arm: old=1,new=2.5."""
    if "=" not in words:
        return read_number(words)
    each: dict[str, Any] = {}
    for word in cut(words):
        arm, _, value = word.rpartition("=")
        if arm in each:
            raise InvalidInputError(f"sigma= has the arm {arm!r} twice, got {words!r}; name each arm once.")
        each[arm] = read_number(value)
    return each
