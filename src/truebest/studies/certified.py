"""How often the answer is wrong: strategies under rules on bandits, each rate with its exact interval.

A *group* is a strategy under a rule on a bandit, at four risks: what one call simulates. The package keeps
what was found as data (`kept_certified`); `python -m benchmarks.certify FOLDER` makes it, and adds runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import _catalogue
from ..simulation.results import Simulation
from ..simulation.simulate import simulate
from ..simulation.summary import exact_interval
from ..strategies import OpenEBS, find_strategy
from ..theory.models import Bernoulli, Bounded, Exponential, Model, Poisson, Student
from ..theory.student import FormerStudentRule
from ..theory.tilt import FormerTilt
from .paper.published import BANDITS
from .paper.published import STRATEGIES as IN_TABLE_1

DELTAS = [0.1, 0.01, 0.001, 1e-5]
SEED = 1
FIRST = 20  # runs whose samples are kept besides, so that they can be made again and compared exactly
LIMIT = 200_000  # samples; a run that is cut off there gives no wrong answer
SHORT = 10_000  # for arms that are tied, or nearly
EQUAL = "equal"
TIED = {"near tie": (0.5, 0.49, 0.3), EQUAL: (0.5, 0.5, 0.3)}
FORMER = {  # those of experiments that version 0.2 began
    "student(version=1)": FormerStudentRule().for_simulation(),
    "tilt(version=2)": FormerTilt().for_simulation(),
}
ASSUMED_GAUSSIAN = ("practical", "gk16", "kaufmann-koolen", "mixture", "tilt", "tilt(version=2)")
VERDICTS = ("within", "not told apart", "not within")


@dataclass(frozen=True)
class Group:
    """A strategy under a rule on a bandit, at all risks.

    model   what strategy and rule assume of a value; None: Gaussian values, sigma = 1
    short   whether runs are cut off at SHORT in place of LIMIT
    """

    strategy: str
    rule: str
    bandit: str
    means: tuple[float, ...]
    model: Model | None = None
    rewards: str = "gaussian"
    short: bool = False

    @property
    def name(self) -> str:
        """Such as tas-c/tilt/mu2."""
        return f"{self.strategy}/{self.rule}/{self.bandit}"

    def simulate(
        self, runs: int, more: Simulation | None = None, deltas: Sequence[float] = DELTAS, **options: Any
    ) -> Simulation:
        """So many runs, or so many more, at all risks or some of them."""
        return simulate(
            self.strategy, self.means, deltas, runs=runs, seed=SEED, model=self.model,
            stopping=FORMER.get(self.rule, self.rule), rewards=self.rewards, keep="summary", more=more,
            max_samples=SHORT if self.short else LIMIT, progress=False, **options,
        )  # fmt: skip

    def first_samples(self) -> list[int]:
        """Of the first FIRST runs together, at each risk."""
        return [round(cell.mean_samples * cell.runs) for cell in self.simulate(FIRST)]

    @staticmethod
    def errors(answers: Iterable[int]) -> int:
        """Wrong answers among counts per arm and, last, of runs cut off.

        The first arm of every bandit here is the best; of equal arms, dropping the first is what is counted.
        """
        return sum(list(answers)[1:-1])


def groups() -> Iterator[Group]:
    """Those of most interest first.

    The default strategy, those of Table 1 and `uniform` are on all bandits; the others on the one that is
    quickest to decide, and on equal arms; all of them on one bandit for every other model. Those that have
    changed since the runs were made are what they were then.
    """
    first = (_catalogue.DEFAULT_STRATEGY, "tas-c", "ebs-d")
    named = (*first, *(name for name in (*IN_TABLE_1, "uniform") if name not in first))
    others = [name for name in _catalogue.STRATEGIES if name not in named]
    for bandit in ("mu2", EQUAL, "mu1", "near tie", "mu4", "mu3"):
        means = (BANDITS | TIED)[bandit]
        for rule in ASSUMED_GAUSSIAN:
            for strategy in (*named, *others) if bandit in ("mu2", EQUAL) else named:
                yield Group(_as_counted(strategy, rule), rule, bandit, means, short=bandit in TIED)
    for strategy in (*named, *others):
        coins, counts = (0.7, 0.5, 0.4), (3.0, 2.0, 1.5)
        for rule in ("gk16", "kaufmann-koolen", "mixture", "tilt", "tilt(version=2)"):
            name = _as_counted(strategy, rule)
            yield Group(name, rule, "0 or 1", coins, Bounded(0.0, 1.0), "bernoulli")
        name = _as_counted(strategy, "kaufmann-koolen")
        yield Group(name, "kaufmann-koolen", "Bernoulli", coins, Bernoulli(), "bernoulli")
        yield Group(name, "kaufmann-koolen", "Poisson", counts, Poisson(), "poisson")
        yield Group(name, "kaufmann-koolen", "exponential", counts, Exponential(), "exponential")
        for rule in ("student", "student(version=1)"):
            yield Group(_as_counted(strategy, rule), rule, "Student", BANDITS["mu2"], Student())


def _as_counted(strategy: str, rule: str) -> str:
    """The strategy as it was when the runs were made; `OpenEBS` has changed under `tilt` alone."""
    today = find_strategy(strategy)
    same = rule in ("student", "tilt") or (isinstance(today, OpenEBS) and rule != "tilt(version=2)")
    return (today if same else today.once()).name


@dataclass(frozen=True)
class Certified:
    """What was found of a group, an entry per risk in each list; None at risks that were left out.

    cut_off        runs that were cut off, which gave no answer
    mean_samples   a lower bound where runs were cut off
    device         on which the runs were made; version of truebest
    first_samples  of the first FIRST runs together

    Where only the errors were written down, cut_off, mean_samples and first_samples are None; the latter also
    where risks were left out.
    """

    name: str
    runs: int
    errors: list[int | None]
    cut_off: list[int | None] | None
    mean_samples: list[float | None] | None
    seed: int
    device: str
    version: str
    first_samples: list[int] | None

    @classmethod
    def of(cls, group: Group, found: Simulation, first_samples: list[int] | None, device: str) -> Certified:
        """What a simulation of the group found."""
        at = {cell.delta: cell for cell in found}
        cells = [at.get(delta) for delta in DELTAS]
        return cls(
            group.name,
            min(cell.runs for cell in found),
            [group.errors(cell.answers.tolist()) if cell else None for cell in cells],
            [cell.censored if cell else None for cell in cells],
            [round(cell.mean_samples, 2) if cell else None for cell in cells],
            SEED,
            device,
            str(found.settings["truebest"]),
            first_samples,
        )

    @property
    def parts(self) -> tuple[str, str, str]:
        """Strategy, rule and bandit."""
        strategy, rule, bandit = self.name.split("/")
        return strategy, rule, bandit

    @property
    def levels(self) -> list[int]:
        """The places in DELTAS of the risks that were not left out."""
        return [level for level, errors in enumerate(self.errors) if errors is not None]

    def interval(self, level: int) -> tuple[float, float]:
        """The exact 95% interval for wrong answers per run, which delta bounds, at the risk DELTAS[level]."""
        errors = self.errors[level]
        assert errors is not None, "that risk was left out"
        return exact_interval(errors, self.runs)

    def decided(self, level: int) -> int | None:
        """How many runs gave an answer at a risk; None where that was not written down."""
        return None if self.cut_off is None else self.runs - (self.cut_off[level] or 0)

    def verdict(self, level: int) -> str:
        """What that interval says of the error rate, one of VERDICTS; nothing where no run gave an answer."""
        low, high = self.interval(level)
        if self.decided(level) == 0:
            return VERDICTS[1]
        if high <= DELTAS[level]:
            return VERDICTS[0]
        return VERDICTS[2] if low > DELTAS[level] else VERDICTS[1]

    def samples(self, level: int) -> str:
        """The mean number of samples at a risk, for a person."""
        if self.mean_samples is None or self.cut_off is None:
            return "mean not kept"
        mean, cut_off = f"{self.mean_samples[level]:,.0f}", self.cut_off[level]
        if not cut_off:
            return mean
        if cut_off == self.runs:
            return f"≥ {mean}, all cut off"
        low, high = exact_interval(self.errors[level] or 0, self.runs - cut_off)
        return f"≥ {mean}, {cut_off:,} cut off, {low:.2g} to {high:.2g} of the others wrong"

    def text(self, level: int) -> str:
        """The error rate with its interval, the verdict and the mean samples at a risk, for a person."""
        errors = self.errors[level]
        if errors is None:
            return "no runs"
        if self.decided(level) == 0:
            return f"no answer, {self.verdict(level)}; {self.samples(level)}"
        rate, (low, high) = errors / self.runs, self.interval(level)
        return f"{rate:.2g} ({low:.2g} to {high:.2g}), {self.verdict(level)}; {self.samples(level)}"

    def to_records(self) -> list[dict[str, Any]]:
        """Plain values, one object per risk."""
        strategy, rule, bandit = self.parts
        return [
            {
                **{"strategy": strategy, "rule": rule, "bandit": bandit, "delta": delta, "runs": self.runs},
                "errors": self.errors[k],
                **dict(zip(("error_rate_low", "error_rate_high"), self.interval(k), strict=True)),
                "verdict": self.verdict(k),
                "mean_samples": self.mean_samples[k] if self.mean_samples else None,
                "cut_off": self.cut_off[k] if self.cut_off else None,
                "decided": self.decided(k),
                **{"seed": self.seed, "device": self.device, "version": self.version},
            }
            for k, delta in enumerate(DELTAS)
            if k in self.levels
        ]


def read(file: Path) -> list[Certified]:
    """What `write` wrote."""
    return [Certified(**row) for row in json.loads(file.read_text())]


def write(rows: Iterable[Certified]) -> str:
    """As JSON, a line each."""
    return "[\n" + ",\n".join(json.dumps(asdict(row)) for row in rows) + "\n]\n"


def kept_certified() -> list[Certified]:
    """All that is kept: data that came with the package, nothing is simulated."""
    return read(Path(__file__).with_name("certified_kept.json"))


def verdict_counts(rows: Iterable[Certified]) -> dict[str, list[list[int]]]:
    """For each rule and risk, how many groups have each of VERDICTS, by their row of most runs."""
    most: dict[tuple[str, int], Certified] = {}
    counts: dict[str, list[list[int]]] = {}
    for row in rows:
        counts.setdefault(row.parts[1], [[0] * len(VERDICTS) for _ in DELTAS])
        for k in row.levels:
            most[row.name, k] = max(most.get((row.name, k), row), row, key=lambda one: one.runs)
    for (_, k), row in most.items():
        counts[row.parts[1]][k][VERDICTS.index(row.verdict(k))] += 1
    return counts
