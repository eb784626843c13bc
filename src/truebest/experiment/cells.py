"""Rounds in which an arm may rest and catch up: for any question but the best arm in the design's own way.

Arms take rows one by one: of those about which something is asked, those that are behind take their next row
together, as soon as all of them have their values there. So what is decided is a function of the table of
values alone here, too. Rows are kept as long as an arm in the race may still need them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar, Self

from ..kernels import number, paired, questions, round_claims
from ..questions import PerArm
from .findings import Findings
from .rounds import AHEAD, RoundsState, Score
from .totals import Totals

MIXED = 1.4  # nats by which a mixture of bets falls short of the best one, about


class CellsState(RoundsState):
    """What follows from the log of rounds in which arms may rest.

    told   what is proven, and who rests, see `kernels.round_claims`
    first  the first round that some arm in the race has not taken
    """

    of_the_log: ClassVar[tuple[str, ...]] = (*RoundsState.of_the_log, "told")

    def _clear(self) -> None:
        super()._clear()
        self.told = round_claims.room(len(self.settings.arms))
        self.params[paired.EXACT] = self.totals is not None and isinstance(self.design.question, PerArm)
        if self.totals is not None and self.design.question.of_number:
            for arm, whole in self._whole.items():
                self.totals.sums[arm] = whole

    @cached_property
    def _whole(self) -> dict[int, tuple[Decimal, Decimal]]:
        """What arms whose scores are known have in total, from the beginning."""
        totals, units = Totals(self.settings), self.design.units
        for n in range(1, (self.design.items or 0) + 1):
            row: dict[int, Score] = {arm: self._value(n, arm) for arm in self.known}
            totals.add(self._counted(n, row), units.weight(self._cluster(n)))
        return {arm: totals.sums[arm] for arm in self.known}

    def _is_whole(self, arm: int) -> bool:
        """Whether all items of a closed set are in an arm's total."""
        known = self.design.question.of_number and arm in self.known
        return known or self._taken(arm) == self.design.items

    def copy(self) -> Self:
        """The same state, which may go its own way."""
        twin = super().copy()
        twin.told = self.told.copy()
        return twin

    # -- evidence --------------------------------------------------------------------------------------

    def _taken(self, arm: int) -> int:
        """How many rows an arm has taken."""
        return int(self.arms[paired.ROUNDS, arm])

    def _asked_about(self) -> list[int]:
        """The arms that neither rest nor are out."""
        return [arm for arm in self._race() if self.told[round_claims.RESTS, arm] == 0.0]

    def _takes(self, row: int, arm: int) -> bool:
        """Whether an arm takes the row after so many."""
        return bool(round_claims.takes(self.params, self.arms, self.told, row, arm))

    def _judge_new(self) -> None:
        """Let arms take the rows that are complete, up to a decision."""
        while not (self.over or self.due or self.suspended or self.exhausted):
            row = round_claims.next_row(self.arms, self.told)
            arms = [arm for arm in self._race() if self._takes(row, arm)]
            if not all(self._is_there(row + 1, arm) for arm in arms):
                return
            self._take_row(row + 1, arms)
            found = self._verdict()
            self.exhausted = found == paired.UNDECIDED
            if found not in (paired.GO_ON, paired.UNDECIDED):
                self.due = self.findings(found)

    def _may_complete(self, number: int) -> bool:  # noqa: ARG002
        return True

    def _take_row(self, number: int, arms: list[int]) -> None:
        """Let arms take a row together, and see what it proves."""
        taken = {arm: self._value(number, arm) for arm in self._race() if self._taken(arm) >= number}
        taken |= {arm: self._value(number, arm) for arm in arms}
        mapped = self._mapped(number, taken)
        if self.likes is not None:
            self.likes.take(*mapped, arms, self.arms[paired.OUT_AFTER], self._cluster(number))
        seen = (*self._beside(number, *mapped), self.pairs, self.arms, self.told)
        for arm in sorted(arms, key=lambda one: (one not in self.known, one)):
            value = taken[arm]
            round_claims.take_cell(self.params, *seen, arm)
            for cell in self._cells_of(number, arm):
                self.cells.pop(self.asked.pop(cell, 0), None)
            self._show(arm, value)
            if self.totals is not None and not (self.design.question.of_number and arm in self.known):
                self.totals.add(
                    self._counted(number, {arm: value}), self.design.units.weight(self._cluster(number))
                )
        self._show_known(number)
        self._compare_totals()
        round_claims.judge(self.params, self.pairs, self.arms, self.told)
        active, race = self._asked_about(), self._race()
        self.first = 1 + min((self._taken(arm) for arm in race), default=number)
        self.front = 1 + min((self._taken(arm) for arm in active), default=number)
        gone = [cell for cell in self.values if cell[0] < self.first or cell[1] not in race]
        gone += [cell for cell in self.parts if cell[0] < self.first or cell[1] not in race]
        for cell in gone:
            self.values.pop(cell, None)
            self.parts.pop(cell, None)
        for cell in [cell for cell in self.asked if cell[0] < self.first or cell[1] not in race]:
            del self.cells[self.asked.pop(cell)]

    def _compare_totals(self) -> None:
        """Note what exact sums say of arms that have used up a closed set, in place of rounded ones."""
        asked, K = self.settings.question, len(self.settings.arms)
        if self.totals is None or not isinstance(asked, PerArm):
            return
        base, proven = asked.reference(self.settings.arms), self.told[round_claims.HEADS :]
        ask, rival = self.params[paired.ROUND_QUESTION : paired.PARAMS], base if base >= 0 else K
        labels = self.told[round_claims.ROUND_LABELS]
        questions.label(ask, self.told[round_claims.STANDING], proven, labels)
        for a in self._race():
            if a == base or not all(map(self._is_whole, (a,) if base < 0 else (a, base))):
                continue
            least, most = self.totals.beyond(a, base, asked.at)
            at_mark = asked.passes_at_mark == asked.upwards  # an arm that is there counts as above it
            above, below = least > 0 or (least == 0 and at_mark), most < 0 or (most == 0 and not at_mark)
            for b, i in ((a, rival),) * above + ((rival, a),) * below:
                d = questions.margin(ask, proven, labels, b, i)
                if questions.is_asked(d):
                    questions.note_proof(proven, b, i, d, float(self._taken(a)))

    def _verdict(self) -> int:
        """The arm that an answer names, NO_WINNER for none; GO_ON or UNDECIDED while it is open."""
        labels, proven = self.told[round_claims.ROUND_LABELS], self.told[round_claims.HEADS :]
        ask = self.params[paired.ROUND_QUESTION : paired.PARAMS]
        if questions.is_answered(ask, proven, labels):
            named = self.design.question.named(labels.tolist())
            return named if named >= 0 else paired.NO_WINNER
        if all(self._taken(arm) == self.design.items for arm in self._asked_about()):
            return super()._verdict() if self.design.question.unique else paired.UNDECIDED
        return paired.GO_ON

    @property
    def labels(self) -> Sequence[float]:
        """What would be answered now, per arm; empty before the first row."""
        found: list[float] = self.told[round_claims.ROUND_LABELS].tolist()
        return found if self.first > 1 else ()

    def _leading(self) -> int:
        named = self.design.question.named(self.labels)
        return named if named >= 0 or isinstance(self.design.question, PerArm) else super()._leading()

    def _found_ends(self, leader: int) -> tuple[list[float], list[float]]:
        """Where it is asked of each arm whether it passes: both ends of all intervals share delta."""
        asked = self.design.question
        if not isinstance(asked, PerArm):
            return super()._found_ends(leader)
        judged = self.design.judged(len(self.settings.arms))
        level = math.log(2.0 * asked.verdicts(judged)) - math.log(self.settings.delta)
        if asked.of_number:
            arms, width = range(len(self.settings.arms)), self.scale
            first, last = (
                [width * number.end_of_rounds(self.params, self.arms, a, side, level) for a in arms]
                for side in (True, False)
            )
            if self.settings.minimize:
                first, last = [self.width - end for end in last], [self.width - end for end in first]
            low, high = (
                [min(max(self.low + end, self.low), self.high) for end in ends] for ends in (first, last)
            )
            for a in arms:
                if self.totals is not None and self._is_whole(a):
                    low[a], high[a] = self.totals.mean(a)
            return low, high
        low, high = self._ends(asked.reference(self.settings.arms), level)
        return [0.0 - end for end in high], [0.0 - end for end in low]

    def _progress(self, leader: int, race: list[int]) -> tuple[float | None, float | None]:  # noqa: ARG002
        """The least evidence that is asked for now, of two opposite claims the larger one; and the level."""
        z = round_claims.progress(self.params, self.pairs, self.arms, self.told)
        return (z if math.isfinite(z) else None), float(self.params[paired.ROUND_PAIR_LEVEL])

    def rounds_needed(self) -> list[float] | None:
        """The same; where it is asked of each arm whether it passes, by the evidence that there is so far."""
        asked = self.design.question
        if not isinstance(asked, PerArm) or self.first <= 2:
            return super().rounds_needed()
        base, seen = asked.reference(self.settings.arms), (self.params, self.pairs, self.arms)
        other = base if base >= 0 else len(self.settings.arms)
        needed = [float(n) for n in self.arms[paired.ROUNDS]]
        level, items = float(self.params[paired.ROUND_PAIR_LEVEL]) + MIXED, float(self.params[paired.ITEMS])
        labels, proven = self.told[round_claims.ROUND_LABELS], self.told[round_claims.HEADS :]
        ask = self.params[paired.ROUND_QUESTION : paired.PARAMS]
        for a in self._asked_about():
            if a != base:
                claims = [
                    (b, i, questions.margin(ask, proven, labels, b, i)) for b, i in ((a, other), (other, a))
                ]
                wanted = [claim for claim in claims if questions.is_asked(claim[2])]
                z = max(round_claims.evidence_for(*seen, *claim) for claim in wanted)
                tau = level * needed[a] / (z + MIXED) if z > 0.0 else math.inf
                needed[a] = max(needed[a], tau / (1.0 + tau / items) if tau < math.inf else items)
        if base >= 0:
            needed[base] = max(needed)
        return needed

    @property
    def waiting(self) -> int:
        """Results that wait for an earlier pull to be settled before they count."""
        told = self.parts or self.values
        return sum(value is not None and n > self._taken(arm) for (n, arm, *_), value in told.items())

    def enough(self) -> bool:
        """Not known before the arms have taken the rows: which of them rest depends on it."""
        return False

    def findings(self, arm: int | None = None) -> Findings:
        """What is seen, and what is answered."""
        found = super().findings(arm)
        labels = tuple(map(int, self.labels))
        return replace(found, rounds=int(paired.rounds_taken(self.arms)), labels=labels)

    # -- what to sample next ---------------------------------------------------------------------------

    def next(self) -> tuple[int, dict[str, Any]] | None:
        """The first arm that is asked about and was not asked in the first such round."""
        arms = self._asked_about()
        start = min((self._taken(arm) for arm in arms), default=0)
        while arms and not self.used_up:
            if self.front > start + 1 + AHEAD + len(self.open) // len(arms):
                return None
            for cell in self._in_turn(self.front, arms):
                known = cell in self.asked or self._is_there(*cell[:2])
                if self.front > self._taken(cell[1]) and not known:
                    return cell[1], self._said(cell)
            self.front += 1
        return None

    # -- snapshots -------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """What the design keeps, as JSON can hold it."""
        return {**super().to_dict(), "told": self.told.tolist()}

    def restore(self, data: dict[str, Any]) -> None:
        """What `to_dict` gave, bit for bit."""
        super().restore(data)
        self.told[:] = data["told"]
        self.front = 1 + min((self._taken(arm) for arm in self._asked_about()), default=0)
