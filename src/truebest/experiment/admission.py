"""Which settings and lines a log can have: those that `Experiment` writes, and no others.

A log may come from a file that was edited, or from a store that was written by other means. What is read of
it passes the checks that it passed when it was made.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..errors import DamagedLogError, InvalidInputError, TruebestError
from ..theory.models import Model
from . import events
from .choices import IN_ROUNDS
from .events import Entry
from .findings import Findings, verdicts_record
from .names import check_name
from .settings import DECLARED, Given, Request, Settings, read_settings
from .state import State
from .stretches import Plain
from .values import check_reason, check_value

_ODD = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_ELSEWHERE = ("decisions", "alarm", "strategy", "stopping")  # settings that are not compared as records


def admitted(record: dict[str, Any]) -> Settings:
    """The settings of a stored experiment, if a new one could be created with them.

    Raises  InvalidInputError, StoreError
    """
    try:
        settings = read_settings(record)
        known = () if settings.known is None else settings.known.arms
        asked = [arm for arm in settings.arms if arm not in known]
        again = Request.of(asked, settings.delta, **_as_given(settings)).complete()
        _check_rest(record, settings, again)
        stored, own = again.to_record(), settings.to_record()
    except TruebestError:
        raise
    except _ODD as error:
        raise InvalidInputError(f"they cannot be read ({type(error).__name__}: {error})") from error
    for key in stored:
        if key not in _ELSEWHERE and json.dumps(stored[key]) != json.dumps(own[key]):
            raise InvalidInputError(f"{key} is {own[key]!r:.100}, which would be {stored[key]!r:.100}")
    return settings


def _as_given(settings: Settings) -> dict[str, Any]:
    """Settings as arguments; the strategy and the rule follow from the rest, or are checked by themselves."""
    names = Given.__annotations__.keys() & DECLARED.keys() - {"stopping"}
    about = settings.about
    return {
        **{name: getattr(settings, name) for name in names},
        "model": settings.values if isinstance(settings.values, Model) else None,
        "about": None if about is None else dict(zip(settings.arms, about, strict=True)),
    }


def _check_rest(record: dict[str, Any], settings: Settings, again: Settings) -> None:
    """Check what is not compared as a record."""
    chosen, rule, items = settings.chosen, settings.stopping, settings.items
    flags = [chosen.record.get("stops_itself", False), chosen.record.get("open_only", False), settings.alarm]
    if type(record["decisions"]) is not int or not all(type(flag) is bool for flag in flags):
        raise InvalidInputError("decisions must be a whole number, and what is on or off a boolean")
    if "custom" in chosen.record:
        check_name("the name of a strategy", chosen.record["custom"])
    if items is not None and not (type(items.size) in (int, type(None)) and isinstance(items.digest, str)):
        raise InvalidInputError(f"items must be a number of items and a hash, got {tuple(items)!r:.100}")
    if again.design.steered == (chosen == IN_ROUNDS):
        raise InvalidInputError("independent pulls have a strategy, and rounds have one of their own")
    if rule is not None:
        rule.model_for(settings.model)


class Order:
    """Checks line after line whether it can follow those before it, which the state contains.

    seq      the last line that was found to be right
    reopens  whether the next line must reopen the experiment
    """

    def __init__(self, state: State) -> None:
        self._state, self._settings = state, state.settings
        self._arms: list[int] = []  # of the pulls, in their order
        self._values: dict[int, float | None] = {}  # of the pulls that have one
        self.seq, self.reopens = 0, False
        self._checks: dict[str, Callable[[Entry], str]] = {
            kind: getattr(self, f"_{kind}") for kind in events.KINDS
        }

    def checked(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The lines, each to be taken in before the next is asked for.

        Raises  DamagedLogError
        """
        for entry in entries:
            check = self._checks.get(entry.kind)  # the state refuses a kind that it does not know
            try:
                problem = check(entry) if check else ""
                problem = problem or self._values_problem(entry)
            except InvalidInputError as error:
                problem = str(error)
            except _ODD as error:
                problem = f"it cannot be read ({type(error).__name__}: {error})"
            if self.reopens and entry.kind != events.REOPENED:
                problem = (
                    problem or "a value was taken back after the decision, and this line does not reopen it"
                )
            if problem:
                raise DamagedLogError(entry.seq, problem)
            new = self._note(entry)
            yield entry
            if new and not self._is_placed(entry):
                raise DamagedLogError(entry.seq, "it is of a round, or of an item, that does not exist")
            self.seq = entry.seq

    def note_plain(self, plain: Plain) -> None:
        """Remember plain lines that the state has taken in (`stretches`): they can follow each other."""
        self._arms += plain.asked
        self._values.update((pull, value) for pull, _, value in plain.told)
        self.seq = self._state.seq

    def _note(self, entry: Entry) -> bool:
        """Remember what later lines are compared with; whether it asks for a new pull."""
        pull, arm = entry.pull, entry.arm
        new = entry.kind == events.ASKED and pull == len(self._arms) + 1
        if new:
            assert arm is not None
            self._arms.append(arm)
        elif entry.kind in (events.TOLD, events.VIOLATED, events.RETRACTED) and pull is not None:
            self._values[pull] = entry.value
        decided = self._state.decision is not None
        self.reopens = decided and entry.kind == events.RETRACTED
        return new

    def _is_placed(self, entry: Entry) -> bool:
        """Whether a new pull is of the round and of the item that its line says."""
        data = entry.data or {}
        try:
            number, item, epoch = self._state.place(entry.pull or 0)
        except LookupError:  # of a round that is over
            return False
        said = data.get("round"), data.get("item"), data.get("epoch")
        return (number, item, epoch) == said and self._state.is_within_reach(number)

    def _values_problem(self, entry: Entry) -> str:
        """Why a line has a value, a pull or an arm that its kind does not have."""
        valued = (events.TOLD, events.VIOLATED, events.LATE, events.RETRACTED)
        if entry.value is not None and entry.kind not in valued:
            return "it has a value"
        alone = (events.CREATED, events.REOPENED, events.STOPPED)
        return "it is of no pull" if entry.kind in alone and (entry.pull, entry.arm) != (None, None) else ""

    # -- one kind each; "" or what is wrong ----------------------------------------------------------

    def _created(self, entry: Entry) -> str:
        return "" if entry.seq == 1 else "a log is created once"

    def _asked(self, entry: Entry) -> str:
        data, pull = entry.data or {}, entry.pull
        observed = data.get("observed", False)
        waiting = self._state.open.get(pull or 0)
        if pull is None or entry.arm is None or not 0 <= entry.arm < len(self._settings.arms):
            return "it asks for a pull without its number or arm"
        if waiting is not None and (waiting.out or waiting.arm != entry.arm):
            return f"it asks again for pull {pull}, which is out, or of another arm"
        if self._state.over and not observed:
            return "it asks for a pull after the end"
        if self._state.violated and not observed:
            return "it asks for a pull while the experiment is suspended"
        if observed is not False and (observed is not True or self._settings.design.only_asked):
            return "it observes a value, which is not of its rounds"
        if any(type(data.get(key, True)) is not bool for key in ("check", "together")):
            return "its check, or its together, is not a boolean"
        if not _is_number(data.get("deadline")):
            return "its deadline is not a number"
        if "together" in data and not observed:
            return "it is one of several values from before, and is not observed"
        if data.get("worker") is not None:
            check_name("the name of a worker", data["worker"])
        return ""

    def _told(self, entry: Entry) -> str:
        if not self._is_open(entry):
            return f"it tells a value of pull {entry.pull}, which was not waited for"
        assert entry.value is not None
        check_value(entry.value, self._settings)
        if not self._settings.allows(entry.value):
            return f"its value, {entry.value:g}, is not {self._settings.values.demand}"
        return ""

    def _violated(self, entry: Entry) -> str:
        if not self._is_open(entry) or self._state.over:
            return f"it tells a value of pull {entry.pull}, which was not waited for"
        assert entry.value is not None
        check_value(entry.value, self._settings)
        return f"its value, {entry.value:g}, is as assumed" if self._settings.allows(entry.value) else ""

    def _failed(self, entry: Entry) -> str:
        check_reason((entry.data or {})["reason"])
        return "" if self._is_open(entry) else f"pull {entry.pull} fails, which was not waited for"

    def _lapsed(self, entry: Entry) -> str:
        is_out = self._is_open(entry) and self._state.open[entry.pull or 0].out
        return "" if is_out else f"pull {entry.pull} lapses, which was not out"

    def _late(self, entry: Entry) -> str:
        wrong = self._wrong_pull(entry)
        if wrong:
            return wrong
        if entry.value is None:
            check_reason((entry.data or {})["reason"])
        else:
            check_value(entry.value, self._settings)
        after = entry.value is not None and self._state.over and not self._settings.allows(entry.value)
        return f"pull {entry.pull} was waited for" if self._is_open(entry) and not after else ""

    def _retracted(self, entry: Entry) -> str:
        wrong, data = self._wrong_pull(entry), entry.data or {}
        if wrong:
            return wrong
        check_reason(data["reason"])
        if entry.value is not None:
            check_value(entry.value, self._settings)
            if not self._settings.allows(entry.value):
                return f"its value, {entry.value:g}, is not {self._settings.values.demand}"
        was, present = data.get("was"), self._values.get(entry.pull or 0)
        lost = was is None and present is not None and math.isinf(present)  # an export has no infinite number
        return "" if was == present or lost else f"it takes back {was!r:.40}, where {present!r:.40} was told"

    def _decided(self, entry: Entry) -> str:
        found, K = Findings.from_record(entry.data or {}), len(self._settings.arms)
        best = self._settings.arms[found.arm] if 0 <= found.arm < K else None
        if self._state.over or (entry.data or {})["best"] != best:
            return "it decides after the end, or for another arm than it says"
        if entry.pull is not None or entry.arm != (found.arm if found.arm >= 0 else None):
            return "it decides for another arm than it says"
        said = verdicts_record(found.labels, self._settings.arms, self._settings.question)
        if any((entry.data or {}).get(name) != arms for name, arms in said.items()):
            return "it decides for other arms than it says"
        columns = (found.pulls, found.means, found.lower, found.upper, found.deviations)
        if any(len(column) != K or not all(map(_is_number, column)) for column in columns):
            return "what it says of the arms is not a number for each"
        alone = (
            found.statistic,
            found.threshold,
            found.rounds,
            *found.tied,
            *found.beaten,
            *found.ruled_out,
            *found.labels,
        )
        pairs = (number for pair in found.wins for number in pair)
        return "" if all(map(_is_number, (*alone, *pairs))) else "what it says is not in numbers"

    def _reopened(self, entry: Entry) -> str:  # noqa: ARG002
        return "" if self.reopens else "it reopens what was not decided, or without a value taken back"

    def _stopped(self, entry: Entry) -> str:
        data = entry.data or {}
        check_reason(data["reason"])
        if self._state.over:
            return "it stops what is over"
        if not _is_number(data.get("shortfall")):
            return "it stops with a shortfall that is not a number"
        found = self._state.findings()
        leader = self._settings.arms[found.arm] if found.arm >= 0 else None
        if (data.get("leader"), data.get("samples")) != (leader, found.samples):
            return "it stops with another leader, or after other samples, than the lines before it give"
        return ""

    def _is_open(self, entry: Entry) -> bool:
        """Whether its pull, of its arm, is waited for."""
        waiting = self._state.open.get(entry.pull or 0)
        return waiting is not None and waiting.arm == entry.arm and entry.pull not in self._state.violated

    def _wrong_pull(self, entry: Entry) -> str:
        pull = entry.pull or 0
        if not 1 <= pull <= len(self._arms):
            return f"it is of pull {entry.pull}, which was not asked for before"
        return "" if self._arms[pull - 1] == entry.arm else f"pull {pull} was of another arm"


def _is_number(given: Any) -> bool:
    """Whether it is a number, or None."""
    return given is None or (type(given) in (int, float) and not math.isnan(given))
