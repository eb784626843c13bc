"""What people see of an experiment: where it stands, how long it will take, what it found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from .control import against_control
from .findings import Findings, RuledOut
from .leases import Hold
from .means import mean_intervals
from .promise import VOIDS, Caveat, assumption, caveats, confidence, promise, refutation
from .state import State
from .tables import arm_table, as_frame, as_html, as_markdown

Interval = tuple[float, float]


@dataclass(frozen=True)
class Status:
    """Where an experiment stands; everything is about the results that the decision may use so far.

    decision     the arm that was found to be the best; None until the rule decides, and if no arm is
    leader       the arm that looks best so far: a guess, not a decision; None before the first result
    samples      how many results the decision is or will be based on
    pulls        the same per arm
    means        per arm, None without pulls
    intervals    by how much the leader is better than each other arm, in the values' units: `ends` says how
                 sure that is. But for arms that are ruled out, the rule decides exactly when all of them are
                 above 0, or under a tolerance above its negative
    statistic, threshold   the rule decides when the first exceeds the second; None while an arm has no pulls
                 (racing decides by itself, arm by arm)
    pending      pulls per arm without a value yet; they never count in the decision
    waiting      results that wait for an earlier pull to be settled before they count
    suspended    why nothing more is asked, or ""
    control      the arm that the others are compared with, if one was given
    against_control  by how much each other arm is better than the control, in the values' units; all lower
                 ends hold at once, at all times, with probability 1 - promise, and so do all upper ends: of
                 their own, apart from the decision
    better_than_control  the arms that are better than the control, in the same sense; None if nothing is
                 proven, or without a control
    waits_for    the pull that results wait for, and who has it; `hold` says what to do; None if there is none
    stopped      why it was ended by hand, undecided and for good; None if it was not
    promise      what is proven: the decision is, or would be, wrong with at most this probability; None if
                 nothing is, and `caveats` say why
    assumes      the promise in words, with the assumption under which it holds; without a percentage if
                 there is none
    shortfall    how far below the best the leader can be, in the values' units: at most this, with the
                 probability of the promise; at most the tolerance after a decision, None if nothing is proven
    in_the_race  the arms that may still be the best, in the same sense; None if nothing is proven
    ruled_out    the arms that are no longer sampled, since they are not the best: after how many samples.
                 All of that holds with the decision
    tolerance    how far below the best the decision may be
    mean_intervals  between which numbers each mean lies: all of them hold at once, at all times, with
                 probability at least 1 - delta; None without pulls, and for models without a scale; {} if
                 nothing is proven
    deviations   the observed standard deviation of each arm's values, in their own units; None below two
                 values, and after a decision that version 0.1 stored
    rounds       where arms are compared in rounds on common items, how many the decision may use so far
    items        then how many items there are, None for an unlimited source
    tied         then, with all items used up, the arms that are equally good, all of them best; else empty
    compare      "means", or "wins" where only who was better in each round counts. Then the best arm is one
                 that wins against each other arm in more than half of the rounds that are not ties; intervals
                 and the shortfall are differences of the probabilities to win and to lose a round; a
                 tolerance is a part of the best value; means and deviations are those of finite values
    wins         with wins, how often the leader has won and lost against each other arm
    no_winner    whether it was found that no arm wins against all others; only with direct=True
    beaten       then, and before that: arm -> an arm that was found to win against it. That a beaten arm is
                 no winner is promised with the decision; by whom it is beaten, for each arm by itself
    failures     how many pulls of each arm gave no value, each time counted
    caveats      what voids the promise, weakens it, or should be known: pairs of a code and a sentence, each
                 with its `effect`; docs/guides/live.md lists the codes
    """

    name: str
    arms: tuple[str, ...]
    decision: str | None
    leader: str | None
    samples: int
    pulls: dict[str, int]
    means: dict[str, float | None]
    intervals: dict[str, Interval]
    statistic: float | None
    threshold: float | None
    delta: float
    strategy: str
    stopping: str
    minimize: bool
    pending: dict[str, int]
    waiting: int
    suspended: str
    promise: float | None
    assumes: str
    caveats: tuple[Caveat, ...]
    shortfall: float | None = None
    in_the_race: tuple[str, ...] | None = None
    tolerance: float = 0.0
    ruled_out: dict[str, RuledOut] = field(default_factory=dict)
    deviations: dict[str, float | None] = field(default_factory=dict)
    rounds: int | None = None
    items: int | None = None
    tied: tuple[str, ...] = ()
    stopped: str | None = None
    waits_for: Hold | None = None
    control: str | None = None
    against_control: dict[str, Interval] = field(default_factory=dict)
    better_than_control: tuple[str, ...] | None = None
    mean_intervals: dict[str, Interval | None] = field(default_factory=dict)
    compare: str = "means"
    wins: dict[str, tuple[int, int]] = field(default_factory=dict)
    no_winner: bool = False
    beaten: dict[str, str] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)

    @property
    def decided(self) -> bool:
        """Whether it is found which arm is best, or that none is."""
        return self.decision is not None or self.no_winner

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON can hold them; an infinite end of an interval is None."""
        out = {each.name: getattr(self, each.name) for each in fields(self)}
        out["arms"], out["tied"] = list(self.arms), list(self.tied)
        out["in_the_race"] = None if self.in_the_race is None else list(self.in_the_race)
        out["ruled_out"] = {arm: one._asdict() for arm, one in self.ruled_out.items()}
        out["waits_for"] = None if self.waits_for is None else self.waits_for._asdict()
        out["caveats"] = [{"code": c.code, "effect": c.effect, "sentence": c.sentence} for c in self.caveats]
        better = self.better_than_control
        out["better_than_control"] = None if better is None else list(better)
        for name in ("intervals", "against_control"):
            out[name] = {
                arm: [x if math.isfinite(x) else None for x in ends] for arm, ends in out[name].items()
            }
        return out

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Status:
        """The inverse, also of what JSON makes of it; keys that it does not know are left out."""
        given = {each.name: record[each.name] for each in fields(cls) if each.name in record}
        for name in ("arms", "tied", "in_the_race", "better_than_control"):
            given[name] = None if given.get(name) is None else tuple(given[name])
        for name in ("intervals", "against_control", "mean_intervals"):
            given[name] = {arm: ends and _interval(*ends) for arm, ends in given.get(name, {}).items()}
        given["wins"] = {arm: tuple(counts) for arm, counts in given.get("wins", {}).items()}
        given["ruled_out"] = {arm: RuledOut(one["samples"]) for arm, one in given["ruled_out"].items()}
        if given["waits_for"] is not None:
            given["waits_for"] = Hold(**given["waits_for"])
        given["caveats"] = tuple(Caveat(one["code"], one["sentence"]) for one in given["caveats"])
        return cls(**given)

    def notes(self, beside_promise: bool) -> list[str]:
        """The caveats in words; beside `assumes`, without those that it already gives as its reasons."""
        return [c.sentence for c in self.caveats if not (beside_promise and c.effect == VOIDS)]

    def __str__(self) -> str:
        return self.sentence

    def table(self, means: bool = False) -> tuple[list[str], list[list[str]]]:
        """Header and rows for a person: the leader first, then the others by mean.

        means  whether to show the intervals of the means, too
        """
        return arm_table(self, means)

    def to_markdown(self) -> str:
        """The sentence and the table, as Markdown."""
        return as_markdown(self, self.sentence)

    def to_frame(self) -> Any:
        """A pandas DataFrame, one row per arm; needs pandas."""
        return as_frame(self)

    def _repr_html_(self) -> str:
        return as_html(self, self.sentence)

    @property
    def sentence(self) -> str:
        """Where the experiment stands, in one sentence; with the failures."""
        return "; ".join([self._standing, *(c.sentence for c in self.caveats if c.code == "failed")])

    @property
    def _standing(self) -> str:
        if self.no_winner:
            return f"there is no winner: each arm loses to another one; {self.assumes}; {self.spent}"
        if self.decision is not None:
            return f"{self.decision} {self.verdict}; {self.assumes}; {self.spent}"
        if self.suspended and self.stopped is None:
            return f"suspended: {self.suspended}"
        if self.leader is None and not self.waiting and self.stopped is None:
            return "no result yet"
        if self.leader is None and self.stopped is None:
            return f"no result counts yet: {plural(self.waiting, 'result')} waiting for an earlier pull"
        state = "undecided" if self.stopped is None else f"stopped ({self.stopped}), undecided"
        near = f" and is {self.at_most}" if self.at_most else ""
        guess = "" if self.leader is None else f"; {self.leader} leads{near}"
        waits = self.waiting and self.stopped is None
        hole = f"; {self.waiting} more waiting for an earlier pull" if waits else ""
        return f"{state} after {self.spent}{guess}{hole}"

    @property
    def spent(self) -> str:
        """What it took so far, in words."""
        if self.rounds is None:
            return plural(self.samples, "sample")
        of_all = "" if self.items is None else f" of {self.items}"
        if self.compare == "wins" and self.items is None:
            return f"{plural(self.samples, 'call')} in {plural(self.rounds, 'round')}"
        calls, items = plural(self.samples, "call"), "item" if (self.items or self.rounds) == 1 else "items"
        return f"{calls} on {self.rounds}{of_all} {items}"

    @property
    def versus_control(self) -> str:
        """Which arms are better than the control, in words; "" without a control, or if nothing is proven."""
        if self.better_than_control is None:
            return ""
        named = ", ".join(self.better_than_control) or "no arm is proven to be"
        verb = "" if not self.better_than_control else " is" if len(self.better_than_control) == 1 else " are"
        return f"{named}{verb} better than the control {self.control}"

    @property
    def ends(self) -> str:
        """How sure the intervals are, in words; "" if none has an end, or nothing is proven.

        An end at 0 that says no more than the decision is as sure as the decision.
        """
        known = any(math.isfinite(end) for pair in self.intervals.values() for end in pair)
        if self.promise is None or not known:
            return ""
        besides = "besides the decision, " if self.decided else ""
        sure = f"at all times with probability at least {confidence(self.promise)}"
        return f"{besides}each end of an interval holds by itself, {sure}"

    @property
    def hold(self) -> str:
        """Which pull the decision waits for, who has it, and what to do; "" if it waits for none."""
        return "" if self.waits_for is None else self.waits_for.words(self.name)

    @property
    def verdict(self) -> str:
        """What a decision says of its arm, what can be said of the leader without one."""
        if self.decision is None:
            return "leads"
        if self.tied:
            others = ", ".join(arm for arm in self.tied if arm != self.decision)
            return f"is best, tied with {others} on all {self.items} items"
        if self.compare == "wins":
            return self._wins_verdict()
        return f"is within {self.tolerance:g} of the best" if self.tolerance else "is best"

    @property
    def at_most(self) -> str:
        """How far the leader can be from the best, in words; "" if that is not known."""
        if self.shortfall is None:
            return ""
        if self.compare == "wins":
            share = rounded(50.0 * (1.0 - self.shortfall), ROUND_FLOOR)
            return f"at least {share}% likely to win a round against the best, ties as half"
        return f"at most {rounded(self.shortfall, ROUND_CEILING)} {self._side} the best"

    def lead(self, arm: str) -> float | None:
        """By how much the leader was better than an arm so far, as intervals count it; None if unknown."""
        if self.compare == "wins":
            won, lost = self.wins.get(arm, (0, 0))
            return (won - lost) / self.pulls[arm] if self.pulls[arm] else None
        best, mean = None if self.leader is None else self.means[self.leader], self.means[arm]
        if best is None or mean is None:
            return None
        return mean - best if self.minimize else best - mean

    def is_behind(self, arm: str) -> bool:
        """Whether an arm is surely not the best: the leader is better, or it was ruled out."""
        return arm in self.ruled_out or self.intervals.get(arm, (-math.inf, math.inf))[0] > 0.0

    def _wins_verdict(self) -> str:
        others = [arm for arm in self.arms if arm != self.decision]
        against = others[0] if len(others) == 1 else "each other arm"
        rounds = "rounds" if self.items is None else f"the {self.items} items"
        if self.tolerance:
            return f"is within {1.0 + self.tolerance:g} times the best in more than half of all {rounds}"
        return f"wins against {against} in more than half of all {rounds} that are not ties"

    @property
    def _side(self) -> str:
        return "above" if self.minimize else "below"


def _interval(low: float | None, high: float | None) -> Interval:
    """With infinity, which JSON does not have, for None."""
    return -math.inf if low is None else low, math.inf if high is None else high


def rounded(number: float, rounding: str) -> str:
    """To three digits, never rounded the other way."""
    return f"{float(Decimal(number).normalize(Context(prec=3, rounding=rounding))):g}"


def plural(number: int, thing: str) -> str:
    """1 sample, 2 samples."""
    return f"{number} {thing}" + ("" if number == 1 else "s")


def status_of(name: str, state: State, waits_for: Hold | None = None) -> Status:
    """Where the experiment of that name stands; what it waits for is not in the state."""
    settings, arms = state.settings, state.settings.arms
    seen = state.decision or state.findings()
    leader = arms[seen.arm] if seen.arm >= 0 else None
    pending = [0] * len(arms)
    for item in state.open.values():
        pending[item.arm] += 1
    ends = zip(arms, seen.lower, seen.upper, strict=True)
    proven = promise(state)
    shown = proven is not None and settings.design.steered  # in rounds none is proven
    compared = against_control(state)
    better = tuple(arm for arm, (low, _) in compared.items() if low > 0.0)
    shortfall, race = (None, None) if proven is None else _race(state, seen)
    return Status(
        name=name,
        arms=arms,
        decision=leader if state.decision else None,
        leader=leader,
        samples=seen.samples,
        pulls=dict(zip(arms, seen.pulls, strict=True)),
        means=dict(zip(arms, seen.means, strict=True)),
        intervals={arm: (low, high) for arm, low, high in ends if arm != leader},
        statistic=seen.statistic,
        threshold=seen.threshold,
        delta=settings.delta,
        strategy=settings.strategy_name,
        stopping=settings.rule_name,
        minimize=settings.minimize,
        pending=dict(zip(arms, pending, strict=True)),
        waiting=state.waiting,
        suspended=suspension(state),
        promise=proven,
        assumes=assumption(state),
        caveats=caveats(state),
        shortfall=shortfall,
        in_the_race=race,
        tolerance=settings.tolerance,
        ruled_out={arms[a]: one for a, one in enumerate(seen.ruled_out) if one is not None},
        deviations=dict(zip(arms, seen.deviations, strict=True)),
        rounds=seen.rounds,
        items=settings.design.items,
        tied=tuple(arms[a] for a in seen.tied) if state.decision else (),
        stopped=state.stopped,
        waits_for=waits_for,
        control=settings.control,
        against_control=compared,
        mean_intervals=dict(zip(arms, mean_intervals(settings, seen), strict=True)) if shown else {},
        better_than_control=None if proven is None or settings.control is None else better,
        compare=settings.compare,
        wins={arm: one for arm, one in zip(arms, seen.wins, strict=False) if arm != leader},
        no_winner=state.decision is not None and leader is None,
        beaten={arms[a]: arms[b] for a, b in enumerate(seen.beaten) if b is not None},
        failures=dict(zip(arms, state.counts["failed"], strict=True)),
    )


def _race(state: State, seen: Findings) -> tuple[float | None, tuple[str, ...]]:
    """How far below the best the leader can be, and the arms that may still be the best."""
    arms, tolerance = state.settings.arms, state.settings.tolerance
    if state.decision is not None and seen.arm < 0:
        return None, ()
    if state.decision is not None and tolerance == 0.0:
        return 0.0, tuple(arms[a] for a in seen.tied or (seen.arm,))
    if seen.arm < 0:
        return None, arms
    out = [one is not None for one in seen.ruled_out] or [False] * len(arms)
    behind = [0.0 if a == seen.arm or out[a] else -low for a, low in enumerate(seen.lower)]
    if state.eliminates:
        lost = seen.beaten or [None] * len(arms)
        race = tuple(arm for a, arm in enumerate(arms) if not out[a] and lost[a] is None)
    else:
        race = tuple(arm for a, arm in enumerate(arms) if a == seen.arm or behind[a] >= 0.0)
    most = max(0.0, *behind)
    if state.decision is not None and state.settings.compare == "means":
        most = min(most, tolerance)
    return (most if math.isfinite(most) else None), race


def suspension(state: State) -> str:
    """Why an experiment is suspended, and what to do."""
    if state.refuted is not None:
        return (
            f"{refutation(state)}; no retraction can change that, so begin a new experiment, under another "
            f"name, with a larger sigma, with bounds, or with model=truebest.Student(), which needs no sigma"
        )
    values = state.settings.values
    if not state.violated or values.limits is None:
        return ""
    pull, value = next(iter(state.violated.items()))
    arm = state.settings.arms[state.open[pull].arm]
    wrong, right = f"and must be {values.demand}", "another model"
    if not values.anchored:
        wrong, right = f"outside the bounds [{values.limits[0]:g}, {values.limits[1]:g}]", "the right bounds"
    return (
        f"pull {pull} of arm {arm!r} gave {value:g}, {wrong}; if that was a clerical error, retract the pull "
        f"with the right value, otherwise begin a new experiment, under another name, with {right}"
    )
