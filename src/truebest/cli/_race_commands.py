"""What races: the commands of `truebest race`, their names and parameters, and whether they need a shell."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import product

from ..errors import InvalidInputError

NONE = "none"
_SYNTAX = re.compile(r"[|&;<>()$`*?\[\]{}~#\n]|^\s*\w+=")  # what a shell would do something about
_QUOTED = re.compile(r"'[^']*'|\\.")
MOST = 200


@dataclass(frozen=True)
class Competitor:
    """A command under its name; its place among the commands as they were given; its parameters."""

    name: str
    line: str
    place: int
    parameters: dict[str, str] = field(default_factory=dict)

    def filled(self, line: str) -> str:
        """Another command line, with the same parameters."""
        return _filled(line, self.parameters)


def competitors(
    lines: list[str],
    names: list[str],
    listed: tuple[str, str] | None,
    scan: tuple[str, str, str] | None,
    step: str,
) -> list[Competitor]:
    """The commands, each with every combination of the parameters that it has.

    listed  name, values with commas between; --parameter-list
    scan    name, first, last; --parameter-scan, in steps
    """
    values = {} if listed is None else {listed[0]: listed[1].split(",")}
    if scan is not None:
        values[scan[0]] = _scanned(*scan, step)
    if len(names) > len(lines):
        raise InvalidInputError(
            f"there are {len(names)} names for {len(lines)} commands; give at most one --command-name each."
        )
    found: list[Competitor] = []
    for place, line in enumerate(lines):
        used = [name for name in values if f"{{{name}}}" in line]
        for chosen in product(*(values[name] for name in used)):
            given = dict(zip(used, chosen, strict=True))
            shown = _filled(names[place] if place < len(names) else line, given)
            found.append(Competitor(_apart(shown, given, found), _filled(line, given), place, given))
    unused = [name for name in values if not any(name in one.parameters for one in found)]
    if unused:
        raise InvalidInputError(
            f"no command has the parameter {unused[0]!r}; write it as {{{unused[0]}}} where it belongs."
        )
    if not 2 <= len(found) <= MOST:
        raise InvalidInputError(
            f"a race needs 2 to {MOST} commands, got {len(found)}; write them like: "
            f"truebest race 'sort -n big' 'sort -g big'."
        )
    return found


def shell_for(given: str | None, lines: list[str]) -> str:
    """The shell that runs all commands, "" for none: the one that was given, or sh if a command needs one."""
    if given is not None:
        return "" if given == NONE else given
    return "/bin/sh" if any(needs_shell(line) for line in lines) else ""


def needs_shell(line: str) -> bool:
    """Whether a line has something that only a shell understands, outside of single quotes."""
    return _SYNTAX.search(_QUOTED.sub("", line)) is not None


def _filled(line: str, parameters: dict[str, str]) -> str:
    for name, value in parameters.items():
        line = line.replace(f"{{{name}}}", value)
    return line


def _apart(name: str, given: dict[str, str], others: list[Competitor]) -> str:
    """A name that no other one has."""
    taken = {one.name for one in others}
    if name in taken and given:
        name += " " + " ".join(f"{key}={value}" for key, value in given.items())
    number, shown = 2, name
    while shown in taken:
        shown, number = f"{name} ({number})", number + 1
    return shown


def _scanned(name: str, first: str, last: str, step: str) -> list[str]:
    try:
        low, high, size = Decimal(first), Decimal(last), Decimal(step)
        if size <= 0 or high < low or (high - low) / size >= MOST:
            raise ValueError
    except (InvalidOperation, ValueError):
        raise InvalidInputError(
            f"--parameter-scan {name} needs a first and a larger last number, and at most {MOST} steps "
            f"between them, got {first} to {last} in steps of {step}; choose others."
        ) from None
    return [f"{(low + i * size).normalize():f}" for i in range(int((high - low) / size) + 1)]
