"""Read numbers from words on the command line, from a file or from standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from ..errors import InvalidInputError


def read_words(words: list[str], file: str | None) -> list[str]:
    """The words themselves, or those of a file (`-`: standard input), cut at commas and blanks."""
    if words == ["-"] and file is None:
        words, file = [], "-"
    if file is None:
        return [part for word in words for part in word.replace(",", " ").split()]
    if words:
        raise InvalidInputError(
            f"give numbers either on the command line or with --file, got both ({words[0]!r} and "
            f"--file {file}); leave one out."
        )
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise InvalidInputError(
            f"cannot read {file!r}: {reason}; give a file of numbers separated by commas or lines."
        ) from None
    return text.replace(",", " ").split()


def to_number(word: str, what: str) -> float:
    """One number, or a refusal that quotes the word."""
    try:
        return float(word)
    except ValueError:
        pass
    if word.startswith("--"):
        raise InvalidInputError(f"there is no option {word}; 'bestarm solve --help' lists them.")
    example = "it like 0.05" if what == "delta" else "them like 0.9 0.8 or 0.9,0.8"
    raise InvalidInputError(f"{what} must be numeric, got {word[:40]!r}; write {example}.")
