"""Plain text for people: rows aligned, texts that do no harm, messages that give no password away."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import chain
from pathlib import PurePath
from typing import IO

_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_JOINING = dict.fromkeys((0x200C, 0x200D, 0xFE0E, 0xFE0F))  # terminals disagree on how wide that is


def is_control(character: str) -> bool:
    """Whether it is a control character, a line break or half of a character."""
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def harmless(text: str, strict: bool = False) -> str:
    """A text that moves no cursor, changes no colour and turns no direction; what would is shown as ?.

    All else stays as it is, also what joins letters and emoji: it may be a name that a program looks for.
    strict  replace everything that cannot be seen, for messages; a space of another kind by a space
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _shown(c, strict) for c in text)


def clean(text: str, ascii_only: bool = False) -> str:
    """Harmless and of a known width on a terminal, where columns must stay aligned."""
    text = harmless(text.translate(_JOINING), strict=True)
    return text.encode("ascii", "backslashreplace").decode() if ascii_only else text


def _shown(character: str, strict: bool) -> str:
    """In place of a character that cannot be seen."""
    if is_control(character) or character in _TURNING:
        return "?"
    if not strict:
        return character
    return " " if unicodedata.category(character) == "Zs" else "?"


_NO_PASSWORD = re.compile(r"(?:(?:sqlite|memory):)?[^:@=]*", re.IGNORECASE)  # a file's name at most
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://)?")
_CREDENTIALS = re.compile(r"://[^/]*:|[:/].*@|pass\w*\s*=", re.IGNORECASE | re.DOTALL)
_SCHEDULER = re.compile(r"(tcp|tls|wss?|ucx)://[\w.\[\]-]*:\d{1,5}/?", re.IGNORECASE | re.ASCII)
_BEFORE_PASSWORD = re.compile(r"[\w.+/@-]*(?:://[\w.+@-]*)?[:=]", re.ASCII)  # what no message would escape


def quoted_store(given: object) -> str:
    """How a message quotes what was given for a store: whole only if it can hold no password."""
    if not isinstance(given, str | PurePath):
        return "None" if given is None else f"a value of type {type(given).__name__}"
    text = str(given)
    if _NO_PASSWORD.fullmatch(text):
        return repr(given)
    scheme = _SCHEME.match(text)
    begun = repr(scheme.group() + "...") if scheme else "a text"
    return f"{begun} (not shown in full, as it may hold a password)"


def without_passwords(message: str, words: Iterable[str]) -> str:
    """A message cut off where it begins to quote a word that looks like a URL with a password.

    Where the quotation ends cannot be told: it may be escaped in many ways, and cut off anywhere.
    """
    for word in filter(_CREDENTIALS.search, words):
        value = word.partition("=")[2] if word.startswith("--") else word
        if _SCHEDULER.fullmatch(value):
            continue  # the address of one, where a port looks like a password
        begun = _BEFORE_PASSWORD.search(value)
        if begun is not None and begun.group() in message:
            message = message.partition(begun.group())[0] + begun.group() + "***"
    return message


def shortened(text: str, most: int) -> str:
    """At most so many characters; a long text loses its middle, since names often differ at their ends."""
    return text if len(text) <= most else f"{text[: most - most // 3 - 1]}…{text[-(most // 3) :]}"


def moment(seconds: float) -> str:
    """A point in time, given in seconds since 1970."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
    except (OverflowError, ValueError, OSError):  # farther away than calendars go
        return f"{seconds:.6g} s after 1970"


def plural(number: int, thing: str) -> str:
    """1 sample, 2 samples."""
    return f"{number} {thing}" + ("" if number == 1 else "s")


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def duration(seconds: float) -> str:
    """A duration in a unit that fits."""
    for limit, unit, name in ((90.0, 1.0, "s"), (5400.0, 60.0, "min"), (129_600.0, 3600.0, "h")):
        if seconds < limit:
            return f"{max(seconds, 0.0) / unit:.0f} {name}"
    return f"{seconds / 86_400.0:.0f} days"


def begun(words: str) -> str:
    """A text as the beginning of a sentence."""
    return words[:1].upper() + words[1:]


def exactly(number: float) -> str:
    """The shortest decimal that gives the number; without an exponent where it has a usual size."""
    text = repr(float(number) + 0.0)
    return f"{Decimal(text):f}".removesuffix(".0") if not number or 1e-9 < abs(number) < 1e21 else text


def factor(tolerance: float) -> str:
    """By how many times a tolerance that is a part allows more: 1.05 for 0.05, with all of its digits."""
    return f"{1 + Decimal(repr(float(tolerance))):f}".removesuffix(".0")


def rounded(number: float | Fraction, rounding: str, digits: int = 3) -> str:
    """To so many digits, never rounded the other way."""
    context, ratio = Context(prec=digits, rounding=rounding), number.as_integer_ratio()
    found = context.divide(*map(Decimal, ratio)).normalize(context)
    return f"{found:f}" if 1e-9 < abs(found) < 1e15 else f"{float(found):g}"


def claimed(number: float | Fraction, up: bool = False) -> str:
    """A number as it was given; of a part of a mean that is not a decimal, six digits that stay true."""
    if isinstance(number, Fraction):
        return rounded(number, ROUND_CEILING if up else ROUND_FLOOR, 6)
    return exactly(number)


def percent(probability: float, rounding: str = ROUND_CEILING) -> str:
    """To six digits, never rounded down."""
    exact = 100 * Decimal(repr(probability))
    return f"{float(exact.normalize(Context(prec=6, rounding=rounding))):g}%"


def confidence(promise: float) -> str:
    """What a promise leaves of 100%, never rounded up."""
    return percent(round(1.0 - promise, 12), ROUND_FLOOR)


def rough(number: int) -> int:
    """To two digits: it is an estimate."""
    return round(number, 2 - len(str(number))) if number >= 100 else number


def rough_range(low: int, high: int) -> tuple[int, int]:
    """Both to two digits, outwards."""
    down, up = (10 ** max(len(str(end)) - 2, 0) for end in (low, high))
    return low // down * down, -(-high // up) * up


def cell_of_markdown(text: str) -> str:
    """A text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", harmless(text, strict=True))


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; columns aligned to the right, all but the first."""
    return "".join(f"{line}\n" for line in markdown_lines(header, rows))


def markdown_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The same line by line."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    for line in chain([map(cell_of_markdown, header), rule], (map(cell_of_markdown, row) for row in rows)):
        yield f"| {' | '.join(line)} |"


def column_widths(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """The widest cell of every column."""
    return [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """One line per row; columns aligned to the right, all but the first."""
    widths = column_widths(header, rows)
    lines = []
    for row in [header, *rows]:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether people see what is written to a stream, which may be missing or closed."""
    try:
        return stream is not None and bool(stream.isatty())
    except ValueError:  # closed
        return False
