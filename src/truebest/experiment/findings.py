"""What the stopping rule sees of an experiment, and what is stored with its decision."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..questions import BEST, PerArm, Question

ROUNDED = 1e-6  # by which means may differ that were computed in another order


@dataclass(frozen=True)
class Findings:
    """The evidence as the rule sees it, per arm in the order of the arms; means in the user's own units.

    arm         the leader, or the arm that was found to be the best; -1 without a result
    pulls       how many results the evidence has
    means       None without pulls
    statistic, threshold   None while an arm has no pulls
    lower, upper  by how much the leader is better than each arm; or where it is asked of each arm whether it
                passes, each arm than what it is compared with; infinite where nothing is known
    ruled_out   per arm, after how many results of all arms; None for one that is in the race; empty where the
                rule rules out none by itself
    deviations  the observed standard deviations; None below two pulls, and if version 0.1 stored the record
    rounds      how many the evidence has, where arms are compared in rounds
    tied        the arms that are equally good, where all items are used up; empty if there is only one
    wins        where only wins count, how often the leader has won and lost against each arm
    beaten      where there may be no winner: per arm, the one that has beaten it first, None for an unbeaten
                one; the arm of a decision is -1 if there is no winner
    labels      where a question is answered by claims: per arm, what is answered, see `kernels.questions`
    """

    arm: int
    pulls: tuple[int, ...]
    means: tuple[float | None, ...]
    statistic: float | None
    threshold: float | None
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    deviations: tuple[float | None, ...]
    ruled_out: tuple[int | None, ...] = ()
    rounds: int | None = None
    tied: tuple[int, ...] = ()
    wins: tuple[tuple[int, int], ...] = ()
    beaten: tuple[int | None, ...] = ()
    labels: tuple[int, ...] = ()

    @property
    def samples(self) -> int:
        """All pulls together."""
        return sum(self.pulls)

    def to_record(self, arms: tuple[str, ...], question: Question = BEST) -> dict[str, Any]:
        """As it is stored with a decision: infinity, which JSON does not have, as None.

        Deviations are left out where there are none, as version 0.1 did; an arm that is out has a 0 where
        version 0.2 said how far below the best it was.
        """
        known = any(one is not None for one in self.deviations)
        out = [None if one is None else [one, 0.0] for one in self.ruled_out]
        return {
            "arm": self.arm,
            "samples": self.samples,
            "pulls": list(self.pulls),
            "means": list(self.means),
            "statistic": self.statistic,
            "threshold": self.threshold,
            "lower": [x if math.isfinite(x) else None for x in self.lower],
            "upper": [x if math.isfinite(x) else None for x in self.upper],
            "best": arms[self.arm] if self.arm >= 0 else None,
            **verdicts_record(self.labels, arms, question),
            **({"ruled_out": out} if any(out) else {}),
            **({"deviations": list(self.deviations)} if known else {}),
            **({} if self.rounds is None else {"rounds": self.rounds}),
            **({"tied": list(self.tied)} if self.tied else {}),
            **({"wins": list(map(list, self.wins))} if self.wins else {}),
            **({"beaten": list(self.beaten)} if self.beaten else {}),
            **({"labels": list(self.labels)} if self.labels else {}),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Findings:
        """The inverse; KeyError or ValueError if it is no such record."""
        found = cls(
            arm=record["arm"],
            pulls=tuple(record["pulls"]),
            means=tuple(record["means"]),
            statistic=record["statistic"],
            threshold=record["threshold"],
            lower=tuple(-math.inf if x is None else x for x in record["lower"]),
            upper=tuple(math.inf if x is None else x for x in record["upper"]),
            ruled_out=tuple(None if x is None else x[0] for x in record.get("ruled_out", ())),
            deviations=tuple(record.get("deviations", [None] * len(record["pulls"]))),
            rounds=record.get("rounds"),
            tied=tuple(record.get("tied", ())),
            wins=tuple((won, lost) for won, lost in record.get("wins", ())),
            beaten=tuple(record.get("beaten", ())),
            labels=tuple(record.get("labels", ())),
        )
        if record["samples"] != found.samples:
            raise ValueError(f"{record['samples']} samples, and {found.samples} pulls")
        return found


def verdicts_record(labels: Sequence[float], arms: Sequence[str], question: Question) -> dict[str, list[str]]:
    """The names of the arms that have passed, and of those that have failed; empty if that is not asked."""
    if not isinstance(question, PerArm):
        return {}
    passed, failed = question.judged(labels, arms)
    return {"passed": list(passed), "failed": list(failed)}


def same_decision(found: Findings | None, record: Mapping[str, Any] | None) -> bool:
    """Whether what was found is the stored decision, on the same samples."""
    if found is None or record is None:
        return False
    own = {"arm": found.arm, "samples": found.samples, "pulls": list(found.pulls)}
    same = list(found.labels) == list(record.get("labels", ()))
    return same and all(record.get(key) == value for key, value in own.items())


def like_decision(found: Findings | None, record: Mapping[str, Any] | None, unit: float) -> bool:
    """The same, and so is all that it says of the arms, but for rounding: other versions sum in other orders.

    unit  of the values
    """
    if found is None or record is None or not same_decision(found, record):
        return False
    try:
        return _agree(found, Findings.from_record(record), unit)
    except (ArithmeticError, LookupError, TypeError, ValueError):  # it is no such record
        return False


def _agree(found: Findings, said: Findings, unit: float) -> bool:
    names = ["means", "lower", "upper"]
    if any(one is not None for one in said.deviations):  # not in those of 0.1
        names.append("deviations")
    return (
        all(
            getattr(found, name) == getattr(said, name)
            for name in ("rounds", "tied", "wins", "beaten", "labels")
        )
        and (found.ruled_out == said.ruled_out or not any(found.ruled_out + said.ruled_out))
        and all(_alike(getattr(found, name), getattr(said, name), unit) for name in names)
        and _alike((found.statistic, found.threshold), (said.statistic, said.threshold), 1.0)
    )


def _alike(own: tuple[Any, ...], said: tuple[Any, ...], unit: float) -> bool:
    """Whether numbers, or None, are the same but for rounding."""
    return len(own) == len(said) and all(
        a == b or (None not in (a, b) and math.isclose(a, b, rel_tol=ROUNDED, abs_tol=ROUNDED * unit))
        for a, b in zip(own, said, strict=True)
    )
