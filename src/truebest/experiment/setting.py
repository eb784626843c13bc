"""How a setting is declared: everything that checking, storing, reading and comparing it takes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

REQUIRED = object()


@dataclass(frozen=True)
class Setting:
    """Everything there is to know about one setting.

    arguments  by which it is given
    check      what was given, as it is kept, or a refusal
    default    what a new experiment takes, as it would be given; a function is called; REQUIRED for none
    keys       under which it is stored, if not by the names of its arguments
    write      what is kept, for JSON; a tuple, where there are several keys
    read       the inverse, of the values of all keys; without one, what is stored must pass the check
    older      key -> the stored value that a log without this key stands for
    fixed      whether any value but the experiment's own is refused; otherwise it is ignored
    same       whether what is given may be what is stored, both as they are kept
    per_arm    whether the check needs the arms, too
    nullable   whether None is a value, and does not mean "not given"
    """

    arguments: tuple[str, ...]
    check: Callable[..., Any]
    default: Any = REQUIRED
    keys: tuple[str, ...] = ()
    write: Callable[[Any], Any] = lambda value: value
    read: Callable[..., Any] | None = None
    older: Mapping[str, Any] = field(default_factory=dict)
    fixed: bool = True
    same: Callable[[Any, Any], bool] = operator.eq
    per_arm: bool = False
    nullable: bool = False

    def take(self, values: list[Any], arms: tuple[str, ...]) -> Any:
        """What is kept of the arguments."""
        return self.check(*values, arms) if self.per_arm else self.check(*values)

    def recall(self, values: list[Any], arms: tuple[str, ...]) -> Any:
        """What is kept, of what was stored."""
        return self.take(values, arms) if self.read is None else self.read(*values)

    def usual(self, arms: tuple[str, ...]) -> Any:
        """What a new experiment takes; if it must be given, the refusal of the check."""
        if self.default is REQUIRED:
            return self.take([None] * len(self.arguments), arms)
        return self.take([self.default() if callable(self.default) else self.default], arms)


def setting(*arguments: str, check: Callable[..., Any], **how: Any) -> dict[str, Setting]:
    """What a field of `Settings` carries along: its `Setting`."""
    return {"setting": Setting(arguments, check, **{"keys": arguments, **how})}
