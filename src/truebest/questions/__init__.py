"""Questions: what is asked of the arms, and which claims make an answer.

    BestArm  which arm has the largest mean
    Gate     of every arm but one: whether it is not worse than that one by more than a margin
    Against  of every arm but one: whether it is better than that one
    AtLeast  of every arm: whether its mean is at least a number; AtMost, whether it is at most that
    Winner   which arm wins against every other one, or that none does; of rounds in which only wins count

A question says what the kernels are told of it (`kernels.questions` has a branch for its code), how many
claims a wrong answer needs one of, and which arm an answer names. To add one: a file here, its branches
there, and an entry in `QUESTIONS`, under which it is stored.
"""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from typing import Any

from .. import _args
from ..errors import InvalidInputError, StoreError
from .against import Against
from .at_least import AtLeast, AtMost
from .base import PerArm, Question
from .best import BestArm
from .gate import UNSAID, Gate
from .winner import Winner

__all__ = [
    "BEST",
    "QUESTIONS",
    "UNSAID",
    "Against",
    "AtLeast",
    "AtMost",
    "BestArm",
    "Gate",
    "PerArm",
    "Question",
    "Winner",
    "find_question",
    "question_record",
    "recall_question",
]

BEST = BestArm()
QUESTIONS: dict[str, type[Question]] = {
    kind.__name__: kind for kind in (BestArm, Winner, Gate, Against, AtLeast, AtMost)
}


def find_question(given: Question) -> Question:
    """What is given, if it is a question of truebest's own; others are refused."""
    if type(given) not in QUESTIONS.values():
        raise InvalidInputError(
            f"question must be one of truebest's own, got {_args.short(given)}; leave it out to ask for the "
            f"best arm."
        )
    return given


def question_record(question: Question) -> dict[str, Any] | None:
    """As it is stored; None for the best arm, of which nothing was stored while nothing else was asked."""
    if question == BEST:
        return None
    return {
        "class": type(question).__name__,
        "version": question.version,
        "parameters": asdict(question, dict_factory=_plainly),  # type: ignore[call-overload]
    }


def _plainly(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Parameters as JSON can hold them."""
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in pairs}


def recall_question(record: dict[str, Any] | None) -> Question:
    """As it was stored; KeyError or TypeError if it is no such record.

    Raises  StoreError for another version of it
    """
    if record is None:
        return BEST
    kind = QUESTIONS[record["class"]]
    if record["version"] != kind.version:
        raise StoreError(
            f"the experiment was created with version {record['version']} of the question "
            f"{record['class']}, and this truebest knows {kind.version}; resume it with the truebest that "
            f"created it, or a newer one"
        )
    return kind(**record["parameters"])
