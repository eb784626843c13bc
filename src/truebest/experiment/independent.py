"""The state of an experiment with independent pulls: a strategy chooses the arm of each.

Two bodies of evidence are kept (`bodies`): the strategy chooses from all results, with the pulls that are
still out (`chooser`); the stopping rule sees the results in the order of asking, up to the first pull that is
not settled yet, so that fast results cannot get ahead of slow ones. Values from before that were given by arm
have no order: the rule is asked when all of them are in, and not where it would have seen some of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from ..kernels.layout import OUT, arm_of
from .bodies import Bodies
from .chooser import Chooser
from .events import ASKED, FAILED, LAPSED, LATE, TOLD, Entry, Settled, settled
from .findings import Findings
from .forecast import Forecast, of_pulls, uniform_samples
from .leases import Open
from .settings import Settings
from .state import Recall, State
from .stretches import NOTHING, Plain, take_plain

_CALM = (ASKED, TOLD, FAILED, LAPSED, LATE)  # lines that do not ask what the rule has said so far


class IndependentState(State):
    """What follows from the log of independent pulls."""

    of_the_log: ClassVar[tuple[str, ...]] = ("evidence", "first", "beyond", "offset", "partial")

    def __init__(self, settings: Settings, *, chooses: bool = True, recall: Recall | None = None) -> None:
        super().__init__(settings, chooses=chooses, recall=recall)
        self.bodies, self.chooser = Bodies(settings), Chooser(settings)
        self.limited = self.chooses and self.bodies.rule.limits  # the rule says what may be sampled next
        self.first = 1  # every pull before this one is in the evidence
        self.beyond: dict[int, Settled] = {}  # settled, but behind the first

    def replay(self, entries: Iterable[Entry]) -> None:
        """Take in many lines. The rule is asked about a stretch of results at once, which is quicker."""
        told, wary = False, self._is_wary()
        for entry in entries:
            wary = wary or self._is_far(entry)
            if told and (wary or entry.kind not in _CALM):
                self._judge_new()
                told = False
            self._take(entry)
            told = told or entry.kind == TOLD
        if told:
            self._judge_new()

    def take_plain(self, entries: Sequence[Entry]) -> Plain:
        """Take in the lines of a log up to one that is not plain, where no strategy follows."""
        bodies, by_arrival = self.bodies, self.settings.order == "arrival"
        if self.chooses or self.over or self.suspended or self.due is not None or self._is_wary():
            return NOTHING
        found = take_plain(self, entries, bodies.is_plain())
        for arm in found.observed:
            self._count("observed", arm)
        for arm, pulls in Counter(found.asked).items():
            self.chooser.count(arm, pulls)
        values = [bodies.signed(value) for _, _, value in found.told]
        bodies.steer([item.arm for _, item, _ in found.told], values)
        for (pull, item, _), value in zip(found.told, values, strict=True):
            if by_arrival or pull >= self.first:  # as in `_settle`
                self.beyond[pull] = self._held(item.arm, item.check, item.together, value)
        if found.told:
            self._judge_new()
        return found

    def _is_wary(self) -> bool:
        """Whether the rule must have seen all results before the next line: it may matter to the strategy."""
        return self.serial or self.limited or self.bodies.far

    def _is_far(self, entry: Entry) -> bool:
        """Whether a result may move the offset, so that the rule must have seen those before it."""
        return entry.kind == TOLD and entry.value is not None and self.bodies.is_far(entry.value)

    def copy(self) -> Self:
        twin = super().copy()
        twin.beyond, twin.bodies, twin.chooser = self.beyond.copy(), self.bodies.copy(), self.chooser.copy()
        return twin

    # -- evidence --------------------------------------------------------------------------------------

    def _begin(self, pull: int, arm: int, data: dict[str, Any]) -> None:  # noqa: ARG002
        if not data.get("observed"):
            if self.chooses and self.chooser.chosen is None and self.settings.strategy is not None:
                self.choose()  # as it was called then: for what it remembers; the log has the arm
            self.chooser.chosen, self.chooser.last = None, arm
        self.chooser.count(arm, 1.0)

    def _settle(self, pull: int, opened: Open, raw: float | None) -> None:
        arm = opened.arm
        value = None if raw is None else self.bodies.signed(raw)
        self.chooser.count(arm, -1.0 if value is None else 0.0)
        if value is not None and self.bodies.add(self.bodies.steering, arm, 1.0, value):
            self.chooser.all_changed()
        if (
            self.settings.order == "arrival" or pull >= self.first
        ):  # else its arm is out: it was not waited for
            self.beyond[pull] = self._held(arm, opened.check, opened.together, value)

    def _held(self, arm: int, check: bool, together: bool, value: float | None) -> Settled:
        # A check is skipped inside a pair of asks; in order of arrival there are no such pairs.
        return arm, check or (self.settings.order == "arrival" and not together), together, value

    def _is_used(self, pull: int) -> bool:
        return pull not in self.beyond

    def _change(self, entry: Entry, was: float | None) -> None:
        assert entry.pull is not None
        assert entry.arm is not None
        if self.bodies.rule.replays and entry.pull < self.first:
            self._start_over(entry, was)
        else:
            self._replace(entry.pull, entry.arm, was, entry.value)

    def _judge_changed(self) -> None:
        """Ask the rule again after a retraction."""
        if self.serial:
            self.chooser.forget()  # what it dropped may be back
        if self.bodies.choose_offset():
            self.chooser.all_changed()
        super()._judge_changed()

    def _replace(self, pull: int, arm: int, was: float | None, now: float | None) -> None:
        """The value of a settled pull changes."""
        bodies, settled = self.bodies, pull not in self.beyond
        old = None if was is None else bodies.signed(was)
        new = None if now is None else bodies.signed(now)
        if not settled:
            self.beyond[pull] = (*self.beyond[pull][:-1], new)
        for body in (bodies.steering, bodies.evidence) if settled else (bodies.steering,):
            if old is not None and bodies.add(body, arm, -1.0, -old):
                self.chooser.all_changed()
            if new is not None and bodies.add(body, arm, 1.0, new):
                self.chooser.all_changed()
        self.chooser.count(arm, (new is not None) - (old is not None))

    def _start_over(self, change: Entry, was: float | None) -> None:
        """A value changes on which everything after it depends: take in the whole log again."""
        assert self.recall is not None
        assert change.arm is not None
        self.bodies.clear()
        self.first, self.beyond, self.partial = 1, {}, False
        lines = [*self.recall(self.seq), *self.fresh, change]
        for pull, (arm, check, together, raw) in settled(lines).items():
            value = None if raw is None else self.bodies.signed(raw)
            if value is not None:
                self.bodies.add(self.bodies.steering, arm, 1.0, value)
            self.beyond[pull] = self._held(arm, check, together, value)
        self.chooser.count(change.arm, (change.value is not None) - (was is not None))
        self.chooser.all_changed()

    def _judge(self) -> None:
        self.due = None
        if self.refuted is None and not self.partial and self.bodies.refutes():
            self.refuted = self.bodies.deviations()
        if self.suspended or self.serial:
            self._advance()
            self._ask_self_stopper()
            return
        if not self.partial and self.bodies.decides():
            self.due = self.findings()
        else:
            self._advance()

    def _advance(self) -> None:
        """Let the rule see what is settled without a hole before it, up to a decision or a refutation."""
        left = self.bodies.left
        while not (self.over or self.due is not None or self.suspended):
            self._advance_once()
            before, left = left, self.bodies.left
            if left == before:
                return
            self.chooser.all_changed()  # and the arm that was just ruled out may have left a hole

    def _advance_once(self) -> None:
        ready = self._ready()
        held = [self.beyond[pull] for pull in ready]
        if None in [one[-1] for one in held]:
            valued = [pull for pull, one in zip(ready, held, strict=True) if one[-1] is not None]
            held = [one for one in held if one[-1] is not None]
        else:
            valued = ready
        arms = np.array([one[0] for one in held], np.int64)
        checks = np.array([one[1] and not self.serial for one in held], np.bool_)
        together = np.array([one[2] for one in held], np.bool_)
        values = np.array([one[3] for one in held], np.float64)
        at, refuted = self.bodies.advance(arms, values, checks, together)
        taken = ready if at < 0 else ready[: ready.index(valued[at]) + 1]
        if valued:
            self.partial = bool(together[at] and not checks[at])
        for pull in taken:
            del self.beyond[pull]
        self.first = max(self.first, *(pull + 1 for pull in taken)) if taken else self.first
        if refuted:
            self.refuted = self.bodies.deviations()
        elif at >= 0:
            self.due = self.findings()

    def _ready(self) -> list[int]:
        if self.settings.order == "arrival":
            return list(self.beyond)
        ready, pull, beyond = [], self.first, self.beyond
        while pull in beyond or (pull in self.open and self.is_out(self.open[pull].arm)):
            if pull in beyond:
                ready.append(pull)
            pull += 1
        return ready

    def _judge_new(self) -> None:
        self._advance()
        self._ask_self_stopper()

    def is_out(self, arm: int) -> bool:
        return bool(self.bodies.evidence[OUT, arm])

    def standing(self) -> tuple[int, int]:
        return self.bodies.standing()

    @property
    def labels(self) -> Sequence[float]:
        return self.bodies.labels

    def findings(self, arm: int | None = None) -> Findings:
        return self.bodies.findings(arm)

    def enough(self) -> bool:
        if not self.beyond or self.serial:
            return False
        return self.bodies.would_decide()

    def expected(self) -> Forecast:
        return of_pulls(self.settings, self.bodies, self.chooser)

    def uniform_samples(self) -> int | None:
        """How many samples uniform sampling would take in total; None before every arm has a value."""
        return uniform_samples(self.bodies)

    def leads(self, arm: int) -> tuple[list[float], list[float]]:
        return self.bodies.leads(arm)

    @property
    def waiting(self) -> int:
        return sum(value is not None for *_, value in self.beyond.values())

    @property
    def eliminates(self) -> bool:
        return self.bodies.rule.eliminates

    # -- what to sample next ---------------------------------------------------------------------------

    @cached_property
    def serial(self) -> bool:
        """Whether only one pull may be pending: a strategy that stops by itself must have seen everything."""
        return self.settings.chosen.stops_itself

    def next(self) -> tuple[int, dict[str, Any]] | None:
        action = self.choose()
        if action is None:
            return None
        return arm_of(action, len(self.settings.arms)), {} if action >= 0 else {"check": False}

    def choose(self) -> int | None:
        """The strategy's next action: an arm, or ~arm for a pull without a check; None to wait."""
        if self.serial and self.open:
            return None
        action = self.chooser.choose(self.bodies)
        return action if action < len(self.settings.arms) else None

    def _ask_self_stopper(self) -> None:
        """Let a strategy that stops by itself say so as soon as it can."""
        if not self.serial or self.open or self.beyond or self.over or self.due or self.refuted:
            return
        if self.settings.strategy is None:  # then who has it will hear it
            return
        action, K = self.chooser.choose(self.bodies), len(self.settings.arms)
        if action >= K:
            self.due = self.findings(arm_of(action, K))

    # -- snapshots -------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        return 2 * len(self.beyond) + 2 * self.bodies.evidence.size + self.chooser.memory.size

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.bodies.to_dict(),
            **self.chooser.to_dict(),
            "first": self.first,
            "beyond": [[pull, *item] for pull, item in self.beyond.items()],
            "partial": self.partial,
        }

    def restore(self, data: dict[str, Any]) -> None:
        self.bodies.restore(data)
        self.chooser.restore(data)
        self.first = data["first"]
        self.beyond = {
            pull: (arm, check, together, value) for pull, arm, check, together, value in data["beyond"]
        }
        self.partial = data["partial"]
