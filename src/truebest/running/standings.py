"""What `race` returns: who is fastest, how sure that is, and what was measured."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

from .._html import table
from .._text import exactly, factor, percent, plural
from ..telling import words
from ..telling.answers import NoWinner
from ..theory.ratios import Ratio, level_of_all_pairs, median_ratio
from .result import Result

_FAR = 14.826  # modified z-scores beyond this are outliers, as in hyperfine: 10 times the usual deviation
_TINY = 1e-9  # seconds: below this two times are the same
_SHORT = 0.005  # seconds: a command that takes less is mostly the start of a process
_WHY = {"max_rounds": "the rounds ran out", "timeout": "the time ran out"}


class Lap(NamedTuple):
    """One measurement.

    wall, user, system  seconds: by the clock, and of the processor
    failed              why there is no time, "" if there is one
    late                whether it was stopped since it took too long
    """

    wall: float
    user: float = 0.0
    system: float = 0.0
    failed: str = ""
    late: bool = False

    @property
    def cpu(self) -> float:
        """Seconds of the processor."""
        return self.user + self.system


class Standing(NamedTuple):
    """One competitor.

    times         of its rounds, in their order; inf for a run that failed
    mean .. most  of the runs that did not fail, in seconds; nan if all did
    won, lost     rounds against the best, or the leader; None for that one itself
    ratio         how many times as long as the best it takes, by the median over rounds
    user, system  means, in seconds of the processor
    """

    name: str
    times: tuple[float, ...]
    mean: float
    deviation: float
    median: float
    least: float
    most: float
    won: int | None
    lost: int | None
    ratio: Ratio
    user: float
    system: float

    @property
    def failed(self) -> int:
        """How many runs failed."""
        return sum(math.isinf(one) for one in self.times)


@dataclass(frozen=True)
class Race:
    """What a race has found.

    Attributes
    ----------
    result
        the experiment behind it, with the promise; its values are the times, with handicaps
    laps
        competitor -> its measurements, in the order of rounds
    measure
        "wall" or "cpu": the time that counts
    direct
        whether it might have been found that there is no fastest one
    numbers
        how many calls a measurement has, where functions race: times are those of one call
    handicap
        competitor -> the factor by which its times counted longer
    """

    result: Result
    laps: dict[str, tuple[Lap, ...]]
    measure: str = "wall"
    direct: bool = False
    numbers: dict[str, int] | None = None
    handicap: dict[str, float] = field(default_factory=dict)

    @property
    def best(self) -> str | None:
        """The fastest; None when undecided, or if there is none."""
        return self.result.best

    @property
    def rounds(self) -> int:
        """How many rounds count."""
        return self.result.progress.rounds or 0

    def times(self, name: str) -> tuple[float, ...]:
        """The times of a competitor that count, in the order of rounds; inf for a run that failed."""
        laps = self.laps[name][: self.result.pulls[name]]
        return tuple(math.inf if lap.failed else getattr(lap, self.measure) for lap in laps)

    def ratio(self, name: str, other: str) -> Ratio:
        """How many times as long as another one a competitor takes: the median over common rounds.

        The intervals of all pairs hold at once, at all times, with probability 1 - delta.
        """
        one, two = self.times(name), self.times(other)
        n, level = min(len(one), len(two)), level_of_all_pairs(len(self.laps), self.result.settings.delta)
        return median_ratio(one[:n], two[:n], level)

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """The best one, or the leader, first, then by how many times longer the others take."""
        found = [self._standing(arm) for arm in self.laps]
        return tuple(sorted(found, key=lambda one: (one.name != self.result.leader, _last(one))))

    def _standing(self, name: str) -> Standing:
        times, laps = self.times(name), self.laps[name][: self.result.pulls[name]]
        good = [one for one in times if math.isfinite(one)]
        leader, lead = self.result.leader, self.result[name].lead
        lost, won = (
            (None, None) if lead is None else (lead.won, lead.lost)
        )  # the leader's, the other way round
        ratio = Ratio(1.0, 1.0, 1.0) if leader == name else self.ratio(name, leader or name)
        return Standing(
            name,
            times,
            statistics.fmean(good) if good else math.nan,
            statistics.stdev(good) if len(good) > 1 else math.nan,
            statistics.median(good) if good else math.nan,
            min(good, default=math.nan),
            max(good, default=math.nan),
            won,
            lost,
            ratio,
            _mean([lap.user for lap in laps if not lap.failed]),
            _mean([lap.system for lap in laps if not lap.failed]),
        )

    def warnings(self) -> list[str]:
        """What may spoil the measurements, each with a remedy."""
        found = [*map(self._outliers, self.standings), self._too_short(), self._failures()]
        return [one for one in found if one]

    def _outliers(self, one: Standing) -> str:
        good = [x for x in one.times if math.isfinite(x)]
        if len(good) < 5:
            return ""
        spread = statistics.median(abs(x - one.median) for x in good) or _TINY
        far = [i for i, x in enumerate(good) if 0.6745 * abs(x - one.median) > _FAR * spread]
        if far == [0] and good[0] > one.median:
            return (
                f"the first run of {one.name} took {seconds(good[0])}, far longer than the others, perhaps "
                f"with a cold cache; give more warm-up runs, or clear the cache before every run with a "
                f"command to prepare it"
            )
        if far:
            return (
                f"{one.name} has {plural(len(far), 'outlier')} among {plural(len(good), 'run')}, perhaps due "
                f"to other programs; the answer is right all the same, but for a narrow ratio race on a "
                f"quiet machine"
            )
        return ""

    def _too_short(self) -> str:
        least = min((one.mean for one in self.standings if not math.isnan(one.mean)), default=math.inf)
        if self.numbers is not None or least >= _SHORT:
            return ""
        return (
            f"some runs take only {seconds(least)}, most of it the start of a process; repeat the work "
            f"inside a command, so that it takes {seconds(_SHORT)} or more"
        )

    def _failures(self) -> str:
        failed = [f"{one.name} {one.failed}" for one in self.standings if one.failed]
        return f"runs that failed count as losses: {', '.join(failed)}; look into them" if failed else ""

    def __str__(self) -> str:
        result = self.result
        spent = f"{plural(result.samples, 'measurement')} in {plural(self.rounds, 'round')}"
        if isinstance(result.answer, NoWinner):
            return f"{str(result).rpartition('; ')[0]}; {spent}"
        if self.best is None:
            why = _WHY.get(result.ended, "")
            text = f"undecided after {spent}" + (f"; {why}" if why else "")
            if result.leader is None:
                return text
            race = [arm for arm in words.leads(result) if arm != result.leader]
            others = ", ".join(race[:8]) + (" ..." if len(race) > 8 else "")
            return f"{text}; {result.leader} leads, not proven faster than {others}"
        return f"{self._called(self.best)} {self._verdict()}; {self._promise()}; {spent}"

    def _called(self, name: str) -> str:
        handicap = self.handicap.get(name, 1.0)
        return name if handicap == 1.0 else f"{exactly(handicap)} times {name}"

    def _verdict(self) -> str:
        others = [arm for arm in self.laps if arm != self.best]
        tolerance = self.result.settings.tolerance
        if tolerance:
            limit = f"{factor(tolerance)} times as long as the fastest"
            return f"takes at most {limit} in more than half of all rounds"
        against = self._called(others[0]) if len(others) == 1 else "each other one"
        return f"is faster than {against} in more than half of all rounds"

    def _promise(self) -> str:
        assert self.result.promise.bound is not None
        exists = len(self.laps) == 2 or self.direct
        return f"wrong with probability at most {percent(self.result.promise.bound)}" + (
            "" if exists else ", if one of them is the fastest"
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows, the best one first; rounds won are those against it."""
        header = ["", "mean ± sd", "min … max", "runs", "won", "times as long"]
        rows = []
        for one in self.standings:
            won = "" if one.won is None else f"{one.won} of {len(one.times)}"
            rows.append(
                [
                    one.name,
                    f"{seconds(one.mean)} ± {seconds(one.deviation)}",
                    f"{seconds(one.least)} … {seconds(one.most)}",
                    str(len(one.times)),
                    won,
                    ratio_words(one.ratio),
                ]
            )
        return header, rows

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the answer, the standings, and the experiment behind them."""
        standings = [
            {**one._asdict(), "times": list(one.times), "ratio": one.ratio._asdict(), "failed": one.failed}
            for one in self.standings
        ]
        told = {"best": self.best, "rounds": self.rounds, "measure": self.measure, "answer": str(self)}
        return {**told, "standings": standings, "warnings": self.warnings(), "result": self.result.to_dict()}

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>{table(*self.table())}"


def seconds(value: float) -> str:
    """A time to four digits, in a unit that fits."""
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "inf"
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= unit:
            return f"{value / unit:.4g} {name}"
    return f"{value / 1e-9:.3g} ns"


def ratio_words(ratio: Ratio) -> str:
    """How many times as long, with the interval as soon as there is one."""
    if ratio.low == ratio.high == 1.0:
        return "1"
    if math.isnan(ratio.estimate):
        return "-"
    known = ratio.low > 0.0 and math.isfinite(ratio.high)
    return f"{ratio.estimate:.3g}" + (f" ({ratio.low:.3g} to {ratio.high:.3g})" if known else "")


def _last(one: Standing) -> float:
    return math.inf if math.isnan(one.ratio.estimate) else one.ratio.estimate


def _mean(values: list[float]) -> float:
    return statistics.fmean(values) if values else math.nan
