"""Records as JSON holds them, and back: one pair of functions for whatever an account consists of.

A record is an object, an answer with its `kind`; infinity, which JSON does not have, is None.
"""

from __future__ import annotations

import math
import re
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from .answers import Answer


def to_plain(value: Any) -> Any:
    """Plain values."""
    if hasattr(value, "to_record"):
        return value.to_record()
    if is_dataclass(value):
        found = {one.name: to_plain(getattr(value, one.name)) for one in fields(value)}
        return {"kind": _kind(type(value)), **found} if isinstance(value, Answer) else found
    if hasattr(value, "_asdict"):
        return {name: to_plain(one) for name, one in value._asdict().items()}
    if isinstance(value, tuple):
        return [to_plain(one) for one in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def from_plain(hint: Any, value: Any) -> Any:
    """The inverse, for what a type hint says; what it does not know of is left out."""
    if isinstance(hint, UnionType):
        options = [one for one in get_args(hint) if one is not type(None)]
        if value is None:
            return None
        kind = value.get("kind") if isinstance(value, dict) else None
        return from_plain(next((one for one in options if _kind(one) == kind), options[0]), value)
    if get_origin(hint) is tuple:
        inner = get_args(hint)
        each = inner[:1] * len(value) if inner[-1] is ... else inner
        return tuple(from_plain(one, part) for one, part in zip(each, value, strict=True))
    if isinstance(value, dict):
        hints, kept = _hints(hint), {}
        for name in hints.keys() & value.keys():
            if value[name] is not None or isinstance(hints[name], UnionType):
                kept[name] = from_plain(hints[name], value[name])
        return hint(**kept)
    return hint(value) if isinstance(hint, type) and issubclass(hint, Enum) else value


@cache
def _hints(record: type) -> dict[str, Any]:
    return get_type_hints(record)


def _kind(answer: Any) -> str:
    """Undecided is "undecided", NoWinner "no_winner"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", getattr(answer, "__name__", "")).lower()
