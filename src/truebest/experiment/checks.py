"""What the settings of an experiment may be: each check gives what is kept, or refuses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sized

from .. import _args
from ..errors import InvalidInputError
from ..questions import Question, find_question
from .names import check_name

LONGEST = 3.2e9  # seconds: a third of what locks can wait for where a pointer has 64 bits


def check_arms(given: Iterable[str], known: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Different names, those of arms whose scores are known last; the question says how many."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInputError(
            f"arms must be a list of names, got {_args.short(given)}; give at least two, "
            f"such as ['old', 'new']."
        )
    asked = tuple(check_name("the name of an arm", name) for name in given)
    both = [name for name in asked if name in known]
    if both or (known and not asked):
        what = f"{both[0]!r} as both" if both else f"none beside the known {', '.join(known)}"
        raise InvalidInputError(
            f"arms must be those that are asked, and known= the others, got {what}; an arm whose scores are "
            f"known is not asked, and among known ones nothing is left to find out."
        )
    names = asked + known
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidInputError(f"the names of the arms must differ, got {name!r} twice; rename one.")
        seen.add(name)
    return names


def read_arms(stored: list[str]) -> tuple[str, ...]:
    """As they were stored; earlier versions may have taken names that are refused now."""
    names = _names(stored)
    if len(set(names)) < max(1, len(names)):
        raise ValueError(f"{_args.short(stored)} are not one or more different names")
    return names


def _names(stored: object) -> tuple[str, ...]:
    if not isinstance(stored, list) or not all(isinstance(one, str) for one in stored):
        raise TypeError(f"{_args.short(stored)} is not a list of texts")
    return tuple(stored)


def check_budget(given: int | None, arms: Sized) -> int | None:
    """How many samples can be taken, enough for one of every arm; None for any number."""
    if given is None:
        return None
    advice = "it is how many samples a run may take, at least one per arm"
    return _args.whole("max_samples", given, len(arms), 2**53, advice)


def check_order(given: str) -> str:
    """In which results count."""
    return _args.choice("order", given, ("ask", "arrival"))


def check_question(given: Question, arms: tuple[str, ...]) -> Question:
    """One of truebest's own, asked of these arms."""
    return find_question(given).bound(arms)


def check_seed(given: int) -> int:
    """Any whole number that a double holds."""
    return _args.whole("seed", given, 0, 2**53, "any number will do, and the same one gives the same asks")


def check_lease(given: float | None) -> float | None:
    """Seconds; None for never, as is infinity."""
    return (
        None
        if given is None or given == math.inf
        else seconds("lease", given, "give inf, or write never on the command line")
    )


def read_lease(stored: float | None) -> float | None:
    """As it was stored; version 0.1 took longer ones."""
    return None if stored is None else check_lease(min(stored, LONGEST))


def check_control(given: str | None, arms: tuple[str, ...]) -> str | None:
    """One of the arms, or None."""
    if given is not None and given not in arms:
        raise InvalidInputError(
            f"control must be one of the arms {', '.join(arms)[:200]}, got {_args.short(given)}; name the "
            f"arm that the others are compared with."
        )
    return given


def check_about(given: Mapping[str, str] | None, arms: tuple[str, ...]) -> tuple[str, ...] | None:
    """What each arm is, in the order of the arms."""
    return None if given is None else tuple(str(given.get(arm, "")) for arm in arms)


def read_about(stored: list[str] | None) -> tuple[str, ...] | None:
    """As it was stored."""
    return None if stored is None else _names(stored)


def seconds(name: str, value: float, endless: str = "leave it out") -> float:
    """A positive time that every platform can wait for."""
    number = _args.scalar(name, value)
    if not 0.0 < number <= LONGEST:
        raise InvalidInputError(
            f"{name} must be positive and at most {LONGEST:g} seconds (a hundred years), got {number:g}; for "
            f"no limit {endless}."
        )
    return number
