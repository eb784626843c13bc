"""What follows from the log of an experiment, without I/O: what to sample next, and the decision.

Two collections of results are kept:

    steering   all results, and the pulls that are still pending; the strategy chooses from it
    evidence   the results in the order of asking, up to the first pull that is not settled yet; the
               stopping rule sees this alone, so that fast results cannot get ahead of slow ones

`apply` takes in one line of the log, `replay` many. A state is a function of the lines alone: every process
that reads the same log has the same state, and would choose the same arm next.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..errors import BestarmError, DamagedLogError, InvalidInputError, StoreError
from ..kernels import decision, families, rules
from ..kernels._types import Array
from ..kernels.exact import round_offset
from ..kernels.layout import LOST, MEANS, PULLS, SUMS, arm_of
from ..kernels.random import open_stream
from ..kernels.tracking import leading_arm, least_pulled
from ..strategies._admit import kernel_of, raised_by
from .events import ASKED, FAILED, KINDS, LAPSED, LATE, TOLD, Entry
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
_PLAIN = (
    *("seq", "mark", "head", "next_pull", "chosen", "called", "last", "first", "offset"),
    "counts",
)
_FAR = 2.0**20  # sigma: a mean farther from the offset than that may lack bits
_KEPT = [PULLS, SUMS, LOST]  # the rows of a state from which the others follow
SNAPSHOT = 4  # raised whenever the form of `to_dict` changes; other snapshots are not read
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
    """

    def __init__(self, settings: Settings, *, steers: bool = True) -> None:
        self.settings = settings
        K = len(settings.arms)
        strategy = settings.strategy
        rows = len(strategy.rows) if strategy else 0
        self.steers = steers or self.serial
        self.seq, self.mark, self.head = 0, 0.0, ""  # the last line that it contains, its time and chain
        self.next_pull = 1
        self.open: dict[int, Open] = {}
        self.violated: dict[int, float] = {}
        self.outside: dict[int, int] = {}  # pulls with a late value outside the bounds, and their arms
        # steering
        self.steering = settings.model.blank(K)
        self.asked = np.zeros(K)  # pulls as the strategy sees them: with those that are out
        self.memory = np.zeros((rows, K))
        self.select = kernel_of(strategy) if strategy else None
        self.random = np.zeros(2, np.uint64)
        with np.errstate(over="ignore"):
            open_stream(np.uint64(settings.seed), np.uint64(0), np.uint64(K), self.random)
        self.chosen: int | None = None  # an action of the strategy that has not become a pull yet
        self.called = False  # whether the strategy was called before
        self.last = -1
        self.changed: set[int] = set()  # arms that are not as the strategy saw them last
        # evidence
        self.evidence = settings.model.blank(K)
        self.first = 1  # every pull before this one is in the evidence
        self.beyond: dict[int, tuple[int, bool, float | None]] = {}  # settled, but behind the first
        self.offset: float | None = None  # near the values, as they are summed; None before the first
        if settings.model.limits is not None:
            self.offset = round_offset(self._signed(sum(settings.model.limits) / 2), settings.model.unit)
        self.params = self._parameters(self.offset or 0.0)
        # outcome
        self.crossed: Findings | None = None  # a decision that is not in the log yet
        self.decision: Findings | None = None
        self.counts = {name: [0] * K for name in COUNTS}

    # -- the log ---------------------------------------------------------------------------------------

    def apply(self, entry: Entry) -> None:
        """Take in the next line of the log."""
        self._take(entry)
        if entry.kind == TOLD:
            self._judge_new()

    def replay(self, entries: Iterable[Entry]) -> None:
        """Take in many lines. The rule is asked about a stretch of results at once, which is quicker."""
        told, wary = False, self.serial or bool((abs(self.steering[MEANS, self.told > 0.0]) > _FAR).any())
        for entry in entries:
            wary = wary or self._is_far(entry)
            if told and (wary or entry.kind not in _CALM):
                self._judge_new()
                told = False
            self._take(entry)
            told = told or entry.kind == TOLD
        if told:
            self._judge_new()

    def _is_far(self, entry: Entry) -> bool:
        """Whether a result may move the offset, so that the rule must have seen those before it."""
        if entry.kind != TOLD or entry.value is None or self.offset is None:
            return False
        return abs(self._signed(entry.value) - self.offset) > _FAR * self.settings.model.unit

    def copy(self) -> State:
        """The same state, which may go its own way."""
        twin = State.__new__(State)
        twin.__dict__.update(self.__dict__)  # arrays and dicts are copied, all else is replaced, not changed
        twin.open, twin.violated, twin.beyond = self.open.copy(), self.violated.copy(), self.beyond.copy()
        twin.outside = self.outside.copy()
        twin.steering, twin.evidence = self.steering.copy(), self.evidence.copy()
        twin.asked, twin.memory, twin.random = self.asked.copy(), self.memory.copy(), self.random.copy()
        twin.changed = self.changed.copy()
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
            if self.steers and self.chosen is None and self.settings.strategy is not None:
                self.choose()  # as it was called then: for what it remembers; the log has the arm
            self.chosen, self.last = None, arm
        self.open[pull] = Open(arm, data.get("check", True), data.get("deadline"), True)
        self.next_pull = pull + 1
        self.asked[arm] += 1.0
        self.changed.add(arm)

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
        else:
            self._replace(pull, arm, was, entry.value)
        if self.serial:
            self.memory[:], self.called, self.chosen = 0.0, False, None  # what it dropped may be back
        self._choose_offset()
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
        value = None if raw is None else self._signed(raw)
        if value is None:
            self.asked[arm] -= 1.0
        else:
            self._add(self.steering, arm, 1.0, value)
        self.changed.add(arm)
        # A check is skipped inside a pair of asks; in order of arrival there are no such pairs.
        check = opened.check or self.settings.order == "arrival"
        self.beyond[pull] = (arm, check, value)

    def _replace(self, pull: int, arm: int, was: float | None, now: float | None) -> None:
        """The value of a settled pull changes."""
        old = None if was is None else self._signed(was)
        new = None if now is None else self._signed(now)
        bodies = [self.steering]
        if pull in self.beyond:
            self.beyond[pull] = (arm, self.beyond[pull][1], new)
        else:
            bodies.append(self.evidence)
        for body in bodies:
            if old is not None:
                self._add(body, arm, -1.0, -old)
            if new is not None:
                self._add(body, arm, 1.0, new)
        self.asked[arm] += (new is not None) - (old is not None)
        self.changed.add(arm)

    def _add(self, body: Array, arm: int, count: float, value: float) -> None:
        """Count a value in or out."""
        if self.offset is None:
            self._set_offset(round_offset(value, self.settings.model.unit))
        decision.take(self.params, body, arm, count, value)
        if _FAR < abs(body[MEANS, arm]) < math.inf and abs(self._best()) > _FAR:
            self._choose_offset()

    def _set_offset(self, offset: float) -> None:
        """For the means from now on, and for what has a place among the values in the strategy."""
        self.offset, self.params = offset, self._parameters(offset)

    def _parameters(self, offset: float) -> Array:
        """Everything that the kernels are told, for values as they are summed, less the offset."""
        settings, K = self.settings, len(self.settings.arms)
        head = settings.stopping.parameters(settings.model, K, settings.delta, offset=offset)
        if settings.strategy is None:
            return head
        placed = settings.strategy.placed(offset, self._signed(1.0))
        return np.concatenate([head, placed.parameters(K, settings.model.unit)])

    def _choose_offset(self) -> None:
        """Near the best arm as it is now: what fixed the offset may have been an error, or a distant arm."""
        if self.settings.model.limits is not None or not self.told.any():
            return
        unit = self.settings.model.unit
        self._set_offset(round_offset((self.offset or 0.0) + self._best() * unit, unit))
        self._centre()
        self.changed.update(range(len(self.settings.arms)))

    def _centre(self) -> None:
        for body in (self.steering, self.evidence):
            for arm in range(len(self.settings.arms)):
                families.centre(self.params, body, arm)

    def _best(self) -> float:
        """The largest mean, in sigma around the offset; 0 without results."""
        told = self.told > 0.0
        return float(self.steering[MEANS, told].max()) if told.any() else 0.0

    def _judge(self) -> None:
        """Ask the rule about the evidence as it is, then about what waits behind it."""
        self.crossed = None
        if self.suspended or self.serial:
            self._advance()
            self._ask_self_stopper()
            return
        z, beta = self.verdict()
        if z > beta:
            self.crossed = self.findings()
        else:
            self._advance()

    def _advance(self) -> None:
        """Let the rule see what is settled without a hole before it, up to a decision."""
        if self.decision is not None or self.crossed is not None or self.suspended:
            return
        ready = self._ready()
        valued = [pull for pull in ready if self.beyond[pull][2] is not None]
        arms = np.array([self.beyond[pull][0] for pull in valued], np.int64)
        checks = np.array([self.beyond[pull][1] and not self.serial for pull in valued], np.bool_)
        values = np.array([self.beyond[pull][2] for pull in valued], np.float64)
        at = decision.advance(arms, values, checks, self.params, self.evidence)
        taken = ready if at < 0 else ready[: ready.index(valued[at]) + 1]
        for pull in taken:
            del self.beyond[pull]
        self.first = max(self.first, *(pull + 1 for pull in taken)) if taken else self.first
        if at >= 0:
            self.crossed = self.findings()

    def _ready(self) -> list[int]:
        if self.settings.order == "arrival":
            return list(self.beyond)
        ready, pull = [], self.first
        while pull in self.beyond:
            ready.append(pull)
            pull += 1
        return ready

    def verdict(self) -> tuple[float, float]:
        """The rule's statistic and threshold on the evidence."""
        return rules.verdict(self.params, self.evidence)

    def findings(self, arm: int | None = None) -> Findings:
        """What the rule sees, as it is kept with a decision; means in the user's own units."""
        settings = self.settings
        pulls, mu = self.evidence[PULLS], self.evidence[MEANS]
        z, beta = self.verdict()
        if pulls.any():
            lower, upper = settings.stopping.intervals(pulls, mu, settings.delta)
            if settings.model.limits is not None:  # means within the bounds differ by two units at most
                lower, upper = np.clip(lower, -2.0, 2.0), np.clip(upper, -2.0, 2.0)
            leader = leading_arm(self.evidence)
        else:
            lower, upper, leader = np.full(mu.size, -np.inf), np.full(mu.size, np.inf), -1
        return Findings(
            arm=leader if arm is None else arm,
            pulls=tuple(int(n) for n in pulls),
            means=tuple(self.raw(m) if n else None for m, n in zip(mu.tolist(), pulls, strict=True)),
            statistic=z if math.isfinite(z) else None,
            threshold=beta if math.isfinite(beta) else None,
            lower=tuple((settings.model.unit * lower).tolist()),
            upper=tuple((settings.model.unit * upper).tolist()),
        )

    def enough(self) -> bool:
        """Whether the results so far would decide, if only the pulls before them were settled."""
        if not self.beyond or self.serial:
            return False
        z, beta = rules.verdict(self.params, self.steering)
        return z > beta

    @property
    def told(self) -> Array:
        """Values per arm, including those that wait."""
        told: Array = self.steering[PULLS]
        return told

    @property
    def readings(self) -> int:
        """How many versions of the data the rule was asked about: each spends the whole of delta."""
        return 1 + sum(self.counts["reread"])

    @property
    def suspended(self) -> bool:
        """Whether some value violated the bounds."""
        return bool(self.violated)

    def _signed(self, raw: float) -> float:
        """Larger is better."""
        return -raw if self.settings.minimize else raw

    def raw(self, mean: float) -> float:
        """A mean of the evidence in the user's own units."""
        return self._signed((self.offset or 0.0) + mean * self.settings.model.unit)

    # -- what to sample next ---------------------------------------------------------------------------

    @property
    def serial(self) -> bool:
        """Whether only one pull may be pending: a strategy that stops by itself must have seen everything."""
        return self.settings.strategy is not None and self.settings.strategy.stops_itself

    def choose(self) -> int | None:
        """The strategy's next action: an arm, or ~arm for a pull without a check; None to wait.

        Every arm is pulled once at first. Until each has a value, the arm with the fewest pulls is next.
        """
        strategy = self.settings.strategy
        if strategy is None or self.select is None:
            raise InvalidInputError(
                f"the experiment was created with a user's own strategy, {self.settings.strategy_name!r}; "
                f"pass it: Experiment.open(store, name, strategy=...)."
            )
        if self.serial and self.open:
            return None
        if self.chosen is None:
            self.chosen = self._initial()
        if self.chosen is None:
            alone = self.called and self.changed <= {self.last}
            last, seen = self.last if alone else -1, self.seen()
            leader, t = leading_arm(seen), float(self.asked.sum())
            given = (t, last, leader, seen, self.params.copy(), self.memory, self.random)
            with np.errstate(all="ignore"), raised_by(strategy):
                self.chosen = int(self.select(*given))
            self.called, self.changed = True, set()
            self._refuse_bad(strategy.name, self.chosen)
        return self.chosen if self.chosen < len(self.settings.arms) else None

    def seen(self) -> Array:
        """What the strategy sees: all results, and the pending pulls."""
        seen = self.steering.copy()
        seen[PULLS] = self.asked
        return seen

    def _initial(self) -> int | None:
        rarest = least_pulled(self.asked)
        return rarest if self.asked[rarest] == 0.0 or not self.told.all() else None

    def _ask_self_stopper(self) -> None:
        """Let a strategy that stops by itself say so as soon as it can."""
        if not self.serial or self.open or self.beyond or self.decision or self.crossed:
            return
        self.choose()
        if self.chosen is not None and self.chosen >= len(self.settings.arms):
            self.crossed = self.findings(arm_of(self.chosen, len(self.settings.arms)))

    def _refuse_bad(self, name: str, action: int) -> None:
        K = len(self.settings.arms)
        if K <= action < 2 * K and not self.serial:
            raise InvalidInputError(
                f"the strategy {name!r} returned a stop, which is allowed only with stops_itself=True, in "
                f"place of the stopping rule; set that, or return an arm."
            )
        if not -K <= action < 2 * K:
            raise InvalidInputError(
                f"the strategy {name!r} returned {action}; it must return an arm from 0 to {K - 1}, ~arm to "
                f"skip the check for stopping, or {K} + arm to stop if it has stops_itself=True."
            )

    def to_issue(self) -> list[int]:
        """Pulls that failed or lapsed, in the order of asking."""
        return sorted(pull for pull, item in self.open.items() if not item.out)

    def expired(self, now: float) -> list[int]:
        """Pulls that are pending for longer than their lease, or were asked when the clock was far ahead."""
        lease = self.settings.lease or 0.0
        farthest = now + lease + max(lease, CLOCK_STEP)
        return [
            pull
            for pull, item in self.open.items()
            if item.out and item.deadline is not None and not now < item.deadline <= farthest
        ]

    # -- snapshots -------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON can hold it; `from_dict` gives the same state, bit for bit."""
        return {
            "snapshot": SNAPSHOT,
            **{name: getattr(self, name) for name in _PLAIN},
            "decision": None if self.decision is None else self.decision.to_record(self.settings.arms),
            "open": [[pull, *item] for pull, item in self.open.items()],
            "violated": list(self.violated.items()),
            "outside": list(self.outside.items()),
            "asked": self.asked.tolist(),
            "memory": self.memory.tolist(),
            "steering": self.steering[_KEPT].tolist(),
            "random": self.random.tolist(),
            "changed": sorted(self.changed),
            "evidence": self.evidence[_KEPT].tolist(),
            "beyond": [[pull, *item] for pull, item in self.beyond.items()],
        }

    @classmethod
    def from_dict(cls, settings: Settings, data: dict[str, Any]) -> State:
        """The inverse of `to_dict`; KeyError or ValueError if it is no snapshot of ours."""
        if data["snapshot"] != SNAPSHOT:
            raise ValueError("a snapshot of another version")
        state = cls(settings)
        memory = np.array(data["memory"], np.float64).reshape(-1, len(settings.arms))
        if settings.strategy is not None and memory.shape != state.memory.shape:
            raise ValueError("a snapshot without the strategy's memory")
        state.asked, state.memory = np.array(data["asked"], np.float64), memory
        state.steering[_KEPT] = data["steering"]
        state.evidence[_KEPT] = data["evidence"]
        state.random = np.array(data["random"], np.uint64)
        state.open = {pull: Open(*rest) for pull, *rest in data["open"]}
        state.violated = dict(data["violated"])
        state.outside = dict(data["outside"])
        state.beyond = {pull: (arm, check, value) for pull, arm, check, value in data["beyond"]}
        state.changed = set(data["changed"])
        for name in _PLAIN:
            setattr(state, name, data[name])
        state.decision = None if data["decision"] is None else Findings.from_record(data["decision"])
        if state.offset is not None:
            state._set_offset(state.offset)
        state._centre()
        return state


def _pull(entry: Entry) -> int:
    assert entry.pull is not None
    return entry.pull


def _arm(entry: Entry) -> int:
    assert entry.arm is not None
    return entry.arm
