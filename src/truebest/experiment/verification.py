"""Is a stored experiment what was written, and does its decision follow from it?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import DamagedLogError, StoreError
from ..strategies import Strategy
from ..telling.words import decided
from .admission import Order
from .events import CREATED, DECIDED, STOPPED, Entry
from .findings import like_decision
from .reading import stored_chunks, stored_lines
from .settings import read_settings
from .snapshots import agree, as_dict, is_whole, unpacked
from .state import Recall, State, new_state
from .store._base import Store
from .stretches import replay

_DAMAGED = "the snapshot is damaged, and will not be used"
_OF_THE_LOG = (
    "head",
    "open",
    "violated",
    "refuted",
    "decision",
    "counts",
    "stopped",
    "next_pull",
)


@dataclass(frozen=True)
class Verification:
    """What a replay of the whole log found.

    lines      how many lines the log should have
    intact     how many of them, from the first on, are what was written and follow from each other
    unhashed   how many of these were written by version 0.1, which kept no hashes
    head       the hash of the last line, which stands for the whole log
    decision   what the log declares: the best arm, "no winner", or which arms passed and which failed; None
               for nothing
    follows    whether each decision in the log is the one that the lines before it lead to, and none is
               missing; None if that cannot be told
    problem    what is wrong, or ""; the log up to line `intact` is not concerned
    snapshot   what is wrong with the snapshot, or ""; it is a cache, and was not used here
    """

    name: str
    lines: int
    intact: int
    unhashed: int
    head: str
    decision: str | None
    follows: bool | None
    problem: str
    snapshot: str

    @property
    def sound(self) -> bool:
        """Whether everything that is stored is intact, and every decision follows."""
        return not self.problem and not self.snapshot and self.follows is not False

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"sound": self.sound, **asdict(self)}

    def __str__(self) -> str:
        text = f"{self.intact} of {self.lines} lines are intact"
        if self.unhashed:
            text += f", {self.unhashed} of them without a hash (written by version 0.1)"
        if self.decision is not None and self.follows is not None:
            verb = "follows" if self.follows else "does not follow"
            text += f"; the decision for {self.decision} {verb} from them"
        elif self.decision is not None:
            text += f"; the decision for {self.decision} cannot be checked"
        return "; ".join(part for part in (text, self.problem, self.snapshot) if part)


def verify(store: Store, name: str, strategy: Strategy | None = None) -> Verification:
    """Replay a log from its first line, trusting nothing but its lines.

    strategy  the user's own, if the experiment has one; a decision of one that stops by itself needs it
    Raises    InvalidInputError if there is no such experiment, StoreError if the store cannot be read at all
    """
    with store.reading(name) as log:
        lines, head = log.last, log.head
    audit = _Audit(strategy, lambda until: stored_lines(store, name, 0, until))
    problem = store.problem()
    try:
        with store.reading(name) as log:
            audit.saved = log.snapshot()
        for chunk in _intact_chunks(store, name, lines):
            audit.take(chunk)
        if audit.saved is not None and audit.saved[0] not in range(lines + 1):
            audit.snapshot = _DAMAGED  # of a line that the log does not have
    except DamagedLogError as error:
        problem = problem or f"line {error.line} is not intact: {error.problem}"
    except StoreError as error:
        problem = problem or str(error)
    return Verification(
        name,
        lines,
        audit.intact,
        audit.unhashed,
        head,
        audit.decision,
        audit.follows,
        problem,
        audit.snapshot,
    )


def _intact_chunks(store: Store, name: str, lines: int) -> Iterator[list[Entry]]:
    """The log in chunks, up to the first damaged line, which is then raised."""
    after = 0
    try:
        for chunk in stored_chunks(store, name, 0, lines, "verifying the log"):
            yield chunk
            after = chunk[-1].seq
    except DamagedLogError as error:
        if error.line - 1 > after:
            yield from stored_chunks(store, name, after, error.line - 1)
        raise


class _Audit:
    """A replay that looks at every decision, and at the snapshot when its line is reached."""

    def __init__(self, strategy: Strategy | None, recall: Recall) -> None:
        self.strategy, self.recall = strategy, recall
        self.state: State | None = None
        self._order: Order | None = None
        self.saved: tuple[int, str] | None = None
        self.intact = self.unhashed = 0
        self.snapshot = ""
        self._follows: bool | None = True

    @property
    def decision(self) -> str | None:
        """What the lines so far declare."""
        if self.state is None or self.state.decision is None:
            return None
        found, settings = self.state.decision, self.state.settings
        if found.arm >= 0:
            return settings.arms[found.arm]
        return decided(found.to_record(settings.arms, settings.question))

    @property
    def follows(self) -> bool | None:
        """Whether every decision so far follows, and none is missing."""
        missing = self.state is not None and self.state.due is not None
        missing = missing or (self._order is not None and self._order.reopens)
        return False if missing else self._follows

    def take(self, entries: list[Entry]) -> None:
        """The next lines; the rule is asked at once about those up to a line that says where it stands."""
        begin = 0
        for i, entry in enumerate(entries):
            if entry.kind in (DECIDED, STOPPED):
                self._replay(entries[begin:i])
                begin = i
            if entry.kind == DECIDED:
                self._decided(entry)
            if self.saved is not None and entry.seq == self.saved[0]:
                self._replay(entries[begin : i + 1])
                begin = i + 1
                self._look_at_snapshot(self.saved[1])
                self.saved = None
        self._replay(entries[begin:])

    def _replay(self, entries: list[Entry]) -> None:
        for entry in entries[:1]:
            if self.state is None:
                self._begin(entry)
            elif self.state.due is not None and entry.kind != DECIDED:
                self._follows = False  # the rule has decided, and the log does not say so
        try:
            assert self.state is not None or not entries
            if self.state is not None:
                assert self._order is not None
                replay(self.state, entries, self._order)
        finally:
            seen = 0 if self._order is None else self._order.seq
            self.unhashed += sum(not entry.chain for entry in entries if entry.seq <= seen)
            self.intact = max(self.intact, seen)

    def _begin(self, entry: Entry) -> None:
        if entry.kind != CREATED:
            raise DamagedLogError(entry.seq, f"a log begins with {CREATED!r}, not with {entry.kind!r}")
        settings = read_settings(entry.data or {}, self.strategy)
        self.state = new_state(settings, chooses=False, recall=self.recall)
        self._order = Order(self.state)
        if settings.strategy is None and settings.strategy_record.get("stops_itself"):
            self._follows = None

    def _decided(self, entry: Entry) -> None:
        assert self.state is not None
        if self._follows is not None and not like_decision(
            self.state.due, entry.data, self.state.settings.values.unit
        ):
            self._follows = False

    def _look_at_snapshot(self, text: str) -> None:
        assert self.state is not None
        if not is_whole(text):
            self.snapshot = _DAMAGED
            return
        if self.state.settings.chosen.missing:
            return  # without the strategy it cannot be read
        try:
            saved = as_dict(unpacked(self.state.settings, text))
        except (KeyError, ValueError) as error:
            if "another version" not in str(error):
                self.snapshot = _DAMAGED
            return
        own = as_dict(self.state)
        if not all(agree(saved[key], own[key]) for key in (*_OF_THE_LOG, *self.state.of_the_log)):
            self.snapshot = "the snapshot is not what the log leads to"
