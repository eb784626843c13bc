"""`gate` and `check`: is a new one not worse than the old one; is the mean of one high enough?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from .. import _args
from ..errors import InvalidInputError
from ..experiment.store import Store, open_store
from ..questions import UNSAID, AtLeast, AtMost, Gate, Question
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
        that it has on all of them, as for known= of `identify`: then it makes no calls; such as "prev:new",
        those of the arm new of the experiment prev
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
    _refuse_unlike(old, new, options)
    if margin is None and at_least is None:
        raise InvalidInputError(UNSAID)
    arms: dict[str, Callable[..., Any]] = dict(new) if isinstance(new, Mapping) else {"new": new}
    if callable(old):
        arms = {"old": old, **arms}
    else:
        others = options.get("known")
        options["known"] = {"old": old, **others} if isinstance(others, Mapping) else others or {"old": old}
    return identify(arms, delta, **_asking("gate", Gate("old", margin, at_least), options))


def check(
    arms: Arm | Mapping[str, Arm] | Sequence[Arm],
    delta: float | None = None,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    **options: Unpack[Options],
) -> Result:
    """Find out whether a mean is at least a number, or at most; wrong with probability at most delta.

    Parameters
    ----------
    arms
        a function that returns one value; or several, as for `identify`, each of which passes or fails
    at_least
        what its mean must be at least; or else
    at_most
        what it must be at most
    delta, **options
        as in `identify`; values lie in [0, 1] if bounds, sigma and model are left out

    Returns
    -------
    Result
        whose `answer` says which passed and which failed; `best` is None

    Raises
    ------
    InvalidInputError, StoreError, ArmError, SuspendedError
        as `identify`
    """
    kind: type[AtLeast] = AtLeast if at_most is None else AtMost
    given = [(name, one) for name, one in (("at_least", at_least), ("at_most", at_most)) if one is not None]
    if len(given) != 1:
        raise InvalidInputError(
            f"check compares means with one number, got at_least={at_least} and at_most={at_most}; give one "
            f"of them."
        )
    question = kind(_args.scalar(*given[0]))
    options = _asking("check", question, options)
    return identify([arms] if callable(arms) else arms, delta, **options)


def _asking(name: str, question: Question, options: Options) -> Options:
    """Options of `identify` that ask this question, of values in [0, 1] and by this name if unsaid."""
    if options.get("question") is not None:
        raise InvalidInputError(
            f"{name} asks a question of its own, got question= too; leave it out, or use identify."
        )
    options = {"name": name, **options, "question": question}
    unsaid = all(options.get(scale) is None for scale in SCALES)
    if unsaid and not is_stored(options.get("store"), options["name"]):
        options["bounds"] = (0.0, 1.0)
    return options


def is_stored(store: str | Store | None, name: str) -> bool:
    """Whether there is such an experiment, whose settings hold where none are said."""
    if store is None:
        return False
    place = open_store(store)
    return place.exists() and name in place.names()


def _refuse_unlike(old: Any, new: Any, options: Options) -> None:
    """Refuse what cannot be compared."""
    if not callable(new) and not isinstance(new, Mapping):
        raise InvalidInputError(
            f"new must be a function that returns one value, or name -> function, got {_args.short(new)}; "
            f"write gate(run_old, run_new, margin=0.02)."
        )
    if not callable(new) and not new:
        raise InvalidInputError("new must have a candidate, got none; give a function, or name -> function.")
    if isinstance(new, Mapping) and "old" in new:
        raise InvalidInputError(
            "the name 'old' is that of the first function, got a new one of it too; rename one."
        )
    known = options.get("known")
    if not callable(old) and isinstance(known, Mapping) and "old" in known:
        raise InvalidInputError(
            "the name 'old' is that of the first scores, got known= with other ones of it too; leave one out."
        )
    if not callable(old) and options.get("items") is None and options.get("store") is None:
        raise InvalidInputError(
            f"old must be a function that returns one value, or, with items=, its scores on all of them, got "
            f"{_args.short(old)} without items=; give items=, a list, a file or a number."
        )
