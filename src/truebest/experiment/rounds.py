"""The state of an experiment in rounds: every arm in the race is evaluated on the same item.

The rule sees rounds in their order: a round counts when every arm that is then in the race has its value, or
is known to have none. So what is decided is a function of the table of values alone, in whatever order they
arrive. An arm that was ruled out is neither asked nor waited for. `kernels/paired.py` has the rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from ..designs.rounds import Rounds, rounds_needed, shuffled
from ..designs.units import Several
from ..errors import DamagedLogError
from ..kernels import families, paired
from ..kernels._types import Array
from ..kernels.layout import LOST, MEANS, OWN, PULLS, ROWS, SQUARES, SUMS, UNIT, WATCHED
from ..questions import PerArm
from ..telling.standings import Population
from .events import ASKED, FAILED, RETRACTED, TOLD, Entry
from .findings import Findings
from .forecast import Forecast, too_close
from .items import item_seed
from .leases import Open
from .plain_rounds import Cell, PlainRounds
from .population import Evidence, likes_of
from .settings import Settings
from .state import Recall
from .totals import Totals

AHEAD = 64  # rounds begun behind one that is not complete, besides those that workers are busy with

Score = float | Several | None  # of an arm in a round; None if there will be none
_OPEN = (paired.GO_ON, paired.UNDECIDED)  # answers of the rule that are no decision


class RoundsState(PlainRounds):
    """What follows from the log of rounds.

    known    the scores of the arms that are not asked, on all items
    first    the first round that is not in the evidence
    values   of arms in rounds from there on, where all answers are in; None if there will be none
    parts    the answers themselves, where there are several
    asked    the pulls of cells from there on
    likes    the evidence about items like these, where they are a random sample
    """

    of_the_log: ClassVar[tuple[str, ...]] = (
        *("pairs", "arms", "body", "totals", "first", "values", "asked", "likes"),
    )

    def __init__(self, settings: Settings, *, chooses: bool = True, recall: Recall | None = None) -> None:
        super().__init__(settings, chooses=chooses, recall=recall)
        assert isinstance(settings.design, Rounds)
        self.design, K = settings.design, len(settings.arms)
        self.low, self.high = self._limits()
        self.width = self.high - self.low
        self.scale = self.width * self.design.units.stretch  # of a row's differences, in the values' units
        tolerance = settings.tolerance / self.scale
        self.params = self.design.parameters(K, settings.delta, tolerance)
        self.params[paired.ROUNDING] *= settings.decisions >= 3
        self.order = (
            None if self.design.items is None else shuffled(self.design.items, "items", settings.seed)
        )
        known = ({}, {}) if settings.known is None else (settings.known.scores, settings.known.exact)
        self.known, self._exact = (
            {settings.arms.index(arm): scores for arm, scores in each.items()} for each in known
        )
        units, order = self.design.units, self.order
        self._answers_of: list[int] | None = None
        if order is not None and units.clusters is not None:
            self._answers_of = units.answers_of(order.tolist())
        self._summing = np.zeros(OWN)  # of values as they come: for what is shown
        self._summing[UNIT] = self._summing[WATCHED] = 1.0
        self._clear()

    def _limits(self) -> tuple[float, float]:
        """Between which values lie, and their differences are measured."""
        assert self.settings.values.limits is not None
        return self.settings.values.limits

    def _clear(self) -> None:
        K = len(self.settings.arms)
        self.pairs, self.arms = self.design.blank(K)
        self.body = np.zeros((ROWS, K))
        self.totals = self._new_totals()
        self.likes = likes_of(self.settings, self.design)
        self.first = self.front = 1  # every round before the front is fully asked
        self.values: dict[Cell, Score] = {}
        self.parts: dict[Cell, float | None] = {}
        self.asked: dict[Cell, int] = {}
        self.cells: dict[int, Cell] = {}  # the inverse of `asked`
        self.exhausted, self._racing = False, list(range(K))

    def _new_totals(self) -> Totals | None:
        """For a closed set of items; before version 3 rounded sums were compared."""
        closed = self.design.items is not None and self.settings.decisions >= 3
        return Totals(self.settings) if closed else None

    def copy(self) -> Self:
        twin = super().copy()
        twin.pairs, twin.arms, twin.body = self.pairs.copy(), self.arms.copy(), self.body.copy()
        twin.totals = self.totals and self.totals.copy()
        twin.likes = self.likes and self.likes.copy()
        twin.values, twin.asked, twin.cells = self.values.copy(), self.asked.copy(), self.cells.copy()
        twin.parts = self.parts.copy()
        return twin

    # -- evidence --------------------------------------------------------------------------------------

    def _begin(self, pull: int, arm: int, data: dict[str, Any]) -> None:
        self._note(pull, self._cell(arm, data))

    def _cell(self, arm: int, data: dict[str, Any]) -> Cell:
        number, units = int(data["round"]), self.design.units
        if units.single:
            return number, arm
        return number, arm, units.part(self._cluster(number), data["item"], data.get("epoch"))

    def _cluster(self, number: int) -> int | None:
        """The number of a round's cluster, or of its item; None if that is drawn."""
        return None if self.order is None else int(self.order[number - 1])

    def _cells_of(self, number: int, arm: int) -> list[Cell]:
        """All answers of an arm in a round."""
        units = self.design.units
        if units.single:
            return [(number, arm)]
        return [(number, arm, part) for part in range(units.answers(self._cluster(number)))]

    def _said(self, cell: Cell) -> dict[str, Any]:
        """What the log is to say of a pull."""
        number, item, epoch = self._place(cell)
        return {"round": number, "item": item, **({} if epoch is None else {"epoch": epoch})}

    def _place(self, cell: Cell) -> tuple[int, int | None, int | None]:
        item, epoch = self.design.units.answer(self._cluster(cell[0]), cell[2] if len(cell) > 2 else 0)
        return cell[0], self._item(cell[0]) if item is None else item, epoch

    def _put(self, cell: Cell, value: float | None) -> None:
        if len(cell) == 2:
            self.values[cell] = value
            return
        self.parts[cell] = value
        cells = self._cells_of(*cell[:2])
        if all(one in self.parts for one in cells):
            self.values[cell[:2]] = tuple(self.parts[one] for one in cells)

    def _take_out(self, cell: Cell) -> None:
        """An answer is taken back."""
        self.values.pop(cell[:2], None)
        self.parts.pop(cell, None)

    def _forget(self, number: int, arm: int) -> None:
        """An arm's part of a round is in the evidence."""
        self.values.pop((number, arm), None)
        for cell in self._cells_of(number, arm):
            self.parts.pop(cell, None)
            self.cells.pop(self.asked.pop(cell, 0), None)

    def _note(self, pull: int, cell: Cell) -> None:
        if cell in self.asked:
            raise DamagedLogError(self.seq + 1, f"pull {pull} asks for what pull {self.asked[cell]} asks for")
        if cell[0] >= self.first:
            self.asked[cell], self.cells[pull] = pull, cell

    def _settle(self, pull: int, opened: Open, raw: float | None) -> None:
        """A pull has its value; without one it is asked again."""
        if raw is None:
            self.open[pull] = opened._replace(deadline=None, out=False)
        elif pull in self.cells:  # else its arm is out, and it was not waited for
            self._put(self.cells[pull], raw)

    def _failed(self, entry: Entry) -> None:
        super()._failed(entry)
        if self.design.failures != "repeat":
            assert entry.pull is not None
            del self.open[entry.pull]
            if entry.pull in self.cells:
                self._put(self.cells[entry.pull], self._scored())
            self._judge_new()

    def _scored(self) -> float | None:
        """What counts in the place of a value that will not come."""
        return None if isinstance(self.design.failures, str) else self.design.failures

    def _is_used(self, pull: int) -> bool:
        return pull not in self.cells

    def _change(self, entry: Entry, was: float | None) -> None:  # noqa: ARG002
        """The value of a settled pull changes: everything after its round depends on it."""
        assert entry.pull is not None
        assert entry.arm is not None
        if entry.value is None:
            self.open[entry.pull] = Open(entry.arm, True, None, False)
        if entry.pull in self.cells:
            cell = self.cells[entry.pull]
            self._take_out(cell)
            if entry.value is not None:
                self._put(cell, entry.value)
            return
        assert self.recall is not None
        self._clear()
        self._tabulate([*self.recall(self.seq), *self.fresh, entry])

    def _tabulate(self, lines: Iterable[Entry]) -> None:
        """All cells, and their values as they are now."""
        for entry in lines:
            if entry.kind == ASKED and entry.pull is not None and entry.pull not in self.cells:
                assert entry.arm is not None
                self._note(entry.pull, self._cell(entry.arm, entry.data or {}))
            elif entry.pull in self.cells:
                assert entry.pull is not None
                cell = self.cells[entry.pull]
                if entry.kind in (TOLD, RETRACTED):
                    self._take_out(cell)
                    if entry.value is not None:
                        self._put(cell, entry.value)
                elif entry.kind == FAILED and self.design.failures != "repeat":
                    self._put(cell, self._scored())

    def _judge(self) -> None:
        self.due = None
        found = self._verdict() if self.first > 1 else paired.GO_ON
        if found not in _OPEN and not self.suspended:
            self.due = self.findings(found)
        else:
            self._judge_new()

    def _judge_new(self) -> None:
        """Let the rule see the rounds that are complete, up to a decision."""
        while not (self.over or self.due or self.suspended or self.exhausted):
            row = self._row(self.first)
            if row is None:
                return
            found = self._play(self.first, row)
            for arm, value in row.items():
                self._show(arm, value)
            self._show_known(self.first)
            for arm in range(len(self.settings.arms)):
                self._forget(self.first, arm)
            self.first += 1
            self.front = max(self.front, self.first)
            self.exhausted = found == paired.UNDECIDED
            if found not in _OPEN:
                self.due = self.findings(found)

    def _show(self, arm: int, value: Score) -> None:
        """Count a value in for what is shown; of several answers the mean of those that there are."""
        several = self.design.units.shown(value) if isinstance(value, tuple) else [(value,)]
        for answers in several:
            known = [one for one in answers if one is not None and math.isfinite(one)]
            if known:
                families.observe(self._summing, self.body, arm, 1.0, math.fsum(known) / len(known))

    def _show_known(self, number: int) -> None:
        """Count the scores of known arms in a round in for what is shown, also of those that are out."""
        for arm in self.known:
            if self.body[PULLS, arm] < self.design.units.shown_of(number, self._answers_in(number)):
                self._show(arm, self._value(number, arm))

    def _play(self, number: int, row: dict[int, Score]) -> int:
        """Let the rule see a round; what it declares."""
        if self.totals is not None:
            self.totals.add(self._counted(number, row), self.design.units.weight(self._cluster(number)))
        mapped = self._mapped(number, row)
        if self.likes is not None:
            self.likes.take(*mapped, row, self.arms[paired.OUT_AFTER], self._cluster(number))
        found = paired.play_round(self.params, *self._beside(number, *mapped), self.pairs, self.arms)
        return found if self._compared is None else self._verdict()

    def _verdict(self) -> int:
        """What the rule declares on the evidence as it is."""
        if self._compared is None:
            return paired.declared(self.params, self.pairs, self.arms)
        return self._compared.verdict(self._race())

    @property
    def _compared(self) -> Totals | None:
        """The totals of the arms in the race, once all items are used up."""
        return self.totals if paired.rounds_taken(self.arms) == self.design.items else None

    def _leading(self) -> int:
        totals = self._compared
        return totals.leading(self._race()) if totals else paired.leading(self.pairs, self.arms)

    def _row(self, number: int) -> dict[int, Score] | None:
        """The values of a round, None if it is not complete."""
        race = self._race()
        whole = all(self._is_there(number, arm) for arm in race)
        return {arm: self._value(number, arm) for arm in race} if whole else None

    def _is_there(self, number: int, arm: int) -> bool:
        return arm in self.known or (number, arm) in self.values

    def _value(self, number: int, arm: int) -> Score:
        """That value; a known score is that of every answer."""
        if arm not in self.known:
            return self.values[number, arm]
        found: Score = self._known(number, self.known[arm])
        return found

    def _known(self, number: int, scores: Sequence[Any]) -> Any:
        """Of scores by item, what a row has."""
        row, units = self._item(number), self.design.units
        assert row is not None
        return scores[row] if units.single else units.known(scores, row)

    def _counted(self, number: int, row: dict[int, Score]) -> dict[int, Any]:
        """A row as it counts in totals: what is known as it is, and not the nearest double."""
        return row | {arm: self._known(number, self._exact[arm]) for arm in self._exact if arm in row}

    def _beside(self, number: int, low: Array, high: Array) -> tuple[Array, Array]:
        """A mapped round as kernels take it: with the stratum of its item, where scores are known."""
        if self.design.strata is None:
            return low, high
        stratum = float(self.design.strata.of_item[self._item(number)])
        return np.append(low, stratum), np.append(high, stratum)

    def _mapped(self, number: int, row: dict[int, Score]) -> tuple[Any, Any]:
        """The least and the most that values can be, as kernels take them: in [0, 1], larger is better."""
        low, high = np.zeros(len(self.settings.arms)), np.zeros(len(self.settings.arms))
        cluster, units = self._cluster(number), self.design.units
        for arm, value in row.items():
            if isinstance(value, tuple):
                least, most = zip(*map(self._placed, value), strict=True)
                low[arm], high[arm] = units.value(least, cluster), units.value(most, cluster)
            else:
                low[arm], high[arm] = self._placed(value)
        return low, high

    def _placed(self, value: float | None) -> tuple[float, float]:
        """The least and the most that an answer can be."""
        if value is None:
            return 0.0, 1.0
        above = self.high - value if self.settings.minimize else value - self.low
        place = min(max(above / self.width, 0.0), 1.0)
        return place, place

    def _race(self) -> list[int]:
        return [arm for arm, out in enumerate(self.arms[paired.OUT_AFTER].tolist()) if out <= 0.0]

    def is_out(self, arm: int) -> bool:
        return bool(self.arms[paired.OUT_AFTER, arm] > 0.0)

    @property
    def waiting(self) -> int:
        return sum(value is not None for value in (self.parts or self.values).values())

    @property
    def eliminates(self) -> bool:
        return True

    @property
    def used_up(self) -> bool:
        """Whether every item has been asked for."""
        return self.exhausted or (self.design.items is not None and self.front > self.design.items)

    def enough(self) -> bool:
        """Whether the rounds that are complete would decide, if only those between them were, too."""
        later = sorted({number for number, _ in self.values})
        rows = [(number, row) for number in later if (row := self._row(number)) is not None]
        trial = self.copy() if rows else self
        return any(trial._play(number, row) not in _OPEN for number, row in rows)

    # -- what is found ---------------------------------------------------------------------------------

    def standing(self) -> tuple[int, int]:
        return self._leading() if self.first > 1 else -1, sum(self._samples())

    def _samples(self, most: float = math.inf) -> tuple[int, ...]:
        """How many values of each arm the rule has seen, in that many rounds at most."""
        rows = np.minimum(self.arms[paired.ROUNDS], most).astype(int)
        rows[list(self.known)] = 0  # they are not asked
        return tuple(map(self._answers_in, rows.tolist()))

    def _answers_in(self, rows: int) -> int:
        """How many answers of an arm the first rows have."""
        return rows * self.design.units.epochs if self._answers_of is None else self._answers_of[rows]

    def findings(self, arm: int | None = None) -> Findings:
        K, rounds, race = len(self.settings.arms), self.first - 1, self._race()
        leader = self.standing()[0] if arm is None or rounds == 0 else max(arm, -1)
        lower, upper = self._found_ends(leader)
        statistic, threshold = self._progress(leader, race)
        counted = zip(self.body[MEANS].tolist(), self.body[PULLS].tolist(), strict=True)
        return Findings(
            arm=leader,
            pulls=self._samples(),
            means=tuple(mean if n else None for mean, n in counted),
            statistic=statistic,
            threshold=threshold,
            lower=tuple(lower),
            upper=tuple(upper),
            ruled_out=tuple(map(self._ruled_out, range(K))),
            deviations=tuple(
                math.sqrt(m2 / (n - 1.0)) if n > 1.0 else None
                for n, m2 in zip(self.body[PULLS].tolist(), self.body[SQUARES].tolist(), strict=True)
            ),
            rounds=rounds,
            tied=self._tied(leader, race) if leader >= 0 and rounds == self.design.items else (),
        )

    def _found_ends(self, leader: int) -> tuple[list[float], list[float]]:
        """By how much the leader is better than each arm."""
        lower, upper = self._ends(leader, self.params[paired.ROUND_PAIR_LEVEL])
        if self._race() == [leader]:  # by the decision, whatever the pairs say
            lower = [max(low, 0.0) for low in lower]
        return lower, upper

    def leads(self, arm: int) -> tuple[list[float], list[float]]:
        """By how much a given arm is better than each other one, in the values' units, at their level."""
        level = self.params[paired.ROUND_PAIR_LEVEL] + math.log1p(-self.params[paired.ROUND_SHARE])
        if self.design.question.by_claims and self.design.averages:
            level = math.log(max(len(self.settings.arms) - 1, 1)) - math.log(self.settings.delta)
        return self._ends(arm, level)

    def _ends(self, arm: int, level: float) -> tuple[list[float], list[float]]:
        K, seen = len(self.settings.arms), (self.params, self.pairs, self.arms)
        if arm < 0:
            return [-math.inf] * K, [math.inf] * K
        lower, upper = [0.0] * K, [0.0] * K
        for i in range(K):
            if i != arm and self._compared and min(self.arms[paired.ROUNDS, [arm, i]]) == self.first - 1:
                lower[i], upper[i] = self._compared.mean_lead(arm, i), 0.0 - self._compared.mean_lead(i, arm)
            elif i != arm:
                lower[i] = max(self.scale * paired.lower_end(*seen, arm, i, level), -self.width)
                upper[i] = min(-self.scale * paired.lower_end(*seen, i, arm, level), self.width)
        return lower, upper

    def population(self, arm: int) -> Population | None:
        """By how much an arm is better than each other one on items like these; None if that is not asked."""
        if self.likes is None:
            return None
        asked, arms, rows = self.design.question, self.settings.arms, self.likes.rows()
        if asked.of_number:
            assert isinstance(self.likes, Evidence)
            found = self.likes.means(self.low, self.width) if rows else ()
            leads = tuple(None if a in self.known else lead for a, lead in enumerate(found))
            return Population(None, leads, rows)
        one = asked.reference(arms) if isinstance(asked, PerArm) else arm
        leads = self.likes.leads(one, self.width) if one >= 0 and rows else ()
        if isinstance(asked, PerArm):
            leads = tuple(lead and lead.turned for lead in leads)
        return Population(arms[one] if one >= 0 else None, leads, rows)

    def expected(self) -> Forecast:
        """Let each arm but the leader be out when its evidence, at the rate so far, has come to the level."""
        arms = self.settings.arms
        nothing = dict.fromkeys(arms, 0)
        if self.exhausted:
            return Forecast(None, nothing, "no forecast: the items are used up")
        needed = self.rounds_needed()
        if needed is None:
            return Forecast(None, nothing, "no forecast before some rounds are complete")
        if not all(map(math.isfinite, needed)):
            return Forecast(None, nothing, too_close(self.settings))
        found = self.findings()
        taken, items = found.pulls, self.design.items
        needed = [n * self.design.units.each for n in needed]
        asked = [a for a in range(len(arms)) if a not in self.known]
        more = [max(0, math.ceil(n - had)) for n, had in zip(needed, taken, strict=True)]
        more = [n if a in asked else 0 for a, n in enumerate(more)]
        needs = sum(needed[a] for a in asked)
        low, high = _range_of_rounds(-math.log(self.settings.delta), needs, sum(taken))
        if high is not None and items is not None:  # a closed set ends when its items are used up
            left = self._answers_in(items) - self._answers_in(found.rounds or 0)
            high = min(high, max(sum(more), left * sum(found.ruled_out[a] is None for a in asked)))
        return Forecast(sum(more), dict(zip(arms, more, strict=True)), low=low, high=high)

    def rounds_needed(self) -> list[float] | None:
        """How many rounds each arm will have had in the end, as it goes; None at first."""
        seen = (self.params, self._judged, self.arms)
        return rounds_needed(*seen, self._leading(), self._race()) if self.first > 2 else None

    @property
    def _judged(self) -> Array:
        """The pairs by which the leader is declared."""
        return self.pairs

    def _progress(self, leader: int, race: list[int]) -> tuple[float | None, float | None]:
        """What decides when it exceeds the second: the least evidence against an arm but the leader."""
        if leader < 0 or set(race) <= {leader}:
            return None, None
        z, level = paired.progress(self.params, self._judged, self.arms, leader)
        return (z if math.isfinite(z) else None), level

    def _tied(self, leader: int, race: list[int]) -> tuple[int, ...]:
        """The arms with the largest sum, where all items are used up; empty if it is one."""
        if self._compared:
            return self._compared.tied(leader, race)
        slack, seen = paired.EVEN * float(self.first - 1), (self.pairs, self.arms)
        pairs = ((i, paired.lead(*seen, leader, i), paired.lead(*seen, i, leader)) for i in race)
        even = [i for i, *leads in pairs if i == leader or max(map(abs, leads)) <= slack]
        return tuple(even) if len(even) > 1 else ()

    def _ruled_out(self, arm: int) -> int | None:
        """When an arm was ruled out."""
        out = float(self.arms[paired.OUT_AFTER, arm])
        return sum(self._samples(out)) if out > 0.0 else None

    # -- what to sample next ---------------------------------------------------------------------------

    def next(self) -> tuple[int, dict[str, Any]] | None:
        """The first arm in the race that was not asked in the first such round."""
        race = self._race()
        while not self.used_up:
            if self.front > self.first + AHEAD + len(self.open) // len(race):
                return None
            for cell in self._in_turn(self.front, race):
                if cell not in self.asked and cell[1] not in self.known:
                    return cell[1], self._said(cell)
            self.front += 1
        return None

    def _turns(self, number: int, race: list[int]) -> list[int]:  # noqa: ARG002
        """The arms in the race, in the order in which a round asks for them."""
        return race

    def _in_turn(self, number: int, arms: list[int]) -> list[Cell]:
        """What a round asks for: every arm once, then once more."""
        turns = [self._cells_of(number, arm) for arm in self._turns(number, arms)]
        return [cell for part in zip(*turns, strict=True) for cell in part]

    def place(self, pull: int) -> tuple[int | None, int | None, int | None]:
        """The round of a pull, its item, and which answer to it."""
        return self._place(self.cells[pull])

    def is_within_reach(self, number: int | None) -> bool:
        """Whether `next` can have come to a round, with the pulls that are out."""
        return number is not None and number <= self.first + AHEAD + len(self.open)

    def _item(self, number: int) -> int | None:
        if self.order is None:
            return item_seed(self.settings.seed, number)
        return int(self.order[number - 1])

    def to_issue(self) -> list[int]:
        """Pulls that failed or lapsed, the earliest rounds first."""
        return sorted(super().to_issue(), key=lambda pull: (self.cells[pull][0], pull))

    # -- snapshots -------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        used = int(self.pairs.any(axis=1).sum())
        return int(used * self.pairs.shape[1] + self.arms.size + self.body.size + 5 * len(self.asked))

    def to_dict(self) -> dict[str, Any]:
        """What the design keeps, as JSON can hold it; a row of zeros as None."""
        return {
            "pairs": [row.tolist() if row.any() else None for row in self.pairs],
            "arms": [row.tolist() if row.any() else None for row in self.arms],
            "body": self.body[[PULLS, SUMS, LOST, SQUARES]].tolist(),
            "totals": None if self.totals is None else self.totals.to_list(),
            "likes": None if self.likes is None else self.likes.to_dict(),
            "first": self.first,
            "values": [[*cell, value] for cell, value in sorted((self.parts or self.values).items())],
            "asked": [[*cell, pull] for cell, pull in sorted(self.asked.items())],
            "exhausted": self.exhausted,
        }

    def restore(self, data: dict[str, Any]) -> None:
        for array, rows in ((self.pairs, data["pairs"]), (self.arms, data["arms"])):
            for row, kept in zip(array, rows, strict=True):
                row[:] = 0.0 if kept is None else kept
        self.body[[PULLS, SUMS, LOST, SQUARES]] = data["body"]
        if self.totals is not None:
            self.totals.restore(data["totals"])
        if self.likes is not None:
            self.likes.restore(data["likes"])
        for arm in range(len(self.settings.arms)):
            families.centre(self._summing, self.body, arm)
        self.first = self.front = data["first"]
        for *cell, value in data["values"]:
            self._put(tuple(cell), value)
        self.asked = {tuple(cell): pull for *cell, pull in data["asked"]}
        self.cells = {pull: cell for cell, pull in self.asked.items()}
        self.exhausted = data["exhausted"]


def _range_of_rounds(level: float, needed: float, taken: int) -> tuple[int | None, int | None]:
    """More calls if the lead that matters is a standard error larger, or smaller.

    Evidence of e nats is a lead of about the square root of 2e standard errors, and it grows evenly.
    """
    errors = math.sqrt(2.0 * level * taken / needed)
    if errors <= 1.0:
        return None, None
    ends = [needed * (errors / (errors + off)) ** 2 - taken for off in (1.0, -1.0)]
    return max(0, math.floor(ends[0])), math.ceil(max(0.0, ends[1]))
