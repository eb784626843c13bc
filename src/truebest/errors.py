"""Everything truebest raises on purpose.

TruebestError                    the root: catch this to catch all of them
├── InvalidInputError           what was given is not allowed (also a ValueError)
├── StoreError                  a store cannot be read or written; nothing is lost; the call may be repeated
│   ├── LostConnectionError     a server cannot be reached; a call that worked before may work again soon
│   └── DamagedLogError         what is stored is not what was written
├── SuspendedError              the values are not as assumed, so the experiment issues no more pulls
├── ArmError                    an arm failed, and the experiment was told to stop then
└── ContractError               a strategy or store fails a check of `truebest.testing` (an AssertionError)
"""

from __future__ import annotations


class TruebestError(Exception):
    """Root of every exception that truebest raises on purpose."""


class InvalidInputError(TruebestError, ValueError):
    """An argument is not allowed; the message says what was given, what is allowed, what to do."""


class StoreError(TruebestError):
    """A store cannot be opened, read or written; what was acknowledged before is still there."""


class LostConnectionError(StoreError):
    """The server of a store cannot be reached, or ended the connection; the call may be repeated."""


class DamagedLogError(StoreError):
    """A line of a log is not what was written; nothing is concluded from it.

    line     its number
    problem  what is wrong with it
    place    which store, if known
    """

    def __init__(self, line: int, problem: str, place: str = "") -> None:
        where = f" in {place}" if place else ""
        super().__init__(
            f"line {line} of the log{where} is damaged: {problem}; restore the store from a backup; "
            f"`truebest verify` says what is intact."
        )
        self.line, self.problem, self.place = line, problem, place

    def __reduce__(self) -> tuple[type[DamagedLogError], tuple[int, str, str]]:
        return type(self), (self.line, self.problem, self.place)  # for another process


class SuspendedError(TruebestError):
    """A value lies outside the bounds, or the values vary more than sigma allows; nothing is promised.

    Attributes
    ----------
    unstored
        the same of a run that is not stored, where nothing can be taken back
    """

    unstored: str = ""


class ArmError(TruebestError):
    """An arm failed to give a value."""


class ContractError(TruebestError, AssertionError):
    """A strategy or a store breaks a demand of `truebest.testing`.

    demand  its name
    """

    def __init__(self, message: str, demand: str) -> None:
        super().__init__(message)
        self.demand = demand

    def __reduce__(self) -> tuple[type[ContractError], tuple[str, str]]:
        return type(self), (str(self), self.demand)  # for another process
