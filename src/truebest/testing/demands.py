"""A demand: a name, what it claims, and a function that looks whether it is met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from .. import _args
from .._text import column_widths
from ..errors import ContractError, TruebestError

Case = TypeVar("Case")


class BrokenError(Exception):
    """A demand is not met; the message says what was found, and what to do."""


class NotCheckedError(Exception):
    """A demand does not apply, or cannot be checked here; the message says why."""


def require(met: bool, found: str, advice: str) -> None:
    """Refuse what does not meet a demand: what was found, and what to do."""
    if not met:
        raise BrokenError(f"{found}; {advice}")


class Check(NamedTuple):
    """One demand that is met.

    demand    its name
    claim     what it says
    evidence  on what it was checked, or why it was not
    checked   whether it was
    """

    demand: str
    claim: str
    evidence: str
    checked: bool = True


@dataclass(frozen=True)
class Report:
    """What was checked; prints as a table.

    subject  the strategy or the store
    checks   one per demand, all of them met or not checked
    """

    subject: str
    checks: tuple[Check, ...]

    def __str__(self) -> str:
        met = sum(check.checked for check in self.checks)
        header = f"{self.subject} meets {met} demand{'' if met == 1 else 's'}"
        rows = [
            (c.demand, c.claim, c.evidence if c.checked else f"not checked: {c.evidence}")
            for c in self.checks
        ]
        widths = column_widths(("", "", ""), rows)
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
        ]
        return "\n".join([header, *(f"  {line}".rstrip() for line in lines)])


class Demands(Generic[Case]):
    """The demands on one kind of thing, in the order in which they are checked."""

    def __init__(self) -> None:
        self._all: dict[str, tuple[str, Callable[[Case], str]]] = {}

    def __add__(self, other: Demands[Case]) -> Demands[Case]:
        both: Demands[Case] = Demands()
        both._all = {**self._all, **other._all}
        return both

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(self._all)

    def demand(self, name: str, claim: str) -> Callable[[Callable[[Case], str]], Callable[[Case], str]]:
        """Add one: a function of a case that returns on what the demand was checked, or raises."""

        def add(look: Callable[[Case], str]) -> Callable[[Case], str]:
            self._all[name] = claim, look
            return look

        return add

    def check(self, subject: str, case: Case, only: str | Sequence[str] | None) -> Report:
        """Look at all demands, or at some; ContractError at the first that is broken."""
        wanted = self.names if only is None else [only] if isinstance(only, str) else list(only)
        chosen = [_args.choice("only", name, self.names) for name in wanted]
        return Report(subject, tuple(self._look(subject, name, case) for name in chosen))

    def _look(self, subject: str, name: str, case: Case) -> Check:
        claim, look = self._all[name]
        try:
            return Check(name, claim, look(case))
        except NotCheckedError as reason:
            return Check(name, claim, str(reason), checked=False)
        except (BrokenError, TruebestError) as error:
            raise _broken(subject, name, claim, str(error).rstrip(".")) from error
        except Exception as error:
            found = f"it raised {type(error).__name__}: {error}; find the cause and fix it"
            raise _broken(subject, name, claim, found) from error


def _broken(subject: str, name: str, claim: str, found: str) -> ContractError:
    return ContractError(f"{subject} breaks the demand {name!r} ({claim}): {found}.", name)
