"""Many lines of a log at once. Nearly all lines of a long log are plain: a pull is asked for, and is told.

What a plain line does is done here in one loop, for as many lines in a row as are plain. Every other line
takes the long way, `State.apply` and `Order`, which say what is wrong with a line. So a line counts as plain
only if nothing can be wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..errors import InvalidInputError
from .events import ASKED, TOLD, Entry
from .leases import Open
from .names import check_name

if TYPE_CHECKING:
    from .admission import Order
    from .state import State

WORTH = 32  # plain lines in a row from which on it pays to look for more at once
_KEYS = frozenset({"deadline", "worker", "check", "observed", "together"})
_LEASED = {"deadline", "worker"}  # the keys of most lines
_IN_ROUNDS = frozenset({"deadline", "worker", "check", "round", "item", "epoch"})
_PLACED = {*_LEASED, "round", "item"}


class Plain(NamedTuple):
    """Pulls that were asked for and told in a stretch of plain lines.

    lines    how many lines
    asked    the arms of new pulls
    observed those of them that were not asked for, but are from before
    told     pulls with what was known of them, and the value as given
    """

    lines: int
    asked: list[int]
    observed: list[int]
    told: list[tuple[int, Open, float]]


NOTHING = Plain(0, [], [], [])


class InRounds(Protocol):
    """What plain lines do in rounds: whether one can follow depends on what the ones before it decided."""

    def note_plain(self, pull: int, arm: int, data: dict[str, Any]) -> bool:
        """Note where a new pull is; False, and nothing, if that is not certainly where it must be."""

    def settle_plain(self, pull: int, value: float) -> bool:
        """Take in a value, and judge; whether the rule decides."""


def replay(state: State, entries: Sequence[Entry], order: Order | None = None) -> None:
    """Take in many lines; with `order`, check that each can follow those before it.

    Raises  DamagedLogError
    """
    at = 0
    while at < len(entries):
        plain = state.take_plain(entries[at:])
        if order is not None and plain.lines:
            order.note_plain(plain)
        at += plain.lines
        rest = entries[at : at + (1 if plain.lines >= WORTH else WORTH)]
        state.replay(rest if order is None else order.checked(rest))
        at += len(rest)


def take_plain(
    state: State, entries: Sequence[Entry], allows: Callable[[float], bool], rounds: InRounds | None = None
) -> Plain:
    """Take in lines from the first on, as long as they are plain; what the design makes of them is its own.

    allows  whether a value is one that could be told, and needs no second look
    rounds  takes in line after line, where the design is in rounds
    """
    waiting, pull, num_arms, lines = state.open, state.next_pull, len(state.settings.arms), 0
    asked: list[int] = []
    observed: list[int] = []
    told: list[tuple[int, Open, float]] = []
    for kind, number, arm, value, data, *_ in entries:
        if kind == TOLD:
            item = waiting.get(number)  # type: ignore[arg-type]
            if item is None or item.arm != arm or type(value) is not float or not allows(value):
                break
            told.append((number, waiting.pop(number), value))  # type: ignore[arg-type]
            if rounds is not None and rounds.settle_plain(number, value):  # type: ignore[arg-type]
                lines += 1
                break
        elif kind == ASKED:
            if number != pull or type(number) is not int or type(arm) is not int or not 0 <= arm < num_arms:
                break
            held = None if value is not None else _held(arm, data or {}, rounds is not None)
            if held is None or (rounds is not None and not rounds.note_plain(number, arm, data or {})):
                break
            if "observed" in (data or {}):
                observed.append(arm)
            waiting[pull] = held
            asked.append(arm)
            pull += 1
        else:
            break
        lines += 1
    state.next_pull = pull
    if lines:
        last = entries[lines - 1]
        state.seq, state.mark, state.head = last.seq, last.time, last.chain
    return Plain(lines, asked, observed, told)


def _held(arm: int, data: dict[str, Any], in_rounds: bool) -> Open | None:
    """What a line says of a new pull; None if it says anything unusual."""
    check, together = True, False
    if type(data) is not dict:
        return None
    if data.keys() != (_PLACED if in_rounds else _LEASED):
        if not data.keys() <= (_IN_ROUNDS if in_rounds else _KEYS):
            return None
        check, together = data.get("check", True), data.get("together", False)
        if not (type(check) is type(together) is bool and data.get("observed", True) is True):
            return None
        if "together" in data and "observed" not in data:
            return None
    deadline, worker = data.get("deadline"), data.get("worker")
    if deadline is not None and (type(deadline) is not float or deadline != deadline):
        return None
    if worker is not None and not (type(worker) is str and _is_name(worker)):
        return None
    return Open(arm, check, deadline, True, worker, together)


@lru_cache(10_000)
def _is_name(worker: str) -> bool:
    try:
        check_name("the name of a worker", worker)
    except InvalidInputError:
        return False
    return True
