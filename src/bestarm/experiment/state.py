"""What follows from the log of an experiment, without I/O: what to sample next, and the decision.

Two bodies of evidence are kept (`bodies`): the strategy chooses from all results, with the pulls that are
still out (`chooser`); the stopping rule sees the results in the order of asking, up to the first pull that is
not settled yet, so that fast results cannot get ahead of slow ones.

`apply` takes in one line of the log, `replay` many. A state is a function of the lines alone: every process
that reads the same log has the same state, and would choose the same arm next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from ..errors import BestarmError, DamagedLogError, StoreError
from ..kernels.layout import OUT, arm_of
from .bodies import Bodies
from .chooser import Chooser
from .events import ASKED, FAILED, KINDS, LAPSED, LATE, TOLD, Entry, settled
from .findings import Findings
from .settings import Settings

COUNTS = (
    "failed",
    "lapsed",
    "reclaimed",
    "retried",
    "late",
    "observed",
    "corrected",  # values outside the bounds, taken back or put right
    "reread",  # retractions that changed the evidence
    "retracted",  # all others
)
Recall = Callable[[int], Iterable[Entry]]
_CALM = (ASKED, TOLD, FAILED, LAPSED, LATE)  # lines that do not ask what the rule has said so far
_WRONG = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
CLOCK_STEP = 60.0  # seconds that a clock may be set back before a deadline counts as one of a wrong clock


class Open(NamedTuple):
    """A pull without a value: being evaluated, or waiting to be issued again."""

    arm: int
    check: bool
    deadline: float | None
    out: bool


class State:
    """See the module. `seq` is the last line of the log that it contains.

    steers  whether it keeps what the strategy remembers, so that it can choose; where only the decision is
            of interest, leaving that out saves most of the time (a strategy that stops by itself is needed
            for the decision)
    recall  reads the log again up to a line: some rules start over when a value is taken back
    """

    def __init__(self, settings: Settings, *, steers: bool = True, recall: Recall | None = None) -> None:
        self.settings, self.recall = settings, recall
        self.fresh: tuple[Entry, ...] = ()  # lines that are not in the log yet
        self.steers = steers or self.serial
        self.seq, self.mark, self.head = 0, 0.0, ""  # the last line that it contains, its time and chain
        self.next_pull = 1
        self.open: dict[int, Open] = {}
        self.violated: dict[int, float] = {}
        self.refuted: tuple[float | None, ...] | None = None  # the deviations that refuted sigma, for good
        self.outside: dict[int, int] = {}  # pulls with a late value outside the bounds, and their arms
        self.bodies, self.chooser = Bodies(settings), Chooser(settings)
        self.first = 1  # every pull before this one is in the evidence
        self.beyond: dict[int, tuple[int, bool, float | None]] = {}  # settled, but behind the first
        # outcome
        self.crossed: Findings | None = None  # a decision that is not in the log yet
        self.decision: Findings | None = None
        self.counts = {name: [0] * len(settings.arms) for name in COUNTS}

    # -- the log ---------------------------------------------------------------------------------------

    def apply(self, entry: Entry) -> None:
        """Take in the next line of the log."""
        self._take(entry)
        if entry.kind == TOLD:
            self._judge_new()

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

    def _is_wary(self) -> bool:
        """Whether the rule must have seen all results before the next line: it may matter to the strategy."""
        return self.serial or self.bodies.far or (self.steers and self.bodies.rule.eliminates)

    def _is_far(self, entry: Entry) -> bool:
        """Whether a result may move the offset, so that the rule must have seen those before it."""
        return entry.kind == TOLD and entry.value is not None and self.bodies.is_far(entry.value)

    def copy(self) -> State:
        """The same state, which may go its own way."""
        twin = State.__new__(State)
        twin.__dict__.update(self.__dict__)  # dicts are copied, all else is replaced, not changed
        twin.open, twin.violated, twin.beyond = self.open.copy(), self.violated.copy(), self.beyond.copy()
        twin.outside = self.outside.copy()
        twin.bodies, twin.chooser = self.bodies.copy(), self.chooser.copy()
        return twin

    def _take(self, entry: Entry) -> None:
        if entry.kind not in KINDS:
            raise StoreError(
                f"line {entry.seq} of the log is of a kind {entry.kind!r} that this bestarm does not know; "
                f"upgrade with `pip install --upgrade bestarm`"
            )
        try:
            getattr(self, f"_{entry.kind}")(entry)
        except _WRONG as error:
            if not entry.seq or isinstance(error, BestarmError):  # not from the log, or a refusal
                raise
            problem = f"it does not follow from the lines before it ({type(error).__name__}: {error})"
            raise DamagedLogError(entry.seq, problem) from error
        if entry.seq:
            self.seq, self.mark, self.head = entry.seq, entry.time, entry.chain
        else:
            self.fresh = (*self.fresh, entry)

    def _judge_new(self) -> None:
        self._advance()
        self._ask_self_stopper()

    def _created(self, entry: Entry) -> None:
        pass

    def _asked(self, entry: Entry) -> None:
        pull, arm, data = _pull(entry), _arm(entry), entry.data or {}
        again = self.open.get(pull)
        if again is not None:
            self.open[pull] = again._replace(deadline=data.get("deadline"), out=True)
            self._count("retried", arm)
            return
        if pull != self.next_pull:
            raise DamagedLogError(entry.seq, f"it asks for pull {pull} where {self.next_pull} is next")
        if data.get("observed"):
            self._count("observed", arm)
        else:
            if self.steers and self.chooser.chosen is None and self.settings.strategy is not None:
                self.choose()  # as it was called then: for what it remembers; the log has the arm
            self.chooser.chosen, self.chooser.last = None, arm
        self.open[pull] = Open(arm, data.get("check", True), data.get("deadline"), True)
        self.next_pull = pull + 1
        self.chooser.count(arm, 1.0)

    def _told(self, entry: Entry) -> None:
        assert entry.value is not None
        pull = _pull(entry)
        self._settle(pull, self.open.pop(pull), entry.value)

    def _failed(self, entry: Entry) -> None:
        self._count("failed", _arm(entry))
        self._take_back(_pull(entry))

    def _lapsed(self, entry: Entry) -> None:
        kind = "reclaimed" if (entry.data or {}).get("reclaimed") else "lapsed"
        self._count(kind, _arm(entry))
        self._take_back(_pull(entry))

    def _count(self, kind: str, arm: int) -> None:
        count = self.counts[kind].copy()
        count[arm] += 1
        self.counts = {**self.counts, kind: count}

    def _take_back(self, pull: int) -> None:
        self.open[pull] = self.open[pull]._replace(out=False)

    def _late(self, entry: Entry) -> None:
        self._count("late", _arm(entry))
        if entry.value is not None and not self.settings.allows(entry.value):
            self.outside[_pull(entry)] = _arm(entry)

    def _violated(self, entry: Entry) -> None:
        pull = _pull(entry)
        self.violated[pull] = float(entry.value or 0.0)
        self.open[pull] = self.open[pull]._replace(deadline=None, out=True)

    def _retracted(self, entry: Entry) -> None:
        """Take a value back, and perhaps put the right one in its place."""
        pull, arm, was = _pull(entry), _arm(entry), (entry.data or {}).get("was")
        held = pull not in self.open and pull not in self.beyond and was != entry.value
        self._count("corrected" if pull in self.violated else "reread" if held else "retracted", arm)
        self.violated.pop(pull, None)
        self.outside.pop(pull, None)
        waiting = self.open.pop(pull, None)
        if waiting is not None:
            self._settle(pull, waiting, entry.value)
        elif self.bodies.rule.replays and pull < self.first:
            self._start_over(entry, was)
        else:
            self._replace(pull, arm, was, entry.value)
        if self.serial:
            self.chooser.forget()  # what it dropped may be back
        if self.bodies.choose_offset():
            self.chooser.all_changed()
        if self.decision is None:
            self._judge()

    def _decided(self, entry: Entry) -> None:
        self.decision, self.crossed = Findings.from_record(entry.data or {}), None

    def _reopened(self, entry: Entry) -> None:  # noqa: ARG002
        self.decision = None
        self._judge()

    # -- evidence --------------------------------------------------------------------------------------

    def _settle(self, pull: int, opened: Open, raw: float | None) -> None:
        """A pull has its value, or is void for good (None)."""
        arm = opened.arm
        value = None if raw is None else self.bodies.signed(raw)
        self.chooser.count(arm, -1.0 if value is None else 0.0)
        if value is not None and self.bodies.add(self.bodies.steering, arm, 1.0, value):
            self.chooser.all_changed()
        # A check is skipped inside a pair of asks; in order of arrival there are no such pairs.
        arrival = self.settings.order == "arrival"
        if arrival or pull >= self.first:  # else its arm is out, and it was not waited for
            self.beyond[pull] = (arm, opened.check or arrival, value)

    def _replace(self, pull: int, arm: int, was: float | None, now: float | None) -> None:
        """The value of a settled pull changes."""
        bodies, settled = self.bodies, pull not in self.beyond
        old = None if was is None else bodies.signed(was)
        new = None if now is None else bodies.signed(now)
        if not settled:
            self.beyond[pull] = (arm, self.beyond[pull][1], new)
        for body in (bodies.steering, bodies.evidence) if settled else (bodies.steering,):
            if old is not None and bodies.add(body, arm, -1.0, -old):
                self.chooser.all_changed()
            if new is not None and bodies.add(body, arm, 1.0, new):
                self.chooser.all_changed()
        self.chooser.count(arm, (new is not None) - (old is not None))

    def _start_over(self, change: Entry, was: float | None) -> None:
        """A value changes on which everything after it depends: take in the whole log again."""
        assert self.recall is not None
        arrival = self.settings.order == "arrival"
        self.bodies.clear()
        self.first, self.beyond = 1, {}
        lines = [*self.recall(self.seq), *self.fresh, change]
        for pull, (arm, check, raw) in settled(lines).items():
            value = None if raw is None else self.bodies.signed(raw)
            if value is not None:
                self.bodies.add(self.bodies.steering, arm, 1.0, value)
            self.beyond[pull] = (arm, check or arrival, value)
        self.chooser.count(_arm(change), (change.value is not None) - (was is not None))
        self.chooser.all_changed()

    def _judge(self) -> None:
        """Ask the rule about the evidence as it is, then about what waits behind it."""
        self.crossed = None
        if self.refuted is None and self.bodies.refutes():
            self.refuted = self.bodies.deviations()
        if self.suspended or self.serial:
            self._advance()
            self._ask_self_stopper()
            return
        if self.bodies.decides():
            self.crossed = self.findings()
        else:
            self._advance()

    def _advance(self) -> None:
        """Let the rule see what is settled without a hole before it, up to a decision or a refutation."""
        left = 0
        while left != self.bodies.left:  # an arm that was just ruled out may have left a hole
            left = self.bodies.left
            if self.decision is not None or self.crossed is not None or self.suspended:
                return
            self._advance_once()
            if left != self.bodies.left:
                self.chooser.all_changed()

    def _advance_once(self) -> None:
        ready = self._ready()
        valued = [pull for pull in ready if self.beyond[pull][2] is not None]
        arms = np.array([self.beyond[pull][0] for pull in valued], np.int64)
        checks = np.array([self.beyond[pull][1] and not self.serial for pull in valued], np.bool_)
        values = np.array([self.beyond[pull][2] for pull in valued], np.float64)
        at, refuted = self.bodies.advance(arms, values, checks)
        taken = ready if at < 0 else ready[: ready.index(valued[at]) + 1]
        for pull in taken:
            del self.beyond[pull]
        self.first = max(self.first, *(pull + 1 for pull in taken)) if taken else self.first
        if refuted:
            self.refuted = self.bodies.deviations()
        elif at >= 0:
            self.crossed = self.findings()

    def _ready(self) -> list[int]:
        if self.settings.order == "arrival":
            return list(self.beyond)
        ready, pull = [], self.first
        while pull in self.beyond or (pull in self.open and self.is_out(self.open[pull].arm)):
            if pull in self.beyond:
                ready.append(pull)
            pull += 1
        return ready

    def is_out(self, arm: int) -> bool:
        """Whether the rule has ruled an arm out: it is neither sampled nor waited for any more."""
        return bool(self.bodies.evidence[OUT, arm])

    def findings(self, arm: int | None = None) -> Findings:
        """What the rule sees; the arm is the leader if none is given."""
        return self.bodies.findings(arm)

    def enough(self) -> bool:
        """Whether the results so far would decide, if only the pulls before them were settled."""
        if not self.beyond or self.serial:
            return False
        return self.bodies.would_decide()

    @property
    def readings(self) -> int:
        """How many versions of the data the rule was asked about: each spends the whole of delta."""
        return 1 + sum(self.counts["reread"])

    @property
    def suspended(self) -> bool:
        """Whether some value violated the bounds, or the values have refuted sigma."""
        return bool(self.violated) or self.refuted is not None

    # -- what to sample next ---------------------------------------------------------------------------

    @property
    def serial(self) -> bool:
        """Whether only one pull may be pending: a strategy that stops by itself must have seen everything."""
        return self.settings.chosen.stops_itself

    def choose(self) -> int | None:
        """The strategy's next action: an arm, or ~arm for a pull without a check; None to wait."""
        if self.serial and self.open:
            return None
        action = self.chooser.choose(self.bodies)
        return action if action < len(self.settings.arms) else None

    def _ask_self_stopper(self) -> None:
        """Let a strategy that stops by itself say so as soon as it can."""
        if not self.serial or self.open or self.beyond or self.decision or self.crossed or self.refuted:
            return
        if self.settings.strategy is None:  # then who has it will hear it
            return
        action, K = self.chooser.choose(self.bodies), len(self.settings.arms)
        if action >= K:
            self.crossed = self.findings(arm_of(action, K))

    def to_issue(self) -> list[int]:
        """Pulls that failed or lapsed, in the order of asking."""
        return sorted(pull for pull, item in self.open.items() if not (item.out or self.is_out(item.arm)))

    @property
    def waits(self) -> bool:
        """Whether some pull may still bring evidence."""
        return any(not self.is_out(item.arm) for item in self.open.values())

    def expired(self, now: float) -> list[int]:
        """Pulls that are pending for longer than their lease, or were asked when the clock was far ahead."""
        lease = self.settings.lease or 0.0
        farthest = now + lease + max(lease, CLOCK_STEP)
        return [
            pull
            for pull, item in self.open.items()
            if item.out and item.deadline is not None and not now < item.deadline <= farthest
        ]


def _pull(entry: Entry) -> int:
    assert entry.pull is not None
    return entry.pull


def _arm(entry: Entry) -> int:
    assert entry.arm is not None
    return entry.arm
