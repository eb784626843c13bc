"""What follows from the log of an experiment, without I/O: what to sample next, and the decision.

Here is what all designs share: the pulls that are out, values outside the bounds, what was counted, the
decision. What the values say and what comes next depends on the design: `independent` for independent pulls,
`rounds` for rounds on common items.

`apply` takes in one line of the log, `replay` many. A state is a function of the lines alone: every process
that reads the same log has the same state, and would choose the same arm next.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, ClassVar, Self

from ..errors import DamagedLogError, StoreError, TruebestError
from ..telling.standings import Population
from .events import KINDS, TOLD, Entry
from .findings import Findings
from .forecast import Forecast
from .leases import Open
from .settings import Settings
from .stretches import NOTHING, Plain

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
_WRONG = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)


class State(ABC):
    """What follows from a log, in any design. `seq` is the last line of the log that it contains.

    of_the_log  what `to_dict` gives that follows from the log alone, whoever reads it

    chooses  whether it keeps what the strategy remembers, so that it can choose; where only the decision is
            of interest, leaving that out saves most of the time (a strategy that stops by itself is needed
            for the decision)
    recall  reads the log again up to a line: some rules start over when a value is taken back
    """

    of_the_log: ClassVar[tuple[str, ...]] = ()
    partial = False  # the evidence ends among values that are judged only when all of them are in

    def __init__(self, settings: Settings, *, chooses: bool = True, recall: Recall | None = None) -> None:
        self.settings, self.recall = settings, recall
        self.fresh: tuple[Entry, ...] = ()  # lines that are not in the log yet
        self.chooses = chooses or self.serial
        self.seq, self.mark, self.head = 0, 0.0, ""  # the last line that it contains, its time and chain
        self.next_pull = 1
        self.open: dict[int, Open] = {}
        self.violated: dict[int, float] = {}
        self.refuted: tuple[float | None, ...] | None = None  # the deviations that refuted sigma, for good
        self.outside: dict[int, int] = {}  # pulls with a late value outside the bounds, and their arms
        # outcome
        self.due: Findings | None = None  # a decision that is not in the log yet
        self.decision: Findings | None = None
        self.stopped: str | None = None  # why it was ended by hand
        self.counts = {name: [0] * len(settings.arms) for name in COUNTS}

    # -- the log ---------------------------------------------------------------------------------------

    def apply(self, entry: Entry) -> None:
        """Take in the next line of the log."""
        self._take(entry)
        if entry.kind == TOLD:
            self._judge_new()

    def replay(self, entries: Iterable[Entry]) -> None:
        """Take in many lines."""
        for entry in entries:
            self.apply(entry)

    def take_plain(self, entries: Sequence[Entry]) -> Plain:  # noqa: ARG002
        """Take in the lines of a log up to one that is not plain (`stretches`)."""
        return NOTHING

    def copy(self) -> Self:
        """The same state, which may go its own way."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)  # dicts are copied, all else is replaced, not changed
        twin.open, twin.violated, twin.outside = self.open.copy(), self.violated.copy(), self.outside.copy()
        return twin

    def _take(self, entry: Entry) -> None:
        if entry.kind not in KINDS:
            raise StoreError(
                f"line {entry.seq} of the log is of a kind {entry.kind!r} that this truebest does not know; "
                f"upgrade with `pip install --upgrade truebest`"
            )
        try:
            getattr(self, f"_{entry.kind}")(entry)
        except _WRONG as error:
            if not entry.seq or isinstance(error, TruebestError):  # not from the log, or a refusal
                raise
            problem = f"it does not follow from the lines before it ({type(error).__name__}: {error})"
            raise DamagedLogError(entry.seq, problem) from error
        if entry.seq:
            self.seq, self.mark, self.head = entry.seq, entry.time, entry.chain
        else:
            self.fresh = (*self.fresh, entry)

    def _created(self, entry: Entry) -> None:  # noqa: B027 - for the settings the state was made
        pass

    def _asked(self, entry: Entry) -> None:
        pull, arm, data = _pull(entry), _arm(entry), entry.data or {}
        again = self.open.get(pull)
        if again is not None:
            again = again._replace(deadline=data.get("deadline"), worker=data.get("worker"))
            self.open[pull] = again._replace(out=True)
            self._count("retried", arm)
            return
        if pull != self.next_pull:
            raise DamagedLogError(entry.seq, f"it asks for pull {pull} where {self.next_pull} is next")
        if data.get("observed"):
            self._count("observed", arm)
        self._begin(pull, arm, data)
        held = data.get("deadline"), True, data.get("worker"), data.get("together", False)
        self.open[pull] = Open(arm, data.get("check", True), *held)
        self.next_pull = pull + 1

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
        held = pull not in self.open and self._is_used(pull) and was != entry.value
        self._count("corrected" if pull in self.violated else "reread" if held else "retracted", arm)
        self.violated.pop(pull, None)
        self.outside.pop(pull, None)
        waiting = self.open.pop(pull, None)
        if waiting is not None:
            self._settle(pull, waiting, entry.value)
        else:
            self._change(entry, was)
        self._judge_changed()

    def _decided(self, entry: Entry) -> None:
        self.decision, self.due = Findings.from_record(entry.data or {}), None

    def _reopened(self, entry: Entry) -> None:  # noqa: ARG002
        self.decision = None
        self._judge()

    def _stopped(self, entry: Entry) -> None:
        self.stopped, self.due = str((entry.data or {})["reason"]), None

    @property
    def readings(self) -> int:
        """How many versions of the data the rule was asked about: each spends the whole of delta."""
        return 1 + sum(self.counts["reread"])

    @property
    def over(self) -> bool:
        """Whether it is decided, or was stopped: then nothing is asked, and no result counts any more."""
        return self.decision is not None or self.stopped is not None

    @property
    def suspended(self) -> bool:
        """Whether some value violated the bounds, or the values have refuted sigma."""
        return bool(self.violated) or self.refuted is not None

    # -- what depends on the design ---------------------------------------------------------------------

    @property
    def serial(self) -> bool:
        """Whether only one pull may be pending."""
        return False

    @property
    def used_up(self) -> bool:
        """Whether there is nothing left to ask for."""
        return False

    def place(self, pull: int) -> tuple[int | None, int | None, int | None]:  # noqa: ARG002
        """The round of a pull that is out, its item, and which answer to it; None where there are none."""
        return None, None, None

    def is_within_reach(self, number: int | None) -> bool:
        """Whether a pull of that round can have been asked for by now; None where there are no rounds."""
        return number is None

    @property
    @abstractmethod
    def waiting(self) -> int:
        """Results that wait for an earlier pull to be settled before they count."""

    @property
    @abstractmethod
    def eliminates(self) -> bool:
        """Whether arms are ruled out one by one."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers a snapshot holds, about."""

    @abstractmethod
    def next(self) -> tuple[int, dict[str, Any]] | None:
        """The arm to ask for next, and what the log is to say of the pull; None to wait."""

    @abstractmethod
    def enough(self) -> bool:
        """Whether the results so far would decide, if only the pulls before them were settled."""

    @abstractmethod
    def is_out(self, arm: int) -> bool:
        """Whether the rule has ruled an arm out: it is neither sampled nor waited for any more."""

    @abstractmethod
    def standing(self) -> tuple[int, int]:
        """The arm that leads, -1 for none, and how many results the rule has seen."""

    @property
    def labels(self) -> Sequence[float]:
        """What would be answered now, per arm, if a question is asked; empty before anything can be said."""
        return ()

    @abstractmethod
    def findings(self, arm: int | None = None) -> Findings:
        """What the rule sees; the arm is the leader if none is given."""

    @abstractmethod
    def expected(self) -> Forecast:
        """How many more samples the decision needs if values go on as they did so far."""

    def uniform_samples(self) -> int | None:
        """How many samples uniform sampling would take in total; None where that cannot be said."""
        return None

    def population(self, arm: int) -> Population | None:  # noqa: ARG002
        """What holds for items like these, of an arm against each other one; None if that is not asked."""
        return None

    @abstractmethod
    def leads(self, arm: int) -> tuple[list[float], list[float]]:
        """Between which ends an arm is better than each of the others, in the values' units."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """What the design keeps, as JSON can hold it."""

    @abstractmethod
    def restore(self, data: dict[str, Any]) -> None:
        """What `to_dict` gave, bit for bit."""

    @abstractmethod
    def _begin(self, pull: int, arm: int, data: dict[str, Any]) -> None:
        """A pull is issued for the first time."""

    @abstractmethod
    def _settle(self, pull: int, opened: Open, raw: float | None) -> None:
        """A pull has its value, or is void for good (None)."""

    @abstractmethod
    def _is_used(self, pull: int) -> bool:
        """Whether the decision could already use a settled pull."""

    @abstractmethod
    def _change(self, entry: Entry, was: float | None) -> None:
        """The value of a settled pull changes."""

    @abstractmethod
    def _judge(self) -> None:
        """Ask the rule about the evidence as it is, then about what waits behind it."""

    @abstractmethod
    def _judge_new(self) -> None:
        """Ask the rule about what was told."""

    def _judge_changed(self) -> None:
        """Ask the rule again after a retraction, unless it is over: that falls with a line of its own."""
        if not self.over:
            self._judge()

    # -- pulls that are out ----------------------------------------------------------------------------

    def to_issue(self) -> list[int]:
        """Pulls that failed or lapsed, in the order of asking."""
        return sorted(pull for pull, item in self.open.items() if not (item.out or self.is_out(item.arm)))

    @property
    def awaited(self) -> int | None:
        """The pull that results, or a strategy that stops by itself, wait for; None if there is none."""
        waited = (self.waiting > 0 and self.settings.order == "ask") or self.serial
        waiting = [pull for pull, item in self.open.items() if not self.is_out(item.arm)]
        return min(waiting) if waited and waiting and not self.over else None

    @property
    def waits(self) -> bool:
        """Whether some pull may still bring evidence."""
        return any(not self.is_out(item.arm) for item in self.open.values())


def new_state(settings: Settings, *, chooses: bool = True, recall: Recall | None = None) -> State:
    """The state before the first line of a log, as the design has it; see `State` for the arguments."""
    module, name = settings.design.place
    kind: type[State] = getattr(import_module(f".{module}", __package__), name)
    return kind(settings, chooses=chooses, recall=recall)


def _pull(entry: Entry) -> int:
    assert entry.pull is not None
    return entry.pull


def _arm(entry: Entry) -> int:
    assert entry.arm is not None
    return entry.arm
