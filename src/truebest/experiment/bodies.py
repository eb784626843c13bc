"""The two bodies of evidence of an experiment, as the kernels keep them, and what the rule sees in them.

    steering   all results; the strategy chooses from it
    evidence   the results that the stopping rule may see

Values are summed as they come, negated where the smallest is the best. Means are in units of the model around
a round offset near the values, which costs no bits and may be chosen again at any time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import alarm, best, decision, families, questions, rules, tracking
from ..kernels._types import Array, Flags, Indices
from ..kernels.exact import FARTHEST, round_offset
from ..kernels.layout import (
    ABOUT_ONE,
    ALARM,
    LEVEL,
    LOST,
    MEANS,
    OUT,
    PAIR_LEVEL,
    PENALTY,
    PULLS,
    QUESTION,
    ROWS,
    SETTLED,
    SHARE,
    SQUARES,
    SUMS,
    WATCHED,
)
from ..kernels.number import end
from ..kernels.rules import comparator
from ..kernels.rules.room import ROOMS
from ..questions import PerArm
from ..theory.models import Gaussian
from .findings import Findings
from .settings import Settings

_FAR = 2.0**20  # of the smallest_scale scale: a mean farther from the offset than that may lack bits


class Bodies:
    """Two bodies of evidence, and the rule that judges one of them.

    rule    the stopping rule in the form in which it is asked
    model   what is assumed of a value, as the rule computes with it
    offset  near the values, as they are summed; None before the first
    params  everything that the kernels are told; replaced, never changed
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, K = settings, len(settings.arms)
        rule, chosen = settings.rule, settings.chosen
        assert rule is not None
        self.rule = rule.form_for(K, settings.tolerance, chosen.stops_itself, chosen.open_only)
        if settings.question.by_claims:
            self.rule = rule.asking(settings.question.placed(0.0, self.signed(1.0)))
        self.model = self.rule.model_for(settings.model)
        self.clear()
        self._far = _FAR * self.model.smallest_scale / self.model.unit
        self.offset: float | None = self.model.origin(self.signed(1.0))
        self._moves = self.offset is None
        self._set_parameters()

    def copy(self) -> Bodies:
        """A copy, which may go its own way."""
        twin = Bodies.__new__(Bodies)  # a sixth of the time of copy.copy
        twin.__dict__.update(self.__dict__)
        twin.steering, twin.evidence = self.steering.copy(), self.evidence.copy()
        return twin

    # -- values ----------------------------------------------------------------------------------------

    def signed(self, raw: float) -> float:
        """Larger is better."""
        return -raw if self.settings.minimize else raw

    def raw(self, mean: float) -> float:
        """A mean of a body in the user's own units."""
        return self.signed((self.offset or 0.0) + mean * self.model.unit)

    def add(self, body: Array, arm: int, count: float, value: float) -> bool:
        """Count a signed value in, or out again with its negative; returns whether all means have moved."""
        if self.offset is None:
            self._set_offset(round_offset(value, self.model.unit))
        decision.take(self.params if body is self.evidence else self.pairwise, body, arm, count, value)
        if self._far < abs(body[MEANS, arm]) < math.inf and abs(self._best()) > self._far:
            return self.choose_offset()
        return False

    def steer(self, arms: list[int], values: list[float]) -> None:
        """Count signed values into what the strategy sees, `is_plain` each, so that the offset stays."""
        params = self.pairwise.copy()
        params[ALARM] = 0.0
        none = np.zeros(len(arms), np.bool_)  # after which the rule would be asked
        taken, rooms = np.array(arms, np.int64), np.zeros((ROOMS, len(self.settings.arms)))
        decision.advance(taken, np.array(values), none, none, params, self.steering, rooms)

    def is_plain(self) -> Callable[[float], bool]:
        """A test of values as given: whether one could be told, and cannot move the offset."""
        if self.offset is None:
            return lambda value: False  # noqa: ARG005
        model, middle = self.settings.model, self.signed(self.offset)
        most = min(1e100 * model.unit, FARTHEST * model.smallest_scale)
        apart = 0.5 * _FAR * min(self.model.smallest_scale, model.smallest_scale)
        low, high = max(middle - apart, -most), min(middle + apart, most)
        allows = model.allows
        return lambda value: low <= value <= high and allows(value)

    @property
    def told(self) -> Array:
        """Values per arm, also those that the rule may not see yet."""
        told: Array = self.steering[PULLS]
        return told

    # -- the offset ------------------------------------------------------------------------------------

    def choose_offset(self) -> bool:
        """Near the best arm as it is now: what fixed the offset may have been an error, or a distant arm."""
        if not self._moves or not self.told.any():
            return False
        unit = self.model.unit
        self._set_offset(round_offset((self.offset or 0.0) + self._best() * unit, unit))
        self._centre()
        return True

    @property
    def far(self) -> bool:
        """Whether some mean is so far from the offset that the next value may move it."""
        return bool((abs(self.steering[MEANS, self.told > 0.0]) > self._far).any())

    def is_far(self, raw: float) -> bool:
        """Whether a value may move the offset."""
        return (
            self.offset is not None and abs(self.signed(raw) - self.offset) > _FAR * self.model.smallest_scale
        )

    def _set_offset(self, offset: float) -> None:
        self.offset = offset
        self._set_parameters()

    def _set_parameters(self) -> None:
        """For values as they are summed, less the offset; a strategy's places among them move along."""
        settings, K, offset = self.settings, len(self.settings.arms), self.offset or 0.0
        model = self.model.placed(0.0, self.signed(1.0))
        self.params = self.rule.parameters(model, K, settings.delta, settings.tolerance, offset)
        self.params[WATCHED] = 1.0
        self.params[ALARM] = settings.alarm and isinstance(model, Gaussian)
        if settings.strategy is not None:
            placed = settings.strategy.placed(offset, self.signed(1.0))
            self.params = np.concatenate([self.params, placed.parameters(K, model.unit)])
        self.pairwise = self.rule.pairwise(self.params)

    def _centre(self) -> None:
        for arm in range(len(self.settings.arms)):
            families.centre(self.params, self.steering, arm)
            if self.rule.question is not None or not self.evidence[OUT, arm]:
                families.centre(self.params, self.evidence, arm)
            if self.params[SHARE] > 0.0:
                comparator.centre_comparator(self.params, self.evidence, arm)

    def _best(self) -> float:
        """The largest mean, in units around the offset; 0 without results."""
        told = self.told > 0.0
        return float(self.steering[MEANS, told].max()) if told.any() else 0.0

    # -- the rule --------------------------------------------------------------------------------------

    def advance(self, arms: Indices, values: Array, checks: Flags, together: Flags) -> tuple[int, bool]:
        """Take values into the evidence up to the one with which the rule decides, or sigma is refuted.

        Returns  its index, or -1; and whether sigma is refuted
        """
        rooms = np.zeros((ROOMS, len(self.settings.arms)))
        return decision.advance(arms, values, checks, together, self.params, self.evidence, rooms)

    def decides(self) -> bool:
        """Whether the rule stops on the evidence as it is."""
        return best.stops(self.params, self.evidence, 0.0)

    def would_decide(self) -> bool:
        """Whether the rule would stop, about, if it might see all results."""
        return best.stops(self.pairwise, self.seen(), 0.0)

    @property
    def left(self) -> int:
        """How many arms are not ruled out."""
        return tracking.arms_left(self.evidence)

    def seen(self) -> Array:
        """All results, as a strategy sees them: an arm that the rule has ruled out is out here, too."""
        seen = self.steering.copy()
        seen[OUT], seen[SETTLED] = self.evidence[OUT], self.evidence[SETTLED]
        if self.left < seen.shape[1]:
            seen[MEANS, seen[OUT] > 0.0] = -np.inf
        return seen if self.rule.question is None else np.vstack([seen, self.evidence[seen.shape[0] :]])

    def whole(self) -> Array:
        """The evidence as if no arm were ruled out, without comparators: for what is shown."""
        whole = self.evidence[: self.steering.shape[0]].copy()
        for arm in np.flatnonzero(whole[OUT]).tolist():
            families.centre(self.params, whole, arm)
        whole[OUT], whole[SETTLED] = 0.0, 0.0
        return whole if self.rule.question is None else np.vstack([whole, self.nothing_proven()])

    def nothing_proven(self) -> Array:
        """The rows of a question before the first sample."""
        return self.rule.blank(self.model, self.evidence.shape[1])[self.steering.shape[0] :]

    def clear(self) -> None:
        """Forget all values; the offset stays."""
        K = len(self.settings.arms)
        assert self.settings.stopping is not None
        self.steering = self.settings.stopping.form_for(2).blank(self.model, K)
        self.evidence = self.rule.blank(self.model, K)

    def refutes(self) -> bool:
        """Whether the evidence as it is refutes sigma."""
        if self.params[ALARM] == 0.0:
            return False
        samples = float(self.evidence[PULLS].sum())
        return alarm.refutes(self.evidence, samples, alarm.scaled_squares(self.evidence))

    def deviations(self) -> tuple[float | None, ...]:
        """The observed standard deviation of every arm's evidence in the user's own units; None below 2."""
        unit = self.model.unit
        rows = zip(self.evidence[PULLS].tolist(), self.evidence[SQUARES].tolist(), strict=True)
        return tuple(unit * math.sqrt(m2 / (n - 1.0)) if n > 1.0 else None for n, m2 in rows)

    def standing(self) -> tuple[int, int]:
        """The arm that leads, -1 for none, and how many results the rule has seen."""
        samples = int(self.evidence[PULLS].sum())
        labels = self.labels
        if self.rule.question is not None and (labels or isinstance(self.rule.question, PerArm)):
            return self.rule.question.named(labels), samples
        return tracking.leading_arm(self.evidence) if samples else -1, samples

    @property
    def labels(self) -> list[float]:
        """What would be answered now, per arm; empty if no question is asked, or before each has a value."""
        K = self.evidence.shape[1]
        if self.rule.question is None or not self.evidence[PULLS].all():
            return []
        labels, ask = np.empty(K), self.params[QUESTION : QUESTION + questions.ASKED]
        questions.label(ask, self.evidence[MEANS], self.evidence[-K - ABOUT_ONE :], labels)
        found: list[float] = labels.tolist()
        return found

    def findings(self, arm: int | None = None) -> Findings:
        """What the rule sees, as it is kept with a decision; means in the user's own units.

        arm  the one that a strategy which stops by itself has declared; otherwise it is the leader
        """
        unit, whole = self.model.unit, self.whole()
        pulls, mu = whole[PULLS], whole[MEANS]
        z, beta = best.verdict(self.params, self.evidence)
        leader = arm if arm is not None else self.standing()[0]
        lower, upper = self._found_intervals(leader, whole)
        return Findings(
            arm=leader,
            pulls=tuple(int(n) for n in pulls),
            means=tuple(self.raw(m) if n else None for m, n in zip(mu.tolist(), pulls, strict=True)),
            statistic=z if math.isfinite(z) else None,
            threshold=beta if math.isfinite(beta) else None,
            lower=tuple((unit * lower).tolist()),
            upper=tuple((unit * upper).tolist()),
            ruled_out=tuple(int(n) if n else None for n in self.evidence[OUT]),
            deviations=self.deviations(),
            labels=tuple(map(int, self.labels)),
        )

    def _found_intervals(self, leader: int, whole: Array) -> tuple[Array, Array]:
        """By how much the leader is better than each arm; or each arm than what it is compared with.

        The latter hold together: both ends of all of them share delta.
        """
        asked, K = self.settings.question, whole.shape[1]
        if isinstance(asked, PerArm):
            other = asked.reference(self.settings.arms)
            if other < 0:
                level = self.rule.asked_level(self.model, K, 0.5 * self.settings.delta)
                return self._ends_from(asked.base([], ()), level)
            level = self.rule.level_of(asked.verdicts(K), self.model, 0.5 * self.settings.delta)
            low, high = (self._clipped(end, other) for end in self._intervals(other, whole, level))
            return -high, -low
        lower, upper = self._intervals(leader, whole, self.params[PAIR_LEVEL])
        if self.left == 1:  # by the decision, whatever the pairs say
            lower = np.maximum(lower, 0.0)
        return self._clipped(lower, leader), self._clipped(upper, leader)

    def _ends_from(self, base: float | None, level: float) -> tuple[Array, Array]:
        """By how much each mean is above a number, at least and at most, in units of the model."""
        assert base is not None
        number, arms = (base - (self.offset or 0.0)) / self.model.unit, range(self.evidence.shape[1])
        low, high = (
            np.array([end(self.params, self.evidence, a, lower, level) for a in arms]) - number
            for lower in (True, False)
        )
        return low, high

    def leads(self, arm: int) -> tuple[list[float], list[float]]:
        """By how much a given arm is better than each other one, in the user's own units: at least, at most.

        The level is that of its K - 1 pairs alone: it shares no delta with the comparators.
        """
        level = self.params[PAIR_LEVEL] + math.log1p(-self.params[SHARE])
        if self.rule.question is not None:
            pairs = max(self.evidence.shape[1] - 1, 1)
            level = self.rule.level_of(pairs, self.model, self.settings.delta)
        lower, upper = self._intervals(arm, self.whole(), level)
        unit = self.model.unit
        return (unit * self._clipped(lower, arm)).tolist(), (unit * self._clipped(upper, arm)).tolist()

    def _clipped(self, ends: Array, arm: int) -> Array:
        """Means within the bounds do not differ by more than these; of the leads of one arm, if any."""
        if self.model.limits is None or arm < 0:
            return ends
        apart = (self.model.limits[1] - self.model.limits[0]) / self.model.unit
        return np.clip(ends, -apart, apart)

    def _intervals(self, leader: int, whole: Array, level: float) -> tuple[Array, Array]:
        """For the difference of one arm to each: where the statistic is at a level, and the rule's growth."""
        pulls = whole[PULLS]
        lower, upper = np.full((1, pulls.size), -np.inf), np.full((1, pulls.size), np.inf)
        if leader >= 0:
            bound = rules.threshold(self.params, pulls.sum()) + (level - self.params[LEVEL])
            with np.errstate(all="ignore"):
                best.pair_interval_rows(
                    self.params, whole[None], np.array([leader]), np.array([bound]), lower, upper
                )
        return lower[0], upper[0]

    # -- snapshots -------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """What must be kept, as JSON can hold it."""
        return {
            "offset": self.offset,
            "steering": self.steering[_kept(self.steering)].tolist(),
            "evidence": self.evidence[_kept(self.evidence)].tolist(),
        }

    def restore(self, data: dict[str, Any]) -> None:
        """What `to_dict` gave, bit for bit."""
        self.steering[_kept(self.steering)] = data["steering"]
        self.evidence[_kept(self.evidence)] = data["evidence"]
        if data["offset"] is not None:
            self._set_offset(data["offset"])
        self._centre()


def _kept(body: Array) -> list[int]:
    """The rows of a body from which the others follow."""
    return [PULLS, SUMS, LOST, SQUARES, OUT, PENALTY, SETTLED, *range(ROWS, body.shape[0])]
