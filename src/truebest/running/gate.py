"""`gate`: is a new one not worse than the old one?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Unpack

from .. import _door
from ..errors import InvalidInputError
from ..questions import UNSAID, Gate
from .identify import Options, identify
from .result import Result
from .run import Arm

SCALES = ("bounds", "sigma", "model")


def gate(
    old: Arm | Any,
    new: Arm | Mapping[str, Arm],
    delta: float | None = None,
    *,
    margin: float | str | None = None,
    at_least: float | None = None,
    **options: Unpack[Options],
) -> Result:
    """Find out whether a new one is not worse than the old one, wrong with probability at most delta.

    Parameters
    ----------
    old
        a function that returns one value; larger is better unless minimize=True. Or, with items=, the scores
        that it has on all of them, as for known= of `identify`: then it makes no calls
    new
        another one; or name -> function, each of which passes or fails
    margin
        by how much a new one may be worse; 0 if it must be better
    at_least
        by how much a new one must be better, in place of a margin
    delta, **options
        as in `identify`; values lie in [0, 1] if bounds, sigma and model are left out

    Returns
    -------
    Result
        whose `answer` says who passed and who failed; `best` is None

    Raises
    ------
    InvalidInputError, StoreError, ArmError, SuspendedError
        as `identify`
    """
    _check(old, new, options)
    if margin is None and at_least is None:
        raise InvalidInputError(UNSAID)
    if options.get("question") is not None:
        raise InvalidInputError(
            "gate asks a question of its own, got question= too; leave it out, or use identify."
        )
    arms: dict[str, Callable[..., Any]] = dict(new) if isinstance(new, Mapping) else {"new": new}
    if callable(old):
        arms = {"old": old, **arms}
    else:
        options["known"] = {"old": old, **(options.get("known") or {})}
    if all(options.get(name) is None for name in SCALES):
        options["bounds"] = (0.0, 1.0)
    options["question"] = Gate("old", margin, at_least)
    return identify(arms, delta, **options)


def _check(old: Any, new: Any, options: Options) -> None:
    """Refuse what cannot be compared."""
    if not callable(new) and not isinstance(new, Mapping):
        raise InvalidInputError(
            f"new must be a function that returns one value, or name -> function, got {_door.short(new)}; "
            f"write gate(run_old, run_new, margin=0.02)."
        )
    if isinstance(new, Mapping) and "old" in new:
        raise InvalidInputError(
            "the name 'old' is that of the first function, got a new one of it too; rename one."
        )
    if not callable(old) and options.get("items") is None and options.get("store") is None:
        raise InvalidInputError(
            f"old must be a function that returns one value, or, with items=, its scores on all of them, got "
            f"{_door.short(old)} without items=; give items=, a list, a file or a number."
        )
