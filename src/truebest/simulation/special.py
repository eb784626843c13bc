"""The loops of the engine made for one model, rule and kind of rewards: a third of the code, and faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernels import layout, rules
from ..kernels._jit import Kernel
from ..kernels._specialise import NONE_KNOWN, Known
from ..kernels._types import Array

PLACES = ("RULE", "MODEL", "SHARE", "LIMITS", "QUESTION", "WATCHED", "TUNING")  # of params, known beforehand


def known_of(params: Array, family: int, *more: str) -> Known:
    """What is known of a job: these places of its params and more, and the kind of its rewards."""
    places = {name: float(params[getattr(layout, name)]) for name in (*PLACES, *more)}
    positive = ("SHARE",) if places["SHARE"] > 0.0 else ()
    if positive:
        del places["SHARE"]  # which varies with the number of arms and risks; whether it is 0 matters
    if places["RULE"] not in rules.SEARCHES:
        del places["TUNING"]  # any number; only for rules that search it is the spacing of their looks
    return Known(tuple(places.items()), (("family", family),), positive)


def compiled(function: Callable[..., Any], known: Known = NONE_KNOWN) -> Callable[..., Any]:
    """Machine code of a kernel for what is known; a user's function, which has it, as it is."""
    made: Callable[..., Any] = function.compiled(known) if isinstance(function, Kernel) else function
    return made


def constant(array: Array) -> Array:
    """A view of an array that cannot be written to, as kernels take it in a tuple."""
    view = array.view()
    view.flags.writeable = False
    return view
